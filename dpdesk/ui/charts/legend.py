"""The key of a chart: a swatch as drawn, and the name of the series beside it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from dpdesk.core.charts import BarChart, Chart, LatticeChart, PointSeries, SeriesStyle
from dpdesk.ui.theme import Theme, look_colour


@dataclass(frozen=True)
class _Entry:
    name: str
    kind: str
    look: SeriesStyle


class Legend(QWidget):
    """One row of entries, as many rows as the width needs."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._entries: tuple[_Entry, ...] = ()
        self._known: dict[int, list[QRectF]] = {}
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def show_chart(self, chart: Chart, failing: str) -> None:
        """Name the series of a chart; ``failing`` names its hatched categories."""
        entries: list[_Entry] = []
        if isinstance(chart, LatticeChart):
            pass  # its key has colours and marks of its own
        elif isinstance(chart, BarChart):
            kinds = [("outline" if one.outline else "bar") for one in chart.series]
            entries = [
                _Entry(one.name, kind, one.look)
                for one, kind in zip(chart.series, kinds, strict=True)
            ]
            if any(
                one.values[index] > 0
                for one in chart.series
                if not one.outline
                for index in chart.hatched
            ):
                entries.append(_Entry(failing, "hatched", SeriesStyle.FAIL))
        else:
            entries = [_Entry(one.name, _kind_of(one), one.look) for one in chart.series]
        if tuple(entries) == self._entries:
            return
        self._entries = tuple(entries)
        self.setToolTip("\n".join(entry.name for entry in entries))
        self._known.clear()
        self.updateGeometry()
        self.update()

    @property
    def useful(self) -> bool:
        """Whether there is anything to tell apart."""
        return len(self._entries) > 1

    def restyle(self, theme: Theme) -> None:
        """Take over colours and sizes."""
        self._theme = theme
        self._known.clear()
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """All entries in one row."""
        places = self._places(100_000)
        right = max((rect.right() for rect in places), default=0.0)
        return QSize(round(right), self.heightForWidth(100_000))

    def minimumSizeHint(self) -> QSize:
        """The widest entry alone, as long as it is a short one: others are cut."""
        widest = max((rect.width() for rect in self._places(100_000)), default=0.0)
        least = 24 * self._unit() + QFontMetricsF(self._theme.font("note")).averageCharWidth() * 16
        return QSize(round(min(widest, least)), self._line())

    def hasHeightForWidth(self) -> bool:
        """Entries wrap."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Height of the rows that the entries need in this width."""
        bottom = max((rect.bottom() for rect in self._places(width)), default=0.0)
        return round(bottom)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw swatches and names."""
        painter = QPainter(self)
        painter.setFont(self._theme.font("note"))
        for entry, rect in zip(self._entries, self._places(self.width()), strict=True):
            unit = self._unit()
            swatch = QRectF(rect.left(), rect.center().y() - 6 * unit, 18 * unit, 12 * unit)
            self._draw_swatch(painter, entry, swatch)
            painter.setPen(QColor(self._theme.tokens.text))
            text = rect.adjusted(24 * unit, 0, 0, 0)
            shown = painter.fontMetrics().elidedText(
                entry.name, Qt.TextElideMode.ElideRight, math.ceil(text.width())
            )
            painter.drawText(text, Qt.AlignmentFlag.AlignVCenter, shown)

    def _draw_swatch(self, painter: QPainter, entry: _Entry, rect: QRectF) -> None:
        from dpdesk.ui.charts.items import curve_style, marker_path
        from dpdesk.ui.charts.surface import MARKER

        colour = QColor(look_colour(self._theme.tokens, entry.look))
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, entry.kind in ("marker", "steps"))
        if entry.kind == "bar":
            painter.fillRect(rect, colour)
        elif entry.kind in ("outline", "hatched"):
            painter.setPen(QPen(colour, 2 if entry.kind == "outline" else 1))
            if entry.kind == "hatched":
                painter.setBrush(QBrush(colour, Qt.BrushStyle.BDiagPattern))
            painter.drawRect(rect.adjusted(1, 1, -1, -1))
        else:
            if entry.kind in ("steps", "joined"):
                style = Qt.PenStyle.SolidLine if entry.kind == "steps" else curve_style(entry.look)
                painter.setPen(QPen(colour, 2, style))
                painter.drawLine(
                    QPointF(rect.left(), rect.center().y()),
                    QPointF(rect.right(), rect.center().y()),
                )
            if entry.kind == "joined":
                painter.restore()
                return
            shape = MARKER[entry.look]
            painter.setPen(QPen(colour, 2) if shape == "cross" else Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            painter.translate(rect.center())
            painter.drawPath(marker_path(shape, 9 * self._unit()))
        painter.restore()

    def _line(self) -> int:
        return round(QFontMetricsF(self._theme.font("note")).height()) + 6

    def _unit(self) -> float:
        """Swatches grow with the text."""
        return max(1.0, self._theme.scale)

    def _places(self, width: int) -> list[QRectF]:
        # Layouts ask for the same few widths over and over.
        if width not in self._known:
            self._known[width] = self._placed(width)
        return self._known[width]

    def _placed(self, width: int) -> list[QRectF]:
        metrics, line = QFontMetricsF(self._theme.font("note")), self._line()
        places: list[QRectF] = []
        x = y = 0.0
        for entry in self._entries:
            wide = 24 * self._unit() + metrics.horizontalAdvance(entry.name) + 2
            if x and x + wide > width:
                x, y = 0.0, y + line
            wide = min(wide, max(width, 24 * self._unit()))
            places.append(QRectF(x, y, wide, line))
            x += wide + 20
        return places


def _kind_of(one: PointSeries) -> str:
    if one.joined:
        return "joined"
    return "steps" if one.stepped else "marker"
