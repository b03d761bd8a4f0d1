"""Small SAS files (.sas7bdat) made byte by byte: numbers and texts, compressed or not."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

MAGIC = bytes(12) + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011")
Cell = bytes | float
_PAGE, _META, _DATA, _MIXED = 4096, 0x0000, 0x0100, 0x0200
_NAMES = {"": b"        ", "rle": b"SASYZCRL", "rdc": b"SASYZCR2"}


@dataclass(frozen=True)
class Form:
    """How a file is built: words of 8 or of 4 bytes, byte order, compression."""

    wide: bool = True
    order: str = "<"
    method: str = ""

    @property
    def size(self) -> int:
        """The bytes of a word."""
        return 8 if self.wide else 4

    def words(self, *numbers: int) -> bytes:
        """Numbers as words."""
        return struct.pack(f"{self.order}{len(numbers)}{'Q' if self.wide else 'I'}", *numbers)

    def shorts(self, *numbers: int) -> bytes:
        """Numbers of two bytes."""
        return struct.pack(f"{self.order}{len(numbers)}H", *numbers)

    def mark(self, number: int) -> bytes:
        """The beginning of a description."""
        if number in (0xF7F7F7F7, 0xF6F6F6F6):
            return struct.pack(self.order + "I", number).ljust(self.size, b"\0")
        return struct.pack(self.order + ("q" if self.wide else "i"), number)


def write_sas_bytes(
    path: Path,
    columns: Sequence[tuple[str, int]],
    rows: Sequence[Sequence[Cell]],
    form: Form = Form(),
    code: int = 20,
) -> Path:
    """A file of columns with names and widths in bytes (0: a number); ``code`` is its encoding."""
    raw = [_row(form, columns, row) for row in rows]
    size = len(raw[0])
    head = 40 if form.wide else 24
    if form.method:
        parts = [_part(form, row, size) for row in raw]
        described = _described(form, columns, size, len(raw), 0)
        pages = [_page(form, _META, [(part, 0, 0) for part in described], [])]
        pages += [_page(form, _META, parts[at : at + 7], []) for at in range(0, len(parts), 7)]
    else:
        first = min(2, len(raw))
        described = _described(form, columns, size, len(raw), first)
        pages = [_page(form, _MIXED, [(part, 0, 0) for part in described], raw[:first])]
        each = min(5, (_PAGE - head) // size)
        pages += [
            _page(form, _DATA, [], raw[at : at + each]) for at in range(first, len(raw), each)
        ]
    path.write_bytes(sas_header(form, len(pages), code) + b"".join(pages))
    return path


def _row(form: Form, columns: Sequence[tuple[str, int]], row: Sequence[Cell]) -> bytes:
    return b"".join(
        cell.ljust(width) if isinstance(cell, bytes) else struct.pack(form.order + "d", cell)
        for (_, width), cell in zip(columns, row, strict=True)
    )


def sas_header(form: Form, pages: int, code: int) -> bytes:
    """The header of a file of so many pages of 4096 bytes; ``code`` is its encoding."""
    size = 8192 if form.wide else 1024
    made = bytearray(size)
    made[:32] = MAGIC
    made[32] = 0x33 if form.wide else 0x22
    made[35] = 0x33 if form.wide else 0x22
    made[37] = 1 if form.order == "<" else 0
    made[39] = ord("1")
    made[70] = code
    made[84:92], made[92:100], made[156:164] = b"SAS FILE", b"PEOPLE  ", b"DATA    "
    shift = 4 if form.wide else 0
    struct.pack_into(form.order + "II", made, 196 + shift, size, _PAGE)
    made[204 + shift : 204 + shift + form.size] = form.words(pages)
    more = shift + (4 if form.wide else 0)
    made[216 + more : 224 + more] = b"9.0401M5"
    return bytes(made)


def _described(
    form: Form, columns: Sequence[tuple[str, int]], size: int, rows: int, mixed: int
) -> list[bytes]:
    row_size = bytearray(808 if form.wide else 480)
    row_size[: form.size] = form.mark(0xF7F7F7F7)
    row_size[5 * form.size : 7 * form.size] = form.words(size, rows)
    row_size[15 * form.size : 16 * form.size] = form.words(mixed)
    if form.method:
        row_size[-118:-112] = form.shorts(0, form.size + 4, 8)
    count = form.mark(0xF6F6F6F6) + form.words(len(columns), 0)
    text = _NAMES[form.method].ljust(24)
    places, at = b"", 0
    names = b""
    for name, width in columns:
        names += form.shorts(0, form.size + 4 + len(text), len(name), 0)
        text += name.encode().ljust(-(-len(name) // 4) * 4, b"\0")
        places += form.words(at) + struct.pack(
            f"{form.order}IHBB", width or 8, 4, 2 if width else 1, 0
        )
        at += width or 8
    described = [_counted(form, -3, bytes(form.size - 4) + text)]
    described += [_counted(form, -1, names), _counted(form, -4, places)]
    return [bytes(row_size), count, *described]


def _counted(form: Form, mark: int, body: bytes) -> bytes:
    """A description that states its length, with the zeros that end it."""
    end = bytes(form.size + 4)
    length = 2 * form.size + 4 + len(body)
    whole = form.size + 8 + len(body) + len(end)
    remainder = whole - 4 - 2 * form.size
    assert length <= whole
    return form.mark(mark) + form.shorts(remainder, 0, 0, 0) + body + end


def _page(
    form: Form, kind: int, parts: Sequence[tuple[bytes, int, int]], rows: Sequence[bytes]
) -> bytes:
    """A page of parts (with their compression and their kind) and of rows."""
    made = bytearray(_PAGE)
    head, step = (40, 24) if form.wide else (24, 12)
    made[head - 8 : head] = form.shorts(kind, len(parts) + len(rows), len(parts), 0)
    end = _PAGE
    for number, (part, packed, sort) in enumerate(parts):
        end -= -(-len(part) // 8) * 8
        made[end : end + len(part)] = part
        pointer = form.words(end, len(part)) + bytes([packed, sort])
        made[head + number * step : head + number * step + len(pointer)] = pointer
    at = -(-(head + step * len(parts)) // 8) * 8
    body = b"".join(rows)
    assert at + len(body) <= end
    made[at : at + len(body)] = body
    return bytes(made)


def _part(form: Form, row: bytes, size: int) -> tuple[bytes, int, int]:
    packed = packed_rle(row) if form.method == "rle" else packed_rdc(row)
    return (packed, 4, 1) if len(packed) < size else (row, 0, 1)


def packed_rle(row: bytes) -> bytes:
    """Run lengths: blanks, zeros and other bytes that repeat, the rest copied."""
    made, at, plain = b"", 0, b""
    while at < len(row):
        run = 1
        while at + run < len(row) and row[at + run] == row[at] and run < 300:
            run += 1
        if run < 3:
            plain, at = plain + row[at : at + 1], at + 1
            continue
        made, plain = made + _copied(plain) + _filled(row[at], run), b""
        at += run
    return made + _copied(plain)


def _copied(plain: bytes) -> bytes:
    made = b""
    while plain:
        count = min(len(plain), 319)
        if count < 65:
            made += bytes([0x80 + (count - 1) // 16 * 16 + (count - 1) % 16])
        else:
            made += bytes([0x00, count - 64])
        made, plain = made + plain[:count], plain[count:]
    return made


def _filled(byte: int, run: int) -> bytes:
    commands = {64: 0xD0, 32: 0xE0, 0: 0xF0}
    if byte in commands:
        if run <= 17:
            return bytes([commands[byte] + run - 2])
        more = run - 17
        return bytes([commands[byte] - 0x80 + more // 256, more % 256])
    if run <= 18:
        return bytes([0xC0 + run - 3, byte])
    return bytes([0x40 + (run - 18) // 256, (run - 18) % 256, byte])


def packed_rdc(row: bytes) -> bytes:
    """Ross data compression: runs, patterns seen before, and plain bytes."""
    made, bits, body, at = b"", 0, b"", 0
    count = 0
    while at < len(row):
        code, taken = _rdc_code(row, at)
        bits, body, count = bits << 1 | (taken > 1), body + code, count + 1
        at += taken
        if count == 16:
            made, bits, body, count = made + struct.pack(">H", bits) + body, 0, b"", 0
    return made + (struct.pack(">H", bits << 16 - count) + body if count else b"")


def _rdc_code(row: bytes, at: int) -> tuple[bytes, int]:
    run = 1
    while at + run < len(row) and row[at + run] == row[at] and run < 4000:
        run += 1
    if run >= 19:
        return bytes([0x10 + (run - 19) % 16, (run - 19) // 16, row[at]]), run
    if run >= 3:
        return bytes([run - 3, row[at]]), run
    for length in (40, 16, 15, 8, 3):
        part = row[at : at + length]
        place = row.rfind(part, 0, at) if len(part) == length else -1
        back = at - place
        if place >= 0 and length <= back and 3 <= back < 4000:
            low, high = (back - 3) % 16, (back - 3) // 16
            if length >= 16:
                return bytes([0x20 + low, high, length - 16]), length
            return bytes([length << 4 | low, high]), length
    return row[at : at + 1], 1
