"""Value labels of SAS: they lie in a catalogue beside the tables, by the name of a format."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dpdesk.core.errors import InputError, StorageError
from dpdesk.core.messages import msg
from dpdesk.io.formats.endings import Endings
from dpdesk.io.formats.moments import is_own_format
from dpdesk.io.formats.plain_reading import PLAIN, check_texts, of_values, plain_codec, plain_reader
from dpdesk.io.formats.table import Notes, listed

_WIDE, _LITTLE, _HEADER = 0x33, 1, 288
_XLSR, _FIRST_INDEX, _OTHER_INDEXES = b"XLSR", 1, 3
_PADDED, _LONG_NAME, _LONG_NAME_WIDE = 0x08, 0x80, 0x20
_ENTRY, _LABEL = 22, 10
_MISSING, _TAG = 0xFFFFFFFFFFFF, 0xFF0000000000
_SIGN, _ALL = 1 << 63, (1 << 64) - 1
"""Bits that are turned in numbers of at least 0, and in those below: words have their order."""
_LETTERS = "_.ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_NEAR = 1e-9
"""Numbers of an entry that differ by less are one value: SAS compares them with a little fuzz."""
_MOST_PAGE = 1 << 24

Code = float | str


@dataclass
class Format:
    """A format: labels (each character a byte) by single values, and what else it has.

    ``ranges`` counts the entries of ranges, ``rest`` the labels of no entry. A missing value is its
    letter, ``.`` that without one. ``doubled`` are values with two labels. ``odd`` says that the
    format could not be followed.
    """

    labels: dict[Code, str] = field(default_factory=dict)
    ranges: int = 0
    rest: int = 0
    doubled: set[Code] = field(default_factory=set)
    odd: bool = False


class _Catalog:
    def __init__(self, data: bytes) -> None:
        if len(data) < _HEADER:
            raise ValueError("the header breaks off")
        self.data, self.wide = data, data[32] == _WIDE
        self.order = "<" if data[37] == _LITTLE else ">"
        self.pad = 4 if data[35] == _WIDE else 0
        place = 196 + self.pad
        self.start, self.page = struct.unpack_from(f"{self.order}II", data, place)
        self.word = "Q" if self.wide else "I"
        (self.pages,) = self.unpacked(self.word, data, place + 8)
        if not 0 < self.page <= _MOST_PAGE:
            raise ValueError("an impossible size of pages")

    def unpacked(self, form: str, raw: bytes, at: int) -> tuple[int, ...]:
        """Numbers at a place, as :mod:`struct` names their form."""
        return struct.unpack_from(self.order + form, raw, at)

    def blocks(self) -> Iterator[bytes]:
        """The blocks in the order of their places."""
        for page, place in sorted(set(self._places())):
            yield self._block(page, place)

    def _places(self) -> Iterator[tuple[int, int]]:
        first = 856 + 2 * self.pad + (144 if self.wide else 0)
        yield from self._index(self.start + _FIRST_INDEX * self.page, first)
        for number in range(_OTHER_INDEXES, min(self.pages, len(self.data) // self.page + 1)):
            at = self.start + number * self.page
            if self.data[at + 16 : at + 20] == _XLSR:
                yield from self._index(at, 16)

    def _index(self, page: int, at: int) -> Iterator[tuple[int, int]]:
        size, kind = 212 + self.pad, 50 + self.pad
        if self.wide:
            size, kind = size + 72, kind + 24
        raw = self.data[page : page + self.page]
        while at + size <= len(raw):
            if raw[at : at + 4] != _XLSR:
                at += 8
            if raw[at : at + 4] != _XLSR or at + size > len(raw):
                return
            if raw[at + kind : at + kind + 1] == b"O":
                far = 8 if self.wide else 4
                yield (
                    self.unpacked(self.word, raw, at + far)[0],
                    self.unpacked("H", raw, at + 2 * far)[0],
                )
            at += size

    def _block(self, page: int, place: int) -> bytes:
        """The parts of a block, which are chained over pages."""
        made, head = b"", 32 if self.wide else 16
        seen: set[tuple[int, int]] = set()
        while page > 0 and place > 0 and page <= self.pages and (page, place) not in seen:
            seen.add((page, place))
            at = self.start + (page - 1) * self.page + place
            (page,) = self.unpacked("I", self.data, at)
            place, length = self.unpacked("2H", self.data, at + (8 if self.wide else 4))
            made += self.data[at + head : at + head + length]
        return made


def read_formats(path: Path, wanted: Set[str]) -> dict[str, Format]:
    """The formats of these names (in capitals) of a catalogue; those of texts begin with ``$``.

    What cannot be followed is missing, or ``odd``.
    """
    found: dict[str, Format] = {}
    try:
        catalog = _Catalog(path.read_bytes())
        for block in catalog.blocks():
            _take(catalog, block, wanted, found)
    except (ValueError, struct.error, IndexError):
        return {}
    return found


def _take(catalog: _Catalog, block: bytes, wanted: Set[str], found: dict[str, Format]) -> None:
    """Add what a block says to the format that it is of."""
    start = 106 + (32 if catalog.wide else 0)
    if len(block) < start:
        return
    (flags,) = catalog.unpacked("H", block, 2)
    pad = 4 if flags & _PADDED else 0
    at = (42 if catalog.wide else 38) + pad
    entries, labels = catalog.unpacked(f"2{catalog.word}", block, at)
    start += pad + 16 if pad else 0
    name = block[8:16]
    if flags & (_LONG_NAME_WIDE if catalog.wide else _LONG_NAME):
        name, start = block[start : start + 32], start + 32
    told = name.decode("latin-1").rstrip(" \0").upper()
    if told not in wanted or labels == 0:
        return
    one = found.setdefault(told, Format())
    try:
        _follow(catalog, block[start:], entries, labels, one, told.startswith("$"))
    except (ValueError, struct.error, IndexError):
        one.odd = True


def _follow(
    catalog: _Catalog, raw: bytes, entries: int, labels: int, one: Format, texts: bool
) -> None:
    if entries * _ENTRY + labels * _LABEL > len(raw):
        raise ValueError("more entries than bytes")
    codes: dict[int, list[Code | None]] = {}
    at = 0
    for _ in range(entries):
        (length,) = catalog.unpacked("H", raw, at + 2)
        (position,) = catalog.unpacked("I", raw, at + 10 + catalog.pad)
        entry = raw[at + _ENTRY : at + 6 + length]
        codes.setdefault(position, []).append(_text(entry) if texts else _number(entry))
        at += 6 + length
    for position in range(labels):
        (length,) = catalog.unpacked("H", raw, at + 8)
        label = raw[at + _LABEL : at + _LABEL + length].decode("latin-1")
        if len(label) < length:
            raise ValueError("a label that breaks off")
        at += _LABEL + length + 1
        for code in codes.get(position, ()):
            if code is None:
                one.ranges += 1
            elif one.labels.setdefault(code, label.rstrip(" \0")) != label.rstrip(" \0"):
                one.doubled.add(code)
        one.rest += position not in codes
    one.odd |= any(position >= labels for position in codes)


def _text(entry: bytes) -> str | None:
    """The text that an entry is of, None for more than one."""
    parts = {entry[at : at + 16] for at in range(0, len(entry), 16)}
    first = entry[:16]
    return first.decode("latin-1").rstrip(" \0") if parts == {first} and len(first) == 16 else None


def _number(entry: bytes) -> Code | None:
    """The number that an entry is of, or the letter of a missing one; None for a range."""
    if not entry or len(entry) % 8:
        raise ValueError("an entry of other numbers")
    codes = [_code(word) for word in struct.unpack(f">{len(entry) // 8}Q", entry)]
    first = codes[0]
    if all(code == first for code in codes):
        return first
    numbers = [code for code in codes if isinstance(code, float)]
    near = _NEAR * max(1.0, *(abs(number) for number in numbers)) if numbers else 0.0
    same = len(numbers) == len(codes) and max(numbers) - min(numbers) <= near
    return first if same else None


def _code(word: int) -> Code:
    if word | _TAG == _MISSING:
        tag = word >> 40 & 0xFF
        return _LETTERS[tag] if tag < len(_LETTERS) else chr(tag)
    bits = word ^ (_SIGN if word & _SIGN else _ALL)
    number: float = struct.unpack(">d", struct.pack(">Q", bits))[0]
    return number


_WIDTHS = ".0123456789"
_SYSTEM = "."
"""The missing value without a letter, in a format."""

Labels = Mapping[Any, str]


def labels_of_columns(
    displays: Mapping[str, str], named: str | None, path: Path, encoding: str | None, notes: Notes
) -> dict[str, Labels]:
    """Value labels by column; ``displays`` are the formats of the columns, ``""`` for none.

    ``named`` is the catalogue that the plan names; without one, that of the file's own name
    beside ``path`` is taken. Noted: where the labels come from if nobody named it, and columns
    whose labels are not to be found. ``encoding`` is as iconv names it.
    Raises what :func:`read_catalog` does.
    """
    formats = {name: display.rstrip(_WIDTHS) for name, display in displays.items()}
    catalog = Path(named) if named is not None else path.with_suffix(".sas7bcat")
    if named is None and not catalog.is_file():
        _note_none(formats, notes)
        return {}
    by_format, plain, endings = read_catalog(catalog, encoding)
    if named is None:
        notes.add(
            "catalog", msg("Value labels come from {name} next to the file.", name=catalog.name)
        )
    found: dict[str, Labels] = {}
    more = read_formats(catalog, {name.upper() for name in formats.values()} & by_format.keys())
    for name, format_name in formats.items():
        key = format_name.upper()
        if format_name and key in by_format:
            own = more.get(key, Format(odd=True))
            found[name] = _of_single(by_format[key], plain[key], own)
            _note_others(name, format_name, own, len(found[name]), notes)
            texts = of_values(plain[key])
            check_texts(catalog.name, name, texts, endings, notes)
        elif is_own_format(format_name):
            notes.add(
                f"format {name}",
                msg(
                    "Column `{name}`: the catalogue {catalog} does not contain its value "
                    "labels, called {format}; the values are read without them.",
                    name=name,
                    catalog=catalog.name,
                    format=format_name,
                ),
            )
    return found


def _of_single(labels: Labels, plain: Labels, own: Format) -> Labels:
    """Labels of single values; ``plain`` are all labels as plain bytes, in the same order."""
    if own.odd or len(labels) != len(plain):
        return {}
    return {
        code: label
        for (code, label), (raw, text) in zip(labels.items(), plain.items(), strict=True)
        if _key(raw) not in own.doubled and own.labels.get(_key(raw)) == text.rstrip(" ")
    }


def _key(code: Any) -> Code:
    """A labelled value as a :class:`~dpdesk.io.formats.sas.catalogs.Format` has it."""
    if isinstance(code, str):
        return code.rstrip(" ")
    return float(code) if code == code else _SYSTEM


def _note_others(column: str, name: str, own: Format, taken: int, notes: Notes) -> None:
    """Note labels of ranges, of all other values, and of missing, and those that are unclear."""
    if own.ranges:
        notes.add(
            f"ranges {column}",
            msg(
                "Column `{column}`: the format {format} has labels of ranges of values; they "
                "are left out.",
                column=column,
                format=name,
            ),
        )
    if own.rest:
        notes.add(
            f"others {column}",
            msg(
                "Column `{column}`: the format {format} has a label for all other values; it is "
                "left out.",
                column=column,
                format=name,
            ),
        )
    if _SYSTEM in own.labels:
        notes.add(
            f"label nan {column}",
            msg("Column `{column}`: the missing value has a label; it is left out.", column=column),
        )
    if own.odd or taken < len(own.labels):
        notes.add(
            f"unclear {column}",
            msg(
                "Column `{column}`: the format {format} is built in a way that is not known "
                "here; labels that cannot be assigned with certainty are left out.",
                column=column,
                format=name,
            ),
        )


def _note_none(formats: Mapping[str, str], notes: Notes) -> None:
    own = [name for name, format_name in formats.items() if is_own_format(format_name)]
    if own:
        notes.add(
            "catalog",
            msg(
                "The value labels of {listed} are in a catalogue that is not here; the values are "
                "read without them. Give it as `catalog`.",
                listed=listed(own),
            ),
        )


def read_catalog(
    path: Path, encoding: str | None
) -> tuple[dict[str, Labels], dict[str, Labels], Endings]:
    """Value labels by the name of their format in capitals, from a SAS catalogue.

    The second are the same labels as plain bytes (see :mod:`dpdesk.io.formats.plain_reading`); the
    third tells whether they end inside a character.
    Raises InputError ``catalog.unreadable``, StorageError ``storage.missing``, ``storage.folder``.
    """
    if path.exists() and not path.is_file():
        raise StorageError(
            "storage.folder",
            msg("{path}: this is not a regular file.", path=path),
            details={"path": str(path)},
        )
    if not path.is_file():
        raise StorageError(
            "storage.missing",
            msg("{path}: there is no such file, expected a SAS catalogue.", path=path),
            hint="Check `catalog`; paths in a plan are relative to the plan.",
        )
    meta = _read(path, encoding)
    known = encoding or str(meta.file_encoding or "")
    codec = plain_codec(known, path.name)
    if codec:
        meta = _read(path, encoding, codec)
    endings = Endings(known, by_plan=encoding is not None)
    return _by_format(meta), _by_format(_read(path, PLAIN)), endings


def _by_format(meta: Any) -> dict[str, Labels]:
    return {str(key).upper(): labels for key, labels in meta.value_labels.items()}


def _read(path: Path, encoding: str | None, codec: str = "") -> Any:
    import pyreadstat

    read = pyreadstat.read_sas7bcat
    try:
        read = plain_reader(read, codec) if codec else read
        return read(str(path), encoding=encoding, output_format="dict")[1]
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, UnicodeError) as error:
        raise InputError(
            "catalog.unreadable",
            msg(
                "{name}: the catalogue of value labels cannot be read ({error}).",
                name=path.name,
                error=error,
            ),
            hint="Name the right `catalog` under [source], or move the file away to read the "
            "table without value labels.",
        ) from error
