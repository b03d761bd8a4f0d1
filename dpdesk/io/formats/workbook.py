"""Excel workbooks (.xlsx); runs in the reading process."""

from __future__ import annotations

import datetime
import zipfile
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from dpdesk.core.errors import InputError
from dpdesk.core.labels import Variable
from dpdesk.io.formats.choosing import chosen
from dpdesk.io.formats.columns import check_names
from dpdesk.io.formats.numbers import number_text
from dpdesk.io.formats.request import ReadRequest
from dpdesk.io.formats.table import Notes, Values, damaged

_ROWS = 5_000
_CHUNK = 1 << 20
_MIDNIGHT = datetime.time()


class WorkbookReader:
    """A sheet of a workbook; see :class:`~dpdesk.io.formats.table.TableReader`.

    The first row with a value is the header, unless the plan says that there is none. Cells give
    their values, not what their format shows of them; formulas the value that was last computed.
    Rows without any value are no rows.
    """

    encoding = "utf-8"

    def __init__(self, request: ReadRequest) -> None:
        import openpyxl

        self._path = Path(request.path)
        self.notes, self.rows = Notes(), None
        # Opened here: the library leaves a file open that is no archive.
        self._files = [self._path.open("rb"), self._path.open("rb")]
        try:
            self._book = openpyxl.load_workbook(self._files[0], read_only=True, data_only=True)
        except (zipfile.BadZipFile, KeyError, ValueError, SyntaxError) as error:
            self._close_files()
            raise damaged(
                self._path.name, "the file is no Excel workbook, or it is damaged"
            ) from error
        try:
            self._describe(request)
        except InputError:
            self.close()
            raise

    def _describe(self, request: ReadRequest) -> None:
        names = tuple(sheet.title for sheet in self._book.worksheets)
        self._sheet = self._book[chosen(request.table, names, self._path.name, "sheet", self.notes)]
        # What a sheet says of its size may be wrong; its cells are counted as they come.
        self._sheet.reset_dimensions()
        self._formulas = self._formula_sheet()
        self._cells = self._numbered()
        first = next(self._cells, None)
        if first is None:
            raise InputError("read.no-rows", f"{self._path.name}: the sheet holds no value.")
        self._first, header = first
        if request.header is False:
            self._cells = _with_first(first, self._cells)
            columns = [f"column_{j + 1}" for j in range(len(header))]
        else:
            texts = [_text(value) for value in header]
            while texts and not texts[-1]:
                texts.pop()
            columns = [text or f"column_{j + 1}" for j, text in enumerate(texts)]
        check_names(columns, self._path.name)
        self.variables = tuple(Variable(name) for name in columns)

    def _formula_sheet(self) -> Any:
        """The same sheet with its formulas, when it has some; else None."""
        import openpyxl

        place = self._sheet._worksheet_path
        with zipfile.ZipFile(self._path) as archive, archive.open(place) as sheet:
            before = b""
            while chunk := sheet.read(_CHUNK):
                if b"<f>" in before + chunk or b"<f " in before + chunk:
                    book = openpyxl.load_workbook(self._files[1], read_only=True)
                    found = book[self._sheet.title]
                    found.reset_dimensions()
                    return found
                before = chunk[-2:]
        return None

    def _numbered(self) -> Iterator[tuple[int, Sequence[Any]]]:
        """Rows with some value and their numbers in the sheet."""
        try:
            for number, row in enumerate(self._rows(), start=1):
                if any(value is not None for value in row):
                    yield number, row
        except (SyntaxError, zipfile.BadZipFile, ValueError, EOFError) as error:
            what = f"the sheet breaks off or is damaged ({error})"
            raise damaged(self._path.name, what) from error

    def _rows(self) -> Iterator[Sequence[Any]]:
        rows = self._sheet.iter_rows(values_only=True)
        if self._formulas is None:
            yield from rows
            return
        written = self._formulas.iter_rows(values_only=True)
        for number, (row, formulas) in enumerate(zip(rows, written, strict=True), start=1):
            for j, (value, formula) in enumerate(zip(row, formulas, strict=True)):
                if value is None and formula is not None:
                    raise self._not_computed(number, j)
            yield row

    def _not_computed(self, number: int, j: int) -> InputError:
        return InputError(
            "workbook.formula",
            f"{self._path.name}, row {number:,}, column {_letters(j)}: found a formula whose value "
            "was never computed.",
            hint="Open the workbook in its program and save it, which computes the values.",
            details={"row": number},
        )

    def close(self) -> None:
        """Close the file."""
        self._book.close()
        self._close_files()

    def _close_files(self) -> None:
        for file in self._files:
            file.close()

    def batches(self, limit: int | None) -> Iterator[tuple[Values, ...]]:
        """The rows in the order of the sheet."""
        import pyarrow as pa

        rows = (self._row(number, row) for number, row in self._cells)
        left = limit
        while left is None or left > 0:
            batch = list(islice(rows, _ROWS if left is None else min(_ROWS, left)))
            if not batch:
                return
            left = None if left is None else left - len(batch)
            yield tuple(Values(pa.array(texts, pa.string())) for texts in zip(*batch, strict=True))

    def _row(self, number: int, row: Sequence[Any]) -> list[str]:
        width = len(self.variables)
        extra = next((j for j in range(width, len(row)) if row[j] is not None), None)
        if extra is not None:
            raise InputError(
                "workbook.ragged",
                f"{self._path.name}, row {number:,}, column {_letters(extra)}: found a value, but "
                f"row {self._first:,} names {width} columns.",
                hint="Name the column, or clear the cell.",
                details={"row": number},
            )
        texts = [_text(value) for value in row[:width]]
        return texts + [""] * (width - len(texts))


def _letters(j: int) -> str:
    from openpyxl.utils import get_column_letter

    return str(get_column_letter(j + 1))


def _with_first(
    first: tuple[int, Sequence[Any]], others: Iterator[tuple[int, Sequence[Any]]]
) -> Iterator[tuple[int, Sequence[Any]]]:
    yield first
    yield from others


def _text(value: Any) -> str:
    """The text of a cell's value."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return number_text(value)
    if isinstance(value, datetime.datetime):
        is_day = value.time() == _MIDNIGHT
        return value.date().isoformat() if is_day else value.isoformat(" ")
    return str(value)
