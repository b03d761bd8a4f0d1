"""Words of the window that browses a cube."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor
from pathlib import Path

import numpy as np
from PySide6.QtCore import QCoreApplication

from dpdesk.core.pivot import (
    MOST_BARS,
    BrowseState,
    Pivot,
    digits_of,
    drawn,
    label_text,
    shown_half,
)
from dpdesk.ui.words.numbers import grouped, legible, marked, short_name, shortened

_FINE, _COARSE = 10.0, 100.0
_ROUNDING = 1e-9


def _tr(text: str) -> str:
    return QCoreApplication.translate("Browse", text)


def value_text(value: float, half: float) -> str:
    """A value with no more digits than its error has use for."""
    if np.isnan(value):
        return _tr("not estimable")
    digits = _digits(half)
    if half == 0 and abs(value - round(value)) <= _ROUNDING * max(1.0, abs(value)):
        digits = 0
    text = f"{value:,.{digits}f}"
    if float(text.replace(",", "")) == 0:
        text = text.replace("-", "")
    return marked(text.replace("-", "−"))


def _digits(half: float) -> int:
    return 0 if half >= _FINE else 1 if half >= 1 or half == 0 else digits_of(half, 2)


def _end_text(value: float, half: float, *, up: bool) -> str:
    """An end of the interval, rounded outwards: no narrower than it is."""
    scale = 10.0 ** _digits(half)
    end = value + half if up else value - half
    near = round(end * scale)
    whole = near if abs(near - end * scale) <= _ROUNDING * max(1.0, abs(near)) else None
    if whole is None:
        whole = ceil(end * scale) if up else floor(end * scale)
    return value_text(whole / scale, half)


def half_text(half: float) -> str:
    """The ± of a value."""
    if np.isnan(half):
        return ""
    if half == 0:
        return _tr("exact")
    usual = 0 if half >= _COARSE else 1 if half >= 1 else 2
    return marked(f"± {shown_half(half, usual):,.{digits_of(half, usual)}f}")


def share_text(half: float, value: float) -> str:
    """The ± as a share of the value; empty near 0."""
    if np.isnan(half) or abs(value) < 1 or half == 0:
        return ""
    share = half / abs(value) * 100
    return marked(f"{share:,.1f} %" if share < _FINE else f"{share:,.0f} %")


def pieces_words(pieces: Sequence[Path]) -> str:
    """Which releases are read as one."""
    names = ", ".join(each.name for each in pieces)
    return _tr(
        "Combined from {count} releases: {names}. The sentence above applies to all of "
        "them together."
    ).format(count=len(pieces), names=names)


MOST_KEPT = 3
_MOST_TABLES = 2


def filter_words(state: BrowseState) -> str:
    """Which categories the numbers are of; empty where nothing is left out."""
    parts = []
    for each in state.kept:
        kept = [shortened(one) or _tr("(empty)") for one in each.categories]
        parts.append(f"{short_name(each.column)} = {_first_names(kept, MOST_KEPT)}")
    return "; ".join(parts)


def _first_names(names: Sequence[str], most: int) -> str:
    """The first names, and how many more there are."""
    shown, more = ", ".join(names[:most]), len(names) - most
    if more <= 0:
        return shown
    return _tr("{names} and {n} more").format(names=shown, n=grouped(more))


def question_words(pivot: Pivot, filters: str = "") -> str:
    """The title of a view, a question; ``filters`` are part of it, wherever it stands."""
    whole = _question(pivot)
    if not filters:
        return whole
    return _tr("{question} Only {filters}.").format(question=whole, filters=filters)


def measure_words(measure: str) -> str:
    """A measure as people read it; names of columns stay as they are."""
    return _tr("count") if measure == "count" else measure


def percent_words() -> dict[str, str]:
    """What a view can show: its numbers as they are, or as percentages."""
    return {
        "": _tr("numbers"),
        "row": _tr("% of the row"),
        "column": _tr("% of the column"),
        "all": _tr("% of all"),
    }


def measured_words(pivot: Pivot) -> str:
    """What the values of a view are."""
    measure = measure_words(pivot.grid.measure)
    if not pivot.percent:
        return measure
    return _tr("{measure} in {percent}").format(
        measure=measure, percent=percent_words()[pivot.percent]
    )


def _question(pivot: Pivot) -> str:
    axes = " × ".join(map(short_name, (*pivot.row_axes, *pivot.column_axes)))
    if not axes:
        return _tr("What is the total {measure}?").format(measure=measured_words(pivot))
    return _tr("What is the {measure} by {axes}, and how large are the errors?").format(
        measure=measured_words(pivot), axes=axes
    )


def shown_value(pivot: Pivot, row: int, column: int) -> str:
    """A value of a view, with its unit where it is a percentage."""
    value, half = float(pivot.values[row, column]), float(pivot.half_widths[row, column])
    text = value_text(value, half)
    return text if np.isnan(value) or not pivot.percent else f"{text} %"


def _total_words(pivot: Pivot, whole: str) -> str:
    """The total in the sentence ``whole``; of percentages, what is 100 %."""
    text = {
        "row": _tr("Each row adds up to 100 %."),
        "column": _tr("Each column adds up to 100 %."),
        "all": _tr("All cells add up to 100 %."),
    }.get(pivot.percent)
    if text is not None:
        return text
    value, half = float(pivot.values[-1, -1]), float(pivot.half_widths[-1, -1])
    return whole.format(total=value_text(value, half), half=half_text(half))


def answer_words(pivot: Pivot, share: float) -> str:
    """The answer: how many cells are doubtful, and the total."""
    doubtful, cells = int(pivot.doubtful(share).sum()), pivot.values.size
    said = _total_words(pivot, _tr("In all {total} {half}."))
    if doubtful == 0:
        return (
            said
            + " "
            + _tr("No ± is above {share} % of its value.").format(share=f"{share * 100:.0f}")
        )
    text = _tr("△ In {count} of {cells} cells the ± is above {share} % of the value.")
    return (
        said
        + " "
        + text.format(count=grouped(doubtful), cells=grouped(cells), share=f"{share * 100:.0f}")
    )


def assumption_words(pivot: Pivot) -> str:
    """What the numbers assume."""
    tables = legible(_first_names(pivot.grid.tables, _MOST_TABLES))
    if not pivot.covering:
        text = _tr("How often the ± holds is not known: see below. Read from {tables}.")
        return text.format(tables=tables)
    if pivot.percent:
        text = _tr(
            "A percentage is a ratio of two numbers with noise: its ± holds in 90 of 100 "
            "cases or more. It says nothing about errors in the data themselves. Read from "
            "{tables}."
        )
        return text.format(tables=tables)
    text = _tr(
        "The ± covers the error of the noise in 95 of 100 cases or more; it says "
        "nothing about errors in the data themselves. Read from {tables}."
    )
    return text.format(tables=tables)


def cell_words(pivot: Pivot, row: int, column: int) -> str:
    """One cell in a sentence."""
    value, half = float(pivot.values[row, column]), float(pivot.half_widths[row, column])
    name = cell_name(pivot, row, column)
    if np.isnan(value):
        return _tr("{name}: not estimable, because too few persons are counted.").format(name=name)
    if half == 0:
        return _tr("{name}: {value}, exactly.").format(
            name=name, value=shown_value(pivot, row, column)
        )
    share = share_text(half, value)
    text = _tr("{name}: {value} {half}{share}, so between {low} and {high} in 95 of 100 cases.")
    if pivot.percent:
        text = _tr("{name}: {value} {half}, so between {low} and {high} in 90 of 100 cases.")
    if not pivot.covering:
        text = _tr("{name}: {value} {half}{share}; how often the ± holds is not known.")
    return text.format(
        name=name,
        value=shown_value(pivot, row, column),
        half=half_text(half),
        share=f" ({share})" if share and not pivot.percent else "",
        low=_end_text(value, half, up=False),
        high=_end_text(value, half, up=True),
    )


def cell_name(pivot: Pivot, row: int, column: int) -> str:
    """The labels of a cell, each after the name of its dimension."""
    axes = (*pivot.row_axes, *pivot.column_axes)
    labels = (*pivot.row_words(row), *pivot.column_words(column))
    if all(label is None for label in labels):
        return label_text(labels)
    return axes_words(axes, labels)


def axes_words(axes: Sequence[str], labels: Sequence[str | None]) -> str:
    """Labels, each after the name of its dimension."""
    said = [_tr("all") if one is None else shortened(one) or _tr("(empty)") for one in labels]
    return " · ".join(f"{short_name(axis)} {one}" for axis, one in zip(axes, said, strict=True))


def chart_answer(pivot: Pivot) -> str:
    """The answer above the bars, and what of the table is drawn."""
    text = _tr("In all {total} {half}; the whiskers show the ± (95 %).")
    if not pivot.covering or pivot.percent:
        text = _tr("In all {total} {half}; the whiskers show the ±.")
    said = _total_words(pivot, text)
    rows, columns = drawn(pivot)
    if pivot.column_axes and len(columns) == 1:
        axes = " × ".join(map(short_name, pivot.column_axes))
        said += " " + _tr("The chart shows the sums over {axes}.").format(axes=axes)
    if len(rows) > MOST_BARS:
        said += " " + _tr("The chart shows the first {shown} of {count} rows.").format(
            count=grouped(len(rows)), shown=MOST_BARS
        )
    return said
