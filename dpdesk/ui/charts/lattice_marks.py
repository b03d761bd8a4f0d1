"""Painting a lattice: marks filled by their error, lines between them, and the key below."""

from __future__ import annotations

import math
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen

from dpdesk.core.charts import CuboidNode, LatticeChart
from dpdesk.core.cuboid_choice import CuboidStatus
from dpdesk.core.parameters import plain_number
from dpdesk.ui.theme import Theme
from dpdesk.ui.words.numbers import figure_words
from dpdesk.ui.words.spoken import said

translate = QCoreApplication.translate
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
