"""The characteristics of a Stata file: notes, languages of labels, settings of commands.

The layout is that of Stata's own descriptions, see :mod:`dpdesk.io.formats.stata.layout`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from dpdesk.core.errors import InputError
from dpdesk.io.formats.stata.layout import entry_head, read_any_layout

FILE = "_dta"
"""The owner of what belongs to the file and not to a column."""
_TAGGED, _SHORT = 117, 110
_OPEN, _CLOSE = b"<ch>", b"</ch>"


@dataclass(frozen=True)
class Characteristic:
    """A text that a column, or the file (:data:`FILE`), has under a name."""

    owner: str
    name: str
    text: str


def characteristics(path: Path) -> tuple[Characteristic, ...]:
    """All of them, as far as they can be followed; none of files before format 105."""
    with suppress(InputError):
        layout = read_any_layout(path)
        if layout is None or not layout.extras:
            return ()
        with path.open("rb") as file:
            file.seek(layout.extras)
            raw = file.read(max(0, layout.start - layout.extras))
        width = 9 if layout.release < _SHORT else 33 if layout.release <= _TAGGED else 129
        encoding = "utf-8" if layout.release > _TAGGED else "cp1252"
        entries = _tagged if layout.release >= _TAGGED else _old
        return tuple(
            Characteristic(*(text.decode(encoding, "replace") for text in _parts(entry, width)))
            for entry in entries(raw, layout.order, layout.release)
        )
    return ()


def _parts(entry: bytes, width: int) -> tuple[bytes, bytes, bytes]:
    owner, name, text = entry[:width], entry[width : 2 * width], entry[2 * width :]
    return owner.partition(b"\0")[0], name.partition(b"\0")[0], text.partition(b"\0")[0]


def _tagged(raw: bytes, order: str, _release: int) -> Iterator[bytes]:
    at = 0
    while raw[at : at + len(_OPEN)] == _OPEN:
        start = at + len(_OPEN) + 4
        (length,) = struct.unpack(f"{order}I", raw[start - 4 : start].ljust(4, b"\0"))
        yield raw[start : start + length]
        at = start + length + len(_CLOSE)


def _old(raw: bytes, order: str, release: int) -> Iterator[bytes]:
    head = struct.Struct(entry_head(order, release))
    at = 0
    while at + head.size <= len(raw):
        kind, length = head.unpack_from(raw, at)
        if kind == 0 or length <= 0:
            return
        yield raw[at + head.size : at + head.size + length]
        at += head.size + length
