"""Writing rows in a new order, with new values in some columns, from memory alone.

No database sorts or joins here: what it spilled to the disk would tell which released row came from
which row of the source. Columns are fetched as codes, and compiled steps put the lines together.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import InputError
from dpdesk.core.frequency import CellFilter, NewValues, RewrittenRows, RowLook
from dpdesk.core.jobs import CancelToken, Report, StepProgress, StepStarted
from dpdesk.core.messages import msg
from dpdesk.core.schema import ColumnType
from dpdesk.io.coding import DATA, Column
from dpdesk.io.counting import Codes
from dpdesk.io.database import literal, query
from dpdesk.io.failures import storage_error
from dpdesk.io.missing import candidates, missing_sql
from dpdesk.io.recode import WRITE, csv_field, header_line

if TYPE_CHECKING:
    import pyarrow
    from duckdb import DuckDBPyConnection

    from dpdesk.io.reading import Reading


# Rows of the table ``data`` in another order, or some of them, found inside the database.


def rows_of(
    con: DuckDBPyConnection,
    columns: Mapping[str, Column],
    look: RowLook,
    reading: Reading,
    place: Path,
    token: CancelToken,
) -> NDArray[np.int64]:
    """The numbers (from 0) of the rows that are looked at, in their order."""
    kept = [_condition(columns, one, reading.missing) for one in look.filters]
    where = " AND ".join(f"({one})" for one in kept) or "true"
    order = _order(columns[look.column], look, reading) if look.column else "rowid"
    with query(con, token, place) as cursor:
        found = cursor.sql(f"SELECT rowid AS n FROM {DATA} WHERE {where} ORDER BY {order}")
        return np.asarray(found.to_arrow_table().column("n").to_numpy(), np.int64)


def _value(column: Column) -> str:
    return f"{column.sql}::VARCHAR"


def _absent(column: Column, missing: tuple[str, ...]) -> str:
    found = missing_sql(column, missing)
    return f"(SELECT {found} FROM (SELECT {_value(column)} AS v))" if found else "false"


def _order(column: Column, look: RowLook, reading: Reading) -> str:
    direction = "DESC" if look.descending else "ASC"
    keys = [
        one.order
        for one in candidates(reading.decimal)
        if one.kind is look.kind and one.date_order == look.date_order and one.order != "trim(v)"
    ]
    if look.kind not in (ColumnType.INTEGER, ColumnType.DECIMAL, ColumnType.DATE):
        keys = []
    value = f"CASE WHEN {_absent(column, reading.missing)} THEN NULL ELSE {_value(column)} END"
    parts = [f"lower({value})", value]
    if keys:
        parts.insert(0, f"(SELECT coalesce({', '.join(keys)}) FROM (SELECT {value} AS v))")
    return ", ".join((*(f"{one} {direction} NULLS LAST" for one in parts), "rowid"))


def _condition(columns: Mapping[str, Column], asked: CellFilter, missing: tuple[str, ...]) -> str:
    among = [columns[asked.column]] if asked.column else list(columns.values())
    if asked.text is None:
        parts = [_absent(one, missing) for one in among]
    elif asked.whole:
        parts = [f"{_value(one)} = {literal(asked.text)}" for one in among]
    else:
        part = literal(asked.text.lower())
        parts = [f"contains(lower({_value(one)}), {part})" for one in among]
    return f"{'NOT ' if asked.without else ''}({' OR '.join(parts)})"


_ROWS = 1 << 16
_COMMA, _LINE_END = 0x2C, 0x0A


@dataclass(frozen=True, eq=False)
class _Fields:
    """The fields of one released column: texts, and which of them each row has.

    ``codes`` index the texts: of every row of the source, or (``in_order``) of every released row;
    None: row i of the source has text i.
    """

    offsets: NDArray[np.int64] = field(repr=False)
    data: NDArray[np.uint8] = field(repr=False)
    codes: NDArray[Any] | None = field(repr=False)
    in_order: bool = False


def write_rewritten(
    con: DuckDBPyConnection,
    columns: Sequence[Column],
    rows: int,
    rewritten: RewrittenRows,
    path: Path,
    token: CancelToken,
    report: Report,
) -> int:
    """See :meth:`dpdesk.io.store.DataStore.write_rewritten`."""
    released = [column for column in columns if column.name not in rewritten.dropped_columns]
    _check(rewritten, rows, {column.name for column in columns})
    alone = len(released) + len(rewritten.added) == 1
    parts = [_fields(con, column, rewritten, alone, path, token) for column in released]
    parts += _new_fields(rewritten.added)
    names = [*(column.name for column in released), *rewritten.added]
    report(StepStarted(WRITE, 1, 1))
    _write_table(path, names, parts, rewritten.order, token, report)
    for name, columns_of in rewritten.tables.items():
        rows_of = np.arange(len(next(iter(columns_of.values())).codes))
        further = path.with_name(name)
        _write_table(further, list(columns_of), _new_fields(columns_of), rows_of, token, report)
    return rewritten.rows_out


def _write_table(
    path: Path,
    names: Sequence[str],
    parts: Sequence[_Fields],
    order: NDArray[Any],
    token: CancelToken,
    report: Report,
) -> None:
    """One CSV, whole or not at all."""
    try:
        with path.open("xb") as out:
            out.write(header_line(names).encode())
            _write_lines(out, parts, order, token, report)
    except OSError as problem:
        path.unlink(missing_ok=True)
        raise storage_error(problem, path, "write") from problem
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _new_fields(columns: Mapping[str, NewValues]) -> list[_Fields]:
    """The fields of columns that the source does not have."""
    return [
        _Fields(*_packed(values.domain, len(columns) == 1), values.codes, in_order=True)
        for values in columns.values()
    ]


def column_codes(con: DuckDBPyConnection, column: Column, place: Path, token: CancelToken) -> Codes:
    """Values and codes of a column, every row in source order."""
    from dpdesk.io.text_codes import coded_texts

    with query(con, token, place) as cursor:
        if column.domain is None:
            texts = cursor.sql(f"SELECT {column.sql} AS v FROM {DATA}").to_arrow_table().column(0)
            codes, domain = coded_texts(texts)
            return domain, codes
        found = cursor.sql(f"SELECT enum_code({column.sql}) AS v FROM {DATA}").to_arrow_table()
        return column.domain, found.column(0).to_numpy()


def _check(rewritten: RewrittenRows, rows: int, names: Collection[str]) -> None:
    order = rewritten.order
    if len(order) and not 0 <= int(order.min()) <= int(order.max()) < rows:
        raise _misfit("its order names a row that there is not")
    for name in rewritten.added:
        if name in names:
            raise _misfit(msg("`{name}` is a column of the source", name=name))
    for name, values in (*rewritten.drawn.items(), *rewritten.added.items()):
        if len(values.codes) != len(order):
            raise _misfit(
                msg(
                    "`{name}` has {codes:,} values for {order:,} rows",
                    name=name,
                    codes=len(values.codes),
                    order=len(order),
                )
            )


def _fields(
    con: DuckDBPyConnection,
    column: Column,
    rewritten: RewrittenRows,
    alone: bool,
    place: Path,
    token: CancelToken,
) -> _Fields:
    drawn = rewritten.drawn.get(column.name)
    if drawn is not None:
        return _Fields(*_packed(drawn.domain, alone), drawn.codes, in_order=True)
    mapping = rewritten.mapping.get(column.name)
    if column.domain is None and mapping is None:
        return _texts(con, column, alone, place, token)
    domain, codes = column_codes(con, column, place, token)
    if mapping is not None:
        absent = next((value for value in domain if value not in mapping), None)
        if absent is not None:
            raise _misfit(
                msg(
                    "the value `{absent}` of `{name}` is not recoded",
                    absent=absent,
                    name=column.name,
                )
            )
        domain = tuple(mapping[value] for value in domain)
    return _Fields(*_packed(domain, alone), codes)


def _packed(values: Sequence[str], alone: bool) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """The fields of values one after the other, and where each begins."""
    fields = [csv_field(value).encode() for value in values]
    if alone:  # an empty line would be no row
        fields = [text or b'""' for text in fields]
    offsets = np.zeros(len(fields) + 1, np.int64)
    np.cumsum([len(text) for text in fields], out=offsets[1:])
    return offsets, np.frombuffer(b"".join(fields) or b"\0", np.uint8)


def _texts(
    con: DuckDBPyConnection, column: Column, alone: bool, place: Path, token: CancelToken
) -> _Fields:
    """A column of nearly unique texts: one field for each row."""
    name = column.sql
    quoted = f"""'"' || replace({name}, '"', '""') || '"'"""
    special = f"regexp_matches({name}, '[\",\\r\\n]')" + (f" OR {name} = ''" if alone else "")
    with query(con, token, place) as cursor:
        found = cursor.sql(
            f"SELECT CASE WHEN {special} THEN {quoted} ELSE {name} END AS v FROM {DATA}"
        ).to_arrow_table()
    return _joined(found.column(0))


def _joined(chunks: pyarrow.ChunkedArray) -> _Fields:
    import pyarrow

    offsets, pieces, done = [np.zeros(1, np.int64)], [], 0
    for chunk in chunks.chunks:
        if chunk.null_count:
            raise _misfit("a released value has no text")
        wide = pyarrow.types.is_large_string(chunk.type)
        _, raw, data = chunk.buffers()
        ends = np.frombuffer(raw, np.int64 if wide else np.int32)
        ends = ends[chunk.offset : chunk.offset + len(chunk) + 1].astype(np.int64)
        if data is not None and len(ends) > 1:
            pieces.append(np.frombuffer(data, np.uint8)[ends[0] : ends[-1]])
        offsets.append(ends[1:] - ends[0] + done)
        done = int(offsets[-1][-1]) if len(offsets[-1]) else done
    joined = np.concatenate(pieces) if done else np.zeros(1, np.uint8)
    return _Fields(np.concatenate(offsets), joined, None)


def _write_lines(
    out: IO[bytes],
    parts: Sequence[_Fields],
    order: NDArray[Any],
    token: CancelToken,
    report: Report,
) -> None:
    for first in range(0, len(order), _ROWS):
        token.check()
        last = min(len(order), first + _ROWS)
        out.write(_lines(parts, order[first:last], first))
        report(StepProgress(WRITE, last, len(order), "rows"))


def _lines(parts: Sequence[_Fields], order: NDArray[Any], first: int) -> memoryview:
    """The lines of some released rows, one after the other."""
    from dpdesk.io.line_kernels import add_lengths, put_byte, put_fields

    indexes = [_index(part, order, first) for part in parts]
    lengths = np.full(len(order), max(1, len(parts)), np.int64)  # commas and the line end
    for part, index in zip(parts, indexes, strict=True):
        add_lengths(index, part.offsets, lengths)
    ends = np.cumsum(lengths) - lengths
    buffer = np.empty(int(lengths.sum()), np.uint8)
    for place, (part, index) in enumerate(zip(parts, indexes, strict=True)):
        if place:
            put_byte(_COMMA, ends, buffer)
        put_fields(index, part.offsets, part.data, ends, buffer)
    put_byte(_LINE_END, ends, buffer)
    return buffer.data


def _index(part: _Fields, order: NDArray[Any], first: int) -> NDArray[np.int64]:
    """Which text each of these released rows has; of one type, so that one kernel serves all."""
    from dpdesk.io.line_kernels import gather

    if part.codes is None:
        return order.astype(np.int64, copy=False)
    if part.in_order:
        return part.codes[first : first + len(order)].astype(np.int64)
    found = np.empty(len(order), np.int64)
    gather(part.codes, order, found)
    return found


def _misfit(what: str) -> InputError:
    return InputError(
        "rewriting.misfit",
        msg(
            "The table to be released does not fit the data: {what}; nothing was written.",
            what=what,
        ),
        hint="This is an error in the program; please report it.",
    )
