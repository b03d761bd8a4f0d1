"""Rows from released tables: they have the margins of the tables, and as many as were asked for."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dpdesk.core.cuboid import CuboidTable, Domain
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.cubes import synthetic
from dpdesk.engine.cubes.synthetic import nearest_shares, released_total, synthetic_rows
from tests.helpers.known_bits import SeededBits

Floats = NDArray[np.float64]
TOKEN = CancelToken()
DOMAIN = Domain(("a", "b", "c"), (("0", "1"), ("x", "y", "z"), ("p", "q")))


def table(names: str, values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> CuboidTable:
    return CuboidTable(DOMAIN.part([DOMAIN.dimensions.index(name) for name in names]), values)


def of_whole(whole: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> list[CuboidTable]:
    """All tables of two dimensions, of a whole one."""
    return [table("ab", whole.sum(2)), table("ac", whole.sum(1)), table("bc", whole.sum(0))]


wholes = st.lists(st.integers(0, 60), min_size=12, max_size=12).map(
    lambda cells: np.array(cells, float).reshape(2, 3, 2)
)


@settings(deadline=None, max_examples=40)
@given(wholes, st.integers(1, 3000))
def test_tables_that_agree_are_the_margins_of_the_rows(
    whole: np.ndarray[tuple[int, ...], np.dtype[np.float64]], rows: int
) -> None:
    tables = of_whole(whole + 1)
    made = synthetic_rows(DOMAIN, tables, rows, SeededBits(1), TOKEN)
    assert made.codes.shape == (rows, 3)
    total = released_total(tables)
    assert total == whole.sum() + 12
    scale = total / rows
    for error in made.errors:  # a cell of a table sums up two or three, each rounded
        assert error.largest <= 3 * scale + 1e-3 * total


def test_one_table_of_all_dimensions_is_met_but_for_rounding() -> None:
    whole = np.arange(12.0).reshape(2, 3, 2) * 10
    tables = [table("abc", whole), table("b", whole.sum((0, 2)))]
    made = synthetic_rows(DOMAIN, tables, int(whole.sum()), SeededBits(3), TOKEN)
    assert made.errors[0].largest <= 1


def test_a_large_domain_is_drawn_dimension_by_dimension(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(synthetic, "MOST_DENSE", 1)
    whole = np.array([[[40, 4], [3, 30], [2, 1]], [[1, 20], [10, 1], [5, 50]]], float)
    tables = [table("ab", whole.sum(2)), table("bc", whole.sum(0))]
    made = synthetic_rows(DOMAIN, tables, 200_000, SeededBits(5), TOKEN)
    assert max(error.largest for error in made.errors) < 2  # of 167: three standard errors


def _correlated(sizes: tuple[int, ...]) -> tuple[Domain, Floats]:
    """A domain, and a distribution in which all dimensions depend on each other."""
    rng = np.random.default_rng(11)
    whole = np.exp(0.8 * rng.normal(size=sizes))
    for one, other in combinations(range(len(sizes)), 2):
        tilt = np.exp(0.9 * rng.normal(size=(sizes[one], sizes[other])))
        whole *= np.expand_dims(tilt, [i for i in range(len(sizes)) if i not in (one, other)])
    names = tuple("abcdef"[: len(sizes)])
    categories = tuple(tuple(map(str, range(size))) for size in sizes)
    return Domain(names, categories), whole / whole.sum()


def _margins(domain: Domain, whole: Floats, held: int) -> list[CuboidTable]:
    places = range(len(domain.shape))
    return [
        CuboidTable(domain.part(own), whole.sum(tuple(i for i in places if i not in own)) * 50_000)
        for own in combinations(places, held)
    ]


@pytest.mark.parametrize("held", [2, 3])
def test_rows_of_a_large_domain_have_all_tables(monkeypatch: pytest.MonkeyPatch, held: int) -> None:
    monkeypatch.setattr(synthetic, "MOST_DENSE", 1)
    domain, whole = _correlated((2, 3, 2, 4, 2, 3))
    tables = _margins(domain, whole, held)
    made = synthetic_rows(domain, tables, 50_000, SeededBits(5), TOKEN)
    for error in made.errors:
        assert error.largest <= 300  # of 50,000; a standard error of half of them is 112
    assert made.mean <= 50


def test_the_last_of_three_dimensions_is_drawn_as_the_whole_distribution_has_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    domain, whole = _correlated((2, 3, 4))
    tables = _margins(domain, whole, 2)
    counted = []
    for most in (synthetic.MOST_DENSE, 1):
        monkeypatch.setattr(synthetic, "MOST_DENSE", most)
        made = synthetic_rows(domain, tables, 400_000, SeededBits(2), TOKEN)
        found = np.zeros(domain.shape)
        np.add.at(found, tuple(made.codes.T), 1 / 400_000)
        counted.append(found)
    assert np.abs(counted[0] - counted[1]).max() < 0.004
    assert np.abs(counted[0] - whole).max() > 0.01  # three go together by more than pairs


def test_tables_that_exclude_each_other_still_give_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(synthetic, "MOST_DENSE", 1)
    tables = [
        table("ab", np.array([[30.0, 0, 0], [0, 30, 0]])),
        table("ac", np.array([[30.0, 0], [30, 0]])),
        table("bc", np.array([[0.0, 20], [0, 20], [0, 20]])),
    ]
    made = synthetic_rows(DOMAIN, tables, 600, SeededBits(4), TOKEN)
    assert made.codes.min() >= 0
    assert (made.codes.max(axis=0) < DOMAIN.shape).all()
    assert set(made.codes[:, 2].tolist()) <= {0, 1}


def test_dimensions_without_a_table_are_no_columns() -> None:
    made = synthetic_rows(DOMAIN, [table("b", np.array([1.0, 2, 3]))], 60, SeededBits(1), TOKEN)
    assert made.domain.dimensions == ("b",)
    assert np.bincount(made.codes[:, 0]).tolist() == [10, 20, 30]


@pytest.mark.parametrize("values", [[0.0, 0.0, 0.0], [-5.0, -1.0, -2.0]])
def test_tables_without_people_give_equal_shares(values: list[float]) -> None:
    assert nearest_shares(np.array(values)).tolist() == [1 / 3] * 3
    assert released_total([table("b", np.array(values))]) == 0


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(-9, 40), min_size=2, max_size=4))
def test_the_nearest_shares_are_nearer_than_any_others(values: list[int]) -> None:
    if sum(values) <= 0:
        return
    wanted = np.array(values, float) / sum(values)
    found = nearest_shares(np.array(values, float))
    assert abs(found.sum() - 1) < 1e-9
    assert (found >= 0).all()
    for one in range(len(values)):
        for other in range(len(values)):
            moved = found.copy()
            step = min(found[one], 0.01)
            moved[one] -= step
            moved[other] += step
            assert ((moved - wanted) ** 2).sum() >= ((found - wanted) ** 2).sum() - 1e-12


def test_errors_are_those_of_cells_scaled_to_the_one_total_that_is_stated() -> None:
    """Tables that do not agree: what they differ by is an error of the rows too."""
    tables = [table("a", np.array([30.0, 10.0])), table("bc", np.full((3, 2), 10.0))]
    made = synthetic_rows(DOMAIN, tables, 400, SeededBits(7), TOKEN)
    scale = released_total(tables) / 400
    assert released_total(tables) == 50
    apart = []
    for places, each in (([0], tables[0]), ([1, 2], tables[1])):
        counted = np.zeros(each.values.shape)
        np.add.at(counted, tuple(made.codes[:, places].T), 1.0)
        apart.append(np.abs(counted * scale - each.values).ravel())
    assert [error.largest for error in made.errors] == pytest.approx([one.max() for one in apart])
    assert made.mean == pytest.approx(np.concatenate(apart).mean())
    assert max(error.largest for error in made.errors) > 3
