"""How a text file is written: encoding, delimiter, quote, header, decimal mark, missing codes.

Every detection looks at the head of the file only; the scan of the whole file has the last word.
What cannot be told apart is an error or a note, never a silent choice.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.core.plain import is_blank
from dpdesk.core.plan import SourceSpec
from dpdesk.core.source_spec import NULS, missing_line
from dpdesk.io.failures import LONGEST_LINE, check_width, storage_error, too_long
from dpdesk.io.looks import datum, missing_codes
from dpdesk.io.source import begins_as_utf8, text_of
from dpdesk.io.titles import (
    continues,
    header_doubt,
    names_data,
    nothing_below,
    other_below,
    table_start,
    titles_note,
    unsure_start,
)


@dataclass(frozen=True)
class HeadRecord:
    """One non-blank record: its fields, the physical line it starts on, which were quoted."""

    fields: tuple[str, ...]
    line: int
    quoted: tuple[bool, ...]


def head_records(
    text: str,
    delimiter: str,
    quote: str,
    limit: int,
    complete: bool,
    first_line: int = 1,
    escape: str = "",
) -> Iterator[HeadRecord]:
    """Records of ``text``, up to ``limit``; blank lines are skipped.

    A record that the text's end cuts is given only when ``complete`` says that the text is whole.
    Stops silently at a fault of quoting: naming faults is the scan's work.
    """
    pattern = _field_pattern(delimiter, quote, escape)
    protected = re.compile(rf"{re.escape(escape)}([{re.escape(escape + quote + delimiter)}])")
    position, line, given, width = 0, first_line, 0, 0
    while position < len(text) and given < limit:
        found = _one_record(text, position, pattern)
        if found is None:
            return
        fields, quoted, stop, closed = found
        if not closed and not complete:
            return
        blank = not fields[0] if width == 1 else is_blank(fields[0])
        if len(fields) > 1 or quoted[0] or not blank:
            given += 1
            width = width or len(fields)
            unquoted = (
                _value(value, quote if marked else "", protected if escape else None)
                for value, marked in zip(fields, quoted, strict=True)
            )
            yield HeadRecord(tuple(unquoted), line, tuple(quoted))
        line += line_ends(text, position, stop)
        position = stop


def _value(text: str, quote: str, protected: re.Pattern[str] | None) -> str:
    """The value of a field: doubled quotes are one, and what an escape protects is itself."""
    if protected is None:
        return text.replace(quote * 2, quote) if quote else text
    pieces: list[str] = []
    end = 0
    for found in protected.finditer(text):
        before = text[end : found.start()]
        pieces += [before.replace(quote * 2, quote) if quote else before, found[1]]
        end = found.end()
    rest = text[end:]
    return "".join([*pieces, rest.replace(quote * 2, quote) if quote else rest])


def _field_pattern(delimiter: str, quote: str, escape: str) -> re.Pattern[str]:
    """One field and what ends it, as :mod:`dpdesk.io.scan` reads it."""
    mark, q, e = re.escape(delimiter), re.escape(quote), re.escape(escape)
    end = rf"(?P<end>{mark}|\r\n|\n|\r|\Z)"
    plain = rf"(?P<plain>[^{mark}\r\n]*+)"
    protected = ""
    if escape:
        protected = rf"{e}[{e}{q}{mark}]|{e}|"
        plain = rf"(?P<plain>(?:{e}[{e}{q}{mark}]|[^{mark}\r\n])*+)"
    if not quote:
        return re.compile(f"(?:(?!)(?P<quoted>)|{plain}){end}")
    # A quote that is not doubled and does not end the field is one of its value, if the field
    # ends in the same line.
    loose = rf"{q}(?![{mark}\r\n]|\Z)[^{q}{e}\r\n]*+(?=[^\r\n])"
    inner = rf"[^{q}{e}]*+(?:(?:{protected}{q}{q}|{loose})[^{q}{e}]*+)*+"
    return re.compile(rf"(?:{q}(?P<quoted>{inner}){q}|(?!{q}){plain}){end}")


def _one_record(
    text: str, start: int, pattern: re.Pattern[str]
) -> tuple[list[str], list[bool], int, bool] | None:
    """Raw fields, which were quoted, where the record stops, and whether a line end closed it."""
    fields: list[str] = []
    quoted: list[bool] = []
    position = start
    while True:
        found = pattern.match(text, position)
        if found is None:
            return None
        inner = found["quoted"]
        fields.append(found["plain"] if inner is None else inner)
        quoted.append(inner is not None)
        position = found.end()
        if found["end"] in ("\r\n", "\n", "\r", ""):
            return fields, quoted, position, found["end"] != ""


def line_ends(text: str, start: int, stop: int) -> int:
    """Number of physical line ends in a stretch of text; CR LF counts as one."""
    crlf = text.count("\r\n", start, stop)
    return text.count("\n", start, stop) + text.count("\r", start, stop) - crlf


HEAD_BYTES = 1 << 20
HEAD_RECORDS = 500
DELIMITERS = (",", ";", "\t", "|", "^", "\x1f", "\x01")
_MOST_SPLIT, _NEARLY_EVEN = 200, 0.9
"""Records of the head that are split, and the share of one width that makes a delimiter likely."""
DELIMITER_NAMES = {
    ",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar", "^": "caret",
    "\x1f": "unit separator (0x1F)", "\x01": "control byte 0x01", " ": "space",
}  # fmt: skip

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_MAGIC = (
    (b"PK\x03\x04", "a ZIP archive or an Excel workbook"),
    (b"PK\x05\x06", "an empty ZIP archive"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ", "an xz archive"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    (b"7z\xbc\xaf", "a 7-Zip archive"),
    (b"%PDF", "a PDF document"),
    (b"\xd0\xcf\x11\xe0", "an old Excel or Office file"),
    (b"PAR1", "a Parquet file"),
    (b"SQLite format 3", "an SQLite database"),
    (b"$FL2", "an SPSS file"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
)
_HTML = re.compile(rb"\s*<(!doctype html|html|\?xml|table|head|body)", re.IGNORECASE)
_JSON = re.compile(rb"\s*(\{\s*\"[^\"]*\"\s*:|\[\s*[\[{])")
_PIECE = 1 << 16
_MOST_HEAD = 1 << 26
_TITLE_RECORDS = 80
BACKSLASH = "\\"
_BREAK = re.compile(r"[\r\n]")
_DECIMAL_COMMA = re.compile(r"[+-]?(\d{1,3}([.\s]\d{3})+|\d+),\d+\Z")
_DECIMAL_POINT = re.compile(r"[+-]?(\d{1,3}([,\s]\d{3})+|\d+)\.\d+([eE][+-]?\d+)?\Z")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}([.,])\d{3}\Z")


@dataclass(frozen=True)
class Dialect:
    """How a delimited text is to be read.

    ``start`` is the number of bytes before the text proper (a byte order mark, a ``sep=`` line and
    ``skip`` lines of titles), ``first_line`` the physical line that follows them; ``escape`` is
    settled when the plan names it, ``allow`` is what the plan allows; ``guessed`` says that the
    encoding was neither named nor marked. ``head`` are the first records, a header among them.
    """

    encoding: str
    guessed: bool
    delimiter: str
    quote: str
    header: bool
    decimal: str
    missing_codes: tuple[str, ...]
    head: tuple[HeadRecord, ...]
    start: int
    first_line: int
    marked: bool
    notes: tuple[str, ...]
    skip: int = 0
    escape: str = ""
    settled: bool = False
    allow: tuple[str, ...] = ()


def shown_delimiter(delimiter: str) -> str:
    """A delimiter as a sentence names it."""
    return DELIMITER_NAMES.get(delimiter, f"`{delimiter}`")


def read_head(path: Path, size: int = HEAD_BYTES) -> tuple[bytes, bool]:
    """The first bytes of a file, and whether they are all; StorageError when unreadable."""
    try:
        with path.open("rb") as file:
            data = file.read(size + 1)
    except OSError as problem:
        raise storage_error(problem, path, "read") from problem
    return data[:size], len(data) <= size


def sniff(path: Path, spec: SourceSpec) -> Dialect:
    """Detect how the text file ``path`` is written; what ``spec`` names is taken as it is.

    Raises
    ------
    InputError
        ``csv.empty``, ``csv.not-text``, ``csv.ambiguous-delimiter``, ``encoding.*``,
        ``source.option`` (an option of the plan that cannot be used).
    StorageError
        The file is missing, a folder, or may not be read.
    """
    _check_options(spec)
    (data, complete), name = read_head(path), path.name
    _refuse_other_formats(data, name)
    encoding, mark, guessed = encoding_of(data, spec.encoding, name)
    text, complete = _head_text(path, data, complete, _letters(data, encoding, guessed), mark)
    if not text.strip(" \t\r\n\x1a"):
        raise InputError(
            "csv.empty",
            msg("{name}: the file is empty, expected a header line and rows.", name=name),
            details={"line": 1},
        )
    notes: list[str] = []
    if "\ufffd" in text and encoding == "utf-8" and begins_as_utf8(data, complete):
        notes.append("Some letters had already been lost (they are stored as �).")
    if NULS in spec.allow:
        notes.append("NUL characters are read as �, like letters that were lost.")
    text = without_nul(text, spec.allow)
    text, separator = _separator_line(text, name, notes)
    given = _Given(spec, separator, complete, name, path)
    first_line = 2 if separator else 1
    marks = _marks(text, given, notes)
    skip = spec.skip
    if skip is None:
        skip = _titles(text, marks, given, first_line, notes)
    if skip:
        text = _below(text, skip, name)
        again = _marks(text, given, notes)
        if spec.skip is None and again.delimiter != marks.delimiter:
            raise other_below(
                name, skip, shown_delimiter(marks.delimiter), shown_delimiter(again.delimiter)
            )
        marks = again
    before = skip + first_line - 1
    first_line += skip
    head = marks.records(text, complete, first_line, HEAD_RECORDS)
    header = spec.header if spec.header is not None else _header(head, notes)
    body = head[1:] if header else head
    decimal = spec.decimal or _decimal(body, marks.delimiter, notes)
    missing = _missing_codes(body, spec, notes)
    start = mark + _bytes_of_lines(path, mark, before, encoding)
    return Dialect(
        encoding, guessed, marks.delimiter, marks.quote, header, decimal, missing, head, start,
        first_line, mark > 0, tuple(dict.fromkeys(notes)), skip, marks.escape,
        spec.escape is not None, spec.allow,
    )  # fmt: skip


@dataclass(frozen=True)
class _Given:
    """What is known before a text is looked at."""

    spec: SourceSpec
    separator: str | None
    complete: bool
    name: str
    path: Path


@dataclass(frozen=True)
class _Marks:
    """The marks of a text."""

    delimiter: str
    quote: str
    escape: str

    def records(
        self, text: str, complete: bool, first_line: int, limit: int
    ) -> tuple[HeadRecord, ...]:
        """The first records of the text."""
        return tuple(
            head_records(text, self.delimiter, self.quote, limit, complete, first_line, self.escape)
        )


def _marks(text: str, given: _Given, notes: list[str]) -> _Marks:
    spec = given.spec
    delimiter = spec.delimiter or given.separator
    quote = spec.quote
    if quote is None:
        quote = _quote(text, delimiter or "".join(DELIMITERS), notes)
    if delimiter is None:
        delimiter = _delimiter(text, quote, given.complete, given.name, given.path, notes)
    escape = spec.escape
    if escape is None:
        escape = _escape(text, delimiter, quote, given.complete)
    return _Marks(delimiter, quote, escape)


def _escape(text: str, delimiter: str, quote: str, complete: bool) -> str:
    """A backslash, when the head can be read with it and cannot be read without.

    Whether the whole text can be read in one way alone is for the scan to say.
    """
    if not quote or BACKSLASH + quote not in text:
        return ""
    plain, escaped = (
        _split(text, delimiter, quote, complete, escape) for escape in ("", BACKSLASH)
    )
    further = plain.share < 1.0 or escaped.records > plain.records
    return BACKSLASH if escaped.share == 1.0 and further else ""


def _titles(text: str, marks: _Marks, given: _Given, first_line: int, notes: list[str]) -> int:
    """How many lines stand above the table; InputError ``csv.preamble`` where it cannot be told."""
    if given.spec.header is False:
        return 0
    head = marks.records(text, given.complete, first_line, _TITLE_RECORDS)
    found = table_start([record.fields for record in head], DELIMITERS)
    if not found.above:
        return 0
    skip = head[found.above].line - first_line
    if not found.sure:
        raise unsure_start(given.name, head[0].line, head[found.above].line, skip)
    title = next((text for record in head[: found.above] for text in record.fields if text), "")
    if title:
        notes.append(titles_note("Line", first_line, first_line + skip - 1, title))
    return skip


def _below(text: str, lines: int, name: str) -> str:
    """The text below so many lines; InputError ``source.option`` when there is none."""
    found = re.match(rf"(?:[^\r\n]*+(?:\r\n|\n|\r)){{{lines}}}", text)
    rest = "" if found is None else text[found.end() :]
    if not rest.strip(" \t\r\n\x1a"):
        raise nothing_below(name, lines)
    return rest


def _bytes_of_lines(path: Path, mark: int, lines: int, encoding: str) -> int:
    """The number of bytes of the first lines of a text.

    They are found among the bytes of the file, never counted in the decoded text: that was decoded
    leniently and may have other bytes. Raises InputError ``source.option``.
    """
    if not lines:
        return 0
    lf, cr = "\n".encode(encoding), "\r".encode(encoding)
    ends = re.compile(b"|".join(re.escape(mark) for mark in (cr + lf, lf, cr)))
    data = read_head(path, _MOST_HEAD)[0][mark:]
    place, left = 0, lines
    while found := ends.search(data, place):
        if found.start() % len(lf):
            place = found.start() + 1
            continue
        place, left = found.end(), left - 1
        if not left:
            return place
    raise nothing_below(path.name, lines)


def without_nul(text: str, allow: Sequence[str]) -> str:
    """A text with the sign for a lost letter in the place of each NUL, if these are allowed."""
    return text.replace("\0", "\ufffd") if NULS in allow else text


def with_escape(path: Path, dialect: Dialect, escape: str, note: str) -> Dialect:
    """The same dialect with another escape, which the scan made necessary."""
    return with_encoding(path, replace(dialect, escape=escape), dialect.encoding, note)


def with_encoding(path: Path, dialect: Dialect, encoding: str, note: str) -> Dialect:
    """The same dialect in another encoding, which the scan made necessary."""
    data, complete = read_head(path)
    text, complete = _head_text(path, data, complete, encoding, dialect.start)
    text = without_nul(text, dialect.allow)
    records = head_records(
        text,
        dialect.delimiter,
        dialect.quote,
        HEAD_RECORDS,
        complete,
        dialect.first_line,
        dialect.escape,
    )
    return replace(
        dialect,
        encoding=encoding,
        guessed=dialect.guessed and encoding == dialect.encoding,
        head=tuple(records),
        notes=(*dialect.notes, note) if note else dialect.notes,
    )


def _check_options(spec: SourceSpec) -> None:
    for key in ("delimiter", "quote", "escape"):
        value = getattr(spec, key)
        if value and (len(value) != 1 or not value.isascii() or value in "\r\n\0"):
            raise InputError(
                "source.option",
                msg(
                    "{path}: `{key}` is {value!r}, expected one ASCII character.",
                    path=spec.path,
                    key=key,
                    value=value,
                ),
                details={"key": key},
            )
    if spec.quote and spec.quote == spec.delimiter:
        raise InputError(
            "source.option",
            msg("{path}: `quote` and `delimiter` are the same character.", path=spec.path),
            details={"key": "quote"},
        )
    if spec.encoding is not None:
        codec_name(spec.encoding, spec.path)


_NO_FILE_ENCODINGS = re.compile("idna|punycode|(raw[_-])?unicode[_-]escape|undefined|utf[_-]7")
"""Codecs that are no encodings of files: for names in networks, program texts and mail."""


def codec_name(encoding: str, name: str) -> str:
    """The canonical name of a text encoding; InputError ``encoding.unknown`` when there is none."""
    try:
        codec = codecs.lookup(encoding)
        "a".encode("undefined" if _NO_FILE_ENCODINGS.fullmatch(codec.name) else codec.name)
        codecs.getincrementaldecoder(codec.name)
    except (LookupError, ValueError):
        raise InputError(
            "encoding.unknown",
            msg("{name}: the encoding `{encoding}` is not known.", name=name, encoding=encoding),
            hint="Use for instance utf-8, cp1252, iso8859-2 or utf-16.",
            details={"encoding": encoding},
        ) from None
    return codec.name


def _refuse_other_formats(data: bytes, name: str) -> None:
    kind = next((what for magic, what in _MAGIC if data.startswith(magic)), None)
    text = data.removeprefix(codecs.BOM_UTF8)
    if kind is None and _HTML.match(text):
        kind = "a web page (HTML or XML)"
    elif kind is None and _JSON.match(text):
        kind = "a JSON file"
    if kind is not None:
        raise InputError(
            "csv.not-text",
            msg(
                "{name}, line 1: found {kind}, expected a text file with rows and delimiters.",
                name=name,
                kind=kind,
            ),
            hint="Open it with the program it belongs to and save the table as CSV.",
            details={"line": 1},
        )


def encoding_of(data: bytes, named: str | None, name: str) -> tuple[str, int, bool]:
    """Codec, length of the byte order mark, and whether the codec is a guess.

    ``data`` is the head of the file ``name``, ``named`` the encoding that the plan names. Raises
    InputError ``encoding.mark``, ``encoding.unknown``.
    """
    mark = next(((mark, codec) for mark, codec in _MARKS if data.startswith(mark)), None)
    if named is not None:
        codec = codec_name(named, name)
        if codec == "utf-8-sig":  # Python writes a mark for it even where a file has none
            codec = "utf-8"
        if mark is not None and codec in (mark[1], mark[1][:6]):
            return mark[1], len(mark[0]), False
        if mark is not None and not _follows(mark, data):
            return _in_bytes(codec), len(mark[0]), False
        if mark is not None and not codec.startswith("utf-"):
            raise InputError(
                "encoding.mark",
                msg(
                    "{name}, line 1: the file starts with the mark of {upper}, but the encoding "
                    "{named} was named.",
                    name=name,
                    upper=mark[1].upper(),
                    named=named,
                ),
                hint="Leave `encoding` out under [source], or save the file again without the "
                "mark.",
                details={"line": 1, "encoding": mark[1]},
            )
        return _in_bytes(codec), 0, False
    if mark is None:
        return "utf-8", 0, True
    if not _follows(mark, data):
        raise InputError(
            "encoding.mark",
            msg(
                "{name}, line 1: the file starts with the mark of {upper}, but what follows "
                "is not written in it.",
                name=name,
                upper=mark[1].upper(),
            ),
            hint="Save the file again as UTF-8, or name its `encoding` under [source].",
            details={"line": 1, "encoding": mark[1], "set": (("encoding", "utf-8"),)},
        )
    return mark[1], len(mark[0]), False


def _follows(mark: tuple[bytes, str], data: bytes) -> bool:
    """Whether what stands behind a byte order mark may be written in the encoding of the mark."""
    rest = data[len(mark[0]) :]
    return mark[1] == "utf-8" or not rest or b"\0" in rest


def _in_bytes(codec: str) -> str:
    """A codec of a known order of bytes."""
    return {"utf-16": "utf-16-le", "utf-32": "utf-32-le"}.get(codec, codec)


def _head_text(
    path: Path, data: bytes, complete: bool, encoding: str, mark: int
) -> tuple[str, bool]:
    """The head as text, grown until it holds a whole record (or 64 MiB); no Ctrl-Z at its end."""
    size = HEAD_BYTES
    while True:
        if complete:
            data = text_of(path, 0, encoding).of_head(data)
        decoder = codecs.getincrementaldecoder(encoding)("replace")
        text = decoder.decode(data[mark:], complete)
        if len(text) > LONGEST_LINE and not _BREAK.search(text, 0, LONGEST_LINE + 1):
            raise too_long(path.name, 1)
        enough = complete or _has_lines(text[: 1 << 22], 3)
        if enough or size >= _MOST_HEAD:
            return text, complete
        size *= 4
        data, complete = read_head(path, size)


def _has_lines(text: str, count: int) -> bool:
    """Whether at least ``count`` line breaks are there."""
    return any(number == count for number, _ in enumerate(_BREAK.finditer(text), 1))


def _letters(data: bytes, encoding: str, guessed: bool) -> str:
    """The encoding in which a head is shown: notes quote an 8-bit text with its letters."""
    if not guessed or begins_as_utf8(data, False):
        return encoding
    from dpdesk.io.transcode import guess_legacy, high_words

    return guess_legacy(high_words([data])).encoding


def _separator_line(text: str, name: str, notes: list[str]) -> tuple[str, str | None]:
    """Split off Excel's first line ``sep=…``: the rest, and the delimiter."""
    found = re.match(r"sep=([\x01-\x7f])(\r\n|\n|\r|\Z)", text, re.IGNORECASE)
    if found is None or found.group(1) in "\r\n\"'":
        return text, None
    rest, separator = text[found.end() :], found.group(1)
    notes.append(
        msg(
            "Line 1 names the delimiter ({shown_delimiter}); it is not a row.",
            shown_delimiter=shown_delimiter(separator),
        )
    )
    if not rest.strip(" \t\r\n\x1a"):
        raise InputError(
            "csv.empty",
            msg(
                "{name}, line 2: found nothing after the line that names the delimiter, "
                "expected a header line and rows.",
                name=name,
            ),
            details={"line": 2},
        )
    return rest, separator


