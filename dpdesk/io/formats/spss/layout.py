"""Where the values of an SPSS file lie: header and dictionary, as far as a scan needs them.

The layout is that of the PSPP developers' guide, chapter "System File Format".
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import IO

from dpdesk.core.messages import msg
from dpdesk.io.formats.table import damaged

PLAIN, BYTECODE, ZLIB = 0, 1, 2
SLOT = 8

_HEADER_BYTES = 176
_VARIABLE, _LABELS, _LABELLED, _DOCUMENT, _EXTENSION, _END = 2, 3, 4, 6, 7, 999
_MACHINE, _FLOATS, _LONG_NAMES, _VERY_LONG, _ENCODING, _LONG_LABELS = 3, 4, 13, 14, 20, 21
_LONG_MISSING, _LONG_COUNT = 22, 16
_FILE_ATTRIBUTES, _ATTRIBUTES = 17, 18
_ATTRIBUTE = re.compile(rb"([^:/()\[\]\n]+)(?:\[[0-9]+\])?\((?:'[^\n]*'\n)+\)")
"""The name of an attribute, before its values in marks, each on a line of its own."""
_LONGEST_NAME = 64
_HELD_PAGES = (1255, 1258)
_ASCII = (0, 2, 3)
"""Code pages that say nothing of letters beyond those of ASCII; 0 where there is none."""
_LAYOUTS = (2, 3)
_SEGMENT, _KEPT, _TEXT_FORM = 255, 252, 1
_SYSMIS, _HIGHEST, _LOWEST = 0xFFEFFFFFFFFFFFFF, 0x7FEFFFFFFFFFFFFF, 0xFFEFFFFFFFFFFFFE


@dataclass(frozen=True)
class Cells:
    """The values of a column within a row: its first slot of 8 bytes, the slots of each segment.

    A text of more than 255 bytes is kept in several segments; a number has one slot.
    ``shown_as_text`` is what one of its formats says.
    """

    start: int
    segments: tuple[int, ...]
    numeric: bool
    shown_as_text: bool = False


@dataclass(frozen=True)
class Label:
    """A label as its bytes: of a column, or of one of its values where ``code`` tells which.

    ``column`` counts from 0; it is the name where the file names the column instead.
    """

    column: int | bytes
    code: bytes | None
    text: bytes


@dataclass(frozen=True)
class SavLayout:
    """What a scan of the rows has to know.

    ``order`` is ``"<"`` or ``">"``; ``sysmis``, ``highest`` and ``lowest`` are the bits of the
    numbers that the file keeps for a missing value and for the open ends of ranges; ``slots`` the
    slots of a row; ``start`` the place of the first byte behind the dictionary; ``rows`` how many
    rows the file says that it has, None where it does not.
    """

    order: str
    compression: int
    bias: float
    sysmis: int
    highest: int
    lowest: int
    columns: tuple[Cells, ...]
    slots: int
    start: int
    rows: int | None = None
    labels: tuple[Label, ...] = ()
    names: tuple[bytes, ...] = ()
    short: tuple[bytes, ...] = ()
    missing: tuple[tuple[bytes, tuple[bytes, ...]], ...] = ()


@dataclass(frozen=True)
class _Record:
    """A variable record: its width (0: a number), its slots, its name of 8 bytes, its label."""

    width: int
    slots: int
    name: bytes
    label: bytes | None = None
    as_text: bool = False


def read_layout(path: Path) -> SavLayout:
    """Header and dictionary of a file; raises InputError ``read.damaged``."""
    with path.open("rb") as file:
        try:
            return _Dictionary(file).layout()
        except (struct.error, ValueError, IndexError) as error:
            raise damaged(path.name, "the descriptions of its columns are damaged") from error


def check_labels(path: Path) -> None:
    """Raise InputError ``read.damaged`` for value labels of a column that there is not.

    The reading library breaks down at them. What else is wrong with a file is its to say.
    """
    with path.open("rb") as file, suppress(struct.error, ValueError, IndexError):
        dictionary = _Dictionary(file)
        try:
            dictionary.layout()
        except _NoColumnError as error:
            what = "value labels are given to a column that the file does not describe"
            raise damaged(
                path.name,
                msg(
                    "{what} (place {error} of {places:,})",
                    what=what,
                    error=error,
                    places=dictionary.places,
                ),
            ) from error


def stated_rows(path: Path) -> int | None:
    """How many rows a file says that it has; None where it does not, or cannot be followed."""
    with path.open("rb") as file, suppress(struct.error, ValueError, IndexError):
        return _Dictionary(file).layout().rows
    return None


def named_encoding(path: Path) -> str:
    """The encoding that a file names, empty where it names none."""
    with path.open("rb") as file, suppress(struct.error, ValueError, IndexError):
        dictionary = _Dictionary(file)
        dictionary.layout()
        return dictionary.encoding
    return ""


def names_encoding(path: Path) -> bool:
    """Whether a file names its encoding, or a code page other than that of ASCII."""
    with path.open("rb") as file, suppress(struct.error, ValueError, IndexError):
        dictionary = _Dictionary(file)
        dictionary.layout()
        return bool(dictionary.encoding) or dictionary.code_page not in _ASCII
    return False


def told_encoding(path: Path) -> str:
    """The name of its encoding that a file holds, or of a code page that keeps letters back."""
    with path.open("rb") as file, suppress(struct.error, ValueError, IndexError):
        dictionary = _Dictionary(file)
        dictionary.layout()
        page = dictionary.code_page
        return dictionary.encoding or (f"WINDOWS-{page}" if page in _HELD_PAGES else "")
    return ""


@dataclass(frozen=True)
class Declared:
    """What a file declares beside columns and values, as far as :func:`declared` tells it.

    ``attributes`` are those that people gave to columns or to the file, not those of SPSS, such as
    ``$@Role``. ``weight`` is the column, counted from 0, by which SPSS weights the rows.
    """

    attributes: tuple[str, ...] = ()
    weight: int | None = None


def declared(path: Path) -> Declared:
    """Custom attributes and weight of a file; nothing of one that cannot be followed."""
    with path.open("rb") as file, suppress(struct.error, ValueError, IndexError, LookupError):
        dictionary = _Dictionary(file)
        columns = dictionary.layout().columns
        encoding = dictionary.encoding or "latin-1"
        names = [name.decode(encoding, "replace") for name in dictionary.attributes]
        own = dict.fromkeys(name for name in names if not name.startswith(("$", "@")))
        slots = {cells.start + 1: j for j, cells in enumerate(columns)}
        return Declared(tuple(own), slots.get(dictionary.weight))
    return Declared()


class _NoColumnError(ValueError):
    """Value labels of a place of which no column is described."""


class _Dictionary:
    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._end = file, file.seek(0, 2)
        self.places, self.encoding, self.code_page = 0, "", 0
        file.seek(0)
        raw = file.read(_HEADER_BYTES)
        self._order = next(
            order for order in ("<", ">", "") if not order or self._is_order(raw, order)
        )
        if not self._order:
            raise ValueError("no layout code")
        self._compression = int(self._unpack("i", raw, 72)[0])
        self.weight, self._rows = self._unpack("2i", raw, 76)
        self._many = -1
        self._bias = float(self._unpack("d", raw, 84)[0])
        self._records: list[_Record] = []
        self._long: dict[bytes, int] = {}
        self._names: dict[bytes, bytes] = {}
        self._labels: list[tuple[int, bytes, bytes]] = []
        self._named: list[Label] = []
        self._missing: list[tuple[bytes, tuple[bytes, ...]]] = []
        self.attributes: list[bytes] = []
        self._floats = (_SYSMIS, _HIGHEST, _LOWEST)

    @staticmethod
    def _is_order(raw: bytes, order: str) -> bool:
        return struct.unpack_from(order + "i", raw, 64)[0] in _LAYOUTS

    def _unpack(self, kind: str, raw: bytes, start: int = 0) -> tuple[int, ...]:
        return struct.unpack_from(self._order + kind, raw, start)

    def _ints(self, count: int) -> tuple[int, ...]:
        return struct.unpack(f"{self._order}{count}i", self._file.read(4 * count))

    def _skip(self, size: int) -> None:
        if not 0 <= size <= self._end:
            raise ValueError("a record that no file of this size holds")
        self._file.seek(size, 1)

    def layout(self) -> SavLayout:
        """Follow the records up to the rows."""
        while (kind := self._ints(1)[0]) != _END:
            if kind == _VARIABLE:
                self._variable()
            elif kind == _LABELS:
                self._value_labels()
            elif kind == _DOCUMENT:
                self._skip(80 * self._ints(1)[0])
            elif kind == _EXTENSION:
                self._extension()
            else:
                raise ValueError("an unknown record")
        self._ints(1)
        slots = sum(record.slots for record in self._records)
        if slots != self.places:
            raise ValueError("texts without the records that follow them")
        sysmis, highest, lowest = self._floats
        columns = tuple(self._columns())
        return SavLayout(
            self._order, self._compression, self._bias, sysmis, highest, lowest,
            columns, slots,
            self._file.tell(), next((n for n in (self._rows, self._many) if n >= 0), None),
            tuple(self._all_labels(columns)), self._all_names(columns), self._short(columns),
            tuple(self._missing),
        )  # fmt: skip

    def _variable(self) -> None:
        width, has_label, missing, *forms = self._ints(5)
        name, label = self._file.read(8), None
        self.places += 1
        if has_label:
            label = self._bytes(self._ints(1)[0], 4)
        self._skip(abs(missing) * SLOT)
        if width > _SEGMENT:
            raise ValueError("a text wider than a segment")
        if width >= 0:
            as_text = any(form >> 16 & 0xFF == _TEXT_FORM for form in forms)
            slots = max(1, -(-width // SLOT))
            self._records.append(_Record(width, slots, name.rstrip(b" \0").upper(), label, as_text))

    def _bytes(self, size: int, step: int = 1) -> bytes:
        """Bytes, and what fills them up to a multiple of ``step``."""
        if not 0 <= size <= self._end:
            raise ValueError("a text that no file of this size holds")
        return self._file.read(-(-size // step) * step)[:size]

    def _value_labels(self) -> None:
        found: list[tuple[bytes, bytes]] = []
        for _ in range(self._ints(1)[0]):
            raw = self._file.read(SLOT + 1)
            size = raw[SLOT]
            text = self._file.read((size + SLOT) // SLOT * SLOT - 1)[:size]
            found.append((raw[:SLOT], text))
        kind, count = self._ints(2)
        if kind != _LABELLED:
            raise ValueError("value labels of no column")
        self._skip(0 if 0 <= 4 * count <= self._end else -1)
        slots = self._ints(count)
        outside = [slot for slot in slots if not 1 <= slot <= self.places]
        if outside:
            raise _NoColumnError(f"{outside[0]:,}")
        self._labels += [(slot - 1, code, text) for slot in slots for code, text in found]

    def _long_labels(self, raw: bytes) -> None:
        """Value labels of texts of more than 8 bytes."""
        at = 0

        def counted() -> bytes:
            nonlocal at
            size = int(self._unpack("i", raw, at)[0])
            if not 0 <= size <= len(raw) - at - 4:
                raise ValueError("a label that breaks off")
            at += 4 + size
            return raw[at - size : at]

        while at < len(raw):
            name = counted()
            _, count = self._unpack("2i", raw, at)
            at += 8
            for _ in range(count):
                code = counted()
                self._named.append(Label(name, code, counted()))

    def _all_labels(self, columns: tuple[Cells, ...]) -> Iterator[Label]:
        places = {cells.start: j for j, cells in enumerate(columns)}
        slot = 0
        for record in self._records:
            if record.label is not None and slot in places:
                yield Label(places[slot], None, record.label)
            slot += record.slots
        yield from (
            Label(places[slot], code, text) for slot, code, text in self._labels if slot in places
        )
        yield from self._named

    def _all_names(self, columns: tuple[Cells, ...]) -> tuple[bytes, ...]:
        """The names of the columns, those of the records where the file has no longer ones."""
        return tuple(self._names.get(name, name) for name in self._short(columns))

    def _short(self, columns: tuple[Cells, ...]) -> tuple[bytes, ...]:
        """The names of the records."""
        sizes = (record.slots for record in self._records)
        places = dict(zip(accumulate(sizes, initial=0), self._records, strict=False))
        return tuple(places[cells.start].name for cells in columns)

    def _long_missing(self, raw: bytes) -> None:
        """Missing values of texts of more than 8 bytes; PSPP up to 1.6 states each one's width."""
        try:
            self._missing += self._missing_texts(raw, 0)
        except (ValueError, IndexError, struct.error):
            self._missing += self._missing_texts(raw, 4)

    def _missing_texts(self, raw: bytes, before: int) -> list[tuple[bytes, tuple[bytes, ...]]]:
        """Names and missing values; ``before`` bytes stand before each value but the first."""
        found, at = [], 0
        while at < len(raw):
            size = int(self._unpack("i", raw, at)[0])
            name, count = raw[at + 4 : at + 4 + size], raw[at + 4 + size]
            (width,) = self._unpack("i", raw, at + 5 + size)
            at += 9 + size
            step, last = width + before, at + count * (width + before) - before
            if size < 0 or width < 0 or not count or last > len(raw):
                raise ValueError("missing values that break off")
            found.append((name, tuple(raw[at + k * step :][:width] for k in range(count))))
            at = last
        return found

    def _extension(self) -> None:
        subtype, size, count = self._ints(3)
        if subtype == _FLOATS and size * count == 3 * SLOT:
            sysmis, highest, lowest = self._unpack("3Q", self._file.read(3 * SLOT))
            self._floats = (sysmis, highest, lowest)
        elif subtype == _MACHINE and size * count == 8 * 4:
            self.code_page = self._ints(8)[-1]
        elif subtype == _LONG_COUNT and size * count == 2 * SLOT:
            self._many = self._unpack("2q", self._file.read(2 * SLOT))[1]
        elif subtype == _VERY_LONG and 0 <= size * count <= self._end:
            for entry in self._file.read(size * count).split(b"\t"):
                name, mark, width = entry.rstrip(b"\0").partition(b"=")
                if mark:
                    self._long[name.upper()] = int(width)
        elif subtype == _LONG_NAMES and 0 <= size * count <= self._end:
            for entry in self._file.read(size * count).split(b"\t"):
                name, mark, long = entry.partition(b"=")
                if mark:
                    self._names[name.upper()] = long.rstrip(b" \0")
        elif subtype == _LONG_LABELS and 0 <= size * count <= self._end:
            self._long_labels(self._file.read(size * count))
        elif subtype in (_FILE_ATTRIBUTES, _ATTRIBUTES) and 0 <= size * count <= self._end:
            self.attributes += _ATTRIBUTE.findall(self._file.read(size * count))
        elif subtype == _LONG_MISSING and 0 <= size * count <= self._end:
            self._long_missing(self._file.read(size * count))
        elif subtype == _ENCODING and 0 <= size * count <= _LONGEST_NAME:
            self.encoding = self._file.read(size * count).decode("ascii", "replace").strip(" \0")
        else:
            self._skip(size * count)

    def _columns(self) -> Iterator[Cells]:
        start = at = 0
        while at < len(self._records):
            record = self._records[at]
            width = self._long.get(record.name, record.width)
            count = -(-width // _KEPT) if width > _SEGMENT else 1
            parts = self._records[at : at + count]
            segments = tuple(part.slots for part in parts)
            if len(parts) < count:
                raise ValueError("a long text without its last segments")
            yield Cells(start, segments, record.width == 0, record.as_text)
            start += sum(segments)
            at += count
