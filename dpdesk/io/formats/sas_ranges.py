"""What a SAS catalogue holds beside labels of single values: ranges, and a label for all others.

The reading library takes of each entry the first value alone. SAS has not published the layout;
this follows what ReadStat, the library, knows of it. An entry of numbers holds four of them, of
which all are the same for a single value. So whoever follows it must be ready to find that a file
is different: ValueError says so.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_WIDE, _SHIFTED, _LITTLE = 0x33, 0x33, 1
_HEADER = 288
_MARK = b"XLSR"
_NUMBERS, _VALUES = 54, 22
"""Bytes of an entry of numbers, and where its values begin."""
_TEXT, _LABEL = 16, 5
_PADDED, _LONG, _LONG_WIDE = 0x08, 0x80, 0x20


@dataclass(frozen=True)
class Format:
    """A format of a catalogue.

    ``ranges`` holds what those of its entries begin with, as the library takes it, that are ranges
    or nothing known; ``others`` says that there is a label for all other values.
    """

    name: str
    ranges: tuple[float | str, ...]
    others: bool


def formats_of(path: Path) -> dict[str, Format]:
    """The formats of a catalogue by their names in capitals.

    Raises ValueError, IndexError or struct.error when it cannot be followed.
    """
    catalog = _Catalog(path.read_bytes())
    found = (catalog.format_of(block) for block in catalog.blocks())
    return {one.name.upper(): one for one in found if one is not None}


class _Catalog:
    def __init__(self, raw: bytes) -> None:
        if len(raw) < _HEADER:
            raise ValueError("the header breaks off")
        self._raw = raw
        self._wide = raw[32] == _WIDE
        self._pad = 4 if raw[35] == _SHIFTED else 0
        self._order = "<" if raw[37] == _LITTLE else ">"
        self._start, self._page = struct.unpack_from(f"{self._order}II", raw, 196 + self._pad)
        if not 0 < self._page <= len(raw):
            raise ValueError("an impossible size of pages")

    def _number(self, kind: str, raw: bytes, at: int) -> int:
        return int(struct.unpack_from(self._order + kind, raw, at)[0])

    def blocks(self) -> Iterator[bytes]:
        """The parts of the file that hold formats, each put together from its pieces."""
        seen = set()
        state = 50 + self._pad + (24 if self._wide else 0)
        at = self._raw.find(_MARK)
        while at >= 0:
            if self._raw[at + state : at + state + 1] == b"O":
                page = self._number(
                    "I" if self._wide else "H", self._raw, at + 4 * (1 + self._wide)
                )
                place = self._number("H", self._raw, at + 8 * (1 + self._wide))
                if (page, place) not in seen:
                    seen.add((page, place))
                    yield self._block(page, place)
            at = self._raw.find(_MARK, at + 4)

    def _block(self, page: int, place: int) -> bytes:
        made, links, head = b"", 0, 32 if self._wide else 16
        while page > 0 and place > 0 and links <= len(self._raw) // self._page:
            at = self._start + (page - 1) * self._page + place
            link = self._raw[at : at + head]
            page = self._number("I", link, 0)
            place, size = struct.unpack_from(f"{self._order}HH", link, 8 if self._wide else 4)
            made += self._raw[at + head : at + head + size]
            links += 1
        return made

    def format_of(self, block: bytes) -> Format | None:
        """The format of a block, if it is one that has values."""
        if len(block) < 106:
            return None
        pad = 4 if block[2] & _PADDED else 0
        *places, start = (42, 50, 74, 138) if self._wide else (38, 42, 66, 106)
        values, labels, other = (self._number("I", block, at + pad) for at in places)
        name, start = block[8:16], start + pad + (_TEXT if pad else 0)
        if block[2] & (_LONG_WIDE if self._wide else _LONG):
            name, start = block[start : start + 32], start + 32
        if labels == 0:
            return None
        entries, at = [], start
        for _ in range(values):
            entries.append(block[at : at + 6 + block[at + 2]])
            at += len(entries[-1])
        if at > len(block) or not all(len(entry) > _VALUES for entry in entries):
            raise ValueError("an entry that breaks off")
        starts = tuple(_starts(entries, name.startswith(b"$")))
        text = name.decode("latin-1").rstrip(" \0")
        others = other > 0 or max(labels, self._labels(block, at)) > values
        return Format(text, starts, others)

    def _labels(self, block: bytes, at: int) -> int:
        """The number of labels that stand from there on."""
        count = 0
        while at + 10 < len(block) and self._number("H", block, at) == _LABEL:
            at += 11 + self._number("H", block, at + 8)
            count += 1
        return count


def _starts(entries: list[bytes], texts: bool) -> Iterator[float | str]:
    """What those entries begin with that are no single values."""
    for entry in entries:
        if texts and len(entry) != _VALUES + _TEXT:
            yield entry[-_TEXT:].decode("latin-1").rstrip(" \0")
        parts = {entry[at : at + 8] for at in range(_VALUES, len(entry), 8)}
        if not texts and (len(parts) > 1 or len(entry) != _NUMBERS):
            yield _number(entry[_VALUES : _VALUES + 8].ljust(8, b"\0"))


def _number(raw: bytes) -> float:
    """A number from eight bytes that sort as numbers do: its sign inverted, or all if negative."""
    bits = int.from_bytes(raw, "big")
    bits ^= 1 << 63 if bits >> 63 else (1 << 64) - 1
    return float(struct.unpack(">d", bits.to_bytes(8, "big"))[0])
