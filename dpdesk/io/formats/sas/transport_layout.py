"""The headers of a SAS transport file, versions 5 and 8 (SAS Technical Support TS-140, TS-145)."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.io.formats.table import damaged

CARD = 80
NAMESTR = struct.Struct(">hhhh8s40s8shhh2s8shhi32sH18s")
_HEADER = re.compile(rb"HEADER RECORD\*{7}(.{8})HEADER RECORD!{7}(.{30})")
_LABELS = {b"LABELV8 ": 3, b"LABELV9 ": 5}
_WITHOUT_FORMATS = 3
_BLOCK = CARD * 8_192
_WIDEST_NUMBER = 8
_NUMBER, _TEXT = 1, 2
"""What a description says of the kind of its column."""


@dataclass(frozen=True)
class Field:
    """A column: its raw name, label and format, whether it is numeric, its place in a row."""

    name: bytes
    label: bytes
    format: str
    numeric: bool
    start: int
    width: int


@dataclass(frozen=True)
class Member:
    """A table of the file: its name, its columns, where its header and its rows lie, and how many
    it says.

    ``label`` is the table's own, as bytes.
    """

    name: str
    fields: tuple[Field, ...]
    row_bytes: int
    header: int
    start: int
    stop: int
    rows: int | None = None
    label: bytes = b""


def read_members(path: Path, *, private: bool = False) -> tuple[Member, ...]:
    """All tables of a file; raises InputError ``read.damaged``.

    With ``private`` a header behind the first one that cannot be read is taken for values of rows,
    since one person's text could look like its beginning; NULs, which it needs, are no text.
    """
    with path.open("rb") as file:
        kind = _header(file.read(CARD))
        if kind is None or kind[0] not in (b"LIBRARY ", b"LIBV8   "):
            raise damaged(path.name, "the file is not a SAS transport file (no library header)")
        starts = list(_member_starts(file))
        if not starts:
            raise damaged(path.name, "the file is a SAS transport file without a table")
        found: list[Member] = []
        for start in starts:
            try:
                found.append(_read_member(file, path.name, start))
            except InputError:
                if not (private and found):
                    raise
        stops = [*(member.header for member in found[1:]), path.stat().st_size]
        return tuple(replace(one, stop=stop) for one, stop in zip(found, stops, strict=True))


def _read_member(file: IO[bytes], name: str, start: int) -> Member:
    try:
        return _member(file, name, start)
    except (ValueError, IndexError, struct.error) as error:
        raise damaged(name, "a header of the file is damaged") from error


def _header(card: bytes) -> tuple[bytes, bytes] | None:
    found = _HEADER.match(card)
    return None if found is None else (found[1], found[2])


def _member_starts(file: IO[bytes]) -> Iterator[int]:
    """Where member headers stand; they begin at multiples of 80 bytes.

    Behind the first one a text may look like one: a header is one with the two that go with it.
    """
    at = first = 3 * CARD
    file.seek(at)
    while block := file.read(_BLOCK):
        place = block.find(b"HEADER RECORD*******MEMB")
        while place >= 0:
            if place % CARD == 0 and (at + place == first or _goes_on(file, at + place)):
                yield at + place
            place = block.find(b"HEADER RECORD*******MEMB", place + 1)
        at += len(block)
        file.seek(at)


def _goes_on(file: IO[bytes], start: int) -> bool:
    file.seek(start)
    cards = [_header(file.read(CARD)) for _ in range(5)]
    names = [card[0].strip() if card else b"" for card in cards]
    return names[1] in (b"DSCRPTR", b"DSCPTV8") and names[4] in (b"NAMESTR", b"NAMSTV8")


def _member(file: IO[bytes], name: str, start: int) -> Member:
    file.seek(start)
    cards = [file.read(CARD) for _ in range(5)]
    member, names = _header(cards[0]), _header(cards[4])
    if member is None or names is None or names[0] not in (b"NAMESTR ", b"NAMSTV8 "):
        raise damaged(name, "the header of the table breaks off")
    size = int(member[1][-4:] or b"140")
    count = int(names[1][5:10]) if names[0] == b"NAMESTR " else int(names[1][4:10])
    raw = file.read(-(-size * count // CARD) * CARD)
    if len(raw) < size * count or count == 0:
        raise damaged(name, msg("the descriptions of {count} columns break off", count=count))
    fields: list[Field] = []
    for j in range(count):
        # Rows are packed in the order of the descriptions, whatever positions these state.
        at = fields[-1].start + fields[-1].width if fields else 0
        fields.append(_field(raw[j * size : (j + 1) * size], names[0] == b"NAMSTV8 ", at))
    for number, field in enumerate(fields, start=1):
        (kind,) = struct.unpack_from(">h", raw, (number - 1) * size)
        if kind not in (_NUMBER, _TEXT):
            what = msg("column {number} is neither a number nor a text", number=number)
            raise damaged(name, what)
        if field.width < 1 or (field.numeric and field.width > _WIDEST_NUMBER):
            raise damaged(
                name,
                msg(
                    "column {number} has an impossible width, {width} bytes",
                    number=number,
                    width=field.width,
                ),
            )
    card = file.read(CARD)
    header = _header(card)
    if header is not None and header[0] in _LABELS:
        fields = _long_labels(file, name, header, fields)
        header = _header(file.read(CARD))
    if header is None or header[0].strip() not in (b"OBS", b"OBSV8"):
        raise damaged(name, "the header of the rows is missing")
    title = cards[2][8:40] if names[0] == b"NAMSTV8 " else cards[2][8:16]
    row_bytes = fields[-1].start + fields[-1].width
    table = title.decode("ascii", "replace").strip()
    said = header[1].strip()
    rows = int(said) if header[0] == b"OBSV8   " and said.isdigit() and int(said) else None
    label = cards[3][32:72].strip(b" \0")
    return Member(table, tuple(fields), row_bytes, start, file.tell(), file.tell(), rows, label)


def _field(raw: bytes, long_names: bool, start: int) -> Field:
    found = NAMESTR.unpack(raw[: NAMESTR.size].ljust(NAMESTR.size, b"\0"))
    kind, _, width, _, short, label, form, form_width, decimals = found[:9]
    name = found[15].rstrip(b" \0") if long_names else b""
    display = form.decode("ascii", "replace").strip()
    if form_width:
        display += str(form_width) + (f".{decimals}" if decimals else "")
    return Field(
        name or short.rstrip(b" \0"), label.rstrip(b" \0"), display, kind == _NUMBER, start, width
    )


def _long_labels(
    file: IO[bytes], name: str, header: tuple[bytes, bytes], fields: list[Field]
) -> list[Field]:
    """Names, labels and formats that are too long for the descriptions of the columns.

    Behind the number of the column stand the lengths of name and label, in ``LABELV9`` of format
    and informat too, then these texts.
    """
    start = file.tell()
    parts = _LABELS[header[0]]
    for _ in range(int(header[1].strip() or b"0")):
        lengths = file.read(2 * parts)
        if len(lengths) < 2 * parts:
            raise damaged(name, "the long labels break off")
        number, *sizes = struct.unpack(f">{parts}h", lengths)
        texts = [file.read(size) for size in sizes]
        if not 1 <= number <= len(fields):
            raise damaged(
                name,
                msg("a long label belongs to column {number}, which does not exist", number=number),
            )
        old = fields[number - 1]
        form = texts[2] if parts > _WITHOUT_FORMATS else b""
        fields[number - 1] = replace(
            old,
            name=texts[0].rstrip(b" \0") or old.name,
            label=texts[1].rstrip(b" \0"),
            format=form.decode("ascii", "replace").strip(" \0").rstrip(".") or old.format,
        )
    read = file.tell() - start
    file.seek(start + -(-read // CARD) * CARD)
    return fields


# Numbers of SAS transport files: IBM hexadecimal floating point, to and from IEEE doubles.
#
# Eight bytes, big-endian: a sign bit, an exponent of 16 (7 bits, excess 64), a fraction of 56
# bits. A missing value is a first byte ``.``, ``_`` or ``A`` to ``Z`` and zeros (SAS Technical
# Support TS-140).


Floats = NDArray[np.float64]
Words = NDArray[np.uint64]
Flags = NDArray[np.bool_]

_FRACTION = np.uint64((1 << 56) - 1)
_POINT, _UNDERLINE, _A, _Z = 0x2E, 0x5F, 0x41, 0x5A
LARGEST = float(2**252) * (1 - 2**-53)
SMALLEST = 16.0**-65


def words_of(data: NDArray[np.uint8]) -> Words:
    """Big-endian words of an array of bytes of shape (rows, 2 to 8), filled up with zeros."""
    padded = np.zeros((len(data), 8), dtype=np.uint8)
    padded[:, : data.shape[1]] = data
    return padded.view(">u8").reshape(-1).astype(np.uint64)


def to_ieee(words: Words) -> tuple[Floats, NDArray[np.uint8], Flags]:
    """Numbers, the letter of each missing value (0: a number), and which numbers lost digits."""
    first = (words >> np.uint64(56)).astype(np.uint8)
    fraction = words & _FRACTION
    lettered = (first == _POINT) | (first == _UNDERLINE) | ((first >= _A) & (first <= _Z))
    missing = lettered & (fraction == 0)
    exponent = 4 * ((first & 0x7F).astype(np.int32) - 64) - 56
    whole = fraction.astype(np.float64)
    numbers = np.ldexp(whole, exponent)
    numbers = np.where(first & 0x80, -numbers, numbers)
    cut = ~missing & (whole.astype(np.uint64) != fraction)
    return (
        np.where(missing, np.nan, numbers),
        np.where(missing, first, 0).astype(np.uint8),
        cut,
    )


def odd_zeros(words: Words) -> Flags:
    """Which words are a number 0 that SAS does not write, with a sign or an exponent."""
    first = (words >> np.uint64(56)).astype(np.uint8)
    lettered = (first == _POINT) | (first == _UNDERLINE) | ((first >= _A) & (first <= _Z))
    odd: Flags = (words & _FRACTION == 0) & (first != 0) & ~lettered
    return odd


def from_ieee(numbers: Floats) -> Words:
    """Words of finite numbers; ValueError outside ±:data:`LARGEST`. NaN becomes the missing ``.``.

    Numbers nearer to 0 than :data:`SMALLEST` become 0, as the format has none nearer.
    """
    missing = np.isnan(numbers)
    plain = np.where(missing, 0.0, numbers)
    if (np.abs(plain) > LARGEST).any():
        raise ValueError("a number is larger than the format holds")
    mantissa, power = np.frexp(np.abs(plain))
    hexes = -(-power // 4)
    fraction = np.ldexp(mantissa, 56 + power - 4 * hexes).astype(np.uint64)
    tiny = (hexes + 64 < 0) | (plain == 0)
    exponent = np.where(tiny, 0, hexes + 64).astype(np.uint64) << np.uint64(56)
    sign = np.where(plain < 0, np.uint64(1) << np.uint64(63), np.uint64(0))
    words = np.where(tiny, np.uint64(0), sign | exponent | fraction)
    found: Words = np.where(missing, np.uint64(_POINT) << np.uint64(56), words)
    return found
