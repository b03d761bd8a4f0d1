"""Values of an SPSS file that the reading library would lose without a word.

It ends a text at a NUL byte (or leaves the byte out), and takes for missing every number that the
file keeps for the open ends of ranges, and every one that is NaN. So the rows are looked at once
before they are read: texts with something behind a NUL and numbers of that kind are refused with
their place; NaN, which no program of this format can tell from a missing value, is noted. In
an encoding of several bytes it drops the beginning of a character at the end of a text: this is
refused or noted, see :mod:`dpdesk.io.formats.endings`.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import InputError
from dpdesk.io.formats.endings import Endings
from dpdesk.io.formats.numbers import number_text
from dpdesk.io.formats.spss.labels import check_labels
from dpdesk.io.formats.spss.layout import PLAIN, SLOT, ZLIB, Cells, SavLayout, read_layout
from dpdesk.io.formats.spss.words import Words, words_of
from dpdesk.io.formats.stat_faults import breaks_off, check_names, note_cut, nul_in_text
from dpdesk.io.formats.table import Notes, damaged

_LOWER, _HIGH = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
_NUL, _BLANK = 0, 32
_MOST_WORDS = 1 << 18


@dataclass(frozen=True)
class Loss:
    """A value that would be lost: row and column counted from 0; ``number`` None for a text.

    ``ending`` says that it is the text's last bytes that would be.
    """

    row: int
    column: int
    number: float | None = None
    ending: bool = False


def refuse_losses(
    path: Path, names: Sequence[str], limit: int | None, notes: Notes, encoding: str = ""
) -> None:
    """Refuse the first value that would be lost, and labels that would.

    ``names`` are those of the columns; with ``limit`` only the first rows are looked at. NaN is
    noted. ``encoding`` is the one that texts are read in; without it their endings are not looked
    at. Raises InputError ``read.nul``, ``read.reserved``, ``encoding.undecodable``, and
    ``read.damaged`` when the file cannot be followed, or holds more rows than it says.
    """
    layout = read_layout(path)
    if len(layout.columns) != len(names):
        what = f"it describes {len(layout.columns):,} columns, but {len(names):,} were found"
        raise damaged(path.name, what)
    check_names(path.name, [_decoded(name, encoding) for name in layout.names])
    check_labels(path.name, layout, names, encoding, notes)
    if layout.rows is None:
        notes.add(
            "rows",
            "The file does not say how many rows it has, so rows that are missing at its end "
            "cannot be told of.",
        )
    scan = _Scan(layout, names, notes, Endings(encoding))
    try:
        loss = scan.first_loss(path, limit)
    except (struct.error, ValueError, zlib.error) as error:
        raise damaged(path.name, "the compressed rows cannot be followed") from error
    if loss is None:
        return
    if loss.ending:
        raise breaks_off(path.name, loss.row + 1, names[loss.column], encoding)
    if loss.number is None:
        raise nul_in_text(path.name, loss.row + 1, names[loss.column])
    raise _reserved(path.name, loss.row + 1, names[loss.column], loss.number)


def _reserved(name: str, row: int, column: str, number: float) -> InputError:
    return InputError(
        "read.reserved",
        f"{name}, row {row:,}, column `{column}`: found the number {number_text(number)}, which "
        "SPSS keeps for the open end of a range, expected another number or a missing value.",
        hint="Recode the value in its program, or make it missing there.",
        details={"row": row, "column": column},
    )


def _decoded(name: bytes, encoding: str) -> str:
    """A name as text; different ones stay different."""
    try:
        return name.decode(encoding.replace("WINDOWS-", "cp") or "latin-1", "backslashreplace")
    except LookupError:
        return name.decode("latin-1")


class _Scan:
    def __init__(
        self, layout: SavLayout, names: Sequence[str], notes: Notes, endings: Endings
    ) -> None:
        self._layout, self._names, self._notes, self._endings = layout, names, notes, endings
        self._owner = np.zeros(layout.slots, np.int64)
        for j, cells in enumerate(layout.columns):
            self._owner[cells.start : cells.start + sum(cells.segments)] = j
        numeric = np.array([cells.numeric for cells in layout.columns], np.bool_)[self._owner]
        self._numbers, self._texts = np.flatnonzero(numeric), np.flatnonzero(~numeric)
        wide = np.dtype(f"{layout.order}u8")
        ends = {layout.highest, layout.lowest} - {layout.sysmis}
        self._ends = [np.array([end], wide).view(np.uint64)[0] for end in sorted(ends)]
        self._sysmis = np.array([layout.sysmis], wide).view(np.uint64)[0]

    def first_loss(self, path: Path, limit: int | None) -> Loss | None:
        """The first value that would be lost, by row, then by column."""
        slots, done, rest = self._layout.slots, 0, np.empty(0, np.uint64)
        wanted = min((one for one in (limit, self._layout.rows) if one is not None), default=None)
        with path.open("rb") as file:
            pieces = words_of(file, self._layout)
            for words in pieces:
                joined = np.concatenate([rest, words]) if len(rest) else words
                rows = len(joined) // slots
                if wanted is not None:
                    rows = min(rows, wanted - done)
                loss = self._look(joined[: rows * slots].reshape(rows, slots), done)
                done, rest = done + rows, joined[rows * slots :]
                if loss is not None:
                    return loss
                if done == wanted:
                    if limit is None:
                        self._check_end(path, len(rest), pieces)
                    return None
        if self._layout.rows is None:
            self._check_break(path, done, len(rest))
        return None

    def _check_break(self, path: Path, done: int, left: int) -> None:
        """Raise InputError ``read.damaged`` when a file that counts no rows ends inside a row."""
        layout = self._layout
        step = {PLAIN: SLOT * layout.slots, ZLIB: 1}.get(layout.compression, SLOT)
        if left or (path.stat().st_size - layout.start) % step:
            raise damaged(path.name, "the file ends inside this row", done + 1)

    def _check_end(self, path: Path, left: int, pieces: Iterator[Words]) -> None:
        """Raise InputError ``read.damaged`` when another row follows those that the file counts."""
        for words in pieces:
            if left >= self._layout.slots:
                break
            left += len(words)
        if left >= self._layout.slots:
            what = f"the file says that it has {self._layout.rows:,} rows, but more follow"
            raise damaged(path.name, what)

    def _look(self, block: Words, done: int) -> Loss | None:
        losses = [self._number(block, done), self._text(block, done)]
        found = [loss for loss in losses if loss is not None]
        return min(found, key=lambda loss: (loss.row, loss.column), default=None)

    def _number(self, block: Words, done: int) -> Loss | None:
        numbers = block[:, self._numbers] if len(self._texts) else block
        odd = np.isnan(numbers.view(f"{self._layout.order}f8"))
        if odd.any():
            self._note(odd & (numbers != self._sysmis), done)
        kept = np.zeros(numbers.shape, np.bool_)
        for end in self._ends:
            kept |= numbers == end
        if not kept.any():
            return None
        row, at = (int(place) for place in np.argwhere(kept)[0])
        number = numbers[row, at : at + 1].view(f"{self._layout.order}f8")[0]
        return Loss(done + row, int(self._owner[self._numbers[at]]), float(number))

    def _note(self, odd: NDArray[np.bool_], done: int) -> None:
        for at in np.flatnonzero(odd.any(axis=0)):
            name = self._names[self._owner[self._numbers[at]]]
            row = done + int(np.argmax(odd[:, at])) + 1
            self._notes.add(
                f"nan {name}",
                f"Row {row:,}, column `{name}`: the number is not a number (NaN); it is read as "
                "missing.",
                int(np.count_nonzero(odd[:, at])),
            )

    def _text(self, block: Words, done: int) -> Loss | None:
        if not len(self._texts):
            return None
        texts = block[:, self._texts] if len(self._numbers) else block
        odd = ((texts - _LOWER) & ~texts & _HIGH) != 0
        if self._endings.looks:
            odd |= (texts & _HIGH) != 0
        if not odd.any():
            return None
        columns = np.unique(self._owner[self._texts[odd.any(axis=0)]])
        losses = [self._text_of(block, int(j), done) for j in columns]
        found = [loss for loss in losses if loss is not None]
        return min(found, key=lambda loss: (loss.row, loss.column), default=None)

    def _text_of(self, block: Words, j: int, done: int) -> Loss | None:
        """The first text of a column with anything but NULs and blanks behind a NUL, or broken."""
        cells = self._layout.columns[j]
        size = max(1, _MOST_WORDS // sum(cells.segments))
        for first in range(0, len(block), size):
            raw = _bytes_of(block[first : first + size], cells)
            behind = np.logical_or.accumulate(raw == _NUL, axis=1)
            lost = (behind & (raw != _NUL) & (raw != _BLANK)).any(axis=1)
            broken = self._broken(raw, j, done + first)
            if lost.any() or broken.any():
                at = int(np.argmax(lost | broken))
                return Loss(done + first + at, j, ending=not lost[at])
        return None

    def _broken(self, raw: NDArray[np.uint8], j: int, start: int) -> NDArray[np.bool_]:
        """Texts that end inside a character and seem to be in another encoding; others noted."""
        if not self._endings.looks:
            return np.zeros(len(raw), np.bool_)
        broken = self._endings.rows(raw)
        foreign = broken & self._endings.foreign(raw)
        cut = np.flatnonzero(broken & ~foreign)
        if len(cut):
            row, name = start + int(cut[0]) + 1, self._names[j]
            note_cut(self._notes, row, name, len(cut))
        return foreign


def _bytes_of(block: Words, cells: Cells) -> NDArray[np.uint8]:
    """The bytes of the texts of a column, of shape (rows, bytes).

    All segments of a long text but the last hold a byte less than their slots, which says nothing.
    """
    parts, at = [], cells.start
    for number, slots in enumerate(cells.segments):
        part = np.ascontiguousarray(block[:, at : at + slots]).view(np.uint8)
        parts.append(part if number == len(cells.segments) - 1 else part[:, : SLOT * slots - 1])
        at += slots
    return np.concatenate(parts, axis=1) if len(parts) > 1 else parts[0]
