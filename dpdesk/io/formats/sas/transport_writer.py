"""SAS transport files: version 5, or version 8 where names, labels or texts need it."""

from __future__ import annotations

import re
import string
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from dpdesk.core.errors import RefusedError
from dpdesk.core.export_formats import HOLDS
from dpdesk.core.jobs import CancelToken
from dpdesk.core.labels import Codebook, Kind, is_lettered
from dpdesk.core.messages import msg
from dpdesk.io.export_losses import told
from dpdesk.io.formats.moments import shows
from dpdesk.io.formats.outcolumns import (
    SAS_WORDS,
    About,
    Accepted,
    OutColumn,
    accepted_names,
    check_length,
    cut_text,
    file_label,
    fixed_bytes,
    pieces,
    survey,
)
from dpdesk.io.formats.sas.transport_layout import CARD, LARGEST, NAMESTR, SMALLEST, from_ieee

if TYPE_CHECKING:
    from dpdesk.io.published import PublishedCsv

_OLD_TEXT, _NEW_TEXT, _OLD_LABEL, _OLD_COLUMNS = 200, 32_767, 40, 9_999
_NEW_COLUMNS = 32_767
_SIXTIES = 3_653 * 86_400.0  # seconds from 1960 to 1970
_MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
_USUAL = {Kind.DATE: ("E8601DA", 10), Kind.DATETIME: ("E8601DT", 19), Kind.TIME: ("TIME", 8)}
_FORMAT = re.compile(r"(.*?[A-Z])(\d*)\.?(\d*)")
_LETTERS = frozenset(string.ascii_letters + "_")
_ACCEPTED = Accepted(_LETTERS, SMALLEST, LARGEST, epoch=_SIXTIES, first_day="1582-01-01")


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
    about: About,
    token: CancelToken,
    done: Callable[[int], None],
) -> list[str]:
    """Write ``table`` with what ``book`` says of its columns; sentences about what had to change.

    Raises RefusedError ``export.too-large`` for a text that is too long, and for too many columns.
    """
    if len(table.columns) > _NEW_COLUMNS:
        raise RefusedError(
            "export.too-large",
            msg(
                "The table has {columns:,} columns, but a SAS transport file holds at most "
                "{most:,}.",
                columns=len(table.columns),
                most=_NEW_COLUMNS,
            ),
            hint="Export to csv or parquet instead.",
        )
    columns = survey(table, book, _ACCEPTED, token)
    given = [column.variable.name for column in columns]
    old, new = (
        accepted_names(given, most, True, first="_", reserved=SAS_WORDS) for most in (8, 32)
    )
    is_new = old != new or _needs_new(columns, new)
    names = new if is_new else old
    variables: list[_Variable] = []
    for column, name in zip(columns, names, strict=True):
        check_length(column, _NEW_TEXT, "a SAS transport file")
        start = variables[-1].start + variables[-1].width if variables else 0
        label = cut_text(file_label(column, name), HOLDS["xpt"].label)
        variables.append(_Variable(column, name, label, start))
    with path.open("xb") as out:
        _head(out, variables, about, is_new)
        _columns(out, variables, table.rows, is_new)
        written = 0
        for piece in pieces(table, token):
            written += _rows(out, variables, piece)
            done(written)
        out.write(b" " * (-out.tell() % CARD))
    return told("xpt", columns, names, book, about.title)


def _needs_new(columns: Sequence[OutColumn], names: Sequence[str]) -> bool:
    """Whether texts, labels or the number of columns need version 8, or rows that are all blank.

    Version 5 does not say how many rows there are: blank ones at the end would be filling.
    """
    if len(columns) > _OLD_COLUMNS or all(not one.numeric and one.empty for one in columns):
        return True
    return any(
        (not column.numeric and column.bytes > _OLD_TEXT)
        or len(file_label(column, name).encode("utf-8")) > _OLD_LABEL
        for column, name in zip(columns, names, strict=True)
    )


def _card(text: bytes) -> bytes:
    return text.ljust(CARD)


def _header(name: str, digits: str = "0" * 30) -> bytes:
    return _card(f"HEADER RECORD*******{name:<8}HEADER RECORD!!!!!!!{digits}".encode())


def _head(out: IO[bytes], variables: list[_Variable], about: About, is_new: bool) -> None:
    day = about.created
    stamp = f"{day.day:02d}{_MONTHS[day.month - 1]}{day.year % 100:02d}:00:00:00".encode()
    out.write(_header("LIBV8" if is_new else "LIBRARY"))
    out.write(b"SAS     SAS     SASLIB  9.4     DPDesk  ".ljust(64) + stamp + _card(stamp))
    out.write(_header("MEMBV8" if is_new else "MEMBER", "000000000000000001600000000140"))
    out.write(_header("DSCPTV8" if is_new else "DSCRPTR"))
    width = 32 if is_new else 8
    member = b"SAS     " + b"RELEASE".ljust(width) + b"SASDATA 9.4     DPDesk  "
    out.write(member.ljust(64) + stamp)
    label = cut_text(about.title, HOLDS["xpt"].title).encode("utf-8").ljust(40)
    out.write(stamp + b" " * 16 + label + b" " * 8)


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
    display, width, decimals = _format(column)
    return NAMESTR.pack(
        1 if column.numeric else 2, 0, variable.width, number, short, label,
        display.encode().ljust(8), width, decimals, 0, b"", b"".ljust(8), 0, 0, variable.start,
        name.ljust(32) if is_new else b"", len(variable.label.encode()) if is_new else 0, b"",
    )  # fmt: skip


def _format(column: OutColumn) -> tuple[str, int, int]:
    """The display format that the release names, if SAS has it; its width and decimals."""
    if column.kind not in _USUAL:
        return "", 0, 0
    said = column.variable.format.upper()
    given = _FORMAT.fullmatch(said) if shows("xpt", said, column.kind) else None
    if given is not None and len(given[1]) <= 8:
        return given[1], int(given[2] or 0), int(given[3] or 0)
    return (*_USUAL[column.kind], 0)


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
            numbers = column.stored(texts)
        words = from_ieee(numbers)
        if column.letters:
            for at, text in enumerate(texts.to_pylist()):
                if is_lettered(text):
                    words[at] = np.uint64(ord(text[1].upper())) << np.uint64(56)
        parts.append(words.astype(">u8").view(np.uint8).reshape(-1, 8))
    out.write(np.concatenate(parts, axis=1).tobytes())
    return len(piece[0])
