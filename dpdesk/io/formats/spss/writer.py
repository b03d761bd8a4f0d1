"""SPSS files (.sav), written as they stream; the layout is that of the PSPP developers' guide."""

from __future__ import annotations

import re
import struct
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from dpdesk.core.export_formats import HOLDS
from dpdesk.core.jobs import CancelToken
from dpdesk.core.labels import Codebook, Kind
from dpdesk.io.export_losses import codes_held, missing_held, range_held, told
from dpdesk.io.formats.outcolumns import (
    About,
    Accepted,
    OutColumn,
    accepted_names,
    check_length,
    cut_text,
    file_label,
    pieces,
    survey,
    unused_names,
)

if TYPE_CHECKING:
    from dpdesk.io.published import PublishedCsv


_GIVEN = re.compile(r"([A-Z]+)(\d+)(?:\.(\d+))?")
_WIDEST, _DECIMALS = 40, 2


@dataclass(frozen=True)
class _Format:
    """Its number in the file, the width that shows all of it, the least width."""

    code: int
    width: int
    least: int


_DATES = {
    "DATE": _Format(20, 11, 9),
    "ADATE": _Format(23, 10, 8),
    "JDATE": _Format(24, 7, 5),
    "MOYR": _Format(28, 8, 6),
    "QYR": _Format(29, 8, 6),
    "WKYR": _Format(30, 10, 8),
    "EDATE": _Format(38, 10, 8),
    "SDATE": _Format(39, 10, 8),
}
_DATETIMES = {"DATETIME": _Format(22, 20, 17), "YMDHMS": _Format(41, 19, 16)}
_TIMES = {"TIME": _Format(21, 8, 5), "MTIME": _Format(40, 8, 5)}
_NUMBERS = {
    "DTIME": _Format(25, 12, 8),
    "WKDAY": _Format(26, 9, 2),
    "MONTH": _Format(27, 9, 3),
}
_BY_KIND = {
    Kind.DATE: (_DATES, "SDATE"),
    Kind.DATETIME: (_DATETIMES, "DATETIME"),
    Kind.TIME: (_TIMES, "TIME"),
    Kind.NUMBER: (_NUMBERS, ""),
}
_SECONDS = {"DTIME": 11, "MTIME": 5}
"""The least width that shows seconds, where it is not the one that shows all."""
_WHOLE = ("DATE", "ADATE", "JDATE", "MOYR", "QYR", "WKYR", "EDATE", "SDATE", "WKDAY", "MONTH")
"""Formats without decimals."""


def has_calendar(column: OutColumn) -> bool:
    """Whether the numbers of a column are shown as days, periods or times."""
    return column.kind is not Kind.NUMBER or _given(column)[0] in _NUMBERS


def calendar_display(column: OutColumn) -> int:
    """The format of such a column as the dictionary has it: the one that it had, if SPSS has it."""
    known, usual = _BY_KIND[column.kind]
    name, width, decimals = _given(column)
    if name not in known:
        name, width, decimals = usual, 0, 0
    found = known[name]
    # Lettered missing values are those of SAS and Stata, whose widths mean something else.
    if column.variable.missing.letters or not found.least <= width <= _WIDEST:
        width = found.width
    if name in _WHOLE:
        decimals = 0
    elif not column.integral and not decimals:
        width, decimals = max(width, found.width) + 1 + _DECIMALS, _DECIMALS
    elif decimals:
        # Decimals stand behind the seconds, for which a narrow format has no room.
        width = max(width, _SECONDS.get(name, found.width) + 1 + decimals)
    if width > _WIDEST:
        width, decimals = found.width, 0
    return found.code << 16 | width << 8 | decimals


def _given(column: OutColumn) -> tuple[str, int, int]:
    """Name, width and decimals of the format that a column had."""
    found = _GIVEN.fullmatch(column.variable.format)
    return ("", 0, 0) if found is None else (found[1], int(found[2]), int(found[3] or 0))


