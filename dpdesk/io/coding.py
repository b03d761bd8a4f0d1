"""Columns coded once: from texts to dictionaries sorted by code point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.core.jobs import CancelToken, Report, StepProgress, StepStarted
from dpdesk.core.labels import NOTHING_MISSING, UserMissing
from dpdesk.io.csvload import CODE, RAW, STEPS
from dpdesk.io.database import query
from dpdesk.io.formats.coded import FEW_VALUES, most_coded

if TYPE_CHECKING:
    import pyarrow
    from duckdb import DuckDBPyConnection

DATA = "data"
MOST_CODED_COLUMNS = 1_000
_SOME_ROWS = 200_000
_PIECE = 10_000


@dataclass(frozen=True)
class Column:
    """A column of the table ``data``: name in the source, name in SQL, its values when coded.

    ``domain`` holds every value that occurs, sorted by code point, in the order of the ENUM's
    codes; None for a column kept as text because its values are nearly unique. ``user_missing``
    are the values that the source itself declares missing.
    """

    name: str
    sql: str
    domain: tuple[str, ...] | None = field(repr=False)
    user_missing: UserMissing = NOTHING_MISSING


def code_columns(
    con: DuckDBPyConnection,
    names: tuple[str, ...],
    rows: int,
    place: Path,
    token: CancelToken,
    report: Report,
    known: Sequence[tuple[str, ...] | None] = (),
    *,
    held: bool = False,
) -> tuple[Column, ...]:
    """Make the table ``data`` from ``raw`` and drop ``raw``; the row order stays.

    A column becomes an ENUM when its distinct values are few against the rows (at most a third,
    and at most 200,000, or a 32nd of many millions); measured, an ENUM groups three times faster
    than text, but a nearly unique column only costs memory twice. ``known`` are the values of
    columns of a table that was coded when it was read; with ``held``, its rows are in memory and
    there is no table to rename. See :class:`dpdesk.io.csvload.Loaded`.
    """
    report(StepStarted(CODE, STEPS, STEPS))
    if known:
        if not held:
            with query(con, token, place) as cursor:
                cursor.execute(f"ALTER TABLE {RAW} RENAME TO {DATA}")
        report(StepProgress(CODE, len(names), len(names), "columns"))
        listed = enumerate(zip(names, known, strict=True))
        return tuple(Column(name, f"c{j}", domain) for j, (name, domain) in listed)
    coded = _to_code(con, len(names), rows, place, token)
    columns: list[Column] = []
    for j, name in enumerate(names):
        made = f"e{j}", f"SELECT DISTINCT c{j} AS v FROM {RAW}"
        domain = make_type(con, *made, place, token) if j in coded else None
        columns.append(Column(name, f"c{j}", domain))
        report(StepProgress(CODE, j + 1, len(names), "columns"))
    casts = ", ".join(
        f"c{j}::e{j} AS c{j}" if column.domain is not None else f"c{j}"
        for j, column in enumerate(columns)
    )
    with query(con, token, place) as cursor:
        cursor.execute(f"CREATE TABLE {DATA} AS SELECT {casts} FROM {RAW}")
        cursor.execute(f"DROP TABLE {RAW}")
    return tuple(columns)


def _to_code(
    con: DuckDBPyConnection, width: int, rows: int, place: Path, token: CancelToken
) -> set[int]:
    """The columns with few enough values, as far as estimates tell.

    Estimating over all rows costs as much as listing the values, so it is done only for columns
    that show many among rows spread evenly over the table.
    """
    if width > MOST_CODED_COLUMNS:
        return set()
    spread = f"{RAW} WHERE rowid % {max(1, rows // _SOME_ROWS)} = 0"
    shown = _distinct(con, range(width), spread, place, token)
    many = [j for j in range(width) if shown[j] > FEW_VALUES]
    found = _distinct(con, many, RAW, place, token) if rows >= 2 * _SOME_ROWS else shown
    limit = most_coded(rows)
    return {j for j in range(width) if found.get(j, shown[j]) <= limit}


def _distinct(
    con: DuckDBPyConnection, columns: Sequence[int], table: str, place: Path, token: CancelToken
) -> dict[int, int]:
    """Estimates of how many values some columns have, by column."""
    if not columns:
        return {}
    counts = ", ".join(f"approx_count_distinct(c{j})" for j in columns)
    with query(con, token, place) as cursor:
        found = cursor.execute(f"SELECT {counts} FROM {table}").fetchone() or ()
    return dict(zip(columns, found, strict=True))


def make_type(
    con: DuckDBPyConnection, name: str, values: str, place: Path, token: CancelToken
) -> tuple[str, ...]:
    """Create an ENUM of the distinct texts ``v`` that a statement selects.

    Returns them sorted by code point, in the order of the ENUM's codes. Raises Cancelled.
    """
    with query(con, token, place) as cursor:
        cursor.execute(f"CREATE TYPE {name} AS ENUM ({values} ORDER BY v)")
        table = cursor.sql(f"SELECT unnest(enum_range(NULL::{name}))::VARCHAR AS v")
        return texts(table.to_arrow_table().column(0))


def texts(values: pyarrow.ChunkedArray | pyarrow.Array) -> tuple[str, ...]:
    """An Arrow column as Python texts, in pieces, so that other threads get their turn."""
    found: list[str] = []
    for start in range(0, len(values), _PIECE):
        found.extend(values.slice(start, _PIECE).to_pylist())
    return tuple(found)
