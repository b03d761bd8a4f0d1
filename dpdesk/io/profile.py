"""The profile of a source: what each column holds, and the role that it suggests.

Everything is counted inside the database, from the distinct values of one column at a time (of many
at a time in a wide table). The type is guessed on some values and then proven on all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.core.jobs import CancelToken, Report, StepProgress, StepStarted
from dpdesk.core.schema import ColumnProfile, ColumnType, ValueCount
from dpdesk.io.coding import DATA, Column
from dpdesk.io.column_types import Candidate
from dpdesk.io.column_types import candidates as column_types
from dpdesk.io.database import literal, query
from dpdesk.io.missing import missing_sql
from dpdesk.io.reading import Reading
from dpdesk.io.roles import suggest_role

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# The profile of many columns at a time: for wide tables.
#
# A statement on a table of 10,000 columns takes tens of milliseconds whatever it asks, and a column
# asks for several. So the values of a batch of columns are stood below each other, counted once,
# and every question is then asked of that small table for all columns of the batch.

TOP, SAMPLE = 10, 1_000
_WIDE = 100
_MOST_COLUMNS = 400
_MOST_CELLS = 4_000_000
_TEXT = Candidate(ColumnType.TEXT, "")
_EMPTY = Candidate(ColumnType.EMPTY, "")


def batch_size(columns: int, rows: int) -> int:
    """How many columns to profile at a time; 1 for tables that are not wide or that are long."""
    if columns <= _WIDE:
        return 1
    return max(1, min(_MOST_COLUMNS, _MOST_CELLS // max(1, rows)))


def profile_batch(
    cursor: DuckDBPyConnection,
    columns: Sequence[Column],
    rows: int,
    missing: tuple[str, ...],
    candidates: Sequence[Candidate],
) -> list[ColumnProfile]:
    """Profile these columns; the same as one after the other."""
    _tally(cursor, columns, missing)
    counts = {
        c: (distinct, unique, present)
        for c, distinct, unique, present in cursor.execute(
            "SELECT c, count(*), count(*) FILTER (n = 1), sum(n)::BIGINT FROM tally GROUP BY c"
        ).fetchall()
    }
    top = _most_frequent(cursor)
    types = _types(cursor, candidates)
    ends = _ends(cursor, types)
    cursor.execute("DROP TABLE tally")
    profiles = []
    for j, column in enumerate(columns):
        distinct, unique, present = counts.get(j, (0, 0, 0))
        found = types.get(j, _EMPTY)
        kind = found.kind
        low, high = ends.get(j, (None, None))
        profiles.append(
            ColumnProfile(
                name=column.name,
                type=kind,
                rows=rows,
                missing=rows - present,
                distinct=distinct,
                unique=unique,
                top=tuple(top.get(j, ())),
                suggestion=suggest_role(column.name, kind, rows, present, distinct, unique),
                minimum=low,
                maximum=high,
                date_order=found.date_order,
            )
        )
    return profiles


def _tally(cursor: DuckDBPyConnection, columns: Sequence[Column], missing: Sequence[str]) -> None:
    """The table ``tally``: number ``c`` of a column, value ``v``, rows ``n``."""
    listed = ", ".join(f"{column.sql}::VARCHAR AS k{j}" for j, column in enumerate(columns))
    absent = _missing(columns, missing)
    cursor.execute(
        "CREATE TEMP TABLE tally AS SELECT substr(k, 2)::INTEGER AS c, v, count(*) AS n FROM "
        f"(UNPIVOT (SELECT {listed} FROM {DATA}) ON COLUMNS(*) INTO NAME k VALUE v)"
        + (f" WHERE NOT ({absent})" if absent else "")
        + " GROUP BY k, v"
    )


def _missing(columns: Sequence[Column], declared: Sequence[str]) -> str:
    """The condition that the value ``v`` of the column with the key ``k`` is missing."""
    common = ", ".join(literal(code) for code in declared)
    parts = [f"v IN ({common})"] if common else []
    parts += [
        f"k = 'k{j}' AND ({missing_sql(column, ())})"
        for j, column in enumerate(columns)
        if column.user_missing
    ]
    return " OR ".join(parts)


def _most_frequent(cursor: DuckDBPyConnection) -> dict[int, list[ValueCount]]:
    found: dict[int, list[ValueCount]] = {}
    for c, value, count in cursor.execute(
        "SELECT c, v, n FROM tally "
        f"QUALIFY row_number() OVER (PARTITION BY c ORDER BY n DESC, v) <= {TOP} "
        "ORDER BY c, n DESC, v"
    ).fetchall():
        found.setdefault(c, []).append(ValueCount(value, count))
    return found


def _types(cursor: DuckDBPyConnection, candidates: Sequence[Candidate]) -> dict[int, Candidate]:
    """Per column with values, the first type that fits some of them, and then all."""
    fits = ", ".join(f"bool_and({item.condition})" for item in candidates)
    sample = f"SELECT c, v FROM tally QUALIFY row_number() OVER (PARTITION BY c) <= {SAMPLE}"
    likely = {
        c: fitting
        for c, *fitting in cursor.execute(f"SELECT c, {fits} FROM ({sample}) GROUP BY c").fetchall()
    }
    found: dict[int, Candidate] = {}
    for place, item in enumerate(candidates):
        open_ones = [c for c, fitting in likely.items() if fitting[place] and c not in found]
        if open_ones:
            proven = cursor.execute(
                f"SELECT c FROM tally WHERE c IN ({_listed(open_ones)}) GROUP BY c "
                f"HAVING bool_and({item.condition})"
            ).fetchall()
            found.update((c, item) for (c,) in proven)
    return {c: found.get(c, _TEXT) for c in likely}


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(str(number) for number in numbers)


def _ends(
    cursor: DuckDBPyConnection, types: Mapping[int, Candidate]
) -> dict[int, tuple[str | None, str | None]]:
    """Smallest and largest value of the columns whose type has an order."""
    by_order: dict[str, list[int]] = {}
    for c, item in types.items():
        if item.order:
            by_order.setdefault(item.order, []).append(c)
    found: dict[int, tuple[str | None, str | None]] = {}
    for order, numbers in by_order.items():
        for c, low, high in cursor.execute(
            f"SELECT c, arg_min(v, {order}), arg_max(v, {order}) FROM tally "
            f"WHERE c IN ({_listed(numbers)}) GROUP BY c"
        ).fetchall():
            found[c] = (low, high)
    return found


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