def _quote(text: str, delimiters: str, notes: list[str]) -> str:
    """The double quote, unless single quotes clearly enclose fields and double ones do not."""
    if "'" not in text:
        return '"'
    border = f"[{re.escape(delimiters)}\\r\\n]"
    enclosed = rf"('[^'\r\n]*(?:''[^'\r\n]*)*'(?={border}|\Z))"
    opened = re.compile(rf"(?:\A|{border})(?:{enclosed}|['\"])")
    found = [field for one in _pieces(text) for field in opened.findall(one)]  # "": not enclosed
    if len(found) >= 2 and all(found):
        notes.append("Fields are enclosed in single quotes ('); these were removed.")
        return "'"
    return '"'


def _pieces(text: str) -> Iterator[str]:
    """The text in pieces of whole lines: a search through all of it would block a window."""
    start = 0
    while start < len(text):
        end = text.find("\n", start + _PIECE) + 1 or len(text)
        yield text[start:end]
        start = end


@dataclass(frozen=True)
class _Split:
    """How evenly one delimiter splits the head: the commonest width, its share, of how many.

    ``breaks_off`` says that most lines lie behind a record that cannot be read with it.
    """

    delimiter: str
    width: int
    share: float
    any_split: bool
    records: int = 0
    breaks_off: bool = False


