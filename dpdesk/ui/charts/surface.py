"""The plot inside a chart view: axes, items, keyboard and pointer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QFontMetrics, QKeyEvent, QMouseEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QApplication, QWidget

from dpdesk.core.charts import BarChart, Chart, PointSeries, ScatterChart, SeriesStyle
from dpdesk.ui.charts.axes import (
    GRAB_PIXELS,
    LimitHandle,
    NumberAxis,
    PlotFrame,
    crossing,
    finite,
    handles_of,
    scaled,
    span,
)
from dpdesk.ui.charts.items import (
    Bar,
    BarsItem,
    CloudItem,
    LineItem,
    MarkersItem,
    PixelItem,
    bars_top,
    close_together,
    curve_style,
    in_lines,
    layout_bars,
    thinned,
)
from dpdesk.ui.charts.library import pg
from dpdesk.ui.theme import Theme, look_colour

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
        """A place on a line in pixels, for anyone who takes hold of it; None without one."""
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


CLOUD_FROM = 400
PICK_PIXELS = 40.0
HOVER_PIXELS = 14.0
MANY_BARS = 8
MOST_LINES, LINE_GAP = 3, 4
MARKER = {
    SeriesStyle.REFERENCE: "disc",
    SeriesStyle.FIRST: "disc",
    SeriesStyle.SECOND: "diamond",
    SeriesStyle.THIRD: "square",
    SeriesStyle.FOURTH: "triangle",
    SeriesStyle.FAIL: "cross",
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


class PlotSurface(PlotFrame):
    """Draws one chart at a time.

    ``pinned(int)`` a point was clicked or Enter was pressed on it; ``selected(int)`` the marked
    point moved; ``hovered(int)`` the pointer is over a point (-1: none). In a bar chart the same
    signals carry the index of the category. ``limitMoved(str, float)`` carries a parameter and the
    value to which its line was dragged, or moved by Shift and arrows.
    """

    pinned = Signal(int)
    selected = Signal(int)
    hovered = Signal(int)
    limitMoved = Signal(str, float)
    movable: bool
    """Whether the limit line may be moved, where the chart names its parameter."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        axes = {side: NumberAxis(side) for side in ("left", "bottom")}
        super().__init__(axes, parent)
        self._axes = axes
        self._theme = theme
        self._chart: Chart | None = None
        self._bars, self._ring = BarsItem(), MarkersItem()
        self._lines = MovingLines(self.plotItem.vb)
        self._links = pg.PlotCurveItem(connect="pairs", antialias=True)
        self._clouds: list[CloudItem] = []
        self._markers: list[MarkersItem] = []
        self._points = (np.empty(0), np.empty(0), np.empty(0, np.int64))
        self._chosen: int | None = None
        self._over = -1
        self.movable = False
        self._waiting: Chart | None = None
        self._pressed: tuple[QPointF, int] | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.plotItem.vb.sigResized.connect(self._on_box)
        lying, standing = self._lines.items
        depths = ((9, self._links), (10, self._bars), (20, lying), (20, standing), (40, self._ring))
        for depth, item in depths:
            item.setZValue(depth)
            self.add(item)
        self.restyle(theme)

    # -- what is shown

    def show_chart(self, chart: Chart) -> None:
        """Draw a chart; the marked point stays when it is still there.

        While a line that follows the hand is dragged, all stays where it is: the next one waits.
        """
        if self._lines.held is not None and self._lines.held.follows:
            self._waiting = chart
            return
        self._chart = chart
        if isinstance(chart, BarChart):
            self._show_bars(chart)
        elif isinstance(chart, ScatterChart):
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
        numbers = "bottom" if lying else "left"
        self._name_categories(chart)
        self._axes[numbers].describe(chart.value_axis)
        self._grid(left=not lying, bottom=lying)
        count = len(chart.categories)
        bars = layout_bars(chart, theme)
        self._fit_bars(chart, bars)
        colours = (theme.tokens.text, theme.tokens.surface)
        self._bars.set_bars(bars, colours, theme.font("note"), lying=lying)
        self._lines.show(chart, theme, 5)  # numbers of bars stand on top of the limit
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
            lines = 3 if any(bar.clear for bar in bars) else 2
            room, length = metrics.height() * lines, box.height()
        share = min(0.5, room / length) if length > 1 else 0.15
        across = (-0.6, len(chart.categories) - 0.4)
        along = (0.0, bars_top(chart) / (1 - share))
        x_range, y_range = (along, across) if chart.horizontal else (across, along)
        self.set_ranges(x_range, y_range, downwards=chart.horizontal)

    def _show_scatter(self, chart: ScatterChart) -> None:
        theme = self._theme
        self._bars.set_bars((), (theme.tokens.text,) * 2, theme.font("note"), lying=False)
        self._axes["bottom"].describe(chart.x_axis)
        self._axes["left"].describe(chart.y_axis)
        self._grid(left=not chart.y_axis.bare, bottom=not chart.x_axis.bare)
        series = [finite(one, chart) for one in chart.series]
        limit = scaled(chart.y_limit, chart.y_axis)
        self.set_ranges(
            span([one.x for one in series], chart.x_axis, scaled(chart.x_limit, chart.x_axis)),
            span([one.y for one in series], chart.y_axis, limit),
        )
        self._draw_series(series)
        self._lines.show(chart, theme, 20)
        pickable = [one for one in series if one.ids.size]
        if pickable:
            self._points = (
                np.concatenate([one.x for one in pickable]),
                np.concatenate([one.y for one in pickable]),
                np.concatenate([one.ids for one in pickable]),
            )
        else:
            self._points = (np.empty(0), np.empty(0), np.empty(0, np.int64))
        self._link(chart)

    def _link(self, chart: ScatterChart) -> None:
        places = {int(one): place for place, one in enumerate(self._points[2].tolist())}
        pairs = [(places[a], places[b]) for a, b in chart.links if a in places and b in places]
        ends = np.array(pairs, np.int64).ravel()
        self._links.setPen(pg.mkPen(self._theme.tokens.border, width=1))
        self._links.setData(self._points[0][ends], self._points[1][ends])

    def _draw_series(self, series: Sequence[PointSeries]) -> None:
        clouds = [one for one in series if one.x.size > CLOUD_FROM and not _lined(one)]
        marks = [one for one in series if one.x.size <= CLOUD_FROM or _lined(one)]
        _fit(self, self._clouds, len(clouds), CloudItem)
        named = [one for one in marks if one.joined and one.labels]
        _fit(self, self._markers, len(marks) + len(named), MarkersItem)
        theme, depth = self._theme, {id(one): 12 + n * 0.1 for n, one in enumerate(series)}
        tokens = theme.tokens
        for cloud, one in zip(self._clouds, clouds, strict=True):
            cloud.setZValue(depth[id(one)])
            cloud.set_points(one.x, one.y, look_colour(tokens, one.look))
        self._name_curves(self._markers[len(marks) :], named)
        for item, one in zip(self._markers, marks, strict=False):
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
                joined=curve_style(one.look) if one.joined else None,
                labels=one.labels,
                font=theme.font("note", bold=one.emphasis),
            )

    def _name_curves(self, items: Sequence[MarkersItem], series: Sequence[PointSeries]) -> None:
        """Names beside curves, above all curves, each at a mark of its curve."""
        theme = self._theme
        for item, one in zip(items, series, strict=True):
            item.setZValue(19)
            colours = (look_colour(theme.tokens, one.look), theme.tokens.surface, theme.tokens.text)
            font = theme.font("note", bold=True)
            at = np.flatnonzero(np.array([bool(label) for label in one.labels]))
            labels = tuple(one.labels[place] for place in at.tolist())
            shape = MARKER[one.look]
            item.set_points(one.x[at], one.y[at], shape, 9.0, colours, labels=labels, font=font)

    def _clear_points(self) -> None:
        self._links.setData(np.empty(0), np.empty(0))
        _fit(self, self._clouds, 0, CloudItem)
        _fit(self, self._markers, 0, MarkersItem)

    def _name_categories(self, chart: BarChart) -> None:
        side = "left" if chart.horizontal else "bottom"
        metrics = QFontMetrics(self._theme.font("note"))
        measure, most = metrics.horizontalAdvance, MOST_LINES
        if chart.horizontal:
            slot = self.plotItem.vb.height() / max(1.0, len(chart.categories) + 0.2)
            most = min(most, max(1, int((slot - LINE_GAP) // metrics.height())))
            room = max(80, self.width() // 3)
            if any(measure(name) > room * most * 0.8 for name in chart.categories):
                room = max(room, self.width() * 9 // 20)
        else:
            wide = self.plotItem.vb.width() if self.plotItem.vb.width() > 1 else self.width() - 90
            slot = wide / max(1.0, len(chart.categories) + 0.2)
            # Lines do not follow the room inside the axes, which follows them.
            room = max(24, int((self.width() - 90) / (len(chart.categories) + 0.2)) - 2)
        if not chart.horizontal and not close_together(chart.categories, slot, measure):
            names = list(chart.categories)
        elif not chart.horizontal and len(chart.categories) > MANY_BARS:
            names = thinned(chart.categories, slot, measure)
        else:
            names = in_lines(chart.categories, room, most, metrics)
        if chart.horizontal and self.plotItem.vb.height() > 1:
            step = max(1, math.ceil(metrics.height() / max(slot, 1.0)))
            names = [name if place % step == 0 else "" for place, name in enumerate(names)]
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
        return pixel_of(self.plotItem.vb, self._points[0], self._points[1])

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
        if key in _DIRECTION and event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self._tell_limit(self._lines.step(*_DIRECTION[key]) if self.movable else None)
            event.accept()
        elif key in _DIRECTION or key in _ORDER:
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
        """A click pins the nearest point, or takes hold of the limit line."""
        left = event.button() is Qt.MouseButton.LeftButton
        found = self.nearest(event.position(), PICK_PIXELS) if left else None
        self._pressed = None
        if left and self.movable and self._lines.take(event.position()):
            self.setFocus(Qt.FocusReason.MouseFocusReason)
            if found is not None and not isinstance(self._chart, BarChart):
                self._pressed = event.position(), found
        elif found is not None:
            self._pick(found)
        event.accept()

    def _pick(self, point: int) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        self.choose(point)
        self.selected.emit(point)
        self.pinned.emit(point)

    def _drags(self, place: QPointF) -> bool:
        """Whether a press on the line has become a move, which a click on a point never is."""
        if self._pressed is not None:
            way = (place - self._pressed[0]).toPoint().manhattanLength()
            if way >= QApplication.startDragDistance():
                self._pressed = None
        return self._pressed is None

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Let go of the limit line; a click on a point that lies under it chooses the point."""
        held, pressed, self._pressed = self._lines.held, self._pressed, None
        if pressed is not None:
            self._lines.drop()
            self._pick(pressed[1])
            event.accept()
            return
        if held is not None:
            self._lines.drop()
            bars = self._chart if isinstance(self._chart, BarChart) else None
            shown, self._waiting = self._waiting or bars, None
            if shown is not None:
                self.show_chart(shown)
        event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Tell over which point the pointer is; move the limit line."""
        if self._lines.held is not None:
            if not self._drags(event.position()):
                return
            self._tell_limit(self._lines.drag(event.position()))
            event.accept()
            return
        shapes = Qt.CursorShape.SplitVCursor, Qt.CursorShape.SplitHCursor
        over = self._lines.at(event.position()) if self.movable else None
        self.setCursor(Qt.CursorShape.ArrowCursor if over is None else shapes[over.upright])
        point = self.nearest(event.position(), HOVER_PIXELS)
        if point is not None and not isinstance(self._chart, BarChart):
            self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._hover(point)
        event.accept()

    # -- the limit line

    def line_place(self, *, upright: bool | None = None) -> QPoint | None:
        """A place on a limit line in pixels, for anyone who takes hold of it; None without one."""
        return self._lines.place(upright=upright)

    def _tell_limit(self, moved: tuple[str, float] | None) -> None:
        if moved is not None:
            self.limitMoved.emit(*moved)

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
        surface.remove(items.pop())
    while len(items) < count:
        items.append(kind())
        surface.add(items[-1])


def _lined(one: PointSeries) -> bool:
    return one.stepped or one.joined
