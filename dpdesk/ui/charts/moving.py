"""Limit lines on a plot: drawn, taken hold of, dragged and stepped."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QPointF, QRectF

from dpdesk.core.charts import BarChart, Chart, ScatterChart
from dpdesk.ui.charts.items import LineItem
from dpdesk.ui.charts.limits import GRAB_PIXELS, LimitHandle, crossing, handles_of
from dpdesk.ui.theme import Theme

Place = TypeVar("Place", float, NDArray[np.float64])


def pixel_of(box: pg.ViewBox, x: Place, y: Place) -> tuple[Place, Place]:
    """Pixels of places of the axes."""
    area: QRectF = box.sceneBoundingRect()
    (left, right), (low, high) = box.viewRange()
    share = (y - low) / (high - low)
    across = area.left() + (x - left) / (right - left) * area.width()
    return across, area.top() + (share if box.yInverted() else 1 - share) * area.height()


class MovingLines:
    """The lines of one plot; ``items`` are to be added to it."""

    def __init__(self, box: pg.ViewBox) -> None:
        self._box = box
        self._across, self._upright = LineItem(), LineItem()
        self._chart: Chart | None = None
        self._theme: Theme | None = None
        self._held: LimitHandle | None = None

    @property
    def items(self) -> tuple[LineItem, LineItem]:
        """The lying line and the standing one."""
        return self._across, self._upright

    @property
    def held(self) -> LimitHandle | None:
        """The line that is being dragged."""
        return self._held

    def show(self, chart: Chart, theme: Theme, depth: float) -> None:
        """Draw the lines of a chart."""
        self._chart, self._theme = chart, theme
        for item in self.items:
            item.setZValue(depth)
            self._draw(item, None, "")
        for handle in handles_of(chart):
            self._draw(self.items[handle.upright], handle.place, handle.label)

    def place(self, *, upright: bool | None = None) -> QPoint | None:
        """A place on a line in pixels, for whoever takes hold of it; None without one."""
        for handle in handles_of(self._chart):
            if handle.place is None or upright not in (None, handle.upright):
                continue
            area: QRectF = self._box.sceneBoundingRect()
            x, y = pixel_of(self._box, handle.place, handle.place)
            # Not where a line of the other kind may cross it.
            across, along = area.center().x(), area.center().y()
            return QPoint(*map(round, (x, along) if handle.upright else (across, y)))
        return None

    def at(self, place: QPointF) -> LimitHandle | None:
        """The line that lies under a place of the plot and can be moved."""
        area: QRectF = self._box.sceneBoundingRect()
        if not area.contains(place):
            return None
        near = [
            (self._apart(handle, place), number, handle)
            for number, handle in enumerate(handles_of(self._chart))
            if handle.key
        ]
        best = min(near, default=None)
        return best[2] if best is not None and best[0] <= GRAB_PIXELS else None

    def take(self, place: QPointF) -> bool:
        """Take hold of the line under a place; False when none can be moved there."""
        self._held = self.at(place)
        return self._held is not None

    def drop(self) -> None:
        """Let go of it."""
        self._held = None

    def drag(self, place: QPointF) -> tuple[str, float] | None:
        """Move the line that is held; its parameter and the new value."""
        handle, chart = self._held, self._chart
        if handle is None or chart is None:
            return None
        area: QRectF = self._box.sceneBoundingRect()
        (left, right), (low, high) = self._box.viewRange()
        if handle.upright:
            at = left + (place.x() - area.left()) / area.width() * (right - left)
            at = min(max(at, left), right)
        else:
            at = high - (place.y() - area.top()) / area.height() * (high - low)
            at = min(max(at, low), high)
        value = handle.value_at(at)
        if isinstance(chart, BarChart):
            at = min(max(at, -0.5), len(chart.categories) - 0.5)
        if handle.follows:
            self._draw(self.items[handle.upright], at, handle.words(value))
            self._drag_other(chart, handle, at)
        return handle.key, value

    def step(self, across: float, along: float) -> tuple[str, float] | None:
        """Move the line that such a step moves; its parameter and the new value."""
        for handle in handles_of(self._chart):
            steps = int(across if handle.upright else -along)
            if handle.key and steps:
                return handle.key, handle.stepped(steps)
        return None

    def _drag_other(self, chart: Chart, handle: LimitHandle, at: float) -> None:
        other = crossing(chart, handle, at)
        if other is not None and isinstance(chart, ScatterChart):
            moved = LimitHandle(chart, upright=not handle.upright)
            words = moved.words(moved.value_at(other))
            self._draw(self.items[moved.upright], other, words)

    def _apart(self, handle: LimitHandle, place: QPointF) -> float:
        at = handle.place
        if at is None:
            return float("inf")
        x, y = pixel_of(self._box, at, at)
        return abs(place.x() - x) if handle.upright else abs(place.y() - y)

    def _draw(self, item: LineItem, position: float | None, label: str) -> None:
        if self._theme is not None:
            tokens, upright = self._theme.tokens, item is self._upright
            colours = (tokens.text, tokens.surface)
            item.set_line(position, label, colours, self._theme.font("note"), upright=upright)
