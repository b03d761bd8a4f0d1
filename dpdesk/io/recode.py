"""Writing the protected microdata: recode by look-up on codes or tuples, drop what is suppressed,
sort, write.

The lines are made inside DuckDB and leave it as Arrow arrays whose text buffer is the file's next
bytes, so no value passes through a Python object.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from dpdesk.core.errors import InputError, RefusedError
from dpdesk.core.jobs import CancelToken, Report, StepProgress, StepStarted
from dpdesk.core.messages import msg
from dpdesk.core.plain import quoted
from dpdesk.core.recoding import AnyRecoding, Recoding, TupleRecoding
from dpdesk.io.coding import DATA, Column
from dpdesk.io.database import query
from dpdesk.io.failures import storage_error

if TYPE_CHECKING:
    import pyarrow
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

    from dpdesk.core.frequency import FrequencyTable
    from dpdesk.io.pseudonyms import Replacement

WRITE = "Write the microdata"
_BATCH = 50_000
_PIECE = 4 << 20
_COMMA, _LINE_END = 0x2C, 0x0A
_GROUP = 200
_MARK = "\ufeff"
_NEEDS_QUOTES = re.compile(r'[",\r\n]')


def csv_field(text: str) -> str:
    """A field with the quotes that RFC 4180 requires, and no others."""
    if _NEEDS_QUOTES.search(text):
        return '"' + text.replace('"', '""') + '"'
    return text


def header_line(names: Sequence[str]) -> str:
    """The header of a published table.

    Raises RefusedError ``release.first-name`` for a name that other programs would cut: they take
    an invisible mark at the beginning of a file for one of its encoding.
    """
    if names and names[0].startswith(_MARK):
        raise RefusedError(
            "release.first-name",
            msg(
                "The name of the first released column, {name}, begins with an invisible mark "
                "(U+FEFF), which programs take for the beginning of the file and not of the "
                "name.",
                name=quoted(names[0]),
            ),
            hint="Give the column another name in the source.",
        )
    return ('""' if list(names) == [""] else ",".join(map(csv_field, names))) + "\n"


@dataclass
class _Released:
    """One released column: its rank in SQL (for sorting), and its field in SQL (for the line)."""

    rank: str
    field: str


@dataclass
class _Statement:
    """The parts of the statement, and the small tables it joins."""

    tables: dict[str, pyarrow.Table] = field(default_factory=dict)
    joins: list[str] = field(default_factory=list)
    released: list[_Released] = field(default_factory=list)
    label_codes: dict[str, str] = field(default_factory=dict)
    lists: list[list[int] | list[str]] = field(default_factory=list)
    origin: str = DATA

    def list_of(self, values: list[int] | list[str]) -> str:
        """A parameter that holds a list; its SQL name."""
        self.lists.append(values)
        return f"${len(self.lists)}"


def write_recoded(
    con: DuckDBPyConnection,
    columns: Sequence[Column],
    rows: int,
    recoding: AnyRecoding,
    path: Path,
    token: CancelToken,
    report: Report,
    replaced: Mapping[str, Replacement] = MappingProxyType({}),
    known: FrequencyTable | None = None,
) -> int:
    """See :meth:`dpdesk.io.store.DataStore.write_recoded`; ``known`` as in ``few_tuples``."""
    if recoding.rows_out + recoding.rows_suppressed != rows:
        raise misfit(
            msg(
                "{rows_out:,} released and {rows_suppressed:,} suppressed rows do not add up "
                "to the {rows:,} rows of the data",
                rows_out=recoding.rows_out,
                rows_suppressed=recoding.rows_suppressed,
                rows=rows,
            )
        )
    released = [column for column in columns if column.name not in recoding.dropped_columns]
    statement = _Statement()
    if isinstance(recoding, TupleRecoding):
        _join_tuples(statement, columns, recoding)
    for column in columns:
        if isinstance(recoding, TupleRecoding) and column.name in recoding.attributes:
            _recode_together(statement, column, recoding)
        elif isinstance(recoding, Recoding) and column.name in recoding.attributes:
            _recode(statement, column, recoding, column in released)
        elif column.name in replaced:
            _replace(statement, column, replaced[column.name])
        elif column in released:
            _keep(statement, column)
    report(StepStarted(WRITE, 1, 1))
    header = header_line([column.name for column in released])
    left_out = _left_out(statement, columns, recoding)
    if isinstance(recoding, Recoding) and released and not (replaced or left_out):
        lines = _counted_lines(con, columns, released, rows, recoding, known, path, token)
        if lines is not None:
            return _write_whole(lines.pieces(), header, path, recoding, token, report)
    sql = _sql(statement, recoding, left_out)
    with query(con, token, path) as cursor:
        for name, table in statement.tables.items():
            cursor.register(name, table)
        batches = cursor.sql(sql, params=statement.lists).to_arrow_reader(_BATCH)
        lines_of = ((_bytes_of(batch.column(0)), batch.num_rows) for batch in batches)
        return _write_whole(lines_of, header, path, recoding, token, report)


def write_counted(
    batches: Iterable[tuple[Sequence[NDArray[np.int64]], NDArray[np.int64]]],
    shown: Sequence[Sequence[str]],
    names: Sequence[str],
    path: Path,
    recoding: AnyRecoding,
    token: CancelToken,
    report: Report,
) -> int:
    """Write the columns ``names`` of tuples that are in order already; the number of rows.

    A batch holds, for each column, the places of its texts in ``shown``, and how often each line
    is written. Raises as :func:`write_recoded`.
    """
    report(StepStarted(WRITE, 1, 1))
    header = header_line(names)
    pieces = (
        piece
        for columns, times in batches
        if len(times)
        for piece in _Lines(*_joined_fields(shown, columns), times).pieces()
    )
    return _write_whole(pieces, header, path, recoding, token, report)


def _write_whole(
    pieces: Iterable[tuple[memoryview, int]],
    header: str,
    path: Path,
    recoding: AnyRecoding,
    token: CancelToken,
    report: Report,
) -> int:
    """Write all lines, as many as there should be."""
    written = _write(pieces, header, path, recoding.rows_out, token, report)
    if written != recoding.rows_out:
        path.unlink(missing_ok=True)
        raise misfit(
            msg(
                "{written:,} rows were written, {rows_out:,} were to be released",
                written=written,
                rows_out=recoding.rows_out,
            )
        )
    return written


def _recode(statement: _Statement, column: Column, recoding: Recoding, is_released: bool) -> None:
    """Add a recoded column: its label code (for suppression), its rank and field (for output)."""
    j = recoding.attributes.index(column.name)
    mapping = recoding.mapping[column.name]
    index = {label: code for code, label in enumerate(recoding.labels[j])}
    unknown = next((text for text in mapping.values() if text not in index), None)
    if unknown is not None:
        raise misfit(
            msg(
                "the released value `{unknown}` of `{name}` has no label",
                unknown=unknown,
                name=column.name,
            )
        )
    ordered = sorted(set(mapping.values()))
    ranks = {label: rank for rank, label in enumerate(ordered)}
    if column.domain is None:
        rank = _joined(statement, column, j, mapping, index, ranks)
    else:
        absent = next((value for value in column.domain if value not in mapping), None)
        if absent is not None:
            raise misfit(
                msg(
                    "the value `{absent}` of `{name}` is not recoded",
                    absent=absent,
                    name=column.name,
                )
            )
        code = f"enum_code({column.sql}) + 1"
        if len(recoding.suppressed):  # the database refuses a list that no one asks for
            code = f"enum_code({column.sql}) + 1"
        rank = ""
        if len(recoding.suppressed):
            codes = statement.list_of([index[mapping[value]] for value in column.domain])
            statement.label_codes[column.name] = f"list_extract({codes}, {code})"
        if is_released:
            places = statement.list_of([ranks[mapping[value]] for value in column.domain])
            rank = f"list_extract({places}, {code})"
    if is_released:
        fields = statement.list_of([csv_field(label) for label in ordered])
        name = f"r{len(statement.released)}"
        statement.released.append(_Released(rank, f"list_extract({fields}, {name} + 1)"))


_NUMBERED = "numbered"
_ENTRIES = "entries"
_LEFT_OUT = "left_out"


def _join_tuples(statement: _Statement, columns: Sequence[Column], recoding: TupleRecoding) -> None:
    """Find for each row the entry of its tuple, and among several the one for its place.

    Rows of entries that are left out find none.
    """
    import pyarrow

    by_name = {column.name: column for column in columns}
    keys: dict[str, pyarrow.Array] = {}
    conditions = []
    for place, name in enumerate(recoding.attributes):
        column, codes = by_name[name], recoding.codes[:, place]
        keys[f"t{place}"], value = _key_of(column, recoding.domains[place], codes)
        conditions.append(f"{_ENTRIES}.t{place} = {value}")
    bounds = np.concatenate([[0], np.cumsum(recoding.rows)])
    first = np.searchsorted(recoding.source, recoding.source, side="left")
    low = bounds[:-1] - bounds[first]
    kept = recoding.target >= 0
    table = {key: value.take(pyarrow.array(recoding.source[kept])) for key, value in keys.items()}
    for place in range(len(recoding.attributes)):
        ranks = _ranks(recoding.labels[place])[recoding.targets[recoding.target[kept], place]]
        table[f"o{place}"] = pyarrow.array(ranks, pyarrow.int32())
    split = len(recoding.source) != len(np.unique(recoding.source))
    if split:
        table["low"] = pyarrow.array(low[kept], pyarrow.int64())
        table["high"] = pyarrow.array((low + recoding.rows)[kept], pyarrow.int64())
        listed = ", ".join(by_name[name].sql for name in recoding.attributes)
        statement.origin = (
            f"(SELECT *, row_number() OVER (PARTITION BY {listed} ORDER BY rowid) - 1 "
            f"AS {_NUMBERED} FROM {DATA}) AS {DATA}"
        )
        conditions += [f"{_NUMBERED} >= {_ENTRIES}.low", f"{_NUMBERED} < {_ENTRIES}.high"]
    statement.tables[_ENTRIES] = pyarrow.table(table)
    statement.joins.append(f"JOIN {_ENTRIES} ON {' AND '.join(conditions)}")


def _key_of(
    column: Column, domain: Sequence[str], codes: NDArray[np.int32]
) -> tuple[pyarrow.Array, str]:
    """The values of a column of tuples as they are compared, and the same of rows in SQL."""
    import pyarrow

    if column.domain is None:
        values = pyarrow.array(list(domain), pyarrow.string())
        return values.take(pyarrow.array(codes)), f"{DATA}.{column.sql}"
    index = {value: code for code, value in enumerate(column.domain)}
    unknown = next((value for value in domain if value not in index), None)
    if unknown is not None:
        raise misfit(
            msg("`{name}` does not have the value `{unknown}`", name=column.name, unknown=unknown)
        )
    own = np.array([index[value] for value in domain], np.int32)[codes]
    return pyarrow.array(own, pyarrow.int32()), f"enum_code({DATA}.{column.sql})::INTEGER"


def _ranks(labels: Sequence[str]) -> NDArray[np.int32]:
    """The place of each label among all by code point; equal ones have the same."""
    places = {label: rank for rank, label in enumerate(sorted(set(labels)))}
    return np.array([places[label] for label in labels], np.int32)


def _recode_together(statement: _Statement, column: Column, recoding: TupleRecoding) -> None:
    """Add a released column whose text the entry of a row says."""
    place = recoding.attributes.index(column.name)
    ordered = sorted(set(recoding.labels[place]))
    fields = statement.list_of([csv_field(label) for label in ordered])
    name = f"r{len(statement.released)}"
    rank = f"{_ENTRIES}.o{place}"
    statement.released.append(_Released(rank, f"list_extract({fields}, {name} + 1)"))


def _joined(
    statement: _Statement,
    column: Column,
    j: int,
    mapping: Mapping[str, str],
    index: Mapping[str, int],
    ranks: Mapping[str, int],
) -> str:
    """Recode a text column through a join; its rank in SQL."""
    import pyarrow

    name = f"m{j}"
    statement.tables[name] = pyarrow.table(
        {
            "v": pyarrow.array(list(mapping), pyarrow.string()),
            "code": pyarrow.array([index[text] for text in mapping.values()], pyarrow.int32()),
            "place": pyarrow.array([ranks[text] for text in mapping.values()], pyarrow.int32()),
        }
    )
    statement.joins.append(f"JOIN {name} ON {name}.v = {DATA}.{column.sql}")
    statement.label_codes[column.name] = f"{name}.code"
    return f"{name}.place"


def _replace(statement: _Statement, column: Column, replacement: Replacement) -> None:
    """Add a column whose values are replaced by texts that need no quotes."""
    name, place = f"p{len(statement.joins)}", f"r{len(statement.released)}"
    statement.tables[name] = replacement.table
    statement.joins.append(f"JOIN {name} ON {name}.v = {DATA}.{column.sql}::VARCHAR")
    statement.released.append(_Released(f"{name}.p", place))


def _keep(statement: _Statement, column: Column) -> None:
    """Add a column that is released as it is."""
    name = f"r{len(statement.released)}"
    if column.domain is None:
        quoted = f"""'"' || replace({name}, '"', '""') || '"'"""
        special = f"regexp_matches({name}, '[\",\\r\\n]')"
        rank, text = column.sql, f"CASE WHEN {special} THEN {quoted} ELSE {name} END"
    else:
        fields = statement.list_of([csv_field(value) for value in column.domain])
        rank = f"enum_code({column.sql})::INTEGER"
        text = f"list_extract({fields}, {name} + 1)"
    statement.released.append(_Released(rank, text))


def _left_out(statement: _Statement, columns: Sequence[Column], recoding: AnyRecoding) -> str:
    """The text in SQL of the column of which rows with some values leave; empty where none do."""
    import pyarrow

    name, values = recoding.left_out if isinstance(recoding, Recoding) else ("", ())
    if not values:
        return ""
    statement.tables[_LEFT_OUT] = pyarrow.table({"v": pyarrow.array(values, pyarrow.string())})
    column = next(each for each in columns if each.name == name)
    return f"{DATA}.{column.sql}::VARCHAR"


def _sql(statement: _Statement, recoding: AnyRecoding, left_out: str) -> str:
    """The statement that gives the lines in their order."""
    names = [f"r{j}" for j in range(len(statement.released))]
    inner = ", ".join(
        f"{item.rank} AS {name}" for name, item in zip(names, statement.released, strict=True)
    )
    tests = []
    if isinstance(recoding, Recoding) and len(recoding.suppressed):
        tests.append(f"(SELECT 1 FROM suppressed WHERE {_same(statement, recoding)})")
    if left_out:
        tests.append(f"(SELECT 1 FROM {_LEFT_OUT} WHERE {_LEFT_OUT}.v = {left_out})")
    where = f"WHERE {' AND '.join(f'NOT EXISTS {test}' for test in tests)}" if tests else ""
    order = f"ORDER BY {', '.join(names)}" if names else ""
    rows = f"SELECT {inner} FROM {statement.origin} {' '.join(statement.joins)} {where} {order}"
    return _lines_of([item.field for item in statement.released], rows)


def _lines_of(fields: Sequence[str], rows: str) -> str:
    """SQL that gives a line for each row: its fields joined by commas, and the line end.

    All are joined at once, since each ``||`` copies what stands before it; in groups, since wide
    expressions have a limit. No line (NULL) where a field is NULL, which the functions would skip.
    """
    names = [f"f{j}" for j in range(len(fields))]
    groups = [names[at : at + _GROUP] for at in range(0, len(names), _GROUP)]
    line = _applied("concat_ws", [_applied("concat_ws", group, "','") for group in groups], "','")
    absent = [_applied("greatest", [f"{name} IS NULL" for name in group]) for group in groups]
    if len(names) == 1:
        line = f"CASE WHEN {line} = '' THEN '\"\"' ELSE {line} END"
    listed = ", ".join(f"{text} AS {name}" for text, name in zip(fields, names, strict=True))
    return (
        f"SELECT CASE WHEN NOT {_applied('greatest', absent)} THEN concat({line}, chr(10)) END "
        f"AS line FROM (SELECT {listed} FROM ({rows}))"
    )


def _applied(function: str, given: Sequence[str], *first: str) -> str:
    return f"{function}({', '.join([*first, *given])})"


def _same(statement: _Statement, recoding: Recoding) -> str:
    import pyarrow

    suppressed = np.ascontiguousarray(recoding.suppressed, dtype=np.int32)
    statement.tables["suppressed"] = pyarrow.table(
        {f"s{j}": suppressed[:, j] for j in range(suppressed.shape[1])}
    )
    return " AND ".join(
        f"suppressed.s{j} = {statement.label_codes[name]}"
        for j, name in enumerate(recoding.attributes)
    )


@dataclass(frozen=True, eq=False)
class _Lines:
    """Different lines, one after the other from ``offsets`` on, and how often each is written."""

    offsets: NDArray[np.int64]
    data: NDArray[np.uint8]
    times: NDArray[np.int64]

    def pieces(self) -> Iterator[tuple[memoryview, int]]:
        """The bytes of the file with how many lines they are."""
        from dpdesk.io.line_kernels import repeat_lines

        longest = int(np.diff(self.offsets).max(initial=1))
        buffer = np.empty(max(_PIECE, longest), np.uint8)
        state = np.zeros(3, np.int64)  # line, how often it was written, lines written
        while state[0] < len(self.times):
            before = int(state[2])
            filled = repeat_lines(self.offsets, self.data, self.times, state, buffer)
            yield buffer[:filled].data, int(state[2]) - before


def _counted_lines(
    con: DuckDBPyConnection,
    columns: Sequence[Column],
    released: Sequence[Column],
    rows: int,
    recoding: Recoding,
    known: FrequencyTable | None,
    place: Path,
    token: CancelToken,
) -> _Lines | None:
    """The lines in their order, made once for all rows that are alike; None where few are."""
    from dpdesk.io.counting import few_tuples

    needed = [column for column in columns if column in released]
    needed += [column for column in columns if column.name in recoding.attributes]
    needed = list(dict.fromkeys(needed))
    tuples = few_tuples(con, needed, rows, place, token, known)
    if tuples is None:
        return None
    codes, counts = tuples
    texts = [_released_texts(column, recoding) for column in needed]
    kept = _kept(recoding, needed, codes, texts)
    shown = [sorted(set(values)) for values in texts[: len(released)]]
    ranks = [
        _ranks(values)[codes[kept, position]].astype(np.int64)
        for position, values in enumerate(texts[: len(released)])
    ]
    key = _packed(ranks, [len(values) for values in shown])
    if key is None:
        return None
    order = np.argsort(key, kind="stable")
    starts = np.flatnonzero(np.diff(key[order], prepend=-1))
    times = np.add.reduceat(counts[kept][order], starts) if len(order) else counts[:0]
    first = order[starts]
    return _Lines(*_joined_fields(shown, [column[first] for column in ranks]), times)


def _released_texts(column: Column, recoding: Recoding) -> Sequence[str]:
    """What becomes of each value of a coded column."""
    domain, mapping = column.domain or (), recoding.mapping.get(column.name)
    return domain if mapping is None else [mapping[value] for value in domain]


def _kept(
    recoding: Recoding,
    columns: Sequence[Column],
    codes: NDArray[np.int32],
    texts: Sequence[Sequence[str]],
) -> NDArray[np.bool_]:
    """Which tuples of values are released."""
    if not len(recoding.suppressed):
        return np.ones(len(codes), np.bool_)
    places = [[column.name for column in columns].index(name) for name in recoding.attributes]
    labels = []
    for place, names in zip(places, recoding.labels, strict=True):
        index = {label: code for code, label in enumerate(names)}
        labels.append(np.array([index[text] for text in texts[place]], np.int32)[codes[:, place]])
    both = np.concatenate([np.column_stack(labels), recoding.suppressed.astype(np.int32)])
    key = _packed(both.T.astype(np.int64), [len(names) for names in recoding.labels])
    if key is None:
        key = np.unique(both, axis=0, return_inverse=True)[1].reshape(-1)
    return ~np.isin(key[: len(codes)], key[len(codes) :])


def _packed(
    columns: Sequence[NDArray[np.int64]] | NDArray[np.int64], sizes: Sequence[int]
) -> NDArray[np.int64] | None:
    """One number for the codes of each row, in the order of the rows; None where none is enough."""
    if prod(sizes) >= 1 << 63:
        return None
    key = np.zeros(len(columns[0]), np.int64)
    for column, size in zip(columns, sizes, strict=True):
        key = key * size + column
    return key


def _joined_fields(
    shown: Sequence[Sequence[str]], codes: Sequence[NDArray[np.int64]]
) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Where each line of the texts that ``codes`` index begins, and the bytes of all."""
    from dpdesk.io.line_kernels import add_lengths, put_byte, put_fields

    lengths = np.full(len(codes[0]), len(codes), np.int64)  # commas and the line end
    fields = [[csv_field(text).encode() for text in texts] for texts in shown]
    if len(codes) == 1:
        fields = [[text or b'""' for text in fields[0]]]  # an empty line would be no row
    begins = [np.cumsum([0, *map(len, each)], dtype=np.int64) for each in fields]
    for column, offsets in zip(codes, begins, strict=True):
        add_lengths(column, offsets, lengths)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    ends, buffer = offsets[:-1].copy(), np.empty(int(offsets[-1]), np.uint8)
    for place, (column, each, start) in enumerate(zip(codes, fields, begins, strict=True)):
        if place:
            put_byte(_COMMA, ends, buffer)
        put_fields(column, start, np.frombuffer(b"".join(each) or b"\0", np.uint8), ends, buffer)
    put_byte(_LINE_END, ends, buffer)
    return offsets, buffer


