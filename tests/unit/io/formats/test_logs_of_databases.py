"""Databases with changes in a file beside them are refused; columns of queries keep their names."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from dpdesk.core.errors import InputError
from dpdesk.core.language import voice_of
from dpdesk.io.workspace import Workspace
from tests.helpers.stat_files import head, opened


@pytest.fixture
def workspace(private_home: Path) -> Iterator[Workspace]:
    with closing(Workspace.open(private_home)) as found:
        yield found


def _refused(path: Path, log: str, workspace: Workspace) -> None:
    for read in (lambda: head(path), lambda: opened(path, workspace)):
        with pytest.raises(InputError, match=f"are in the file {log} next to it") as caught:
            read()
        german = voice_of("de")
        for said in (caught.value.sentence, caught.value.hint):
            assert german.say(said) != said


def test_a_log_of_sqlite_beside_the_file_is_refused_until_it_is_written(
    tmp_path: Path, workspace: Workspace
) -> None:
    path = tmp_path / "a.sqlite"
    with closing(sqlite3.connect(path)) as con:
        con.execute("PRAGMA journal_mode = WAL")
        con.execute("CREATE TABLE t AS SELECT 1 AS a")
        con.commit()
        _refused(path, "a.sqlite-wal", workspace)
        con.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        assert head(path).head == (("1",),)
        con.execute("INSERT INTO t VALUES (2)")
        con.commit()
        (tmp_path / "link.sqlite").symlink_to(path)
        _refused(tmp_path / "link.sqlite", "a.sqlite-wal", workspace)
    with closing(opened(path, workspace)) as store:
        assert list(store.page(0, 9)) == [("1",), ("2",)]


def test_a_change_of_sqlite_that_broke_off_is_refused(tmp_path: Path, workspace: Workspace) -> None:
    path = tmp_path / "a.sqlite"
    with closing(sqlite3.connect(path)) as con:
        con.execute("CREATE TABLE t (a)")
        con.executemany("INSERT INTO t VALUES (?)", [("x" * 500,)] * 5_000)
        con.commit()
        con.execute("PRAGMA cache_size = 5")
        con.execute("UPDATE t SET a = 'y' || a")
        for name in ("a.sqlite", "a.sqlite-journal"):
            shutil.copy(tmp_path / name, tmp_path / name.replace("a.", "b."))
    _refused(tmp_path / "b.sqlite", "b.sqlite-journal", workspace)


def test_a_log_of_duckdb_beside_the_file_is_refused(tmp_path: Path, workspace: Workspace) -> None:
    path = tmp_path / "a.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute("CREATE TABLE t AS SELECT 1 AS a")
        con.execute("CHECKPOINT")
        con.execute("INSERT INTO t VALUES (2)")
        for name in ("a.duckdb", "a.duckdb.wal"):
            shutil.copy(tmp_path / name, tmp_path / name.replace("a.", "b."))
    _refused(tmp_path / "b.duckdb", "b.duckdb.wal", workspace)
    assert head(path).head == (("1",), ("2",))


def test_columns_of_a_query_of_duckdb_keep_their_names(
    tmp_path: Path, workspace: Workspace
) -> None:
    path = tmp_path / "a.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute("CREATE TABLE t AS SELECT 1 AS a")
    with pytest.raises(InputError, match="the columns 1 and 2 are both named `a`"):
        head(path, query="SELECT a, a FROM t")
    done = head(path, query="WITH x AS (FROM t) SELECT a, 7 AS A FROM x;")
    assert [variable.name for variable in done.variables] == ["a", "A"]
    assert done.head == (("1", "7"),)
