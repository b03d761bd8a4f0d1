"""What stands above a plot: question, answer, key, title of the upright axis, and tools.

All of it gives way to the plot: tools stand beside the question and the key beside the title of
the axis as long as there is room, and only else in lines of their own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QFontMetricsF, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QSizePolicy,
    QStyle,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from dpdesk.core.charts import BarChart, Chart, LatticeChart, PointSeries, SeriesStyle
from dpdesk.ui.theme import SPACE, Theme, look_colour, set_look
from dpdesk.ui.widgets.states import ElidedLabel
from dpdesk.ui.words.spoken import said

_SAVE_STYLES = (Qt.ToolButtonStyle.ToolButtonTextBesideIcon, Qt.ToolButtonStyle.ToolButtonIconOnly)


@dataclass(frozen=True)
class _Entry:
    name: str
    kind: str
    look: SeriesStyle


class Legend(QWidget):
    """One row of entries, as many rows as the width needs."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
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
            if chart.missing:
                entries.append(_Entry(self.tr("missing"), "hatched", SeriesStyle.REFERENCE))
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


class ChartHead(QWidget):
    """Above the plot; ``tools`` are the switch and the button ``save``, which may be without its
    word. Where it is too low for everything, the answer is left to the tooltip of the question.
    """

    def __init__(self, theme: Theme, tools: QWidget, save: QToolButton) -> None:
        super().__init__()
        self._tools, self._save = tools, save
        self._low = self._titled = False
        self._heading = ""
        self._arranged: tuple[int, int] | None = None
        self._save_widths: dict[Qt.ToolButtonStyle, int] = {}
        self.legend = Legend(theme)
        self.title, self.stale, self.answer = QLabel(), QLabel(), QLabel()
        self.upright = ElidedLabel()
        looks = ("section", "caution", "answer", "note")
        labels = (self.title, self.stale, self.answer, self.upright)
        for label, look in zip(labels, looks, strict=True):
            set_look(label, look)
        for label in (self.title, self.answer):
            label.setWordWrap(True)
        self.answer.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.stale.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(SPACE.xs)
        self._top, self._keys = QHBoxLayout(), QHBoxLayout()
        self._own_tools, self._own_key = QHBoxLayout(), QHBoxLayout()
        self._top.setSpacing(SPACE.s)
        self._keys.setSpacing(SPACE.l)
        self._top.addWidget(self.title, 1)
        self._top.addWidget(self.stale, 0, Qt.AlignmentFlag.AlignTop)
        self._keys.addWidget(self.upright, 0, Qt.AlignmentFlag.AlignBottom)
        self._keys.addStretch(1)
        layout.addLayout(self._top)
        layout.addWidget(self.answer)
        for line in (self._own_tools, self._own_key, self._keys):
            layout.addLayout(line)
        self._own_tools.addStretch(1)
        self.arrange()

    def show_chart(self, chart: Chart, failing: str, upright: str) -> None:
        """Name a chart and its series; ``upright`` is the title of the axis at the left."""
        self.title.setText(self._heading or said(chart.question))
        answer = said(chart.answer)
        glued = answer.replace(" = ", "\u00a0=\u00a0")
        self.answer.setText(glued)
        self.title.setToolTip(answer)
        self._show_answer()
        self.legend.show_chart(chart, failing)
        self.upright.setText(upright)
        self.arrange()

    def show_parts(self, *, titled: bool, drawn: bool) -> None:
        """Show the words while there is a chart, the key while its picture is in front."""
        self._titled = titled
        self.title.setVisible(titled)
        self._show_answer()
        self.legend.setVisible(drawn and self.legend.useful)
        self.upright.setVisible(drawn)
        self._tools.setVisible(titled)
        self.arrange()

    def set_low(self, *, low: bool) -> None:
        """Leave the answer out, or no longer."""
        if low != self._low:
            self._low = low
            self._show_answer()

    def least_height(self, width: int) -> int:
        """The height with everything but the answer in it."""
        layout = self.layout()
        known = 0 if layout is None else layout.minimumHeightForWidth(width)
        return known if self.answer.isHidden() else known - self.answer_height(width)

    def answer_height(self, width: int) -> int:
        """What the answer adds to it, whether it is left out now or not."""
        return self.answer.heightForWidth(width) + SPACE.xs if self.answer.text() else 0

    def _show_answer(self) -> None:
        self.answer.setVisible(self._titled and not self._low and bool(self.answer.text()))

    def set_heading(self, text: str) -> None:
        """Write something else than the question above the answer; empty: the question."""
        self._heading = text
        self.arrange()

    def say_stale(self, text: str) -> None:
        """Say beside the question that the picture is old; empty: it is not."""
        self.stale.setText(text)
        self.stale.setVisible(bool(text))
        self.arrange()

    def restyle(self, theme: Theme) -> None:
        """Take over colours and sizes."""
        self.legend.restyle(theme)
        self.arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Use the room that is there now."""
        super().resizeEvent(event)
        self._fit(2 * self.style().pixelMetric(QStyle.PixelMetric.PM_ScrollBarExtent))

    def arrange(self) -> None:
        """Put tools and key where there is room for them."""
        kept = self._save.toolButtonStyle()
        for style in _SAVE_STYLES:
            self._save.setToolButtonStyle(style)
            self._save_widths[style] = self._save.sizeHint().width()
        self._save.setToolButtonStyle(kept)
        self._fit(0)

    def _fit(self, reserve: int) -> None:
        """Arrange anew; what needs more width comes back only where ``reserve`` is left over.

        Without it a scroll bar that only the lower of two arrangements does without would come and
        go for ever.
        """
        width, before = self.width(), self._arranged
        tools, key = self._tools_at(width), self._key_at(width)
        if before is not None:
            tools = max(tools, min(self._tools_at(width - reserve), before[0]))
            key = max(key, min(self._key_at(width - reserve), before[1]))
        if (tools, key) != before:
            self._arranged = (tools, key)
            self._place(tools, key)

    def _tools_at(self, width: int) -> int:
        """Which of the styles of ``save`` fits next to the question; past the last: none does."""
        question = self.title.fontMetrics().horizontalAdvance(self.title.text())
        stale = self.stale.sizeHint().width() + SPACE.s if self.stale.text() else 0
        others = self._tools.sizeHint().width() - self._save.sizeHint().width()
        room = width - question - stale - 2 * SPACE.s - others
        fitting = (i for i, style in enumerate(_SAVE_STYLES) if self._save_widths[style] <= room)
        return next(fitting, len(_SAVE_STYLES))

    def _key_at(self, width: int) -> int:
        """0 where the key fits next to the title of the axis, 1 where it needs lines of its own."""
        key = self.upright.sizeHint().width() + SPACE.l + self.legend.sizeHint().width()
        return int(key > width)

    def _place(self, tools: int, key: int) -> None:
        above, beside = tools < len(_SAVE_STYLES), not key
        self._save.setToolButtonStyle(_SAVE_STYLES[tools if above else 0])
        for old in (self._own_key, self._keys):
            old.removeWidget(self.legend)
        for old in (self._top, self._own_tools):
            old.removeWidget(self._tools)
        self._keys.setStretch(1, int(not beside))
        place = self._keys if beside else self._own_key
        place.addWidget(self.legend, 1, Qt.AlignmentFlag.AlignBottom)
        place = self._top if above else self._own_tools
        place.addWidget(self._tools, 0, Qt.AlignmentFlag.AlignTop)
