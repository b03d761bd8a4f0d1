"""From a delimited text file to a table of texts in the database, checked by two readers.

The scan walks the bytes and counts; DuckDB then reads with every option named and nothing left to
its own detection; rows and columns of both must agree. A text that DuckDB cannot take as it is
(another encoding, odd line ends, blank lines, …) is first rewritten in plain form in the private
folder.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, Report, StepStarted
from dpdesk.core.labels import NO_BOOK, Codebook
from dpdesk.core.messages import counted, joined, msg
from dpdesk.core.plan import SourceSpec
from dpdesk.core.source_spec import REPEATED, changes_values
from dpdesk.io import faults
from dpdesk.io.database import file_literal, literal, query
from dpdesk.io.failures import (
    LONGEST_LINE,
    check_width,
    disagreement,
    misplaced,
    private_error,
    too_long,
)
from dpdesk.io.reading import Reading
from dpdesk.io.sniff import Dialect, sniff
from dpdesk.io.source import FilePrint, byte_chunks
from dpdesk.io.workspace import Workspace, home_of

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection

    from dpdesk.io.coded_rows import CodedRows
    from dpdesk.io.csvcheck import Checked
    from dpdesk.io.scan import ScanResult

STEPS = 3
CHECK, LOAD, CODE = "Check the text", "Load the rows", "Code the columns"
RAW = "raw"
_CODES = 1_000_000
AT_ONCE = 500
"""Columns compared at once: a statement of many thousand sums takes its time to be planned."""


@dataclass(frozen=True)
class Loaded:
    """A table ``raw`` of texts in the database, columns c0, c1, …, in source order.

    ``book`` tells what the source says of its columns. For a private method, ``names`` are those
    that the plan declares, ``columns`` all of the source, and ``unreadable`` counts what could not
    be read: a fact that stays in the agency. Where ``coded`` is not empty, each column of ``raw``
    is an ENUM of the values given there (those that occur, by code point), or of texts for None.
    With ``held`` there is no such table: these are the rows.
    """

    names: tuple[str, ...]
    rows: int
    reading: Reading
    print: FilePrint
    book: Codebook = NO_BOOK
    columns: tuple[str, ...] = ()
    unreadable: Mapping[str, object] | None = None
    coded: tuple[tuple[str, ...] | None, ...] = field(default=(), repr=False)
    held: CodedRows | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Source:
    """A source on its way into a database; paths of ``spec`` start at ``base``."""

    con: DuckDBPyConnection
    path: Path
    base: Path
    spec: SourceSpec
    workspace: Workspace


def load_csv(source: Source, token: CancelToken, report: Report) -> Loaded:
    """Scan and load a text into the table ``raw``.

    Raises InputError (``csv.*``, ``encoding.*``, ``read.disagreement``) with line and column,
    StorageError, or Cancelled; nothing is left behind in any case.
    """
    from dpdesk.io.csvcheck import check_text, faultless

    con, path, spec, workspace = source.con, source.path, source.spec, source.workspace
    dialect = sniff(path, spec)
    check_width(path.name, max((len(record.fields) for record in dialect.head), default=0))
    report(StepStarted(CHECK, 1, STEPS))
    with _removed_after() as temporary:
        collecting = not changes_values(spec)
        checked = check_text(path, dialect, workspace, token, report, temporary, collecting)
        checked = faultless(path, checked, token, report)
        dialect, result = checked.dialect, checked.result
        if result.longest > LONGEST_LINE:
            raise too_long(path.name, result.longest_line)
        names, notes = column_names(dialect, path.name, result.fields)
        rows = result.records - (1 if dialect.header else 0)
        if rows == 0:
            raise faults.no_rows(path.name, result.first_line)
        report(StepStarted(LOAD, 2, STEPS))
        plain = _needs_plain_form(checked)
        if plain:
            file = _write_plain(checked, workspace, token, report)
            temporary.append(file)
        else:
            file = checked.text.path
        coded = _NOT_CODED if plain else _read_coded(con, file, checked, rows, path, token)
        if coded is _NOT_CODED:
            _read_into(con, file, checked, plain, path, token)
    _agree(con, path, rows, result, coded.weights, token)
    names, dropped = _without_empty_tail(con, path, dialect, names, token)
    notes = (*notes, *dropped)
    notes = (*dialect.notes, *notes, *_notes(checked))
    reading = _reading(spec, dialect, result, notes)
    return Loaded(names, rows, reading, checked.print, coded=coded.domains[: len(names)])


@dataclass(frozen=True)
class _Coded:
    """Which columns were coded when they were read: their values, and the weights of these.

    ``weights`` has, by column, the sums that the scan has as ``sizes`` and ``weighted``.
    """

    domains: tuple[tuple[str, ...] | None, ...] = ()
    weights: Mapping[int, tuple[int, int]] = field(default_factory=dict)


_NOT_CODED = _Coded()


@contextmanager
def _removed_after() -> Iterator[list[Path]]:
    paths: list[Path] = []
    try:
        yield paths
    finally:
        for path in paths:
            path.unlink(missing_ok=True)


def write_file(chunks: Iterator[bytes] | Iterator[memoryview], path: Path) -> None:
    """Write chunks to a new private file; StorageError (disk full) leaves nothing behind."""
    try:
        with path.open("xb") as out:
            path.chmod(0o600)
            for chunk in chunks:
                try:
                    out.write(chunk)
                except OSError as problem:
                    raise private_error(problem, home_of(path), "write in") from problem
    except OSError as problem:
        path.unlink(missing_ok=True)
        raise private_error(problem, home_of(path), "write in") from problem
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def column_names(
    dialect: Dialect, name: str, width: int | None = None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the first ``width`` columns, notes on them; InputError ``csv.duplicate-names``."""
    if not dialect.head:
        raise too_long(name, dialect.first_line)
    width = len(dialect.head[0].fields) if width is None else width
    check_width(name, width)
    if not dialect.header:
        return tuple(f"column_{j + 1}" for j in range(width)), ()
    fields = dialect.head[0].fields[:width]
    given = (*fields, *("" for _ in range(width - len(fields))))
    line = dialect.head[0].line
    names = distinct_names(given, name, line, dialect.allow)
    return names, _name_notes(given, names, line)


