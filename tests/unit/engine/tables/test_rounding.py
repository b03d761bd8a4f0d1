"""Controlled rounding against all roundings there are; none is proven, and the exception named."""

from __future__ import annotations

from itertools import product

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
    assert refused.value.hint.startswith("With 1 cell further away there is one")
    assert f"{table.name} {place[0]}" in refused.value.hint


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
