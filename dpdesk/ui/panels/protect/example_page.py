"""One example cell: somebody types its size and sees what it could be released as."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, QTimer, Signal, Slot
from PySide6.QtWidgets import QLabel, QLineEdit, QWidget

from dpdesk.core.charts import ScatterChart
from dpdesk.ui.charts import ChartView
from dpdesk.ui.forms.combo import NarrowCombo
from dpdesk.ui.theme import SPACE, ThemeManager, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.flow import FlowBox
from dpdesk.ui.widgets.wheel import leave_wheel
from dpdesk.ui.words.numbers import typed_exact

REST_MS = 250


class ExamplePage(QWidget):
    """``asked()`` when another example is wanted."""

    asked = Signal()

    def __init__(self, theme: ThemeManager, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        layout = column(self, gap=SPACE.s)
        line = FlowBox(gap=SPACE.s)
        before, middle = QLabel(self.tr("If a cell truly held")), QLabel(self.tr("in the table"))
        self.size_ = QLineEdit("100")
        self.size_.setAccessibleName(self.tr("Example size of a cell"))
        self.size_.setToolTip(self.tr("Any size you like: an example, never a count of the data"))
        self.size_.setMaximumWidth(theme.theme.ems(14))
        self.size_.textEdited.connect(self._on_edited)
        self.table = NarrowCombo()
        self.table.setAccessibleName(self.tr("Table of the example cell"))
        self.table.set_help(self.tr("The published table to which the example cell belongs"))
        leave_wheel(self.table)
        self.table.currentIndexChanged.connect(self._on_chosen)
        for widget in (before, self.size_, middle, self.table):
            line.add(widget)
        layout.addWidget(line)
        self._wrong = QLabel(self.tr("✕ Expected a number of 0 or more, such as 100."))
        self._wrong.setWordWrap(True)
        set_look(self._wrong, "fail")
        self._wrong.hide()
        layout.addWidget(self._wrong)
        self.view = ChartView(theme)
        self.view.set_placeholder(self.tr("Give the settings first."))
        layout.addWidget(self.view, 1)
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(REST_MS)
        self._rest.timeout.connect(self.asked)

    @property
    def size_wanted(self) -> float | None:
        """The example; None while it is no number of 0 or more."""
        number = typed_exact(self.size_.text())
        return float(number) if number is not None and number >= 0 else None

    @property
    def place(self) -> int:
        """The place of the chosen table; -1 for the last one."""
        return self.table.currentIndex()

    def show_tables(self, names: Sequence[str]) -> None:
        """Offer these tables, silently; the one that was chosen stays, else the last one."""
        if [self.table.itemText(place) for place in range(self.table.count())] == list(names):
            return
        chosen = self.table.currentText()
        with QSignalBlocker(self.table):
            self.table.clear()
            self.table.addItems(list(names))
            place = self.table.findText(chosen) if chosen else -1
            self.table.setCurrentIndex(place if place >= 0 else len(names) - 1)

    def show_example(self, chart: ScatterChart | None) -> None:
        """Show what the cell could be released as."""
        self.view.set_chart(chart)

    @Slot(str)
    def _on_edited(self, text: str) -> None:
        wrong = self.size_wanted is None
        self._wrong.setVisible(wrong)
        if not wrong:
            self._rest.start()

    @Slot(int)
    def _on_chosen(self, place: int) -> None:
        if place >= 0 and self.size_wanted is not None:
            self.asked.emit()
