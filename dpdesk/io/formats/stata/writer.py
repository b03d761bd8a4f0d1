"""Stata files (.dta, format 118: Stata 14 and later), written as they stream."""

from __future__ import annotations

import string
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from dpdesk.core.errors import RefusedError
from dpdesk.core.export_formats import HOLDS
from dpdesk.core.jobs import CancelToken
from dpdesk.core.labels import Codebook, Kind, is_lettered
from dpdesk.core.messages import msg
from dpdesk.io.export_losses import codes_held, told
from dpdesk.io.formats.moments import shows
from dpdesk.io.formats.outcolumns import (
    STATA_WORDS,
    About,
    Accepted,
    OutColumn,
    accepted_names,
    cut_text,
    file_label,
    fixed_bytes,
    pieces,
    survey,
)

if TYPE_CHECKING:
    from dpdesk.io.published import PublishedCsv

_LONGEST, _STRL = 2_045, 32_768
_TITLE, _NOTE, _MOST_COLUMNS = 80, 67_784, 32_767
_SIXTIES = 3_653 * 86_400.0  # seconds from 1960 to 1970
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_DOUBLE_MISSING, _DOUBLE_STEP = 0x7FE0_0000_0000_0000, 0x100_0000_0000
_PLACES = (
    "stata_dta", "map", "variable_types", "varnames", "sortlist", "formats", "value_label_names",
    "variable_labels", "characteristics", "data", "strls", "value_labels", "end", "eof",
)  # fmt: skip


@dataclass(frozen=True)
class _Storage:
    """A type of the format: its code, its numpy type, the first missing value, its range."""

    code: int
    type: str
    missing: int
    low: float
    high: float


_STORAGES = (
    _Storage(65_530, "<i1", 101, -127, 100),
    _Storage(65_529, "<i2", 32_741, -32_767, 32_740),
    _Storage(65_528, "<i4", 2_147_483_621, -2_147_483_647, 2_147_483_620),
)
_DOUBLE = _Storage(65_526, "<f8", 0, 0, 0)


_LONG = _STORAGES[-1]
_MOST = float(np.nextafter(2.0**1023, 0))
"""Greater numbers are missing in Stata."""
_ACCEPTED = Accepted(frozenset(string.ascii_letters), most=_MOST, epoch=_SIXTIES, scale=1_000)


@dataclass(frozen=True)
class _Variable:
    column: OutColumn
    name: str
    storage: _Storage | None

    @property
    def label(self) -> str:
        """The whole label; the file has its first characters alone."""
        return file_label(self.column, self.name)

    @property
    def is_long(self) -> bool:
        """Whether its texts are too long for a row and lie behind the rows."""
        return self.storage is None and self.column.bytes > _LONGEST

    @property
    def type(self) -> int:
        if self.storage is not None:
            return self.storage.code
        return _STRL if self.is_long else self.column.bytes

    @property
    def width(self) -> int:
        if self.storage is None:
            return 8 if self.is_long else self.column.bytes
        return np.dtype(self.storage.type).itemsize


def write_dta(
    table: PublishedCsv,
    book: Codebook,
    path: Path,
    about: About,
    token: CancelToken,
    done: Callable[[int], None],
) -> list[str]:
    """Write ``table`` with what ``book`` says of its columns; sentences about what had to change.

    What ``about`` says of the release, and labels that are too long, stand in the notes of the
    file. Raises RefusedError ``export.too-large`` for too many columns.
    """
    _check(table)
    columns = survey(table, book, _ACCEPTED, token)
    given = [column.variable.name for column in columns]
    names = accepted_names(given, 32, first="_", reserved=STATA_WORDS)
    variables = [
        _Variable(column, name, _storage(column))
        for column, name in zip(columns, names, strict=True)
    ]
    with path.open("xb") as out:
        places = {"stata_dta": 0}
        _head(out, variables, table.rows, about)
        _dictionary(out, variables, about, places)
        places["data"] = out.tell()
        out.write(b"<data>")
        written = 0
        for piece in pieces(table, token):
            _rows(out, variables, piece, written)
            written += len(piece[0])
            done(written)
        out.write(b"</data>")
        _long_texts(out, variables, table, token, places)
        _tail(out, variables, places)
    return told("dta", columns, names, book, about.title)


