"""A grid as people read it: rows against columns, errors as shares of values, bars with errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import product
from math import ceil, floor, isfinite, log10

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.charts import Axis, BarChart, BarSeries, Cell, SeriesStyle, table_from
from dpdesk.core.labels import NO_BOOK, Codebook
from dpdesk.core.query import ALL, COVERING_95, Answer, AnswerRow, Chosen, Grouping, Query

# A view of a released cube as arrays: axes with labels, values, errors.


Floats = NDArray[np.float64]
NOT_ESTIMABLE = "not estimable: too few persons for an average"


@dataclass(frozen=True, eq=False)
class CubeGrid:
    """Values over some axes, each with its standard error and ± (see :attr:`Answer.interval`).

    ``labels`` holds those of each axis, None for the sum over all of them (the last one, where
    there is one). The arrays have one dimension for each axis; NaN where nothing can be said.
    """

    axes: tuple[str, ...]
    labels: tuple[tuple[str | None, ...], ...]
    measure: str
    values: Floats = field(repr=False)
    standard_errors: Floats = field(repr=False)
    half_widths: Floats = field(repr=False)
    tables: tuple[str, ...] = ()
    sentence: str = ""
    warnings: tuple[str, ...] = ()
    interval: str = COVERING_95

    @property
    def cells(self) -> int:
        """Number of values, margins included."""
        return int(self.values.size)

    def answer(self) -> Answer:
        """The same as rows, the last axis fastest."""
        rows = tuple(self._row(place) for place in np.ndindex(self.values.shape))
        given = (self.sentence, self.tables, self.warnings, self.interval)
        return Answer(self.axes, self.measure, rows, *given)

    def _row(self, place: tuple[int, ...]) -> AnswerRow:
        labels = tuple(self.labels[axis][i] for axis, i in enumerate(place))
        value, error = float(self.values[place]), float(self.standard_errors[place])
        if np.isnan(value):
            return AnswerRow(labels, None, note=NOT_ESTIMABLE)
        half = float(self.half_widths[place])
        return AnswerRow(labels, value, error, value - half, value + half)


# Walking through a released cube: which dimensions stand where, what is kept, the way back.
#
# Every state is a query; a step is a word or two and the state that it led to. Nothing here knows
# the release or a front end.


class Place(Enum):
    """Where a dimension can stand; a dimension that stands nowhere is summed up."""

    ROWS = "rows"
    COLUMNS = "columns"
    NOWHERE = "nowhere"


@dataclass(frozen=True)
class Kept:
    """The categories of a dimension that are kept, as released; the others are left out."""

    column: str
    categories: tuple[str, ...]


@dataclass(frozen=True)
class BrowseState:
    """One view of a cube: dimensions on rows and columns, filters, and the measure.

    ``percent`` shows percentages of ``"row"``, ``"column"`` or ``"all"``; ``order`` are the labels
    of a column that the rows are sorted by, and whether they fall.
    """

    rows: tuple[Grouping, ...] = ()
    columns: tuple[Grouping, ...] = ()
    kept: tuple[Kept, ...] = ()
    measure: str = ""
    percent: str = ""
    order: tuple[tuple[str | None, ...], bool] | None = None

    def query(self) -> Query:
        """What has to be asked of the release, margins included."""
        where = tuple(Chosen(each.column, each.categories) for each in self.kept)
        return Query((*self.rows, *self.columns), where, self.measure, margins=True)

    def place_of(self, column: str) -> Place:
        """Where a dimension stands."""
        if any(each.column == column for each in self.rows):
            return Place.ROWS
        if any(each.column == column for each in self.columns):
            return Place.COLUMNS
        return Place.NOWHERE

    def level_of(self, column: str) -> int:
        """The level at which a dimension is shown; 0 where it is not."""
        shown = (*self.rows, *self.columns)
        return next((each.level for each in shown if each.column == column), 0)

    def kept_of(self, column: str) -> tuple[str, ...] | None:
        """The categories that are kept of a dimension; None for all."""
        return next((each.categories for each in self.kept if each.column == column), None)

    def put(self, column: str, place: Place, at: int | None = None) -> BrowseState:
        """Put a dimension somewhere, before number ``at`` there; None: behind the others."""
        group = Grouping(column, self.level_of(column))
        rows = tuple(each for each in self.rows if each.column != column)
        columns = tuple(each for each in self.columns if each.column != column)
        if place is Place.ROWS:
            rows = _inserted(rows, group, at)
        elif place is Place.COLUMNS:
            columns = _inserted(columns, group, at)
        return replace(self, rows=rows, columns=columns, order=None)

    def at_level(self, column: str, level: int) -> BrowseState:
        """Show a dimension at another level of its hierarchy."""

        def turned(groups: tuple[Grouping, ...]) -> tuple[Grouping, ...]:
            return tuple(
                Grouping(column, level) if each.column == column else each for each in groups
            )

        return replace(self, rows=turned(self.rows), columns=turned(self.columns), order=None)

    def keep(self, column: str, categories: tuple[str, ...] | None) -> BrowseState:
        """Keep only these categories of a dimension; None: all again."""
        others = tuple(each for each in self.kept if each.column != column)
        if categories is None:
            return replace(self, kept=others)
        places = [each.column for each in self.kept]
        found = list(others)
        found.insert(
            places.index(column) if column in places else len(found), Kept(column, categories)
        )
        return replace(self, kept=tuple(found))

    def turned(self) -> BrowseState:
        """Rows and columns exchanged."""
        return replace(self, rows=self.columns, columns=self.rows, order=None)

    def sorted_by(self, column: tuple[str | None, ...]) -> BrowseState:
        """Rows sorted by a column: falling, then rising, then as they were declared."""
        falling = self.order != (column, True)
        return replace(self, order=None if self.order == (column, False) else (column, falling))


def _inserted(
    groups: tuple[Grouping, ...], group: Grouping, at: int | None
) -> tuple[Grouping, ...]:
    place = len(groups) if at is None else max(0, min(at, len(groups)))
    return (*groups[:place], group, *groups[place:])


@dataclass(frozen=True)
class Step:
    """A state and the words for what led to it."""

    words: str
    state: BrowseState


@dataclass(frozen=True)
class Trail:
    """The steps taken, and where one stands among them; a value, so undo loses nothing."""

    steps: tuple[Step, ...]
    at: int = field(default=0)

    @property
    def state(self) -> BrowseState:
        """The present state."""
        return self.steps[self.at].state

    def go(self, words: str, state: BrowseState) -> Trail:
        """Take a step; steps that were undone give way. The same state again is no step."""
        if state == self.state:
            return self
        steps = (*self.steps[: self.at + 1], Step(words, state))
        return Trail(steps, len(steps) - 1)

    def back(self, to: int | None = None) -> Trail:
        """One step back, or to the step with this number (forwards too)."""
        wanted = self.at - 1 if to is None else to
        return replace(self, at=max(0, min(wanted, len(self.steps) - 1)))

    def forth(self) -> Trail:
        """The step that was undone last, again."""
        return self.back(self.at + 1)


Labels = tuple[str | None, ...]
NEAR_ZERO = 1.0
_WHOLE_FROM = 10.0
_SLACK = 1e-12
_LOOKS = (SeriesStyle.FIRST, SeriesStyle.SECOND, SeriesStyle.THIRD, SeriesStyle.FOURTH)
MOST_BARS = 40
STEPS = (0.02, 0.05, 0.1, 0.2, 0.5)
"""Shares of the value at which the colour of the error changes."""
PERCENT = {"row": ", % of the row", "column": ", % of the column", "all": ", % of all"}
"""Of what the values of a view can be percentages, and how their measure is called then."""


@dataclass(frozen=True, eq=False)
class Pivot:
    """Values and their ± with rows and columns; ``row_labels`` and ``column_labels`` by axis.

    ``book`` has the labels of the axes that stand at the level of the source's own codes.
    ``percent`` says of what the values are percentages (a key of :data:`PERCENT`; empty: they are
    as released), ``counts`` has the numbers behind them.
    """

    row_axes: tuple[str, ...]
    column_axes: tuple[str, ...]
    row_labels: tuple[Labels, ...]
    column_labels: tuple[Labels, ...]
    values: Floats = field(repr=False)
    half_widths: Floats = field(repr=False)
    grid: CubeGrid = field(repr=False)
    counts: Floats = field(repr=False)
    standard_errors: Floats = field(repr=False)
    book: Codebook = field(default=NO_BOOK, repr=False)
    percent: str = ""

    def row_words(self, row: int) -> Labels:
        """The labels of a row for people: a code with what it means."""
        return self._words(self.row_axes, self.row_labels[row])

    def column_words(self, column: int) -> Labels:
        """The labels of a column for people."""
        return self._words(self.column_axes, self.column_labels[column])

    def _words(self, axes: tuple[str, ...], labels: Labels) -> Labels:
        if not self.book.variables:
            return labels
        known = [self.book.get(axis) for axis in axes]
        return tuple(
            label if label is None or one is None else one.shown(label)
            for label, one in zip(labels, known, strict=True)
        )

    @property
    def measure(self) -> str:
        """What the values are."""
        return self.grid.measure + PERCENT.get(self.percent, "")

    @property
    def covering(self) -> bool:
        """Whether the ± holds the errors of these very numbers in 95 of 100 cases or more."""
        return self.grid.interval == COVERING_95

    @property
    def shares(self) -> Floats:
        """The ± as a share of the value; NaN where the value is near 0 or not known."""
        near = np.abs(self.counts) < NEAR_ZERO
        size = np.where(near, 1.0, np.abs(self.values))
        return np.where(near, np.nan, self.half_widths / size)

    def doubtful(self, share: float) -> NDArray[np.bool_]:
        """Cells whose ± is more than this share of their value; those near 0 are."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.half_widths > share * np.abs(self.values))

    def mostly_doubtful(self, share: float) -> bool:
        """Whether more than half of the cells are doubtful, margins left out."""
        inner = np.array([None not in labels for labels in self.row_labels])[:, None] & np.array(
            [None not in labels for labels in self.column_labels]
        )
        marked = self.doubtful(share)[inner]
        return bool(2 * marked.sum() > marked.size)

    def shades(self) -> NDArray[np.int8]:
        """For each cell the step of the error's ramp, 0 (small) to 5; -1 where ± says more."""
        shares = self.shares
        found = np.searchsorted(np.array(STEPS), np.nan_to_num(shares), side="right")
        return np.where(np.isnan(shares), -1, found).astype(np.int8)