def _split(text: str, delimiter: str, quote: str, complete: bool, escape: str = "") -> _Split:
    records = list(head_records(text, delimiter, quote, _MOST_SPLIT, complete, escape=escape))
    widths = Counter(len(record.fields) for record in records)
    if not widths:
        return _Split(delimiter, 1, 0.0, delimiter in text)
    width, count = max(widths.items(), key=lambda item: (item[1], item[0]))
    total = widths.total()
    breaks_off = total < _MOST_SPLIT and 2 * records[-1].line < line_ends(text, 0, len(text))
    return _Split(delimiter, width, count / total, max(widths) > 1, total, breaks_off)


def _delimiter(
    text: str, quote: str, complete: bool, name: str, path: Path, notes: list[str]
) -> str:
    found = (_split(text, mark, quote, complete) for mark in DELIMITERS if mark in text)
    splits = [split for split in found if split.any_split]
    if not splits:
        notes.append(
            "No delimiter was found, so every line is one value of a single column; name the "
            "`delimiter` if there is one, `items` if each line lists items, or `widths` if columns "
            "have fixed widths."
        )
        return "\t" if path.suffix.lower() == ".tsv" else ","
    check_width(name, min(split.width for split in splits))  # however the text is taken apart
    even = [split for split in splits if split.share == 1.0 and split.width > 1]
    likely = [one for one in splits if one.share >= _NEARLY_EVEN and not one.breaks_off]
    whole = max(likely, key=lambda split: split.width, default=None)
    # A delimiter with which the first lines alone can be read splits nothing evenly.
    if whole and even and all(one.breaks_off and one.width < whole.width for one in even):
        return whole.delimiter
    if len(even) > 1:
        _refuse_tie(even, name, path)
        even.sort(key=lambda split: (_by_name(split, path), split.width), reverse=True)
        notes.append(_tie_note(even))
    if even:
        return even[0].delimiter
    wide = [split for split in splits if split.width > 1] or splits
    return max(wide, key=lambda split: (split.share * (split.width > 1), split.width)).delimiter