def distinct_names(
    given: Sequence[str], source: str, line: int, allow: Sequence[str]
) -> tuple[str, ...]:
    """Names of columns from the fields of a header; InputError ``csv.duplicate-names``.

    A column without a name is called after its place. Where ``allow`` lists repeated names, each
    but the first gets a number that makes it one of its own. Raises ``read.columns`` for too many.
    """
    check_width(source, len(given))
    names: list[str] = []
    taken = set(given)
    seen: dict[str, int] = {}
    for j, name in enumerate(given):
        text = name or f"column_{j + 1}"
        if text in seen:
            if REPEATED not in allow:
                raise faults.duplicate_name(source, line, text, (seen[text], j), allow)
            numbered = (f"{text}_{number}" for number in count(2))
            text = next(one for one in numbered if one not in taken and one not in seen)
        seen[text] = j
        names.append(text)
    return tuple(names)


def _name_notes(given: tuple[str, ...], names: tuple[str, ...], line: int) -> tuple[str, ...]:
    notes: list[str] = []
    nameless = [names[j] for j, text in enumerate(given) if not text]
    if nameless:
        notes.append(
            msg(
                "Line {n} leaves columns without a name: {columns}.",
                n=line,
                columns=_listed(nameless),
            )
        )
    repeated = [new for old, new in zip(given, names, strict=True) if old and old != new]
    if repeated:
        notes.append(
            msg(
                "Line {line} repeats names of columns; each but the first got a number: {names}.",
                line=line,
                names=_listed(repeated),
            )
        )
    if any(text != text.strip() for text in given):
        padded = [f"`{text}`" for text in given if text != text.strip()]
        notes.append(
            msg("Column names keep the spaces around them: {columns}.", columns=_listed(padded))
        )
    folded: dict[str, str] = {}
    for text in names:
        other = folded.setdefault(text.strip().casefold(), text)
        if other != text:
            notes.append(
                msg("Columns `{a}` and `{b}` differ only in case or spaces.", a=other, b=text)
            )
    return tuple(notes)


def _listed(items: list[str]) -> str:
    return ", ".join(items[:5]) + (", …" if len(items) > 5 else "")


