"""Chances, draws and estimates of randomised response against what is written down by hand."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import comb, exp, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dpdesk.core.errors import InputError, RefusedError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.parameters import parse_parameters
from dpdesk.core.schema import Role
from dpdesk.engine.method import MethodInput
from dpdesk.engine.methods.randomised_response.method import RandomisedResponse
from dpdesk.engine.methods.randomised_response.querying import estimate
from dpdesk.engine.methods.randomised_response.settings import (
    PARAMETERS,
    PARTS,
    Chances,
    Settings,
    allowed,
    inverse,
    largest_ratio,
    power_of_e,
    read_matrix,
    weights,
)
from dpdesk.engine.noise.randomness import SystemRandomness
from dpdesk.verifiers.randomised import allows
from dpdesk.verifiers.reading import number
from tests.helpers.debits import debit_for_tests
from tests.helpers.known_bits import SeededBits
from tests.helpers.memory_tables import MemorySource
from tests.reference.randomised_response import published, solved

TOKEN = CancelToken()
METHOD = RandomisedResponse()
MATRIX = ((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 3), Fraction(2, 3)))
EPSILONS = st.fractions(min_value=Fraction(1, 50), max_value=12, max_denominator=100)


class Lots:
    """A source whose words are given."""

    def __init__(self, words: list[int]) -> None:
        self._left = words

    def words(self, n: int) -> NDArray[np.uint64]:
        found, self._left = self._left[:n], self._left[n:]
        return np.array(found, np.uint64)


def table_of(chances: Chances) -> list[list[Fraction]]:
    """The matrix of chances as fractions."""
    size = range(chances.categories)
    return [[Fraction(int(part), chances.whole) for part in chances.parts(each)] for each in size]


def read(**keys: object) -> Settings:
    """Settings of a plan that draws ``answer``."""
    plan = {"drawn": ["answer"], "domains": {"answer": ["yes", "no", "other"]}, "epsilon": 1} | keys
    return Settings.read(parse_parameters(PARAMETERS, plan, "plan"), "plan")


@given(EPSILONS, st.integers(2, 30))
def test_k_ary_chances_cost_no_more_than_epsilon_and_nearly_all_of_it(
    epsilon: Fraction, size: int
) -> None:
    table = table_of(Chances.k_ary(size, epsilon))
    assert all(sum(row) == 1 for row in table)
    assert {table[0][0]} == {row[place] for place, row in enumerate(table)}
    ratio = table[0][0] / table[0][1]
    low, high = power_of_e(epsilon)
    assert ratio <= low
    assert float(ratio) == pytest.approx(exp(epsilon), rel=1e-6)
    assert float(high - low) < 1e-60 * float(high)
    assert allows(epsilon, ratio)
    assert allowed(ratio, epsilon)
    less = table[0][1] - Fraction(1, PARTS)
    assert not allows(epsilon, (1 - (size - 1) * less) / less)


@given(EPSILONS, st.fractions(min_value=1, max_value=200_000, max_denominator=10**6))
def test_both_decide_alike_whether_epsilon_allows_a_ratio(
    epsilon: Fraction, ratio: Fraction
) -> None:
    assert allows(epsilon, ratio) == allowed(ratio, epsilon) == (float(ratio) <= exp(epsilon))


@pytest.mark.parametrize("chances", [Chances.of(MATRIX), Chances(3, 10, 6, 2)], ids=str)
def test_every_lot_gives_the_category_whose_part_it_is(chances: Chances) -> None:
    for value in range(chances.categories):
        lots = list(range(chances.whole))
        true = np.full(len(lots), value, np.int32)
        found = chances.draw(true, Lots(lots), TOKEN)
        assert Counter(found.tolist()) == Counter(
            {place: int(part) for place, part in enumerate(chances.parts(value)) if part}
        )


def test_large_wholes_are_drawn_to_the_part() -> None:
    chances = Chances.k_ary(3, Fraction(1))
    edges = [0, chances.stay - 1, chances.stay, chances.stay + chances.move - 1]
    edges += [chances.stay + chances.move, PARTS - 1]
    found = chances.draw(np.full(6, 1, np.int32), Lots(edges), TOKEN)
    assert found.tolist() == [1, 1, 0, 0, 2, 2]


@pytest.mark.parametrize("other", [((1, 0), (0, 1)), ((0, 0), (1, 2)), ((1, 0), (1, 2))])
def test_no_change_of_one_row_makes_a_release_likelier_by_more_than_its_epsilon(
    other: tuple[tuple[int, int], ...],
) -> None:
    """All releases of two rows and two columns, exactly; ε adds over the columns of a row."""
    found = read(
        drawn=["answer", "drug"],
        domains={"answer": ["yes", "other"], "drug": ["a", "b", "other"]},
        epsilon=2,
        shares={"answer": 1, "drug": 3},
    )
    tables = [table_of(found.chances[name]) for name in found.names]
    here = published(((0, 0), (0, 1)), tables)
    there = published(other, tables)
    assert sum(here.values()) == sum(there.values()) == 1
    worst = max(max(here[key] / there[key], there[key] / here[key]) for key in here)
    rows = sum(a != b for a, b in zip(((0, 0), (0, 1)), other, strict=True))
    assert allows(2 * rows, worst)
    changed = [row for row in zip(((0, 0), (0, 1)), other, strict=True) if row[0] != row[1]]
    alone = [any(a[place] != b[place] for a, b in changed) for place in (0, 1)]
    if rows == 1 and alone == [True, False]:
        assert allows(Fraction(1, 2), worst)
    if rows == 1 and all(alone):
        assert not allows(Fraction(3, 2), worst)  # the shares of both columns are needed


@given(st.lists(st.integers(0, 40), min_size=3, max_size=3), EPSILONS)
@settings(max_examples=30)
def test_estimates_are_the_inverse_of_the_chances(counts: list[int], epsilon: Fraction) -> None:
    chances = Chances.k_ary(3, epsilon)
    expected = solved(table_of(chances), [Fraction(each) for each in counts])
    codes = np.arange(3, dtype=np.int32)[:, np.newaxis]
    for value in range(3):
        wanted = np.arange(3) == value
        weight, moments = weights(chances, wanted)
        found, *_ = estimate(np.array(counts), [(weight, moments, wanted)], codes)
        size = float(max(map(abs, expected))) + 1
        assert found == pytest.approx(float(expected[value]), abs=1e-9 * size)


@pytest.mark.parametrize("chances", [Chances.of(MATRIX), Chances.k_ary(4, Fraction(3, 2))], ids=str)
def test_weights_are_unbiased_with_the_stated_second_moment(chances: Chances) -> None:
    size = chances.categories
    table = np.array([[float(each) for each in row] for row in table_of(chances)])
    for value in range(size):
        wanted = np.arange(size) <= value
        found, moments = weights(chances, wanted)
        assert table @ found == pytest.approx(wanted.astype(float), abs=1e-12)
        assert table @ found**2 == pytest.approx(moments)


@pytest.mark.parametrize(("epsilon", "rows", "true"), [(1, 30, 3), (2, 200, 60), (3, 12, 0)])
def test_intervals_hold_the_truth_in_95_of_100_draws(epsilon: int, rows: int, true: int) -> None:
    """Two drawn columns; the number of draws is fixed, the bound five deviations below 95 %."""
    first, second = Chances.k_ary(3, Fraction(epsilon)), Chances.of(MATRIX)
    wanted = (np.arange(3) == 0, np.arange(2) == 1)
    truth = np.array([(0, 1)] * true + [(1, 1), (0, 0)] * rows, np.int32)[:rows]
    parts = [(*weights(c, w), w) for c, w in zip((first, second), wanted, strict=True)]
    bits, held, sums, draws = SeededBits(3), 0, 0.0, 600
    for _ in range(draws):
        columns = [c.draw(truth[:, place], bits, TOKEN) for place, c in enumerate((first, second))]
        codes = np.stack(columns, axis=1)
        found, error, low, high = estimate(np.ones(rows, np.int64), parts, codes)
        held += low <= true <= high
        sums += found
        assert low <= found <= high
    assert held >= draws * (0.95 - 5 * sqrt(0.95 * 0.05 / draws))
    assert abs(sums / draws - true) < 5 * max(error, 1.0) / sqrt(draws) * 2


@pytest.mark.parametrize(
    ("told", "slipped", "rows", "true"),
    [("0.99", "0.001", 37, 3), ("0.98", "0.02", 3, 1), ("0.999", "0.02", 23, 21)],
)
def test_intervals_hold_the_truth_where_other_values_are_rare(
    told: str, slipped: str, rows: int, true: int
) -> None:
    """All outcomes of one column of two categories, each with its chance."""
    first, second = Fraction(told), Fraction(slipped)
    chances = Chances.of(((first, 1 - first), (second, 1 - second)))
    wanted = np.array([True, False])
    parts, codes = [(*weights(chances, wanted), wanted)], np.array([[0], [1]], np.int32)
    held = Fraction(0)
    for kept in range(true + 1):
        for slips in range(rows - true + 1):
            seen = kept + slips
            *_, low, high = estimate(np.array([seen, rows - seen]), parts, codes)
            chance = comb(true, kept) * first**kept * (1 - first) ** (true - kept)
            chance *= comb(rows - true, slips) * second**slips
            chance *= (1 - second) ** (rows - true - slips)
            held += chance if low <= true <= high else 0
    assert held >= Fraction(95, 100)


def test_all_categories_together_are_exact() -> None:
    chances, wanted = Chances.k_ary(3, Fraction(1)), np.ones(3, bool)
    codes = np.array([[0], [1], [2]], np.int32)
    found = estimate(np.array([4, 5, 6]), [(*weights(chances, wanted), wanted)], codes)
    assert found == (15.0, 0.0, 15.0, 15.0)


def source(answers: list[str]) -> MemorySource:
    """Rows with a name, a town and an answer."""
    rows = [(f"p{n}", f"town {n % 3}", answer) for n, answer in enumerate(answers)]
    return MemorySource.of(("name", "town", "answer"), rows)


def given_of(answers: list[str], **keys: object) -> MethodInput:
    """What the method gets of these rows."""
    plan = {"drawn": ["answer"], "domains": {"answer": ["yes", "no", "other"]}, "epsilon": 1} | keys
    roles = {"name": Role.IDENTIFIER, "town": Role.INSENSITIVE, "answer": Role.SENSITIVE}
    return MethodInput(
        roles, {}, parse_parameters(PARAMETERS, plan, "plan"), source=source(answers)
    )


@pytest.mark.parametrize("value", ["yes", "no", "", "strange", " yes ", "\U0010ffff"])
def test_nothing_but_the_draws_depends_on_a_drawn_value(value: str) -> None:
    """Neighbours: one cell differs, even by a value outside the domain or an unreadable one."""
    one, other = (given_of(["yes", "no", each]) for each in ("no", value))
    first, second = (METHOD.decide(each, TOKEN, silent) for each in (one, other))
    assert (first.guarantee, first.result, first.figures, first.notes) == (
        second.guarantee,
        second.result,
        second.figures,
        second.notes,
    )
    assert first.risk == second.risk == {}
    views = [METHOD.explore(each, TOKEN, silent).view(each.parameters) for each in (one, other)]
    assert views[0].sentence == views[1].sentence
    assert METHOD.price(one.roles, one.parameters) == METHOD.price(other.roles, other.parameters)


def test_a_debit_pays_for_one_run_of_draws_and_for_no_other_plan() -> None:
    from tests.contract.test_every_randomised_method import Rows

    given = given_of(["yes", "no", "yes"])
    rows = Rows(given.source.columns, source(["yes", "no", "yes"]).data)
    outcome = METHOD.decide(given, TOKEN, silent)
    charge = METHOD.price(given.roles, given.parameters)
    debit = debit_for_tests(charge.cost, charge.draws)
    ends = SystemRandomness(), TOKEN, silent
    drawn = METHOD.draw_paid(given, outcome, rows, debit, *ends)
    assert drawn.rows_out == 3
    assert set(drawn.drawn) == {"answer"}
    with pytest.raises(RefusedError, match="has already been used for noise"):
        METHOD.draw_paid(given, outcome, rows, debit, *ends)
    with pytest.raises(ValueError, match="paid for another release"):
        METHOD.draw_paid(given, outcome, rows, debit_for_tests("1/2"), *ends)


@pytest.mark.parametrize(
    ("keys", "code"),
    [
        ({"drawn": []}, "response.settings"),
        ({"drawn": ["answer", "answer"]}, "response.settings"),
        ({"domains": {"answer": ["yes"]}}, "response.domain"),
        ({"domains": {"answer": [["yes", "no"], "other"]}}, "response.domain"),
        ({"domains": {"other": ["yes", "no"]}}, "response.settings"),
        ({"domains": {"answer": ["yes", "no"]}}, "response.outside"),
        ({"domains": {"answer": ["yes", "no"]}, "outside": {"answer": "maybe"}}, "cube.outside"),
        ({"domains": {"answer": ["yes", "yes", "other"]}}, "cube.domain"),
        ({"shares": {"answer": 0}}, "response.settings"),
        ({"epsilon": "0.0000000000000000001"}, "response.epsilon"),
    ],
)
def test_settings_that_cannot_be_drawn_are_refused(keys: dict[str, object], code: str) -> None:
    with pytest.raises(InputError) as caught:
        _ = read(**keys).chances
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("matrix", "code"),
    [
        ([["0.75", "0.25"], ["0.2", "0.7"]], "parameter.invalid"),
        ([["0.75", "0.25"]], "parameter.invalid"),
        ([["1.25", "-0.25"], ["0.5", "0.5"]], "parameter.invalid"),
        ([["1/0", "1"], ["0.5", "0.5"]], "parameter.invalid"),
        ([["0.8", "0.2"], ["0.2", "0.8"]], "response.matrix"),  # 4 > e
        ([["1", "0"], ["0.5", "0.5"]], "response.matrix"),
        ([["0.5", "0.5"], ["0.5", "0.5"]], "response.matrix"),
        ([["1/1000000007", "1000000006/1000000007"], ["0.5", "0.5"]], "response.matrix"),
    ],
)
def test_a_matrix_that_epsilon_does_not_allow_is_refused(
    matrix: list[list[str]], code: str
) -> None:
    keys = {"domains": {"answer": ["yes", "other"]}, "matrix": {"answer": matrix}}
    with pytest.raises(InputError) as caught:
        _ = read(**keys).chances
    assert caught.value.code == code


def test_a_matrix_is_read_as_a_form_writes_it() -> None:
    parameter = next(each for each in PARAMETERS if each.key == "matrix")
    raw = {"answer": [["0.75", "1/4"], ["1/3", "2/3"]], "drug": [[0.5, 0.5], [0, 1]]}
    value = parameter.parse(raw, "plan")
    assert parameter.as_text(value) == "answer: 3/4 1/4; 1/3 2/3 | drug: 1/2 1/2; 0 1"
    assert parameter.parse(parameter.as_text(value), "plan") == value
    assert parameter.parse(parameter.as_plain(value), "plan") == value


def test_inverse_and_ratio_are_exact() -> None:
    found = inverse(MATRIX)
    assert found is not None
    size = range(2)
    assert all(
        sum(MATRIX[a][c] * found[c][b] for c in size) == (a == b) for a in size for b in size
    )
    assert largest_ratio(MATRIX) == Fraction(8, 3)


@pytest.mark.parametrize("text", ["1e-999999999", "1e999999999", "nan", "x", "1e-2000"])
def test_a_chance_of_insane_length_is_refused_at_once(text: str) -> None:
    with pytest.raises(ValueError, match="sane length"):
        read_matrix([[text, "1"], ["0.5", "0.5"]])
    with pytest.raises(ValueError, match="sane length"):
        number(text)
    assert read_matrix([["1/3", "2/3"], [0.25, 0.75]])[0][0] == number("1/3") == Fraction(1, 3)
