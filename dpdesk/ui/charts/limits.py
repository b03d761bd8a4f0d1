"""The limit line of a chart as something that can be moved, by pointer or keys."""

from __future__ import annotations

import math

from dpdesk.core.charts import BarChart, Chart, LatticeChart, ScatterChart

GRAB_PIXELS = 7.0
SHARE_STEP = 0.005


class LimitHandle:
    """What moving the limit line of one chart means; places are those of its axes."""

    def __init__(self, chart: Chart | None) -> None:
        self._chart = chart

    @property
    def key(self) -> str:
        """The parameter that the line stands for; empty when it cannot be moved."""
        chart = self._chart
        if chart is None or isinstance(chart, LatticeChart):
            return ""
        if isinstance(chart, BarChart):
            movable = chart.threshold_before is not None and not chart.horizontal
            return chart.threshold_key if movable and chart.threshold_starts else ""
        movable = chart.y_limit is not None and chart.y_axis.percent and not chart.y_axis.log
        return chart.y_limit_key if movable else ""

    @property
    def upright(self) -> bool:
        """Whether the line stands, so that it moves left and right."""
        return isinstance(self._chart, BarChart)

    @property
    def place(self) -> float | None:
        """Where the line is, along the axis on which it moves."""
        chart = self._chart
        if isinstance(chart, BarChart):
            before = chart.threshold_before
            return None if before is None else before - 0.5
        return chart.y_limit if isinstance(chart, ScatterChart) else None

    def value_at(self, place: float) -> float:
        """The value that the line means at a place."""
        chart = self._chart
        if not isinstance(chart, BarChart):
            return min(1.0, max(0.0, place))
        starts = (*chart.threshold_starts, 2 * chart.threshold_starts[-1])
        at = min(max(place + 0.5, 0.0), len(starts) - 1.0)
        index = min(math.floor(at), len(starts) - 2)
        return float(round(starts[index] + (at - index) * (starts[index + 1] - starts[index])))

    def stepped(self, steps: int) -> float:
        """The value some steps away."""
        chart = self._chart
        if isinstance(chart, BarChart):
            return chart.threshold_starts[chart.threshold_before or 0] + float(steps)
        return min(1.0, max(0.0, (self.place or 0.0) + SHARE_STEP * steps))

    def words(self, value: float) -> str:
        """The value beside the line while it is being moved."""
        if isinstance(self._chart, BarChart):
            return f"{self._chart.threshold_key} = {value:,.0f}"
        return ""
