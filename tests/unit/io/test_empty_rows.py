"""Rows without any value: one rule for every kind of source, told with their number."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import duckdb
import pandas as pd
import pyreadstat
import pytest
import xlsxwriter
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.plan import SourceSpec
from dpdesk.core.source_spec import FixedColumn
from dpdesk.io.preview import preview_source
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace

Rows = list[tuple[str, str]]
ROWS: Rows = [("", ""), ("a", "1"), ("", ""), ("b", ""), ("", ""), ("", "2")]
FULL = [row for row in ROWS if any(row)]
LEFT_OUT = (
    "3 rows hold no value and were left out, since they are not persons, the first is row 1; write "
    '`empty_rows = "keep"` under [source] to keep them.'
)
KEPT = "3 rows contain no value but still count as rows, as the plan says, the first is row 1."


def _csv(path: Path, rows: Rows) -> None:
    path.write_text("x,y\n" + "".join(f"{x},{y}\n" for x, y in rows))


def _fixed(path: Path, rows: Rows) -> None:
    path.write_text("".join(f"{x:3}{y:3}".rstrip() + "\n" for x, y in rows))


def _xlsx(path: Path, rows: Rows) -> None:
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        for i, row in enumerate([("x", "y"), *rows]):
            for j, text in enumerate(row):
                if text:
                    sheet.write_string(i, j, text)


def _sqlite(path: Path, rows: Rows) -> None:
    with sqlite3.connect(path) as con:
        con.execute("CREATE TABLE t (x TEXT, y TEXT)")
        con.executemany("INSERT INTO t VALUES (?, ?)", [(x or None, y) for x, y in rows])
    con.close()


def _duckdb(path: Path, rows: Rows) -> None:
    con = duckdb.connect(str(path))
    con.execute("CREATE TABLE t (x TEXT, y TEXT)")
    con.executemany("INSERT INTO t VALUES (?, ?)", [(x or None, y) for x, y in rows])
    con.close()


def _parquet(path: Path, rows: Rows) -> None:
    pd.DataFrame([(x or None, y) for x, y in rows], columns=["x", "y"]).to_parquet(path)


def _frame(rows: Rows) -> pd.DataFrame:
    return pd.DataFrame({"x": [x for x, _ in rows], "y": [float(y or "nan") for _, y in rows]})


def _sav(path: Path, rows: Rows) -> None:
    pyreadstat.write_sav(_frame(rows), str(path))


def _dta(path: Path, rows: Rows) -> None:
    pyreadstat.write_dta(_frame(rows), str(path))


WRITERS: dict[str, Callable[[Path, Rows], None]] = {
    "csv": _csv,
    "asc": _fixed,
    "xlsx": _xlsx,
    "sqlite": _sqlite,
    "duckdb": _duckdb,
    "parquet": _parquet,
    "sav": _sav,
    "dta": _dta,
}


@pytest.fixture
def workspace(private_home: Path) -> Iterator[Workspace]:
    opened = Workspace.open(private_home)
    yield opened
    opened.close()


def spec(ending: str, **options: object) -> SourceSpec:
    columns = (FixedColumn("x", 1, 3), FixedColumn("y", 4, 3)) if ending == "asc" else ()
    return SourceSpec(f"t.{ending}", columns=columns, **options)  # type: ignore[arg-type]


def read(folder: Path, workspace: Workspace, source: SourceSpec) -> tuple[Rows, tuple[str, ...]]:
    store = DataStore.open(source, folder, workspace, CancelToken(), silent)
    try:
        assert store.rows == len(store.page(0, 99))
        return [(x, y) for x, y in store.page(0, 99)], store.reading.notes
    finally:
        store.close()


@pytest.mark.parametrize("ending", WRITERS)
def test_rows_without_any_value_are_no_persons_in_any_format(
    tmp_path: Path, workspace: Workspace, ending: str
) -> None:
    WRITERS[ending](tmp_path / f"t.{ending}", ROWS)
    rows, notes = read(tmp_path, workspace, spec(ending))
    assert rows == FULL
    assert LEFT_OUT in notes
    shown = preview_source(spec(ending), tmp_path)
    assert list(shown.rows) == FULL
    assert any("Rows without any value are left out" in note for note in shown.reading.notes)


@pytest.mark.parametrize("ending", WRITERS)
def test_they_are_kept_in_every_format_when_the_plan_says_so(
    tmp_path: Path, workspace: Workspace, ending: str
) -> None:
    WRITERS[ending](tmp_path / f"t.{ending}", ROWS)
    rows, notes = read(tmp_path, workspace, spec(ending, empty_rows="keep"))
    assert rows == ROWS
    assert KEPT in notes
    assert list(preview_source(spec(ending, empty_rows="keep"), tmp_path).rows) == ROWS


@pytest.mark.parametrize("ending", WRITERS)
def test_a_table_of_empty_rows_alone_is_no_table(
    tmp_path: Path, workspace: Workspace, ending: str
) -> None:
    WRITERS[ending](tmp_path / f"t.{ending}", [("", "")] * 100)
    with pytest.raises(InputError) as caught:
        read(tmp_path, workspace, spec(ending))
    assert caught.value.code == "read.no-rows"


BLANK_ROWS: Rows = [("\u00a0", "a"), ("\u00a0\u2003", ""), ("\u200b", "\ufeff"), (" \u3000", "")]


@pytest.mark.parametrize("ending", ["csv", "xlsx", "sqlite", "duckdb", "parquet"])
def test_blanks_of_every_kind_are_no_values(
    tmp_path: Path, workspace: Workspace, ending: str
) -> None:
    WRITERS[ending](tmp_path / f"t.{ending}", [*BLANK_ROWS, ("b", "c")])
    rows, notes = read(tmp_path, workspace, spec(ending))
    assert rows == [("\u00a0", "a"), ("b", "c")]
    assert any(note.startswith("3 rows hold no value and were left out") for note in notes)
    assert list(preview_source(spec(ending), tmp_path).rows) == rows
    types = (("x", "text"), ("y", "text"))
    marks = {"encoding": "utf-8", "delimiter": ",", "decimal": ".", "quote": '"'}
    private = replace(spec(ending), types=types)
    if ending in ("csv", "xlsx"):
        private = replace(private, header=True)
    if ending == "csv":
        private = replace(private, **marks)  # type: ignore[arg-type]
    opened = DataStore.open(private, tmp_path, workspace, CancelToken(), silent, private=True)
    with closing(opened) as store:
        assert store.rows == 2


def test_blanks_are_no_values_and_one_value_is_enough(tmp_path: Path, workspace: Workspace) -> None:
    (tmp_path / "t.csv").write_text('x,y\n1,\n , \n,"\t"\n,NA\n')
    rows, notes = read(tmp_path, workspace, SourceSpec("t.csv", missing=("", "NA")))
    assert rows == [("1", ""), ("", "NA")]
    assert any(note.startswith("2 rows hold no value and were left out") for note in notes)


def test_a_single_one_is_told_as_such(tmp_path: Path, workspace: Workspace) -> None:
    (tmp_path / "t.csv").write_text("x,y\n1,\n,\n")
    assert read(tmp_path, workspace, SourceSpec("t.csv"))[1][-1].startswith("Row 2 holds no value")
    kept = read(tmp_path, workspace, SourceSpec("t.csv", empty_rows="keep"))
    assert kept == (
        [("1", ""), ("", "")],
        ("Row 2 contains no value but still counts as a row, as the plan says.",),
    )


def test_wide_tables_are_looked_at_in_all_columns(tmp_path: Path, workspace: Workspace) -> None:
    width = 1_203
    lines = [",".join(f"c{j}" for j in range(width))]
    lines += ["," * (width - 1), "," * (width - 1) + "x", "x" + "," * (width - 1)]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    store = DataStore.open(SourceSpec("t.csv"), tmp_path, workspace, CancelToken(), silent)
    assert [(row[0], row[-1]) for row in store.page(0, 9)] == [("", "x"), ("x", "")]
    store.close()


FIELDS = st.sampled_from(["", " ", "\t", "x", '"'])


@settings(deadline=None, max_examples=25)
@given(st.lists(st.tuples(FIELDS, FIELDS), min_size=1, max_size=6))
def test_a_csv_and_the_rule_said_slowly_agree(
    tmp_path_factory: pytest.TempPathFactory, rows: Rows
) -> None:
    folder = tmp_path_factory.mktemp("rows")
    quoted = ["a;b", *(";".join(f'"{text.replace(chr(34), chr(34) * 2)}"' for text in row)
                       for row in rows)]  # fmt: skip
    (folder / "t.csv").write_text("\n".join(quoted))
    wanted = [row for row in rows if row[0].strip() or row[1].strip()]
    workspace = Workspace.open(folder)
    try:
        if wanted:
            source = SourceSpec("t.csv", delimiter=";", header=True)
            assert read(folder, workspace, source)[0] == wanted
    finally:
        workspace.close()
