"""Rows without any value in a release with noise: kept where they can be, refused where not."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pandas as pd
import psycopg
import pyreadstat
import pytest
import xlsxwriter

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.source_spec import read_source
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace
from tests.helpers.postgres import postgres_server

TYPES = {"missing": [""], "types": {"a": "text", "b": "text"}}
MARKS = {"encoding": "utf-8", "delimiter": ",", "decimal": ".", "quote": '"', "header": True}


def _rows(folder: Path, keys: dict[str, object]) -> int:
    workspace = Workspace.open(folder / "home")
    spec = read_source(keys, "the test")
    try:
        opened = DataStore.open(spec, folder, workspace, CancelToken(), silent, private=True)
        with closing(opened) as store:
            return store.rows
    finally:
        workspace.close()


@pytest.mark.parametrize(("keep", "rows"), [("keep", 3), ("skip", 2)])
def test_rows_of_delimiters_are_kept_on_demand(tmp_path: Path, keep: str, rows: int) -> None:
    (tmp_path / "a.csv").write_text("a,b\nx,y\n,\nz,w\n")
    keys = {"path": "a.csv", **MARKS, **TYPES, "empty_rows": keep}
    assert _rows(tmp_path, keys) == rows


def test_a_sheet_has_no_rows_that_it_does_not_hold(tmp_path: Path) -> None:
    with xlsxwriter.Workbook(tmp_path / "a.xlsx") as book:
        sheet = book.add_worksheet()
        for number, row in enumerate([("a", "b"), ("x", "y"), ("", ""), ("z", "w")]):
            sheet.write_row(number, 0, row)
    keys = {"path": "a.xlsx", "header": True, **TYPES}
    assert _rows(tmp_path, keys) == _rows(tmp_path, {**keys, "empty_rows": "skip"}) == 2
    with pytest.raises(InputError, match='`empty_rows = "keep"` does not apply') as told:
        _rows(tmp_path, {**keys, "empty_rows": "keep"})
    assert told.value.code == "source.option"


def test_rows_of_blanks_are_none_in_a_transport_file(tmp_path: Path) -> None:
    rows = pd.DataFrame({"a": ["x", "", "", "z"], "b": ["y", "", "", "w"]})
    pyreadstat.write_xport(rows, tmp_path / "a.xpt")
    keys = {"path": "a.xpt", "encoding": "utf-8", **TYPES}
    assert _rows(tmp_path, keys) == _rows(tmp_path, {**keys, "empty_rows": "skip"}) == 2
    with pytest.raises(InputError, match='`empty_rows = "keep"` does not apply') as told:
        _rows(tmp_path, {**keys, "empty_rows": "keep"})
    assert told.value.code == "source.option"


def test_null_of_a_server_is_missing_and_not_unreadable(tmp_path: Path) -> None:
    with postgres_server() as url:
        with psycopg.connect(url, autocommit=True) as con:
            con.execute("CREATE TABLE t (a TEXT, n DOUBLE PRECISION)")
            con.execute("INSERT INTO t VALUES ('x', NULL), (NULL, NULL), ('', NULL), (NULL, 2)")
        keys = {"path": url, "table": "t", "missing": [""], "types": {"a": "text", "n": "number"}}
        workspace = Workspace.open(tmp_path / "home")
        spec = read_source(keys, "the test")
        store = DataStore.open(spec, tmp_path, workspace, CancelToken(), silent, private=True)
        rows = store.page(0, 9)
        store.close()
        workspace.close()
    assert rows == (("x", ""), ("", "2"))
