"""What a window shows of a table that stays in an engine: its columns, and its first rows."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.core.jobs import CancelToken, Report, StepProgress, StepStarted, silent
from dpdesk.core.schema import ColumnProfile
from dpdesk.core.source_spec import POSTGRESQL, SourceSpec
from dpdesk.io.coding import Column, code_columns
from dpdesk.io.csvload import RAW, Loaded
from dpdesk.io.database import in_memory, query
from dpdesk.io.engines.statements import first_of
from dpdesk.io.engines.table import EngineTable, Seen
from dpdesk.io.missing import candidates as column_types
from dpdesk.io.profile import (
    PROFILE,
    counted_histogram,
    profile_counted,
    side_by_side,
    suggest_role,
)
from dpdesk.io.reading import PREVIEW_ROWS, Reading, SourcePreview, format_of
from dpdesk.io.source import FilePrint
from dpdesk.io.store import DataStore

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection

_SEEN = "SELECT v, n FROM seen"


def profile_of(
    table: EngineTable,
    con: DuckDBPyConnection,
    columns: Sequence[Column],
    reading: Reading,
    date_order: str,
    token: CancelToken,
    report: Report,
) -> tuple[ColumnProfile, ...]:
    """The profile of every column, of its values and their rows as the engine counts them.

    Of a column of more than ``MOST_SEEN`` values, the type, the missing and the most frequent
    values are those of as many of the most frequent, and there are no ends; how many values there
    are is counted by the engine. Raises what asking the engine raises.
    """
    candidates = column_types(reading.decimal, date_order)
    found = []
    for number, column in enumerate(columns, start=1):
        seen = table.look(column.name, token, report)
        report(StepStarted(PROFILE, 1, 1))
        report(StepProgress(PROFILE, number, len(columns), "columns"))
        with query(con, token, table.path) as cursor:
            cursor.register("seen", _as_table(seen))
            given = column, _SEEN, table.rows, reading.missing, candidates
            profile = profile_counted(cursor, *given)
        found.append(profile if seen.tally is None else _of_many(profile, seen, seen.tally))
    return side_by_side(found)


def _of_many(profile: ColumnProfile, seen: Seen, tally: tuple[int, int]) -> ColumnProfile:
    """The profile of a column of which the most frequent values were looked at."""
    missing = int(seen.counts.sum()) - (profile.rows - profile.missing)
    distinct, unique = tally[0] - (len(seen.values) - profile.distinct), tally[1]
    facts = profile.rows, profile.rows - missing, distinct, unique
    return replace(
        profile,
        missing=missing,
        distinct=distinct,
        unique=unique,
        minimum=None,
        maximum=None,
        suggestion=suggest_role(profile.name, profile.type, *facts),
    )


def histogram_of(
    table: EngineTable,
    con: DuckDBPyConnection,
    column: Column,
    reading: Reading,
    ends: tuple[float, float],
    bins: int,
    token: CancelToken,
) -> tuple[int, ...]:
    """As :func:`dpdesk.io.profile.histogram`."""
    seen = table.look(column.name, token, silent)
    with query(con, token, table.path) as cursor:
        cursor.register("seen", _as_table(seen))
        given = column, _SEEN, reading.decimal, reading.missing
        return counted_histogram(cursor, *given, ends, bins)


def first_rows(
    table: EngineTable, path: Path, reading: Reading, most: int, token: CancelToken
) -> DataStore:
    """The first rows that the engine gives, as a store of their own."""
    head = table.head(most, token, silent)
    con, names = in_memory(), table.engine.columns
    try:
        with query(con, token, path) as cursor:
            cursor.register("head", head)
            cursor.execute(f"CREATE TABLE {RAW} AS SELECT * FROM head")
        columns = code_columns(con, names, head.num_rows, path, token, silent)
    except BaseException:
        con.close()
        raise
    loaded = Loaded(names, head.num_rows, reading, FilePrint())
    return DataStore(con, path, columns, loaded, None)


def preview_engine(path: Path, base: Path, spec: SourceSpec, token: CancelToken) -> SourcePreview:
    """The first rows; no value touches the disk.

    Raises what opening the table raises, and InputError ``engine.closed`` for a cluster to which
    there is no connection.
    """
    if spec.engine == POSTGRESQL:
        from dpdesk.io.formats.loading import preview_foreign

        return preview_foreign(path, base, replace(spec, engine=None), token)
    from dpdesk.io.engines.spark import SparkEngine

    with (
        closing(SparkEngine(spec, path, token, silent, None)) as engine,
        closing(in_memory()) as con,
    ):
        places = range(len(engine.columns))
        head = engine.answer(first_of(engine, places, PREVIEW_ROWS, filled=False), token)
        con.register("head", head)
        kinds = [str(row[1]) for row in con.execute("DESCRIBE SELECT * FROM head").fetchall()]
        listed = (engine.text_sql(f"c{j}", kind) for j, kind in enumerate(kinds))
        rows = con.execute(f"SELECT {', '.join(listed)} FROM head").fetchall()
    reading = Reading(format_of(spec, path), encoding="utf-8", missing=spec.missing)
    return SourcePreview(reading, engine.columns, tuple(rows))


def _as_table(seen: Seen) -> pa.Table:
    import pyarrow as pa

    return pa.table({"v": pa.array(seen.values, pa.string()), "n": pa.array(seen.counts)})
