"""Rows that are looked at: in another order, or some of them, as a plain sort would have them."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.frequency import CellFilter, RowLook
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.plan import SourceSpec
from dpdesk.core.schema import ColumnType
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace
from tests.helpers.searching import examples

STOP = CancelToken()


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return Workspace.open(tmp_path_factory.mktemp("home"))


def store(folder: Path, workspace: Workspace, columns: dict[str, list[str]]) -> DataStore:
    path = folder / "rows.csv"
    lines = [";".join(columns), *(";".join(row) for row in zip(*columns.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    spec = SourceSpec(path.name, delimiter=";", decimal=",", missing=("", "99"))
    return DataStore.open(spec, folder, workspace, STOP, silent)


def test_decimals_and_days_are_ordered_as_such_and_missing_values_are_last(
    tmp_path: Path, workspace: Workspace
) -> None:
    data = store(
        tmp_path,
        workspace,
        {
            "id": ["a", "b", "c", "d", "e"],
            "weight": ["10,5", "9,75", "", "-1,5", "99"],
            "day": ["01.02.2020", "15.01.2019", "03.12.2018", "1.2.2021", "2.2.2020"],
            "town": ["bern", "Aarau", "", "Chur", "Basel"],
        },
    )
    known = {one.name: one for one in data.profile(STOP, silent).columns}

    def order(name: str, *, descending: bool = False) -> str:
        kind, days = known[name].type, known[name].date_order
        look = RowLook(name, descending, kind, days)
        return "".join(row[0] for row in data.rows_at(data.rows_of(look, STOP).tolist()))

    assert known["weight"].type is ColumnType.DECIMAL
    assert known["day"].type is ColumnType.DATE
    assert order("weight") == "dba" + "ce"
    assert order("weight", descending=True) == "abd" + "ce"
    assert order("day") == "cbaed"
    assert order("day", descending=True) == "deabc"
    assert order("town") == "bead" + "c"
    assert order("town", descending=True) == "daeb" + "c"


@settings(max_examples=examples(25), deadline=None)
@given(st.lists(st.tuples(st.decimals(-99, 99, places=2), st.dates()), min_size=1, max_size=30))
def test_the_order_is_that_of_a_plain_sort(
    tmp_path_factory: pytest.TempPathFactory,
    workspace: Workspace,
    rows: list[tuple[Decimal, date]],
) -> None:
    texts = {
        "weight": [f"{one:.2f}".replace(".", ",") for one, _ in rows],
        "day": [f"{one.day:02}.{one.month:02}.{one.year:04}" for _, one in rows],
    }
    data = store(tmp_path_factory.mktemp("rows"), workspace, texts)
    for name, key, kind in (("weight", 0, ColumnType.DECIMAL), ("day", 1, ColumnType.DATE)):
        look = RowLook(name, kind=kind, date_order="dmy" if key else "")
        found = data.rows_of(look, STOP).tolist()
        assert [rows[n][key] for n in found] == sorted(row[key] for row in rows)


def test_filters_keep_rows_by_a_value_a_part_of_it_or_that_it_is_missing(
    tmp_path: Path, workspace: Workspace
) -> None:
    columns = {"a": ["x", "99", "Yes", "it's"], "b": ["YES!", "x", "99", "%"]}
    data = store(tmp_path, workspace, columns)

    def rows(*filters: CellFilter) -> list[int]:
        return data.rows_of(RowLook(filters=filters), STOP).tolist()

    assert rows(CellFilter("a", "x")) == [0]
    assert rows(CellFilter("a", "x", without=True)) == [1, 2, 3]
    assert rows(CellFilter("", "yes", whole=False)) == [0, 2]
    assert rows(CellFilter("a", None)) == [1]
    assert rows(CellFilter("", "yes", whole=False), CellFilter("b", None, without=True)) == [0]
    assert rows(CellFilter("a", "it's")) == [3]
    assert rows(CellFilter("", "%", whole=False)) == [3]
    assert data.rows_at([3, 0]) == (("it's", "%"), ("x", "YES!"))
