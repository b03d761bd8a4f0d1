"""Small SAS catalogues (.sas7bcat) made byte by byte: the labels of formats."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

from tests.helpers.sas_bytes import Form, sas_header

_PAGE, _PLACE = 4096, 64
_LETTERS = "_.ABCDEFGHIJKLMNOPQRSTUVWXYZ"
Ends = tuple[float | str, float | str]
Entry = tuple[Ends, int]
"""The ends of a range (twice the same for one value), and the number of its label from 0."""
Formats = dict[str, tuple[Sequence[Entry], Sequence[str]]]
"""Entries and labels by the name of a format."""


def write_catalog(
    path: Path,
    formats: Formats,
    form: Form,
    copies: int = 4,
) -> Path:
    """A catalogue of formats with their entries and labels.

    A number stands ``copies`` times in an entry: the start of a range, then its end.
    """
    pages = [bytes(_PAGE) for _ in range(3)]
    index = b""
    for name, (entries, labels) in formats.items():
        pages.append(_chained(form, _block(form, name, entries, labels, copies)))
        index += _pointer(form, len(pages))
    first = 856 + (152 if form.wide else 0)
    pages[1] = (bytes(first) + index).ljust(_PAGE, b"\0")
    header = bytearray(sas_header(form, len(pages), 20))
    header[15], header[156:164] = 0x63, b"CATALOG "
    path.write_bytes(bytes(header) + b"".join(pages))
    return path


def _pointer(form: Form, page: int) -> bytes:
    pad = 4 if form.wide else 0
    made = bytearray(284 + pad if form.wide else 212)
    made[:4], made[(74 if form.wide else 50) + pad] = b"XLSR", ord("O")
    far = form.size
    made[far : 2 * far] = form.words(page)
    made[2 * far : 2 * far + 2] = form.shorts(_PLACE)
    return bytes(made)


def _chained(form: Form, block: bytes) -> bytes:
    """A page with a block in one part."""
    head = bytearray(32 if form.wide else 16)
    at = 10 if form.wide else 6
    head[at : at + 2] = form.shorts(len(block))
    made = bytes(_PLACE) + bytes(head) + block
    assert len(made) <= _PAGE
    return made.ljust(_PAGE, b"\0")


def _block(
    form: Form, name: str, entries: Sequence[Entry], labels: Sequence[str], copies: int
) -> bytes:
    made = bytearray(138 if form.wide else 106)
    long = (0x20 if form.wide else 0x80) if len(name) > 8 else 0
    made[2:4], made[8:16] = form.shorts(long), name[:8].ljust(8).encode()
    at = 42 if form.wide else 38
    made[at : at + 2 * form.size] = form.words(len(entries), len(labels))
    rest = [at for at in range(len(labels)) if at not in [label for _, label in entries]]
    if rest:
        at = 74 if form.wide else 66
        made[at : at + form.size] = form.words(rest[0] + 1)
    more = name.ljust(32).encode() if long else b""
    body = b"".join(_entry(form, ends, label, copies) for ends, label in entries)
    for label in labels:
        raw = label.encode()
        body += bytes(8) + form.shorts(len(raw)) + raw + b"\0"
    return bytes(made) + more + body


def _entry(form: Form, ends: Ends, label: int, copies: int) -> bytes:
    made = bytearray(22)
    at = 14 if form.wide else 10
    made[at : at + 4] = struct.pack(form.order + "I", label)
    if isinstance(ends[0], str) and ends[0].startswith("'"):
        texts = [str(end).strip("'").encode().ljust(16) for end in ends]
        body = b"".join(texts if texts[0] != texts[1] else texts[:1])
    else:
        each = -(-copies // 2)
        body = b"".join([_number(ends[0])] * each + [_number(ends[1])] * (copies - each))
    made[2:4] = form.shorts(16 + len(body))
    return bytes(made) + body


def _number(code: float | str) -> bytes:
    """A number whose bits are turned, or a missing one by its letter (``.`` without one)."""
    if isinstance(code, str):
        return struct.pack(">Q", _LETTERS.index(code) << 40 | 0xFFFFFFFFFF)
    raw = struct.pack(">d", code)
    turned = 0xFF if raw[0] & 0x80 else 0
    return bytes([raw[0] ^ (turned or 0x80), *(byte ^ turned for byte in raw[1:])])
