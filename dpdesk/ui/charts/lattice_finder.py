"""A list of cuboids by name, for lattices that are too large to be drawn whole."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QLabel, QLineEdit, QListWidget, QListWidgetItem, QWidget

from dpdesk.core.charts import STANDING_WORDS, LatticeChart
from dpdesk.core.cuboid_choice import CuboidStatus
from dpdesk.ui.charts.lattice_marks import error_words
from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.words.numbers import grouped
from dpdesk.ui.words.spoken import table_words

MOST_ROWS = 400


class LatticeFinder(QFrame):
    """``chosen(int)`` when a cuboid is taken from the list."""

    chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._chart: LatticeChart | None = None
        layout = column(self, gap=SPACE.xs)
        self.words = QLineEdit()
        self.words.setAccessibleName(self.tr("Find tables by their dimensions"))
        self.words.setToolTip(
            self.tr("Tables that have all dimensions typed here, such as age sex")
        )
        self.words.setPlaceholderText(self.tr("find: age sex"))
        self.words.setClearButtonEnabled(True)
        self.words.textChanged.connect(self._fill)
        self.list = QListWidget()
        self.list.setAccessibleName(self.tr("Tables"))
        self.list.setToolTip(self.tr("Tables that the plan speaks of; choose one to see it drawn"))
        self.list.setMinimumHeight(90)
        self.list.currentItemChanged.connect(self._on_current)
        self.note = QLabel()
        self.note.setWordWrap(True)
        set_look(self.note, "note")
        for widget in (self.words, self.list, self.note):
            layout.addWidget(widget)

    def show_chart(self, chart: LatticeChart, chosen: int | None) -> None:
        """List the cuboids of a lattice."""
        self._chart = chart
        self._fill()
        self.mark(chosen)

    def mark(self, chosen: int | None) -> None:
        """Put the cursor on a cuboid where it is listed, silently."""
        with QSignalBlocker(self.list):
            for place in range(self.list.count()):
                item = self.list.item(place)
                if item.data(Qt.ItemDataRole.UserRole) == chosen:
                    self.list.setCurrentItem(item)
                    return
            self.list.setCurrentItem(None)  # type: ignore[call-overload]

    @Slot()
    def _fill(self) -> None:
        chart = self._chart
        if chart is None:
            return
        found = matching(chart, self.words.text())
        with QSignalBlocker(self.list):
            self.list.clear()
            for cuboid in found[:MOST_ROWS]:
                node = chart.node(cuboid)
                mark = "◎" if node.exact else "■" if node.noisy else "○"
                words = f"{mark} {table_words(node.name)}  {error_words(node)}"
                if node.standing is not CuboidStatus.PUBLISHED:
                    words = f"{words} · {STANDING_WORDS[node.standing]}"
                item = QListWidgetItem(words)
                item.setData(Qt.ItemDataRole.UserRole, cuboid)
                self.list.addItem(item)
        text = self.tr("{n} tables").format(n=grouped(len(found)))
        if len(found) > MOST_ROWS:
            text = self.tr("{n} tables, the first {m} are listed").format(
                n=grouped(len(found)), m=MOST_ROWS
            )
        self.note.setText(text)

    @Slot(QListWidgetItem)
    def _on_current(self, item: QListWidgetItem | None) -> None:
        if item is not None:
            self.chosen.emit(int(item.data(Qt.ItemDataRole.UserRole)))


def matching(chart: LatticeChart, text: str) -> list[int]:
    """Listed cuboids whose names hold all words; first the one of exactly the dimensions named."""
    words = [word.casefold() for word in text.replace("×", " ").split()]
    names = [name.casefold() for name in chart.choice.dimensions]
    found = [
        cuboid
        for cuboid in chart.listed
        if all(
            any(cuboid >> i & 1 and word in name for i, name in enumerate(names)) for word in words
        )
    ]
    places = [names.index(word) for word in words if word in names]
    if words and len(places) == len(words):
        exact = sum(1 << place for place in set(places))
        found = [exact, *(cuboid for cuboid in found if cuboid != exact)]
    return found
