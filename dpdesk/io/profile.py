"""The profile of a source: what each column holds, and the role that it suggests.

Everything is counted inside the database, from the distinct values of one column at a time (of many
at a time in a wide table). The type is guessed on some values and then proven on all of them.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.core.jobs import CancelToken, Report, StepProgress, StepStarted
from dpdesk.core.schema import ColumnProfile, ColumnType, ValueCount
from dpdesk.io.coding import DATA, Column
from dpdesk.io.column_types import Candidate
from dpdesk.io.column_types import candidates as column_types
from dpdesk.io.database import query
from dpdesk.io.missing import missing_sql
from dpdesk.io.profile_wide import SAMPLE, TOP, batch_size, profile_batch
from dpdesk.io.reading import Reading
from dpdesk.io.roles import suggest_role

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

PROFILE = "Profile the columns"


def profile_columns(
    con: DuckDBPyConnection,
    columns: tuple[Column, ...],
    rows: int,
    reading: Reading,
    place: Path,
    token: CancelToken,
    report: Report,
) -> tuple[ColumnProfile, ...]:
    """Profile every column from its distinct values and their counts.

    One after the other, or many at a time in a wide table, where each statement costs the more the
    more columns the table has.
    """
    report(StepStarted(PROFILE, 1, 1))
    profiles: list[ColumnProfile] = []
    candidates = column_types(reading.decimal)
    size = batch_size(len(columns), rows)
    if size > 1:
        for start in range(0, len(columns), size):
            batch = columns[start : start + size]
            with query(con, token, place) as cursor:
                profiles += profile_batch(cursor, batch, rows, reading.missing, candidates)
            report(StepProgress(PROFILE, len(profiles), len(columns), "columns"))
        return _with_user_missing(con, columns, profiles, place, token)
    for number, column in enumerate(columns, start=1):
        with query(con, token, place) as cursor:
            profiles.append(_profile(cursor, column, rows, reading.missing, candidates))
        report(StepProgress(PROFILE, number, len(columns), "columns"))
    return _with_user_missing(con, columns, profiles, place, token)


def _with_user_missing(
    con: DuckDBPyConnection,
    columns: tuple[Column, ...],
    profiles: list[ColumnProfile],
    place: Path,
    token: CancelToken,
) -> tuple[ColumnProfile, ...]:
    """The profiles with the rows whose value the source itself declares missing."""
    found = []
    for column, profile in zip(columns, profiles, strict=True):
        rows = 0
        if column.user_missing and profile.missing:
            with query(con, token, place) as cursor:
                counted = cursor.execute(
                    f"SELECT coalesce(sum(n), 0)::BIGINT FROM (SELECT {column.sql}::VARCHAR AS v, "
                    f"count(*) AS n FROM {DATA} GROUP BY {column.sql}) "
                    f"WHERE {missing_sql(column, ())}"
                ).fetchone()
            rows = int(counted[0]) if counted else 0
        found.append(replace(profile, user_missing=rows) if rows else profile)
    return tuple(found)


def _profile(
    cursor: DuckDBPyConnection,
    column: Column,
    rows: int,
    missing: tuple[str, ...],
    candidates: tuple[Candidate, ...],
) -> ColumnProfile:
    absent = missing_sql(column, missing)
    cursor.execute(
        f"CREATE TEMP TABLE tally AS SELECT v, n FROM (SELECT {column.sql}::VARCHAR AS v, "
        f"count(*) AS n FROM {DATA} GROUP BY {column.sql})"
        + (f" WHERE NOT ({absent})" if absent else "")
    )
    counts = "SELECT count(*), count(*) FILTER (n = 1), coalesce(sum(n), 0)::BIGINT FROM tally"
    distinct, unique, present = cursor.execute(counts).fetchall()[0]
    top = cursor.execute(f"SELECT v, n FROM tally ORDER BY n DESC, v LIMIT {TOP}").fetchall()
    found = _type_of(cursor, candidates) if distinct else Candidate(ColumnType.EMPTY, "")
    ends: tuple[str | None, str | None] = (None, None)
    if found.order:
        ends = cursor.execute(
            f"SELECT arg_min(v, {found.order}), arg_max(v, {found.order}) FROM tally"
        ).fetchall()[0]
    cursor.execute("DROP TABLE tally")
    return ColumnProfile(
        name=column.name,
        type=found.kind,
        rows=rows,
        missing=rows - present,
        distinct=distinct,
        unique=unique,
        top=tuple(ValueCount(value, count) for value, count in top),
        suggestion=suggest_role(column.name, found.kind, rows, present, distinct, unique),
        minimum=ends[0],
        maximum=ends[1],
        date_order=found.date_order,
    )


def _type_of(cursor: DuckDBPyConnection, candidates: tuple[Candidate, ...]) -> Candidate:
    """The first type that fits some values, and then all of them."""
    fits = ", ".join(f"bool_and({item.condition})" for item in candidates)
    sample = cursor.execute(f"SELECT {fits} FROM (SELECT v FROM tally LIMIT {SAMPLE})").fetchall()[
        0
    ]
    for item, likely in zip(candidates, sample, strict=True):
        if not likely:
            continue
        against = f"SELECT 1 FROM tally WHERE NOT ({item.condition}) LIMIT 1"
        if not cursor.execute(against).fetchall():
            return item
    return Candidate(ColumnType.TEXT, "")
