"""The head of a source, shown before it is loaded and each time an option changes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from dpdesk.core.errors import Cancelled, DpdeskError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.plan import SourceSpec
from dpdesk.core.source_spec import KEEP, UNEVEN, queries_rows
from dpdesk.io import faults
from dpdesk.io.csvload import RAW, Loaded, column_names
from dpdesk.io.database import in_memory
from dpdesk.io.emptyrows import is_empty
from dpdesk.io.failures import check_width
from dpdesk.io.reading import PREVIEW_ROWS, Reading, SourcePreview, format_of, resolve_source
from dpdesk.io.sniff import Dialect, read_head, sniff, with_encoding, without_nul
from dpdesk.io.source import FilePrint, Stretch, begins_as_utf8, text_of
from dpdesk.io.transcode import guess_legacy, high_words

_ALL_COUNTED = "all rows are counted when the file is read."
_LEFT_OUT = (
    "Rows without any value are left out, since they are not persons; "
    'write `empty_rows = "keep"` under [source] to keep them.'
)


def preview_source(spec: SourceSpec, base: Path, token: CancelToken | None = None) -> SourcePreview:
    """How ``spec`` would be read, from the head of the file alone; raises nothing but Cancelled.

    What stands in the way is the preview's ``problem``. A fault further down in the file shows
    only when it is loaded. A query of the source is run over the first rows alone.
    """
    found = _without_empty_rows(_read(spec, base, token or CancelToken()), spec)
    if found.problem is not None or not queries_rows(spec):
        return found
    try:
        return _queried(found, spec)
    except DpdeskError as problem:
        return replace(found, problem=problem)


def _queried(found: SourcePreview, spec: SourceSpec) -> SourcePreview:
    import pyarrow

    from dpdesk.io.row_query import queried_rows

    con = in_memory()
    try:
        texts = zip(*found.rows, strict=True) if found.rows else [()] * len(found.columns)
        arrays = [pyarrow.array(column, pyarrow.string()) for column in texts]
        head = pyarrow.table(arrays, names=[f"c{j}" for j in range(len(arrays))])
        con.register("head", head)
        con.execute(f"CREATE TABLE {RAW} AS SELECT * FROM head")
        con.unregister("head")
        loaded = Loaded(found.columns, len(found.rows), found.reading, FilePrint())
        made = queried_rows(con, loaded, spec, Path(spec.name), None, CancelToken())
        rows = con.execute(f"SELECT * FROM {RAW}").fetchall()
    finally:
        con.close()
    told = msg(
        "Of the first {rows:,} rows the query makes {rows2:,}; {all_counted}",
        rows=len(found.rows),
        rows2=len(rows),
        all_counted=_ALL_COUNTED,
    )
    reading = replace(found.reading, notes=(*found.reading.notes, told))
    return SourcePreview(reading, made.names, tuple(tuple(row) for row in rows))


def _without_empty_rows(found: SourcePreview, spec: SourceSpec) -> SourcePreview:
    rows = tuple(row for row in found.rows if not is_empty(row))
    if spec.empty_rows == KEEP or len(rows) == len(found.rows):
        return found
    notes = (*found.reading.notes, _LEFT_OUT)
    return replace(found, rows=rows, reading=replace(found.reading, notes=notes))


def _read(spec: SourceSpec, base: Path, token: CancelToken) -> SourcePreview:
    try:
        path = resolve_source(spec, base)
        file_format = format_of(spec, path)
        if spec.engine is not None:
            from dpdesk.io.engines.looks import preview_engine

            return preview_engine(path, base, spec, token)
        if file_format == "parquet":
            return _parquet(path, spec)
        if file_format == "baskets":
            from dpdesk.io.baskets import preview_baskets

            return preview_baskets(path, spec)
        if file_format != "csv":
            from dpdesk.io.formats.loading import preview_foreign

            return preview_foreign(path, base, spec, token)
        dialect = _readable(path, sniff(path, spec))
        check_width(path.name, _width(dialect))
    except Cancelled:
        raise
    except DpdeskError as problem:
        unread = Reading(format_of(spec, Path(spec.path)), missing=spec.missing)
        return SourcePreview(unread, (), (), problem)
    return _text(path, spec, dialect)


def _text(path: Path, spec: SourceSpec, dialect: Dialect) -> SourcePreview:
    problem: DpdeskError | None = None
    notes: tuple[str, ...] = ()
    width = _width(dialect)
    columns = tuple(f"column_{j + 1}" for j in range(width))
    try:
        columns, notes = column_names(dialect, path.name, width)
        problem = _head_fault(path, dialect)
    except DpdeskError as found:
        problem = found
    body = dialect.head[1:] if dialect.header else dialect.head
    reading = Reading(
        format="csv",
        delimiter=dialect.delimiter,
        encoding=dialect.encoding,
        decimal=dialect.decimal,
        quote=dialect.quote,
        header=dialect.header,
        missing=spec.missing,
        skipped_lines=dialect.first_line - 1,
        skip=dialect.skip,
        escape=dialect.escape,
        notes=(*dialect.notes, *notes),
        missing_candidates=dialect.missing_codes,
    )
    rows = tuple(_filled_up(record.fields, dialect, width) for record in body[:PREVIEW_ROWS])
    return SourcePreview(reading, columns, rows, problem)


def _width(dialect: Dialect) -> int:
    widths = [len(record.fields) for record in dialect.head]
    return max(widths, default=0) if UNEVEN in dialect.allow else sum(widths[:1])


def _filled_up(fields: tuple[str, ...], dialect: Dialect, width: int) -> tuple[str, ...]:
    """The fields of a line of an uneven text, up to the number of columns."""
    return (
        (*fields, *("" for _ in range(width - len(fields)))) if UNEVEN in dialect.allow else fields
    )


def _readable(path: Path, dialect: Dialect) -> Dialect:
    """The dialect in an 8-bit encoding when the head is not UTF-8."""
    data, complete = read_head(path)
    if not dialect.guessed or begins_as_utf8(data, complete):
        return dialect
    guess = guess_legacy(high_words([data]))
    if not guess.likely:
        raise faults.unclear_encoding(path.name, guess)
    note = msg(
        "The file is not UTF-8; it is shown as {encoding}, a guess (`{example}`); name the "
        "`encoding` if letters look wrong.",
        encoding=guess.encoding,
        example=guess.example,
    )
    return with_encoding(path, dialect, guess.encoding, note)


def _head_fault(path: Path, dialect: Dialect) -> DpdeskError | None:
    """What the scan finds in the head; a record that the head's end cuts is no fault."""
    from dpdesk.io.csvcheck import named_width, scan_as
    from dpdesk.io.remedies import remedy, second_delimiter
    from dpdesk.io.scan import NONE, SHORT, UNTERMINATED, ScanResult

    def again(other: Dialect, width: int = 0) -> ScanResult:
        raw = without_nul(part.of_head(data).decode(other.encoding, "replace"), other.allow)
        text = raw.encode("utf-8")
        if not complete:
            text = text[: max(text.rfind(b"\n"), text.rfind(b"\r")) + 1]
        found = scan_as(iter([text]), other, width)
        return scan_as(iter([text]), other, found.widest) if found.long_records else found

    data, complete = read_head(path)
    part = Stretch(path, dialect.start)
    if complete:
        part = text_of(path, dialect.start, dialect.encoding)
    result = again(dialect)
    named = named_width(dialect)
    if result.fault == SHORT and 1 < named <= result.found < result.fields:
        result = again(dialect, named)
    if result.fault == NONE or (result.fault == UNTERMINATED and not complete):
        return None
    if other := second_delimiter(dialect, result, again):
        return faults.two_delimiters(path.name, dialect, result, other)
    return faults.fault_error(path.name, dialect, result, remedy(dialect, result, again))


def _parquet(path: Path, spec: SourceSpec) -> SourcePreview:
    from dpdesk.io.parquetload import first_rows

    names, rows = first_rows(path, PREVIEW_ROWS, CancelToken())
    return SourcePreview(replace(Reading("parquet"), missing=spec.missing), names, rows)
