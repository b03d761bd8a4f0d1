"""Values of the data that the tree has no place for, first in sight and one click away."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QLabel, QListWidget, QListWidgetItem, QPushButton, QWidget

from dpdesk.ui.panels.hierarchies.edits import shown
from dpdesk.ui.panels.hierarchies.presenter import lacking_sentence
from dpdesk.ui.panels.hierarchies.tasks import HierarchyAnswer
from dpdesk.ui.theme import SPACE, Theme, ThemeManager, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.words.numbers import grouped

LISTED_AT_MOST = 200
LINES = 3


class LackingBox(QFrame):
    """``jumpAsked(str)`` names a value to go to; ``addAsked()`` wants a place for all of them."""

    jumpAsked = Signal(str)
    addAsked = Signal()

    def __init__(self, theme: ThemeManager, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._count = 0
        set_look(self, "band-caution")
        layout = column(self, margin=SPACE.s, gap=SPACE.xs)
        self._sentence = QLabel()
        self._sentence.setWordWrap(True)
        self.listing = QListWidget()
        self.listing.setAccessibleName(self.tr("Values without a place"))
        self.listing.setToolTip(self.tr("Click or press Enter to go to the value in the tree"))
        self.add = QPushButton(self.tr("Keep ea&ch as itself"))
        self.add.setToolTip(
            self.tr("Give each a place of its own, directly below the top; it can be moved later")
        )
        self.add.setAccessibleName(self.tr("Keep each value as itself"))
        layout.addWidget(self._sentence)
        layout.addWidget(self.listing)
        layout.addWidget(self.add, 0, Qt.AlignmentFlag.AlignLeft)
        self.listing.itemActivated.connect(self._on_item)
        self.listing.itemClicked.connect(self._on_item)
        self.add.clicked.connect(self.addAsked)
        theme.changed.connect(self._on_theme)
        self._on_theme(theme.theme)
        self.hide()

    def show_look(self, look: HierarchyAnswer | None) -> None:
        """List what lacks; hidden when nothing does."""
        lacking = () if look is None else look.examined.lacking
        self.setVisible(bool(lacking))
        self._count = len(lacking)
        self.listing.clear()
        self._on_theme(self._theme.theme)
        if look is None or not lacking:
            return
        self._sentence.setText("△ " + lacking_sentence(look))
        for count in lacking[:LISTED_AT_MOST]:
            text = self.tr("{value} · {rows} rows").format(
                value=shown(count.value), rows=grouped(count.rows)
            )
            item = QListWidgetItem(text)
            item.setData(Qt.ItemDataRole.UserRole, count.value)
            self.listing.addItem(item)

    @Slot(QListWidgetItem)
    def _on_item(self, item: QListWidgetItem) -> None:
        self.jumpAsked.emit(str(item.data(Qt.ItemDataRole.UserRole)))

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        lines = min(max(self._count, 1), LINES)
        self.listing.setFixedHeight(theme.target * lines + SPACE.s)
