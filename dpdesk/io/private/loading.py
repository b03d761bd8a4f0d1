"""From a source of a private method to a table of texts in the database.

How it is read stands in the plan. What is found in a row is told of nowhere but in the counts of
unreadable lines and values, which stay in the agency.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from os import cpu_count
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, Report, StepStarted
from dpdesk.core.labels import NO_BOOK, Codebook
from dpdesk.core.messages import msg
from dpdesk.core.plan import SourceSpec
from dpdesk.core.schema import form
from dpdesk.core.source_spec import KEEP, REPEATED
from dpdesk.io.csvload import CHECK, LOAD, RAW, STEPS, Loaded, Source, distinct_names
from dpdesk.io.database import literal, query
from dpdesk.io.declared import unknown_type
from dpdesk.io.emptyrows import blank_sql
from dpdesk.io.formats.argus import ArgusColumn
from dpdesk.io.formats.columns import check_names
from dpdesk.io.formats.fixedwidth import described_columns
from dpdesk.io.formats.loading import request_for
from dpdesk.io.formats.table import Notes
from dpdesk.io.private.coded import lost_codes
from dpdesk.io.private.held_lines import MOST_COLUMNS, HeldLines
from dpdesk.io.private.lines import (
    FILLED,
    SEPARATOR,
    Grammar,
    NumberedTexts,
    SplitLines,
    TextLines,
    fields_of,
    line_codec,
)
from dpdesk.io.private.values import UNREADABLE, typed_sql
from dpdesk.io.reading import Reading, format_of

if TYPE_CHECKING:
    import pyarrow
    from duckdb import DuckDBPyConnection

    from dpdesk.io.coded_rows import CodedRows

_FULL = "rows_with_values"
_MOST_THREADS = 4
"""Blocks of lines that are split at once: each takes some memory."""
_AT_ONCE = 16 << 20
"""Bytes of lines that one statement takes: a statement has a price of its own."""


@dataclass(frozen=True)
class RequestedColumns:
    """Columns that the plan declares: their names, types, and places among all of the source."""

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    places: tuple[int, ...]


def load_private(
    source: Source,
    token: CancelToken,
    report: Report,
    drawn: Collection[str] = (),
    *,
    held: bool = False,
) -> Loaded:
    """Load the declared columns of a source into the table ``raw``.

    With ``held`` rows of few values may be held as codes instead.

    ``spec`` names all that :mod:`dpdesk.core.source_spec` asks for. Where rows are released with
    other values of the columns ``drawn``, the other columns alone tell whether a row is one.

    Raises InputError for what the head of the source gets wrong (no such column, a name twice, no
    workbook; ``source.drawn`` where no column but ``drawn`` is there), StorageError, Cancelled;
    nothing for what stands in a row.
    """
    spec, path = source.spec, source.path
    _refuse_leave(spec, path.name, format_of(spec, path), drawn)
    if not drawn:
        return _loaded(source, token, report, held)
    kept = replace(source, spec=replace(spec, empty_rows=KEEP))
    loaded = _loaded(kept, token, report, held=False)
    return _told_by_others(source.con, path, loaded, drawn, token)


def _loaded(source: Source, token: CancelToken, report: Report, held: bool) -> Loaded:
    report(StepStarted(CHECK, 1, STEPS))
    file_format = format_of(source.spec, source.path)
    if file_format == "csv":
        return _load_text(source, token, report, held)
    if file_format == "fixed":
        return load_fixed(source, token, report)
    if file_format == "baskets":
        from dpdesk.io.baskets import load_baskets

        return load_baskets(source, token, report, private=True, held=held)
    from dpdesk.io.private.foreign import load_typed

    return load_typed(source, token, report, held)


def _told_by_others(
    con: DuckDBPyConnection, path: Path, loaded: Loaded, drawn: Collection[str], token: CancelToken
) -> Loaded:
    """Leave out the rows that hold no value in any other column than ``drawn``.

    A row that is left out because these are empty as well would tell that they are.
    """
    if all(form(name) in drawn for name in loaded.columns or loaded.names):
        raise InputError(
            "source.drawn",
            msg(
                "{name}: the values of all columns are drawn, expected one more column.",
                name=path.name,
            ),
            hint="Add a column such as the number of each row: a row without any value does not "
            "count, which would reveal what its person holds.",
        )
    others = [f"c{j}" for j, name in enumerate(loaded.names) if form(name) not in drawn]
    filled = " OR ".join(f"NOT {blank_sql(column)}" for column in others) or "true"
    with query(con, token, path) as cursor:
        cursor.execute(f"CREATE TABLE {_FULL} AS SELECT * FROM {RAW} WHERE {filled}")
        cursor.execute(f"DROP TABLE {RAW}")
        cursor.execute(f"ALTER TABLE {_FULL} RENAME TO {RAW}")
        rows = cursor.execute(f"SELECT count(*) FROM {RAW}").fetchone()
    return replace(loaded, rows=int(rows[0]) if rows else 0)


def _refuse_leave(
    spec: SourceSpec, source: str, file_format: str, drawn: Collection[str] = ()
) -> None:
    """Refuse what ``allow`` lists of rows, since each line is read by itself here.

    And empty rows of sheets, for how many there are between others is what the number of one row
    says, and those of SAS transport files, which look like what fills these up behind the last row
    (:mod:`dpdesk.io.formats.private.transport`). Where values are drawn, an empty row would tell
    that these are missing.
    """
    if spec.empty_rows == KEEP and drawn:
        raise InputError(
            "source.option",
            msg(
                '{path}: `empty_rows = "keep"` does not apply where values are drawn.',
                path=source,
            ),
            hint="Remove it; there, a row counts when a column whose values are not drawn holds a "
            "value.",
            details={"key": "empty_rows"},
        )
    if spec.empty_rows == KEEP and file_format == "xlsx":
        raise InputError(
            "source.option",
            msg(
                '{path}: `empty_rows = "keep"` does not apply to a sheet with a '
                "differentially private method.",
                path=source,
            ),
            hint="Remove it; there, a row without any value is not a row of the sheet.",
            details={"key": "empty_rows"},
        )
    if spec.empty_rows == KEEP and file_format == "xpt":
        raise InputError(
            "source.option",
            msg(
                '{path}: `empty_rows = "keep"` does not apply to a SAS transport file and a '
                "private method.",
                path=source,
            ),
            hint="Remove it; a row of blanks alone looks like what fills up the end of such a "
            "file.",
            details={"key": "empty_rows"},
        )
    for kind in spec.allow:
        if kind != REPEATED:
            raise InputError(
                "source.option",
                msg(
                    "{path}: `allow` lists `{kind}`, which does not apply to a "
                    "differentially private method.",
                    path=source,
                    kind=kind,
                ),
                hint="Remove it; a line that cannot be read counts as one row whose values are all "
                "unreadable.",
                details={"key": "allow"},
            )


def wanted_columns(spec: SourceSpec, names: Sequence[str], source: str) -> RequestedColumns:
    """The declared columns in the order of the source; InputError ``plan.unknown-column``."""
    fault = unknown_type(spec, names, source)
    if fault is not None:
        raise fault
    types = dict(spec.spelled_as(names).types)
    places = tuple(j for j, name in enumerate(names) if name in types)
    found = tuple(names[j] for j in places)
    return RequestedColumns(found, tuple(types[name] for name in found), places)


def _load_text(source: Source, token: CancelToken, report: Report, held: bool) -> Loaded:
    con, path, spec = source.con, source.path, source.spec
    codec = line_codec(spec.encoding or "", path.name)
    grammar = Grammar(spec.delimiter or "", spec.quote or "", spec.escape or "")
    lines = TextLines(path, codec, spec.skip or 0, token, report)
    names, width = _head(lines, grammar, spec, path.name)
    wanted = wanted_columns(spec, names, path.name)
    report(StepStarted(LOAD, 2, STEPS))
    texts = [f"f{c}" for c in range(len(wanted.names))]
    listed = typed_sql(texts, wanted.kinds, spec)
    holding = HeldLines(wanted.kinds, spec) if held and len(texts) <= MOST_COLUMNS else None
    rows, lost, coded = insert_lines(
        con, path, lines, grammar, width, wanted.places, listed, token, counted(spec), holding
    )
    reading = Reading(
        format="csv",
        delimiter=spec.delimiter or "",
        encoding=codec,
        decimal=spec.decimal or ".",
        quote=spec.quote or "",
        header=spec.header is not False,
        missing=spec.missing,
        skip=spec.skip or 0,
        escape=spec.escape or "",
    )
    given = wanted.names, rows, reading, lines.print, NO_BOOK, names
    facts: dict[str, object] = {"unreadable_lines": lost}
    if coded is not None:
        facts |= lost_codes(coded, wanted.names)
        return Loaded(*given, facts, coded=coded.domains, held=coded)
    return Loaded(*given, facts | lost_values(con, path, wanted.names, token))


def insert_lines(
    con: DuckDBPyConnection,
    path: Path,
    lines: TextLines,
    grammar: Grammar,
    width: int,
    places: Sequence[int],
    listed: str,
    token: CancelToken,
    where: str,
    holding: HeldLines | None = None,
) -> tuple[int, int, CodedRows | None]:
    """Make the table ``raw`` of lines; how many rows it has, and how many lines were unreadable.

    ``listed`` are its columns in SQL, from the fields f0, f1, … that ``places`` tells, ``where``
    is the condition of its rows. Where ``holding`` has room for all values, the filled lines are
    held as codes instead, which are the third answer.
    """
    lost = 0
    with query(con, token, path) as cursor:
        table = _Growing(cursor, listed, where, len(places))
        for split, prepared in _split(lines.split(grammar, width, places), holding):
            lost += split.lost
            if holding is not None:
                if holding.take(cursor, prepared):
                    continue
                holding.put(cursor)
            table.add(split.table())
        table.finish()
        if holding is not None:
            coded = holding.coded()
            if coded is not None:
                cursor.execute(f"DROP TABLE {RAW}")
                return coded.rows, lost, coded
            holding.put(cursor)
        counted = cursor.execute(f"SELECT count(*) FROM {RAW}").fetchone()
    return int(counted[0]) if counted else 0, lost, None


class _Growing:
    """The table ``raw``, to which lines are added, many in one statement."""

    def __init__(self, cursor: DuckDBPyConnection, listed: str, where: str, columns: int) -> None:
        self._cursor, self._selected = cursor, f"SELECT {listed} FROM block WHERE {where}"
        self._waiting: list[pyarrow.Table] = []
        self._insert(f"CREATE TABLE {RAW} AS", _no_lines(columns))

    def add(self, lines: pyarrow.Table) -> None:
        """Add lines, at once or with the next ones."""
        self._waiting.append(lines)
        if sum(each.nbytes for each in self._waiting) >= _AT_ONCE:
            self.finish()

    def finish(self) -> None:
        """Add what waits."""
        import pyarrow as pa

        if self._waiting:
            self._insert(f"INSERT INTO {RAW}", pa.concat_tables(self._waiting))
            self._waiting = []

    def _insert(self, how: str, lines: pyarrow.Table) -> None:
        self._cursor.register("block", lines)
        self._cursor.execute(f"{how} {self._selected}")
        self._cursor.unregister("block")


def _no_lines(columns: int) -> pyarrow.Table:
    import pyarrow as pa

    fields = [pa.field(f"f{c}", pa.large_string()) for c in range(columns)]
    schema = pa.schema([*fields, pa.field(FILLED, pa.bool_())])
    return pa.table([pa.array([], each.type) for each in schema], schema=schema)


def _split(
    steps: Iterator[Callable[[], SplitLines]], holding: HeldLines | None
) -> Iterator[tuple[SplitLines, list[NumberedTexts] | None]]:
    """The lines in order, which threads split ahead of who takes them."""

    def done(step: Callable[[], SplitLines]) -> tuple[SplitLines, list[NumberedTexts] | None]:
        found = step()
        return found, None if holding is None else holding.prepared(found)

    threads = min(cpu_count() or 1, _MOST_THREADS)
    ahead: deque[Future[tuple[SplitLines, list[NumberedTexts] | None]]] = deque()
    with ThreadPoolExecutor(threads, thread_name_prefix="lines") as pool:
        for step in steps:
            ahead.append(pool.submit(done, step))
            if len(ahead) > threads:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()


def counted(spec: SourceSpec, filled: str = FILLED) -> str:
    """The condition in SQL that a line is a row: ``filled``, unless the plan keeps empty rows."""
    return "true" if spec.empty_rows == KEEP else filled


def lost_values(
    con: DuckDBPyConnection, path: Path, names: Sequence[str], token: CancelToken
) -> dict[str, object]:
    """How many values of each column are unreadable: a fact that stays in the agency."""
    if not names:
        return {"unreadable_values": {}}
    counts = ", ".join(f"count(*) FILTER (c{j} = {literal(UNREADABLE)})" for j in range(len(names)))
    with query(con, token, path) as cursor:
        found = cursor.execute(f"SELECT {counts} FROM {RAW}").fetchone() or ()
    return {"unreadable_values": {name: n for name, n in zip(names, found, strict=True) if n}}


def _head(
    lines: TextLines, grammar: Grammar, spec: SourceSpec, name: str
) -> tuple[tuple[str, ...], int]:
    """The names of the columns, and how many fields a line has; InputError for a bad header."""
    if spec.header is False:
        names = tuple(f"column_{j + 1}" for j in range(len(spec.types)))
        if set(names) != {column for column, _ in spec.types}:
            raise InputError(
                "source.types",
                msg(
                    "{name}: without a header, `types` declares every column (`column_1`, "
                    "`column_2` and so on), which says how many fields a line has.",
                    name=name,
                ),
                details={"key": "types"},
            )
        return names, len(names)
    head = lines.first()
    if head is not None and SEPARATOR.fullmatch(head):
        head = lines.first()
    if head is None:
        raise InputError(
            "csv.empty",
            msg("{name}: the file is empty, expected a header line and rows.", name=name),
            details={"line": 1},
        )
    fields = fields_of(_decoded(head, spec, lines.number, name), grammar)
    if fields is None:
        raise InputError(
            "csv.quote",
            msg(
                "{name}, line {number}: the header has a quote that does not end on its line, and "
                "for a differentially private method each line is a record.",
                name=name,
                number=lines.number,
            ),
            hint='Name the right `quote` under [source], or none: `quote = ""`.',
            details={"line": lines.number},
        )
    return _names(fields, dict(spec.types), lines.number, name, spec.allow), len(fields)


def _decoded(head: bytes, spec: SourceSpec, line: int, name: str) -> str:
    try:
        return head.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(
            "encoding.undecodable",
            msg(
                "{name}, line {line}: found bytes that are not text in the encoding {encoding}.",
                name=name,
                line=line,
                encoding=spec.encoding,
            ),
            hint="Name the right `encoding` under [source].",
            details={"line": line},
        ) from None


def _names(
    fields: tuple[str, ...], types: dict[str, str], line: int, source: str, allow: Sequence[str]
) -> tuple[str, ...]:
    """The names of the columns, without last ones that have no name and are not declared."""
    names = [text or f"column_{j + 1}" for j, text in enumerate(fields)]
    while len(names) > 1 and not fields[len(names) - 1] and names[-1] not in types:
        names.pop()
    return distinct_names(fields[: len(names)], source, line, allow)


def book_of(wanted: RequestedColumns, book: Codebook) -> Codebook:
    """What the source says of the declared columns."""
    kept = frozenset(wanted.names)
    found = tuple(one for one in book.variables if one.name in kept)
    return Codebook(found) if found else NO_BOOK


_LINE = "rtrim(f0, chr(26))"


def load_fixed(source: Source, token: CancelToken, report: Report) -> Loaded:
    """Load the declared columns; see :func:`dpdesk.io.private.loading.load_private`."""
    con, path, spec = source.con, source.path, source.spec
    columns, separator = described_columns(request_for(spec, path, source.base, Path()), Notes())
    names = tuple(column.variable.name for column in columns)
    check_names(names, path.name)
    wanted = wanted_columns(spec, names, path.name)
    codec = line_codec(spec.encoding or "", path.name)
    lines = TextLines(path, codec, 0, token, report)
    report(StepStarted(LOAD, 2, STEPS))
    if separator:
        grammar, width, places = Grammar(separator[:1], '"', blanks=True), len(names), wanted.places
        texts = [f"trim(f{j})" for j in range(len(places))]
        filled = FILLED
    else:
        grammar, width, places = Grammar(), 1, (0,)
        decimals = [column.decimals for column in spec.columns] or [None] * len(columns)
        texts = [_cut(columns[j].start, columns[j].width, decimals[j]) for j in wanted.places]
        filled = _filled(columns)
    listed = typed_sql(texts, wanted.kinds, spec)
    rows, lost, _ = insert_lines(
        con, path, lines, grammar, width, places, listed, token, counted(spec, filled)
    )
    reading = Reading("fixed", encoding=codec, missing=spec.missing)
    facts = {"unreadable_lines": lost, **lost_values(con, path, wanted.names, token)}
    book = book_of(wanted, Codebook(tuple(column.variable for column in columns)))
    return Loaded(wanted.names, rows, reading, lines.print, book, names, facts)


def _filled(columns: Sequence[ArgusColumn]) -> str:
    """The condition in SQL that one of the columns of a line holds more than blanks."""
    texts = (f"substr({_LINE}, {one.start}, {one.width})" for one in columns)
    return " OR ".join(f"NOT {blank_sql(text)}" for text in texts)


def _cut(start: int, width: int, decimals: int | None) -> str:
    """SQL for the value at a place of the line; all of an unreadable line is unreadable."""
    text = f"trim(substr({_LINE}, {start}, {width}))"
    if decimals:
        text = _pointed(text, decimals)
    lost = literal(UNREADABLE)
    return f"(CASE WHEN f0 = {lost} THEN {lost} ELSE {text} END)"


def _pointed(text: str, decimals: int) -> str:
    """SQL for a number whose decimal point is not written, with its point."""
    bare = f"ltrim({text}, '+-')"
    digits = f"lpad({bare}, greatest(length({bare}), {decimals + 1})::INTEGER, '0')"
    whole = f"coalesce(nullif(ltrim(left({digits}, -{decimals}), '0'), ''), '0')"
    rest = f"rtrim(right({digits}, {decimals}), '0')"
    sign = f"CASE WHEN {text} LIKE '-%' AND {whole} || {rest} <> '0' THEN '-' ELSE '' END"
    moved = f"{sign} || {whole} || CASE WHEN {rest} = '' THEN '' ELSE '.' || {rest} END"
    return (
        f"CASE WHEN regexp_full_match({text}, '[+-]?[0-9]+') THEN {moved} "
        f"WHEN {text} = '' OR regexp_full_match({text}, "
        rf"'[+-]?([0-9]+\.[0-9]*|\.[0-9]+)') THEN {text} ELSE {literal(UNREADABLE)} END"
    )
