"""Texts of a SAS file (.sas7bdat) that the reading library would cut without a word.

It ends a text at a NUL, and drops the beginning of a character at its end. All numbers arrive: NaN
is what SAS writes for missing. Since the layout of these files was never published, what is found
is checked against what the library reads of that very cell before the file is refused; and a file
that is built in another way is read with a note.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.io.formats.endings import Endings
from dpdesk.io.formats.stat_faults import breaks_off, note_cut, nul_in_text
from dpdesk.io.formats.table import Notes, damaged

# Where the rows of a SAS file (.sas7bdat) lie, as far as a look at its texts needs it.
#
# SAS has not published the layout; this follows the description "SAS7BDAT Database Binary Format"
# by M. Shotwell and C. Cummins. So whoever follows it must be ready to find that a file is
# different: ValueError says so.


NONE, RLE, RDC = 0, 1, 2
DATA, MIXED = 0x100, 0x200
AS_IT_STANDS, TRUNCATED, PACKED = 0, 1, 4

_WIDE, _SHIFTED, _KINDS, _INDEX = 0x33, 0x33, 0x0F00, 0x9000
_LITTLE = 1
_HEADER = 288
_ROW_SIZE, _COLUMN_COUNT, _COUNTS, _FORMAT = 0xF7F7F7F7, 0xF6F6F6F6, 0xFFFFFC00, 0xFFFFFBFE
_TEXT, _ATTRIBUTES, _OTHERS = 0xFFFFFFFD, 0xFFFFFFFC, 0xFFFFFFF8
_NUMBER, _CHARACTERS = 1, 2
_GUESSED, _PADDING = re.compile(rb"[89]\.0{1,4}M0"), (bytes(4), b"    ")
"""Releases that other programs than SAS write, and what padding may be, as the library knows."""
_METHODS = {b"SASYZCRL": RLE, b"SASYZCR2": RDC}
_MOST_PAGE = 1 << 28


@dataclass(frozen=True)
class Page:
    """A page: its kind, its bytes, how many blocks and how many descriptions it says it has."""

    kind: int
    raw: bytes
    blocks: int
    described: int

    @property
    def has_rows_alone(self) -> bool:
        """Whether rows follow the head of the page, and nothing else."""
        return self.kind & _KINDS == DATA

    @property
    def is_mixed(self) -> bool:
        """Whether rows follow descriptions."""
        return self.kind & _KINDS == MIXED

    @property
    def is_index(self) -> bool:
        """Whether the page says nothing of rows or columns."""
        return not self.has_rows_alone and self.kind & _INDEX != 0


@dataclass(frozen=True)
class Parts:
    """Where the parts of a page lie that its head points to: place, bytes, compression, kind."""

    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]
    packed: NDArray[np.uint8]
    kinds: NDArray[np.uint8]


class SasFile:
    """A file that was opened: its byte ``order``, what it says of its rows, its pages one by one.

    ``texts`` holds, for each column of texts, its number from 0, its place in a row and its bytes,
    ``numbers`` the same for those of numbers. ``rows`` counts the ``deleted`` ones too.
    """

    def __init__(self, file: IO[bytes]) -> None:
        head = file.read(_HEADER)
        if len(head) < _HEADER:
            raise ValueError("the header breaks off")
        self._file = file
        self.wide = head[32] == _WIDE
        shift = 4 if head[35] == _SHIFTED else 0
        self.order = "<" if head[37] == _LITTLE else ">"
        self._word = "Q" if self.wide else "I"
        self._size = 8 if self.wide else 4
        release = head[216 + shift + (4 if self.wide else 0) :][:8]
        self.guessed = not self.wide and _GUESSED.match(release) is not None
        """Whether the library guesses where the rows of a mixed page begin."""
        self._start, self._page_bytes = struct.unpack_from(f"{self.order}II", head, 196 + shift)
        (self._pages,) = struct.unpack_from(self.order + self._word, head, 204 + shift)
        if not self.head_bytes < self._page_bytes <= _MOST_PAGE:
            raise ValueError("an impossible size of pages")
        self.row_bytes = self.rows = self.mixed_rows = self.columns = self.deleted = 0
        self.method = NONE
        self._places: list[tuple[int, int, int]] = []
        self._describe()
        kinds = self._of_kind(_CHARACTERS), self._of_kind(_NUMBER)
        self.texts, self.numbers = kinds

    def _of_kind(self, wanted: int) -> tuple[tuple[int, int, int], ...]:
        return tuple(
            (j, at, width) for j, (at, width, kind) in enumerate(self._places) if kind == wanted
        )

    @property
    def head_bytes(self) -> int:
        """The bytes of the head of a page."""
        return 40 if self.wide else 24

    def pages(self) -> Iterator[Page]:
        """All pages in their order; each is read as it is asked for."""
        self._file.seek(self._start)
        for _ in range(self._pages):
            raw = self._file.read(self._page_bytes)
            if len(raw) < self._page_bytes:
                return
            found = struct.unpack_from(f"{self.order}HHH", raw, self.head_bytes - 8)
            yield Page(found[0], raw, found[1], found[2])

    def parts(self, page: Page) -> Parts:
        """The parts of a page that has descriptions."""
        step = 3 * self._size
        end = self.head_bytes + page.described * step
        if end > len(page.raw):
            raise ValueError("more descriptions than a page holds")
        table = np.frombuffer(page.raw[self.head_bytes : end], np.uint8).reshape(-1, step)
        words = np.ascontiguousarray(table[:, : 2 * self._size])
        places = words.view(f"{self.order}u{self._size}").astype(np.int64)
        if (places < 0).any() or (places.sum(axis=1) > len(page.raw)).any():
            raise ValueError("a part that lies outside of its page")
        return Parts(
            np.ascontiguousarray(places[:, 0]),
            np.ascontiguousarray(places[:, 1]),
            np.ascontiguousarray(table[:, 2 * self._size]),
            np.ascontiguousarray(table[:, 2 * self._size + 1]),
        )

    def is_description(self, page: Page, start: int) -> bool:
        """Whether a part begins as those do that describe columns or rows."""
        mark = self._mark(page.raw, start)
        known = (_ROW_SIZE, _COLUMN_COUNT, _COUNTS, _FORMAT)
        return mark in known or mark & _OTHERS == _OTHERS

    def described_end(self, page: Page) -> int:
        """Where the head of a mixed page ends, with what points to its descriptions."""
        return self.head_bytes + 3 * self._size * page.described

    def rows_start(self, page: Page) -> int:
        """Where the library reads the rows of a mixed page.

        That is behind its head at a multiple of eight bytes, or right behind it in a file of
        another program, unless four bytes of padding seem to stand there.
        """
        end = self.described_end(page)
        if self.guessed and end % 8 == 4 and page.raw[end : end + 4] not in _PADDING:
            return end
        return -(-end // 8) * 8

    def unused(self, page: Page) -> int:
        """The bytes of a page that its head says to be free."""
        at = self.head_bytes - 8 - self._size
        return int(struct.unpack_from(self.order + self._word, page.raw, at)[0])

    def _describe(self) -> None:
        """Take the descriptions from the first pages that have them."""
        for page in self.pages():
            if page.has_rows_alone or page.is_index:
                continue
            parts = self.parts(page)
            for start, size, packed in zip(
                parts.starts.tolist(), parts.sizes.tolist(), parts.packed.tolist(), strict=True
            ):
                if size and packed == AS_IT_STANDS:
                    self._take(page.raw[start : start + size])
            if self.row_bytes and self.columns and len(self._places) >= self.columns:
                break
        if not 0 < self.row_bytes <= _MOST_PAGE or len(self._places) != self.columns:
            raise ValueError("descriptions of columns are missing")
        if any(at + width > self.row_bytes for at, width, _ in self._places):
            raise ValueError("a column that lies outside of its row")

    def _mark(self, raw: bytes, start: int) -> int:
        (mark,) = struct.unpack_from(f"{self.order}I", raw, start)
        if self.wide and self.order == ">" and mark == 0xFFFFFFFF:
            (mark,) = struct.unpack_from(">I", raw, start + 4)
        return int(mark)

    def _take(self, raw: bytes) -> None:
        mark, size = self._mark(raw, 0), self._size
        if mark == _ROW_SIZE:
            length, rows = struct.unpack_from(f"{self.order}2{self._word}", raw, 5 * size)
            self.row_bytes, self.rows = int(length), int(rows)
            self.deleted = int(struct.unpack_from(self.order + self._word, raw, 7 * size)[0])
            self.mixed_rows = int(struct.unpack_from(self.order + self._word, raw, 15 * size)[0])
        elif mark == _COLUMN_COUNT:
            self.columns = int(struct.unpack_from(self.order + self._word, raw, size)[0])
        elif mark == _TEXT:
            for name, method in _METHODS.items():
                if name in raw:
                    self.method = method
        elif mark == _ATTRIBUTES:
            each = size + 8
            for number in range((len(raw) - 12 - 2 * size) // each):
                at, width, _, kind = struct.unpack_from(
                    f"{self.order}{self._word}IHB", raw, size + 8 + number * each
                )
                self._places.append((int(at), int(width), int(kind)))


# Whether the reading library finds the rows of a SAS file (.sas7bdat) where they are.
#
# Rows behind descriptions begin at a multiple of eight bytes. In files of 32 bits that other
# programs wrote they may begin four bytes before it; the library guesses by these four bytes, and a
# first row that begins with zeros or blanks looks like padding. And it leaves out as many rows as
# the file says to be deleted, even where they are not marked so.


_PAD, _WORD = 4, 8
_CONTROL = 0x20
_LEAST, _MOST = 1e-60, 1e60
"""Numbers beyond are not what a table holds; a shifted number mostly is."""
_MISSING = (1 << 40) - 1
"""The bits of a number that are zero in the missing values of SAS."""
_MARKED, _DELETED = 0x80, 5


def check_places(path: Path, limit: int | None, notes: Notes) -> None:
    """Raise InputError ``read.places`` for rows that would be read four bytes beside their place.

    Noted when that cannot be told. Without a ``limit``, raises ``read.damaged`` when other rows are
    marked as deleted than the file says.
    """
    try:
        with path.open("rb") as file:
            sas = SasFile(file)
            if sas.guessed and sas.method == NONE:
                _check_start(sas, path, notes)
            marked = _marked(sas) if sas.deleted and limit is None else sas.deleted
    except (ValueError, struct.error, IndexError):
        return
    if marked != sas.deleted:
        what = msg(
            "it says that {deleted:,} of its rows are deleted, but marks {marked:,} as such",
            deleted=sas.deleted,
            marked=marked,
        )
        raise damaged(path.name, what)


def _check_start(sas: SasFile, path: Path, notes: Notes) -> None:
    described = takewhile(lambda page: not page.has_rows_alone, sas.pages())
    page = next((page for page in described if page.is_mixed), None)
    if page is None or sas.described_end(page) % _WORD != _PAD:
        return
    start = _start(sas, page)
    if start is None:
        notes.add(
            "places",
            "The file was written by a program other than SAS, and where its first rows begin "
            "cannot be determined for certain; compare the first row with what that program "
            "shows.",
        )
    elif start != sas.rows_start(page):
        raise InputError(
            "read.places",
            msg(
                "{name}, row 1: the first rows would be read four bytes off, which gives wrong "
                "values.",
                name=path.name,
            ),
            hint="Save the file as SAS transport (.xpt), SPSS, Stata or CSV with its program.",
            details={"row": 1},
        )


def _start(sas: SasFile, page: Page) -> int | None:
    """Where the rows of a mixed page begin, by what they hold, else by what its head counts."""
    near = sas.described_end(page)
    count = min(sas.mixed_rows, sas.rows)
    odd = [_odd(sas, page, start, count) for start in (near, near + _PAD)]
    if odd[0] != odd[1]:
        return near + _PAD * int(odd[1] < odd[0])
    parts = sas.parts(page)
    low = int(parts.starts[parts.sizes > 0].min(initial=len(page.raw)))
    marks = -(-sas.mixed_rows // 8)
    counted = low - sas.unused(page) - count * sas.row_bytes - marks
    return counted if counted in (near, near + _PAD) else None


def _odd(sas: SasFile, page: Page, start: int, count: int) -> int:
    """How many cells are odd when the rows begin there."""
    size = sas.row_bytes
    if start + count * size > len(page.raw):
        return count * sas.columns + 1
    rows = np.frombuffer(page.raw, np.uint8, count * size, start).reshape(count, size)
    texts = sum(
        int((rows[:, at : at + width] < _CONTROL).any(axis=1).sum()) for _, at, width in sas.texts
    )
    return texts + sum(
        _odd_numbers(rows[:, at : at + width], sas.order) for _, at, width in sas.numbers
    )


def _odd_numbers(raw: NDArray[np.uint8], order: str) -> int:
    """How many of some numbers, of which the last bytes may be left out, no table holds."""
    whole = np.zeros((len(raw), _WORD), np.uint8)
    if order == "<":
        whole[:, _WORD - raw.shape[1] :] = raw
    else:
        whole[:, : raw.shape[1]] = raw
    numbers = whole.view(f"{order}f8")[:, 0]
    bits = whole.view(f"{order}u8")[:, 0]
    size = np.abs(numbers)
    with np.errstate(invalid="ignore"):
        odd = (size > _MOST) | ((size < _LEAST) & (size > 0))
    odd |= np.isnan(numbers) & (bits & np.uint64(_MISSING) != 0)
    return int(np.count_nonzero(odd))


def _marked(sas: SasFile) -> int:
    """How many rows are marked as deleted."""
    found = done = 0
    for page in sas.pages():
        if page.is_index:
            continue
        if sas.method != NONE and not page.has_rows_alone:
            found += int(np.count_nonzero(sas.parts(page).packed == _DELETED))
            continue
        if not (page.has_rows_alone or page.is_mixed):
            continue
        start, count = sas.head_bytes, page.blocks
        if page.is_mixed:
            start, count = sas.rows_start(page), min(sas.mixed_rows, sas.rows - done)
        done += count
        if page.kind & _MARKED:
            at = start + count * sas.row_bytes + sas.unused(page)
            raw = np.frombuffer(page.raw, np.uint8, -(-count // 8), at)
            found += int(np.unpackbits(raw)[:count].sum())
    return found


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
        "The rows of the file could not be searched for NUL characters; a text that holds one is "
        "read up to it.",
    )
    if endings.looks:
        notes.add(
            "ends",
            "The rows of the file could not be searched for texts that are cut off inside their "
            "last character; that character is left out.",
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