def _check(table: PublishedCsv) -> None:
    if len(table.columns) > _MOST_COLUMNS:
        raise RefusedError(
            "export.too-large",
            msg(
                "The table has {columns:,} columns, but a Stata file holds at most {most:,}.",
                columns=len(table.columns),
                most=_MOST_COLUMNS,
            ),
            hint="Export to csv or parquet instead.",
        )


def _storage(column: OutColumn) -> _Storage | None:
    if not column.numeric:
        return None
    if column.kind is Kind.NUMBER and column.integral:
        for storage in _STORAGES:
            if storage.low <= column.low and column.high <= storage.high:
                return storage
    return _DOUBLE


def _head(out: IO[bytes], variables: list[_Variable], rows: int, about: About) -> None:
    label, day = about.title[:_TITLE].encode("utf-8"), about.created
    stamp = f"{day.day:02d} {_MONTHS[day.month - 1]} {day.year} 00:00".encode()
    out.write(
        b"<stata_dta><header><release>118</release><byteorder>LSF</byteorder><K>"
        + struct.pack("<H", len(variables)) + b"</K><N>" + struct.pack("<Q", rows)
        + b"</N><label>" + struct.pack("<H", len(label)) + label + b"</label><timestamp>"
        + bytes([len(stamp)]) + stamp + b"</timestamp></header>"
    )  # fmt: skip


def _dictionary(
    out: IO[bytes], variables: list[_Variable], about: About, places: dict[str, int]
) -> None:
    def section(name: str, data: bytes) -> None:
        places[name] = out.tell()
        out.write(f"<{name}>".encode() + data + f"</{name}>".encode())

    def texts(values: Sequence[str], width: int) -> bytes:
        return b"".join(cut_text(v, width - 1).encode().ljust(width, b"\0") for v in values)

    section("map", bytes(8 * len(_PLACES)))
    section("variable_types", struct.pack(f"<{len(variables)}H", *(v.type for v in variables)))
    section("varnames", texts([v.name for v in variables], 129))
    section("sortlist", bytes(2 * (len(variables) + 1)))
    section("formats", texts([_display(v) for v in variables], 57))
    labels = [f"labels{j}" if _codes(v) else "" for j, v in enumerate(variables)]
    section("value_label_names", texts(labels, 129))
    most = HOLDS["dta"].label
    section("variable_labels", texts([v.label[:most] for v in variables], 321))
    long = [(v.name, [v.label]) for v in variables if len(v.label) > most]
    section("characteristics", b"".join(map(_notes, [("_dta", list(about.lines)), *long])))


def _notes(given: tuple[str, list[str]]) -> bytes:
    """Notes of a variable, or of the file (``_dta``), as characteristics."""
    owner, lines = given
    if not lines:
        return b""
    named = [("note0", str(len(lines))), *((f"note{j}", t) for j, t in enumerate(lines, 1))]
    found = []
    for name, text in named:
        head = owner.encode().ljust(129, b"\0") + name.encode().ljust(129, b"\0")
        raw = head + cut_text(text, _NOTE).encode("utf-8") + b"\0"
        found.append(b"<ch>" + struct.pack("<I", len(raw)) + raw + b"</ch>")
    return b"".join(found)


def _display(variable: _Variable) -> str:
    column = variable.column
    if not column.numeric:
        return "%9s" if variable.is_long else f"%{min(column.bytes, 244)}s"
    given = column.variable.format
    if shows("dta", given, column.kind):
        return given
    usual = {Kind.DATE: "%td", Kind.DATETIME: "%tc", Kind.TIME: "%tcHH:MM:SS"}
    return usual.get(column.kind, "%9.0g" if column.integral else "%10.0g")


def _codes(variable: _Variable) -> list[tuple[int, str]]:
    """Value labels of whole numbers and of lettered missing values."""
    column = variable.column
    held, most = codes_held("dta", column.variable, column.numeric), HOLDS["dta"].code
    return sorted((_code(column, code), cut_text(label, most)) for code, label in held.items())


