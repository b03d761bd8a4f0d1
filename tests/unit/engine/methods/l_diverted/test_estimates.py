"""Counts from diverted releases: against slow references, known answers and simulated truth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from dpdesk.engine.methods.l_diverted.estimation.estimate import (
    Estimate,
    Estimator,
    Tables,
    estimate,
    full_estimate,
    interval,
    iterative_bayes,
    possible_counts,
)
from dpdesk.engine.methods.l_diverted.estimation.solving import (
    bayes_step,
    fixed_point,
    nonnegative_counts,
)
from dpdesk.engine.methods.l_diverted.groups import (
    FullTransition,
    TwoStates,
    group_model,
)
from tests.helpers.diverted_coverage import cells_held
from tests.helpers.diverted_releases import published, skewed_codes
from tests.reference.diverted_estimation import bayes

COUNTS = np.array([90, 70, 66, 40, 30, 4])
CHANCES = st.lists(st.integers(0, 200), min_size=6, max_size=6)


def transition(counts: np.ndarray = COUNTS, size: int = 3, mixed: bool = True) -> FullTransition:
    return FullTransition(group_model(counts, size, mixed))


MATRIX = transition().matrix
EVEN = transition(np.array([52, 50, 50, 50, 50, 48]), 2).matrix


def one(values: int, chosen: int) -> np.ndarray:
    return np.arange(values) == chosen


@settings(max_examples=60, deadline=None)
@given(CHANCES)
def test_counts_that_are_not_negative_are_those_of_least_squares(counts: list[int]) -> None:
    published_counts = np.array(counts, dtype=np.float64)
    if not published_counts.any():
        return
    matrix = MATRIX
    found = nonnegative_counts(matrix, published_counts)
    weight = 1 / np.sqrt(np.maximum(published_counts, 1))
    # The sum is held by a row of great weight.
    rows = np.vstack([weight[:, None] * matrix.T, np.full(6, 1e4)])
    wanted = np.append(weight * published_counts, 1e4 * published_counts.sum())
    slow = nnls(rows, wanted)[0]
    assert found.min() >= 0
    assert found.sum() == pytest.approx(published_counts.sum())
    distance = [((weight * (published_counts - matrix.T @ x)) ** 2).sum() for x in (found, slow)]
    assert distance[0] == pytest.approx(distance[1], rel=1e-4, abs=1e-4)


@settings(max_examples=10, deadline=None)
@given(CHANCES)
def test_accelerated_bayes_ends_where_plain_steps_end(counts: list[int]) -> None:
    table = np.array(counts, dtype=np.float64) + 1
    matrix = EVEN
    start = np.full(6, table.mean())
    fast = fixed_point(bayes_step([matrix], table), start, 1e-5)[0]
    slow = bayes(matrix.tolist(), table.tolist(), 1000)
    assert fast == pytest.approx(slow, abs=0.5)


def test_iterative_bayes_on_two_attributes_finds_what_expected_counts_come_from() -> None:
    matching, others = np.array([[150.0, 20], [60, 15]]), np.array([[350.0, 80], [90, 35]])
    both = matching + others
    counts = (both[1].sum(), both[:, 1].sum())
    first, second = (TwoStates(int(both.sum()), 3, f).matrix for f in counts)
    seen = [first.T @ table @ second for table in (matching, both)]
    assert iterative_bayes(seen[0], seen[1], 3) == pytest.approx(matching, abs=0.5)
    product = np.kron(first, second).tolist()
    slow = bayes(product, seen[0].ravel().tolist(), 6000)
    assert slow == pytest.approx(matching.ravel(), abs=0.5)


def test_bayes_and_the_closed_form_agree_inside_and_bayes_stays_above_zero() -> None:
    rows, size, count, hits = 300.0, 3, 40.0, 120.0
    a = count * (size - 1) / (size * (rows - count))
    everything = np.array([rows - count, count])
    for y, expected in ((20.0, (20 - a * hits) / (1 / size - a)), (5.0, 0.0)):
        found = iterative_bayes(np.array([hits - y, y]), everything, size)
        assert found[1] == pytest.approx(expected, abs=0.2)


def test_an_estimate_next_to_nothing_has_an_interval() -> None:
    """Iterative Bayes leaves counts as small as a float can be: they are no divisors."""
    models = [transition(COUNTS, 2), transition(COUNTS, 2)]
    everything = np.outer(COUNTS, COUNTS) / COUNTS.sum()
    chosen = (one(6, 0), one(6, 1))
    tables = Tables(everything / 10, everything, chosen)
    found = everything / 10
    for least in (0.0, 5e-324, 1e-300):
        found[0, 1] = least
        answer = full_estimate(tables, models, found)
        assert answer.value == least
        assert answer.low == 0
        assert answer.high is not None
        assert 1 < answer.high <= tables.hits
    only = np.zeros((6, 6))
    only[0, 1], only[5, 5] = tables.hits, 5e-324
    assert full_estimate(tables, models, only).high == pytest.approx(tables.hits)


def two_values(estimator: Estimator, y: float, f: float = 40.0) -> Estimate:
    counts = np.array([f, 100, 90, 70 - (f - 40)])
    matching = np.array([y, 50.0, 40, 30])
    tables = Tables(matching, counts, (one(4, 0),))
    return estimate(tables, [transition(counts.astype(np.int64))], estimator)


def test_the_closed_form_is_the_formula_and_may_be_negative() -> None:
    a = 40 * 2 / (3 * 260)
    hits = 5 + 120
    found = two_values(Estimator.CLOSED_FORM, 5.0)
    assert found.value == pytest.approx((5 - a * hits) / (1 / 3 - a))
    assert found.value is not None
    assert found.value < 0
    assert found.standard_error is not None
    assert found.low == 0
    assert found.high is not None
    assert found.high > 5


@pytest.mark.parametrize("estimator", [Estimator.CLOSED_FORM, Estimator.EM])
def test_a_value_published_as_often_as_there_are_groups_is_not_estimable(
    estimator: Estimator,
) -> None:
    counts = np.array([100.0, 90, 60, 50])
    tables = Tables(counts / 2, counts, (one(4, 0),))
    found = estimate(tables, [transition(counts.astype(np.int64))], estimator)
    assert found.value is None
    assert "published N/ℓ′ times" in found.reason


def test_values_that_always_meet_are_not_estimable() -> None:
    counts = np.array([50.0, 50, 50])
    tables = Tables(counts / 2, counts, (one(3, 0),))
    found = estimate(tables, [transition(np.array([50, 50, 50]), 3, False)], Estimator.MATRIX)
    assert found.value is None
    assert found.condition == np.inf
    assert "distinguished" in found.reason


def test_the_papers_estimate_comes_without_an_error() -> None:
    found = two_values(Estimator.PAPER, 25.0)
    assert found.value is not None
    assert found.standard_error is None
    assert found.low is None


@pytest.mark.parametrize("estimator", list(Estimator))
def test_nothing_to_count_and_everything_chosen_are_exact(estimator: Estimator) -> None:
    counts = np.array([90.0, 80, 70, 60])
    model = [transition(counts.astype(np.int64))]
    nobody = Tables(np.zeros(4), counts, (one(4, 1),))
    assert estimate(nobody, model, estimator).value == 0
    whole = Tables(counts / 2, counts, (np.ones(4, bool),))
    found = estimate(whole, model, estimator)
    assert (found.value, found.standard_error) == (150, 0)


def test_all_rows_have_the_error_of_a_binomial_count() -> None:
    counts = COUNTS.astype(np.float64)
    found = estimate(Tables(counts, counts, (one(6, 3),)), [transition()], Estimator.MATRIX)
    assert found.value == pytest.approx(40, rel=1e-3)
    assert found.standard_error == pytest.approx(np.sqrt(40 * (1 - 1 / 3)), rel=0.03)


def hits_by_value(
    codes: np.ndarray, values: int, generator: np.random.Generator, *, correlated: bool
) -> np.ndarray:
    """Rows that match a random predicate, whose share depends on the value or does not."""
    share = generator.beta(0.5, 1.0, values) if correlated else np.full(values, 0.3)
    return generator.random(len(codes)) < share[codes]


@pytest.mark.parametrize("estimator", [Estimator.MATRIX, Estimator.CLOSED_FORM])
@pytest.mark.parametrize("correlated", [True, False])
def test_intervals_hold_the_truth_as_often_as_they_say(
    estimator: Estimator, correlated: bool
) -> None:
    generator = np.random.default_rng(20)
    held, total, squares = 0, 0, 0.0
    for _ in range(10):
        codes = skewed_codes(2100, 8, 3, generator)
        seen = published(codes, 8, 3, True, generator)
        everything = np.bincount(seen, minlength=8).astype(np.float64)
        model = [transition(everything.astype(np.int64))]
        for value in range(5):
            hits = hits_by_value(codes, 8, generator, correlated=correlated)
            matching = np.bincount(seen[hits], minlength=8).astype(np.float64)
            found = estimate(Tables(matching, everything, (one(8, value),)), model, estimator)
            if found.value is None or found.low is None or found.high is None:
                continue
            truth = int((codes[hits] == value).sum())
            total += 1
            held += found.low <= truth <= found.high
            assert found.standard_error
            squares += ((found.value - truth) / found.standard_error) ** 2
    # 50 answers: a true 95 % falls to 42 or below with a chance below 1 in 300.
    assert total > 40
    assert held / total >= 0.86
    assert 0.4 < np.sqrt(squares / total) < 1.3


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("share", [0.3, 1.0])
def test_the_error_of_a_sum_over_drawn_values_is_as_large_as_its_errors(
    share: float, columns: int
) -> None:
    """Four values of each column: added one by one, errors came out 1.2 and 1.5 to 1.7 times."""
    generator = np.random.default_rng(4)
    codes = [skewed_codes(2100, 8, 3, generator) for _ in range(columns)]
    for each in codes:
        generator.shuffle(each)
    hits = generator.random(2100) < share
    chosen = np.arange(8) < 4
    truth = int(np.logical_and.reduce([hits, *(chosen[each] for each in codes)]).sum())
    away, stated, held = [], [], 0
    for _ in range(60):
        seen = [published(each, 8, 3, True, generator) for each in codes]
        matching, everything = np.zeros((2, *(8,) * columns))
        np.add.at(matching, tuple(each[hits] for each in seen), 1)
        np.add.at(everything, tuple(seen), 1)
        models = [transition(np.bincount(each, minlength=8)) for each in seen]
        tables = Tables(matching, everything, (chosen,) * columns)
        found = estimate(tables, models, Estimator.CLOSED_FORM)
        assert found.value is not None
        assert found.low is not None
        assert found.high is not None
        assert found.standard_error is not None
        away.append(found.value - truth)
        stated.append(found.standard_error)
        held += found.low <= truth <= found.high
    ratio = np.mean(stated) / np.std(away)
    assert 0.75 < ratio < 1.35  # a standard deviation of 60 draws is known to about a tenth
    assert held >= 52


@pytest.mark.parametrize(("hits", "truth"), [(19, 19), (40, 20), (60, 18)])
def test_few_rows_lean_and_each_estimate_says_so(hits: int, truth: int) -> None:
    """True 19, shown about 9 on average: no count is negative, and their sum is known."""
    generator = np.random.default_rng(3)
    codes = skewed_codes(4000, 20, 5, generator)
    value = int(np.argsort(np.bincount(codes))[10])
    inside = np.zeros(len(codes), bool)
    inside[np.flatnonzero(codes == value)[:truth]] = True
    inside[generator.choice(np.flatnonzero(codes != value), hits - truth, replace=False)] = True
    shown, told, held = [], [], []
    for _ in range(20):
        seen = published(codes, 20, 5, True, generator)
        counts = np.bincount(seen, minlength=20)
        matching = np.bincount(seen[inside], minlength=20).astype(np.float64)
        tables = Tables(matching, counts.astype(np.float64), (one(20, value),))
        found = estimate(tables, [transition(counts, 5)], Estimator.MATRIX)
        assert found.value is not None
        assert found.low is not None
        assert found.high is not None
        shown.append(found.value)
        told.append(found.leans)
        held.append(found.low <= truth <= found.high)
    assert np.mean(shown) < 0.9 * truth
    assert np.mean(told) >= 0.85
    assert np.mean(held) >= 0.85


def test_estimates_of_many_rows_neither_lean_nor_say_so() -> None:
    generator = np.random.default_rng(4)
    codes = skewed_codes(4000, 20, 5, generator)
    value = int(np.argsort(np.bincount(codes))[10])
    inside = generator.random(len(codes)) < np.where(codes == value, 0.9, 0.4)
    truth, off, told = int((codes[inside] == value).sum()), [], 0
    for _ in range(20):
        seen = published(codes, 20, 5, True, generator)
        counts = np.bincount(seen, minlength=20)
        matching = np.bincount(seen[inside], minlength=20).astype(np.float64)
        tables = Tables(matching, counts.astype(np.float64), (one(20, value),))
        found = estimate(tables, [transition(counts, 5)], Estimator.MATRIX)
        told += found.leans
        assert found.value is not None
        assert found.standard_error
        off.append((found.value - truth) / found.standard_error)
    assert told <= 2
    assert abs(np.mean(off)) < 3 / np.sqrt(20)


def test_two_attributes_are_counted_together() -> None:
    generator = np.random.default_rng(8)
    held, errors, paper = 0, [], []
    for _ in range(8):
        codes = [skewed_codes(8000, values, 2, generator) for values in (6, 7)]
        codes[1] = np.where(generator.random(8000) < 0.3, codes[0], codes[1])
        if (2 * np.bincount(codes[1]) > 8000).any():
            continue
        seen = [published(each, 7, 2, True, generator) for each in codes]
        hits = generator.random(8000) < 0.6
        tables = [np.zeros((7, 7)), np.zeros((7, 7))]
        for table, rows in zip(tables, (hits, np.ones(8000, bool)), strict=True):
            np.add.at(table, (seen[0][rows], seen[1][rows]), 1)
        kept = np.flatnonzero(tables[1].sum(1))
        tables = [table[kept] for table in tables]
        model = [
            transition(table.astype(np.int64), 2) for table in (tables[1].sum(1), tables[1].sum(0))
        ]
        question = Tables(tables[0], tables[1], (kept == 2, one(7, 2)))
        truth = int((hits & (codes[0] == 2) & (codes[1] == 2)).sum())
        found = estimate(question, model, Estimator.MATRIX)
        assert found.value is not None
        assert found.low is not None
        assert found.high is not None
        held += found.low <= truth <= found.high
        errors.append(found.value - truth)
        other = estimate(question, model, Estimator.PAPER).value
        assert other is not None
        paper.append(other - truth)
    assert held >= len(errors) - 1
    assert np.square(errors).mean() < np.square(paper).mean()


def test_mixed_groups_and_all_values_at_once_halve_the_error_of_the_papers_way() -> None:
    generator = np.random.default_rng(3)
    codes = skewed_codes(10_000, 20, 5, generator)
    squares: dict[tuple[bool, Estimator], list[float]] = {}
    for mixed in (True, False):
        for _ in range(2):
            seen = published(codes, 20, 5, mixed, generator)
            everything = np.bincount(seen, minlength=20).astype(np.float64)
            model = [transition(everything.astype(np.int64), 5, mixed)]
            for value in range(20):
                hits = hits_by_value(codes, 20, generator, correlated=True)
                matching = np.bincount(seen[hits], minlength=20).astype(np.float64)
                truth = int((codes[hits] == value).sum())
                for estimator in (Estimator.MATRIX, Estimator.PAPER):
                    question = Tables(matching, everything, (one(20, value),))
                    found = estimate(question, model, estimator).value
                    assert found is not None
                    squares.setdefault((mixed, estimator), []).append((found - truth) ** 2)
    error = {key: float(np.sqrt(np.mean(each))) for key, each in squares.items()}
    assert error[True, Estimator.MATRIX] < 0.5 * error[False, Estimator.PAPER]


def test_an_interval_reaches_down_from_an_estimate_above_all_rows() -> None:
    # The variance is widest in the middle: a search that starts at the end would stay there.
    found = interval(250.0, lambda count: count * (100 - count), 1.96, (0.0, 100.0))
    grid = np.linspace(0, 100, 100_001)
    held = grid[(100 - grid) <= 1.96 * np.sqrt(grid * (100 - grid))]
    assert found[0] == pytest.approx(held.min(), abs=0.5)
    assert found[1] == 100


def test_one_row_that_is_published_by_chance_does_not_break_the_interval_of_two_columns() -> None:
    """Of few rows, one in ℓ′² is published in the cell in question: then it is ℓ′² rows there.

    Without the step of one row the interval of a single true row held in about 90 of 100 draws.
    """
    held = cells_held(4, (20, 25), 100, 60, np.random.default_rng(1))
    assert np.mean(held) >= 0.95


@pytest.mark.parametrize("hits", [1, 2, 3])
def test_few_rows_that_all_publish_a_value_may_have_others(hits: int) -> None:
    """Where no other value had an estimate, the variance of a smaller count was taken as 0.

    So one row was said to have the value that it publishes, which up to 18 in 100 have not.
    """
    counts = np.array([240, 210, 150])
    model = FullTransition(group_model(counts, 2, True))
    for value in range(3):
        wanted = np.arange(3) == value
        tables = Tables(hits * wanted.astype(float), counts.astype(float), (wanted,))
        found = estimate(tables, [model], Estimator.MATRIX)
        assert found.value == hits
        assert (found.low, found.high) == (0, hits)


@given(st.floats(-50, 150), st.floats(0, 400))
def test_an_interval_of_a_constant_variance_is_the_plain_one(value: float, variance: float) -> None:
    middle = min(max(value, 0.0), 100.0)
    low, high = interval(value, lambda _: variance, 2.0, (0.0, 100.0))
    assert low == pytest.approx(max(0.0, middle - 2 * np.sqrt(variance)))
    assert high == pytest.approx(min(100.0, middle + 2 * np.sqrt(variance)))


def test_no_count_is_larger_than_that_of_all_rows_with_the_value() -> None:
    counts = np.array([990.0, 700, 660, 400, 220, 30])
    model = [transition(counts.astype(np.int64))]
    rare = Tables(counts / 2, counts, (one(6, 5),))
    assert possible_counts(rare) == (0, pytest.approx(30 + 4 * np.sqrt(30 + 16)))
    found = estimate(Tables(counts, counts, (one(6, 0),)), model, Estimator.MATRIX)
    assert found.low is not None
    assert found.high is not None
    deviation = np.sqrt(990 * (1 - 1 / 3))
    # All rows: the published count itself, though the value is in nearly all groups.
    assert found.low == pytest.approx(990 - 1.96 * deviation, abs=5)
    assert found.high == pytest.approx(990 + 1.96 * deviation, abs=5)
    least, _ = possible_counts(Tables(counts, counts, (one(6, 0),)))
    assert 990 - 5 * deviation < least < 990
