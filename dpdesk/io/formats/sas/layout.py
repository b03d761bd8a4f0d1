"""Where the rows of a SAS file (.sas7bdat) lie, as far as a look at its texts needs it.

SAS has not published the layout; this follows the description "SAS7BDAT Database Binary Format" by
M. Shotwell and C. Cummins. So whoever follows it must be ready to find that a file is different:
ValueError says so.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

import numpy as np
from numpy.typing import NDArray

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
