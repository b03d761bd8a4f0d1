"""Adjusted tables against all changes of tiny ones, tried one by one."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds as MilpBounds
from scipy.optimize import LinearConstraint, milp
from scipy.sparse import csr_array, hstack

from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.tables.adjusting import LARGEST, Wanted, adjusted
from dpdesk.engine.tables.model import Dimension, Requirement, System, exact
from tests.helpers.searching import examples
from tests.helpers.tables import drawn_system, filled, required, with_margins
from tests.reference.tables import least_change

TOKEN = CancelToken()


def two_by_two(leaves: list[int]) -> System:
    dimensions = [Dimension.flat("a", list("pq")), Dimension.flat("b", list("uv"))]
    return System.of([filled(dimensions, np.array(leaves))])


@cache
def all_moves() -> np.ndarray:
    """All changes of a table of two by two by at most six each, with their margins."""
    dimensions = two_by_two([0, 0, 0, 0]).tables[0].dimensions
    changes = product(range(-6, 7), repeat=4)
    return np.array([with_margins(dimensions, np.array(each)) for each in changes])


@given(
    st.lists(st.integers(0, 6), min_size=4, max_size=4),
    st.lists(st.booleans(), min_size=9, max_size=9),
    st.lists(st.integers(0, 2), min_size=18, max_size=18),
    st.lists(st.sampled_from([1, 1, 1, 2, 5]), min_size=9, max_size=9),
    st.lists(st.sampled_from([False] * 7 + [True]), min_size=9, max_size=9),
)
@settings(max_examples=40, deadline=None)
def test_the_least_change_is_that_of_all_changes(
    leaves: list[int], chosen: list[bool], needs: list[int], weights: list[int], stay: list[bool]
) -> None:
    system = two_by_two(leaves)
    values = system.cells.values
    unsafe = np.array(chosen) & ~system.known
    low = np.where(unsafe, np.minimum(needs[:9], values), 0)
    high = np.where(unsafe, needs[9:], 0)
    fixed = system.known | (np.array(stay) & ~unsafe)
    needed = Requirement(unsafe, exact(low), exact(high))
    wanted = Wanted(needed, fixed, np.zeros(9), exact(list(map(Fraction, weights))))
    place = system.variables[0]
    best = least_change(
        values[place],
        all_moves(),
        [
            (below, above) if there else None
            for there, below, above in zip(unsafe[place], low[place], high[place], strict=True)
        ],
        fixed[place],
        [weights[v] for v in place],
    )

    if best is None:
        with pytest.raises(RefusedError, match="no change of values was found"):
            adjusted(system, wanted, TOKEN)
        return
    found = adjusted(system, wanted, TOKEN)

    assert found.cost == best
    assert found.proven
    change = found.values - values
    assert not (system.matrix @ change.astype(np.int64)).any()
    assert not change[fixed].any()
    assert (found.values >= 0).all()
    for cell in np.flatnonzero(unsafe):
        up, down = max(1, high[cell]), max(1, low[cell])
        assert change[cell] >= up or -change[cell] >= down


def by_directions(
    system: System, needed: Requirement, fixed: np.ndarray, weights: np.ndarray
) -> int | None:
    """The least cost over every choice of which unsafe variables go up, each by its own program."""
    unsafe, count = np.flatnonzero(needed.unsafe), len(system)
    values = system.cells.values.astype(np.int64)
    same = csr_array(hstack([system.matrix, -system.matrix]))
    best: int | None = None
    for upward in product([False, True], repeat=len(unsafe)):
        low, high = np.zeros(2 * count), np.full(2 * count, 60.0)
        high[count:] = np.minimum(high[count:], values)
        high[np.flatnonzero(fixed)] = high[count + np.flatnonzero(fixed)] = 0.0
        for cell, up in zip(unsafe.tolist(), upward, strict=True):
            here, there = (cell, count + cell) if up else (count + cell, cell)
            low[here] = max(1, int((needed.upper if up else needed.lower)[cell]))
            high[there] = 0.0
        if (low > high).any():
            continue
        found = milp(
            np.concatenate([weights, weights]),
            constraints=LinearConstraint(same, 0, 0),
            bounds=MilpBounds(low, high),
            integrality=np.ones(2 * count),
        )
        if found.success and (best is None or round(found.fun) < best):
            best = round(found.fun)
    return best


@given(st.integers(0, 10**6))
@settings(max_examples=examples(60), deadline=None)
def test_subtotals_and_linked_tables_change_as_little_as_by_any_choice_of_directions(
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    system = drawn_system(rng)
    free = np.flatnonzero(~system.known)
    unsafe = np.zeros(len(system), dtype=bool)
    unsafe[rng.permutation(free)[: int(rng.integers(1, 5))]] = True
    needed = required(system, unsafe, rng)
    fixed = system.known | (~unsafe & (rng.random(len(system)) < 0.1))
    weights = rng.choice([1, 1, 1, 3], len(system))
    best = by_directions(system, needed, fixed, weights)
    least = np.zeros(len(system))
    wanted = Wanted(needed, fixed, least, exact([Fraction(int(each)) for each in weights]))

    if best is None:
        with pytest.raises(RefusedError, match="no change of values was found"):
            adjusted(system, wanted, TOKEN)
        return
    found = adjusted(system, wanted, TOKEN)
    change = (found.values - system.cells.values).astype(np.int64)

    assert found.cost == best
    assert found.proven
    assert not (system.matrix @ change).any()
    assert not change[fixed].any()


def test_large_requirements_move_in_steps_and_still_add_up() -> None:
    system = two_by_two([3 * 10**12, 10**12, 5 * 10**12, 7 * 10**12 + 1])
    unsafe = np.zeros(9, dtype=bool)
    unsafe[0] = True
    wide = exact([Fraction(10**12, 3) if each else 0 for each in unsafe])
    wanted = Wanted(
        Requirement(unsafe, wide, wide), system.known, np.zeros(9), exact([Fraction(1)] * 9)
    )

    found = adjusted(system, wanted, TOKEN)

    change = found.values - system.cells.values
    assert abs(change[0]) >= wide[0]
    assert abs(change[0]) < wide[0] * (1 + Fraction(20, LARGEST))
    assert not any((system.matrix.toarray().astype(object) @ change).tolist())
    assert found.proven
