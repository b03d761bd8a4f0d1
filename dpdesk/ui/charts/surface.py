"""The plot inside a chart view: axes, items, keyboard and pointer."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QFontMetrics, QKeyEvent, QMouseEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QWidget

from dpdesk.core.charts import Axis, BarChart, Chart, Look, PointSeries, ScatterChart, format_figure
from dpdesk.ui.charts.axes import NumberAxis
from dpdesk.ui.charts.items import Bar, BarsItem, CloudItem, LineItem, MarkersItem, PixelItem
from dpdesk.ui.theme import Theme, look_colour

CLOUD_FROM = 400
PICK_PIXELS = 40.0
HOVER_PIXELS = 14.0
MANY_BARS = 8
MARKER = {
    Look.REFERENCE: "disc",
    Look.FIRST: "disc",
    Look.SECOND: "diamond",
    Look.THIRD: "square",
    Look.FOURTH: "triangle",
    Look.FAIL: "cross",
}
_DIRECTION = {
    Qt.Key.Key_Left: (-1.0, 0.0),
    Qt.Key.Key_Right: (1.0, 0.0),
    Qt.Key.Key_Up: (0.0, -1.0),
    Qt.Key.Key_Down: (0.0, 1.0),
}
_ORDER = {Qt.Key.Key_PageDown: 1, Qt.Key.Key_PageUp: -1}
Floats = NDArray[np.float64]
PixelT = TypeVar("PixelT", bound=PixelItem)


class PlotSurface(pg.PlotWidget):  # type: ignore[misc]
    """Draws one chart at a time.

    ``pinned(int)`` a point was clicked or Enter was pressed on it; ``selected(int)`` the marked
    point moved; ``hovered(int)`` the pointer is over a point (-1: none). In a bar chart the same
    signals carry the index of the category.
    """

    pinned = Signal(int)
    selected = Signal(int)
    hovered = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        axes = {side: NumberAxis(side) for side in ("left", "bottom")}
        super().__init__(parent, background=None, axisItems=axes)
        self._axes = axes
        for axis in axes.values():
            # Below everything: gridlines must not cross what they help to read.
            axis.setZValue(-1_000)
        self._theme = theme
        self._chart: Chart | None = None
        self._bars, self._line, self._ring = BarsItem(), LineItem(), MarkersItem()
        self._clouds: list[CloudItem] = []
        self._markers: list[MarkersItem] = []
        self._points = (np.empty(0), np.empty(0), np.empty(0, np.int64))
        self._chosen: int | None = None
        self._over = -1
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setMenuEnabled(False)
        self.setMouseEnabled(x=False, y=False)
        self.hideButtons()
        self.plotItem.vb.sigResized.connect(self._on_box)
        self.plotItem.layout.setContentsMargins(4, 8, 16, 4)
        for depth, item in ((10, self._bars), (20, self._line), (40, self._ring)):
            item.setZValue(depth)
            self.addItem(item, ignoreBounds=True)
        self.restyle(theme)

    # -- what is shown

    def show_chart(self, chart: Chart) -> None:
        """Draw a chart; the marked point stays when it is still there."""
        self._chart = chart
        if isinstance(chart, BarChart):
            self._show_bars(chart)
        else:
            self._show_scatter(chart)
        self._mark()

    def restyle(self, theme: Theme) -> None:
        """Take over colours and sizes."""
        self._theme = theme
        tokens = theme.tokens
        self.setBackground(QColor(tokens.surface))
        note = theme.font("note")
        for axis in self._axes.values():
            axis.setPen(QPen(QColor(tokens.border), 1))
            axis.setTickPen(QPen(QColor(tokens.hairline), 1))
            axis.setTextPen(QColor(tokens.muted))
            axis.setTickFont(note)
            axis.label.setFont(note)
        if self._chart is not None:
            self.show_chart(self._chart)

    def _grid(self, *, left: bool, bottom: bool) -> None:
        self._axes["left"].setGrid(255 if left else False)
        self._axes["bottom"].setGrid(255 if bottom else False)

    def _show_bars(self, chart: BarChart) -> None:
        lying, theme = chart.horizontal, self._theme
        self._clear_points()
        self._line.setZValue(5)  # numbers of bars stand on top of the limit
        numbers = "bottom" if lying else "left"
        self._name_categories(chart)
        self._axes[numbers].describe(chart.value_axis)
        self._grid(left=not lying, bottom=lying)
        count = len(chart.categories)
        self.plotItem.invertY(lying)
        bars = _layout_bars(chart, theme)
        self._fit_bars(chart, bars)
        colours = (theme.tokens.text, theme.tokens.surface)
        self._bars.set_bars(bars, colours, theme.font("note"), lying=lying)
        position = None if chart.threshold_before is None else chart.threshold_before - 0.5
        self._line.set_line(
            position, chart.threshold_label, colours, theme.font("note"), upright=not lying
        )
        centres = np.arange(count, dtype=np.float64)
        longest = np.array([max(s.values[i] for s in chart.series) for i in range(count)])
        ends = (longest, centres) if lying else (centres, longest)
        self._points = (
            ends[0] / 2 if lying else ends[0],
            ends[1] if lying else ends[1] / 2,
            np.arange(count),
        )

    def _fit_bars(self, chart: BarChart, bars: Sequence[Bar]) -> None:
        """Ranges that leave room for the labels beyond the longest bar."""
        metrics = QFontMetrics(self._theme.font("note"))
        box = self.plotItem.vb
        if chart.horizontal:
            widest = max((metrics.horizontalAdvance(bar.label) for bar in bars), default=0)
            room, length = widest + 16, box.width()
        else:
            room, length = metrics.height() * 2, box.height()
        share = min(0.5, room / length) if length > 1 else 0.15
        across = (-0.6, len(chart.categories) - 0.4)
        along = (0.0, _bars_top(chart) / (1 - share))
        x_range, y_range = (along, across) if chart.horizontal else (across, along)
        self.setXRange(*x_range, padding=0)
        self.setYRange(*y_range, padding=0)

    def _show_scatter(self, chart: ScatterChart) -> None:
        theme = self._theme
        self._line.setZValue(20)
        self._bars.set_bars((), (theme.tokens.text,) * 2, theme.font("note"), lying=False)
        self.plotItem.invertY(False)
        self._axes["bottom"].describe(chart.x_axis)
        self._axes["left"].describe(chart.y_axis)
        self._grid(left=True, bottom=True)
        series = [_finite(one, chart) for one in chart.series]
        self.setXRange(*_span([one.x for one in series], chart.x_axis, None), padding=0)
        limit = _scaled(chart.y_limit, chart.y_axis)
        self.setYRange(*_span([one.y for one in series], chart.y_axis, limit), padding=0)
        self._draw_series(series)
        colours = (theme.tokens.text, theme.tokens.surface)
        self._line.set_line(limit, chart.y_limit_label, colours, theme.font("note"), upright=False)
        pickable = [one for one in series if one.ids.size]
        if pickable:
            self._points = (
                np.concatenate([one.x for one in pickable]),
                np.concatenate([one.y for one in pickable]),
                np.concatenate([one.ids for one in pickable]),
            )
        else:
            self._points = (np.empty(0), np.empty(0), np.empty(0, np.int64))

    def _draw_series(self, series: Sequence[PointSeries]) -> None:
        clouds = [one for one in series if one.x.size > CLOUD_FROM and not one.stepped]
        marks = [one for one in series if one.x.size <= CLOUD_FROM or one.stepped]
        _fit(self, self._clouds, len(clouds), CloudItem)
        _fit(self, self._markers, len(marks), MarkersItem)
        theme, depth = self._theme, {id(one): 12 + n * 0.1 for n, one in enumerate(series)}
        tokens = theme.tokens
        for cloud, one in zip(self._clouds, clouds, strict=True):
            cloud.setZValue(depth[id(one)])
            cloud.set_points(one.x, one.y, look_colour(tokens, one.look))
        for item, one in zip(self._markers, marks, strict=True):
            item.setZValue(depth[id(one)] + (10 if one.emphasis else 0))
            size = (15.0 if one.emphasis else 8.0) * max(1.0, theme.scale * 0.8)
            colour = look_colour(tokens, one.look)
            item.set_points(
                one.x,
                one.y,
                MARKER[one.look],
                size,
                (colour, tokens.surface, tokens.text),
                stepped=one.stepped,
                labels=one.labels,
                font=theme.font("note", bold=True),
            )

    def _clear_points(self) -> None:
        _fit(self, self._clouds, 0, CloudItem)
        _fit(self, self._markers, 0, MarkersItem)

    def _name_categories(self, chart: BarChart) -> None:
        side = "left" if chart.horizontal else "bottom"
        metrics = QFontMetrics(self._theme.font("note"))
        if chart.horizontal:
            room = max(80, self.width() // 3)
        else:
            wide = self.plotItem.vb.width() if self.plotItem.vb.width() > 1 else self.width() - 90
            room = max(24, int(wide / max(1, len(chart.categories) + 0.2)) - 2)
        if not chart.horizontal and len(chart.categories) > MANY_BARS:
            names = thinned(chart.categories, room, metrics.horizontalAdvance)
        else:
            names = [
                metrics.elidedText(name, Qt.TextElideMode.ElideRight, room)
                for name in chart.categories
            ]
        self._axes[side].name_categories(chart.category_axis, names)

    # -- the marked point

    @property
    def chosen(self) -> int | None:
        """Id of the marked point (or index of the marked category)."""
        return self._chosen

    def choose(self, number: int | None) -> None:
        """Mark a point without announcing it."""
        self._chosen = number
        self._mark()

    def position_of(self, number: int) -> tuple[float, float] | None:
        """Coordinates of a point as drawn (logarithms on log axes)."""
        found = np.flatnonzero(self._points[2] == number)
        if not found.size:
            return None
        return float(self._points[0][found[0]]), float(self._points[1][found[0]])

    def _mark(self) -> None:
        place = None if self._chosen is None else self.position_of(self._chosen)
        xs = np.array([place[0]]) if place else np.empty(0)
        ys = np.array([place[1]]) if place else np.empty(0)
        tokens = self._theme.tokens
        self._ring.set_points(xs, ys, "ring", 20.0, (tokens.accent, tokens.surface, tokens.text))

    def _pixels(self) -> tuple[Floats, Floats]:
        box = self.plotItem.vb
        area: QRectF = box.sceneBoundingRect()
        (left, right), (low, high) = box.viewRange()
        xs = area.left() + (self._points[0] - left) / (right - left) * area.width()
        share = (self._points[1] - low) / (high - low)
        ys = area.top() + (share if box.yInverted() else 1 - share) * area.height()
        return xs, ys

    def nearest(self, place: QPointF, reach: float) -> int | None:
        """Id of the point nearest to a place of the widget, None when none is within reach."""
        if not self._points[2].size:
            return None
        xs, ys = self._pixels()
        if isinstance(self._chart, BarChart):
            across = np.abs(ys - place.y()) if self._chart.horizontal else np.abs(xs - place.x())
            inside = self.plotItem.vb.sceneBoundingRect().contains(place)
            return int(self._points[2][int(np.argmin(across))]) if inside else None
        distance = np.hypot(xs - place.x(), ys - place.y())
        best = int(np.argmin(distance))
        return int(self._points[2][best]) if distance[best] <= reach else None

    def neighbour(self, across: float, along: float) -> int | None:
        """The nearest point in a direction (pixels, y down); the leftmost when none is marked."""
        ids = self._points[2]
        if not ids.size:
            return None
        xs, ys = self._pixels()
        start = np.flatnonzero(ids == self._chosen) if self._chosen is not None else ids[:0]
        if not start.size:
            return int(ids[int(np.argmin(xs + ys * 1e-3))])
        dx, dy = xs - xs[start[0]], ys - ys[start[0]]
        ahead, aside = dx * across + dy * along, np.abs(dx * along) + np.abs(dy * across)
        allowed = (ahead > 0.5) & (aside <= ahead * 2)
        if not allowed.any():
            return None
        cost = np.where(allowed, ahead + aside, np.inf)
        return int(ids[int(np.argmin(cost))])

    def in_order(self, step: int) -> int | None:
        """The next (1) or previous (-1) point from left to right, so that none is out of reach."""
        ids = self._points[2]
        if not ids.size:
            return None
        order = np.lexsort((self._points[1], self._points[0]))
        start = np.flatnonzero(ids[order] == self._chosen) if self._chosen is not None else ids[:0]
        place = int(start[0]) + step if start.size else 0
        return int(ids[order[min(max(place, 0), ids.size - 1)]])

    # -- pointer and keys

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows walk from point to point, Page keys take all in order, Enter pins."""
        key = Qt.Key(event.key())
        if key in _DIRECTION or key in _ORDER:
            walk = key in _DIRECTION
            found = self.neighbour(*_DIRECTION[key]) if walk else self.in_order(_ORDER[key])
            if found is not None:
                self.choose(found)
                self.selected.emit(found)
            event.accept()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.modifiers():
            if self._chosen is not None:
                self.pinned.emit(self._chosen)
            event.accept()
        else:
            QWidget.keyPressEvent(self, event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click pins the nearest point."""
        if event.button() is Qt.MouseButton.LeftButton:
            found = self.nearest(event.position(), PICK_PIXELS)
            if found is not None:
                self.setFocus(Qt.FocusReason.MouseFocusReason)
                self.choose(found)
                self.selected.emit(found)
                self.pinned.emit(found)
        event.accept()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Nothing is dragged here."""
        event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Tell over which point the pointer is."""
        self._hover(self.nearest(event.position(), HOVER_PIXELS))
        event.accept()

    def leaveEvent(self, event: QEvent) -> None:
        """The pointer is over nothing."""
        self._hover(None)
        super().leaveEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Category names get the room that is now theirs."""
        super().resizeEvent(event)
        if getattr(self, "_chart", None) is not None:
            self._axes["bottom"].fit_label()

    @Slot()
    def _on_box(self) -> None:
        """The room inside the axes, which follows the widget a little later."""
        chart = self._chart
        if isinstance(chart, BarChart):
            self._name_categories(chart)
            self._fit_bars(chart, self._bars.bars)

    def sizeHint(self) -> QSize:
        """Enough to be read; a plot takes what room there is instead of asking for much."""
        return QSize(320, 150)

    def wheelEvent(self, event: QEvent) -> None:
        """Leave the wheel to the panel that scrolls."""
        event.ignore()

    def _hover(self, found: int | None) -> None:
        number = -1 if found is None else found
        if number != self._over:
            self._over = number
            self.hovered.emit(number)


def _fit(surface: PlotSurface, items: list[PixelT], count: int, kind: type[PixelT]) -> None:
    """Add or remove items until there are ``count``; items are reused between charts."""
    while len(items) > count:
        surface.removeItem(items.pop())
    while len(items) < count:
        items.append(kind())
        surface.addItem(items[-1], ignoreBounds=True)


def _bars_top(chart: BarChart) -> float:
    if chart.value_axis.maximum is not None:
        return chart.value_axis.maximum
    values = itertools.chain.from_iterable(one.values for one in chart.series)
    return max((value for value in values if value == value), default=0.0) or 1.0


def _layout_bars(chart: BarChart, theme: Theme) -> list[Bar]:
    filled = [one for one in chart.series if not one.outline]
    group = 0.76
    inner = group - 0.12 if any(one.outline for one in chart.series) else group
    width = inner / max(1, len(filled))
    kind = "share" if chart.value_axis.percent else "number"
    tokens, bars = theme.tokens, []
    for one in chart.series:
        place = 0 if one.outline else filled.index(one)
        for index, value in enumerate(one.values):
            low = index - group / 2 if one.outline else index - inner / 2 + place * width
            failed = index in chart.hatched and not one.outline
            colour = tokens.fail if failed else look_colour(tokens, one.look)
            label = "" if one.outline else _bar_label(value, kind)
            high = low + (group if one.outline else width * 0.94)
            bars.append(Bar(low, high, value, colour, label, one.outline, failed))
    return bars


def _bar_label(value: float, kind: str) -> str:
    if kind == "share":
        return short_percent(value)
    whole = kind == "number" and float(value).is_integer()
    return format_figure(value, "count" if whole else kind)


def short_percent(share: float) -> str:
    """A share in three digits at most; the read-out and the table hold the whole of it."""
    text = f"{share * 100:.1f}"
    exact = format_figure(share, "share")
    if 0 < share < 0.01 or (text == "100.0" and share < 1):
        return exact
    return f"{text} %".replace(".0 %", " %")


def thinned(names: Sequence[str], room: float, width: Callable[[str], int]) -> list[str]:
    """Every n-th name, whole, where not all of them have room; the others are left out."""
    widest = max(map(width, names), default=0) + 8
    step = max(1, math.ceil(widest / max(room, 1.0)))
    return [name if number % step == 0 else "" for number, name in enumerate(names)]


def _finite(one: PointSeries, chart: ScatterChart) -> PointSeries:
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
    )


def _scaled_array(values: Floats, axis: Axis) -> Floats:
    if not axis.log:
        return np.asarray(values, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log10(values)


def _scaled(value: float | None, axis: Axis) -> float | None:
    if value is None or not axis.log:
        return value
    return float(np.log10(value)) if value > 0 else None


def _span(arrays: Sequence[Floats], axis: Axis, extra: float | None) -> tuple[float, float]:
    """Ends of an axis: as asked, else those of the data with a little air."""
    filled = [array for array in arrays if array.size]
    lows = [float(array.min()) for array in filled] + ([] if extra is None else [extra])
    highs = [float(array.max()) for array in filled] + ([] if extra is None else [extra])
    asked_low, asked_high = _scaled(axis.minimum, axis), _scaled(axis.maximum, axis)
    low = asked_low if asked_low is not None else min(lows, default=0.0)
    high = asked_high if asked_high is not None else max(highs, default=1.0)
    if high <= low:
        low, high = low - 0.5 * (abs(low) or 1), low + 0.5 * (abs(low) or 1)
    air = (high - low) * 0.03
    return low - air, high + air