def pivot_of(grid: CubeGrid, rows: int) -> Pivot:
    """The first ``rows`` axes of a grid as rows, the others as columns."""
    row_labels = tuple(product(*grid.labels[:rows]))
    column_labels = tuple(product(*grid.labels[rows:]))
    shape = (len(row_labels), len(column_labels))
    values = grid.values.reshape(shape)
    return Pivot(
        grid.axes[:rows],
        grid.axes[rows:],
        row_labels,
        column_labels,
        values,
        grid.half_widths.reshape(shape),
        grid,
        values,
        grid.standard_errors.reshape(shape),
    )


def in_percent(pivot: Pivot, of: str) -> Pivot:
    """Counts as percentages ``of`` the total of their row or column, or of ``all``.

    Their ± is as wide as value and total together allow, each within its own: where these hold in
    95 of 100 cases, it does in 90. Where the total may be 0 nothing can be said. Standard errors of
    ratios are not known (NaN).
    """
    rows, columns = pivot.values.shape
    place = (
        slice(None) if of == "row" else slice(rows - 1, rows),
        slice(None) if of == "column" else slice(columns - 1, columns),
    )
    total, around = pivot.values[place], pivot.half_widths[place]
    low, high = total - around, total + around
    with np.errstate(all="ignore"):
        share = 100 * pivot.values / total
        ends = [
            100 * (pivot.values + sign * pivot.half_widths) / end
            for sign in (-1, 1)
            for end in (low, high)
        ]
        half = np.max([np.abs(end - share) for end in ends], axis=0)
    known = np.broadcast_to(low > 0, share.shape) & ~np.isnan(pivot.values)
    share, half = np.where(known, share, np.nan), np.where(known, half, np.nan)
    half[place] = np.where(known[place], 0.0, np.nan)
    nothing = np.full(share.shape, np.nan)
    return replace(pivot, values=share, half_widths=half, standard_errors=nothing, percent=of)


