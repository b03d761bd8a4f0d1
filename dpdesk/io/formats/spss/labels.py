"""Labels of an SPSS file that the reading library would cut or drop without a word."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Sequence

from dpdesk.io.formats.endings import Endings, codec_name, is_known
from dpdesk.io.formats.numbers import number_text
from dpdesk.io.formats.spss.layout import Label, SavLayout
from dpdesk.io.formats.stat_faults import label_breaks_off, note_cut_label, note_nul
from dpdesk.io.formats.table import Notes


def check_labels(
    file: str, layout: SavLayout, names: Sequence[str], encoding: str, notes: Notes
) -> None:
    """Raise InputError ``encoding.undecodable`` for a label that ends inside a character.

    One that holds a NUL is noted.
    Two labels of one value, of which the last is taken, and a label of the missing value are noted.
    """
    endings = Endings(encoding)
    codec = codec_name(encoding) if is_known(encoding) else "latin-1"
    given: dict[tuple[str, bytes | str], bytes] = {}
    for label in layout.labels:
        column = _column(label, names, codec)
        value = _value(label, layout, codec)
        what = "its label" if value is None else f"the label of the value {value}"
        if any(b"\0" in text.rstrip(b" \0") for text in _texts(label, layout)):
            note_nul(notes, column, what)
        broken = [text for text in _texts(label, layout) if endings.breaks_off(text)]
        if any(endings.is_foreign(text) for text in broken):
            raise label_breaks_off(file, column, what, encoding)
        if broken:
            note_cut_label(notes, column, what)
        if value is None:
            continue
        text = label.text.rstrip(b" \0")
        known = value if value == "nan" or not _is_text(label, layout) else _bare(label.code)
        before = given.setdefault((column, known), text)
        if value == "nan":
            notes.add(
                f"label nan {column}",
                f"Column `{column}`: the missing value has a label; it is left out.",
            )
        elif before != text:
            first, last = (one.decode(codec, "replace") for one in (before, text))
            notes.add(
                f"labels {column}",
                f"Column `{column}`: the value {value} has two labels, `{first}` and "
                f"`{last}`; the last one is taken.",
            )


def _texts(label: Label, layout: SavLayout) -> Iterator[bytes]:
    """The label, and the value that it is of if that is a text."""
    yield label.text
    if label.code is not None and _is_text(label, layout):
        yield label.code


def _bare(code: bytes | None) -> bytes:
    return (code or b"").rstrip(b" \0")


def _column(label: Label, names: Sequence[str], codec: str) -> str:
    if isinstance(label.column, int):
        return names[label.column]
    named = label.column.decode(codec, "replace")
    return next((name for name in names if name.casefold() == named.casefold()), named)


def _is_text(label: Label, layout: SavLayout) -> bool:
    return isinstance(label.column, bytes) or not layout.columns[label.column].numeric


def _value(label: Label, layout: SavLayout, codec: str) -> str | None:
    """The value that a label is of, ``nan`` for one that is missing; None for a column's own."""
    if label.code is None:
        return None
    if _is_text(label, layout):
        text = _bare(label.code).decode(codec, "replace")
        return f"`{text}`"
    (number,) = struct.unpack(f"{layout.order}d", label.code)
    (bits,) = struct.unpack(f"{layout.order}Q", label.code)
    return "nan" if math.isnan(number) or bits == layout.sysmis else number_text(number)
