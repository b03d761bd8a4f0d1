"""The parts of an Excel workbook beside its cells: sheets, shared texts, which styles show dates.

A workbook is a ZIP archive of XML parts (ECMA-376). Its parts are read by expat, which gives the
texts as they stand and never follows an address; a part that declares entities is refused.
"""

from __future__ import annotations

import posixpath
import re
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO
from xml.parsers import expat

from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg

CHUNK = 1 << 16
_LONGEST_TEXT = 1 << 25
"""Characters of one text; Excel holds 32,767 in a cell, so a longer one only fills the memory."""
_LARGEST_PART = 1 << 31
"""Bytes of the shared texts, which are held as a whole, unpacked; 10 million different ones stay
below."""
_LARGEST_DESCRIPTION = 1 << 26
"""Bytes of any other part that is held, such as the list of styles (Excel allows 65,490)."""
_UNPACKED, _TIMES = 1 << 25, 200
"""A part may unpack to so many bytes, or to so many times its packed size if that is more.

Programs write sheets that unpack to 10 to 40 times their size; what unpacks to a thousand times,
the most that ZIP can do, holds next to nothing and keeps the reader busy for hours."""
_MOST_STRINGS = 10_000_000
"""Shared texts, which are held as a whole: nearly ten in each row that Excel has."""
_MOST_HELD = 3 << 29
"""Bytes of memory that the shared texts take: one letter beyond the usual ones makes each of its
text's four times as wide."""
_LONGEST_TAG = 1 << 22
"""Bytes of one tag: expat holds a tag as a whole, and looks at it again with every piece."""
DEEPEST = 1_000
"""Elements inside each other; expat holds each of them."""
_SPACES = (
    "http://schemas.openxmlformats.org/spreadsheetml/2006/main",
    "http://purl.oclc.org/ooxml/spreadsheetml/main",
)
_LINKS = (
    "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
    "http://purl.oclc.org/ooxml/officeDocument/relationships",
)
_DATES = frozenset((*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)))
_DAYS = frozenset((*range(14, 18), *range(22, 23), *range(27, 32), 36, *range(50, 55), 57, 58))
_DURATION = 46
_NO_CODE = re.compile(r'"[^"]*"|\[(?!(?:h+|m+|s+)\])[^\]]*\]|[_\\*].', re.IGNORECASE)
_DATE_CODE = re.compile("[dmhys]", re.IGNORECASE)
_DURATION_CODE = re.compile(r"\[(?:h+|m+|s+)\]", re.IGNORECASE)
_ESCAPED = re.compile("_x([0-9a-fA-F]{4})_")

Start = Callable[[str, dict[str, str]], None]


class BrokenPartError(ValueError):
    """A part of the archive is missing or is no XML of its kind."""


@dataclass(frozen=True)
class Sheet:
    """A sheet of cells: its name, its part of the archive, whether the program shows it."""

    name: str
    part: str
    visible: bool


@dataclass(frozen=True)
class Parts:
    """What the cells of a workbook refer to; styles are told by their number.

    ``dates`` show dates or times, ``days`` of them a day and not a time alone, ``durations`` hours;
    ``numbers`` show none of these. What any other style shows is not known.
    """

    sheets: tuple[Sheet, ...]
    strings: list[str] = field(repr=False)
    dates: frozenset[int]
    days: frozenset[int]
    durations: frozenset[int]
    numbers: frozenset[int]
    since_1904: bool


def short_names(*names: str) -> dict[str, str]:
    """The names of elements by what expat calls them."""
    return {f"{space}}}{name}": name for space in _SPACES for name in names}


def new_parser() -> expat.XMLParserType:
    """A parser that knows name spaces and refuses a document type."""
    parser = expat.ParserCreate(namespace_separator="}")
    parser.buffer_text = True

    def refuse(*_: object) -> None:
        raise BrokenPartError("it declares a document type")

    parser.StartDoctypeDeclHandler = refuse
    return parser


class Depth:
    """How many elements of a part are open at the moment."""

    def __init__(self) -> None:
        self._open = 0

    def deeper(self) -> None:
        """An element begins. Raises BrokenPartError when too many are open."""
        self._open += 1
        if self._open > DEEPEST:
            raise BrokenPartError("elements in it stand inside each other without end")

    def higher(self) -> None:
        """An element ends."""
        self._open -= 1


