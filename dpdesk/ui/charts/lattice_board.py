"""The picture of a lattice: click, hover and keys on its cuboids."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

from PySide6.QtCore import (
    QCoreApplication,
    QEvent,
    QLineF,
    QPoint,
    QPointF,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFocusEvent,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QWidget

from dpdesk.core.charts import Chart, CuboidNode, LatticeChart, LatticeLayout, LatticeRow, arrange
from dpdesk.core.cube_parameters import CuboidStatus
from dpdesk.core.parameters import plain_number
from dpdesk.ui.theme import SPACE, Theme
from dpdesk.ui.words.numbers import figure_words
from dpdesk.ui.words.spoken import said, table_words

PUBLISHED, OTHER = 0.4, 0.26
BADGE_FROM = 20.0
SWATCH = 34


@dataclass(frozen=True)
class MarkStyle:
    """What marks are painted with."""

    theme: Theme
    chart: LatticeChart
    edge: float

    @property
    def pens(self) -> tuple[QColor, QColor]:
        """Rims of published and of other cuboids."""
        tokens = self.theme.tokens
        return QColor(tokens.text), QColor(tokens.border)


def draw_mark(painter: QPainter, style: MarkStyle, node: CuboidNode, spot: QPointF) -> None:
    """One cuboid: a square with noise of its own, else a disc; small where not published."""
    tokens = style.theme.tokens
    published = node.standing is CuboidStatus.PUBLISHED
    half = style.edge * (PUBLISHED if published else OTHER)
    rim = style.pens[0] if published else style.pens[1]
    place = None if node.exact else style.chart.error_class(node.width)
    painter.setBrush(QColor(tokens.surface if place is None else tokens.ramp[place]))
    unknown = place is None and not node.exact
    dashed = Qt.PenStyle.DotLine if unknown else Qt.PenStyle.SolidLine
    painter.setPen(QPen(rim, 1.5 if published else 1.0, dashed))
    box = QRectF(spot.x() - half, spot.y() - half, 2 * half, 2 * half)
    if node.noisy:
        painter.drawRect(box)
    else:
        painter.drawEllipse(box)
    if node.exact:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        inset = half * 0.35
        painter.drawEllipse(box.adjusted(inset, inset, -inset, -inset))
    if node.standing is CuboidStatus.FORBIDDEN:
        reach = 1.4 * half
        painter.setPen(QPen(QColor(tokens.text), 2))
        painter.drawLine(
            QLineF(spot.x() - reach, spot.y() + reach, spot.x() + reach, spot.y() - reach)
        )
    if published and node.weight != 1:
        _draw_badge(painter, style, f"×{plain_number(node.weight)}", box)


def _draw_badge(painter: QPainter, style: MarkStyle, text: str, box: QRectF) -> None:
    """The weight at the upper right corner; a corner alone where there is no room for it."""
    tokens = style.theme.tokens
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(tokens.accent))
    if style.edge < BADGE_FROM:
        side = max(4.0, box.width() * 0.4)
        painter.drawRect(QRectF(box.right() - side / 2, box.top() - side / 2, side, side))
        return
    font = style.theme.font("note", bold=True)
    font.setPointSizeF(font.pointSizeF() * 0.8)
    metrics = QFontMetricsF(font)
    wide, high = metrics.horizontalAdvance(text) + 6, metrics.height()
    place = QRectF(box.right() - wide * 0.4, box.top() - high * 0.55, wide, high)
    painter.drawRoundedRect(place, 3, 3)
    painter.setPen(QColor(tokens.on_accent))
    painter.setFont(font)
    painter.drawText(place, Qt.AlignmentFlag.AlignCenter, text)


def draw_ring(painter: QPainter, style: MarkStyle, spot: QPointF, *, focused: bool) -> None:
    """The mark of the chosen cuboid; stronger while keys go to it."""
    half = style.edge * 0.5
    box = QRectF(spot.x() - half, spot.y() - half, 2 * half, 2 * half)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(QColor(style.theme.tokens.accent), 3 if focused else 2))
    painter.drawRoundedRect(box, 4, 4)


def draw_words(
    painter: QPainter, style: MarkStyle, words: str, node: CuboidNode, box: QRectF
) -> None:
    """Name and ± beside a mark, where there is room for them."""
    tokens, font = style.theme.tokens, style.theme.font("note")
    metrics = QFontMetricsF(font)
    painter.setFont(font)
    name = metrics.elidedText(words, Qt.TextElideMode.ElideRight, box.width())
    error = error_words(node)
    wide = max(map(metrics.horizontalAdvance, (name, error)))
    ground = QColor(tokens.surface)
    ground.setAlpha(215)  # lines must not cross what is read
    high = 2 * metrics.height()
    painter.fillRect(QRectF(box.left() - 2, box.center().y() - high / 2, wide + 4, high), ground)
    published = node.standing is CuboidStatus.PUBLISHED
    painter.setPen(QColor(tokens.text if published else tokens.muted))
    middle = box.center().y()
    left = Qt.AlignmentFlag.AlignLeft
    upper = QRectF(box.left(), middle - metrics.height(), box.width(), metrics.height())
    painter.drawText(upper, left | Qt.AlignmentFlag.AlignVCenter, name)
    painter.setPen(QColor(tokens.muted))
    lower = upper.translated(0, metrics.height())
    painter.drawText(lower, left | Qt.AlignmentFlag.AlignVCenter, error)


def error_words(node: CuboidNode) -> str:
    """A ± in few characters; a dash where it is not known."""
    width = node.width
    if node.exact:
        return translate("Lattice", "exact")
    if width is None:
        return "± –"
    return f"± {short_number(width)}" if math.isfinite(width) else "± –"


def short_number(value: float) -> str:
    """Two digits that matter, grouped."""
    if value < 1_000:
        return figure_words(float(f"{value:.2g}"), "number")
    return figure_words(float(f"{value:.3g}"), "count")


def key_height(theme: Theme, chart: LatticeChart, width: float) -> int:
    """Pixels that the key needs in this width."""
    metrics = QFontMetricsF(theme.font("note"))
    lines = max(line for line, _ in _spots(chart, metrics, width)) + 1
    return round((2.4 + lines) * metrics.height() + 8)


def draw_key(painter: QPainter, theme: Theme, chart: LatticeChart, box: QRectF) -> None:
    """Error classes with their bounds, and what shapes and sizes mean."""
    font = theme.font("note")
    metrics = QFontMetricsF(font)
    painter.setFont(font)
    high = metrics.height()
    words = translate("Lattice", "± of the cells ({unit})").format(unit=said(chart.unit))
    if chart.budget_words:
        words = translate("Lattice", "± at {budget} ({unit})").format(
            unit=said(chart.unit), budget=chart.budget_words
        )
    painter.setPen(QColor(theme.tokens.muted))
    painter.drawText(QPointF(box.left(), box.top() + metrics.ascent()), words)
    start = box.left() + metrics.horizontalAdvance(words) + 24
    _draw_ramp(painter, theme, chart, QPointF(start, box.top()), box.right() - 16)
    top = box.top() + 2.2 * high
    for (line, x), (mark, text) in zip(
        _spots(chart, metrics, box.width()), _meanings(chart), strict=True
    ):
        y = top + line * high
        painter.setPen(QPen(QColor(theme.tokens.text), 1.2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        _draw_sign(painter, mark, QPointF(box.left() + x + 7, y + high / 2))
        painter.setPen(QColor(theme.tokens.text))
        painter.drawText(QPointF(box.left() + x + 18, y + metrics.ascent()), text)


def _spots(chart: LatticeChart, metrics: QFontMetricsF, width: float) -> list[tuple[int, float]]:
    """Line and left edge of each meaning, broken into lines."""
    found: list[tuple[int, float]] = []
    line, x = 0, 0.0
    for _, text in _meanings(chart):
        wide = metrics.horizontalAdvance(text) + 20
        if x and x + wide > width:
            line, x = line + 1, 0.0
        found.append((line, x))
        x += wide + 18
    return found


def _draw_ramp(
    painter: QPainter, theme: Theme, chart: LatticeChart, start: QPointF, right: float
) -> None:
    metrics = QFontMetricsF(painter.font())
    high = metrics.height() * 0.8
    if not chart.ramp:
        painter.drawText(
            QPointF(start.x(), start.y() + metrics.ascent()), translate("Lattice", "not planned")
        )
        return
    classes = len(chart.ramp) - 1
    wide = min(float(SWATCH), max(10.0, (right - start.x()) / classes))
    for place in range(classes):
        painter.setPen(QPen(QColor(theme.tokens.border), 1))
        painter.setBrush(QColor(theme.tokens.ramp[place]))
        painter.drawRect(QRectF(start.x() + place * wide, start.y() + 1, wide, high))
    painter.setPen(QColor(theme.tokens.muted))
    for place in (0, classes // 2, classes) if classes > 1 else (0,):
        text = short_number(chart.ramp[place])
        x = start.x() + place * wide - metrics.horizontalAdvance(text) / 2
        painter.drawText(QPointF(x, start.y() + high + metrics.ascent() + 2), text)


def _meanings(chart: LatticeChart) -> tuple[tuple[str, str], ...]:
    exact = (("twice", translate("Lattice", "without noise")),) if chart.exact else ()
    return (
        ("square", translate("Lattice", "noise of its own")),
        ("disc", translate("Lattice", "computed")),
        *exact,
        ("small", translate("Lattice", "not published")),
        ("struck", translate("Lattice", "forbidden")),
    )


def _draw_sign(painter: QPainter, mark: str, spot: QPointF) -> None:
    half = 3.5 if mark in ("small", "struck") else 5.5
    box = QRectF(spot.x() - half, spot.y() - half, 2 * half, 2 * half)
    if mark == "square":
        painter.drawRect(box)
    else:
        painter.drawEllipse(box)
    if mark == "twice":
        painter.drawEllipse(box.adjusted(3, 3, -3, -3))
    if mark == "struck":
        painter.drawLine(QLineF(spot.x() - 6, spot.y() + 6, spot.x() + 6, spot.y() - 6))


def beside(layout: LatticeLayout, chosen: int, steps: int) -> int | None:
    """The cuboid some places further in the same row; None beyond its ends."""
    row = next((one.cuboids for one in layout.rows if chosen in one.cuboids), ())
    place = row.index(chosen) + steps if row else -1
    return row[place] if 0 <= place < len(row) else None


def end_of_row(layout: LatticeLayout, chosen: int, *, last: bool) -> int | None:
    """The first or last cuboid of the row."""
    row = next((one.cuboids for one in layout.rows if chosen in one.cuboids), ())
    return (row[-1] if last else row[0]) if row else None


def along(layout: LatticeLayout, chosen: int, *, finer: bool) -> int | None:
    """The nearest drawn cuboid with one dimension more (``finer``) or less, sharing the rest."""
    here = layout.places.get(chosen)
    if here is None:
        return None
    step = 1 if finer else -1
    linked = [
        one
        for one in layout.places
        if one.bit_count() - chosen.bit_count() == step
        and not (chosen & ~one if finer else one & ~chosen)
    ]
    if not linked:
        return None
    return min(linked, key=lambda one: (abs(layout.places[one][0] - here[0]), one))


def in_order(layout: LatticeLayout, chosen: int, steps: int) -> int | None:
    """The next or previous cuboid, row after row, so that none is out of reach."""
    every = [one for row in layout.rows for one in row.cuboids]
    if chosen not in every:
        return every[0] if every else None
    return every[min(max(every.index(chosen) + steps, 0), len(every) - 1)]


translate = QCoreApplication.translate
PUBLISH, AVOID, HEAVIER, LIGHTER = "publish", "avoid", "heavier", "lighter"
EXACTLY = "exactly"
_ACTS = {
    Qt.Key.Key_Space: PUBLISH,
    Qt.Key.Key_Delete: AVOID,
    Qt.Key.Key_Backspace: AVOID,
    Qt.Key.Key_E: EXACTLY,
    Qt.Key.Key_Plus: HEAVIER,
    Qt.Key.Key_Equal: HEAVIER,
    Qt.Key.Key_Minus: LIGHTER,
}
_WALKS: dict[Qt.Key, Callable[[LatticeLayout, int], int | None]] = {
    Qt.Key.Key_Left: lambda layout, at: beside(layout, at, -1),
    Qt.Key.Key_Right: lambda layout, at: beside(layout, at, 1),
    Qt.Key.Key_Up: lambda layout, at: along(layout, at, finer=False),
    Qt.Key.Key_Down: lambda layout, at: along(layout, at, finer=True),
    Qt.Key.Key_Home: lambda layout, at: end_of_row(layout, at, last=False),
    Qt.Key.Key_End: lambda layout, at: end_of_row(layout, at, last=True),
    Qt.Key.Key_PageUp: lambda layout, at: in_order(layout, at, -1),
    Qt.Key.Key_PageDown: lambda layout, at: in_order(layout, at, 1),
}
ALL_LINES = 20
MOST_LINES = 8
WORDS_EMS = 9


class LatticeBoard(QWidget):
    """Draws one lattice at a time; what is done to a cuboid is only told, never done here.

    ``selected(int)`` the marked cuboid moved; ``pinned(int)`` Enter was pressed on it;
    ``hovered(int)`` the pointer is over one (-1: none); ``acted(str)`` one of :data:`PUBLISH`,
    :data:`AVOID`, :data:`EXACTLY`, :data:`HEAVIER`, :data:`LIGHTER` was asked for the marked one,
    by key or a double click; ``menuAsked(QPoint)`` its menu was.
    """

    pinned = Signal(int)
    selected = Signal(int)
    hovered = Signal(int)
    limitMoved = Signal(str, float)
    acted = Signal(str)
    menuAsked = Signal(QPoint)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._chart: LatticeChart | None = None
        self._layout = arrange((), 1, 1)
        self._area = QRectF()
        self._spots: dict[int, QPointF] = {}
        self._chosen: int | None = None
        self._over = -1
        self.movable = False
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setMinimumHeight(6 * theme.row)

    # -- what is shown

    def show_chart(self, chart: Chart) -> None:
        """Draw a lattice; the marked cuboid stays when it is still there."""
        if not isinstance(chart, LatticeChart):
            return
        old, self._chart = self._chart, chart
        same = old is not None and old.choice.dimensions == chart.choice.dimensions
        if self._chosen is None or not same:
            self._chosen = _first(chart)
        self._arrange()

    def restyle(self, theme: Theme) -> None:
        """Take over colours and sizes."""
        self._theme = theme
        self._arrange()

    @property
    def chart(self) -> LatticeChart | None:
        """The lattice on show."""
        return self._chart

    @property
    def chosen(self) -> int | None:
        """The marked cuboid."""
        return self._chosen

    @property
    def layout_(self) -> LatticeLayout:
        """Where the cuboids stand."""
        return self._layout

    def choose(self, number: int | None) -> None:
        """Mark a cuboid without announcing it."""
        if number is None or self._chart is None or number == self._chosen:
            return
        self._chosen = number
        if self._chart.whole:
            self.update()
        else:
            self._arrange()

    def position_of(self, number: int) -> tuple[float, float] | None:
        """Where a cuboid is drawn, in pixels; None when it is not."""
        if number not in self._layout.places:
            return None
        spot = self._spots[number]
        return spot.x(), spot.y()

    # -- geometry

    def _arrange(self) -> None:
        chart = self._chart
        if chart is not None:
            self._area = area = self._room(chart)
            drawn = chart.drawn(self._chosen or 0)
            words = 0 if chart.whole else self._theme.ems(WORDS_EMS)
            self._layout = arrange(drawn, area.width(), area.height(), words)
            self._spots = {
                one: self._spot_in(row, one) for row in self._layout.rows for one in row.cuboids
            }
        self.update()

    def _room(self, chart: LatticeChart) -> QRectF:
        """The room for marks, between the numbers at the left and the key below."""
        left = self._theme.ems(4)
        below = key_height(self._theme, chart, self.width())
        return QRectF(left, SPACE.s, max(1, self.width() - left), max(1, self.height() - below))

    def _worded(self, row: LatticeRow) -> bool:
        return row.pitch - self._layout.edge >= self._theme.ems(WORDS_EMS)

    def _spot_in(self, row: LatticeRow, cuboid: int) -> QPointF:
        x, y = self._layout.places[cuboid]
        area = self._area
        if self._worded(row):  # room for words at its right
            x -= (row.pitch - 1.2 * self._layout.edge) / 2
        return QPointF(area.left() + x, area.top() + y)

    def nearest(self, place: QPointF) -> int | None:
        """The cuboid at a place; None between them."""
        reach = self._layout.edge * 0.6
        best = None
        for cuboid in self._layout.places:
            away = QLineF(place, self._spots[cuboid]).length()
            if away <= reach:
                best, reach = cuboid, away
        return best

    # -- painting

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw everything."""
        chart = self._chart
        if chart is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._draw_rows(painter)
        self._draw_lines(painter, chart)
        style = MarkStyle(self._theme, chart, self._layout.edge)
        for row in self._layout.rows:
            worded = self._worded(row)
            for cuboid in row.cuboids:
                node, spot = chart.node(cuboid), self._spots[cuboid]
                draw_mark(painter, style, node, spot)
                if worded:
                    side = self._layout.edge * 0.6
                    room = row.pitch - 1.3 * self._layout.edge
                    box = QRectF(spot.x() + side, spot.y() - side, room, 2 * side)
                    draw_words(painter, style, self._called(chart, node), node, box)
        if self._chosen is not None and self._chosen in self._layout.places:
            draw_ring(painter, style, self._spots[self._chosen], focused=self.hasFocus())
        high = key_height(self._theme, chart, self.width()) - SPACE.s
        box = QRectF(0, self.height() - high, self.width(), high)
        draw_key(painter, self._theme, chart, box)

    def _called(self, chart: LatticeChart, node: CuboidNode) -> str:
        """The name of a cuboid, or by what it differs from the chosen one of a large lattice.

        Fine ones of a small lattice are called by what they lack.
        """
        chosen, lacking = self._chosen, ((1 << chart.dimensions) - 1) & ~node.cuboid
        if chart.whole and lacking.bit_count() < min(2, node.cuboid.bit_count() - 2):
            if not lacking:
                return translate("Lattice", "all {n} dimensions").format(n=chart.dimensions)
            return translate("Lattice", "all but {name}").format(
                name=table_words(chart.choice.name(lacking))
            )
        if chart.whole or chosen is None or node.cuboid == chosen:
            return table_words(node.name)
        sign = "+" if node.cuboid & ~chosen else "−"
        return f"{sign} {table_words(chart.choice.name(node.cuboid ^ chosen))}"

    def _draw_rows(self, painter: QPainter) -> None:
        area, tokens = self._area, self._theme.tokens
        painter.setFont(self._theme.font("note"))
        painter.setPen(QColor(tokens.muted))
        for row in self._layout.rows:
            middle = area.top() + (row.top + row.bottom) / 2
            box = QRectF(0, middle - 20, area.left() - SPACE.s, 40)
            centre = Qt.AlignmentFlag.AlignCenter
            painter.drawText(box, centre, f"{row.size}")

    def _draw_lines(self, painter: QPainter, chart: LatticeChart) -> None:
        places, tokens = self._layout.places, self._theme.tokens
        painter.setPen(QPen(QColor(tokens.hairline), 1))
        if len(places) <= ALL_LINES:
            for one, other in combinations(sorted(places, key=int.bit_count), 2):
                if not one & ~other and other.bit_count() - one.bit_count() == 1:
                    painter.drawLine(self._spots[one], self._spots[other])
        centre = self._over if self._over in places else self._chosen
        if centre is None or centre not in places:
            return
        painter.setPen(QPen(QColor(tokens.border), 1))
        for other in chart.around(centre):
            if other in places:
                painter.drawLine(self._spots[centre], self._spots[other])
        painter.setPen(QPen(QColor(tokens.accent), 1.5))
        for source in chart.sources(centre)[:MOST_LINES]:
            if source in places and source != centre:
                painter.drawLine(self._spots[centre], self._spots[source])

    # -- pointer and keys

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows walk, Space publishes, Delete forbids, E: exact, + - weigh, Enter looks behind."""
        key, plain = Qt.Key(event.key()), Qt.KeyboardModifier
        held = event.modifiers() & ~(plain.KeypadModifier | plain.ShiftModifier)
        if held or self._chosen is None:
            super().keyPressEvent(event)
        elif key in _WALKS:
            self._go(_WALKS[key](self._layout, self._chosen))
            event.accept()
        elif key in _ACTS:
            self.acted.emit(_ACTS[key])
            event.accept()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.pinned.emit(self._chosen)
            event.accept()
        else:
            super().keyPressEvent(event)

    def go(self, cuboid: int) -> None:
        """Mark a cuboid and announce it."""
        self._go(cuboid)

    def _go(self, cuboid: int | None) -> None:
        if cuboid is not None:
            self.choose(cuboid)
            self.selected.emit(cuboid)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click marks the cuboid."""
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        self._go(self.nearest(event.position()))
        event.accept()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """A double click publishes the cuboid, or no longer."""
        if self.nearest(event.position()) == self._chosen and self._chosen is not None:
            self.acted.emit(PUBLISH)
        event.accept()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """What can be done to the cuboid, at the pointer or beside the marked one."""
        place = event.pos()
        if event.reason() is QContextMenuEvent.Reason.Keyboard and self._chosen is not None:
            place = self._spots[self._chosen].toPoint()
        self.menuAsked.emit(self.mapToGlobal(place))
        event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Tell over which cuboid the pointer is."""
        self._hover(self.nearest(event.position()))
        event.accept()

    def leaveEvent(self, event: QEvent) -> None:
        """The pointer is over nothing."""
        self._hover(None)
        super().leaveEvent(event)

    def _hover(self, found: int | None) -> None:
        number = -1 if found is None else found
        if number != self._over:
            self._over = number
            self.setCursor(
                Qt.CursorShape.ArrowCursor if number < 0 else Qt.CursorShape.PointingHandCursor
            )
            self.update()
            self.hovered.emit(number)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show where the keys go."""
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Keys go elsewhere."""
        super().focusOutEvent(event)
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Use the room that is there now."""
        super().resizeEvent(event)
        self._arrange()

    def sizeHint(self) -> QSize:
        """Enough to be read."""
        return QSize(360, 260)


def _first(chart: LatticeChart) -> int:
    """The least exact published cuboid; the grand total where nothing is known."""
    known = [
        (node.width, cuboid)
        for cuboid in chart.listed
        if (node := chart.node(cuboid)).standing is CuboidStatus.PUBLISHED
        and node.width is not None
    ]
    return max(known)[1] if known and chart.whole else 0
