"""The limit lines of a chart as something that can be moved, by pointer or keys."""

from __future__ import annotations

import math
import re

import numpy as np

from dpdesk.core.charts import Axis, BarChart, Chart, LatticeChart, ScatterChart
from dpdesk.ui.charts.scaling import scaled
from dpdesk.ui.words.numbers import figure_words, marked

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
