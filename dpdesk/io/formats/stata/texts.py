"""Texts of a Stata file that end inside a character: refused or noted.

Up to version 13 Stata kept texts in the encoding of the computer and told nobody which, so a plan
names it; from 14 on they are UTF-8. See :mod:`dpdesk.io.formats.endings`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dpdesk.io.formats.endings import Endings
from dpdesk.io.formats.stat_faults import breaks_off, note_cut
from dpdesk.io.formats.stata.layout import DtaLayout, read_any_layout
from dpdesk.io.formats.table import Notes

_BYTES, _HIGH = 4 << 20, 0x80


def check_texts(
    path: Path, names: Sequence[str], limit: int | None, notes: Notes, endings: Endings
) -> bool:
    """Whether texts were cut off inside their last character, which is noted.

    ``names`` are those of the columns; with ``limit`` only the first rows are looked at. Texts of
    any length (strL) are not: the library takes them as UTF-8, and refuses what is none. Raises
    InputError ``encoding.undecodable`` for a text that seems to be in another encoding, and
    ``read.damaged`` when the file cannot be followed.
    """
    layout = read_any_layout(path)
    if not endings.looks or layout is None or layout.columns != len(names) or not layout.strings:
        return False
    cut = False
    rows = layout.rows if limit is None else min(limit, layout.rows)
    size = max(1, _BYTES // layout.row_bytes)
    with path.open("rb") as file:
        file.seek(layout.start)
        for start in range(0, rows, size):
            data = file.read(min(size, rows - start) * layout.row_bytes)
            count = len(data) // layout.row_bytes
            table = np.frombuffer(data, np.uint8, count * layout.row_bytes)
            table = table.reshape(count, layout.row_bytes)
            foreign, some = _foreign(table, layout, names, start, notes, endings)
            cut |= some
            if foreign:
                row, column = min(foreign)
                raise breaks_off(path.name, start + row + 1, names[column], endings.encoding)
    return cut


def _foreign(
    table: NDArray[np.uint8],
    layout: DtaLayout,
    names: Sequence[str],
    start: int,
    notes: Notes,
    endings: Endings,
) -> tuple[list[tuple[int, int]], bool]:
    """Row and column of the first text of each column in another encoding.

    Those that were cut off are noted; the second says that there are some.
    """
    found, some = [], False
    for j, at, width in layout.strings:
        raw = table[:, at : at + width]
        if not (raw >= _HIGH).any():
            continue
        raw = np.where(np.logical_or.accumulate(raw == 0, axis=1), np.uint8(0), raw)
        broken = endings.rows(raw)
        foreign = broken & endings.foreign(raw)
        cut = np.flatnonzero(broken & ~foreign)
        if foreign.any():
            found.append((int(np.argmax(foreign)), j))
        if len(cut):
            some = True
            note_cut(notes, start + int(cut[0]) + 1, names[j], len(cut))
    return found, some
