"""The value labels of a Stata file as they stand in it, without the reading library.

The library gives the label of the missing value ``.`` to the value 0, takes the last of two labels
of one value, and all labels from a damaged table on for absent.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.io.formats.endings import codec_name, is_known
from dpdesk.io.formats.stata.layout import DtaLayout, entry_head, read_any_layout
from dpdesk.io.formats.table import Notes, damaged

_TAGGED, _LETTERED, _LONG_NAMES, _TABLES = 117, 113, 110, 108
_OPEN, _CLOSE, _END = b"<lbl>", b"</lbl>", b"</value_labels>"
_MISSING, _OLD_MISSING = 2_147_483_621, 2_147_483_647
_CHARSET = "cp1252"
Labels = dict[str, list[tuple[int, bytes]]]
"""By the name of a table the labelled numbers and their labels, in the order of the file."""


def checked_labels(
    path: Path, encoding: str, named: Mapping[str, str], given: Mapping[str, Any], notes: Notes
) -> dict[str, Mapping[Any, str]]:
    """The value labels ``given`` by the library for the columns, with that of 0 put right.

    ``named`` holds the table of each column. Noted: a label of the missing value, and two labels of
    one value. Raises InputError ``read.damaged`` for a table that cannot be followed.
    """
    found = dict(given)
    layout = read_any_layout(path)
    if layout is None or layout.release < _TABLES:
        return found
    codec = codec_name(encoding) if encoding and is_known(encoding) else _CHARSET
    try:
        tables = _tables(path, layout, "utf-8" if layout.release > _TAGGED else codec)
    except (ValueError, struct.error, IndexError) as error:
        raise damaged(path.name, "its value labels are damaged") from error
    missing = _MISSING if layout.release >= _LETTERED else _OLD_MISSING
    for column, table in named.items():
        labels = [(code, text.decode(codec, "replace")) for code, text in tables.get(table, [])]
        if any(code == missing for code, _ in labels) and column in found:
            notes.add(
                f"label nan {column}",
                msg(
                    "Column `{column}`: the missing value has a label; it is left out.",
                    column=column,
                ),
            )
            zero = [text for code, text in labels if code == 0]
            found[column] = {
                code: zero[-1] if code == 0 else text
                for code, text in found[column].items()
                if code != 0 or zero
            }
        _note_two(column, labels, notes)
    return found


def _note_two(column: str, labels: list[tuple[int, str]], notes: Notes) -> None:
    seen: dict[int, str] = {}
    for code, text in labels:
        before = seen.setdefault(code, text)
        if before != text:
            notes.add(
                f"labels {column}",
                msg(
                    "Column `{column}`: the value {value} has two labels, `{first}` and "
                    "`{last}`; the last one is taken.",
                    column=column,
                    value=code,
                    first=before,
                    last=text,
                ),
            )


def _tables(path: Path, layout: DtaLayout, codec: str) -> Labels:
    with path.open("rb") as file:
        file.seek(layout.labels)
        raw = file.read()
    found: Labels = {}
    for name, labels in _walk(raw, layout):
        found.setdefault(name.decode(codec, "replace").rstrip(" "), []).extend(labels)
    return found


def _walk(raw: bytes, layout: DtaLayout) -> Iterator[tuple[bytes, list[tuple[int, bytes]]]]:
    """The tables one by one; ValueError for one whose lengths do not fit together."""
    release, order, at = layout.release, layout.order, 0
    tagged, width = release >= _TAGGED, 9 if release < _LONG_NAMES else 33
    if release > _TAGGED:
        width = 129
    while at < len(raw):
        if tagged and raw.startswith(_END, at):
            return
        if tagged and not raw.startswith(_OPEN, at):
            raise ValueError("no table where one is expected")
        at += len(_OPEN) if tagged else 0
        (length,) = struct.unpack_from(f"{order}i", raw, at)
        name = raw[at + 4 : at + 4 + width].partition(b"\0")[0]
        body = at + 4 + width + 3
        yield name, _labels(raw[body : body + length], order)
        at = body + length
        if tagged:
            if not raw.startswith(_CLOSE, at):
                raise ValueError("a table of another length than it says")
            at += len(_CLOSE)


def _labels(body: bytes, order: str) -> list[tuple[int, bytes]]:
    count, size = struct.unpack_from(f"{order}2i", body, 0)
    if count < 0 or size < 0 or 8 + 8 * count + size > len(body):
        raise ValueError("more labels than a table holds")
    places = struct.unpack_from(f"{order}{count}i", body, 8)
    codes = struct.unpack_from(f"{order}{count}i", body, 8 + 4 * count)
    texts = body[8 + 8 * count : 8 + 8 * count + size]
    if any(not 0 <= place < size for place in places):
        raise ValueError("a label outside of its table")
    return [
        (code, texts[place:].partition(b"\0")[0]) for code, place in zip(codes, places, strict=True)
    ]


# The characteristics of a Stata file: notes, languages of labels, settings of commands.
#
# The layout is that of Stata's own descriptions, see :mod:`dpdesk.io.formats.stata.layout`.


FILE = "_dta"
"""The owner of what belongs to the file and not to a column."""
_CHAR_TAGGED, _SHORT = 117, 110
_CHAR_OPEN, _CHAR_CLOSE = b"<ch>", b"</ch>"


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
        width = 9 if layout.release < _SHORT else 33 if layout.release <= _CHAR_TAGGED else 129
        encoding = "utf-8" if layout.release > _CHAR_TAGGED else "cp1252"
        entries = _tagged if layout.release >= _CHAR_TAGGED else _old
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
    while raw[at : at + len(_CHAR_OPEN)] == _CHAR_OPEN:
        start = at + len(_CHAR_OPEN) + 4
        (length,) = struct.unpack(f"{order}I", raw[start - 4 : start].ljust(4, b"\0"))
        yield raw[start : start + length]
        at = start + length + len(_CHAR_CLOSE)


def _old(raw: bytes, order: str, release: int) -> Iterator[bytes]:
    head = struct.Struct(entry_head(order, release))
    at = 0
    while at + head.size <= len(raw):
        kind, length = head.unpack_from(raw, at)
        if kind == 0 or length <= 0:
            return
        yield raw[at + head.size : at + head.size + length]
        at += head.size + length
