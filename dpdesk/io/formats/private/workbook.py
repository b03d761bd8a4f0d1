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


class PrivateWorkbook(WorkbookReader):
    """See :class:`~dpdesk.io.formats.excel.reader.WorkbookReader`.

    Without a header, the columns that the plan declares tell how many there are. Values beyond the
    last column are not read.
    """

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
        texts = [UNREADABLE if text and not _is_text(text) else text or "" for text in row[:width]]
        return texts + [""] * (width - len(texts))


def _is_text(text: str) -> bool:
    return "\0" not in text and not any("\ud800" <= sign <= "\udfff" for sign in text)


class _Cells(SheetCells):
    """Cells of which a bad one is unreadable."""

    def _keep(self) -> None:
        row = self._row
        if self._column < len(row):
            row[self._column] = UNREADABLE
            return
        try:
            super()._keep()
        except (InputError, ValueError, OverflowError):
            while len(row) < self._column:
                row.append(None)
            row.append(UNREADABLE)