def in_order(pivot: Pivot, by: Labels, *, falling: bool) -> Pivot:
    """Rows by the values of the column with these labels; sums stay last, and what is not known.

    As it is where there is no such column.
    """
    if by not in pivot.column_labels:
        return pivot
    values = pivot.values[:, pivot.column_labels.index(by)]

    def key(row: int) -> tuple[int, bool, float]:
        value = float(values[row])
        sums = sum(label is None for label in pivot.row_labels[row])
        return sums, bool(np.isnan(value)), -value if falling else value

    return _rows(pivot, sorted(range(len(values)), key=key))


def _rows(pivot: Pivot, places: Sequence[int]) -> Pivot:
    given = list(places)
    return replace(
        pivot,
        row_labels=tuple(pivot.row_labels[place] for place in given),
        values=pivot.values[given],
        half_widths=pivot.half_widths[given],
        counts=pivot.counts[given],
        standard_errors=pivot.standard_errors[given],
    )


def digits_of(half: float, usual: int) -> int:
    """Digits behind the point of a value and its ±: of a small ± so many that two of its own show.

    A ± that is written as 0 reads as one of an exact number.
    """
    return max(usual, 1 - floor(log10(half))) if 0 < half < 1 else usual


def shown_half(half: float, usual: int) -> float:
    """A ± as it is written: never less than it is. See :func:`digits_of`."""
    if not isfinite(half):
        return half
    scale: float = 10.0 ** digits_of(half, usual)
    return ceil(half * scale * (1 - _SLACK)) / scale