def feed(parser: expat.XMLParserType, file: IO[bytes]) -> Iterator[None]:
    """Give a part to a parser, a piece at a time; it is at its end when nothing more comes.

    Raises BrokenPartError for a tag that no program writes, and what the handlers raise.
    """
    given = 0
    while chunk := file.read(CHUNK):
        try:
            parser.Parse(chunk, False)
        except LookupError as error:  # of the codec that a part names
            raise BrokenPartError("it is written in an unknown encoding") from error
        given += len(chunk)
        if given - parser.CurrentByteIndex > _LONGEST_TAG:
            raise BrokenPartError("a tag in it is longer than any that programs write")
        yield
    parser.Parse(b"", True)


def read_parts(archive: zipfile.ZipFile, instead: str | None = None) -> Parts:
    """Read what the cells refer to; ``instead`` of texts that are too long for any cell.

    Raises BrokenPartError, expat.ExpatError, zipfile.BadZipFile; InputError ``workbook.twice``.
    """
    names = (posixpath.normpath(name) for name in archive.namelist() if not name.endswith("/"))
    _refuse_second(
        archive, ((name.casefold(), msg("the part {part}", part=name)) for name in names)
    )
    book = _workbook_part(archive)
    links = _links(archive, book)
    sheets: list[Sheet] = []
    since_1904 = False

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal since_1904
        if name == "workbookPr":
            since_1904 = attributes.get("date1904", "") in ("1", "true")
        elif name == "sheet":
            link = next((attributes[f"{u}}}id"] for u in _LINKS if f"{u}}}id" in attributes), "")
            if link not in links:
                raise BrokenPartError(
                    msg("its sheet {get} has no part", get=attributes.get("name", ""))
                )
            kind, part = links[link]
            if kind == "worksheet":
                visible = attributes.get("state", "visible") == "visible"
                sheets.append(Sheet(attributes.get("name", ""), part, visible))

    _parse(archive, book, short_names("workbookPr", "sheet"), start)
    named = (sheet.name for sheet in sheets)
    _refuse_second(
        archive, ((name.casefold(), msg("the sheet {sheet}", sheet=name)) for name in named)
    )
    by_kind = _held_once(archive, links)
    shown = _styles(archive, by_kind.get("styles", ""))
    strings_part = by_kind.get("sharedStrings", "")
    strings = read_strings(archive, strings_part, instead) if strings_part else []
    return Parts(tuple(sheets), strings, *shown, since_1904)


def _workbook_part(archive: zipfile.ZipFile) -> str:
    found = _held_once(archive, _links(archive, "")).get("officeDocument")
    if found is None:
        raise BrokenPartError("it names no workbook")
    return found


_ONLY = ("officeDocument", "styles", "sharedStrings")
"""Kinds of parts of which there is one."""


