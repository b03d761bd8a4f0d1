"""What is drawn inside the axes: bars, clouds of points, markers, steps and limit lines.

Everything here paints in whole pixels of the widget, not in data units: pens stay thin, hatching
stays regular, text stays upright, whatever the scale of the axes.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QCoreApplication, QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QFontMetrics,
    QFontMetricsF,
    QImage,
    QPainter,
    QPainterPath,
    QPen,
    QPolygonF,
    QTransform,
)

from dpdesk.core.charts import BarChart, BarSeries, SeriesStyle
from dpdesk.ui.charts.library import pg
from dpdesk.ui.theme import Theme, look_colour
from dpdesk.ui.words.numbers import bare_share, figure_words, marked, tied
from dpdesk.ui.words.spoken import inside

CAP = 4.0


def draw_whisker(
    painter: QPainter,
    colours: tuple[QColor, QColor],
    across: float,
    ends: tuple[float, float],
    transform: QTransform,
    *,
    lying: bool,
) -> None:
    """A line with caps from one value to the other, on a ground that parts it from its bar.

    ``across`` is where the bar's middle stands; colours are those of the line and of the ground.
    """
    first, last = (
        transform.map(QPointF(end, across) if lying else QPointF(across, end)) for end in ends
    )
    cap = QPointF(0, CAP) if lying else QPointF(CAP, 0)
    lines = [QLineF(first, last), *(QLineF(end - cap, end + cap) for end in (first, last))]
    for colour, width in ((colours[1], 4.0), (colours[0], 2.0)):
        painter.setPen(QPen(colour, width))
        painter.drawLines(lines)


Floats = NDArray[np.float64]
_NO_FLOATS: Floats = np.empty(0)
_BREAKS = " _-/,;"


class PixelItem(pg.GraphicsObject):  # type: ignore[misc]
    """An item that covers the whole view and paints in widget pixels."""

    def boundingRect(self) -> QRectF:
        """The visible part of the plane."""
        return QRectF(self.viewRect())

    def viewTransformChanged(self) -> None:
        """The axes moved: the covered part changed with them."""
        super().viewTransformChanged()  # forgets the view that it keeps
        self.prepareGeometryChange()
        self.update()

    def paint(self, painter: QPainter, *_: object) -> None:
        """Switch to pixels and draw."""
        transform = painter.transform()
        painter.save()
        painter.resetTransform()
        self.draw(painter, transform)
        painter.restore()

    def draw(self, painter: QPainter, transform: QTransform) -> None:
        """Draw in pixels; ``transform`` leads from data to pixels."""
        raise NotImplementedError


@dataclass(frozen=True)
class Bar:
    """One bar from ``low`` to ``high`` across its axis, ``value`` long; ``label`` at its end.

    The label stands beyond ``clear`` where another bar ends there. ``brief`` is a shorter one, for
    bars that stand close. A whisker reaches from ``begins`` to ``clear``; None: there is none.
    """

    low: float
    high: float
    value: float
    colour: str
    label: str = ""
    outline: bool = False
    hatched: bool = False
    clear: float = 0.0
    brief: str = ""
    begins: float | None = None


class BarsItem(PixelItem):
    """Bars, upright or lying, with value labels at their ends."""

    def __init__(self) -> None:
        super().__init__()
        self._bars: tuple[Bar, ...] = ()
        self._lying = False
        self._text, self._ground = QColor(), QColor()
        self._font = QFont()

    def set_bars(
        self, bars: Sequence[Bar], colours: tuple[str, str], font: QFont, *, lying: bool
    ) -> None:
        """Show these bars; colours are those of labels and of the ground below them."""
        self._bars, self._lying, self._font = tuple(bars), lying, font
        self._text, self._ground = QColor(colours[0]), QColor(colours[1])
        self._ground.setAlpha(200)
        self.update()

    @property
    def bars(self) -> tuple[Bar, ...]:
        """The bars on show."""
        return self._bars

    def draw(self, painter: QPainter, transform: QTransform) -> None:
        """Fills first, then outlines over them, then labels."""
        painter.setFont(self._font)
        rects = [(bar, self._rect(bar, transform)) for bar in self._bars]
        for bar, rect in sorted(rects, key=lambda pair: pair[0].outline):
            self._draw_bar(painter, bar, rect)
        for bar in self._bars:
            if bar.begins is not None and bar.begins < bar.clear:
                middle, ends = (bar.low + bar.high) / 2, (bar.begins, bar.clear)
                colours = self._text, self._ground
                draw_whisker(painter, colours, middle, ends, transform, lying=self._lying)
        painter.setPen(self._text)
        view = transform.mapRect(QRectF(self.viewRect()))
        for bar, place in self._labels(self._folded(transform), view):
            painter.fillRect(place, self._ground)
            flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextDontClip
            painter.drawText(place, flags, bar.label)

    def _folded(self, transform: QTransform) -> list[tuple[Bar, QRectF]]:
        """Bars as their labels see them: in two lines, or briefly, where one is too long."""
        metrics, room = QFontMetricsF(self._font), abs(transform.m11()) - 6
        labels = [bar.label for bar in self._bars]
        if not self._lying:
            brief = [bar.brief or bar.label for bar in self._bars]
            ways = (labels, brief, [_in_two_lines(text) for text in brief])
            labels = next((way for way in ways if _widest(way, metrics) <= room), ways[-1])
        found = []
        for bar, label in zip(self._bars, labels, strict=True):
            ends = replace(bar, value=max(bar.value, bar.clear))
            found.append((replace(bar, label=label), self._rect(ends, transform)))
        return found

    def _labels(self, ends: Sequence[tuple[Bar, QRectF]], view: QRectF) -> list[tuple[Bar, QRectF]]:
        """All labels, else brief ones, else those of the longest bars of all groups.

        Where not even these have room, the longest bar's alone: what is left out is told by the
        table, and below the plot. Never those of some bars that happen to have room.
        """
        named = [(bar, rect) for bar, rect in ends if bar.label]
        short = [(replace(bar, label=bar.brief or bar.label), rect) for bar, rect in named]
        longest: dict[int, tuple[Bar, QRectF]] = {}
        for bar, rect in short:
            group = round((bar.low + bar.high) / 2)
            if group not in longest or longest[group][0].value < bar.value:
                longest[group] = bar, rect
        for way in (named, short, list(longest.values())):
            placed = [(bar, self._label_place(bar, rect, view)) for bar, rect in way]
            if not any(
                one.intersects(other) for (_, one), (_, other) in itertools.combinations(placed, 2)
            ):
                return placed
        bar, rect = max(named, key=lambda pair: pair[0].value)
        return [(bar, self._label_place(bar, rect, view))]

    def _rect(self, bar: Bar, transform: QTransform) -> QRectF:
        if self._lying:
            first, last = QPointF(0, bar.low), QPointF(bar.value, bar.high)
        else:
            first, last = QPointF(bar.low, 0), QPointF(bar.high, bar.value)
        rect = QRectF(transform.map(first), transform.map(last)).normalized()
        least = 2 if bar.value > 0 else 0
        wide, high = round(rect.width()), round(rect.height())
        if self._lying:
            wide = max(wide, least)
        else:
            high = max(high, least)
        top = rect.bottom() - high
        return QRectF(round(rect.left()) + 0.5, round(top) + 0.5, wide, high)

    @staticmethod
    def _draw_bar(painter: QPainter, bar: Bar, rect: QRectF) -> None:
        colour = QColor(bar.colour)
        if bar.value <= 0:
            return
        if bar.outline:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(colour, 2))
            painter.drawRect(rect)
            return
        if not bar.hatched:
            painter.fillRect(rect, colour)
            return
        ground = QColor(colour)
        ground.setAlpha(46)
        painter.fillRect(rect, ground)
        painter.setBrush(QBrush(colour, Qt.BrushStyle.BDiagPattern))
        painter.setPen(QPen(colour, 1))
        painter.drawRect(rect)

    def _label_place(self, bar: Bar, rect: QRectF, view: QRectF) -> QRectF:
        metrics = QFontMetricsF(self._font)
        lines = bar.label.split("\n")
        width = max(map(metrics.horizontalAdvance, lines)) + 2
        height = metrics.height() * len(lines)
        if self._lying:
            height -= 3  # letters are lower than their line: bars may stand close
            return QRectF(rect.right() + 6, rect.center().y() - height / 2, width, height)
        left = max(view.left(), min(rect.center().x() - width / 2, view.right() - width))
        return QRectF(left, rect.top() - height - 2, width, height)


def _in_two_lines(label: str) -> str:
    """Before and after, or a value and the most that it may be, below each other."""
    if " → " in label:
        return label.replace(" → ", " →\n")
    return label if label.endswith("%") else "\n".join(label.rsplit(" ", 1))


def _widest(texts: Sequence[str], metrics: QFontMetricsF) -> float:
    lines = (line for text in texts for line in text.split("\n"))
    return max(map(metrics.horizontalAdvance, lines), default=0.0)


class LineItem(PixelItem):
    """A straight dashed line across the view at one position, with a label."""

    def __init__(self) -> None:
        super().__init__()
        self._position: float | None = None
        self._upright = True
        self._label = ""
        self._colour, self._ground = QColor(), QColor()
        self._font = QFont()

    def set_line(
        self,
        position: float | None,
        label: str,
        colours: tuple[str, str],
        font: QFont,
        *,
        upright: bool,
    ) -> None:
        """Stand at this position (None: nowhere); colours are those of the line and its ground."""
        self._position, self._label, self._upright = position, label, upright
        self._colour, self._ground = QColor(colours[0]), QColor(colours[1])
        self._font = font
        self.update()

    def draw(self, painter: QPainter, transform: QTransform) -> None:
        """The line, then its label on a ground that hides what is behind."""
        if self._position is None:
            return
        view = transform.mapRect(QRectF(self.viewRect()))
        at = transform.map(QPointF(self._position, self._position))
        painter.setPen(QPen(self._colour, 1.5, Qt.PenStyle.DashLine))
        metrics = QFontMetricsF(self._font)
        size = metrics.boundingRect(self._label).size()
        if self._upright:
            x = round(at.x()) + 0.5
            painter.drawLine(QPointF(x, view.top()), QPointF(x, view.bottom()))
            left = x + 6 if x + size.width() + 12 < view.right() else x - size.width() - 14
            place = QRectF(left, view.top() + 2, size.width() + 8, metrics.height())
        else:
            y = round(at.y()) + 0.5
            painter.drawLine(QPointF(view.left(), y), QPointF(view.right(), y))
            above = y - metrics.height() - 2
            top = above if above > view.top() else y + 2
            # Points crowd at the right of a limit; the left below a front is empty.
            place = QRectF(view.left() + 6, top, size.width() + 8, metrics.height())
        if self._label:
            painter.fillRect(place, self._ground)
            painter.setFont(self._font)
            painter.setPen(self._colour)
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, self._label)


class CloudItem(PixelItem):
    """Very many points: counted per pixel and drawn as one picture, darker where more lie.

    The cost of a repaint hardly grows with the number of points; the picture is kept until the
    points, the axes or the size change.
    """

    def __init__(self) -> None:
        super().__init__()
        self._x, self._y = _NO_FLOATS, _NO_FLOATS
        self._colour = QColor()
        self._diameter = 5
        self._kept: tuple[object, QImage] | None = None

    def set_points(self, x: Floats, y: Floats, colour: str, diameter: int = 5) -> None:
        """Show these points (finite values only)."""
        self._x, self._y = x, y
        self._colour, self._diameter = QColor(colour), diameter
        self._kept = None
        self.update()

    def draw(self, painter: QPainter, transform: QTransform) -> None:
        """Draw the picture, made anew when something changed."""
        if self._x.size == 0:
            return
        view = transform.mapRect(QRectF(self.viewRect())).toAlignedRect()
        device = painter.device()
        ratio = device.devicePixelRatio() if device is not None else 1.0
        key = (transform.m11(), transform.m22(), transform.dx(), transform.dy(), view.size(), ratio)
        if self._kept is None or self._kept[0] != key:
            columns = (self._x * transform.m11() + transform.dx() - view.left()) * ratio
            rows = (self._y * transform.m22() + transform.dy() - view.top()) * ratio
            size = (round(view.width() * ratio), round(view.height() * ratio))
            image = self._picture(columns, rows, size, ratio)
            image.setDevicePixelRatio(ratio)
            self._kept = (key, image)
        painter.drawImage(QPointF(view.topLeft()), self._kept[1])

    def _picture(
        self, columns: Floats, rows: Floats, size: tuple[int, int], ratio: float
    ) -> QImage:
        width, height = size
        radius = self._diameter * ratio / 2
        reach = int(np.ceil(radius))
        # A margin on all sides takes the stamps of points near the edge.
        wide, high = width + 2 * reach, height + 2 * reach
        at_x, at_y = np.round(columns).astype(np.int64), np.round(rows).astype(np.int64)
        inside = (at_x >= 0) & (at_x < width) & (at_y >= 0) & (at_y < height)
        cells = (at_y[inside] + reach) * wide + at_x[inside] + reach
        counts = np.bincount(cells, minlength=wide * high).astype(np.int32)
        places = np.flatnonzero(counts)
        found = counts[places]
        total = np.zeros(wide * high, np.int32)
        for offset_y in range(-reach, reach + 1):
            for offset_x in range(-reach, reach + 1):
                if offset_x**2 + offset_y**2 <= radius**2:
                    # Each place occurs once, so adding by index loses nothing.
                    total[places + offset_y * wide + offset_x] += found
        image = QImage(wide, high, QImage.Format.Format_ARGB32_Premultiplied)
        pixels = np.frombuffer(image.bits(), np.uint32).reshape(high, wide)
        np.take(_shades(self._colour), np.minimum(total, 255).reshape(high, wide), out=pixels)
        return image.copy(reach, reach, width, height)


def _shades(colour: QColor) -> NDArray[np.uint32]:
    """Premultiplied ARGB for 0 to 255 points on a pixel: one is seen, many are opaque."""
    count = np.arange(256, dtype=np.float64)
    alpha = np.where(count > 0, np.minimum(1.0, 0.34 + 0.11 * np.log2(np.maximum(count, 1))), 0.0)
    shades = np.round(alpha * 255).astype(np.uint32) << 24
    for part, shift in ((colour.red(), 16), (colour.green(), 8), (colour.blue(), 0)):
        shades |= np.round(alpha * part).astype(np.uint32) << shift
    return shades.astype(np.uint32)


_DASHES = {
    SeriesStyle.SECOND: Qt.PenStyle.DashLine,
    SeriesStyle.THIRD: Qt.PenStyle.DotLine,
    SeriesStyle.FOURTH: Qt.PenStyle.DashDotLine,
}


def curve_style(look: SeriesStyle) -> Qt.PenStyle:
    """How the curve of a series is dashed, so that colour is not alone."""
    return _DASHES.get(look, Qt.PenStyle.SolidLine)


def marker_path(shape: str, size: float) -> QPainterPath:
    """The outline of a marker around (0, 0)."""
    path, half = QPainterPath(), size / 2
    if shape == "square":
        path.addRect(QRectF(-half * 0.88, -half * 0.88, size * 0.88, size * 0.88))
    elif shape == "diamond":
        corners = [(0, -half * 1.2), (half * 1.2, 0), (0, half * 1.2), (-half * 1.2, 0)]
        path.addPolygon(QPolygonF([QPointF(x, y) for x, y in corners]))
        path.closeSubpath()
    elif shape == "triangle":
        corners = [(0, -half * 1.1), (half * 1.1, half * 0.8), (-half * 1.1, half * 0.8)]
        path.addPolygon(QPolygonF([QPointF(x, y) for x, y in corners]))
        path.closeSubpath()
    elif shape == "cross":
        for x, y in ((half, half), (-half, half)):
            path.moveTo(-x, -y)
            path.lineTo(x, y)
    else:
        path.addEllipse(QPointF(0, 0), half, half)
    return path


class MarkersItem(PixelItem):
    """A few points as markers, optionally joined by steps, optionally with labels beside."""

    def __init__(self) -> None:
        super().__init__()
        self._x, self._y = _NO_FLOATS, _NO_FLOATS
        self._labels: tuple[str, ...] = ()
        self._shape, self._size = "disc", 7.0
        self._stepped = False
        self._joined: Qt.PenStyle | None = None
        self._colour, self._halo, self._text = QColor(), QColor(), QColor()
        self._font = QFont()

    def set_points(
        self,
        x: Floats,
        y: Floats,
        shape: str,
        size: float,
        colours: tuple[str, str, str],
        *,
        stepped: bool = False,
        joined: Qt.PenStyle | None = None,
        labels: tuple[str, ...] = (),
        font: QFont | None = None,
    ) -> None:
        """Show these points; colours are those of the marker, of its halo and of labels.

        ``joined`` draws a curve in this style instead of markers and labels, of several points.
        """
        self._x, self._y, self._shape, self._size = x, y, shape, size
        self._colour, self._halo, self._text = (QColor(colour) for colour in colours)
        self._stepped, self._joined, self._labels = stepped, joined, labels
        self._font = font or QFont()
        self.update()

    def draw(self, painter: QPainter, transform: QTransform) -> None:
        """Steps below, markers with a halo above, labels last."""
        if self._x.size == 0:
            return
        xs = self._x * transform.m11() + transform.dx()
        ys = self._y * transform.m22() + transform.dy()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        if self._stepped and xs.size > 1:
            self._draw_steps(painter, xs, ys)
        if self._joined is not None and xs.size > 1:
            painter.setPen(QPen(self._colour, 2, self._joined))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            places = zip(xs.tolist(), ys.tolist(), strict=True)
            painter.drawPolyline(QPolygonF([QPointF(x, y) for x, y in places]))
            return
        path = marker_path(self._shape, self._size)
        line_only = self._shape in ("cross", "ring")
        painter.setBrush(Qt.BrushStyle.NoBrush if line_only else self._colour)
        painter.setPen(QPen(self._colour, 2.2) if line_only else QPen(self._halo, 1.2))
        for x, y in zip(xs.tolist(), ys.tolist(), strict=True):
            painter.translate(x, y)
            painter.drawPath(path)
            painter.translate(-x, -y)
        self._draw_labels(painter, transform, xs, ys)

    def _draw_steps(self, painter: QPainter, xs: Floats, ys: Floats) -> None:
        corners_x = np.repeat(xs, 2)[1:]
        corners_y = np.repeat(ys, 2)[:-1]
        points = zip(np.round(corners_x).tolist(), np.round(corners_y).tolist(), strict=True)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(QPen(self._colour, 2))
        painter.drawPolyline(QPolygonF([QPointF(x, y) for x, y in points]))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)

    def _draw_labels(
        self, painter: QPainter, transform: QTransform, xs: Floats, ys: Floats
    ) -> None:
        if not self._labels:
            return
        view = transform.mapRect(QRectF(self.viewRect()))
        painter.setFont(self._font)
        painter.setPen(self._text)
        metrics, gap = QFontMetricsF(self._font), self._size / 2 + 5
        for label, x, y in zip(self._labels, xs.tolist(), ys.tolist(), strict=False):
            if not label:
                continue
            width = metrics.horizontalAdvance(label)
            left = x + gap if x + gap + width < view.right() else x - gap - width
            top = max(y - metrics.height() - self._size / 4, view.top())
            place = QRectF(left, top, width + 2, metrics.height())
            painter.fillRect(place.adjusted(-2, 0, 2, 0), self._halo)
            painter.drawText(place, 0, label)


def bars_top(chart: BarChart) -> float:
    """The value at which the axis ends at least."""
    if chart.value_axis.maximum is not None:
        return chart.value_axis.maximum
    values = itertools.chain.from_iterable(reaches(one) for one in chart.series)
    return max((value for value in values if value == value), default=0.0) or 1.0


def reaches(series: BarSeries) -> tuple[float, ...]:
    """How far each bar reaches, with its error."""
    if not series.errors:
        return series.values
    return tuple(v + error for v, error in zip(series.values, series.errors, strict=True))


def layout_bars(chart: BarChart, theme: Theme) -> list[Bar]:
    """All bars of a chart with their labels, in category units."""
    filled = [one for one in chart.series if not one.outline]
    group = 0.76
    inner = group - 0.12 if any(one.outline for one in chart.series) else group
    turns = _take_turns(filled)
    width = inner if turns else inner / max(1, len(filled))
    kind = "share" if chart.value_axis.percent else "number"
    tokens, bars = theme.tokens, []
    before = next((one for one in chart.series if one.outline), None) if len(filled) == 1 else None
    for one in chart.series:
        place = 0 if one.outline or turns else filled.index(one)
        for index, value in enumerate(one.values):
            if turns and not value and any(other.values[index] for other in filled):
                continue
            low = index - group / 2 if one.outline else index - inner / 2 + place * width
            failed = index in chart.hatched and not one.outline
            absent = index in chart.missing and not one.outline
            colour = tokens.fail if failed else look_colour(tokens, one.look)
            colour = tokens.reference if absent else colour
            high = low + (group if one.outline else width * 0.94)
            bar = Bar(low, high, value, colour, outline=one.outline, hatched=failed or absent)
            if before is not None and not one.outline:
                was = before.values[index]
                text = _pair_label(_bar_label(value, kind), _bar_label(was, kind), before)
                brief = _pair_label(
                    _bar_label(value, kind), _bar_label(was, kind), before, named=False
                )
                bar = replace(bar, label=text, clear=max(was, value), brief=brief)
            elif not one.outline:
                brief = whole_percent(value) if kind == "share" else ""
                bar = replace(bar, label=_bar_label(value, kind), brief=brief)
            if one.errors:
                ends = one.low_end(index), value + one.errors[index]
                bar = replace(bar, begins=ends[0], clear=ends[1])
            bars.append(bar)
    return bars


def _take_turns(series: Sequence[BarSeries]) -> bool:
    """Whether each category belongs to one of several series: none stands beside another."""
    values = [one.values for one in series]
    return (
        len(values) > 1
        and all(map(any, values))
        and all(sum(map(bool, at)) < 2 for at in zip(*values, strict=True))
    )


def _pair_label(value: str, other: str, outline: BarSeries, *, named: bool = True) -> str:
    """A value with the state before it, or with the most that it may be."""
    if not outline.bound:
        return f"{bare_share(other)} → {value}"
    text = QCoreApplication.translate("Bars", "{value} of {most} {name}")
    if not named:
        text = QCoreApplication.translate("Bars", "{value} of {most}")
    return text.format(value=bare_share(value), most=other, name=inside(outline.name))


def _bar_label(value: float, kind: str) -> str:
    if kind == "share":
        return short_percent(value)
    whole = kind == "number" and float(value).is_integer()
    return figure_words(value, "count" if whole else kind)


def short_percent(share: float) -> str:
    """A share in three digits at most; the read-out and the table hold the whole of it."""
    text = f"{share * 100:.1f}"
    exact = figure_words(share, "share")
    if 0 < share < 0.01 or (text == "100.0" and share < 1):
        return exact
    return tied(marked(f"{text} %".replace(".0 %", " %")))


def whole_percent(share: float) -> str:
    """A share in whole percents, where there is little room; never a false nought or whole."""
    text = f"{share * 100:.0f}"
    if text == "0" and share > 0:
        return "<1 %"
    return ">99 %" if text == "100" and share < 1 else f"{text} %"


def close_together(names: Sequence[str], slot: float, width: Callable[[str], int]) -> bool:
    """Whether neighbours would touch if all were written whole, each in the middle of its slot."""
    wide = [width(name) for name in names]
    return any((one + other) / 2 + 6 > slot for one, other in itertools.pairwise(wide))


def told_apart(names: Sequence[str], room: int, metrics: QFontMetrics) -> list[str]:
    """The names cut to a width, so that no two look alike: at the end, else where they differ."""
    modes = Qt.TextElideMode
    shown = [metrics.elidedText(name, modes.ElideRight, room) for name in names]
    for mode in (modes.ElideMiddle, modes.ElideLeft):
        often = Counter(shown)
        shown = [
            metrics.elidedText(name, mode, room) if often[cut] > 1 else cut
            for name, cut in zip(names, shown, strict=True)
        ]
    return shown


def wrapped(name: str, room: float, most: int, metrics: QFontMetrics) -> list[str]:
    """A name in at most so many lines of this width; what is too long for them ends the last."""
    lines: list[str] = []
    rest = name
    while len(lines) < most - 1 and metrics.horizontalAdvance(rest) > room:
        widths = itertools.accumulate(map(metrics.horizontalAdvance, rest))
        fits = max(1, sum(width <= room for width in widths))
        cut = max(rest.rfind(mark, 1, fits) for mark in _BREAKS) + 1
        lines.append(rest[: cut or fits].rstrip())
        rest = rest[cut or fits :].lstrip()
    return [*lines, rest]


def in_lines(names: Sequence[str], room: int, most: int, metrics: QFontMetrics) -> list[str]:
    """The names in lines of this width, so that no two look alike where they must be cut."""
    parts = [wrapped(name, room, most, metrics) for name in names]
    ends = told_apart([lines[-1] for lines in parts], room, metrics)
    return ["\n".join([*lines[:-1], end]) for lines, end in zip(parts, ends, strict=True)]


def thinned(names: Sequence[str], room: float, width: Callable[[str], int]) -> list[str]:
    """Every n-th name, whole, where not all of them have room; the others are left out.

    ``room`` is the width of one slot. Names at the edges are left out where they would be cut.
    """
    widest, slot = max(map(width, names), default=0) + 8, max(room, 1.0)
    step = max(1, math.ceil(widest / slot))
    first = max(0, math.ceil((widest / slot - 1) / 2)) if step > 1 else 0
    last = len(names) - 1 - first
    return [
        name if first <= number <= last and (number - first) % step == 0 else ""
        for number, name in enumerate(names)
    ]
