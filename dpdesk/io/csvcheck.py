"""A delimited text walked to its end by the scan, and what the scan settles: encoding, escape, end.

The head of a file may be read in two ways of which only one is right further down. What the scan of
the whole text finds has the last word; where two readings remain and differ, the plan must say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.messages import msg
from dpdesk.core.source_spec import NULS, UNEVEN
from dpdesk.io import faults
from dpdesk.io.csvload import CHECK, write_file
from dpdesk.io.remedies import Again, Remedy, remedy, second_delimiter
from dpdesk.io.scan import ENCODING, NONE, SHORT, ScanResult, scan
from dpdesk.io.sniff import BACKSLASH, Dialect, with_encoding, with_escape
from dpdesk.io.source import Digest, FilePrint, Stretch, byte_chunks, text_of
from dpdesk.io.transcode import decoded, guess_legacy, high_words, is_utf8
from dpdesk.io.workspace import Workspace

if TYPE_CHECKING:
    from dpdesk.io.collecting import Values

_LARGE = 8 << 20
"""Bytes of a text from which on collecting its values costs less than reading them again."""
_LOST = "\ufffd".encode()
"""What replaces a NUL, as it does other characters that were lost."""
_MOST_WIDENED, _MOST_TIMES = 1000, 4
"""So many fields, or times those of the first line, an uneven line may have."""
_ONE_BYTE = ("cp1252", "iso8859-15", "iso8859-1")
"""Encodings to name for a text that no other reads; the last one reads every byte."""


@dataclass(frozen=True)
class Checked:
    """A text that was scanned to its end; ``text`` is its UTF-8 form, which the scan walked.

    ``left_out`` lines at its end, from line ``left_line`` on, are not part of it.
    """

    dialect: Dialect
    result: ScanResult
    text: Stretch
    print: FilePrint
    ctrl_z: bool
    left_out: int = 0
    left_line: int = 0
    notes_below: bool = False
    values: Values | None = field(default=None, repr=False)


def check_text(
    path: Path,
    dialect: Dialect,
    workspace: Workspace,
    token: CancelToken,
    report: Report,
    temporary: list[Path],
    collecting: bool = False,
) -> Checked:
    """Scan a text, in UTF-8 where it is written otherwise (a copy, which ``temporary`` names).

    The result may hold a fault; see :func:`faultless`. With ``collecting`` it has the values of a
    large text.
    """
    digest = Digest()
    text = text_of(path, dialect.start, dialect.encoding)
    ctrl_z = text.stop is not None
    chunks = byte_chunks(text, token, report, CHECK, digest)
    if dialect.encoding != "utf-8" or NULS in dialect.allow:
        copy = workspace.new_path(".txt")
        temporary.append(copy)
        try:
            write_file(_in_utf8(chunks, path, dialect), copy)
        except InputError as problem:
            raise _with_encoding_named(path, dialect, problem, token, report) from None
        text = Stretch(copy)
        chunks = byte_chunks(text, token, report, CHECK)
    values = _values_of(text, dialect) if collecting else None
    result = scan_as(chunks if values is None else values.watched(chunks), dialect)
    result = _widened(result, dialect, lambda: byte_chunks(text, token, report, CHECK))
    if result.fault == ENCODING and dialect.guessed:
        dialect = _legacy(path, dialect, result, token, report)
        return check_text(path, dialect, workspace, token, report, temporary, collecting)
    if result.fault != NONE:  # the digest is of all bytes
        for _ in chunks:
            pass
    return Checked(dialect, result, text, digest.found(), ctrl_z, values=values)


def _values_of(text: Stretch, dialect: Dialect) -> Values | None:
    """What collects the values of a text that is large enough for it."""
    from dpdesk.io.coding import MOST_CODED_COLUMNS
    from dpdesk.io.formats.coded import MOST_VALUES

    width = len(dialect.head[0].fields) if dialect.head else 0
    plain = dialect.quote in ("", '"') and not dialect.escape
    if not plain or not 0 < width <= MOST_CODED_COLUMNS:
        return None
    size = text.path.stat().st_size
    if size < _LARGE:
        return None
    from dpdesk.io.collecting import Values

    headers = 1 if dialect.header else 0
    return Values(dialect.delimiter, width, headers, MOST_VALUES, size)


def _in_utf8(chunks: Iterator[bytes], path: Path, dialect: Dialect) -> Iterator[bytes]:
    """The text in UTF-8, without the NUL characters that a plan allows."""
    if dialect.encoding != "utf-8":
        chunks = decoded(chunks, dialect.encoding, path.name, dialect.first_line)
    if NULS in dialect.allow:
        chunks = (chunk.replace(b"\0", _LOST) for chunk in chunks)
    return chunks


def _with_encoding_named(
    path: Path,
    dialect: Dialect,
    problem: InputError,
    token: CancelToken,
    report: Report,
    likely: str = "cp1252",
) -> InputError:
    """The same refusal with an encoding that reads all of the text as its hint."""
    for name in dict.fromkeys((likely, *_ONE_BYTE)):
        tried = replace(dialect, encoding=name, guessed=False)
        text = text_of(path, dialect.start, name)
        try:
            chunks = _in_utf8(byte_chunks(text, token, report, CHECK), path, tried)
            found = scan_as(chunks, tried)
        except InputError:
            continue
        if found.fault == NONE and found.records > 1:
            return faults.with_remedy(problem, Remedy((("encoding", name),), found.fields))
    return problem


def _widened(
    result: ScanResult, dialect: Dialect, chunks: Callable[[], Iterator[bytes]]
) -> ScanResult:
    """The scan of an uneven text once more, with the number of fields of its longest record."""
    if not result.long_records or result.fault != NONE:
        return result
    if result.widest > max(_MOST_WIDENED, _MOST_TIMES * result.fields):
        even = replace(dialect, allow=())
        return scan_as(chunks(), even)
    wide = scan_as(chunks(), dialect, result.widest)
    return replace(
        wide,
        short_records=result.short_records,
        short_line=result.short_line,
        long_records=result.long_records,
        long_line=result.long_line,
    )


def scan_as(chunks: Iterator[bytes], dialect: Dialect, width: int = 0) -> ScanResult:
    """Scan a text as a dialect says."""
    return scan(
        chunks,
        dialect.delimiter,
        dialect.quote,
        dialect.first_line,
        dialect.header,
        dialect.escape,
        width,
        UNEVEN in dialect.allow,
    )


def faultless(path: Path, checked: Checked, token: CancelToken, report: Report) -> Checked:
    """The text in the one way in which it can be read.

    Raises InputError for the fault that the scan found, with an option that helps where there is
    one, or ``csv.ambiguous-escape`` where a backslash may protect quotes or not.
    """

    def again(dialect: Dialect, text: Stretch = checked.text, width: int = 0) -> ScanResult:
        def chunks() -> Iterator[bytes]:
            if (dialect.encoding, NULS in dialect.allow) == written:
                return byte_chunks(text, token, report, CHECK)
            whole = text_of(path, dialect.start, dialect.encoding)
            return _in_utf8(byte_chunks(whole, token, report, CHECK), path, dialect)

        try:
            found = scan_as(chunks(), dialect, width)
            if found.fault == ENCODING and dialect.guessed:
                rest = Stretch(path, dialect.start)
                guess = guess_legacy(high_words(byte_chunks(rest, token, report, CHECK)))
                return again(replace(dialect, encoding=guess.encoding, guessed=False))
            return found if width else _widened(found, dialect, chunks)
        except InputError:
            return replace(checked.result, fault=ENCODING)

    written = (checked.dialect.encoding, NULS in checked.dialect.allow)
    checked = _with_settled_escape(path, checked, again)
    dialect, result = checked.dialect, checked.result
    named = named_width(dialect)
    if (result.fault == SHORT or result.tail) and 1 < named <= result.found < result.fields:
        narrow = again(dialect, width=named)
        if narrow.fault == NONE and not narrow.tail:
            return replace(checked, result=narrow)
    if other := second_delimiter(dialect, result, again):
        raise faults.two_delimiters(path.name, dialect, result, other)
    if result.fault != NONE:
        raise faults.fault_error(path.name, dialect, result, remedy(dialect, result, again))
    if not result.tail:
        return checked
    text = checked.text.first(result.tail_start)
    return replace(
        checked,
        result=again(dialect, text),
        text=text,
        left_out=result.tail,
        left_line=result.tail_line,
        notes_below=result.tail_notes,
    )


def named_width(dialect: Dialect) -> int:
    """The number of columns up to the last one that the header names; 0 without a header."""
    names = dialect.head[0].fields if dialect.header and dialect.head else ()
    return max((j + 1 for j, text in enumerate(names) if text.strip()), default=0)


def _with_settled_escape(path: Path, checked: Checked, again: Again) -> Checked:
    dialect, result = checked.dialect, checked.result
    if dialect.settled or not dialect.quote or not result.protected:
        return checked
    escape = "" if dialect.escape else BACKSLASH
    other = again(replace(dialect, escape=escape))
    if _rank(other) > _rank(result):
        settled = with_escape(path, dialect, escape, "")
        checked = replace(checked, dialect=settled, result=other)
    elif _rank(other) == _rank(result) > 0:
        raise _ambiguous_escape(path.name, dialect)
    if not checked.dialect.escape:
        return checked
    notes = (*checked.dialect.notes, _ESCAPED)
    return replace(checked, dialect=replace(checked.dialect, notes=notes))


_ESCAPED = (
    'A backslash protects the quote after it and was removed; write `escape = ""` under [source] '
    "if it is part of the value."
)


def _rank(result: ScanResult) -> int:
    """How well a text can be read: without a fault or doubt, with quotes not doubled, not."""
    if result.fault != NONE:
        return 0
    return 1 if result.loose or result.tail else 2


def _ambiguous_escape(name: str, dialect: Dialect) -> InputError:
    return InputError(
        "csv.ambiguous-escape",
        msg(
            "{name}, line {line}: a backslash comes before quotes ({quote}), and the text can "
            "be read with it as a part of values or as an escape character.",
            name=name,
            line=dialect.first_line,
            quote=dialect.quote,
        ),
        hint='Write `escape = "\\\\"` or `escape = ""` under [source].',
        details={"line": dialect.first_line},
    )


def _legacy(
    path: Path, dialect: Dialect, result: ScanResult, token: CancelToken, report: Report
) -> Dialect:
    """The dialect in the likeliest 8-bit encoding; InputError for a mixture of encodings."""
    rest = Stretch(path, dialect.start)
    words = list(high_words(byte_chunks(rest, token, report, CHECK)))
    guess = guess_legacy(words)
    if result.multibyte > 0 or guess.utf8_words > 0:
        mixed = faults.mixed_encodings(path.name, dialect, result)
        guess = guess_legacy(word for word in words if not is_utf8(word))
        error = _with_encoding_named(path, dialect, mixed, token, report, guess.encoding)
        raise faults.two_encodings(error)
    if not guess.likely:
        raise faults.unclear_encoding(path.name, guess, result.line)
    note = msg(
        "Line {line} is not UTF-8; the file was read as {encoding}, a guess (`{example}`); "
        "name the `encoding` if letters look wrong.",
        line=result.line,
        encoding=guess.encoding,
        example=guess.example,
    )
    return with_encoding(path, dialect, guess.encoding, note)
