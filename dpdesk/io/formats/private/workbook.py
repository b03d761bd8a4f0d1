"""A sheet of a workbook for a private method: a cell that cannot be read is unreadable."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from dpdesk.core.errors import InputError
from dpdesk.io.formats.excel.cells import SheetCells
from dpdesk.io.formats.excel.parts import Parts, Sheet
from dpdesk.io.formats.excel.reader import WorkbookReader
from dpdesk.io.formats.request import ReadRequest
from dpdesk.io.private.values import UNREADABLE

_LOST: list[str | None] = [UNREADABLE]
"""What stands for a row of which a cell lies nowhere."""
_NO_TEXT = "\0"
"""A text that no cell may hold, and which is unreadable, in place of one that is too long."""
_DIGITS = 7
"""Of the last row that a sheet may have."""


class PrivateWorkbook(WorkbookReader):
    """See :class:`~dpdesk.io.formats.excel.reader.WorkbookReader`.

    Without a header, the columns that the plan declares tell how many there are. Values beyond the
    last column are not read.
    """

    _long_text = _NO_TEXT

    def _note_totals(self, sheet: Sheet) -> None:
        """Nothing is told, and what lies beside the sheet (links of cells too) is not read."""

    def _check_swollen(self, batch: list[list[str]]) -> None:
        """One row could reach the limit."""

    def _head(self, request: ReadRequest) -> list[str]:
        if request.header is not False:
            return super()._head(request)
        first = next(self._left, None)
        self._first = 1
        self._left = chain([] if first is None else [first], self._left)
        return [f"column_{j + 1}" for j in range(len(request.wanted))]

    def _cells_of(self, sheet: Sheet, parts: Parts) -> SheetCells:
        return _Cells(self._archive, sheet, parts, self._path.name, self.notes)

    def _table_rows(self) -> Iterator[list[str]]:
        """Rows that hold something: how many empty ones lie between depends on where they stand."""
        return (self._texts(number, row) for number, row in self._left)

    def _texts(self, number: int, row: list[str | None]) -> list[str]:
        width = len(self.variables)
        if row is _LOST:
            return [UNREADABLE] * width
        texts = [UNREADABLE if text and not _is_text(text) else text or "" for text in row[:width]]
        return texts + [""] * (width - len(texts))


def _is_text(text: str) -> bool:
    return "\0" not in text and not any("\ud800" <= sign <= "\udfff" for sign in text)


class _Cells(SheetCells):
    """Cells of which a bad one is unreadable; one of which the place is unknown loses its row.

    The number that a row states decides nothing but whether it lies below what is skipped: rows
    may come in any order, and a number that is none, or is not the next one, changes no other row.
    """

    _long_text = _NO_TEXT

    def _begin_row(self, place: str | None) -> None:
        number, self._digits = self._number + 1, ""
        if place is not None and place.isascii() and place.isdecimal() and len(place) <= _DIGITS:
            number, self._digits = max(number, int(place)), place
        self._number, self._column = number, -1

    def _second_value(self) -> None:
        self._lose()

    def _column_at(self, place: str | None) -> int:
        # Without a number of its own, the row takes cells of any.
        if place is not None and not self._digits:
            place = place.rstrip("0123456789")
        try:
            return super()._column_at(place)
        except ValueError:
            self._lose()
            return 0

    def _lose(self) -> None:
        self._row = _LOST

    def _keep(self) -> None:
        row = self._row
        if row is _LOST:
            return
        if self._column < len(row):
            row[self._column] = UNREADABLE
            return
        try:
            super()._keep()
        except (InputError, ValueError, OverflowError):
            while len(row) < self._column:
                row.append(None)
            row.append(UNREADABLE)
