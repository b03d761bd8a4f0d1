"""A published table in other formats: Parquet and Excel, all values as text, streamed."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.tabulation import Crosstab
from dpdesk.io.formats.excel.cells import column_letters
from dpdesk.io.published import PublishedCsv

# Excel books that are written to a file: what the disk refuses is an OSError like any other.


class _Stream:
    """The file of a book; what is written after a failure, or after its end, is passed over.

    The archive in it is closed once more when memory is freed, and would complain on stderr then.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("xb", buffering=0)
        self._at = 0
        self._over = False

    def write(self, data: bytes) -> int:
        """Write all of it. Raises OSError, once."""
        left = memoryview(data)
        while len(left) and not self._over:
            try:
                left = left[self._file.write(left) :]
            except OSError:
                self._over = True
                raise
        self._at += len(data)
        return len(data)

    def seek(self, offset: int) -> int:
        """Go to a place from the beginning."""
        self._at = offset if self._over else self._file.seek(offset)
        return self._at

    def tell(self) -> int:
        """Where the next byte goes, or would go."""
        return self._at

    def flush(self) -> None:
        """Nothing is held back."""

    def end(self) -> None:
        """Close the file."""
        self._over = True
        self._file.close()


@contextmanager
def new_workbook(path: Path, options: Mapping[str, object]) -> Iterator[Any]:
    """A book of ``xlsxwriter``, written to the new file ``path`` when the block ends well.

    Raises OSError when the disk refuses.
    """
    from xlsxwriter import Workbook
    from xlsxwriter.exceptions import FileCreateError

    stream = _Stream(path)
    try:
        book = Workbook(stream, dict(options))
        try:
            yield book
            book.close()
        except FileCreateError as error:  # what the library makes of an OSError
            raise error.args[0] from None
        finally:
            _abandon(book)
    finally:
        stream.end()


def _abandon(book: Any) -> None:
    """Close the scratch files of a book that is not finished; the library has no call for it."""
    for sheet in book.worksheets():
        scratch = getattr(sheet, "row_data_fh", None)
        if scratch is not None:
            scratch.close()
    book.fileclosed = True


