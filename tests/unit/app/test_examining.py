"""Examining a hierarchy tells what lacks a leaf instead of refusing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dpdesk.app import hierarchies
from dpdesk.app.context import AppContext
from dpdesk.app.opening import open_data
from dpdesk.app.types import SetHierarchies, WorkState
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.plan import HierarchyBuilder, SourceSpec
from dpdesk.io.store import DataStore

TOKEN = CancelToken()
PARTIAL = Hierarchy.from_rows("job", [["cook", "food", "*"], ["baker", "food", "*"]])


@pytest.fixture
def data(context: AppContext, tmp_path: Path) -> Iterator[DataStore]:
    jobs = ["cook"] * 3 + ["nurse"] * 2 + ["judge"] * 4 + [""]
    (tmp_path / "jobs.csv").write_text("job,n\n" + "".join(f"{job},1\n" for job in jobs))
    store = open_data(context, SourceSpec("jobs.csv"), tmp_path, TOKEN, silent)
    yield store
    store.close()


def test_values_without_a_leaf_are_listed_most_frequent_first(
    data: DataStore, tmp_path: Path
) -> None:
    found = hierarchies.examine(data, "job", PARTIAL, tmp_path, TOKEN)
    assert [(lack.value, lack.rows) for lack in found.lacking] == [("judge", 4), ("nurse", 2)]
    assert found.hierarchy is PARTIAL
    top = found.preview.levels[-1]
    assert (top.values, top.smallest) == (1, 10)


def test_a_missing_token_does_not_count_as_lacking(data: DataStore, tmp_path: Path) -> None:
    found = hierarchies.examine(data, "job", PARTIAL, tmp_path, TOKEN)
    assert "" in found.preview.hierarchy.leaf_codes
    assert {found.preview.hierarchy.leaves[code] for code in found.preview.missing} == {""}


def test_no_choice_is_the_value_and_then_the_star(data: DataStore, tmp_path: Path) -> None:
    found = hierarchies.examine(data, "job", None, tmp_path, TOKEN)
    assert found.lacking == ()
    assert [summary.values for summary in found.preview.levels] == [4, 1]


def test_many_hierarchies_are_one_change() -> None:
    before = WorkState(hierarchies={"age": PARTIAL})
    command = SetHierarchies({"job": PARTIAL, "zip": HierarchyBuilder("mask")}, "suggested")
    after = command.apply(before)
    assert set(after.hierarchies) == {"age", "job", "zip"}
    assert command.label == "Hierarchies of 2 columns: suggested"
    assert SetHierarchies({"job": PARTIAL}).label == "Hierarchy of job: set"
