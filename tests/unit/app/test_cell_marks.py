"""Statuses of single cells that a window sets in a plan, against the engine that reads them."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dpdesk.app.cell_marks import Elsewhere, hand_mark, set_elsewhere, with_hand_mark
from dpdesk.core.tabulation import CellAxis, CellTable
from dpdesk.engine.methods.table.marking import marked
from dpdesk.engine.tables.model import Dimension
from tests.helpers.tables import filled

LABELS = ("a", "b", "c")


def table(name: str = "one") -> CellTable:
    axes = tuple(CellAxis(each, (*LABELS, "Total"), (3, 3, 3, -1)) for each in ("x", "y"))
    return CellTable(name, "one.csv", axes, ("1",) * 16, ("F",) * 16)


@given(
    st.lists(st.tuples(st.integers(0, 15), st.sampled_from(["", "S", "U", "P"])), max_size=12),
    st.booleans(),
)
def test_what_is_set_is_what_the_search_reads(clicks: list[tuple[int, str]], several: bool) -> None:
    keys: dict[str, object] = {"marks": None}
    if several:
        keys = {"tables": [{"name": "one"}, {"name": "two"}], "marks": {"two": [["a", "", "U"]]}}
    wanted: dict[int, str] = {}
    for cell, mark in clicks:
        keys |= with_hand_mark(keys, table(), cell, mark)
        wanted[cell] = mark
    lines = keys["marks"]
    if several:
        assert isinstance(lines, dict)
        assert lines["two"] == [["a", "", "U"]]  # those of another table stay
        lines = lines.get("one")
    dimensions = [Dimension.flat(name, list(LABELS)) for name in ("x", "y")]
    cells = filled(dimensions, np.ones(9, dtype=np.int64)).cells
    assert lines is None or isinstance(lines, list)
    read = marked(cells, lines or [], dimensions, 0, "plan")
    for cell in range(16):
        mark = wanted.get(cell, "")
        assert hand_mark(keys, table(), cell) == mark
        assert str(read.status[cell]) == mark if read.status is not None else not mark
    assert (lines is None) == (not any(wanted.values()))


def test_lines_of_a_form_and_levels_are_kept_where_they_fit() -> None:
    keys: dict[str, object] = {"marks": "a; b; U | a; b; PL; 1; 2 | a; b; C; 7 | a; Total; S"}
    assert hand_mark(keys, table(), 1) == "U"
    assert hand_mark(keys, table(), 3) == "S"
    changed = with_hand_mark(keys, table(), 1, "S")
    assert changed == {"marks": [["a", "b", "C", "7"], ["a", "Total", "S"], ["a", "b", "S"]]}
    again = with_hand_mark(keys, table(), 1, "U")["marks"]
    assert ["a", "b", "PL", "1", "2"] in (again if isinstance(again, list) else [])


def test_what_is_set_elsewhere_is_said() -> None:
    assert set_elsewhere({}, table(), 0) is None
    assert set_elsewhere({"marks": "prior.hst"}, table(), 0) is Elsewhere.FILE
    named = {"tables": [{"name": "one"}], "marks": {"one": "prior.hst"}}
    assert set_elsewhere(named, table(), 0) is Elsewhere.FILE
    assert set_elsewhere(named, table("two"), 0) is None
    ratio = {"tables": [{"name": "one", "ratio": "two", "by": "three"}]}
    assert set_elsewhere(ratio, table(), 0) is Elsewhere.RATIO
    ready = {"cells": {"value": "v", "status": "s"}}
    assert set_elsewhere(ready, table(), 0) is Elsewhere.SOURCE
    axes = (CellAxis("x", ("", "b", "Total"), (2, 2, -1)),)
    empty = CellTable("one", "one.csv", axes, ("1",) * 3, ("F",) * 3)
    found = [set_elsewhere({}, empty, cell) for cell in range(3)]
    assert found == [Elsewhere.UNNAMED, None, None]


def test_every_cell_has_codes_of_its_own() -> None:
    lines = [with_hand_mark({}, table(), cell, "U")["marks"] for cell in range(16)]
    wanted = [[[one, other, "U"]] for one, other in product(("a", "b", "c", ""), repeat=2)]
    assert lines == wanted