def _by_name(split: _Split, path: Path) -> bool:
    return path.suffix.lower() in (".tsv", ".tab") and split.delimiter == "\t"


def _refuse_tie(even: Sequence[_Split], name: str, path: Path) -> None:
    """Two delimiters that split every line into equally many fields cannot be told apart."""
    if any(_by_name(split, path) for split in even):
        return
    widest = max(split.width for split in even)
    tied = [split for split in even if split.width == widest]
    if len(tied) > 1:
        names = " and ".join(shown_delimiter(split.delimiter) for split in tied)
        raise InputError(
            "csv.ambiguous-delimiter",
            msg(
                "{name}, line 1: {names} each split every line into {widest} fields, so the "
                "delimiter cannot be determined.",
                name=name,
                names=names,
                widest=widest,
            ),
            hint="Name the `delimiter` under [source].",
            details={"line": 1, "delimiters": [split.delimiter for split in tied]},
        )


def _tie_note(even: Sequence[_Split]) -> str:
    others = ", ".join(shown_delimiter(split.delimiter) for split in even[1:])
    return msg(
        "Taken as delimiter: {shown_delimiter} ({width} fields); {others} would "
        "split the lines evenly too.",
        shown_delimiter=shown_delimiter(even[0].delimiter),
        width=even[0].width,
        others=others,
    )