def _needs_plain_form(checked: Checked) -> bool:
    """Whether the text must be rewritten before DuckDB may read it."""
    result, dialect = checked.result, checked.dialect
    header = dialect.head[0].fields if dialect.header else ()
    return bool(
        result.newline in ("CR", "mixed")
        or (result.newline == "CRLF" and result.quoted_ends)
        or result.blank_lines
        or result.stray_quotes
        or result.extra_records
        or result.short_records
        or result.long_records
        or result.loose
        or dialect.escape
        or result.fields == 1
        or not checked.text.is_whole
        or dialect.quote != '"'
        or any("\n" in text or "\r" in text for text in header)
    )


def _write_plain(
    checked: Checked, workspace: Workspace, token: CancelToken, report: Report
) -> Path:
    from dpdesk.io.transcode import rewritten

    target = workspace.new_path(".csv")
    chunks = byte_chunks(checked.text, token, report, LOAD)
    skip = 1 if checked.dialect.header else 0
    dialect = checked.dialect
    write_file(
        rewritten(
            chunks, dialect.delimiter, dialect.quote, checked.result.fields, skip, dialect.escape
        ),
        target,
    )
    return target


def _read_coded(
    con: DuckDBPyConnection,
    file: Path,
    checked: Checked,
    rows: int,
    source: Path,
    token: CancelToken,
) -> _Coded:
    """Read the table with columns coded by the values that the scan collected.

    There is no table where these were not collected, or are not exactly those that the database
    reads.
    """
    import pyarrow as pa

    from dpdesk.io.coding import texts
    from dpdesk.io.formats.coded import most_coded

    values = checked.values
    domains = values and values.domains(checked.result.fields, rows, most_coded(rows))
    if not domains:
        return _NOT_CODED
    kinds = [None if found is None else f"t{j}" for j, found in enumerate(domains)]
    weights: dict[int, tuple[int, int]] = {}
    try:
        with query(con, token, source) as cursor:
            for kind, found in zip(kinds, domains, strict=True):
                if found is not None:
                    cursor.register("listed", pa.table({"v": found}))
                    cursor.execute(f"CREATE TYPE {kind} AS ENUM (SELECT v FROM listed)")
                    cursor.unregister("listed")
        _read_into(con, file, checked, False, source, token, kinds)
    except InputError:  # what is wrong with the text, reading it as texts says
        return _NOT_CODED
    with query(con, token, source) as cursor:
        for j, found in enumerate(domains):
            weight = None if found is None else _weight(cursor, j, found, token)
            if weight is not None:
                weights[j] = weight
            elif found is not None:
                cursor.execute(f"DROP TABLE {RAW}")
                return _NOT_CODED
    return _Coded(tuple(None if each is None else texts(each) for each in domains), weights)


def _weight(
    cursor: DuckDBPyConnection, j: int, domain: pa.Array, token: CancelToken
) -> tuple[int, int] | None:
    """The bytes of a coded column, plain and weighted by rows; None where a value never occurs."""
    import numpy as np
    import pyarrow.compute as pc

    from dpdesk.io.collecting import weigh_codes
    from dpdesk.io.scan import WEIGHTS

    lengths = pc.binary_length(domain).to_numpy().astype(np.int64)
    sums, seen, done = np.zeros(2, np.int64), np.zeros(len(lengths), np.bool_), 0
    found = cursor.sql(f"SELECT enum_code(c{j}) AS v FROM {RAW}")
    for batch in found.to_arrow_reader(_CODES):
        token.check()
        codes = batch.column(0).to_numpy(zero_copy_only=False)
        weigh_codes(codes, lengths, done, WEIGHTS, sums, seen)
        done += len(codes)
    return (int(sums[0]), int(sums[1])) if bool(seen.all()) else None