def label_text(labels: Labels) -> str:
    """The labels of a row or column in one text; all margins together are one word."""
    if all(label is None for label in labels):
        return ALL
    return " · ".join(ALL if label is None else label or "(empty)" for label in labels)


def drawn(pivot: Pivot) -> tuple[list[int], list[int]]:
    """Rows and columns to draw: no margins; of more columns than series the sum over all."""
    rows = [i for i, labels in enumerate(pivot.row_labels) if None not in labels]
    columns = [i for i, labels in enumerate(pivot.column_labels) if None not in labels]
    if pivot.percent == "row":
        columns = columns[: len(_LOOKS)]
    if not columns or len(columns) > len(_LOOKS):
        columns = [len(pivot.column_labels) - 1]
    return rows or list(range(len(pivot.row_labels))), columns


def pivot_chart(pivot: Pivot, question: str, answer: str, unit: str, measure: str = "") -> BarChart:
    """Bars with their errors: rows as categories, up to four columns as series, no margins.

    ``measure`` is what the values are called, in the words of the window.
    Of more columns the sums over all of them are drawn; of very many rows the first ones.
    """
    rows, columns = drawn(pivot)
    measure = measure or pivot.measure
    shown = rows[:MOST_BARS]
    series = tuple(
        BarSeries(
            _series_name(pivot, column) or measure,
            tuple(_rounded(pivot, row, column) for row in shown),
            look,
            errors=tuple(_drawn(pivot.half_widths[row, column]) for row in shown),
        )
        for column, look in zip(columns, _LOOKS, strict=False)
    )
    title = " × ".join(pivot.row_axes) or "all"
    twin = [_twin_row(pivot, row, column) for row in rows for column in columns]
    width = "± 95 %" if pivot.covering and not pivot.percent else "±"
    heads = (title, " × ".join(pivot.column_axes) or "columns", measure, width)
    return BarChart(
        id="olap",
        question=question,
        answer=answer,
        category_axis=Axis(title),
        value_axis=Axis(measure, unit),
        categories=tuple(label_text(pivot.row_words(row)) for row in shown),
        series=series,
        table=table_from(heads, twin),
        short=measure,
    )


def _series_name(pivot: Pivot, column: int) -> str:
    """The labels of a column, each after its dimension: a bare 1 in a key says nothing."""
    labels = pivot.column_words(column) if pivot.column_axes else ()
    if labels and all(label is None for label in labels):
        return label_text(labels)
    pairs = zip(pivot.column_axes, labels, strict=False)
    return " · ".join(f"{axis} {label_text((label,))}" for axis, label in pairs)


def _twin_row(pivot: Pivot, row: int, column: int) -> tuple[Cell, ...]:
    value, half = float(pivot.values[row, column]), float(pivot.half_widths[row, column])
    known = not np.isnan(value)
    return (
        label_text(pivot.row_words(row)),
        label_text(pivot.column_words(column)) if pivot.column_axes else ALL,
        round(value, digits_of(half, 1)) if known else None,
        shown_half(half, 1) if known else None,
    )


def _rounded(pivot: Pivot, row: int, column: int) -> float:
    """A value as it is written at its bar: whole where its error is ten and more."""
    value = _drawn(pivot.values[row, column])
    if pivot.percent:
        return round(value, digits_of(pivot.half_widths[row, column], 1))
    return float(round(value)) if pivot.half_widths[row, column] >= _WHOLE_FROM else value


def _drawn(number: float) -> float:
    return 0.0 if np.isnan(number) else float(number)
