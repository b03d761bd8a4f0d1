"""The one way to DuckDB: options, errors, cancel."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.core.errors import Cancelled, InputError, StorageError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.io.failures import home_full
from dpdesk.io.workspace import home_of

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MEMORY_LIMIT = "2GB"


def connect(spill: Path) -> DuckDBPyConnection:
    """An in-memory database that spills into the private folder ``spill`` and loads nothing."""
    import duckdb

    con = duckdb.connect(
        ":memory:",
        config={
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "allow_community_extensions": "false",
            "memory_limit": MEMORY_LIMIT,
            "temp_directory": str(spill),
            "preserve_insertion_order": "true",
        },
    )
    con.execute("SET enable_progress_bar = false")
    return in_utc(con)


def in_memory() -> DuckDBPyConnection:
    """An in-memory database for the few rows of a preview."""
    import duckdb

    return in_utc(duckdb.connect(":memory:"))


def in_utc(con: DuckDBPyConnection) -> DuckDBPyConnection:
    """Let ``con`` and its cursors tell moments in UTC, whatever the computer's time zone is."""
    con.execute("SET GLOBAL TimeZone = 'UTC'")
    con.execute("SET GLOBAL Calendar = 'gregorian'")
    return con


def parquet_source(path: Path) -> str:
    """SQL for the table in one Parquet file; names of folders such as ``sex=1`` add no column."""
    return f"read_parquet({file_literal(path)}, hive_partitioning = false)"


def identifier(name: str) -> str:
    """A name quoted for SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text quoted for SQL."""
    return "'" + text.replace("'", "''") + "'"


def file_literal(path: Path) -> str:
    """The path of one file quoted for SQL: in its name ``[1]``, ``*`` and ``?`` are no pattern."""
    return literal(re.sub(r"[*?[]", r"[\g<0>]", str(path)))


@contextmanager
def query(con: DuckDBPyConnection, token: CancelToken, place: Path) -> Iterator[DuckDBPyConnection]:
    """A cursor of its own whose statements a cancel interrupts, with errors in our words.

    ``place`` is the file that errors are told of; the disk that fills up is that of the spill,
    since nothing else is written by statements. Safe from any thread.
    """
    import duckdb

    cursor = con.cursor()
    try:
        with token.on_cancel(cursor.interrupt):
            yield cursor
        token.check()
    except duckdb.InterruptException as problem:
        raise Cancelled from problem
    except duckdb.OutOfMemoryException as problem:
        if "disk" in str(problem).lower() or "space" in str(problem).lower():
            raise home_full(home_of(_spill(con))) from problem
        raise StorageError(
            "storage.memory",
            msg("{place}: there is not enough memory and disk space for this.", place=place),
            hint="Free some disk space, or close other programs, and try again.",
        ) from problem
    except duckdb.IOException as problem:
        if "no space" in str(problem).lower() or "disk" in str(problem).lower():
            raise home_full(home_of(_spill(con))) from problem
        raise StorageError(
            "storage.failed",
            msg(
                "{place}: could not be read or written: {reason}",
                place=place,
                reason=_first_line(problem),
            ),
        ) from problem
    except duckdb.Error as problem:
        token.check()
        raise InputError(
            "read.database",
            msg(
                "{name}: the database refused the table: {first_line}",
                name=place.name,
                first_line=_first_line(problem),
            ),
        ) from problem
    finally:
        cursor.close()


def _spill(con: DuckDBPyConnection) -> Path:
    """The private folder into which the database spills."""
    found = con.cursor().execute("SELECT current_setting('temp_directory')").fetchone()
    return Path(found[0] if found else "")


def _first_line(problem: Exception) -> str:
    lines = str(problem).strip().splitlines()
    return lines[0][:200] if lines else type(problem).__name__
