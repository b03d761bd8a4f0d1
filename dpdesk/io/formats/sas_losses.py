"""Texts of a SAS file (.sas7bdat) that the reading library would cut at a NUL without a word.

All its numbers arrive: NaN is what SAS writes for missing. Since the layout of these files was
never published, what is found is checked against what the library reads of that very cell before
the file is refused; and a file that is built in another way is read with a note.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dpdesk.io.formats.sas_layout import AS_IT_STANDS, NONE, PACKED, RDC, Page, SasFile
from dpdesk.io.formats.stat_faults import nul_in_text
from dpdesk.io.formats.table import Notes

_NUL, _BLANK = 0, 32
_MOST_BYTES = 1 << 29
Bytes = NDArray[np.uint8]
Confirm = Callable[[int, int, bytes], bool]
"""Whether the library reads of this row and column (from 0) these bytes, up to the NUL."""


def refuse_losses(
    path: Path, names: Sequence[str], limit: int | None, notes: Notes, confirm: Confirm
) -> None:
    """Raise InputError ``read.nul`` for the first text with something behind a NUL.

    ``names`` are those of the columns; with ``limit`` only the first rows are looked at.
    """
    try:
        with path.open("rb") as file:
            found = _first_cut(SasFile(file), len(names), limit)
    except (ValueError, struct.error, IndexError):
        found = None
        _note(notes)
    if found is None:
        return
    row, column, raw = found
    if not confirm(row, column, raw):
        _note(notes)
        return
    raise nul_in_text(path.name, row + 1, names[column])


def _note(notes: Notes) -> None:
    notes.add(
        "nul",
        "The rows of the file could not be looked through for NUL characters; a text that holds "
        "one is read up to it.",
    )


def _first_cut(sas: SasFile, columns: int, limit: int | None) -> tuple[int, int, bytes] | None:
    """Row and column (from 0) and the bytes of the first text with something behind a NUL."""
    if sas.columns != columns:
        raise ValueError("other columns than those that were read")
    wanted = sas.rows if limit is None else min(limit, sas.rows)
    spans, done = _spans(sas), 0
    if not spans:
        return None
    for rows in _blocks(sas):
        rows = rows[: wanted - done]
        if any((rows[:, start:stop] == _NUL).any() for start, stop in spans):
            found = _cut(rows, sas)
            if found is not None:
                return done + found[0], found[1], found[2]
        done += len(rows)
        if done >= wanted:
            return None
    raise ValueError("fewer rows than the file says")


def _spans(sas: SasFile) -> list[tuple[int, int]]:
    """The parts of a row that hold texts, those side by side as one."""
    found: list[tuple[int, int]] = []
    for _, start, width in sorted(sas.texts, key=lambda text: text[1]):
        if found and found[-1][1] == start:
            found[-1] = (found[-1][0], start + width)
        else:
            found.append((start, start + width))
    return found


def _cut(rows: Bytes, sas: SasFile) -> tuple[int, int, bytes] | None:
    best: tuple[int, int, bytes] | None = None
    for j, start, width in sas.texts:
        raw = rows[:, start : start + width]
        behind = np.logical_or.accumulate(raw == _NUL, axis=1)
        lost = (behind & (raw != _NUL) & (raw != _BLANK)).any(axis=1)
        if lost.any():
            row = int(np.argmax(lost))
            if best is None or (row, j) < best[:2]:
                best = row, j, raw[row].tobytes()
    return best


def _blocks(sas: SasFile) -> Iterator[Bytes]:
    """The rows of one page after the other, of shape (rows, bytes)."""
    done = 0
    for page in sas.pages():
        if page.is_index:
            continue
        if page.has_rows_alone:
            rows = _plain(sas, page, sas.head_bytes, page.blocks)
        elif sas.method != NONE:
            rows = _unpacked(sas, page)
        elif page.is_mixed:
            count = min(sas.mixed_rows, sas.rows - done)
            rows = _plain(sas, page, sas.rows_start(page), count)
        else:
            continue
        done += len(rows)
        yield rows


def _plain(sas: SasFile, page: Page, start: int, count: int) -> Bytes:
    size = sas.row_bytes
    if start + count * size > len(page.raw):
        raise ValueError("more rows than a page holds")
    return np.frombuffer(page.raw, np.uint8, count * size, start).reshape(count, size)


def _unpacked(sas: SasFile, page: Page) -> Bytes:
    from dpdesk.io.formats.sas_kernels import unpack_rows

    parts = sas.parts(page)
    rows = parts.packed == PACKED
    for at in np.flatnonzero((parts.packed == AS_IT_STANDS) & (parts.kinds == 1)):
        start, size = int(parts.starts[at]), int(parts.sizes[at])
        rows[at] = size > 0 and not sas.is_description(page, start)
    if sas.row_bytes * len(parts.starts) > _MOST_BYTES:
        raise ValueError("rows that no page holds")
    made = np.empty((int(np.count_nonzero(rows)), sas.row_bytes), np.uint8)
    raw = np.frombuffer(page.raw, np.uint8)
    found = unpack_rows(
        raw, parts.starts[rows], parts.sizes[rows], parts.packed[rows], sas.method == RDC, made
    )
    if found != len(made):
        raise ValueError("a row that cannot be unpacked")
    return made
