"""Ways that views are compared with: against sums over rows, and by enumerating neighbours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import comb, prod, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.private.counting import PlacedRows
from dpdesk.engine.private.kinds import Noise
from dpdesk.engine.views.rivals import (
    REPLAYS,
    ROUNDS,
    Errors,
    Floats,
    Places,
    Truth,
    Unable,
    Way,
    differences,
    jensen_shannon,
    measured,
    rivals_of,
    weighted_release,
)
from tests.helpers.known_bits import SeededBits
from tests.reference import rivals as reference

COLUMNS = 4
Rows = Sequence[tuple[int, ...]]
ROWS = st.lists(st.tuples(*[st.integers(0, 1)] * COLUMNS), min_size=1, max_size=12)


class Silent(Truth):
    """Noise forced to zero."""

    def draw(self, scale: Fraction, shape: Sequence[int]) -> Floats:
        return np.zeros(tuple(shape))


def truth(
    rows: Rows, kind: type[Truth] = Silent, noise: Noise = Noise.LAPLACE, shape: Places = (),
    people: int = 1, *, replace: bool = False,
) -> Truth:  # fmt: skip
    counted = Counter(rows)
    codes = np.array(list(counted), np.int64).reshape(len(counted), -1)
    counts = np.array(list(counted.values()), np.int64)
    ones = np.ones(len(counts), np.int64)
    placed = PlacedRows(shape or (2,) * COLUMNS, codes, counts, ones, {})
    return kind(placed, noise, people, replace, SeededBits(5), CancelToken())


def way(label: str, given: Truth, asked: Sequence[Places], budget: Fraction) -> Way:
    """The way of this name; those behind it are not made."""
    for each in rivals_of(given, asked, budget):
        if each.label == label:
            assert isinstance(each, Way)
            return each
    raise AssertionError(label)


def all_of(k: int, columns: int = COLUMNS) -> tuple[Places, ...]:
    return tuple(combinations(range(columns), k))


@given(ROWS, st.integers(1, 3))
def test_without_noise_the_exact_ways_are_exact(rows: Rows, k: int) -> None:
    own = truth(rows)
    for label in ("Flat", "Direct", "Fourier"):
        made = way(label, own, all_of(k), Fraction(1))
        assert measured(own, made, all_of(k), 1).squared == 0
    coefficients = reference.fourier_coefficients(rows, COLUMNS, k)
    for places in all_of(k):
        true = own.table(places)
        for cell in product((0, 1), repeat=k):
            assert true[cell] == sum(tuple(row[i] for i in places) == cell for row in rows)
            assert true[cell] == pytest.approx(reference.from_fourier(coefficients, places, cell))


def test_what_rounding_makes_is_no_error() -> None:
    own = truth([(0, 1, 0, 1, 1, 0)[:COLUMNS]] * 3)
    near = Way("Near", lambda: lambda places: own.table(places) * (1 + 1e-15))
    assert measured(own, near, all_of(2), 1) == Errors(0.0, 0.0, 0.0)
    far = Way("Far", lambda: lambda places: own.table(places) * (1 + 1e-9))
    assert measured(own, far, all_of(2), 1).squared > 0


@pytest.mark.parametrize("k", [2, 3, 6, 8])
def test_the_polynomials_are_those_through_chebyshevs_roots(k: int) -> None:
    for degree in range(1, k):
        parts = differences(k, degree)
        for z in range(k + 1):
            value = sum(c * comb(z, j) for j, c in enumerate(parts))
            assert value == pytest.approx(reference.best_outside(k, degree, z), abs=1e-9)
    exact = differences(k, k)
    assert [sum(c * comb(z, j) for j, c in enumerate(exact)) for z in range(k + 1)] == [
        1.0,
        *[0.0] * k,
    ]


@given(ROWS, st.integers(2, 3))
def test_chebyshev_sums_its_polynomial_over_the_rows(rows: Rows, k: int) -> None:
    own = truth(rows)
    made = way("Chebyshev polynomials", own, all_of(k), Fraction(1))
    assert made.draw is not None
    release = made.draw()
    # Without noise the degree k is exact, so it is the one that errs least.
    for places in all_of(k):
        for cell in product((0, 1), repeat=k):
            expected = reference.approximated(rows, places, cell, k)
            assert release(places)[cell] == pytest.approx(expected, abs=1e-9)


@given(ROWS, st.integers(0, 11), st.tuples(*[st.integers(0, 1)] * COLUMNS), st.integers(1, 3))
def test_what_a_person_changes_is_what_the_noise_is_for(
    rows: Rows, place: int, other: tuple[int, ...], k: int
) -> None:
    """By enumeration of everything that the ways release, added up and squared."""
    fewer = [row for i, row in enumerate(rows) if i != place % len(rows)]
    moved = [*fewer, other]
    fourier = [reference.fourier_coefficients(each, COLUMNS, k) for each in (rows, fewer, moved)]
    count = reference.coefficients_up_to(COLUMNS, k)
    assert _changes(fourier[0], fourier[1]) == (count, count)
    l1, l2 = _changes(fourier[0], fourier[2])
    assert (l1, l2) <= (2 * count, 4 * count)
    for degree in range(1, k + 1):
        parts = differences(k, degree)
        given = rows, fewer, moved
        found = [reference.chebyshev_coefficients(each, COLUMNS, parts) for each in given]
        one = sum(abs(c) * comb(COLUMNS, j) for j, c in enumerate(parts))
        square = sum(c * c * comb(COLUMNS, j) for j, c in enumerate(parts))
        assert _changes(found[0], found[1]) == pytest.approx((one, square))
        l1, l2 = _changes(found[0], found[2])
        assert l1 <= 2 * one + 1e-9
        assert l2 <= 2 * square + 1e-9


def _changes(one: Mapping[Any, float], other: Mapping[Any, float]) -> tuple[float, float]:
    gaps = [abs(one[key] - other[key]) for key in one]
    return sum(gaps), sum(gap**2 for gap in gaps)


class Recording(Truth):
    """Keeps the noise that was asked for, and draws none."""

    asked: list[Fraction]

    def draw(self, scale: Fraction, shape: Sequence[int]) -> Floats:
        self.__dict__.setdefault("asked", []).append(scale)
        return np.zeros(tuple(shape))


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("noise", list(Noise))
@pytest.mark.parametrize("people", [1, 3])
def test_each_way_gets_the_whole_budget_once(*, noise: Noise, people: int, replace: bool) -> None:
    own = truth([(0, 1, 0, 1)], Recording, noise, people=people, replace=replace)
    assert isinstance(own, Recording)
    budget, k, twice = Fraction(1, 2), 2, 2 if replace else 1
    tables, signs = comb(COLUMNS, k), 1 + COLUMNS + comb(COLUMNS, k)
    for label, l1, l2 in (
        ("Flat", people * twice, people**2 * twice),
        ("Direct", people * twice * tables, people**2 * twice * tables),
        ("Fourier", people * twice * signs, (people * twice) ** 2 * signs),
    ):
        own.__dict__["asked"] = []
        measured(own, way(label, own, all_of(k), budget), all_of(k), 1)
        expected = l1 / budget if noise is Noise.LAPLACE else l2 / (2 * budget)
        assert set(own.asked[-1:]) == {expected}


@settings(max_examples=8)
@given(st.data())
def test_weights_are_those_of_the_rule_cell_by_cell(data: st.DataObject) -> None:
    shape = (2, 3, 2)
    cell = st.tuples(*[st.integers(0, size - 1) for size in shape])
    rows = data.draw(st.lists(cell, min_size=2, max_size=20))
    own = truth(rows, shape=shape)
    asked = all_of(2, 3)
    found = weighted_release(own, asked, Fraction(4))((0, 1, 2))
    # The same choices again, from the same bits.
    again = truth(rows, shape=shape)
    weights = {cell: len(rows) / prod(shape) for cell in product(*map(range, shape))}
    known: list[tuple[tuple[int, ...], tuple[int, ...], float]] = []
    for _ in range(ROUNDS):
        queries = [
            (places, values)
            for places in asked
            for values in product(*(range(shape[i]) for i in places))
        ]
        draws = again.evenly(len(queries))
        best = max(
            range(len(queries)),
            key=lambda i: (
                0.1 * abs(_true(rows, *queries[i]) - _held(weights, *queries[i]))
                - np.log(-np.log(draws[i]))
            ),
        )
        known.append((*queries[best], _true(rows, *queries[best])))
        weights = reference.reweighted(weights, known, REPLAYS)
    expected = np.array([weights[cell] for cell in product(*map(range, shape))]).reshape(shape)
    assert np.allclose(found, expected, rtol=1e-6, atol=1e-9)
    assert found.sum() == pytest.approx(len(rows))


def _true(rows: Rows, places: tuple[int, ...], values: tuple[int, ...]) -> float:
    return float(sum(tuple(row[i] for i in places) == values for row in rows))


def _held(
    weights: dict[tuple[int, ...], float], places: tuple[int, ...], values: tuple[int, ...]
) -> float:
    return sum(w for cell, w in weights.items() if tuple(cell[i] for i in places) == values)


def test_planned_errors_of_cubes_are_those_of_their_noise() -> None:
    own = truth([(0, 1, 0, 1)] * 50)
    given = own, all_of(2), Fraction(1, 3)
    base = way("Cube: one base table", *given).planned[0, 1]
    # A base cell has discrete Laplace noise of scale 3; a cell of a pair is a sum of four.
    p = np.exp(-1 / 3)
    assert base == pytest.approx(sqrt(4 * 4 * 2 * p / (1 - p) ** 2))
    apart = way("Cube: every table by itself", *given).planned[0, 1]
    p = np.exp(-1 / 18)
    alone = sqrt(4 * 2 * p / (1 - p) ** 2)
    assert 0.5 * alone < apart < alone  # they agree afterwards, which takes some of it away
    assert way("Cube: planner bmax", *given).planned[0, 1] <= min(base, alone) + 1e-9


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=8))
def test_divergence_is_the_entropy_of_the_mean_less_the_mean_entropy(
    pairs: list[tuple[int, int]],
) -> None:
    one, other = (np.array([pair[i] for pair in pairs], float) for i in (0, 1))
    found = jensen_shannon(one, other)
    assert 0 <= found <= 1 + 1e-12
    if one.sum() and other.sum():
        assert found == pytest.approx(reference.divergence(one.tolist(), other.tolist()), abs=1e-9)
    else:
        assert found == (0.0 if one.sum() == other.sum() else 1.0)


def test_shares_next_to_nothing_have_no_divergence() -> None:
    assert jensen_shannon(np.array([5e-324, 1.0]), np.array([0.0, 1.0])) == 0
    assert jensen_shannon(np.array([5e-324, 1.0]), np.array([1.0, 0.0])) == pytest.approx(1)


def test_what_data_do_not_allow_is_named_with_the_reason() -> None:
    wide = truth([(0,) * 30], shape=(3,) * 30)
    unable = {
        each.label: each.reason
        for each in rivals_of(wide, [(0, 1, 2, 3, 4, 5)], Fraction(1))
        if isinstance(each, Unable)
    }
    assert set(unable) == {"Flat", "Fourier", "Chebyshev polynomials", "MWEM", "Cube"}
    assert "1,048,576 cells" in unable["Flat"]
    pairs = list(rivals_of(truth([(0,) * 32], shape=(2,) * 32), [(0, 31)], Fraction(1)))
    lacking = {each.label for each in pairs if isinstance(each, Unable)}
    assert lacking == {"Flat", "Chebyshev polynomials", "MWEM", "Cube"}  # the others can
    rows = [(0, 1, 0, 1)]
    concentrated = rivals_of(truth(rows, noise=Noise.GAUSSIAN), all_of(2), Fraction(1))
    assert [each.label for each in concentrated if isinstance(each, Unable)] == ["MWEM"]