SYSMIS = -sys.float_info.max
_LOWEST = float(np.nextafter(SYSMIS, 0))
_HIGHEST = sys.float_info.max
_EPOCH = 141_428 * 86_400  # seconds from 14 October 1582 to 1970
_SEGMENT, _CHUNK = 255, 252
_SHORT = 8
_LONGEST = 32_767
_LINE = 80
_MOST = float(np.nextafter(-_LOWEST, 0))
"""Beyond are the numbers of a missing value and of the open ends of ranges."""
_ACCEPTED = Accepted(most=_MOST, epoch=_EPOCH, timed_days=True, first_day="1582-10-14")
_HOLDS = HOLDS["sav"]
_MEASURES = {"nominal": 1, "ordinal": 2, "scale": 3}
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


@dataclass
class _Variable:
    """A column as it stands in the dictionary: short names and widths of its segments."""

    column: OutColumn
    name: str
    shorts: tuple[str, ...]
    widths: tuple[int, ...]
    index: int = 0

    @property
    def short(self) -> str:
        """The short name that goes with the long one."""
        return self.shorts[0]

    @property
    def records(self) -> int:
        return sum(max(1, -(-width // 8)) for width in self.widths)


def write_sav(
    table: PublishedCsv,
    book: Codebook,
    path: Path,
    about: About,
    token: CancelToken,
    done: Callable[[int], None],
) -> list[str]:
    """Write ``table`` with what ``book`` says of its columns; sentences about what had to change.

    What ``about`` says of the release stands in the documents of the file. Raises RefusedError
    ``export.too-large`` for a text that is too long.
    """
    columns = survey(table, book, _ACCEPTED, token)
    for column in columns:
        _widen(column)
    given = [column.variable.name for column in columns]
    names = accepted_names(given, 64, first="@", other="#$.")
    variables = _layout(columns, names)
    with path.open("xb") as out:
        _head(out, variables, table.rows, about)
        for variable in variables:
            _record(out, variable)
        for variable in variables:
            _value_labels(out, variable)
        _documents(out, about)
        _extensions(out, variables, table.rows)
        out.write(struct.pack("<ii", 999, 0))
        written = 0
        for piece in pieces(table, token):
            written += _rows(out, variables, piece)
            done(written)
    return told("sav", columns, names, book, about.title)


def _widen(column: OutColumn) -> None:
    """Let a column of texts hold every value that has a label or is missing."""
    if not column.numeric:
        said = column.variable
        longest = (len(code.encode("utf-8")) for code in (*said.value_labels, *said.missing.values))
        column.bytes = max(column.bytes, *longest, 1)


def _layout(columns: Sequence[OutColumn], names: Sequence[str]) -> list[_Variable]:
    variables: list[_Variable] = []
    made = unused_names(names, "V")
    index = 1
    for column, name in zip(columns, names, strict=True):
        if column.numeric:
            widths: tuple[int, ...] = (0,)
        elif column.bytes <= _SEGMENT:
            widths = (column.bytes,)
        else:
            check_length(column, _LONGEST, "an SPSS file")
            count = -(-column.bytes // _CHUNK)
            widths = (_SEGMENT,) * (count - 1) + (column.bytes - (count - 1) * _CHUNK,)
        # Readers that rename one column after another must never meet a name that is taken.
        first = name.upper() if name.isascii() and len(name) <= _SHORT else next(made)
        shorts = (first, *islice(made, len(widths) - 1))
        variables.append(_Variable(column, name, shorts, widths, index))
        index += variables[-1].records
    return variables


def _head(out: IO[bytes], variables: list[_Variable], rows: int, about: About) -> None:
    cases, created = sum(variable.records for variable in variables), about.created
    day = f"{created.day:02d} {_MONTHS[created.month - 1]} {created.year % 100:02d}"
    title = cut_text(about.title, 64)
    out.write(b"$FL2" + b"@(#) SPSS DATA FILE - DPDesk".ljust(60))
    out.write(struct.pack("<iiiiid", 2, cases, 0, 0, rows, 100.0))
    out.write(day.encode() + b"00:00:00" + _padded(title, 64) + bytes(3))


def _documents(out: IO[bytes], about: About) -> None:
    """What is said of the release, in lines of 80 bytes."""
    lines: list[str] = []
    for paragraph in about.lines:
        line = ""
        for word in paragraph.split():
            longer = f"{line} {word}" if line else word
            if len(longer.encode("utf-8")) <= _LINE:
                line = longer
                continue
            lines += [line] if line else []
            while len(word.encode("utf-8")) > _LINE:
                lines.append(cut_text(word, _LINE))
                word = word[len(lines[-1]) :]
            line = word
        lines.append(line)
    if lines:
        out.write(struct.pack("<ii", 6, len(lines)))
        out.write(b"".join(_padded(line, _LINE) for line in lines))


def _padded(text: str, width: int) -> bytes:
    return text.encode("utf-8").ljust(width)


def _display(variable: _Variable, width: int) -> int:
    column = variable.column
    if not column.numeric:
        return 1 << 16 | min(width, _SEGMENT) << 8
    if has_calendar(column):
        return calendar_display(column)
    decimals = min(column.decimals, 16)
    return 5 << 16 | max(8, min(column.digits + 1, 40)) << 8 | decimals


def _record(out: IO[bytes], variable: _Variable) -> None:
    column = variable.column
    label = cut_text(file_label(column, variable.name), _HOLDS.label).encode("utf-8")
    for number, width in enumerate(variable.widths):
        missing = _missing(column) if number == 0 and width <= 8 else []
        count = len(missing)
        if range_held("sav", column.variable, column.numeric):
            count = -(count)
        display = _display(variable, width)
        out.write(struct.pack("<iiiiii", 2, width, int(bool(label) and number == 0), count,
                              display, display)
                  + _padded(variable.shorts[number], _SHORT))  # fmt: skip
        if label and number == 0:
            out.write(struct.pack("<i", len(label)) + label.ljust(-(-len(label) // 4) * 4))
        out.write(b"".join(missing))
        for _ in range(max(1, -(-width // 8)) - 1):
            out.write(struct.pack("<iiiiii", 2, -1, 0, 0, 0, 0) + b"".ljust(8))


def _missing(column: OutColumn) -> list[bytes]:
    """The missing values of the dictionary record, at most three; the range comes first."""
    said = column.variable
    values = missing_held("sav", said, column.numeric)
    if not column.numeric:
        return [_padded(text, 8) for text in values]
    ends: list[float] = []
    if range_held("sav", said, True):
        low, high = said.missing.low, said.missing.high
        ends = [
            _LOWEST if low is None else max(low, _LOWEST),
            _HIGHEST if high is None else min(high, _HIGHEST),
        ]
    return [struct.pack("<d", number) for number in (*ends, *map(_number(column), values))]


def _number(column: OutColumn) -> Callable[[str], float]:
    """How the values of a numeric column are numbers in the file."""
    dated = column.kind in (Kind.DATE, Kind.DATETIME)

    def number(text: str) -> float:
        return (column.code(text) or 0.0) + (_EPOCH if dated else 0)

    return number


def _value_labels(out: IO[bytes], variable: _Variable) -> None:
    column = variable.column
    if not column.numeric and column.bytes > 8:
        return
    number = _number(column)
    codes: list[tuple[bytes, str]] = []
    for code, label in sorted(codes_held("sav", column.variable, column.numeric).items()):
        raw = struct.pack("<d", number(code)) if column.numeric else _padded(code, 8)
        codes.append((raw, label))
    if not codes:
        return
    out.write(struct.pack("<ii", 3, len(codes)))
    for value, label in codes:
        text = cut_text(label, _HOLDS.code).encode("utf-8")
        out.write(value + bytes([len(text)]) + text.ljust(-(-(len(text) + 1) // 8) * 8 - 1))
    out.write(struct.pack("<iii", 4, 1, variable.index))


def _extension(subtype: int, size: int, data: bytes) -> bytes:
    return struct.pack("<iiii", 7, subtype, size, len(data) // size) + data


def _extensions(out: IO[bytes], variables: list[_Variable], rows: int) -> None:
    out.write(_extension(3, 4, struct.pack("<8i", 20, 0, 0, -1, 1, 1, 2, 65001)))
    out.write(_extension(4, 8, struct.pack("<3d", SYSMIS, _HIGHEST, _LOWEST)))
    shown = b"".join(
        struct.pack("<iii", _MEASURES.get(v.column.variable.measure, 0), 8, int(v.column.numeric))
        for v in variables
        for _ in v.widths
    )
    out.write(_extension(11, 4, shown))
    names = "\t".join(f"{v.short}={v.name}" for v in variables).encode("utf-8")
    out.write(_extension(13, 1, names))
    long = b"".join(
        f"{v.short}={v.column.bytes:05d}".encode() + b"\0\t" for v in variables if len(v.widths) > 1
    )
    if long:
        out.write(_extension(14, 1, long))
    out.write(_extension(16, 8, struct.pack("<qq", 1, rows)))
    out.write(_extension(20, 1, b"UTF-8"))
    labels = b"".join(_long_labels(variable) for variable in variables)
    if labels:
        out.write(_extension(21, 1, labels))
    missing = b"".join(_long_missing(variable) for variable in variables)
    if missing:
        out.write(_extension(22, 1, missing))


def _counted(raw: bytes) -> bytes:
    return struct.pack("<i", len(raw)) + raw


def _long_labels(variable: _Variable) -> bytes:
    """Value labels of texts of more than 8 bytes."""
    column = variable.column
    codes = column.variable.value_labels
    if column.numeric or column.bytes <= 8 or not codes:
        return b""
    head = _counted(variable.name.encode()) + struct.pack("<ii", column.bytes, len(codes))
    return head + b"".join(
        _counted(_padded(code, column.bytes)) + _counted(cut_text(label, _HOLDS.code).encode())
        for code, label in sorted(codes.items())
    )


def _long_missing(variable: _Variable) -> bytes:
    """Missing values of texts of more than 8 bytes; SPSS compares their first 8."""
    column = variable.column
    values = missing_held("sav", column.variable, column.numeric)
    if column.numeric or column.bytes <= 8 or not values:
        return b""
    head = _counted(variable.name.encode()) + bytes([len(values)]) + struct.pack("<i", 8)
    return head + b"".join(_padded(text, 8) for text in values)


def _rows(out: IO[bytes], variables: list[_Variable], piece: list[Any]) -> int:
    parts: list[np.ndarray] = []
    for variable, texts in zip(variables, piece, strict=True):
        column = variable.column
        if column.numeric:
            dated = column.kind in (Kind.DATE, Kind.DATETIME)
            numbers = column.stored(texts) if dated else column.numbers(texts)
            numbers = np.where(np.isnan(numbers), SYSMIS, numbers).astype("<f8")
            parts.append(numbers.view(np.uint8).reshape(-1, 8))
            continue
        for number, width in enumerate(variable.widths):
            raw = [text.encode("utf-8")[number * _SEGMENT : (number + 1) * _SEGMENT]
                   for text in texts.to_pylist()]  # fmt: skip
            size = -(-max(1, width) // 8) * 8
            joined = b"".join(item[:size].ljust(size) for item in raw)
            parts.append(np.frombuffer(joined, np.uint8).reshape(-1, size))
    out.write(np.concatenate(parts, axis=1).tobytes())
    return len(piece[0])
