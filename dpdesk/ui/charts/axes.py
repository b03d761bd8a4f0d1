"""Axes and the frame between them: their numbers, decades, spans, and limits that can be moved."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QCoreApplication, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF
from PySide6.QtWidgets import (
    QGraphicsGridLayout,
    QGraphicsSceneResizeEvent,
    QSizePolicy,
    QWidget,
)

from dpdesk.core.charts import Axis, BarChart, Chart, LatticeChart, PointSeries, ScatterChart
from dpdesk.ui.charts.library import pg
from dpdesk.ui.words.numbers import figure_words, marked

MAX_LINES = 8
FEW_DECADES = 2.2
ROOM_AT_ENDS = 60
_DRAWN_FURTHER = 3.0  # than a text is measured: places are rounded, and letters lean over
FEWEST_TICKS = 3
_DIGITS = ((1, 2, 5), (1, 2, 3, 5, 7), (1, 1.5, 2, 3, 4, 5, 7))


class NumberAxis(pg.AxisItem):  # type: ignore[misc]
    """An axis that writes numbers for people; log axes get the logarithm of the values."""

    _axis = Axis("")

    def __init__(self, orientation: str) -> None:
        super().__init__(orientation)
        self.enableAutoSIPrefix(False)
        self.setStyle(maxTickLevel=0, tickLength=0)
        self._categories: tuple[str, ...] | None = None

    def describe(self, axis: Axis) -> None:
        """Show this axis of a chart."""
        self._axis, self._categories = axis, None
        self.setTicks(None)
        self._label_below(axis)

    def name_categories(self, axis: Axis, categories: Sequence[str]) -> None:
        """Show names instead of numbers, one at each whole position."""
        self._axis, self._categories = axis, tuple(categories)
        self._label_below(axis)
        self.setTicks([list(enumerate(self._categories))])

    def _label_below(self, axis: Axis) -> None:
        # Text stays horizontal: the title of an upright axis stands above the plot instead.
        if self._flat:
            self._write_label(label_of(axis))

    def fit_label(self) -> None:
        """Shorten the title to the width that is there now."""
        if self._flat:
            self._write_label(label_of(self._axis))

    def _write_label(self, label: str) -> None:
        # The library takes the title for HTML, and a column may be called anything.
        text = html.escape(self._elided(label))
        if text != self.labelText:
            self.setLabel(text)
            self.resizeEvent()  # the library leaves a new title at the place of the old one

    def _elided(self, text: str) -> str:
        if self.width() <= 1:
            return text
        metrics = QFontMetricsF(self.label.font())
        around = 2 * self.label.document().documentMargin() + metrics.horizontalAdvance(" ")
        return metrics.elidedText(text, Qt.TextElideMode.ElideRight, self.width() - around)

    def resizeEvent(self, event: QGraphicsSceneResizeEvent | None = None) -> None:
        """The title gets the width that is there now, and its place in the middle."""
        if self.label is not None and event is not None:
            self.fit_label()
        super().resizeEvent(event)

    def boundingRect(self) -> QRectF:
        """With room for the texts at the ends, which the library leaves out beside gridlines."""
        rect: QRectF = super().boundingRect()
        if self._flat:
            return rect.adjusted(-ROOM_AT_ENDS, 0, ROOM_AT_ENDS, 0)
        return rect.adjusted(0, -ROOM_AT_ENDS, 0, ROOM_AT_ENDS)

    def tickValues(self, low: float, high: float, size: float) -> list[tuple[float, list[float]]]:
        """Few round positions, whole decades on log axes."""
        if self._categories is not None:
            return list(super().tickValues(low, high, size))
        if self._axis.bare:
            return []
        low, high = min(low, high), max(low, high)
        if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
            return []
        wanted = max(2, min(MAX_LINES, int(size // self._room)))
        if self._axis.log and high - low < FEW_DECADES:
            return [(1.0, self._uncut(log_places(low, high), (low, high, size), 1.0))]
        step = nice_step((high - low) / wanted)
        if self._axis.log or self._axis.whole:
            step = max(1.0, round(step))
        # Room above the longest bar is no reason to write more than the whole.
        top = min(high, 1.0) if self._axis.percent and not self._axis.log else high
        first, last = math.ceil(low / step - 1e-9), math.floor(top / step + 1e-9)
        # A tick at the very end of the axis would be lost to rounding.
        edge = (high - low) * 1e-9
        ticks = [number * step for number in range(first, last + 1)]
        ticks = [min(max(tick, low + edge), high - edge) for tick in ticks]
        return [(step, self._uncut(ticks, (low, high, size), step))]

    def _uncut(
        self, ticks: Sequence[float], room: tuple[float, float, float], spacing: float
    ) -> list[float]:
        """The ticks whose texts end inside the frame; ``room`` are the axis' ends and pixels."""
        low, high, size = room
        if not self._flat or size <= 1:
            return list(ticks)
        metrics = QFontMetricsF(self.style["tickFont"] or QFont())
        texts = self.tickStrings(ticks, 1.0, spacing)
        halves = [metrics.horizontalAdvance(text) / 2 for text in texts]
        return [
            tick
            for tick, half in zip(ticks, halves, strict=True)
            if (tick - low) / (high - low) * size + half <= size + MARGINS[2] - _DRAWN_FURTHER
        ]

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        """Texts of ticks."""
        if self._categories is not None:
            return list(super().tickStrings(values, scale, spacing))
        if self._axis.log and self._axis.percent:
            return [f"{text} %" for text in _told_apart([10.0 ** (2 + v) for v in values])]
        if self._axis.log:
            return _told_apart([10.0**value for value in values])
        if self._axis.percent:
            return [f"{plain_text(value * 100, spacing * 100)} %" for value in values]
        return [plain_text(value, spacing) for value in values]

    @property
    def _room(self) -> float:
        """Pixels that one tick wants, so that its text does not touch the next."""
        metrics = QFontMetricsF(self.style["tickFont"] or QFont())
        sample = "100 %" if self._axis.percent else "100,000"
        return metrics.horizontalAdvance(sample) * 1.35 if self._flat else metrics.height() * 2

    @property
    def _flat(self) -> bool:
        return self.orientation in ("top", "bottom")


