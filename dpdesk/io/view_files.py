"""Files of a view of a released cube: CSV with a line for each number, Excel as it is shown."""

from __future__ import annotations

import csv
import time
from collections.abc import Sequence
from math import isnan
from pathlib import Path
from typing import Any

from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.pivot import Pivot, digits_of
from dpdesk.core.query import ALL
from dpdesk.io.safewrite import PartialKeeper, replacing
from dpdesk.io.tablewriters import new_workbook

_XLSX_ROWS, _XLSX_COLUMNS = 1_048_576, 16_384
_LONGEST = 32_767
_MOST_DIGITS = 15
ONLY = "Only"
"""What tells in ``about`` which categories are kept."""


def write_view_csv(
    pivot: Pivot,
    about: Sequence[tuple[str, str]],
    out: Path,
    keeper: PartialKeeper,
    token: CancelToken,
) -> None:
    """A line for each number: labels, value, standard error, and the value less and plus its ±.

    Sums over all categories have the label ALL; where some are left out a last column says which
    are kept. Raises StorageError, InputError ``out.folder``,
    Cancelled.
    """
    axes = (*pivot.row_axes, *pivot.column_axes)
    kept = ["; ".join(text for name, text in about if name == ONLY)]
    only = kept if kept[0] else []
    with replacing(out, keeper) as fresh, fresh.open("x", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(
            [*axes, pivot.measure, "standard_error", "low", "high", *(["only"] if only else [])]
        )
        for row, labels in enumerate(pivot.row_labels):
            token.check()
            time.sleep(0)  # lets a window's event loop take its turn
            for column, others in enumerate(pivot.column_labels):
                value, half = (
                    float(pivot.values[row, column]),
                    float(pivot.half_widths[row, column]),
                )
                numbers = (
                    value,
                    float(pivot.standard_errors[row, column]),
                    value - half,
                    value + half,
                )
                writer.writerow([*map(_label, (*labels, *others)), *map(_number, numbers), *only])


def write_view_xlsx(
    pivot: Pivot,
    about: Sequence[tuple[str, str]],
    out: Path,
    keeper: PartialKeeper,
    token: CancelToken,
) -> None:
    """Sheets ``Values`` and ``Plus-minus 95 %`` as the view is shown, and ``About``.

    Of percentages, and where it is not known how often the ± holds, the second is ``Plus-minus``.
    Raises RefusedError ``export.too-large``, StorageError, InputError ``out.folder``, Cancelled.
    """
    heads, sides = len(pivot.column_axes) or 1, len(pivot.row_axes)
    if (
        len(pivot.row_labels) + heads > _XLSX_ROWS
        or len(pivot.column_labels) + sides > _XLSX_COLUMNS
    ):
        raise RefusedError(
            "export.too-large",
            "The view has more rows or columns than an Excel sheet.",
            hint="Export it as CSV instead.",
        )
    with replacing(out, keeper) as fresh:
        options = {"strings_to_formulas": False, "strings_to_urls": False, "in_memory": True}
        with new_workbook(fresh, options) as book:
            bold = book.add_format({"bold": True})
            plain = book.add_format({"num_format": f"#,##0.{'0' * _digits(pivot)}"})
            _write_sheet(book.add_worksheet("Values"), pivot, pivot.values, (bold, plain), token)
            widths = book.add_worksheet(
                "Plus-minus 95 %" if pivot.covering and not pivot.percent else "Plus-minus"
            )
            _write_sheet(widths, pivot, pivot.half_widths, (bold, plain), token)
            notes = book.add_worksheet("About")
            notes.set_column(0, 0, 16)
            notes.set_column(1, 1, 100, book.add_format({"text_wrap": True}))
            for number, (name, text) in enumerate(about):
                notes.write_string(number, 0, name, bold)
                notes.write_string(number, 1, text[:_LONGEST])
            token.check()


def _digits(pivot: Pivot) -> int:
    """Digits behind the point with which no ± reads as 0."""
    halves = pivot.half_widths[pivot.half_widths > 0]
    return min(_MOST_DIGITS, digits_of(float(halves.min(initial=1.0)), 1))


def _write_sheet(
    sheet: Any, pivot: Pivot, numbers: Any, formats: tuple[Any, Any], token: CancelToken
) -> None:
    bold, plain = formats
    heads, sides = len(pivot.column_axes) or 1, len(pivot.row_axes)
    sheet.freeze_panes(heads, sides)
    for place, name in enumerate(pivot.row_axes):
        sheet.write_string(heads - 1, place, name, bold)
    for column, labels in enumerate(pivot.column_labels):
        for line, label in enumerate(labels or (pivot.measure,)):
            sheet.write_string(line, sides + column, _label(label), bold)
    for row, labels in enumerate(pivot.row_labels):
        token.check()
        time.sleep(0)  # lets a window's event loop take its turn
        for place, label in enumerate(labels):
            sheet.write_string(heads + row, place, _label(label), bold)
        for column in range(len(pivot.column_labels)):
            number = float(numbers[row, column])
            if not isnan(number):
                sheet.write_number(heads + row, sides + column, number, plain)


def _label(label: str | None) -> str:
    return ALL if label is None else label


def _number(number: float) -> str:
    if isnan(number):
        return ""
    return str(int(number)) if number.is_integer() else repr(number)
