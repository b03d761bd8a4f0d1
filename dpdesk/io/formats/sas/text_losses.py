"""Texts of a SAS file (.sas7bdat) that the reading library would cut without a word.

It ends a text at a NUL, and drops the beginning of a character at its end. All numbers arrive: NaN
is what SAS writes for missing. Since the layout of these files was never published, what is found
is checked against what the library reads of that very cell before the file is refused; and a file
that is built in another way is read with a note.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dpdesk.io.formats.endings import Endings
from dpdesk.io.formats.sas.layout import AS_IT_STANDS, NONE, PACKED, RDC, Page, SasFile
from dpdesk.io.formats.stat_faults import breaks_off, note_cut, nul_in_text
from dpdesk.io.formats.table import Notes

_NUL, _BLANK, _HIGH = 0, 32, 0x80
_MOST_BYTES = 1 << 29
Bytes = NDArray[np.uint8]
Confirm = Callable[[int, int, bytes], bool]
"""Whether the library reads of this row and column (from 0) these bytes, up to where it cuts."""


@dataclass(frozen=True)
class _Loss:
    """A text that would be cut: row and column from 0, its bytes, whether at its end."""

    row: int
    column: int
    raw: bytes
    ending: bool = False


@dataclass
class _Found:
    """The first text to refuse the file for, and by column the first cut one and how many."""

    refused: _Loss | None = None
    cut: dict[int, tuple[_Loss, int]] = field(default_factory=dict)


def refuse_losses(
    path: Path,
    names: Sequence[str],
    limit: int | None,
    notes: Notes,
    confirm: Confirm,
    endings: Endings,
) -> bool:
    """Raise InputError ``read.nul`` for the first text with something behind a NUL.

    And ``encoding.undecodable`` for the first that seems to be in another encoding by its end.
    True when texts were cut off inside a character, which is noted. ``names`` are those of the
    columns; with ``limit`` only the first rows are looked at.
    """
    try:
        with path.open("rb") as file:
            found = _look_through(SasFile(file), len(names), limit, endings)
    except (ValueError, struct.error, IndexError):
        _note(notes, endings)
        return False
    firsts = [loss for loss, _ in found.cut.values()] + ([found.refused] if found.refused else [])
    if not all(confirm(loss.row, loss.column, loss.raw) for loss in firsts):
        _note(notes, endings)
        return False
    if found.refused is not None:
        row, name = found.refused.row + 1, names[found.refused.column]
        if found.refused.ending:
            raise breaks_off(path.name, row, name, endings.encoding)
        raise nul_in_text(path.name, row, name)
    for column, (loss, count) in sorted(found.cut.items()):
        note_cut(notes, loss.row + 1, names[column], count)
    return bool(found.cut)


def _note(notes: Notes, endings: Endings) -> None:
    notes.add(
        "nul",
        "The rows of the file could not be looked through for NUL characters; a text that holds "
        "one is read up to it.",
    )
    if endings.looks:
        notes.add(
            "ends",
            "The rows of the file could not be looked through for texts that are cut off inside "
            "their last character; this is left out of them.",
        )


def _look_through(sas: SasFile, columns: int, limit: int | None, endings: Endings) -> _Found:
    if sas.columns != columns:
        raise ValueError("other columns than those that were read")
    wanted = sas.rows if limit is None else min(limit, sas.rows)
    spans, done, found = _spans(sas), 0, _Found()
    if not spans:
        return found
    for rows in _blocks(sas):
        rows = rows[: wanted - done]
        losses = []
        if any((rows[:, start:stop] == _NUL).any() for start, stop in spans):
            losses += _behind_nul(rows, sas, done)
        if endings.looks and any((rows[:, start:stop] >= _HIGH).any() for start, stop in spans):
            losses += _broken(rows, sas, done, endings, found)
        if losses:
            found.refused = min(losses, key=lambda loss: (loss.row, loss.column))
            return found
        done += len(rows)
        if done >= wanted:
            return found
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


def _behind_nul(rows: Bytes, sas: SasFile, done: int) -> list[_Loss]:
    """The first text of each column with something behind a NUL; ``done`` rows stand above."""
    found = []
    for j, start, width in sas.texts:
        raw = rows[:, start : start + width]
        behind = np.logical_or.accumulate(raw == _NUL, axis=1)
        lost = (behind & (raw != _NUL) & (raw != _BLANK)).any(axis=1)
        if lost.any():
            row = int(np.argmax(lost))
            found.append(_Loss(done + row, j, raw[row].tobytes()))
    return found


def _broken(rows: Bytes, sas: SasFile, done: int, endings: Endings, found: _Found) -> list[_Loss]:
    """The first text of each column that is foreign by its end; those cut off go to ``found``."""
    refused = []
    for j, start, width in sas.texts:
        raw = rows[:, start : start + width]
        broken = endings.rows(raw)
        if not broken.any():
            continue
        foreign = broken & endings.foreign(raw)
        for marked in (foreign, broken & ~foreign):
            if not marked.any():
                continue
            row = int(np.argmax(marked))
            loss = _Loss(done + row, j, raw[row].tobytes(), ending=True)
            if marked is foreign:
                refused.append(loss)
            else:
                first, count = found.cut.get(j, (loss, 0))
                found.cut[j] = first, count + int(np.count_nonzero(marked))
    return refused


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
    from dpdesk.io.formats.sas.kernels import unpack_rows

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