def label_of(axis: Axis) -> str:
    """Title and unit of an axis, and that its steps multiply where they do."""
    if not axis.log:
        return axis.label
    words = QCoreApplication.translate("ChartView", "log scale")
    unit = f"{axis.unit}, {words}" if axis.unit else words
    return f"{axis.title} ({unit})"


def _told_apart(values: Sequence[float]) -> list[str]:
    """Numbers of a log axis, each with as many figures as tell it from the others."""
    texts = [plain_text(value) for value in values]
    for figures in range(1, 5):
        if len(set(texts)) == len(texts):
            break
        texts = [_with_figures(value, figures) for value in values]
    return texts


def _with_figures(value: float, figures: int) -> str:
    decimals = max(0, figures - 1 - math.floor(math.log10(value) + 1e-9))
    return marked(f"{value:,.{decimals}f}")


def log_places(low: float, high: float) -> list[float]:
    """Logarithms of 1, 2 and 5 times powers of ten from ``low`` to ``high`` (logarithms).

    Where these are few, of more digits; where fewer than two would be there, of round numbers at
    equal distances.
    """
    for digits in _DIGITS:
        found = [
            math.log10(digit) + power
            for power in range(math.floor(low), math.ceil(high) + 1)
            for digit in digits
            if low <= math.log10(digit) + power <= high
        ]
        if len(found) >= FEWEST_TICKS:
            break
    if len(found) > 1:
        return found
    first, last = 10.0**low, 10.0**high
    step = nice_step((last - first) / 4)
    places = range(math.ceil(first / step), math.floor(last / step) + 1)
    return [math.log10(place * step) for place in places if place > 0]


def nice_step(rough: float) -> float:
    """The next of 1, 2, 2.5, 5 × 10ⁿ that is not smaller than ``rough`` (which is above zero)."""
    power = 10.0 ** math.floor(math.log10(rough))
    for factor in (1, 2, 2.5, 5, 10):
        if factor * power >= rough * (1 - 1e-9):
            return factor * power
    return 10 * power


def plain_text(value: float, spacing: float = 0.0) -> str:
    """A tick's number with grouped digits and as many decimals as the spacing needs."""
    if abs(value) < 1e-12:
        return "0"
    base = spacing if spacing > 0 else abs(value)
    decimals = max(0, -math.floor(math.log10(base) + 1e-9))
    if abs(round(base, decimals) - base) > base * 1e-6 and spacing > 0:
        decimals += 1
    return marked(f"{value:,.{min(decimals, 9)}f}")


