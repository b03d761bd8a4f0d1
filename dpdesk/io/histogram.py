"""Counts of a numeric column in intervals of equal width, made inside the database."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.core.jobs import CancelToken
from dpdesk.io.coding import DATA, Column
from dpdesk.io.database import literal, query
from dpdesk.io.missing import missing_sql

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def histogram(
    con: DuckDBPyConnection,
    column: Column,
    decimal: str,
    missing: tuple[str, ...],
    ends: tuple[float, float],
    bins: int,
    place: Path,
    token: CancelToken,
) -> tuple[int, ...]:
    """Rows per interval of ``ends`` (both ends included) cut into ``bins`` equal parts.

    Missing values and texts that are no numbers count nowhere.
    """
    text = "trim(v)" if decimal == "." else f"replace(trim(v), {literal(decimal)}, '.')"
    absent = missing_sql(column, missing)
    low, high = ends
    width = (high - low) / bins or 1.0
    with query(con, token, place) as cursor:
        found = cursor.execute(
            f"WITH tally AS (SELECT {column.sql}::VARCHAR AS v, count(*) AS n FROM {DATA} "
            f"GROUP BY {column.sql}), numbers AS (SELECT try_cast({text} AS DOUBLE) AS x, n "
            f"FROM tally{f' WHERE NOT ({absent})' if absent else ''}) "
            "SELECT least(? - 1, floor((x - ?) / ?))::INTEGER AS bin, sum(n)::BIGINT FROM numbers "
            "WHERE x BETWEEN ? AND ? GROUP BY bin",
            [bins, low, width, low, high],
        ).fetchall()
    counts = dict(found)
    return tuple(counts.get(number, 0) for number in range(bins))
