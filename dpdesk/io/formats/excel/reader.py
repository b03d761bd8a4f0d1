"""Excel workbooks (.xlsx); runs in the reading process.

Cells are taken from the XML of the sheet as it comes, so memory does not grow with the rows. Tried
instead: openpyxl (four to six times slower) and python-calamine (faster, but it gives error cells
and formulas that were never computed as empty, and holds the whole sheet before the first row).
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Generator, Iterator
from itertools import chain, islice
from pathlib import Path
from xml.parsers import expat

from dpdesk.core.errors import DpdeskError, InputError
from dpdesk.core.labels import Variable
from dpdesk.core.messages import msg
from dpdesk.io.failures import check_swollen
from dpdesk.io.formats.columns import check_names
from dpdesk.io.formats.endings import chosen
from dpdesk.io.formats.excel.cells import Row, SheetCells, column_letters
from dpdesk.io.formats.excel.parts import BrokenPartError, Parts, Sheet, read_parts, totals_rows
from dpdesk.io.formats.request import ReadRequest
from dpdesk.io.formats.stat_faults import nul_in_text
from dpdesk.io.formats.table import Notes, Values, damaged, listed
from dpdesk.io.titles import header_doubt, table_start, titles_note

_ROWS, _CELLS = 20_000, 1 << 21
_MOST_EMPTY = 1 << 26
"""Cells of rows without any value: the number of a row alone makes them, however small the file."""
_LOOKED_AT = 60
_OLD = b"\xd0\xcf\x11\xe0"
_BROKEN = (
    *(expat.ExpatError, zipfile.BadZipFile, zlib.error, BrokenPartError),
    *(ValueError, EOFError, NotImplementedError, OverflowError),
)


class WorkbookReader:
    """A sheet of a workbook; see :class:`~dpdesk.io.formats.table.TableReader`.

    The first row with a value is the header, unless the plan says that there is none; titles above
    it are skipped, which is noted. Cells give
    their values, not what their format shows of them; formulas the value that was last computed.
    Hidden rows are rows, and so are rows without any value between others.
    """

    encoding = "utf-8"
    _long_text: str | None = None

    def __init__(self, request: ReadRequest) -> None:
        self._path = Path(request.path)
        self.notes = Notes()
        self.rows: int | None = None
        self._held = self._values = 0
        self._opened: Generator[Row, None, None] | None = None
        self._left: Iterator[Row]
        try:
            self._archive = zipfile.ZipFile(self._path)
        except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
            raise self._no_workbook() from error
        try:
            self._describe(request)
        except InputError:
            self.close()
            raise
        except _BROKEN as error:
            self.close()
            raise self._no_workbook() from error

    def _describe(self, request: ReadRequest) -> None:
        parts = read_parts(self._archive, self._long_text)
        sheet = self._chosen(request.table, parts)
        self._note_totals(sheet)
        self._cells = self._cells_of(sheet, parts)
        self._opened = self._numbered()
        self._left = self._table(self._opened, request)
        self._header = request.header
        columns = self._head(request)
        hint = msg("Rename one of them in row {row:,} of the sheet.", row=self._first)
        check_names(columns, self._path.name, hint)
        self.variables = tuple(Variable(name) for name in columns)
        if self._cells.expected is not None:
            above = self._first - (request.header is False)
            self.rows = max(0, self._cells.expected - above) or None

    def _note_totals(self, sheet: Sheet) -> None:
        for place in totals_rows(self._archive, sheet):
            self.notes.add(
                "totals",
                msg(
                    "The last row of the cells {place} holds totals; it is read as a row.",
                    place=place,
                ),
            )

    def _table(self, rows: Iterator[Row], request: ReadRequest) -> Iterator[Row]:
        """The rows from the table on, below those that are skipped or hold titles.

        Raises InputError ``workbook.titles`` where it cannot be told where the table begins.
        """
        self.skip = request.skip or 0
        if request.skip is not None or request.header is False:
            return (row for row in rows if row[0] > self.skip)
        first = list(islice(rows, _LOOKED_AT))
        found = table_start([[text or "" for text in row] for _, row in first])
        if not found.above:
            return chain(first, rows)
        title = next((text for _, row in first[: found.above] for text in row if text), "")
        number, skip = first[0][0], first[found.above][0] - 1
        if not found.sure:
            raise _unsure(self._path.name, number, skip)
        self.skip = skip
        if title:
            self.notes.add("titles", titles_note("Row", number, skip, title))
        return chain(first[found.above :], rows)

    def _head(self, request: ReadRequest) -> list[str]:
        """The names of the columns, from the first row with a value."""
        first = next(self._left, None)
        if first is None:
            raise InputError(
                "read.no-rows", msg("{name}: the sheet holds no value.", name=self._path.name)
            )
        self._first, header = first
        if request.header is False:
            self._left = chain([first], self._left)
            return [f"column_{j + 1}" for j in range(len(header))]
        texts = [text or "" for text in header]
        while texts and not texts[-1]:
            texts.pop()
        if request.header is None:
            self._note_header(texts)
        columns = [text or f"column_{j + 1}" for j, text in enumerate(texts)]
        self._note_names([columns[j] for j, text in enumerate(texts) if not text])
        return columns

    def _note_header(self, texts: list[str]) -> None:
        """Say so where the header may be a row; its values would be names of columns."""
        below = list(islice(self._left, _LOOKED_AT))
        self._left = chain(below, self._left)
        filled = [[text or "" for text in row] for _, row in below if any(row)]
        doubt = header_doubt(msg("Row {row:,}", row=self._first), texts, filled) if filled else ""
        if doubt:
            self.notes.add("header", doubt)

    def _cells_of(self, sheet: Sheet, parts: Parts) -> SheetCells:
        return SheetCells(self._archive, sheet, parts, self._path.name, self.notes)

    def _note_names(self, made: list[str]) -> None:
        if made:
            self.notes.add(
                "names",
                msg(
                    "Row {row:,} of the sheet leaves columns without a name; they are called "
                    "{names}.",
                    row=self._first,
                    names=listed(made),
                ),
            )

    def _chosen(self, table: str | None, parts: Parts) -> Sheet:
        """The sheet that was asked for, else the first one that is shown."""
        shown = [sheet for sheet in parts.sheets if sheet.visible]
        ordered = [*shown, *(sheet for sheet in parts.sheets if not sheet.visible)]
        names = tuple(sheet.name for sheet in ordered)
        name = chosen(table, names, self._path.name, "sheet", self.notes)
        return next(sheet for sheet in ordered if sheet.name == name)

    def _numbered(self) -> Generator[Row, None, None]:
        try:
            yield from self._cells.rows()
        except _BROKEN as error:
            what = msg("the sheet breaks off or is damaged ({error})", error=error)
            raise damaged(self._path.name, what) from error

    def _no_workbook(self) -> DpdeskError:
        with self._path.open("rb") as file:
            if file.read(4) == _OLD:
                return InputError(
                    "read.damaged",
                    msg(
                        "{name}: the workbook has a password, or the form of Excel 97 to 2003.",
                        name=self._path.name,
                    ),
                    hint="Save it as .xlsx without a password first.",
                )
        return damaged(self._path.name, "the file is not an Excel workbook, or it is damaged")

    def close(self) -> None:
        """Close the file."""
        if self._opened is not None:
            self._opened.close()
        self._archive.close()

    def batches(self, limit: int | None) -> Iterator[tuple[Values, ...]]:
        """The rows in the order of the sheet."""
        import pyarrow as pa

        rows = self._table_rows()
        done, size = 0, max(1, min(_ROWS, _CELLS // len(self.variables)))
        while limit is None or done < limit:
            batch = list(islice(rows, size if limit is None else min(size, limit - done)))
            if not batch:
                return
            done += len(batch)
            self._check_swollen(batch)
            if self.rows is not None and done > self.rows:
                self.rows = None  # the sheet stated a wrong size
            yield tuple(Values(pa.array(texts, pa.string())) for texts in zip(*batch, strict=True))

    def _check_swollen(self, batch: list[list[str]]) -> None:
        """Raise InputError ``read.swollen``: one shared text may be repeated in every row."""
        self._held += sum(sum(map(len, row)) for row in batch)
        self._values += len(batch) * len(self.variables)
        stored = self._path.stat().st_size
        check_swollen(self._path.name, self._held, self._values, stored)

    def _table_rows(self) -> Iterator[list[str]]:
        """The rows below the header, those without any value among them, up to the last value."""
        last, empty = self._first - (self._header is False), 0
        for number, row in self._left:
            empty += number - last - 1
            if empty * len(self.variables) > _MOST_EMPTY:
                raise self._too_empty(last, number)
            for _ in range(number - last - 1):
                yield [""] * len(self.variables)
            last = number
            yield self._texts(number, row)

    def _too_empty(self, last: int, number: int) -> InputError:
        return InputError(
            "workbook.empty",
            msg(
                "{name}, row {row:,}: found a value far below row {last:,}, with {columns:,} "
                "columns of empty cells between them.",
                name=self._path.name,
                row=number,
                last=last,
                columns=len(self.variables),
            ),
            hint="Delete what is below the table, or save the table as CSV.",
            details={"row": number},
        )

    def _texts(self, number: int, row: list[str | None]) -> list[str]:
        width = len(self.variables)
        extra = next((j for j in range(width, len(row)) if row[j] is not None), None)
        if extra is not None:
            raise InputError(
                "workbook.ragged",
                msg(
                    "{name}, row {row:,}, column {letters}: found a value, but row {first:,} "
                    "names {width} columns.",
                    name=self._path.name,
                    row=number,
                    letters=column_letters(extra),
                    first=self._first,
                    width=width,
                ),
                hint="Name the column, or clear the cell. If the names are further down, write "
                "the number of rows above them as `skip` under [source].",
                details={"row": number},
            )
        texts = [text or "" for text in row[:width]]
        if "\0" in "".join(texts):
            at = next(j for j, text in enumerate(texts) if "\0" in text)
            raise nul_in_text(self._path.name, number, self.variables[at].name)
        return texts + [""] * (width - len(texts))


def _unsure(name: str, first: int, skip: int) -> InputError:
    return InputError(
        "workbook.titles",
        msg(
            "{name}, row {row:,}: the row looks like a title; the table seems to start in row "
            "{table:,}.",
            name=name,
            row=first,
            table=skip + 1,
        ),
        hint=msg(
            "Write `skip = {skip}` under [source] if it does, or `skip = 0` if row {row:,} "
            "belongs to it.",
            skip=skip,
            row=first,
        ),
        details={"row": first, "skip": skip},
    )
