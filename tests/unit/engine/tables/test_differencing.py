"""Cells that earlier tables make computable, against elimination with fractions."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.tables.differencing import computable, small_differences
from tests.reference.differencing import is_combination

SETS = st.lists(st.lists(st.booleans(), min_size=5, max_size=5), min_size=1, max_size=5)


@given(SETS, SETS, SETS)
@settings(max_examples=60, deadline=None)
def test_computable_cells_are_combinations_that_need_earlier_cells(
    hidden: list[list[bool]], shown: list[list[bool]], earlier: list[list[bool]]
) -> None:
    found = computable(np.array(hidden), np.array(shown), np.array(earlier), CancelToken())
    for row, got in zip(hidden, found.tolist(), strict=True):
        new = [*map(list, shown)]
        wanted = any(row) and is_combination(row, [*new, *earlier]) and not is_combination(row, new)
        assert got == wanted


def test_areas_that_nest_imperfectly_leave_a_small_one() -> None:
    # Groups: four places. Earlier a district of three places, now two regions of two each.
    district = np.array([[True, True, True, False]])
    regions = np.array([[True, True, False, False], [False, False, True, True]])
    counts = np.array([40, 30, 2, 50])
    (found,) = small_differences(regions, district, counts, 3, CancelToken())
    assert (found.one, found.others, found.count, found.new) == (0, (0,), 2, False)
    assert small_differences(regions, district, counts, 2, CancelToken()) == []
