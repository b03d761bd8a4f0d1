"""Grow a small SAS file to many rows: ``python make_sas.py SAMPLE PATH [ROWS]``.

No free library writes ``.sas7bdat``, so the pages of data are made here from the rows of a sample:
an uncompressed little-endian file of the 64-bit layout whose rows all stand on its first page. The
layout of pages and of the row-size subheader is the one that free readers have documented.
"""

from __future__ import annotations

import struct
import sys
from pathlib import Path

_U64, _LITTLE = 0x33, 1
_TYPE, _DATA, _MIXED = 32, 256, 512
_POINTERS, _POINTER = 40, 24
_ROW_SIZE = b"\xf7\xf7\xf7\xf7"


def grow(sample: bytes, rows: int, out: Path) -> None:
    """Write the rows of ``sample`` again and again, ``rows`` in all.

    Raises ValueError for samples of another layout.
    """
    data = bytearray(sample)
    wide = 4 if data[35] == _U64 else 0
    if data[32] != _U64 or data[37] != _LITTLE:
        raise ValueError("the sample is not of the 64-bit little-endian layout")
    head, size = struct.unpack_from("<II", data, 196 + wide)
    page = data[head : head + size]
    kind, _, subheaders = struct.unpack_from("<HHH", page, _TYPE)
    if kind != _MIXED:
        raise ValueError("the sample has no page with both rows and descriptions")
    place = _row_size(page, subheaders)
    length, there = struct.unpack_from("<QQ", page, place + 40)
    (first,) = struct.unpack_from("<Q", page, place + 120)
    start = -(-(_POINTERS + _POINTER * subheaders) // 8) * 8
    body = bytes(page[start : start + length * there])
    on_page = (size - _POINTERS) // length
    pages = -(-max(0, rows - first) // on_page)
    struct.pack_into("<Q", data, head + place + 48, rows)
    struct.pack_into("<Q", data, 204 + wide, 1 + pages)
    filled = (body * (max(first, on_page) // there + 1))[: max(first, on_page) * length]
    data[head + start : head + start + first * length] = filled[: first * length]
    full = _page(page, on_page, filled[: on_page * length], size)
    last = rows - first - (pages - 1) * on_page
    with out.open("wb") as file:
        file.write(data[: head + size])
        for _ in range(pages - 1):
            file.write(full)
        if pages:
            file.write(_page(page, last, filled[: last * length], size))


def _row_size(page: bytearray, subheaders: int) -> int:
    for i in range(subheaders):
        (place,) = struct.unpack_from("<Q", page, _POINTERS + _POINTER * i)
        if page[place : place + 4] == _ROW_SIZE:
            return int(place)
    raise ValueError("the sample does not say how long its rows are")


def _page(like: bytearray, rows: int, body: bytes, size: int) -> bytes:
    made = bytearray(size)
    made[:_TYPE] = like[:_TYPE]
    struct.pack_into("<HHH", made, _TYPE, _DATA, rows, 0)
    made[_POINTERS : _POINTERS + len(body)] = body
    return bytes(made)


if __name__ == "__main__":
    wanted = int(sys.argv[3]) if len(sys.argv) > 3 else 5_000_000
    grow(Path(sys.argv[1]).read_bytes(), wanted, Path(sys.argv[2]))