def _write(
    pieces: Iterable[tuple[memoryview, int]],
    header: str,
    path: Path,
    expected: int,
    token: CancelToken,
    report: Report,
) -> int:
    """Write header and lines; the number of lines. A failure removes the file."""
    written = 0
    try:
        with path.open("xb") as out:
            out.write(header.encode("utf-8"))
            for lines, count in pieces:
                token.check()
                out.write(lines)
                written += count
                report(StepProgress(WRITE, written, expected, "rows"))
    except OSError as problem:
        path.unlink(missing_ok=True)
        token.check()  # Arrow calls a query that a cancel interrupts an error of the disk
        raise storage_error(problem, path, "write") from problem
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return written


def _bytes_of(lines: pyarrow.Array) -> memoryview:
    """The text buffer of an Arrow string array: all its lines, one after the other."""
    import pyarrow

    width = np.int64 if pyarrow.types.is_large_string(lines.type) else np.int32
    _, offsets, data = lines.buffers()
    if lines.null_count:
        raise misfit("a released value has no text")
    bounds = np.frombuffer(offsets, dtype=width)[lines.offset : lines.offset + len(lines) + 1]
    if len(lines) == 0 or data is None:
        return memoryview(b"")
    return memoryview(data)[int(bounds[0]) : int(bounds[-1])]


def misfit(what: str) -> InputError:
    """The error that a recoding does not fit the data: a fault of the program."""
    return InputError(
        "recoding.misfit",
        msg("The protected table does not fit the data: {what}; nothing was written.", what=what),
        hint="This is an error in the program; please report it.",
    )
