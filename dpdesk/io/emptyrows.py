"""Rows without any value: one rule for every kind of source, and a sentence that states it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.plain import BLANKS, is_blank
from dpdesk.core.source_spec import KEEP, SourceSpec
from dpdesk.io.csvload import RAW, Loaded
from dpdesk.io.database import query
from dpdesk.io.strange_ends import strange_ends

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_AT_ONCE = 500
_EMPTY, _FULL = "empty_rows", "rows_with_values"
_BLANKS = "[" + "".join(f"\\x{{{one:x}}}-\\x{{{last:x}}}" for one, last in BLANKS) + "]*"


def is_empty(row: Iterable[str]) -> bool:
    """Whether no field of a row holds more than blanks."""
    return all(map(is_blank, row))


def blank_sql(text: str) -> str:
    """The condition in SQL that a text holds nothing but blanks, as :func:`is_empty` takes them."""
    return f"regexp_full_match({text}, '{_BLANKS}')"


def without_empty_rows(
    con: DuckDBPyConnection, loaded: Loaded, spec: SourceSpec, path: Path, token: CancelToken
) -> Loaded:
    """Leave rows without any value out of the table ``raw``, unless the source keeps them.

    A row is empty when no field holds more than blanks (:func:`is_empty`). Either way a note tells
    how many there are. Raises InputError ``read.no-rows`` when no other row is there; Cancelled.
    """
    found, first = _listed(con, loaded, path, token)
    kept = spec.empty_rows == KEEP
    if found and not kept and found == loaded.rows:
        raise InputError(
            "read.no-rows",
            msg(
                "{name}: found {n:,} rows, none of which holds a value.",
                name=path.name,
                n=loaded.rows,
            ),
            hint='Write `empty_rows = "keep"` under [source] if such rows represent persons '
            "nevertheless.",
            details={"rows": loaded.rows},
        )
    with query(con, token, path) as cursor:
        if found and not kept:
            texts = ", ".join(f"c{j}::VARCHAR AS c{j}" for j in range(len(loaded.names)))
            cursor.execute(
                f"CREATE TABLE {_FULL} AS SELECT {texts} FROM {RAW} "
                f"WHERE rowid NOT IN (SELECT place FROM {_EMPTY})"
            )
            cursor.execute(f"DROP TABLE {RAW}")
            cursor.execute(f"ALTER TABLE {_FULL} RENAME TO {RAW}")
        cursor.execute(f"DROP TABLE {_EMPTY}")
    told: tuple[str, ...] = ()
    if found:
        told = (_kept(found, first) if kept else _left_out(found, first),)
    rows = loaded.rows - (0 if kept else found)
    told += strange_ends(con, loaded, rows, path, token)
    if not told:
        return loaded
    reading = replace(loaded.reading, notes=(*loaded.reading.notes, *told))
    coded = loaded.coded if rows == loaded.rows else ()
    return replace(loaded, rows=rows, reading=reading, coded=coded)


def _listed(
    con: DuckDBPyConnection, loaded: Loaded, path: Path, token: CancelToken
) -> tuple[int, int]:
    """List the places of empty rows in a table; how many there are, and the first (from 1).

    Columns are looked at some hundred at a time, since a condition on many thousand of them takes
    its time to be planned; most tables are done after the first. A coded column without a blank
    value says that there is none.
    """
    width = len(loaded.names)
    always = any(domain and not any(map(is_blank, domain)) for domain in loaded.coded)
    with query(con, token, path) as cursor:
        cursor.execute(
            f"CREATE TABLE {_EMPTY} AS SELECT rowid AS place FROM {RAW} "
            f"WHERE {'false' if always else _blank(0, width)}"
        )
        for start in range(_AT_ONCE, width, _AT_ONCE):
            full = f"SELECT rowid FROM {RAW} WHERE NOT ({_blank(start, width)})"
            if not cursor.execute(f"SELECT 1 FROM {_EMPTY} LIMIT 1").fetchall():
                break
            cursor.execute(f"DELETE FROM {_EMPTY} WHERE place IN ({full})")
        told = cursor.execute(f"SELECT count(*), min(place) FROM {_EMPTY}").fetchone()
    return (int(told[0]), int(told[1] or 0) + 1) if told else (0, 0)


def _blank(start: int, width: int) -> str:
    columns = range(start, min(width, start + _AT_ONCE))
    return " AND ".join(blank_sql(f"c{j}::VARCHAR") for j in columns)


def _left_out(found: int, first: int) -> str:
    if found == 1:
        return msg(
            "Row {row:,} holds no value and was left out, since it is not a person; write "
            '`empty_rows = "keep"` under [source] to keep it.',
            row=first,
        )
    return msg(
        "{n:,} rows hold no value and were left out, since they are not persons, the first "
        'is row {row:,}; write `empty_rows = "keep"` under [source] to keep them.',
        n=found,
        row=first,
    )


def _kept(found: int, first: int) -> str:
    if found == 1:
        return msg(
            "Row {row:,} contains no value but still counts as a row, as the plan says.",
            row=first,
        )
    return msg(
        "{n:,} rows contain no value but still count as rows, as the plan says, the first is "
        "row {row:,}.",
        n=found,
        row=first,
    )
