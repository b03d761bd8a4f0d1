"""The profile of many columns at a time: for wide tables.

A statement on a table of 10,000 columns takes tens of milliseconds whatever it asks, and a column
asks for several. So the values of a batch of columns are stood below each other, counted once, and
every question is then asked of that small table for all columns of the batch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dpdesk.core.schema import ColumnProfile, ColumnType, ValueCount
from dpdesk.io.coding import DATA, Column
from dpdesk.io.column_types import Candidate
from dpdesk.io.database import literal
from dpdesk.io.missing import missing_sql
from dpdesk.io.roles import suggest_role

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

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
