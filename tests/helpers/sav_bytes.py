"""SPSS files made byte by byte, with values that no program would write, and a slow way to read."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

HIGHEST, LOWEST, SYSMIS = 0x7FEFFFFFFFFFFFFF, 0xFFEFFFFFFFFFFFFE, 0xFFEFFFFFFFFFFFFF
Cell = bytes | float | int
"""A text, a number, or the bits of a number."""


def bits(number: float | int) -> int:
    """The bits of a number; bits stay what they are."""
    found: int = struct.unpack("<Q", struct.pack("<d", number))[0]
    return number if isinstance(number, int) else found


def write_sav_bytes(
    path: Path,
    columns: Sequence[tuple[str, int]],
    rows: Sequence[Sequence[Cell]],
    order: str = "<",
    compression: int = 0,
    bias: float = 100.0,
    floats: tuple[int, int, int] | None = (SYSMIS, HIGHEST, LOWEST),
    missing: tuple[float, float] | None = None,
    code: int = 65001,
) -> Path:
    """A file of columns with names of at most 5 letters and widths in bytes (0: a number).

    ``missing`` is a range of missing values of the numbers; ``floats`` what the file says of them.
    """
    slots = sum(_slots(width) for _, width in columns)
    head = (b"$FL3" if compression == 2 else b"$FL2") + b"@(#) SPSS DATA FILE - test".ljust(60)
    head += struct.pack(order + "iiiiid", 2, slots, compression, 0, len(rows), bias)
    head += b"01 Jan 2600:00:00".ljust(17) + b" " * 64 + bytes(3)
    for name, width in columns:
        for number, part in enumerate(_widths(width)):
            head += _record(order, name + (f"{number}" if number else ""), part, missing)
    head += struct.pack(order + "12i", 7, 3, 4, 8, 20, 0, 0, -1, 1, 1, 1 + (order == "<"), code)
    if floats is not None:
        head += struct.pack(order + "4i3Q", 7, 4, 8, 3, *floats)
    long = b"".join(f"{n}={w:05d}\0\t".encode() for n, w in columns if w > 255)
    if long:
        head += struct.pack(order + "4i", 7, 14, 1, len(long)) + long
    head += struct.pack(order + "ii", 999, 0)
    words = [word for row in rows for word in _row(order, columns, row)]
    if compression == 0:
        path.write_bytes(head + b"".join(words))
        return path
    packed = _packed(words, order, bias)
    path.write_bytes(head + (packed if compression == 1 else _deflated(packed, order, len(head))))
    return path


def _widths(width: int) -> list[int]:
    if width <= 255:
        return [width]
    count = -(-width // 252)
    return [255] * (count - 1) + [width - 252 * (count - 1)]


def _slots(width: int) -> int:
    return sum(max(1, -(-part // 8)) for part in _widths(width))


def _record(order: str, name: str, width: int, missing: tuple[float, float] | None) -> bytes:
    declared = missing if width == 0 and missing is not None else ()
    display = 5 << 16 | 8 << 8 | 2 if width == 0 else 1 << 16 | width << 8
    made = struct.pack(order + "6i", 2, width, 0, -len(declared), display, display)
    made += name.encode().ljust(8) + struct.pack(f"{order}{len(declared)}d", *declared)
    for _ in range(max(1, -(-width // 8)) - 1):
        made += struct.pack(order + "6i", 2, -1, 0, 0, 0, 0) + b" " * 8
    return made


def _row(order: str, columns: Sequence[tuple[str, int]], row: Sequence[Cell]) -> Iterator[bytes]:
    for (_, width), cell in zip(columns, row, strict=True):
        if not isinstance(cell, bytes):
            yield struct.pack(order + "Q", bits(cell))
            continue
        for number, part in enumerate(_widths(width)):
            text = cell[255 * number : 255 * (number + 1)].ljust(max(1, -(-part // 8)) * 8)
            yield from (text[at : at + 8] for at in range(0, len(text), 8))


def _packed(words: Sequence[bytes], order: str, bias: float) -> bytes:
    """Bytecode: the shortest command for each word, and some that say nothing."""
    numbers = {struct.pack(order + "d", code - bias): code for code in range(1, 252)}
    numbers |= {b" " * 8: 254, struct.pack(order + "Q", SYSMIS): 255}
    commands: list[tuple[int, bytes]] = []
    for at, word in enumerate(words):
        code = numbers.get(word, 253)
        commands += [(code, word if code == 253 else b"")] + [(0, b"")] * (at % 5 == 4)
    commands.append((252, b""))
    made = b""
    for at in range(0, len(commands), 8):
        some = commands[at : at + 8]
        made += bytes(code for code, _ in some).ljust(8, b"\0") + b"".join(raw for _, raw in some)
    return made


def _deflated(packed: bytes, order: str, start: int, size: int = 64) -> bytes:
    blocks = [packed[at : at + size] for at in range(0, len(packed), size)]
    body, listed, place = b"", b"", start + 24
    for number, block in enumerate(blocks):
        small = zlib.compress(block)
        listed += struct.pack(
            order + "qqii", start + number * size, place + len(body), len(block), len(small)
        )
        body += small
    trailer = struct.pack(order + "qqii", -100, 0, size, len(blocks)) + listed
    return struct.pack(order + "3q", start, place + len(body), len(trailer)) + body + trailer


def lost_cell(row: Sequence[Cell]) -> int | None:
    """The first column of a row whose value a reader of C strings and open ends would lose."""
    for j, cell in enumerate(row):
        if isinstance(cell, bytes):
            _, nul, behind = cell.partition(b"\0")
            if nul and behind.strip(b"\0 "):
                return j
        elif bits(cell) in (HIGHEST, LOWEST):
            return j
    return None