def _read_into(
    con: DuckDBPyConnection,
    file: Path,
    checked: Checked,
    plain: bool,
    source: Path,
    token: CancelToken,
    kinds: Sequence[str | None] = (),
) -> None:
    columns = [f"c{j}" for j in range(checked.result.fields)]
    # DuckDB 2.0 reads no row when told of CR LF, so there alone it finds the line ends itself;
    # a text with line ends inside quotes, which could mislead it, comes in plain form.
    crlf = checked.result.newline == "CRLF" and not plain
    longest = max(checked.result.longest * 2 + 8 * len(columns) + 64, 1 << 21)
    options = {
        "auto_detect": "false",
        "header": "false",
        "skip": "0" if plain or not checked.dialect.header else "1",
        "delim": "','" if plain else literal(checked.dialect.delimiter),
        "quote": "'\"'",
        "escape": "'\"'",
        "encoding": "'utf-8'",
        "comment": "''",
        **({} if crlf else {"new_line": "'\\n'"}),
        "strict_mode": "true",
        "null_padding": "false",
        "ignore_errors": "false",
        "max_line_size": str(longest),
        "buffer_size": str(max(longest * 2, 32 << 20)),
        "hive_partitioning": "false",
        "parallel": "false" if checked.result.quoted_ends else "true",
        "force_not_null": "[" + ",".join(literal(c) for c in columns) + "]",
        "columns": "{" + ",".join(f"'{c}':'VARCHAR'" for c in columns) + "}",
    }
    listed = ", ".join(f"{key}={value}" for key, value in options.items())
    read = ", ".join(
        f"{c}::{kind} AS {c}" if kind else c
        for c, kind in zip(columns, kinds or [None] * len(columns), strict=True)
    )
    with query(con, token, source) as cursor:
        cursor.execute(
            f"CREATE TABLE {RAW} AS SELECT {read} FROM read_csv({file_literal(file)}, {listed})"
        )


def _agree(
    con: DuckDBPyConnection,
    path: Path,
    rows: int,
    result: ScanResult,
    known: Mapping[int, tuple[int, int]],
    token: CancelToken,
) -> None:
    """Refuse a table that is not what the scan saw: rows, columns, and the weights of each column.

    ``known`` are those of some columns. Whatever the text went through between the two, no value
    can have lost or gained a character, nor have moved to another row or column, without another
    weight.
    """
    from dpdesk.io.scan import WEIGHTS

    with query(con, token, path) as cursor:
        loaded = cursor.execute(f"SELECT count(*) FROM {RAW}").fetchone()
        width = len(cursor.execute(f"SELECT * FROM {RAW} LIMIT 0").description or ())
    if loaded is None or loaded[0] != rows:
        raise disagreement(path.name, "rows", rows, loaded[0] if loaded else 0)
    if width != result.fields:
        raise disagreement(path.name, "columns", result.fields, width)
    sums = dict(known)
    others = [j for j in range(width) if j not in sums]
    for first in range(0, len(others), AT_ONCE):
        columns = others[first : first + AT_ONCE]
        listed = ", ".join(
            f"sum(strlen(c{j})), sum(strlen(c{j}) * (rowid % {WEIGHTS} + 1))" for j in columns
        )
        with query(con, token, path) as cursor:
            found = cursor.execute(f"SELECT {listed} FROM {RAW}").fetchone() or ()
        for place, j in enumerate(columns):
            sums[j] = found[2 * place], found[2 * place + 1]
    for j in range(width):
        size, weighted = sums[j]
        if size != result.sizes[j]:
            raise disagreement(
                path.name, msg("bytes of column {j}", j=j + 1), result.sizes[j], size
            )
        if weighted % (1 << 64) != result.weighted[j]:
            raise misplaced(path.name, j + 1)