def _header(head: Sequence[HeadRecord], notes: list[str]) -> bool:
    """Whether the first record names the columns."""
    if not head:
        return True
    first = head[0].fields
    body = [record.fields for record in head[1:] if len(record.fields) == len(first)]
    if not body:
        return True
    columns = [[row[j].strip() for row in body] for j in range(min(len(first), 200))]
    kinds = [{*map(datum, {*column})} - {None} for column in columns]
    if any(datum(value) in below for value, below in zip(first, kinds, strict=False)):
        notes.append(
            msg(
                "Line {line} looks like data (it holds numbers or dates), so it was read as "
                "a row and the columns are named column_1, column_2, …; set `header = true` "
                "if it names them.",
                line=head[0].line,
            )
        )
        return False
    if not names_data(first, columns) and any(map(continues, first, columns)):
        notes.append(
            msg(
                "Line {line} looks like data (it holds codes as the lines below do), so it "
                "was read as a row and the columns are named column_1, column_2, …; set "
                "`header = true` if it names them.",
                line=head[0].line,
            )
        )
        return False
    doubt = header_doubt(msg("Line {line}", line=head[0].line), first, body)
    if doubt:
        notes.append(doubt)
    return True


def _decimal(body: Sequence[HeadRecord], delimiter: str, notes: list[str]) -> str:
    comma = point = 0
    unsure = Counter[str]()
    for record in body:
        for field in record.fields[:200]:
            value = field.strip()
            found = _THOUSANDS.match(value)
            if found:
                unsure[found[1]] += 1
            elif _DECIMAL_COMMA.match(value):
                comma += 1
            elif _DECIMAL_POINT.match(value):
                point += 1
    if comma and (point or unsure["."]):
        notes.append(
            "Numbers are written both with decimal commas and with decimal points; name the "
            "`decimal` mark if some are read wrongly."
        )
    if unsure and not comma and not point and delimiter != ",":
        notes.append(
            "Values such as 1,234 may be decimals or thousands; name the `decimal` mark."
            if unsure[","]
            else "Values such as 1.234 may be decimals or thousands; name the `decimal` mark."
        )
    # Where commas separate the fields, a point is hardly ever a mark of thousands.
    return "," if comma > point + (unsure["."] if delimiter == "," else 0) else "."


def _missing_codes(
    body: Sequence[HeadRecord], spec: SourceSpec, notes: list[str]
) -> tuple[str, ...]:
    """Texts that often stand for missing values and occur in the head, but are not declared."""
    seen = missing_codes([record.fields[:500] for record in body])
    found = tuple(sorted(code for code in seen if code not in spec.missing))
    if found:
        listed = ", ".join(f"`{code}`" for code in found)
        notes.append(
            msg(
                "{codes} may stand for missing values; if so, write `missing = [{list}]` under "
                "[source].",
                codes=listed,
                list=missing_line([*spec.missing, *found]),
            )
        )
    return found