def _held_once(archive: zipfile.ZipFile, links: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    """The parts of which there is one, by their kinds."""
    found = [(kind, part) for kind, part in dict.fromkeys(links.values()) if kind in _ONLY]
    _refuse_second(
        archive, ((kind, msg("a part of the kind {kind}", kind=kind)) for kind, _ in found)
    )
    return dict(found)


def _refuse_second(archive: zipfile.ZipFile, named: Iterable[tuple[str, str]]) -> None:
    """Raise InputError ``workbook.twice`` for what the workbook has twice: keys, words for them."""
    seen: set[str] = set()
    for key, words in named:
        if key in seen:
            raise InputError(
                "workbook.twice",
                msg(
                    "{name}: the workbook has {what} twice, and programs differ in which of them "
                    "they read.",
                    name=Path(archive.filename or "").name,
                    what=words,
                ),
                hint="Save it again with its program, and look whether the table is still right.",
            )
        seen.add(key)


def _links(archive: zipfile.ZipFile, part: str) -> dict[str, tuple[str, str]]:
    """Kind and part of what a part refers to, by the id of the reference."""
    folder, name = posixpath.split(part)
    found: dict[str, tuple[str, str]] = {}
    links: list[tuple[str, str]] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        if name.endswith("}Relationship") and attributes.get("TargetMode") != "External":
            target = attributes.get("Target", "")
            place = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
            kind = attributes.get("Type", "").rpartition("/")[2]
            key = attributes.get("Id", "")
            links.append((key, msg("the reference {id}", id=key)))
            found[key] = (kind, place)

    _parse(archive, posixpath.join(folder, "_rels", f"{name}.rels"), None, start)
    _refuse_second(archive, links)
    return found


def totals_rows(archive: zipfile.ZipFile, sheet: Sheet) -> list[str]:
    """Where the tables of a sheet that end in a row of totals stand, such as ``A1:C9``."""
    folder, name = posixpath.split(sheet.part)
    if posixpath.join(folder, "_rels", f"{name}.rels") not in archive.namelist():
        return []
    found: list[str] = []

    def start(_: str, attributes: dict[str, str]) -> None:
        if attributes.get("totalsRowCount", "0") != "0":
            found.append(attributes.get("ref", ""))

    for kind, part in _links(archive, sheet.part).values():
        if kind == "table":
            _parse(archive, part, short_names("table"), start)
    return found


def _parse(archive: zipfile.ZipFile, part: str, names: dict[str, str] | None, start: Start) -> None:
    depth = Depth()

    def opened(name: str, attributes: dict[str, str]) -> None:
        depth.deeper()
        short = name if names is None else names.get(name)
        if short is not None:
            start(short, attributes)

    parser = new_parser()
    parser.StartElementHandler = opened
    parser.EndElementHandler = lambda name: depth.higher()
    with open_part(archive, part, _LARGEST_DESCRIPTION) as file:
        for _ in feed(parser, file):
            pass


def open_part(
    archive: zipfile.ZipFile, part: str, most: int | None = None, by_size: bool = True
) -> IO[bytes]:
    """A part of the archive (which gives no more of it than it states).

    BrokenPartError when there is none, or one with a password; InputError ``workbook.size`` when it
    states more than ``most`` bytes, or (``by_size``) many more than what it is packed in can hold.
    """
    try:
        found = _by_any_case(archive, part)
        _check_size(archive, archive.getinfo(found), most, by_size)
        return archive.open(found)
    except (KeyError, RuntimeError) as error:
        raise BrokenPartError(msg("its part {part} cannot be opened", part=part)) from error


def _check_size(
    archive: zipfile.ZipFile, part: zipfile.ZipInfo, most: int | None, by_size: bool
) -> None:
    path = Path(archive.filename or "")
    packed = min(part.compress_size, path.stat().st_size)  # a part may state any size
    limits = [] if most is None else [most]
    limits += [max(_UNPACKED, _TIMES * packed)] if by_size else []
    if not limits or part.file_size <= min(limits):
        return
    raise InputError(
        "workbook.size",
        msg(
            "{name}: the part {part} of the workbook unpacks from {packed:,} to {found:,} bytes, "
            "expected at most {most:,}.",
            name=path.name,
            part=part.filename,
            packed=packed,
            found=part.file_size,
            most=min(limits),
        ),
        hint=_OTHER_FORMAT,
    )


_OTHER_FORMAT = "Save the table as CSV or Parquet with the program that wrote the workbook."


def _by_any_case(archive: zipfile.ZipFile, part: str) -> str:
    """The name of a part as the archive writes it; capital letters make no other part."""
    if part in archive.NameToInfo:
        return part
    wanted = part.casefold()
    return next((name for name in archive.namelist() if name.casefold() == wanted), part)


def check_text(pieces: list[str], instead: str | None = None) -> None:
    """Put ``instead`` in the place of the pieces of one text that is too long for any cell.

    Raises BrokenPartError where there is nothing to put.
    """
    if pieces and sum(map(len, pieces)) > _LONGEST_TEXT:
        if instead is None:
            raise BrokenPartError("a text in it is longer than any cell may hold")
        pieces[:] = [instead]


def _styles(
    archive: zipfile.ZipFile, part: str
) -> tuple[frozenset[int], frozenset[int], frozenset[int], frozenset[int]]:
    """The numbers of the styles that show dates; of them those with a day, durations; others."""
    codes: dict[int, str] = {}
    formats: list[int] = []
    lists = ("numFmts", "cellStyleXfs", "cellXfs", "cellStyles", "dxfs")
    inside = ""

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal inside
        if name in lists:
            inside = name
        # Conditional formats (dxfs) have number formats with numbers of their own.
        elif name == "numFmt" and inside == "numFmts":
            codes[int(attributes.get("numFmtId", "0"))] = attributes.get("formatCode", "")
        elif name == "xf" and inside == "cellXfs":
            formats.append(int(attributes.get("numFmtId", "0")))

    if part:
        names = short_names("numFmt", "xf", *lists)
        _parse(archive, part, names, start)
    dates = frozenset(j for j, number in enumerate(formats) if _is_date(number, codes))
    durations = frozenset(j for j in dates if _is_duration(formats[j], codes))
    days = frozenset(j for j in dates if _is_day(formats[j], codes))
    known = (j for j, number in enumerate(formats) if number in codes or number <= max(_DATES))
    return dates, days, durations, frozenset(known) - dates


def _first(code: str) -> str:
    """The section of a number format for positive numbers, without what is shown as it stands."""
    return _NO_CODE.sub("", code.partition(";")[0])


def _is_date(number: int, codes: dict[int, str]) -> bool:
    if number not in codes:
        return number in _DATES
    return _DATE_CODE.search(_first(codes[number])) is not None


def _is_day(number: int, codes: dict[int, str]) -> bool:
    """Whether a format of dates shows a day or a month, not the time of a day alone."""
    if number not in codes:
        return number in _DAYS
    letters = set(_first(codes[number]).lower())
    return bool(letters & set("dy")) or ("m" in letters and not letters & set("hs"))


def _is_duration(number: int, codes: dict[int, str]) -> bool:
    if number not in codes:
        return number == _DURATION
    return _DURATION_CODE.search(_first(codes[number])) is not None


def unescaped(text: str) -> str:
    """A text of a part, with the characters for which XML has no place (``_x000D_``).

    Escapes of halves of a character stay as they are unless both halves are there.
    """
    if "_x" not in text:
        return text
    found = _ESCAPED.sub(lambda escape: chr(int(escape[1], 16)), text)
    try:
        return found.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError:
        return text


def read_strings(archive: zipfile.ZipFile, part: str, instead: str | None) -> list[str]:
    """The texts that cells share, without how they are read aloud; see :func:`check_text`."""
    names = short_names("si", "t", "rPh")
    strings: list[str] = []
    pieces: list[str] = []
    parser = new_parser()
    aloud, depth, held = False, Depth(), 0

    def start(name: str, _: dict[str, str]) -> None:
        nonlocal aloud
        depth.deeper()
        short = names.get(name)
        if short == "si":
            pieces.clear()
        elif short == "rPh":
            aloud = True
        elif short == "t" and not aloud:
            parser.CharacterDataHandler = pieces.append

    def end(name: str) -> None:
        nonlocal aloud, held
        depth.higher()
        short = names.get(name)
        if short == "t":
            parser.CharacterDataHandler = None
        elif short == "rPh":
            aloud = False
        elif short == "si":
            text = unescaped("".join(pieces))
            held += sys.getsizeof(text)
            if instead is None and (len(strings) == _MOST_STRINGS or held > _MOST_HELD):
                raise _too_many_texts(Path(archive.filename or "").name)
            strings.append(text)

    parser.StartElementHandler, parser.EndElementHandler = start, end
    # One text could reach the limit too; where it may be replaced there is none.
    by_size = instead is None
    with open_part(archive, part, _LARGEST_PART if by_size else None, by_size) as file:
        for _ in feed(parser, file):
            check_text(pieces, instead)
    return strings


def _too_many_texts(name: str) -> InputError:
    return InputError(
        "workbook.texts",
        msg(
            "{name}: the workbook has more than {most:,} shared texts, or they take more than "
            "{held:,} bytes of memory.",
            name=name,
            most=_MOST_STRINGS,
            held=_MOST_HELD,
        ),
        hint=_OTHER_FORMAT,
    )
