"""Which libraries a shared library of Linux asks for, read from the file."""

from __future__ import annotations

import struct
from pathlib import Path

_DYNAMIC, _NEEDED = 6, 1


def needed_libraries(path: Path) -> set[str]:
    """The names in its entries DT_NEEDED (64 bit, little-endian, as on x86-64 and ARM)."""
    data = path.read_bytes()
    assert data[:6] == b"\x7fELF\x02\x01", path
    table, size, count = (
        struct.unpack_from("<Q", data, 40)[0],
        *struct.unpack_from("<HH", data, 58),
    )
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + size * n) for n in range(count)]
    found: set[str] = set()
    for section in sections:
        if section[1] != _DYNAMIC:
            continue
        names = sections[section[6]][4]
        for place in range(section[4], section[4] + section[5], 16):
            tag, value = struct.unpack_from("<qQ", data, place)
            if tag == _NEEDED:
                start = names + value
                found.add(data[start : data.index(b"\0", start)].decode())
    return found
