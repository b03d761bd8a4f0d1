"""The right side: question, answer, heat table or bars, the chosen cell in words."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QRect, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QStackedWidget, QWidget

from dpdesk.core.pivot import STEPS, Pivot, pivot_chart
from dpdesk.ui.browsing.table import PivotGrid, PivotModel, text_on
from dpdesk.ui.browsing.words import (
    answer_words,
    assumption_words,
    cell_name,
    cell_words,
    chart_answer,
    question_words,
)
from dpdesk.ui.charts import ChartView
from dpdesk.ui.people.parts import button, note
from dpdesk.ui.theme import SPACE, Theme, ThemeManager, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.choices import ChoiceStrip
from dpdesk.ui.widgets.flow import FlowBox

TABLE, BARS = "table", "bars"


class RampLegend(QWidget):
    """What the colours of the table mean."""

    def __init__(self, theme: ThemeManager) -> None:
        super().__init__()
        self._theme = theme
        self._texts = [f"≤ {share * 100:g} %" for share in STEPS] + [f"> {STEPS[-1] * 100:g} %"]
        self.setAccessibleName(self.tr("Colours: ± as a share of the value"))
        self.setToolTip(
            self.tr(
                "The darker the ground, the larger the ± is beside the value (in dark: lighter)"
            )
        )
        theme.changed.connect(self._on_theme)
        self._on_theme(theme.theme)

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        self.setFont(theme.font("note"))
        self.updateGeometry()
        self.update()

    def _label(self) -> str:
        return self.tr("± beside the value:")

    def _box(self) -> int:
        return max(self.fontMetrics().horizontalAdvance(text) for text in self._texts) + SPACE.m

    def _line(self) -> int:
        return self.fontMetrics().height() + SPACE.s

    def _boxes(self, width: int) -> list[QRect]:
        """Where the words and the steps stand; in several lines where there is little room."""
        label = self.fontMetrics().horizontalAdvance(self._label()) + SPACE.s
        found, left, top = [QRect(0, 0, label, self._line())], label, 0
        for _ in self._texts:
            if left + self._box() > width and left > 0:
                left, top = 0, top + self._line()
            found.append(QRect(left, top + 1, self._box(), self._line() - 2))
            left += self._box()
        return found

    def sizeHint(self) -> QSize:
        """Room for all steps in one line."""
        return QSize(self._boxes(1 << 20)[-1].right() + 1, self._line())

    def minimumSizeHint(self) -> QSize:
        """Room for the words, or for one step."""
        return QSize(max(self._boxes(0)[0].width(), self._box()), self._line())

    def hasHeightForWidth(self) -> bool:
        """It breaks into lines."""
        return True

    def heightForWidth(self, width: int) -> int:
        """The lines that this width makes."""
        return self._boxes(width)[-1].bottom() + 2

    def paintEvent(self, event: QPaintEvent) -> None:
        """A box of its colour for each step."""
        painter, tokens = QPainter(self), self._theme.tokens
        words, *boxes = self._boxes(self.width())
        painter.setPen(QColor(tokens.muted))
        painter.drawText(words, Qt.AlignmentFlag.AlignVCenter, self._label())
        for ground, box, text in zip(tokens.ramp, boxes, self._texts, strict=True):
            painter.fillRect(box, QColor(ground))
            painter.setPen(QColor(text_on(ground, tokens)))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
        painter.end()


class BrowsePage(QWidget):
    """``keepAsked(int, int)``: keep only the categories of this cell."""

    keepAsked = Signal(int, int)

    def __init__(self, theme: ThemeManager) -> None:
        super().__init__()
        self._share = 0.0
        layout = column(self, gap=SPACE.s)
        self.question, self.answer = QLabel(), QLabel()
        for label, look in ((self.question, "section"), (self.answer, "answer")):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            set_look(label, look)
            layout.addWidget(label)
        line = FlowBox(gap=SPACE.m)
        self.strip = ChoiceStrip(self.tr("How to show the numbers"))
        self.strip.set_choices([(TABLE, self.tr("Table")), (BARS, self.tr("Bars"))])
        self.strip.chosen.connect(self._on_chosen)
        line.add(self.strip)
        self.legend = RampLegend(theme)
        line.add(self.legend)
        layout.addWidget(line)
        self.model = PivotModel(self)
        self.grid = PivotGrid(theme, self.tr("Values with their errors"), self.model)
        self.chart = ChartView(theme)
        self._pages = QStackedWidget()
        self._pages.addWidget(self.grid)
        self._pages.addWidget(self.chart)
        layout.addWidget(self._pages, 1)
        layout.addWidget(self._build_cell())
        self.assumption = note()
        layout.addWidget(self.assumption)
        self.grid.selectionModel().currentChanged.connect(self._on_current)
        self.grid.activated.connect(self._on_activated)
        self.show_pivot(None, 0.3)

    def _build_cell(self) -> QWidget:
        box = QWidget()
        layout = column(box, gap=SPACE.xs)
        self.cell = note("", "strong")
        layout.addWidget(self.cell)
        line = FlowBox(gap=SPACE.s)
        tip = self.tr("Leave out all other categories of these dimensions (Enter on a cell)")
        self.keep = button(self.tr("&Keep only this"), tip)
        self.keep.clicked.connect(self._on_keep)
        line.add(self.keep)
        layout.addWidget(line)
        return box

    def tab_stops(self) -> list[QWidget]:
        """What takes the focus here, from top to bottom."""
        return [self.strip.button(TABLE), self.strip.button(BARS), self.grid, self.keep]

    @property
    def shows_bars(self) -> bool:
        """Whether the bars are in front."""
        return self.strip.current == BARS

    def show_pivot(self, pivot: Pivot | None, share: float) -> None:
        """Show other numbers, or none."""
        self._share = share
        place = self.grid.currentIndex()
        self.model.show(pivot, share)
        self.setEnabled(pivot is not None)
        self._say()
        if pivot is None:
            self.chart.set_chart(None)
            return
        row = min(max(place.row(), 0), self.model.rowCount() - 1)
        column_ = min(max(place.column(), self.model.sides), self.model.columnCount() - 1)
        self.grid.setCurrentIndex(self.model.index(row, column_))
        self._draw()

    def mark(self, share: float) -> None:
        """Mark cells by another share of their value."""
        self._share = share
        self.model.mark(share)
        self._say()
        self._draw()

    def _say(self) -> None:
        pivot = self.model.pivot
        self.question.setText("" if pivot is None else question_words(pivot))
        answer = "" if pivot is None else answer_words(pivot, self._share)
        self.answer.setText(answer)
        self.grid.setAccessibleDescription(answer)
        lines = [] if pivot is None else [assumption_words(pivot), *pivot.grid.warnings]
        self.assumption.setText(" ".join(lines))
        self._tell_cell()

    def _draw(self) -> None:
        pivot = self.model.pivot
        if pivot is not None and self.shows_bars:
            answer = chart_answer(pivot)
            unit = self.tr("persons") if pivot.grid.measure == "count" else ""
            self.chart.set_chart(pivot_chart(pivot, question_words(pivot), answer, unit))

    @Slot()
    def toggle(self) -> None:
        """Change between table and bars."""
        self.strip.choose(TABLE if self.shows_bars else BARS)
        self._on_chosen(self.strip.current)

    @Slot(str)
    def _on_chosen(self, identifier: str) -> None:
        self._pages.setCurrentWidget(self.chart if identifier == BARS else self.grid)
        for widget in (self.legend, self.question, self.answer):  # the chart has its own
            widget.setVisible(identifier != BARS)
        self._draw()

    @Slot(QModelIndex, QModelIndex)
    def _on_current(self, now: QModelIndex, before: QModelIndex) -> None:
        self._tell_cell()

    def _tell_cell(self) -> None:
        pivot, place = self.model.pivot, self._place()
        self.keep.setEnabled(False)
        if pivot is None or place is None:
            self.cell.setText(self.tr("Choose a cell to read it in words.") if pivot else "")
            return
        self.cell.setText(cell_words(pivot, *place))
        labels = (*pivot.row_labels[place[0]], *pivot.column_labels[place[1]])
        self.keep.setEnabled(any(label is not None for label in labels))
        name = cell_name(pivot, *place)
        self.keep.setAccessibleDescription(name)

    def _place(self) -> tuple[int, int] | None:
        index = self.grid.currentIndex()
        return self.model.place(index) if index.isValid() else None

    @Slot(QModelIndex)
    def _on_activated(self, index: QModelIndex) -> None:
        self._on_keep()

    @Slot()
    def _on_keep(self) -> None:
        place = self._place()
        if place is not None and self.keep.isEnabled():
            self.keepAsked.emit(*place)
