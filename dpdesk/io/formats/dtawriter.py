"""Stata files (.dta, format 118: Stata 14 and later), written as they stream."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from dpdesk.core.jobs import CancelToken
from dpdesk.core.labels import Codebook, Kind, is_lettered
from dpdesk.io.formats.outcolumns import (
    OutColumn,
    check_length,
    code_number,
    file_label,
    fixed_bytes,
    pieces,
    renamed,
    survey,
)
from dpdesk.io.formats.outnames import accepted_names, cut_text

if TYPE_CHECKING:
    from datetime import date

    from dpdesk.io.published import PublishedCsv

_LONGEST = 2_045
_PERIOD = re.compile(r"%-?t[Cwmqhyb].*")
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


@dataclass(frozen=True)
class _Variable:
    column: OutColumn
    name: str
    storage: _Storage | None

    @property
    def width(self) -> int:
        if self.storage is None:
            return self.column.bytes
        return np.dtype(self.storage.type).itemsize


def write_dta(
    table: PublishedCsv,
    book: Codebook,
    path: Path,
    title: str,
    created: date,
    token: CancelToken,
    done: Callable[[int], None],
) -> list[str]:
    """Write ``table`` with what ``book`` says of its columns; sentences about what had to change.

    Raises RefusedError ``export.too-large`` for a text that is too long.
    """  # fmt: skip
    columns = survey(table, book, True, token)
    names = accepted_names([column.variable.name for column in columns], 32, first="_")
    variables = [
        _Variable(column, name, _storage(column))
        for column, name in zip(columns, names, strict=True)
    ]
    with path.open("xb") as out:
        places = {"stata_dta": 0}
        _head(out, variables, table.rows, title, created)
        _dictionary(out, variables, places)
        places["data"] = out.tell()
        out.write(b"<data>")
        written = 0
        for piece in pieces(table, token):
            written += _rows(out, variables, piece)
            done(written)
        out.write(b"</data>")
        _tail(out, variables, places)
    return renamed(columns, names) + _unlabelled(variables)


def _storage(column: OutColumn) -> _Storage | None:
    check_length(column, _LONGEST, "a Stata file")
    if not column.numeric:
        return None
    if column.kind is Kind.NUMBER and column.integral:
        for storage in _STORAGES:
            if storage.low <= column.low and column.high <= storage.high:
                return storage
    return _DOUBLE


def _unlabelled(variables: Sequence[_Variable]) -> list[str]:
    """What the format has no place for."""
    notes = []
    for variable in variables:
        said = variable.column.variable
        if said.value_labels and not _codes(variable):
            notes.append(f"The value labels of `{said.name}` are left out: Stata labels integers.")
        if said.missing.declared:
            notes.append(
                f"The missing codes of `{said.name}` are kept as values: Stata has no list of them."
            )
    return notes


def _head(out: IO[bytes], variables: list[_Variable], rows: int, title: str, created: date) -> None:
    label = cut_text(title, 80).encode("utf-8")
    stamp = f"{created.day:02d} {_MONTHS[created.month - 1]} {created.year} 00:00".encode()
    out.write(
        b"<stata_dta><header><release>118</release><byteorder>LSF</byteorder><K>"
        + struct.pack("<H", len(variables)) + b"</K><N>" + struct.pack("<Q", rows)
        + b"</N><label>" + struct.pack("<H", len(label)) + label + b"</label><timestamp>"
        + bytes([len(stamp)]) + stamp + b"</timestamp></header>"
    )  # fmt: skip


def _dictionary(out: IO[bytes], variables: list[_Variable], places: dict[str, int]) -> None:
    def section(name: str, data: bytes) -> None:
        places[name] = out.tell()
        out.write(f"<{name}>".encode() + data + f"</{name}>".encode())

    def texts(values: Sequence[str], width: int) -> bytes:
        return b"".join(cut_text(v, width - 1).encode().ljust(width, b"\0") for v in values)

    section("map", bytes(8 * len(_PLACES)))
    codes = [v.column.bytes if v.storage is None else v.storage.code for v in variables]
    section("variable_types", struct.pack(f"<{len(codes)}H", *codes))
    section("varnames", texts([v.name for v in variables], 129))
    section("sortlist", bytes(2 * (len(variables) + 1)))
    section("formats", texts([_display(v) for v in variables], 57))
    labels = [f"labels{j}" if _codes(v) else "" for j, v in enumerate(variables)]
    section("value_label_names", texts(labels, 129))
    section("variable_labels", texts([_short_label(v) for v in variables], 321))
    section("characteristics", b"")


def _short_label(variable: _Variable) -> str:
    return file_label(variable.column, variable.name)[:80]


def _display(variable: _Variable) -> str:
    column = variable.column
    if not column.numeric:
        return f"%{min(column.bytes, 244)}s"
    given = column.variable.format
    shown = {Kind.DATE: "%td", Kind.DATETIME: "%tc", Kind.TIME: "%tcHH:MM:SS"}
    if column.kind in shown:
        return given if given.startswith(("%t", "%-t")) else shown[column.kind]
    if _PERIOD.fullmatch(given):
        return given
    return "%9.0g" if column.integral else "%10.0g"


def _codes(variable: _Variable) -> list[tuple[int, str]]:
    """Value labels of an integer column, lettered missing values too."""
    if variable.storage is None or variable.column.kind is not Kind.NUMBER:
        return []
    found: list[tuple[int, str]] = []
    for code, label in variable.column.variable.value_labels.items():
        number = code_number(code)
        if is_lettered(code) and code[1] != "_":
            found.append((2_147_483_621 + _letter(code), label))
        elif number is not None and number.is_integer() and abs(number) < 2_147_483_621:
            found.append((int(number), label))
    return sorted(found)


def _letter(text: str) -> int:
    return ord(text[1].lower()) - ord("a") + 1 if text[1] != "_" else 0


def _rows(out: IO[bytes], variables: list[_Variable], piece: list[Any]) -> int:
    parts: list[Any] = []
    for variable, texts in zip(variables, piece, strict=True):
        if variable.storage is None:
            parts.append(fixed_bytes(texts, variable.width, 0))
            continue
        raw = _numbers(variable.column, variable.storage, texts)
        parts.append(raw.view(np.uint8).reshape(len(texts), variable.width))
    out.write(np.concatenate(parts, axis=1).tobytes())
    return len(piece[0])


def _numbers(column: OutColumn, storage: _Storage, texts: Any) -> Any:
    numbers = column.numbers(texts)
    if column.kind is Kind.DATE:
        numbers = (numbers + _SIXTIES) / 86_400
    elif column.kind is Kind.DATETIME:
        numbers = (numbers + _SIXTIES) * 1_000
    elif column.kind is Kind.TIME:
        numbers = numbers * 1_000
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
    places["strls"] = out.tell()
    out.write(b"<strls></strls>")
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
    starts = [sum(len(text) for text in texts[:j]) for j in range(len(texts))]
    count, joined = len(codes), b"".join(texts)
    values = struct.pack(f"<{count}i", *(code for code, _ in codes))
    table = struct.pack("<ii", count, len(joined)) + struct.pack(f"<{count}i", *starts)
    table += values + joined
    head = struct.pack("<i", len(table)) + name.encode().ljust(129, b"\0") + bytes(3)
    return b"<lbl>" + head + table + b"</lbl>"
