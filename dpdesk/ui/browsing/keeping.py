"""Which categories of a dimension are kept: a list to tick, beside the table."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QFrame, QLabel, QListWidget, QListWidgetItem

from dpdesk.ui.people.parts import button
from dpdesk.ui.theme import SPACE, Theme, ThemeManager, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.flow import FlowBox
from dpdesk.ui.words.counts import short_name
from dpdesk.ui.words.numbers import shortened

PATIENCE_MS = 250


class KeepList(QFrame):
    """``kept(str, object)``: a dimension, and the categories to keep (None: all).

    Nothing is asked for while no category is ticked, and several ticks in a row are one wish.
    """

    kept = Signal(str, object)

    def __init__(self, theme: ThemeManager) -> None:
        super().__init__()
        self._column = ""
        set_look(self, "card")
        layout = column(self, margin=SPACE.s, gap=SPACE.xs)
        self._title = QLabel()
        self._title.setWordWrap(True)
        set_look(self._title, "strong")
        self.list = QListWidget()
        self.list.itemChanged.connect(self._on_changed)
        self._empty = QLabel(self.tr("Tick at least one category."))
        set_look(self._empty, "caution")
        line = FlowBox(gap=SPACE.xs)
        self.all = button(self.tr("&All"), self.tr("Keep all categories"))
        self.none = button(self.tr("&None"), self.tr("Untick all, to tick a few"))
        self.close_button = button(self.tr("&Close"), self.tr("Close this list; it stays as it is"))
        self.all.clicked.connect(self._on_all)
        self.none.clicked.connect(self._on_none)
        self.close_button.clicked.connect(self.hide)
        for one in (self.all, self.none, self.close_button):
            line.add(one)
        for widget in (self._title, self.list, self._empty, line):
            layout.addWidget(widget)
        self._patience = QTimer(self)
        self._patience.setSingleShot(True)
        self._patience.setInterval(PATIENCE_MS)
        self._patience.timeout.connect(self._tell)
        theme.changed.connect(self._on_theme)
        self._on_theme(theme.theme)
        self.hide()

    @property
    def dimension(self) -> str:
        """The dimension whose categories are listed; empty while none is."""
        return self._column if not self.isHidden() else ""

    def open(self, name: str, categories: Sequence[str], kept: Sequence[str] | None) -> None:
        """List the categories of a dimension, those that are kept ticked."""
        self._column = name
        name = short_name(name)
        self._title.setText(self.tr("Keep of {name}").format(name=name))
        self.list.setAccessibleName(self.tr("Categories of {name} to keep").format(name=name))
        self.list.setToolTip(self.tr("Space ticks a category"))
        self._fill(categories, categories if kept is None else kept)
        self.show()

    def refresh(self, kept: Sequence[str] | None) -> None:
        """Tick what is kept now; asks for nothing."""
        texts = [self.list.item(i).data(Qt.ItemDataRole.UserRole) for i in range(self.list.count())]
        self._fill(texts, texts if kept is None else kept)

    def _fill(self, categories: Sequence[str], kept: Sequence[str]) -> None:
        present, known = self.list.currentRow(), frozenset(kept)
        self._patience.stop()
        self.list.blockSignals(True)
        self.list.clear()
        for text in categories:
            item = QListWidgetItem(shortened(text) or self.tr("(empty)"))
            item.setData(Qt.ItemDataRole.UserRole, text)
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            state = Qt.CheckState.Checked if text in known else Qt.CheckState.Unchecked
            item.setCheckState(state)
            self.list.addItem(item)
        self.list.setCurrentRow(max(0, present))
        self.list.blockSignals(False)
        self._empty.setVisible(not known)

    def ticked(self) -> tuple[str, ...]:
        """The categories that are ticked."""
        items = (self.list.item(i) for i in range(self.list.count()))
        return tuple(
            str(item.data(Qt.ItemDataRole.UserRole))
            for item in items
            if item.checkState() is Qt.CheckState.Checked
        )

    @Slot()
    def _on_changed(self) -> None:
        self._empty.setVisible(not self.ticked())
        self._patience.start()

    @Slot()
    def _tell(self) -> None:
        ticked = self.ticked()
        if ticked:
            self.kept.emit(self._column, None if len(ticked) == self.list.count() else ticked)

    @Slot()
    def _on_all(self) -> None:
        self._tick(Qt.CheckState.Checked)

    @Slot()
    def _on_none(self) -> None:
        self._tick(Qt.CheckState.Unchecked)
        self.list.setFocus()

    def _tick(self, state: Qt.CheckState) -> None:
        self.list.blockSignals(True)
        for i in range(self.list.count()):
            self.list.item(i).setCheckState(state)
        self.list.blockSignals(False)
        self._on_changed()

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        self.list.setMinimumHeight(theme.row * 6)
