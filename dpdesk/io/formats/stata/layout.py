"""Where the values of a Stata file lie, as far as a scan needs them.

The layout is that of Stata's own descriptions: ``help dta_115`` for formats 113 to 115, ``help
dta_117`` and ``help dta`` for 117 to 119; those of 104 to 112 differ from 113 in widths alone. Of
116, never released, nothing is told.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Collection
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import IO

from dpdesk.io.formats.table import damaged

DOUBLE, FLOAT = 8, 4

_TAGGED = re.compile(
    rb"<stata_dta><header><release>(11[789])</release><byteorder>(LSF|MSF)</byteorder><K>"
)
_MAP = b"<map>"
_HEAD, _START = 4096, b"<stata_dta>"
_OLD, _OLDEST = (113, 114, 115), 104
_OLD_ORDERS = {1: ">", 2: "<"}
_LETTERED_WIDTHS = {ord("b"): 1, ord("i"): 2, ord("l"): 4, ord("f"): 4, ord("d"): 8}
_OLD_WIDTHS = {251: 1, 252: 2, 253: 4, 254: 4, 255: 8}
_WIDTHS = {65530: 1, 65529: 2, 65528: 4, 65527: 4, 65526: 8, 32768: 8}
_FLOATING = {254: FLOAT, 255: DOUBLE, 65527: FLOAT, 65526: DOUBLE}
_LONG_TEXT = 32768


@dataclass(frozen=True)
class DtaLayout:
    """What a scan of the rows has to know.

    ``floats`` holds, for each column of floating-point numbers, its number from 0, its place in a
    row and its bytes (4 or 8). ``texts`` is where the long texts (strL) begin, 0 when there are
    none; the bytes of a row number are ``wide`` there. ``longs`` holds the columns of such texts,
    with their places in a row; ``strings`` those of fixed length, with places and bytes. ``extras``
    is where the characteristics begin (see :mod:`dpdesk.io.formats.stata.labels`), 0
    before format 105, which has none.
    """

    order: str
    rows: int
    row_bytes: int
    start: int
    columns: int
    floats: tuple[tuple[int, int, int], ...]
    texts: int = 0
    wide: int = 8
    release: int = 0
    names: tuple[bytes, ...] = ()
    longs: tuple[tuple[int, int], ...] = ()
    strings: tuple[tuple[int, int, int], ...] = ()
    extras: int = 0
    labels: int = 0


def read_layout(path: Path) -> DtaLayout | None:
    """Header of a file; None for formats that Stata wrote before 2003.

    Raises InputError ``read.damaged``.
    """
    layout = read_any_layout(path)
    return layout if layout is not None and layout.release >= _OLD[0] else None


def read_any_layout(path: Path) -> DtaLayout | None:
    """Header of a file of format 104 or later, None for others; ``floats`` is empty before 113.

    Raises InputError ``read.damaged``.
    """
    with path.open("rb") as file:
        head = file.read(_HEAD)
        try:
            if head.startswith(_START):
                return _tagged(file, head)
            is_old = head[:1] and _OLDEST <= head[0] <= _OLD[-1]
            return _old(file, head) if is_old else None
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
    file.seek(places[3] + len(b"<varnames>"))
    names = _names(file, count, 33 if release == 117 else 129)
    wide = 4 if release == 117 else 8
    longs, strings = _longs(kinds), _strings(kinds, _WIDTHS, _WIDTHS)
    extras = places[8] + len(b"<characteristics>")
    labels = places[11] + len(b"<value_labels>")
    return DtaLayout(
        order, rows, width, start, count, floats, texts, wide, release, names, longs, strings,
        extras, labels,
    )  # fmt: skip


def _longs(kinds: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
    places = accumulate((_WIDTHS.get(kind, kind) for kind in kinds), initial=0)
    return tuple(
        (j, at)
        for j, (kind, at) in enumerate(zip(kinds, places, strict=False))
        if kind == _LONG_TEXT
    )


def _strings(
    kinds: tuple[int, ...], widths: dict[int, int], numbers: Collection[int]
) -> tuple[tuple[int, int, int], ...]:
    """Columns of texts of fixed length; ``numbers`` are the kinds that are none."""
    sizes = [widths.get(kind, kind) for kind in kinds]
    places = accumulate(sizes, initial=0)
    return tuple(
        (j, at, sizes[j])
        for j, (kind, at) in enumerate(zip(kinds, places, strict=False))
        if kind not in numbers and sizes[j] > 0
    )


def _names(file: IO[bytes], count: int, width: int) -> tuple[bytes, ...]:
    return tuple(file.read(width).partition(b"\0")[0] for _ in range(count))


def _number(raw: bytes, at: int, order: str, size: int) -> tuple[int, int]:
    """An unsigned number of ``size`` bytes, and the place behind it."""
    part = raw[at : at + size]
    if len(part) < size:
        raise ValueError("the header breaks off")
    return int.from_bytes(part, "little" if order == "<" else "big"), at + size


def _old(file: IO[bytes], head: bytes) -> DtaLayout:
    release, order = head[0], _OLD_ORDERS[head[1]]
    count, rows = struct.unpack_from(f"{order}Hi", head, 4)
    if rows < 0:
        raise ValueError("less than no rows")
    label, stamp = 32 if release < 108 else 81, 0 if release < 105 else 18
    file.seek(10 + label + stamp)
    kinds, name = tuple(file.read(count)), 9 if release < 110 else 33
    names = _names(file, count, name)
    form = 7 if release < 105 else 12 if release < 114 else 49
    file.seek(2 * (count + 1) + count * (form + name + label), 1)
    extras, entry = 0 if release < 105 else file.tell(), entry_head(order, release)
    while release >= 105:
        kind, length = struct.unpack(entry, file.read(struct.calcsize(entry)))
        if kind == 0 and length == 0:
            break
        if length < 0:
            raise ValueError("an entry of less than no bytes")
        file.seek(length, 1)
    if release < 111:
        numbers = _LETTERED_WIDTHS
        widths = {one: numbers.get(one, one - 0x7F) for one in kinds}
    else:
        numbers = widths = _OLD_WIDTHS
    floats, width = _floats(kinds, widths)
    if release < _OLD[0]:
        floats = ()
    start = file.tell()
    return DtaLayout(
        order, rows, width, start, count, floats, release=release, names=names,
        strings=_strings(kinds, widths, numbers), extras=extras, labels=start + rows * width,
    )  # fmt: skip


def entry_head(order: str, release: int) -> str:
    """How the head of a characteristic, its kind and its length, is packed before format 117."""
    return f"{order}B{'h' if release < 110 else 'i'}"


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
