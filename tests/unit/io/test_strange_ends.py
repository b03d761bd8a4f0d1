"""Rows at the ends of a table that may be none are told of, in sources of every kind."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
import xlsxwriter

from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.plan import SourceSpec
from dpdesk.io.preview import preview_source
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace

Rows = list[tuple[str, ...]]
NAMES = ("region", "people", "area")
TABLE: Rows = [("n", "100", "1.5"), ("s", "200", "2.5"), ("o", "300", "3.5"), ("w", "400", "4.5")]


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    opened = Workspace.open(tmp_path / "home")
    yield opened
    opened.close()


def _csv(folder: Path, rows: Rows) -> str:
    (folder / "a.csv").write_text("".join(",".join(row) + "\n" for row in (NAMES, *rows)), "utf-8")
    return "a.csv"


def _xlsx(folder: Path, rows: Rows) -> str:
    with xlsxwriter.Workbook(folder / "a.xlsx") as book:
        sheet = book.add_worksheet()
        for i, row in enumerate((NAMES, *rows)):
            for j, text in enumerate(row):
                number = text.replace(".", "").isdigit()
                (sheet.write_number if number else sheet.write_string)(
                    i, j, float(text) if number else text
                )
    return "a.xlsx"


def _sqlite(folder: Path, rows: Rows) -> str:
    with closing(sqlite3.connect(folder / "a.sqlite")) as con:
        con.execute("DROP TABLE IF EXISTS t")
        con.execute(f"CREATE TABLE t ({', '.join(NAMES)})")
        con.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
        con.commit()
    return "a.sqlite"


def _notes(folder: Path, name: str, workspace: Workspace, **keys: bool) -> tuple[str, ...]:
    source = SourceSpec(name, header=keys.get("header"))
    with closing(DataStore.open(source, folder, workspace, CancelToken(), silent)) as store:
        return store.reading.notes


UNITS = "In column `people` the first row holds `persons`, while those below it hold values of "
DATED = "In column `people` the last row holds `2020-01-01`, while those above it hold values of "
TOTALS = "The last row with numbers counts as a row, though its numbers are the sums of those above"
BELOW = "The last row holds one value (`Source: x`) and counts as a row"


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (TABLE, []),
        ([*TABLE, ("", "", "9")], ["The last row holds one value (`9`)"]),
        ([("", "persons", "km2"), *TABLE], [UNITS]),
        ([("name", "persons", "x"), ("-", "n", "km2"), *TABLE], [UNITS]),
        ([*TABLE, ("updated", "2020-01-01", "")], [DATED]),
        ([*TABLE, ("Total", "1000", "12")], [TOTALS]),
        ([*TABLE, ("Total", "1000", "12"), ("Source: x", "", "")], [BELOW, TOTALS]),
        ([*TABLE, ("Total", "1000", "11")], []),
        ([*TABLE, ("x", "90+", "5")], []),
        ([*TABLE, ("x", "?", "")], []),
    ],
)
def test_rows_of_another_kind_and_totals_are_told_of(
    tmp_path: Path, workspace: Workspace, rows: Rows, told: list[str]
) -> None:
    found = _notes(tmp_path, _csv(tmp_path, rows), workspace)
    notes = [n for n in found if "missing" not in n and not n.startswith("Columns with `")]
    assert [n[: len(one)] for n, one in zip(notes, told, strict=True)] == told


@pytest.mark.parametrize("write", [_xlsx, _sqlite])
def test_so_it_is_in_every_format(
    tmp_path: Path, workspace: Workspace, write: Callable[[Path, Rows], str]
) -> None:
    notes = _notes(tmp_path, write(tmp_path, [("", "persons", "km2"), *TABLE]), workspace)
    assert any(note.startswith(UNITS) for note in notes)
    notes = _notes(tmp_path, write(tmp_path, [*TABLE, ("Total", "1000", "12")]), workspace)
    assert any(note.startswith(TOTALS) for note in notes)


def test_nothing_is_said_of_rows_that_a_query_left_out(
    tmp_path: Path, workspace: Workspace
) -> None:
    rows: Rows = [*TABLE, ("Source: x", "", "")]
    for query, told in (
        ("SELECT * FROM data WHERE people <> ''", False),
        ("SELECT * FROM data WHERE region <> 'n'", True),
    ):
        source = SourceSpec(_csv(tmp_path, rows), query=query)
        with closing(DataStore.open(source, tmp_path, workspace, CancelToken(), silent)) as store:
            notes = store.reading.notes
        assert any(note.startswith(BELOW) for note in notes) is told, query


def test_a_word_in_a_table_of_one_column_is_a_value(tmp_path: Path, workspace: Workspace) -> None:
    (tmp_path / "a.csv").write_text("age\n1\n2\n3\nunknown\n")
    assert not any("unknown" in note for note in _notes(tmp_path, "a.csv", workspace))


def test_totals_are_found_with_a_decimal_comma(tmp_path: Path, workspace: Workspace) -> None:
    (tmp_path / "a.csv").write_text("r;p\na;1,5\nb;2,5\nc;3,5\nd;7,5\n")
    assert any(TOTALS in note for note in _notes(tmp_path, "a.csv", workspace))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a,b\n\ufeffx,1\ny,2\n", "begins the value of the column `a` in row 1"),
        ("a,b\n\ufeffx,1\n\ufeffy,2\n", "begin 2 values of the column `a`, the first in row 1"),
        ("\ufeff\ufeffa,b\nx,1\ny,2\n", "The name of the first column begins with another byte"),
    ],
)
def test_byte_order_marks_inside_a_text_are_told_of(
    tmp_path: Path, workspace: Workspace, text: str, told: str
) -> None:
    (tmp_path / "a.csv").write_text(text, "utf-8")
    assert any(told in note for note in _notes(tmp_path, "a.csv", workspace))


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([("x", "31", "1"), ("y", "40", "2")], []),
        ([("2", "31", "1"), ("3", "40", "2")], []),
    ],
)
def test_a_plain_header_of_a_sheet_is_not_doubted(
    tmp_path: Path, workspace: Workspace, rows: Rows, told: list[str]
) -> None:
    assert list(_notes(tmp_path, _xlsx(tmp_path, rows), workspace)) == told


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([("anna", "31"), ("bob", "40"), ("eve", "7")], "though it holds numbers or dates as the"),
        (
            [("anna", "bob"), ("carl", "dora"), ("eve", "fay")],
            ("although nothing distinguishes it from a row"),
        ),
        ([("a", "x"), ("b", "y"), ("a", "x"), ("c", "y")], "but `a` is also a value further down"),
    ],
)
def test_a_header_of_a_sheet_that_may_be_a_row_is_told_of(
    tmp_path: Path, workspace: Workspace, rows: Rows, told: str
) -> None:
    with xlsxwriter.Workbook(tmp_path / "b.xlsx") as book:
        sheet = book.add_worksheet()
        for i, row in enumerate(rows):
            for j, text in enumerate(row):
                (sheet.write_number if text.isdigit() else sheet.write_string)(
                    i, j, int(text) if text.isdigit() else text
                )
    notes = _notes(tmp_path, "b.xlsx", workspace)
    assert [note for note in notes if note.startswith(f"Row 1 was taken as the header, {told}")]
    for header in (True, False):
        assert not any("header" in n for n in _notes(tmp_path, "b.xlsx", workspace, header=header))


@pytest.mark.parametrize("count", [1, 2])
def test_comments_above_a_header_are_not_the_header(tmp_path: Path, count: int) -> None:
    comments = "# made by x, 2020, z\n" * count
    (tmp_path / "a.csv").write_text(comments + "r,p,q\na,1,2\nb,3,4\n")
    problem = preview_source(SourceSpec("a.csv"), tmp_path).problem
    assert problem is not None
    assert f"`skip = {count}`" in problem.full
    found = preview_source(SourceSpec("a.csv", skip=count), tmp_path)
    assert found.columns == ("r", "p", "q")


def test_a_header_that_begins_with_a_number_sign_is_one(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("#chrom,start,end\nc1,1,2\nc2,3,4\n")
    assert preview_source(SourceSpec("a.csv"), tmp_path).columns == ("#chrom", "start", "end")