def _without_empty_tail(
    con: DuckDBPyConnection,
    path: Path,
    dialect: Dialect,
    names: tuple[str, ...],
    token: CancelToken,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Leave out last columns that have neither name nor value (lines that end in a delimiter)."""
    fields = dialect.head[0].fields if dialect.header else names
    given = (*fields, *("" for _ in range(len(names) - len(fields))))
    kept = len(names)
    with query(con, token, path) as cursor:
        while kept > 1 and not given[kept - 1]:
            some = f"SELECT 1 FROM {RAW} WHERE c{kept - 1}::VARCHAR <> '' LIMIT 1"
            if cursor.execute(some).fetchall():
                break
            kept -= 1
            cursor.execute(f"ALTER TABLE {RAW} DROP COLUMN c{kept}")
    if kept == len(names):
        return names, ()
    note = counted(
        "The last column without name and values was left out.",
        "The last {n} columns without name and values were left out.",
        n=len(names) - kept,
    )
    return names[:kept], (note,)


def _notes(checked: Checked) -> tuple[str, ...]:
    result = checked.result
    notes: list[str] = []
    if checked.dialect.marked:
        notes.append("The file starts with a byte order mark; it is not part of the first name.")
    if result.newline in ("CR", "mixed"):
        ends = {"lf": result.lf_ends, "crlf": result.crlf_ends, "cr": result.cr_ends}
        kinds = msg("{lf:,} LF, {crlf:,} CR LF, {cr:,} CR", **ends)
        notes.append(msg("Line ends are unusual ({kinds}); each of them ends a line.", kinds=kinds))
    if result.blank_lines:
        where = msg(
            ", the first below the header on line {blank_line}", blank_line=result.blank_line
        )
        notes.append(
            counted(
                "{n:,} blank line was skipped{where}; a blank line is not a row.",
                "{n:,} blank lines were skipped{where}; a blank line is not a row.",
                n=result.blank_lines,
                where=where if result.blank_line else "",
            )
        )
    if result.stray_quotes:
        notes.append(
            counted(
                "{n:,} quote mark inside unquoted values kept as found, the first on line {line}.",
                "{n:,} quote marks inside unquoted values kept as found, the first on line {line}.",
                n=result.stray_quotes,
                line=result.stray_line,
            )
        )
    if result.extra_records:
        notes.append(
            counted(
                "Surplus empty fields at the end of {n:,} line were left out, the first on line "
                "{line}.",
                "Surplus empty fields at the end of {n:,} lines were left out, the first on line "
                "{line}.",
                n=result.extra_records,
                line=result.extra_line,
            )
        )
    notes += _uneven_notes(result)
    notes += _quote_notes(result)
    if checked.left_out:
        notes.append(_left_out_note(checked))
    if checked.ctrl_z:
        notes.append(
            "What fills up the end of the file (0x1A of old programs, or NULs) was left out."
        )
    return tuple(notes)


def _uneven_notes(result: ScanResult) -> list[str]:
    notes: list[str] = []
    if result.short_records:
        notes.append(
            counted(
                "{n:,} line has fewer fields than the table; those missing at the end are empty, "
                "the first on line {line}.",
                "{n:,} lines have fewer fields than the table; those missing at the end are empty, "
                "the first on line {line}.",
                n=result.short_records,
                line=result.short_line,
            )
        )
    if result.long_records:
        notes.append(
            counted(
                "{n:,} line has more fields than the first line; they are columns of their own, "
                "the first on line {line}.",
                "{n:,} lines have more fields than the first line; they are columns of their own, "
                "the first on line {line}.",
                n=result.long_records,
                line=result.long_line,
            )
        )
    return notes


def _quote_notes(result: ScanResult) -> list[str]:
    notes: list[str] = []
    if result.loose:
        notes.append(
            counted(
                "{n:,} quote mark inside quoted values not doubled and kept as found, the first "
                "on line {line}.",
                "{n:,} quote marks inside quoted values not doubled and kept as found, the first "
                "on line {line}.",
                n=result.loose,
                line=result.loose_line,
            )
        )
    if result.rowlike:
        found = counted(
            "{n:,} row extends over several lines, each of which has the fields of a row by "
            "itself, the first from line {line}.",
            "{n:,} rows extend over several lines, each of which has the fields of a row by "
            "itself, the first from line {line}.",
            n=result.rowlike,
            line=result.rowlike_line,
        )
        way = msg('If a quote mark there encloses nothing, write `quote = ""` under [source].')
        notes.append(joined((found, way)))
    return notes


def _left_out_note(checked: Checked) -> str:
    line, count = checked.left_line, checked.left_out
    if checked.notes_below:
        if count == 1:
            return msg(
                "The last line, line {line}, has one field and was left out; it is a note "
                "below the table.",
                line=line,
            )
        return msg(
            "The last {n} lines, from line {line} on, have one field each and were left "
            "out; they are notes below the table.",
            n=count,
            line=line,
        )
    return msg(
        "The last line, line {line}, breaks off before its last field and was left out; if "
        "it is a row, complete it.",
        line=line,
    )


def _reading(
    spec: SourceSpec, dialect: Dialect, result: ScanResult, notes: tuple[str, ...]
) -> Reading:
    return Reading(
        format="csv",
        delimiter=dialect.delimiter,
        encoding=dialect.encoding,
        decimal=dialect.decimal,
        quote=dialect.quote,
        header=dialect.header,
        missing=spec.missing,
        newline=result.newline,
        skipped_lines=result.blank_lines + dialect.first_line - 1,
        skip=dialect.skip,
        escape=dialect.escape,
        notes=notes,
        missing_candidates=dialect.missing_codes,
    )
