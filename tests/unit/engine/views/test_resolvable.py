"""Points parted again and again until every two have been together."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import Cancelled
from dpdesk.engine.views.resolvable import STOP, least_partings, partings


@settings(deadline=None, max_examples=20)
@given(st.integers(2, 18), st.integers(2, 8))
def test_every_two_points_meet_and_no_parting_leaves_a_point_out(points: int, size: int) -> None:
    found = partings(points, size)
    met = set()
    for parting in found:
        assert len(parting) == -(-points // size)
        assert {point for part in parting for point in part} == set(range(points))
        for part in parting:
            assert len(set(part)) == len(part) <= size
            met |= {frozenset(pair) for pair in combinations(part, 2)}
    assert met == {frozenset(pair) for pair in combinations(range(points), 2)}
    assert len(found) >= least_partings(points, size)
    assert found == partings.__wrapped__(points, size)


@pytest.mark.parametrize(
    ("points", "size"),
    [
        (8, 2),
        (20, 2),
        (9, 3),
        (15, 3),
        (27, 3),
        (16, 4),
        (28, 4),
        (25, 5),
        (49, 7),
        (64, 8),
    ],
)
def test_perfect_systems_that_are_known_are_found(points: int, size: int) -> None:
    assert len(partings(points, size)) == least_partings(points, size)


def test_a_cancel_ends_the_search_for_partings() -> None:
    known = STOP.set(np.ones(1, np.int64))
    try:
        with pytest.raises(Cancelled):
            partings.__wrapped__(30, 5)
    finally:
        STOP.reset(known)
    assert partings.__wrapped__(30, 5)
