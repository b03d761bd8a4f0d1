"""Axes: grouped digits or percent, decades on log axes, never a factor such as "(x0.001)"."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtGui import QFont, QFontMetricsF

from dpdesk.core.charts import Axis

MAX_LINES = 8


@dataclass(frozen=True)
class Tick:
    """A position on an axis and what is written there."""

    at: float
    text: str


class NumberAxis:
    """Which positions an axis names, and how; log axes get the logarithm of the values.

    ``flat`` axes run from left to right, the others upwards. ``grid`` says whether lines lead from
    the ticks through the plot.
    """

    def __init__(self, *, flat: bool) -> None:
        self.flat, self.grid = flat, False
        self.font = QFont()
        self._axis = Axis("")
        self._categories: tuple[str, ...] | None = None

    def describe(self, axis: Axis) -> None:
        """Show this axis of a chart."""
        self._axis, self._categories = axis, None

    def name_categories(self, axis: Axis, categories: Sequence[str]) -> None:
        """Show names instead of numbers, one at each whole position."""
        self._axis, self._categories = axis, tuple(categories)

    @property
    def label(self) -> str:
        """The title that stands below the axis.

        Text stays horizontal: the title of an upright axis stands above the plot instead.
        """
        return self._axis.label if self.flat else ""

    def ticks(self, low: float, high: float, size: float) -> list[Tick]:
        """What to write between two values that are ``size`` pixels apart."""
        if self._categories is not None:
            named = enumerate(self._categories)
            return [Tick(at, name) for at, name in named if low <= at <= high]
        values, step = self._round_values(low, high, size)
        return [Tick(value, self._written(value, step)) for value in values]

    def _round_values(self, low: float, high: float, size: float) -> tuple[list[float], float]:
        """Few round positions, whole decades on log axes, and the step between them."""
        if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
            return [], 1.0
        wanted = max(2, min(MAX_LINES, int(size // self._room)))
        step = nice_step((high - low) / wanted)
        if self._axis.log:
            step = max(1.0, round(step))
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        return [number * step for number in range(first, last + 1)], step

    def _written(self, value: float, step: float) -> str:
        if self._axis.log:
            return plain_text(10.0**value)
        if self._axis.percent:
            return f"{plain_text(value * 100, step * 100)} %"
        return plain_text(value, step)

    @property
    def _room(self) -> float:
        """Pixels that one tick wants, so that its text does not touch the next."""
        metrics = QFontMetricsF(self.font)
        sample = "100 %" if self._axis.percent else "100,000"
        return metrics.horizontalAdvance(sample) * 1.35 if self.flat else metrics.height() * 2


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
    return f"{value:,.{min(decimals, 9)}f}"