def _code(column: OutColumn, code: str) -> int:
    if is_lettered(code):
        return _LONG.missing + _letter(code)
    number = column.code(code) or 0.0
    return int((number + _SIXTIES) // 86_400 if column.kind is Kind.DATE else number)


def _letter(text: str) -> int:
    return ord(text[1].lower()) - ord("a") + 1


def _rows(out: IO[bytes], variables: list[_Variable], piece: list[Any], before: int) -> None:
    """Write the rows of a piece; ``before`` is the number of rows before it."""
    parts: list[Any] = []
    for number, (variable, texts) in enumerate(zip(variables, piece, strict=True), start=1):
        if variable.is_long:
            places = np.arange(before + 1, before + 1 + len(texts), dtype=np.uint64)
            absent = np.array([not text for text in texts.to_pylist()])
            raw = np.where(absent, np.uint64(0), places << np.uint64(16) | np.uint64(number))
            parts.append(raw.astype("<u8").view(np.uint8).reshape(len(texts), 8))
            continue
        if variable.storage is None:
            parts.append(fixed_bytes(texts, variable.width, 0))
            continue
        raw = _numbers(variable.column, variable.storage, texts)
        parts.append(raw.view(np.uint8).reshape(len(texts), variable.width))
    out.write(np.concatenate(parts, axis=1).tobytes())


def _long_texts(
    out: IO[bytes],
    variables: list[_Variable],
    table: PublishedCsv,
    token: CancelToken,
    places: dict[str, int],
) -> None:
    """The texts of columns too long for a row, by row and column; the table is read again."""
    places["strls"] = out.tell()
    out.write(b"<strls>")
    long = [j for j, variable in enumerate(variables) if variable.is_long]
    row = 0
    for piece in pieces(table, token) if long else ():
        for values in zip(*(piece[j].to_pylist() for j in long), strict=True):
            row += 1
            for j, text in zip(long, values, strict=True):
                if text:
                    raw = text.encode("utf-8") + b"\0"
                    out.write(b"GSO" + struct.pack("<IQBI", j + 1, row, 130, len(raw)) + raw)
    out.write(b"</strls>")


def _numbers(column: OutColumn, storage: _Storage, texts: Any) -> Any:
    timed = column.kind in (Kind.DATETIME, Kind.TIME)
    numbers = column.stored(texts) if timed else column.numbers(texts)
    if column.kind is Kind.DATE:
        numbers = (numbers + _SIXTIES) / 86_400
    absent = np.isnan(numbers)
    letters = np.zeros(len(texts), dtype=np.int64)
    if column.letters:
        letters[:] = [_letter(text) if is_lettered(text) else 0 for text in texts.to_pylist()]
    plain = np.where(absent, 0, numbers)
    if storage is _DOUBLE:
        missing = (_DOUBLE_MISSING + letters * _DOUBLE_STEP).view(np.float64)
        return np.where(absent, missing, plain).astype("<f8")
    return np.where(absent, storage.missing + letters, plain.astype(np.int64)).astype(storage.type)


def _tail(out: IO[bytes], variables: list[_Variable], places: dict[str, int]) -> None:
    places["value_labels"] = out.tell()
    out.write(b"<value_labels>")
    for j, variable in enumerate(variables):
        codes = _codes(variable)
        if codes:
            out.write(_label_table(f"labels{j}", codes))
    out.write(b"</value_labels>")
    places["end"] = out.tell()
    out.write(b"</stata_dta>")
    places["eof"] = out.tell()
    out.seek(places["map"] + len("<map>"))
    out.write(struct.pack(f"<{len(_PLACES)}Q", *(places[name] for name in _PLACES)))


def _label_table(name: str, codes: list[tuple[int, str]]) -> bytes:
    texts = [label.encode("utf-8") + b"\0" for _, label in codes]
    starts = list(accumulate((len(text) for text in texts[:-1]), initial=0))
    count, joined = len(codes), b"".join(texts)
    values = struct.pack(f"<{count}i", *(code for code, _ in codes))
    table = struct.pack("<ii", count, len(joined)) + struct.pack(f"<{count}i", *starts)
    table += values + joined
    head = struct.pack("<i", len(table)) + name.encode().ljust(129, b"\0") + bytes(3)
    return b"<lbl>" + head + table + b"</lbl>"
