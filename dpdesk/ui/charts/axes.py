"""Axes: grouped digits or percent, decades on log axes, never a factor such as "(x0.001)"."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

import pyqtgraph as pg
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF

from dpdesk.core.charts import Axis
from dpdesk.ui.words.numbers import marked

MAX_LINES = 8
FEW_DECADES = 2.2
ROOM_AT_ENDS = 60


class NumberAxis(pg.AxisItem):  # type: ignore[misc]
    """An axis that writes numbers for people; log axes get the logarithm of the values."""

    def __init__(self, orientation: str) -> None:
        super().__init__(orientation)
        self.enableAutoSIPrefix(False)
        self.setStyle(maxTickLevel=0, tickLength=0)
        self._axis = Axis("")
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
            self._write_label(axis.label)

    def fit_label(self) -> None:
        """Shorten the title to the width that is there now."""
        if self._flat:
            self._write_label(self._axis.label)

    def _write_label(self, label: str) -> None:
        # The library takes the title for HTML, and a column may be called anything.
        text = html.escape(self._elided(label))
        if text != self.labelText:
            self.setLabel(text)

    def _elided(self, text: str) -> str:
        if self.width() <= 1:
            return text
        metrics = QFontMetricsF(self.label.font())
        return metrics.elidedText(text, Qt.TextElideMode.ElideRight, self.width())

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
            return [(1.0, log_places(low, high))]
        step = nice_step((high - low) / wanted)
        if self._axis.log or self._axis.whole:
            step = max(1.0, round(step))
        # Room above the longest bar is no reason to write more than the whole.
        top = min(high, 1.0) if self._axis.percent and not self._axis.log else high
        first, last = math.ceil(low / step - 1e-9), math.floor(top / step + 1e-9)
        # A tick at the very end of the axis would be lost to rounding.
        edge = (high - low) * 1e-9
        ticks = (number * step for number in range(first, last + 1))
        return [(step, [min(max(tick, low + edge), high - edge) for tick in ticks])]

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


def _told_apart(values: Sequence[float]) -> list[str]:
    """Numbers of a log axis, with more decimals where they would look the same."""
    texts = [plain_text(value) for value in values]
    for places in range(1, 4):
        if len(set(texts)) == len(texts):
            break
        texts = [marked(f"{value:,.{places}f}") for value in values]
    return texts


def log_places(low: float, high: float) -> list[float]:
    """Logarithms of 1, 2 and 5 times powers of ten from ``low`` to ``high`` (logarithms).

    Where fewer than two would be there, of round numbers at equal distances instead.
    """
    found = [
        math.log10(digit) + power
        for power in range(math.floor(low), math.ceil(high) + 1)
        for digit in (1, 2, 5)
        if low <= math.log10(digit) + power <= high
    ]
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
