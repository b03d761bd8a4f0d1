"""Rows without any value: one rule for every kind of source, and a sentence that states it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.plain import BLANKS, is_blank
from dpdesk.core.source_spec import KEEP, SourceSpec
from dpdesk.io.csvload import RAW, Loaded
from dpdesk.io.database import query
from dpdesk.io.looks import MISSING_CODES, datum

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


# What begins and ends a table and may be no part of it: units, notes, totals, byte order marks.
#
# It stays, since the row of a person may look alike; a sentence tells of it, for sources of every
# kind.


_LOOKED_AT, _COLUMNS, _SHOWN = 40, 200, 40
_WIDE, _MOST_BELOW = 3, 20
"""Columns of a table under which a row of one value may be a note, and so many such rows."""
_MOST_ODD, _LEAST_OTHERS, _LEAST_COLUMNS = 3, 3, 2
"""So many rows of values of another kind may be no rows, where so many others agree in theirs; in
a table of one column such a value is most likely a code of its own."""
_NEARLY = 1e-9
_MARK = "\ufeff"

Rows = Sequence[Sequence[str]]


def with_strange_ends(
    con: DuckDBPyConnection, loaded: Loaded, path: Path, token: CancelToken
) -> Loaded:
    """Note which of the first and the last rows of the table ``raw`` may be no rows.

    And byte order marks at the beginning of rows. Rows that a query left out are not spoken of, so
    it is asked once rows have been chosen. Raises Cancelled.
    """
    told = _strange_ends(con, loaded, loaded.rows, path, token)
    if not told:
        return loaded
    reading = replace(loaded.reading, notes=(*loaded.reading.notes, *told))
    return replace(loaded, reading=reading)


def _strange_ends(
    con: DuckDBPyConnection, loaded: Loaded, rows: int, path: Path, token: CancelToken
) -> tuple[str, ...]:
    ends = [_end(con, way, path, token) for way in ("", "DESC")]
    first, last = ([[text.strip() for text in row[:_COLUMNS]] for row in end] for end in ends)
    single = _single(ends[1], rows, len(loaded.names))
    told = [_single_note(single)] if single else []
    told += _odd_note(loaded.names, first, at_end=False)
    odd = _odd_note(loaded.names, last[len(single) :], at_end=True)
    if not odd and _holds_totals(con, loaded, last, len(single), path, token):
        odd = [
            "The last row with numbers counts as a row, though its numbers are the sums of those "
            "above it; if it holds totals, leave it out with a `query` under [source]."
        ]
    return (*told, *odd, *_marks_note(con, loaded, path, token))


def _end(
    con: DuckDBPyConnection, way: str, path: Path, token: CancelToken
) -> list[tuple[str, ...]]:
    """The first rows of the table ``raw``, or the last ones from the last one on.

    They are put in order here: the database sorts whole rows, and of thousands of columns that
    takes seconds.
    """
    with query(con, token, path) as cursor:
        numbers = f"SELECT rowid FROM {RAW} ORDER BY rowid {way} LIMIT {_LOOKED_AT}"
        places = [number for (number,) in cursor.execute(numbers).fetchall()]
        if not places:
            return []
        low, high = min(places), max(places)
        found = cursor.execute(
            f"SELECT rowid, * FROM {RAW} WHERE rowid BETWEEN {low} AND {high}"
        ).fetchall()
    return [row[1:] for row in sorted(found, key=itemgetter(0), reverse=bool(way))]


def _marks_note(
    con: DuckDBPyConnection, loaded: Loaded, path: Path, token: CancelToken
) -> tuple[str, ...]:
    """A sentence on byte order marks at the beginning of rows, where texts were joined."""
    name = loaded.names[0]
    if name.startswith(_MARK):
        return (
            "The name of the first column begins with another byte order mark (U+FEFF), which is "
            "invisible; it stays part of the name.",
        )
    with query(con, token, path) as cursor:
        found = cursor.execute(
            f"SELECT count(*), min(rowid) FROM {RAW} "
            f"WHERE starts_with(c0::VARCHAR, chr({ord(_MARK)}))"
        ).fetchone()
    if not found or not found[0]:
        return ()
    if found[0] == 1:
        return (
            msg(
                "A byte order mark (U+FEFF), which is invisible, begins the value of the "
                "column `{column}` in row {row:,}; it stays part of the value.",
                column=name,
                row=found[1] + 1,
            ),
        )
    return (
        msg(
            "Byte order marks (U+FEFF), which are invisible, begin {n:,} values of the column "
            "`{column}`, the first in row {row:,}; they stay part of the values.",
            n=found[0],
            column=name,
            row=found[1] + 1,
        ),
    )


def _single(last: Rows, rows: int, width: int) -> list[str]:
    """The values of the last rows that have one value each, from the last row on."""
    if width < _WIDE:
        return []
    filled = [[text for text in row if not is_blank(text)] for row in last]
    count = next((n for n, row in enumerate(filled) if len(row) != 1), len(filled))
    return [] if count > _MOST_BELOW or count == rows else [row[0] for row in filled[:count]]


def _shown(text: str) -> str:
    plain = " ".join(text.replace("`", "'").split())
    return plain if len(plain) <= _SHOWN else plain[: _SHOWN - 1] + "…"


def _single_note(texts: Sequence[str]) -> str:
    shown = _shown(texts[-1])
    if len(texts) == 1:
        return msg(
            "The last row holds one value (`{text}`) and counts as a row; if it is a note below "
            "the table, leave it out with a `query` under [source].",
            text=shown,
        )
    return msg(
        "The last {n:,} rows hold one value each (first `{text}`) and count as rows; if they are "
        "notes below the table, leave them out with a `query` under [source].",
        n=len(texts),
        text=shown,
    )


def _kind(text: str) -> int | None:
    """The kind of data a text is, numbers and amounts as one; None for words."""
    kind = datum(text)
    return None if kind is None else max(kind, 1)


def _odd_note(names: Sequence[str], rows: Rows, *, at_end: bool) -> list[str]:
    """A sentence on the first of these rows where none of their values is like those of others."""
    for count in range(1, _MOST_ODD + 1):
        column = _misfit(rows[:count], rows[count:])
        if column is not None:
            value, name = _shown(rows[0][column]), names[column]
            break
    else:
        return []
    if at_end:
        return [
            msg(
                "In column `{column}` the last row holds `{text}`, while those above it hold "
                "values of another kind; if it is a note or a total below the table, leave it out "
                "with a `query` under [source].",
                column=name,
                text=value,
            )
        ]
    return [
        msg(
            "In column `{column}` the first row holds `{text}`, while those below it hold values "
            "of another kind; if it holds units or further names, leave it out with a `query` "
            "under [source].",
            column=name,
            text=value,
        )
    ]


def _misfit(few: Rows, others: Rows) -> int | None:
    """A column in which each of a few rows differs in kind from the others, which agree.

    None where there is no such column, or another one where one of the few is like the others.
    """
    if not few or len(others) < _LEAST_OTHERS or len(few[0]) < _LEAST_COLUMNS:
        return None
    found = None
    for j in range(len(few[0])):
        texts = [row[j] for row in others if row[j] and row[j] not in MISSING_CODES]
        kinds = {_kind(text) for text in texts}
        if len(texts) < _LEAST_OTHERS or None in kinds:
            continue
        own = [row[j] for row in few if row[j] and row[j] not in MISSING_CODES]
        if any(_kind(text) in kinds for text in own):
            return None
        if found is None and len(own) == len(few):
            found = j
    return found


def _number(text: str, mark: str) -> float | None:
    try:
        return float(text.replace(mark, "."))
    except ValueError:
        return None


def _holds_totals(
    con: DuckDBPyConnection, loaded: Loaded, last: Rows, below: int, path: Path, token: CancelToken
) -> bool:
    """Whether all numbers of the last row but ``below`` are sums of those above it.

    ``last`` are the last rows, from the end on.
    """
    mark = loaded.reading.decimal or "."
    own, *above = last[below:] or [[]]
    numbers = {j: n for j, text in enumerate(own) if (n := _number(text, mark)) is not None}
    known = {j: [n for row in above if (n := _number(row[j], mark)) is not None] for j in numbers}
    # A sum is no smaller than one of several numbers above 0: most tables end here.
    if not numbers or any(n < max(known[j], default=n + 1) for j, n in numbers.items()):
        return False
    sums = ", ".join(
        f"sum(TRY_CAST(replace(c{j}::VARCHAR, '{mark}', '.') AS DOUBLE))" for j in numbers
    )
    place = f"(SELECT rowid FROM {RAW} ORDER BY rowid DESC LIMIT 1 OFFSET {below})"
    with query(con, token, path) as cursor:
        found = cursor.execute(f"SELECT {sums} FROM {RAW} WHERE rowid < {place}").fetchone()
    return len(above) >= _LEAST_OTHERS and all(
        total and abs(total - n) <= _NEARLY * abs(n)
        for total, n in zip(found or (), numbers.values(), strict=True)
    )


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
            hint='Write `empty_rows = "keep"` under [source] if such rows do represent persons.',
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
    if not found:
        return loaded
    told = _kept(found, first) if kept else _left_out(found, first)
    rows = loaded.rows - (0 if kept else found)
    reading = replace(loaded.reading, notes=(*loaded.reading.notes, told))
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
