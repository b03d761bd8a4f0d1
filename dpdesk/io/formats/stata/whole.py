"""Whether a Stata file is whole: as many rows as it says, and all of what stands behind them.

Its value labels stand behind the rows, and a reader takes a file that breaks off among them for one
that has none.
"""

from __future__ import annotations

import mmap
import struct
from pathlib import Path

from dpdesk.core.messages import msg
from dpdesk.io.formats.stat_faults import check_names
from dpdesk.io.formats.stata.layout import DtaLayout, read_any_layout
from dpdesk.io.formats.table import damaged

_START, _END, _ROWS_END = b"<stata_dta>", b"</stata_dta>", b"</data>"
_TAGGED, _LONG_TABLES = 117, 108
_NAMES = {True: (9, 33), False: (33,)}
"""Bytes of the name of a table of labels, by whether the format is one before 110."""


def check_whole(path: Path) -> None:
    """Refuse a file that breaks off, that has other rows than it says, or names a column twice.

    Raises InputError ``read.damaged`` or ``read.names``.
    """
    _check_end(path)
    layout = read_any_layout(path)
    if layout is None:
        return
    check_names(path.name, _decoded(layout))
    end, rows = layout.start + layout.rows * layout.row_bytes, f"{layout.rows:,}"
    with path.open("rb") as file:
        file.seek(min(end, path.stat().st_size))
        if layout.release >= _TAGGED:
            whole = file.read(len(_ROWS_END)) == _ROWS_END
        else:
            whole = end <= path.stat().st_size and _is_whole(file.read(), layout)
    if not whole:
        what = msg(
            "the file breaks off after the {rows} rows that it says it has, or has a different "
            "number of rows",
            rows=rows,
        )
        raise damaged(path.name, what)


def _check_end(path: Path) -> None:
    """Refuse a file of version 13 and later that does not end with its last mark."""
    with path.open("rb") as file:
        if file.read(len(_START)) != _START:
            return
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            end, size = data.rfind(_END), len(data)
    left = size - end - len(_END)
    if end < 0:
        raise damaged(
            path.name, ("the file breaks off after its rows, where value labels are stored")
        )
    if left:
        raise damaged(path.name, msg("{left:,} bytes follow after the end of the table", left=left))


def _decoded(layout: DtaLayout) -> list[str]:
    """The names of the columns; different ones stay different."""
    encoding = "utf-8" if layout.release > _TAGGED else "latin-1"
    return [name.decode(encoding, "backslashreplace") for name in layout.names]


def _is_whole(tail: bytes, layout: DtaLayout) -> bool:
    """Whether what stands behind the rows is nothing but whole tables of value labels."""
    before = layout.release < 110
    if any(_are_tables(tail, layout.order, width) for width in _NAMES[before]):
        return True
    return layout.release < _LONG_TABLES and _are_short_tables(tail, layout.order)


def _are_tables(tail: bytes, order: str, width: int) -> bool:
    """Tables of their length, a name of that width, 3 bytes, the numbers and bytes of labels."""
    at = 0
    while at < len(tail):
        body = at + 4 + width + 3
        if body + 8 > len(tail) or 0 not in tail[at + 4 : body - 3]:
            return False
        (length,) = struct.unpack_from(f"{order}i", tail, at)
        count, text = struct.unpack_from(f"{order}2i", tail, body)
        if count < 0 or text < 0 or 8 + 8 * count + text > length:
            return False
        at = body + length
    return at == len(tail)


def _are_short_tables(tail: bytes, order: str) -> bool:
    """Tables of a count, a name of 9 bytes and 1 byte, then values and labels of 2 and 8 bytes."""
    at = 0
    while at + 12 <= len(tail) and 0 in tail[at + 2 : at + 11]:
        (count,) = struct.unpack_from(f"{order}H", tail, at)
        at += 12 + 10 * count
    return at == len(tail)
