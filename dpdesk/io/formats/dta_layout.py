"""Where the values of a Stata file lie, as far as a scan needs them.

The layout is that of Stata's own descriptions: ``help dta_115`` for formats 113 to 115, ``help
dta_117`` and ``help dta`` for 117 to 119. In 116, never released, and in those before 113 nothing
is told.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from dpdesk.io.formats.table import damaged

DOUBLE, FLOAT = 8, 4

_TAGGED = re.compile(
    rb"<stata_dta><header><release>(11[789])</release><byteorder>(LSF|MSF)</byteorder><K>"
)
_MAP = b"<map>"
_HEAD, _START = 4096, b"<stata_dta>"
_OLD = (113, 114, 115)
_OLD_ORDERS, _OLD_HEADER, _OLD_LABEL = {1: ">", 2: "<"}, 109, 81
_NAME, _FORMAT = 33, {113: 12, 114: 49, 115: 49}
_OLD_WIDTHS = {251: 1, 252: 2, 253: 4, 254: 4, 255: 8}
_WIDTHS = {65530: 1, 65529: 2, 65528: 4, 65527: 4, 65526: 8, 32768: 8}
_FLOATING = {254: FLOAT, 255: DOUBLE, 65527: FLOAT, 65526: DOUBLE}
_LONG_TEXT = 32768


@dataclass(frozen=True)
class DtaLayout:
    """What a scan of the rows has to know.

    ``floats`` holds, for each column of floating-point numbers, its number from 0, its place in a
    row and its bytes (4 or 8). ``texts`` is where the long texts (strL) begin, 0 when there are
    none; the bytes of a row number are ``wide`` there.
    """

    order: str
    rows: int
    row_bytes: int
    start: int
    columns: int
    floats: tuple[tuple[int, int, int], ...]
    texts: int = 0
    wide: int = 8


def read_layout(path: Path) -> DtaLayout | None:
    """Header of a file; None for formats that Stata wrote before 2003.

    Raises InputError ``read.damaged``.
    """
    with path.open("rb") as file:
        head = file.read(_HEAD)
        try:
            if head.startswith(_START):
                return _tagged(file, head)
            return _old(file, head) if head[:1] and head[0] in _OLD else None
        except (struct.error, ValueError, KeyError, IndexError) as error:
            raise damaged(path.name, "the descriptions of its columns are damaged") from error


def _tagged(file: IO[bytes], head: bytes) -> DtaLayout:
    found = _TAGGED.match(head)
    if found is None:
        raise ValueError("a header of another kind")
    release, order = int(found[1]), "<" if found[2] == b"LSF" else ">"
    count, at = _number(head, found.end(), order, 4 if release == 119 else 2)
    rows, at = _number(head, at + len(b"</K><N>"), order, 4 if release == 117 else 8)
    length, at = _number(head, at + len(b"</N><label>"), order, 1 if release == 117 else 2)
    at += length + len(b"</label><timestamp>")
    at += 1 + head[at] + len(b"</timestamp></header>")
    if head[at : at + len(_MAP)] != _MAP:
        raise ValueError("no map")
    places = struct.unpack_from(f"{order}14Q", head, at + len(_MAP))
    if max(places) > file.seek(0, 2):
        raise ValueError("a part behind the end of the file")
    file.seek(places[2] + len(b"<variable_types>"))
    kinds = struct.unpack(f"{order}{count}H", file.read(2 * count))
    floats, width = _floats(kinds, _WIDTHS)
    texts = places[10] + len(b"<strls>") if _LONG_TEXT in kinds else 0
    start = places[9] + len(b"<data>")
    return DtaLayout(
        order, rows, width, start, count, floats, texts, 4 if release == 117 else 8
    )  # fmt: skip


def _number(raw: bytes, at: int, order: str, size: int) -> tuple[int, int]:
    """An unsigned number of ``size`` bytes, and the place behind it."""
    part = raw[at : at + size]
    if len(part) < size:
        raise ValueError("the header breaks off")
    return int.from_bytes(part, "little" if order == "<" else "big"), at + size


def _old(file: IO[bytes], head: bytes) -> DtaLayout:
    release, order = head[0], _OLD_ORDERS[head[1]]
    count, rows = struct.unpack_from(f"{order}Hi", head, 4)
    file.seek(_OLD_HEADER)
    kinds = tuple(file.read(count))
    described = 2 * (count + 1) + count * (2 * _NAME + _FORMAT[release] + _OLD_LABEL)
    file.seek(described, 1)
    while True:
        kind, length = struct.unpack(f"{order}Bi", file.read(5))
        if kind == 0 and length == 0:
            break
        if length < 0:
            raise ValueError("an entry of less than no bytes")
        file.seek(length, 1)
    floats, width = _floats(kinds, _OLD_WIDTHS)
    return DtaLayout(order, rows, width, file.tell(), count, floats)


def _floats(
    kinds: tuple[int, ...], widths: dict[int, int]
) -> tuple[tuple[tuple[int, int, int], ...], int]:
    """Columns of floating-point numbers, and the bytes of a row."""
    found: list[tuple[int, int, int]] = []
    at = 0
    for j, kind in enumerate(kinds):
        if kind in _FLOATING:
            found.append((j, at, _FLOATING[kind]))
        at += widths.get(kind, kind)
    return tuple(found), at
