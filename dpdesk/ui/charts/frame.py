"""The frame of a plot: two axes, gridlines, and a plane that holds the items.

Everything is painted by the widget itself, in the main thread: no graphics scene, and no plotting
library that would have to be imported while the window is in use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QMarginsF, QPointF, QRectF, Qt
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QTransform,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from dpdesk.ui.charts.axes import NumberAxis, Tick
from dpdesk.ui.theme import Theme

if TYPE_CHECKING:
    from dpdesk.ui.charts.items import PixelItem

MARGINS = QMarginsF(6, 10, 10, 6)
RING = 2
GAP_LEFT, GAP_BELOW, GAP_LABEL = 5.0, 2.0, 3.0
LEAST = 1.0


class PlotFrame(QWidget):
    """``left`` and ``bottom`` are the axes, ``plane`` is where the data are, in widget pixels.

    After a change of an axis call :meth:`rearrange`.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.left, self.bottom = NumberAxis(flat=False), NumberAxis(flat=True)
        self._theme = theme
        self._items: list[PixelItem] = []
        self._x, self._y, self._downwards = (0.0, 1.0), (0.0, 1.0), False
        self._plane: QRectF | None = None
        self._ticks: tuple[list[Tick], list[Tick]] = ([], [])

    # -- what is inside

    def add(self, item: PixelItem) -> None:
        """Draw this, too; greater depths cover smaller ones."""
        item.plot = self
        self._items.append(item)
        self.update()

    def remove(self, item: PixelItem) -> None:
        """Draw it no longer."""
        item.plot = None
        self._items.remove(item)
        self.update()

    def set_ranges(
        self, x: tuple[float, float], y: tuple[float, float], *, downwards: bool = False
    ) -> None:
        """Values at the edges, low and high; ``downwards``: low values of y lie above."""
        self._x, self._y, self._downwards = x, y, downwards
        self.rearrange()

    def rearrange(self) -> None:
        """Measure the axes again before the next paint."""
        self._plane = None
        self.update()

    # -- places

    @property
    def plane(self) -> QRectF:
        """The part of the widget between the axes, in its pixels."""
        if self._plane is None:
            self._plane = self._arranged()
        return self._plane

    @property
    def view(self) -> QRectF:
        """The part of the plane of values that is seen."""
        (left, right), (low, high) = self._x, self._y
        return QRectF(left, low, right - left, high - low)

    @property
    def to_pixels(self) -> QTransform:
        """From values to pixels of the widget."""
        plane, view = self.plane, self.view
        across, along = plane.width() / view.width(), plane.height() / view.height()
        start, end = plane.top(), plane.bottom()
        if self._downwards:
            return QTransform(
                across,
                0,
                0,
                along,
                plane.left() - across * view.left(),
                start - along * view.top(),
            )
        return QTransform(
            across, 0, 0, -along, plane.left() - across * view.left(), end + along * view.top()
        )

    def _arranged(self) -> QRectF:
        """Give each axis the room that its texts need."""
        metrics = QFontMetricsF(self._theme.font("note"))
        place = QRectF(self.rect()).marginsRemoved(MARGINS)
        below = metrics.height() + GAP_BELOW
        if self.bottom.label:
            below += metrics.height() + GAP_LABEL
        high = max(LEAST, place.height() - below)
        ticks = self.left.ticks(*self._y, high)
        widest = max((metrics.horizontalAdvance(tick.text) for tick in ticks), default=0.0)
        wide = max(LEAST, place.width() - widest - GAP_LEFT)
        self._ticks = (ticks, self.bottom.ticks(*self._x, wide))
        return QRectF(place.left() + widest + GAP_LEFT, place.top(), wide, high)

    # -- painting

    def restyle(self, theme: Theme) -> None:
        """Take over colours and sizes."""
        self._theme = theme
        self.left.font = self.bottom.font = theme.font("note")
        self.rearrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another size holds another number of ticks."""
        super().resizeEvent(event)
        self._plane = None

    def paintEvent(self, event: QPaintEvent) -> None:
        """Ground, axes, items in the order of their depth, and the ring of the focus."""
        tokens, painter = self._theme.tokens, QPainter(self)
        painter.fillRect(self.rect(), QColor(tokens.surface))
        painter.setFont(self._theme.font("note"))
        plane, to_pixels = self.plane, self.to_pixels
        self._paint_axes(painter, plane, to_pixels)
        for item in sorted(self._items, key=lambda each: each.depth):
            painter.save()
            painter.setClipRect(plane)
            item.draw(painter, to_pixels)
            painter.restore()
        if self.hasFocus():
            inset = RING / 2
            painter.setPen(QPen(QColor(tokens.accent), RING))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(QRectF(self.rect()).adjusted(inset, inset, -inset, -inset))
        painter.end()

    def _paint_axes(self, painter: QPainter, plane: QRectF, to_pixels: QTransform) -> None:
        tokens = self._theme.tokens
        upright = [(to_pixels.map(QPointF(0, tick.at)).y(), tick) for tick in self._ticks[0]]
        flat = [(to_pixels.map(QPointF(tick.at, 0)).x(), tick) for tick in self._ticks[1]]
        painter.setPen(QPen(QColor(tokens.hairline), 1))
        for y, _ in upright if self.left.grid else ():
            painter.drawLine(QPointF(plane.left(), y), QPointF(plane.right(), y))
        for x, _ in flat if self.bottom.grid else ():
            painter.drawLine(QPointF(x, plane.top()), QPointF(x, plane.bottom()))
        painter.setPen(QPen(QColor(tokens.border), 1))
        painter.drawLine(plane.topLeft(), plane.bottomLeft())
        painter.drawLine(plane.bottomLeft(), plane.bottomRight())
        painter.setPen(QColor(tokens.muted))
        self._paint_texts(painter, plane, upright, flat)

    def _paint_texts(
        self,
        painter: QPainter,
        plane: QRectF,
        upright: list[tuple[float, Tick]],
        flat: list[tuple[float, Tick]],
    ) -> None:
        metrics = QFontMetricsF(self._theme.font("note"))
        high, right = metrics.height(), plane.left() - GAP_LEFT
        for y, tick in upright:
            place = QRectF(RING, y - high / 2, right - RING, high)
            painter.drawText(place, _RIGHT, tick.text)
        top = plane.bottom() + GAP_BELOW
        for x, tick in flat:
            wide = metrics.horizontalAdvance(tick.text)
            left = max(RING, min(x - wide / 2, self.width() - RING - wide))
            painter.drawText(QRectF(left, top, wide, high), _MIDDLE, tick.text)
        if self.bottom.label:
            text = metrics.elidedText(self.bottom.label, Qt.TextElideMode.ElideRight, plane.width())
            place = QRectF(plane.left(), top + high + GAP_LABEL, plane.width(), high)
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, text)


_MIDDLE = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextDontClip
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextDontClip
