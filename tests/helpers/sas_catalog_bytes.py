"""Small SAS catalogues (.sas7bcat) made byte by byte: formats of numbers or texts with labels."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

MAGIC = bytes(12) + bytes.fromhex("c2ea8163b31411cfbd92080009c7318c181f1011")
_HEAD, _PAGE, _INDEX, _MARK = 1024, 4096, 856, 212
Value = float | str | tuple[float, float]
Labelled = Sequence[tuple[Value, bytes]]
MISSING = b"\0\0\1" + b"\xff" * 5
"""The bytes of the missing value."""


def write_catalog_bytes(
    path: Path, formats: Mapping[str, Labelled], others: Mapping[str, bytes] | None = None
) -> Path:
    """A catalogue of formats, each a list of values (or a range of two numbers) and labels.

    The missing value is NaN; ``others`` holds labels for all other values.
    """
    blocks = [_block(name, labels, (others or {}).get(name)) for name, labels in formats.items()]
    pages = [bytearray(_PAGE) for _ in range(4 + len(blocks))]
    for number, block in enumerate(blocks):
        at, page = _INDEX + number * _MARK, 4 + number
        mark = bytearray(_MARK)
        mark[:4], mark[50:51] = b"XLSR", b"O"
        struct.pack_into("<HHHH", mark, 4, page + 1, 0, 64, 0)
        pages[1][at : at + _MARK] = mark
        struct.pack_into("<IHH", pages[page], 64, 0, 0, len(block))
        pages[page][80 : 80 + len(block)] = block
    path.write_bytes(_header(len(pages)) + b"".join(pages))
    return path


def _header(pages: int) -> bytes:
    made = bytearray(_HEAD)
    made[:32] = MAGIC
    made[32], made[35], made[37], made[39], made[70] = 0x22, 0x22, 1, ord("2"), 20
    made[84:92], made[92:100], made[156:164] = b"SAS FILE", b"FORMATS ", b"CATALOG "
    struct.pack_into("<III", made, 196, _HEAD, _PAGE, pages)
    made[216:224] = b"9.0401M5"
    return bytes(made)


def _block(name: str, labels: Labelled, other: bytes | None) -> bytes:
    head = bytearray(106)
    head[8:16] = name.encode().ljust(8)
    struct.pack_into("<II", head, 38, len(labels), len(labels) + (other is not None))
    struct.pack_into("<I", head, 66, 0 if other is None else len(labels) + 1)
    entries = b"".join(_entry(number, value) for number, (value, _) in enumerate(labels))
    texts = [text for _, text in labels] + ([] if other is None else [other])
    return bytes(head) + entries + b"".join(_label(text) for text in texts)


def _entry(number: int, value: Value) -> bytes:
    if isinstance(value, str):
        raw = value.encode().ljust(16)
    else:
        first, last = value if isinstance(value, tuple) else (value, value)
        raw = _double(first) * 2 + _double(last) * 2
    return struct.pack("<HHHIIQ", 4, 16 + len(raw), 0, 0, number, 0)[:22] + raw


def _double(number: float) -> bytes:
    if number != number:
        return MISSING
    bits = int.from_bytes(struct.pack(">d", number), "big")
    return (bits ^ (1 << 63 if number >= 0 else (1 << 64) - 1)).to_bytes(8, "big")


def _label(text: bytes) -> bytes:
    return struct.pack("<HHIH", 5, 5 + len(text), 0, len(text)) + text + b"\0"
