"""What lies behind a bar: parts to look at, charts or tables, and the way back."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from dpdesk.app.types import Detail
from dpdesk.core.charts import ChartTable
from dpdesk.ui.charts import ChartView
from dpdesk.ui.models import DataGrid, ListModel
from dpdesk.ui.theme import SPACE, ThemeManager, set_look
from dpdesk.ui.widgets import Badge, column, row
from dpdesk.ui.widgets.choices import ChoiceStrip
from dpdesk.ui.widgets.stack import PageStack
from dpdesk.ui.words.spoken import said


class DetailPage(QWidget):
    """``backAsked()``: the way back to the chart, by the button or by Escape."""

    backAsked = Signal()

    def __init__(self, theme: ThemeManager, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._detail: Detail | None = None
        layout = column(self, margin=SPACE.m, gap=SPACE.s)
        head = row()
        self._title, self._sentence, self._note = QLabel(), QLabel(), QLabel()
        for label, look in (
            (self._title, "section"),
            (self._sentence, "answer"),
            (self._note, "note"),
        ):
            label.setWordWrap(True)
            set_look(label, look)
        self.back = QPushButton(self.tr("Back to the chart"))
        self.back.setAccessibleName(self.tr("Back to the chart"))
        self.back.setToolTip(self.tr("Back to the chart (Backspace)"))
        self.back.clicked.connect(self.backAsked)
        self._badge = badge = Badge(self.tr("CONFIDENTIAL"), self.tr("Original values of the data"))
        head.addWidget(self._title, 1)
        head.addWidget(badge, 0, Qt.AlignmentFlag.AlignTop)
        layout.addLayout(head)
        layout.addWidget(self._sentence)
        line = row()
        self.strip = ChoiceStrip(self.tr("What to look at behind the bar"))
        self.strip.chosen.connect(self._show)
        line.addWidget(self.strip, 1)
        line.addWidget(self.back, 0, Qt.AlignmentFlag.AlignTop)
        layout.addLayout(line)
        self._pages = PageStack()
        self._chart, self._model = ChartView(theme), ListModel(parent=self)
        self.grid = DataGrid(theme, self.tr("What lies behind the bar"))
        self.grid.setModel(self._model)
        self.grid.verticalHeader().hide()
        self.grid.horizontalHeader().setStretchLastSection(True)
        for page in (self._chart, self.grid):
            self._pages.addWidget(page)
        layout.addWidget(self._pages, 1)
        layout.addWidget(self._note)

    @property
    def chart(self) -> ChartView:
        """Where a part that is a chart is drawn."""
        return self._chart

    def show_detail(self, detail: Detail) -> None:
        """Show a detail, its first part in front."""
        self._detail = detail
        self._badge.setVisible(detail.confidential)
        self._title.setText(said(detail.title))
        self._sentence.setText(said(detail.sentence))
        self.setAccessibleName(said(detail.title))
        self.setAccessibleDescription(said(detail.sentence))
        names = [(str(number), part.name) for number, part in enumerate(detail.parts)]
        self.strip.set_choices(names)
        self.strip.choose("0")
        self._show()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Backspace leads back."""
        if event.key() == Qt.Key.Key_Backspace:
            self.backAsked.emit()
            event.accept()
            return
        super().keyPressEvent(event)

    @Slot()
    def _show(self) -> None:
        if self._detail is None:
            return
        part = self._detail.parts[int(self.strip.current or 0)]
        self._note.setText(part.note)
        self._note.setVisible(bool(part.note))
        if isinstance(part.content, ChartTable):
            self._model.set_table(part.content.columns, part.content.rows)
            self._pages.setCurrentWidget(self.grid)
        else:
            self._chart.set_chart(part.content)
            self._pages.setCurrentWidget(self._chart)