_SAME = 1e-6
"""Values that differ by no more than this part are one value, and rounding."""
Floats = NDArray[np.float64]


def finite(one: PointSeries, chart: ScatterChart) -> PointSeries:
    """The drawable points of a series, as logarithms where the axis asks for it."""
    x, y = _scaled_array(one.x, chart.x_axis), _scaled_array(one.y, chart.y_axis)
    good = np.isfinite(x) & np.isfinite(y)
    whole = bool(good.all())
    return PointSeries(
        one.name,
        x if whole else x[good],
        y if whole else y[good],
        one.ids if whole or not one.ids.size else one.ids[good],
        one.look,
        one.stepped,
        one.emphasis,
        one.labels if whole else tuple(np.array(one.labels)[good]) if one.labels else (),
        one.joined,
    )


def _scaled_array(values: Floats, axis: Axis) -> Floats:
    if not axis.log:
        return np.asarray(values, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log10(values)


def scaled(value: float | None, axis: Axis) -> float | None:
    """A value as the axis has it; None where a logarithm has none."""
    if value is None or not axis.log:
        return value
    return float(np.log10(value)) if value > 0 else None


def span(arrays: Sequence[Floats], axis: Axis, extra: float | None) -> tuple[float, float]:
    """Ends of an axis: as asked, else those of the data with a little air."""
    filled = [array for array in arrays if array.size]
    lows = [float(array.min()) for array in filled] + ([] if extra is None else [extra])
    highs = [float(array.max()) for array in filled] + ([] if extra is None else [extra])
    asked_low, asked_high = scaled(axis.minimum, axis), scaled(axis.maximum, axis)
    low = asked_low if asked_low is not None else min(lows, default=0.0)
    high = asked_high if asked_high is not None else max(highs, default=1.0)
    if high - low <= _SAME * max(abs(low), abs(high), _SAME):
        low, high = low - 0.5 * (abs(low) or 1), low + 0.5 * (abs(low) or 1)
    air = (high - low) * 0.03
    return low - air, high + air


GRAB_PIXELS = 7.0
SHARE_STEP = 0.005
STEPS_PER_DECADE = 20
_NUMBER = re.compile(r"\d[\d.,]*")


class LimitHandle:
    """What moving one limit line of a chart means; places are those of its axes.

    ``upright``: the line stands, so that it moves left and right.
    """

    def __init__(self, chart: BarChart | ScatterChart, *, upright: bool) -> None:
        self._chart = chart
        self.upright = upright

    @property
    def key(self) -> str:
        """The parameter that the line stands for; empty when it cannot be moved."""
        chart = self._chart
        if isinstance(chart, BarChart):
            movable = chart.threshold_before is not None and not chart.horizontal
            return chart.threshold_key if movable and chart.threshold_starts else ""
        movable = self.place is not None and (self._axis.percent or self._axis.log)
        return (chart.x_limit_key if self.upright else chart.y_limit_key) if movable else ""

    @property
    def _axis(self) -> Axis:
        chart = self._chart
        if isinstance(chart, BarChart):
            return chart.category_axis
        return chart.x_axis if self.upright else chart.y_axis

    @property
    def place(self) -> float | None:
        """Where the line is, along the axis on which it moves (a logarithm on log axes)."""
        chart = self._chart
        if isinstance(chart, BarChart):
            before = chart.threshold_before
            return None if before is None else before - 0.5
        return scaled(chart.x_limit if self.upright else chart.y_limit, self._axis)

    @property
    def label(self) -> str:
        """What stands beside the line."""
        chart = self._chart
        if isinstance(chart, BarChart):
            return chart.threshold_label
        return chart.x_limit_label if self.upright else chart.y_limit_label

    @property
    def follows(self) -> bool:
        """Whether the line moves with the hand, before its chart is drawn anew."""
        return isinstance(self._chart, BarChart) or self._axis.log

    def value_at(self, place: float) -> float:
        """The value that the line means at a place."""
        chart = self._chart
        if not isinstance(chart, BarChart):
            return 10.0**place if self._axis.log else min(1.0, max(0.0, place))
        starts = (*chart.threshold_starts, 2 * chart.threshold_starts[-1])
        at = min(max(place + 0.5, 0.0), len(starts) - 1.0)
        index = min(math.floor(at), len(starts) - 2)
        return float(round(starts[index] + (at - index) * (starts[index + 1] - starts[index])))

    def stepped(self, steps: int) -> float:
        """The value some steps away."""
        chart = self._chart
        if isinstance(chart, BarChart):
            return chart.threshold_starts[chart.threshold_before or 0] + float(steps)
        if self._axis.log:
            return float(10.0 ** ((self.place or 0.0) + steps / STEPS_PER_DECADE))
        return min(1.0, max(0.0, (self.place or 0.0) + SHARE_STEP * steps))

    def words(self, value: float) -> str:
        """The value beside the line while it is being moved."""
        if isinstance(self._chart, BarChart):
            return f"{self._chart.threshold_key} = {marked(f'{value:,.0f}')}"
        return _NUMBER.sub(figure_words(float(f"{value:.2g}"), "number"), self.label, count=1)


def handles_of(chart: Chart | None) -> tuple[LimitHandle, ...]:
    """The limit lines of a chart, those that cannot be moved too."""
    if chart is None or isinstance(chart, LatticeChart):
        return ()
    if isinstance(chart, BarChart):
        return (LimitHandle(chart, upright=not chart.horizontal),)
    return LimitHandle(chart, upright=False), LimitHandle(chart, upright=True)


def crossing(chart: Chart, handle: LimitHandle, place: float) -> float | None:
    """Where the other line goes when one is moved: both cross on the first curve of the chart.

    None where there is no curve, or no other line.
    """
    if not isinstance(chart, ScatterChart) or chart.x_limit is None or chart.y_limit is None:
        return None
    curve = next((one for one in chart.series if one.joined), None)
    if curve is None or not (chart.x_axis.log and chart.y_axis.log):
        return None
    xs, ys = np.log10(curve.x), np.log10(curve.y)
    known, wanted = (xs, ys) if handle.upright else (ys, xs)
    order = np.argsort(known)
    return float(np.interp(place, known[order], wanted[order]))


PLACES = {"left": (0, 0), "bottom": (1, 1)}
MARGINS = (4.0, 8.0, 16.0, 4.0)


class PlotArea(pg.GraphicsWidget):  # type: ignore[misc]
    """``vb`` holds the items, ``axes`` stand at its left and below it."""

    def __init__(self, axes: Mapping[str, NumberAxis]) -> None:
        super().__init__()
        self.vb = pg.ViewBox(parent=self, enableMouse=False, enableMenu=False)
        grid = QGraphicsGridLayout()
        grid.setContentsMargins(*MARGINS)
        grid.setSpacing(0)
        grid.addItem(self.vb, 0, 1)
        grid.setRowStretchFactor(0, 100)
        grid.setColumnStretchFactor(1, 100)
        for side, axis in axes.items():
            axis.linkToView(self.vb)
            # Below everything: gridlines must not cross what they help to read.
            axis.setZValue(-1_000)
            axis.setFlag(axis.GraphicsItemFlag.ItemNegativeZStacksBehindParent)
            grid.addItem(axis, *PLACES[side])
        self.setLayout(grid)


class PlotFrame(pg.GraphicsView):  # type: ignore[misc]
    """A widget with one plot, ``plotItem``.

    The library's own plot widget makes menus with forms, two more axes, a title and a button for
    each plot. Nobody sees them here, and they take most of the time that a plot takes to be made.
    """

    def __init__(self, axes: Mapping[str, NumberAxis], parent: QWidget | None = None) -> None:
        super().__init__(parent, background=None)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.enableMouse(False)
        self.plotItem = PlotArea(axes)
        self.setCentralItem(self.plotItem)

    def add(self, item: pg.GraphicsObject) -> None:
        """Draw this, too; the ranges do not follow it."""
        self.plotItem.vb.addItem(item, ignoreBounds=True)

    def remove(self, item: pg.GraphicsObject) -> None:
        """Draw it no longer."""
        self.plotItem.vb.removeItem(item)

    def set_ranges(
        self, x: tuple[float, float], y: tuple[float, float], *, downwards: bool = False
    ) -> None:
        """Values at the edges, low and high; ``downwards``: low values of y lie above."""
        self.plotItem.vb.invertY(downwards)
        self.plotItem.vb.setRange(xRange=x, yRange=y, padding=0)