_UNUSUAL = (
    "[\\x{00}-\\x{08}\\x{0b}-\\x{1f}\\x{fffe}\\x{ffff}]|_x[0-9a-fA-F]{4}_"
    "|^[\\s\\pZ\\x{85}]|[\\s\\pZ\\x{85}]$"
)
"""Control characters and what looks like one escaped, and blanks at an end."""
_LONG = 16_000
_ESCAPES = (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"))


def rows_xml(batch: Any, first: int) -> str | None:
    """The rows of an Arrow table of texts; the first gets the number ``first`` (from 1).

    None when some value is unusual or very long, see :data:`_UNUSUAL`.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = [column.combine_chunks().cast(pa.large_string()) for column in batch.columns]
    if any(_is_unusual(column) for column in columns):
        return None
    numbers = pa.array(range(first, first + batch.num_rows)).cast(pa.large_string())
    parts: list[Any] = ['<row r="', numbers, '">']
    for place, column in enumerate(columns):
        parts += [f'<c r="{column_letters(place)}', numbers, '" t="inlineStr"><is><t>']
        parts += [_escaped(column), "</t></is></c>"]
    parts.append("</row>")
    wide = [pa.scalar(part, pa.large_string()) if isinstance(part, str) else part for part in parts]
    rows = pc.binary_join_element_wise(*wide, pa.scalar("", pa.large_string()))
    end = pc.sum(pc.binary_length(rows)).as_py() or 0
    text = rows.buffers()[2]
    return str(memoryview(text)[:end], "utf-8")


def _is_unusual(column: Any) -> bool:
    import pyarrow.compute as pc

    if (pc.max(pc.binary_length(column)).as_py() or 0) > _LONG:
        return True
    return bool(pc.any(pc.match_substring_regex(column, _UNUSUAL)).as_py())


def _escaped(column: Any) -> Any:
    import pyarrow.compute as pc

    for sign, escape in _ESCAPES:
        if pc.any(pc.match_substring(column, sign)).as_py():
            column = pc.replace_substring(column, sign, escape)
    return column


XLSX_ROWS, XLSX_COLUMNS, XLSX_CHARACTERS = 1_048_576, 16_384, 32_767
LABELS_KEY = "dpdesk.variables"
"""Where a Parquet file has what a release says of its columns, as in ``variables.json``."""
_XLSX_PIECE = 256
_XLSX_ROWS, _XLSX_CELLS = 2_048, 20_000

Progress = Callable[[int], None]


@dataclass(frozen=True)
class Sheet:
    """A small sheet of texts; the first row is its header."""

    name: str
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, eq=False)
class Printed:
    """A table to print: lines above it, its cells as they are shown, and notes below it.

    ``empty`` replaces a label without text.
    """

    name: str
    heading: Sequence[str]
    layout: Crosstab
    values: Sequence[str]
    notes: Sequence[str]
    empty: str


def write_parquet(
    table: PublishedCsv, path: Path, metadata: dict[str, bytes], token: CancelToken, done: Progress
) -> None:
    """Write text columns with ``metadata`` in the file's footer; row groups as they are read.

    ``done`` is told the number of rows written so far.
    """
    import pyarrow as pa
    from pyarrow import parquet

    fields = [pa.field(name, pa.string(), nullable=False) for name in table.columns]
    schema = pa.schema(fields, metadata)
    written = 0
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for batch in table.batches(table.columns, token):
            writer.write_table(pa.Table.from_arrays(batch.columns, schema=schema))
            written += batch.num_rows
            done(written)


def check_xlsx_size(table: PublishedCsv, more: Sequence[Sheet] = ()) -> None:
    """Raise RefusedError ``export.too-large`` when a sheet cannot hold the table or its rows."""
    for sheet in more:
        if len(sheet.rows) > XLSX_ROWS:
            raise RefusedError(
                "export.too-large",
                msg(
                    "The sheet `{name}` would have {n:,} rows, but an Excel sheet holds at most "
                    "{most:,}.",
                    name=sheet.name,
                    n=len(sheet.rows),
                    most=XLSX_ROWS,
                ),
                hint="Export to csv or parquet instead.",
            )
    if table.rows + 1 > XLSX_ROWS:
        raise RefusedError(
            "export.too-large",
            msg(
                "The table has {rows:,} rows and a header, but an Excel sheet holds at most "
                "{most:,} rows.",
                rows=table.rows,
                most=XLSX_ROWS,
            ),
            hint="Export to csv or parquet instead.",
        )
    if len(table.columns) > XLSX_COLUMNS:
        raise RefusedError(
            "export.too-large",
            msg(
                "The table has {columns:,} columns, but an Excel sheet holds at most {most:,}.",
                columns=len(table.columns),
                most=XLSX_COLUMNS,
            ),
            hint="Export to csv or parquet instead.",
        )


def write_xlsx(
    table: PublishedCsv,
    path: Path,
    about: Sequence[tuple[str, str]],
    created: datetime,
    scratch: Path,
    token: CancelToken,
    done: Progress,
    sheet: str = "Microdata",
    more: Sequence[Sheet] = (),
) -> None:
    """Write a sheet, named ``sheet``, with every value as text, a sheet ``About`` and ``more``.

    Nothing becomes a formula, a link or a number. Pieces of the file lie in ``scratch`` meanwhile.

    Raises RefusedError ``export.too-large`` for too many rows or columns or too long a value,
    OSError.
    """
    check_xlsx_size(table, more)
    options = {
        "constant_memory": True,
        "tmpdir": str(scratch),
        "strings_to_formulas": False,
        "strings_to_urls": False,
        "strings_to_numbers": False,
    }
    with new_workbook(path, options) as book:
        book.set_properties({"created": created})
        _write_table(book, sheet, table, token, done)
        _write_about(book, about)
        for one in more:
            _write_sheet(book, one)


def _write_table(
    book: Any, name: str, table: PublishedCsv, token: CancelToken, done: Progress
) -> None:
    sheet = _added(book, name)
    sheet.freeze_panes(1, 0)
    _write_row(sheet, 0, table.columns, book.add_format({"bold": True}))
    written = 0
    for batch in table.batches(table.columns, token):
        written = _write_batch(sheet, batch, written, token, done)


def write_crosstabs(
    tables: Sequence[Printed],
    path: Path,
    about: Sequence[tuple[str, str]],
    created: datetime,
    token: CancelToken,
) -> None:
    """Write a sheet for each table, laid out as people print it, and a sheet ``About``.

    Values are numbers where Excel holds them exactly; labels and marks are text.

    Raises RefusedError ``export.too-large``, OSError, Cancelled.
    """
    for table in tables:
        lines, columns = table.layout.cells.shape
        lines += len(table.layout.head) + len(table.heading) + len(table.notes) + 3
        if lines > XLSX_ROWS or columns + len(table.layout.side) > XLSX_COLUMNS:
            raise RefusedError(
                "export.too-large",
                msg(
                    "The table `{name}` has {lines:,} lines and {columns:,} columns, but an Excel "
                    "sheet holds at most {rows:,} and {most:,}.",
                    name=table.name,
                    lines=lines,
                    columns=columns,
                    rows=XLSX_ROWS,
                    most=XLSX_COLUMNS,
                ),
                hint="Export to csv or parquet instead.",
            )
    options = dict.fromkeys(("strings_to_formulas", "strings_to_urls", "strings_to_numbers"), False)
    with new_workbook(path, options) as book:
        book.set_properties({"created": created})
        taken = {"about"}
        for table in tables:
            _write_printed(book, _sheet_name(table.name, taken), table, token)
        _write_about(book, about)


def _sheet_name(name: str, taken: set[str]) -> str:
    """A name that a sheet may have and none has yet, and adds it to ``taken``."""
    plain = re.sub(r"[\[\]:*?/\\\x00-\x1f]", " ", name).strip(" '") or "Table"
    found, number = plain[:31], 1
    while found.lower() in taken or found.lower() == "history":
        number += 1
        found = f"{plain[: 30 - len(str(number))]} {number}"
    taken.add(found.lower())
    return found


_A4, _EXACT_DIGITS = 9, 15
"""Digits of a number that Excel keeps."""


def _write_printed(book: Any, name: str, table: Printed, token: CancelToken) -> None:
    sheet, layout = _added(book, name), table.layout
    bold = book.add_format({"bold": True})
    side, first = len(layout.side), len(table.heading) + 1
    for number, text in enumerate(table.heading):
        sheet.write_string(number, 0, _cut(text), None if number else bold)
    body = first + max(1, 2 * len(layout.head))
    _write_heads(book, sheet, table, first)
    line_style = {"bold": True, "bottom": 1}
    for place, axis in enumerate(layout.side):
        name_style = book.add_format(line_style)
        sheet.write_string(body - 1, place, _cut(layout.axes[axis].name), name_style)
    decimals = max((len(v.partition(".")[2]) for v in table.values if _is_number(v)), default=0)
    form = "#,##0" if not decimals else "#,##0." + "0" * decimals if decimals < 7 else "General"
    styles: dict[tuple[bool, int], Any] = {}

    def style(total: bool, indent: int = -1) -> Any:
        key = (total, indent)
        if key not in styles:
            look = {"num_format": form, "align": "right"} if indent < 0 else {"indent": indent}
            styles[key] = book.add_format({"bold": total, **look})
        return styles[key]

    totals = [not any(_depths(layout, layout.head, nodes)) for nodes in layout.heads.tolist()]
    above: list[int] = []
    for number, (nodes, cells) in enumerate(
        zip(layout.lines.tolist(), layout.cells.tolist(), strict=True), body
    ):
        token.check()
        depths = _depths(layout, layout.side, nodes)
        for place, (axis, node) in enumerate(zip(layout.side, nodes, strict=True)):
            if nodes[: place + 1] != above[: place + 1]:
                label = _cut(layout.axes[axis].labels[node] or table.empty)
                sheet.write_string(number, place, label, style(not depths[place], depths[place]))
        above = nodes
        for place, cell in enumerate(cells):
            own = style(not any(depths) or totals[place])
            _write_cell(sheet, number, side + place, table.values[cell], own)
    _finish(book, sheet, table, body, body + len(layout.lines) + 1)


def _depths(layout: Crosstab, axes: Sequence[int], nodes: Sequence[int]) -> list[int]:
    return [layout.depths[axis][node] for axis, node in zip(axes, nodes, strict=True)]


def _write_heads(book: Any, sheet: Any, table: Printed, first: int) -> None:
    """Two lines for each dimension at the head: its name, and the labels of the columns."""
    layout, side = table.layout, len(table.layout.side)
    named = book.add_format({"italic": True})
    plain = {"bold": True, "align": "right", "text_wrap": True}
    last = len(layout.head) - 1
    for place, axis in enumerate(layout.head):
        sheet.write_string(first + 2 * place, side, _cut(layout.axes[axis].name), named)
        style = book.add_format({**plain, "bottom": 1} if place == last else plain)
        before: list[int] = []
        for column, nodes in enumerate(layout.heads.tolist()):
            label = layout.axes[axis].labels[nodes[place]] or table.empty
            shown = label if nodes[: place + 1] != before or place == last else ""
            sheet.write_string(first + 2 * place + 1, side + column, _cut(shown), style)
            before = nodes[: place + 1]


def _is_number(text: str) -> bool:
    return text[:1].isdigit() or text[:1] == "-"


def _write_cell(sheet: Any, row: int, column: int, text: str, style: Any) -> None:
    if _is_number(text) and sum(map(str.isdigit, text)) <= _EXACT_DIGITS and "e" not in text:
        sheet.write_number(row, column, float(text), style)
    else:
        sheet.write_string(row, column, text, style)


def _finish(book: Any, sheet: Any, table: Printed, body: int, after: int) -> None:
    """Notes below the table, widths of columns, and lines that stay in sight."""
    for number, text in enumerate(table.notes, after):
        sheet.write_string(number, 0, _cut(text), book.add_format({"font_size": 9}))
    side = len(table.layout.side)
    for place, axis in enumerate(table.layout.side):
        sheet.set_column(place, place, min(60, max(map(len, table.layout.axes[axis].labels)) + 4))
    sheet.set_column(side, side + table.layout.cells.shape[1] - 1, 14)
    sheet.freeze_panes(body, side)
    # On paper: as wide as a page, with the heads of lines and columns on each.
    sheet.set_paper(_A4)
    sheet.set_landscape()
    sheet.fit_to_pages(1, 0)
    sheet.repeat_rows(0, body - 1)
    if side:
        sheet.repeat_columns(0, side - 1)


def _added(book: Any, name: str) -> Any:
    """A new sheet, in which text that looks like marked-up text of the library is text."""
    from xlsxwriter.worksheet import Worksheet

    class TextSheet(Worksheet):  # type: ignore[misc]
        def _xml_rich_inline_string(self, string: str, attributes: Any = ()) -> None:
            self._xml_inline_string(string, False, attributes)

    return book.add_worksheet(name, TextSheet)


def _cut(text: str) -> str:
    """What a cell holds of a text; Excel counts UTF-16 units."""
    return text.encode("utf-16-le")[: 2 * XLSX_CHARACTERS].decode("utf-16-le", "ignore")


def _write_about(book: Any, about: Sequence[tuple[str, str]]) -> None:
    notes = _added(book, "About")
    bold = book.add_format({"bold": True})
    notes.set_column(0, 0, 24)
    notes.set_column(1, 1, 100, book.add_format({"text_wrap": True}))
    for number, (name, text) in enumerate(about):
        notes.write_string(number, 0, name, bold)
        notes.write_string(number, 1, _cut(text))


def _write_sheet(book: Any, given: Sheet) -> None:
    sheet = _added(book, given.name)
    sheet.freeze_panes(1, 0)
    sheet.set_column(0, len(given.rows[0]) - 1, 24)
    bold = book.add_format({"bold": True})
    for number, row in enumerate(given.rows):
        shown = [_cut(text) for text in row]
        _write_row(sheet, number, shown, None if number else bold)


def _write_batch(sheet: Any, batch: Any, written: int, token: CancelToken, done: Progress) -> int:
    size = max(1, min(_XLSX_ROWS, _XLSX_CELLS // batch.num_columns))
    for start in range(0, batch.num_rows, size):
        token.check()
        piece = batch.slice(start, size)
        xml = rows_xml(piece, written + 2)
        if xml is None:
            _write_values(sheet, piece, written, token)
        else:
            _write_xml(sheet, xml, written + piece.num_rows)
        written += piece.num_rows
        done(written)
    return written


def _write_xml(sheet: Any, xml: str, last: int) -> None:
    """Append rows as they are; ``last`` is the last one, counted from 0 as the library does.

    The library keeps one row back until the next one comes: that goes first.
    """
    sheet._write_single_row(last + 1)
    sheet.fh.write(xml)
    sheet.dim_rowmax = max(sheet.dim_rowmax, last)


def _write_values(sheet: Any, piece: Any, written: int, token: CancelToken) -> None:
    """Let the library write cell by cell."""
    for start in range(0, piece.num_rows, _XLSX_PIECE):
        token.check()
        columns = [column.to_pylist() for column in piece.slice(start, _XLSX_PIECE).columns]
        for number, row in enumerate(zip(*columns, strict=True), written + start + 1):
            _write_row(sheet, number, row)
        time.sleep(0)  # lets a window's event loop take its turn


def _write_row(sheet: Any, row: int, values: Sequence[str], style: Any = None) -> None:
    for column, value in enumerate(values):
        if sheet.write_string(row, column, value, style) == -2:
            units = len(value.encode("utf-16-le")) // 2  # an emoji counts twice in Excel
            raise RefusedError(
                "export.too-large",
                msg(
                    "Row {row:,} holds a value of {length:,} characters, but an Excel cell "
                    "holds at most {most:,}.",
                    row=row,
                    length=units,
                    most=XLSX_CHARACTERS,
                ),
                hint="Export to csv or parquet instead.",
            )
