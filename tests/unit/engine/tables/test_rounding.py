"""Controlled rounding against all roundings there are; none is proven, and the exception named."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import Cancelled, RefusedError
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.tables.model import Dimension, System
from dpdesk.engine.tables.rounding import controlled
from tests.helpers.tables import drawn_system, filled

TOKEN = CancelToken()


def least_change(system: System, base: int) -> int | None:
    """The least sum of changes of all additive roundings; None: there is none."""
    values = system.cells.values.astype(np.int64)
    loose = np.flatnonzero(values % base)
    guesses = np.array(list(product((0, base), repeat=len(loose))), dtype=np.int64)
    guesses = guesses.reshape(2 ** len(loose), len(loose))
    tables = np.repeat((values - values % base)[None], len(guesses), axis=0)
    tables[:, loose] += guesses
    tables = tables[~(tables @ system.matrix.toarray().T).any(axis=1)]
    return int(abs(tables - values).sum(axis=1).min()) if len(tables) else None


@given(st.integers(0, 10**6), st.integers(2, 7))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
def test_the_rounding_changes_as_little_as_any_additive_one(seed: int, base: int) -> None:
    system = drawn_system(np.random.default_rng(seed))
    values = system.cells.values
    assume((values % base != 0).sum() <= 16)
    expected = least_change(system, base)

    if expected is None:
        with pytest.raises(RefusedError, match="this is proven"):
            controlled(system, base, TOKEN)
        return
    found = controlled(system, base, TOKEN)

    assert found.proven
    assert not (system.matrix @ found.values.astype(np.int64)).any()
    assert (found.values % base == 0).all()
    assert (abs(found.values - values) < base).all()
    assert abs(found.values - values).sum() == expected


def three_groupings() -> System:
    """Three ones, and the sum of each two of them in another hierarchy: each sum, 2, stays."""
    tables = []
    for alone in "pqr":
        groups = [[x, "rest" if x == alone else "pair", "*"] for x in "pqr"]
        region = Dimension.of("region", Hierarchy.from_rows("region", groups))
        tables.append(filled([region], np.ones(3, dtype=np.int64), f"without {alone}"))
    return System.of(tables)


def test_with_several_hierarchies_there_may_be_none_and_the_least_exception_is_named() -> None:
    system = three_groupings()
    assert least_change(system, 2) is None

    with pytest.raises(RefusedError) as refused:
        controlled(system, 2, TOKEN)

    assert refused.value.code == "table.no-rounding"
    cells = refused.value.details["cells"]
    assert isinstance(cells, list)
    table, place = system.cell_of(cells[0])
    assert refused.value.hint.startswith("With 1 cell further away there would be one")
    assert f"{table.name}: {place[0]}" in refused.value.hint
    assert refused.value.details["base"] == 3
    assert least_change(system, 3) is not None


def some_rounding(counts: np.ndarray, base: int) -> bool:
    """Whether some rounding of the innermost cells leaves each sum next to the true one."""
    ups = np.array(list(product((0, base), repeat=int((counts % base > 0).sum()))))
    tables = np.repeat((counts - counts % base)[None], len(ups), axis=0)
    tables[:, counts % base > 0] += ups
    change = tables - counts
    fits = np.ones(len(ups), dtype=bool)
    inner = range(1, change.ndim)
    for number in range(change.ndim):
        for axes in combinations(inner, number):
            gone, true = change.sum(axis=axes), counts.sum(axis=tuple(a - 1 for a in axes))
            near = np.where(true % base > 0, abs(gone) < base, gone == 0)
            fits &= near.reshape(len(ups), -1).all(axis=1)
    return bool(fits.any())


def test_in_three_dimensions_there_may_be_none_and_the_nearest_base_is_named() -> None:
    shape = {"region": "pq", "age": "rstu", "sex": "vw"}
    counts = np.array([0, 1, 1, 0, 0, 1, 0, 1, 0, 1, 1, 1, 1, 1, 0, 1])
    system = System.of([filled([Dimension.flat(*each) for each in shape.items()], counts)])
    assert not some_rounding(counts.reshape(2, 4, 2), 2)
    assert some_rounding(counts.reshape(2, 4, 2), 3)

    with pytest.raises(RefusedError, match="this is proven") as refused:
        controlled(system, 2, TOKEN)

    (cell,) = refused.value.details["cells"]  # type: ignore[misc]
    _table, place = system.cell_of(cell)
    assert f"there would be one ({' × '.join(place)}). With multiples of 3" in refused.value.hint
    assert controlled(system, 3, TOKEN).proven


def test_amounts_beyond_floats_are_rounded_exactly() -> None:
    big = 10**25
    dimensions = [Dimension.flat("a", ["1", "2"])]
    small = filled(dimensions, np.array([1, 2]))
    cells = small.cells
    cells.values[:] = [big + 1, big + 4, 2 * big + 5]
    found = controlled(System.of([small]), 5, TOKEN)

    assert found.values.tolist() == [big, big + 5, 2 * big + 5]


def test_a_cancelled_rounding_stops_and_a_stopped_one_keeps_what_it_has() -> None:
    rng = np.random.default_rng(2)
    dimensions = [Dimension.flat(name, list("pqrstu")) for name in "ab"]
    system = System.of([filled(dimensions, rng.integers(0, 50, 36))])
    stop, token = CancelToken(), CancelToken()
    stop.cancel()
    kept = controlled(system, 5, TOKEN, stop)
    assert not (system.matrix @ kept.values.astype(np.int64)).any()

    token.cancel()
    with pytest.raises(Cancelled):
        controlled(system, 5, token)
