"""SAS transport files: version 5, or version 8 where names, labels or texts need it."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.labels import Codebook, Kind, is_lettered
from dpdesk.io.formats.ibm import LARGEST, from_ieee
from dpdesk.io.formats.outcolumns import (
    OutColumn,
    check_length,
    file_label,
    fixed_bytes,
    pieces,
    renamed,
    survey,
)
from dpdesk.io.formats.outnames import accepted_names, cut_text
from dpdesk.io.formats.xport_layout import CARD, NAMESTR

if TYPE_CHECKING:
    from datetime import date

    from dpdesk.io.published import PublishedCsv

_OLD_TEXT, _NEW_TEXT, _OLD_LABEL = 200, 32_767, 40
_SIXTIES = 3_653 * 86_400.0  # seconds from 1960 to 1970
_MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
_FORMATS = {Kind.DATE: "E8601DA", Kind.DATETIME: "E8601DT", Kind.TIME: "TIME"}
_WIDTHS = {Kind.DATE: 10, Kind.DATETIME: 19, Kind.TIME: 8}


@dataclass(frozen=True)
class _Variable:
    column: OutColumn
    name: str
    label: str
    start: int

    @property
    def width(self) -> int:
        return 8 if self.column.numeric else self.column.bytes


def write_xpt(
    table: PublishedCsv,
    book: Codebook,
    path: Path,
    title: str,
    created: date,
    token: CancelToken,
    done: Callable[[int], None],
) -> list[str]:
    """Write ``table`` with what ``book`` says of its columns; sentences about what had to change.

    Raises RefusedError ``export.too-large`` for a text or a number that is too large.
    """  # fmt: skip
    columns = survey(table, book, True, token)
    given = [column.variable.name for column in columns]
    old, new = (accepted_names(given, most, True, first="_") for most in (8, 32))
    is_new = old != new or any(_needs_new(column) for column in columns)
    names = new if is_new else old
    variables: list[_Variable] = []
    for column, name in zip(columns, names, strict=True):
        _check(column)
        start = variables[-1].start + variables[-1].width if variables else 0
        label = cut_text(file_label(column, name), 256)
        variables.append(_Variable(column, name, label, start))
    with path.open("xb") as out:
        _head(out, variables, title, created, is_new)
        _columns(out, variables, table.rows, is_new)
        written = 0
        for piece in pieces(table, token):
            written += _rows(out, variables, piece)
            done(written)
        out.write(b" " * (-out.tell() % CARD))
    return renamed(columns, names) + _left_out(columns)


def _left_out(columns: Sequence[OutColumn]) -> list[str]:
    """A sentence for what the format has no place for."""
    found = []
    for said in (column.variable for column in columns):
        if said.value_labels:
            found.append(f"The value labels of `{said.name}` are left out: the format has none.")
        if said.missing.declared:
            found.append(
                f"The missing codes of `{said.name}` are kept as values: the format has no list of "
                "them."
            )
    return found


def _needs_new(column: OutColumn) -> bool:
    too_long = not column.numeric and column.bytes > _OLD_TEXT
    return too_long or len(column.variable.label.encode()) > _OLD_LABEL


def _check(column: OutColumn) -> None:
    check_length(column, _NEW_TEXT, "a SAS transport file")
    if column.numeric and max(abs(column.low), abs(column.high)) > LARGEST:
        raise RefusedError(
            "export.too-large",
            f"The column `{column.variable.name}` holds a number beyond ±7.2e75, the largest that "
            "a SAS transport file holds.",
            hint="Export to csv or parquet instead.",
        )


def _card(text: bytes) -> bytes:
    return text.ljust(CARD)


def _header(name: str, digits: str = "0" * 30) -> bytes:
    return _card(f"HEADER RECORD*******{name:<8}HEADER RECORD!!!!!!!{digits}".encode())


def _head(
    out: IO[bytes], variables: list[_Variable], title: str, created: date, is_new: bool
) -> None:
    day = f"{created.day:02d}{_MONTHS[created.month - 1]}{created.year % 100:02d}:00:00:00".encode()
    out.write(_header("LIBV8" if is_new else "LIBRARY"))
    out.write(b"SAS     SAS     SASLIB  9.4     DPDesk  ".ljust(64) + day + _card(day))
    out.write(_header("MEMBV8" if is_new else "MEMBER", "000000000000000001600000000140"))
    out.write(_header("DSCPTV8" if is_new else "DSCRPTR"))
    width = 32 if is_new else 8
    member = b"SAS     " + b"RELEASE".ljust(width) + b"SASDATA 9.4     DPDesk  "
    out.write(member.ljust(64) + day)
    label = cut_text(title, 40).encode("utf-8").ljust(40)
    out.write(day + b" " * 16 + label + b" " * 8)


def _columns(out: IO[bytes], variables: list[_Variable], rows: int, is_new: bool) -> None:
    count = len(variables)
    digits = f"000000{count:04d}" if not is_new else f"0000{count:06d}"
    out.write(_header("NAMSTV8" if is_new else "NAMESTR", digits.ljust(30, "0")))
    names = b"".join(_namestr(j, v, is_new) for j, v in enumerate(variables, start=1))
    out.write(names + b" " * (-len(names) % CARD))
    long = [(j, v) for j, v in enumerate(variables, start=1) if _is_long(v)]
    if is_new and long:
        out.write(_header("LABELV8", f"{len(long)}".ljust(30)))
        raw = b"".join(_long_label(j, variable) for j, variable in long)
        out.write(raw + b" " * (-len(raw) % CARD))
    out.write(_header("OBSV8", f"{rows:>15}".ljust(30)) if is_new else _header("OBS"))


def _is_long(variable: _Variable) -> bool:
    return len(variable.label.encode()) > _OLD_LABEL


def _long_label(number: int, variable: _Variable) -> bytes:
    name, label = variable.name.encode(), variable.label.encode()
    return struct.pack(">hhh", number, len(name), len(label)) + name + label


def _namestr(number: int, variable: _Variable, is_new: bool) -> bytes:
    column, name = variable.column, variable.name.encode()
    short = cut_text(variable.name, 8).encode().ljust(8)
    label = cut_text(variable.label, _OLD_LABEL).encode().ljust(40)
    display, width = _FORMATS.get(column.kind, ""), _WIDTHS.get(column.kind, 0)
    return NAMESTR.pack(
        1 if column.numeric else 2, 0, variable.width, number, short, label,
        display.encode().ljust(8), width, 0, 0, b"", b"".ljust(8), 0, 0, variable.start,
        name.ljust(32) if is_new else b"", len(variable.label.encode()) if is_new else 0, b"",
    )  # fmt: skip


def _rows(out: IO[bytes], variables: Sequence[_Variable], piece: list[Any]) -> int:
    parts: list[Any] = []
    for variable, texts in zip(variables, piece, strict=True):
        column = variable.column
        if not column.numeric:
            parts.append(fixed_bytes(texts, variable.width))
            continue
        numbers = column.numbers(texts)
        if column.kind is Kind.DATE:
            numbers = (numbers + _SIXTIES) / 86_400
        elif column.kind is Kind.DATETIME:
            numbers = numbers + _SIXTIES
        words = from_ieee(numbers)
        if column.letters:
            for at, text in enumerate(texts.to_pylist()):
                if is_lettered(text):
                    words[at] = np.uint64(ord(text[1].upper())) << np.uint64(56)
        parts.append(words.astype(">u8").view(np.uint8).reshape(-1, 8))
    out.write(np.concatenate(parts, axis=1).tobytes())
    return len(piece[0])
