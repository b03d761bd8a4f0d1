"""The command palette: every action by a few letters of its name."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Slot
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import (
    QFrame,
    QHeaderView,
    QLabel,
    QLineEdit,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from dpdesk.ui.shell.actions import ActionSet
from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets.layouts import column

_ID = Qt.ItemDataRole.UserRole
_STAYS_FOR = (
    Qt.FocusReason.ActiveWindowFocusReason,
    Qt.FocusReason.PopupFocusReason,
    Qt.FocusReason.MenuBarFocusReason,
)


def match_score(wanted: str, text: str) -> int | None:
    """How well some letters fit a text, lower is better; None when they are not all there.

    The letters must occur in order; beginnings of words and neighbours count as close.
    """
    place, score = -1, 0
    lower = text.lower()
    for letter in wanted.lower().replace(" ", ""):
        found = lower.find(letter, place + 1)
        if found < 0:
            return None
        start = found == 0 or lower[found - 1] in " -…"
        score += 0 if found == place + 1 or start else found - place
        place = found
    return score + len(text) // 8


class CommandPalette(QFrame):
    """Opens over its window, filters while typing, performs on Enter, closes on Escape.

    It also closes when the focus goes elsewhere in the window.
    """

    def __init__(self, actions: ActionSet, parent: QWidget) -> None:
        super().__init__(parent)
        self._actions = actions
        set_look(self, "card")
        self.setAccessibleName(self.tr("Commands"))
        layout = column(self, margin=SPACE.m)
        self._line = QLineEdit()
        self._line.setPlaceholderText(self.tr("Type a few letters of a command"))
        self._line.setAccessibleName(self.tr("Search commands"))
        self._line.setToolTip(self.tr("Arrow keys choose, Enter performs, Esc closes"))
        self._line.installEventFilter(self)
        self._list = QTreeWidget()
        self._list.setColumnCount(2)
        self._list.setHeaderHidden(True)
        self._list.setRootIsDecorated(False)
        self._list.setUniformRowHeights(True)
        self._list.header().setStretchLastSection(False)
        self._list.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self._list.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self._list.setAccessibleName(self.tr("Commands found"))
        self._list.setToolTip(self.tr("Commands found"))
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._none = QLabel(self.tr("No command has these letters."))
        set_look(self._none, "note")
        for widget in (self._line, self._list, self._none):
            layout.addWidget(widget)
        self._line.textChanged.connect(self._filter)
        self._list.itemClicked.connect(self._on_clicked)
        self.hide()

    @Slot()
    def open(self) -> None:
        """Show the palette, empty, with the focus in it."""
        parent = self.parentWidget()
        if parent is not None:
            width = min(620, parent.width() - 40)
            height = min(440, parent.height() - 80)
            self.setGeometry((parent.width() - width) // 2, 44, width, height)
        self._line.clear()
        self._filter("")
        self.show()
        self.raise_()
        self._line.setFocus(Qt.FocusReason.ShortcutFocusReason)

    @property
    def found(self) -> tuple[str, ...]:
        """Ids of the commands on show, best first."""
        return tuple(str(item.data(0, _ID)) for item in self._items())

    def _items(self) -> list[QTreeWidgetItem]:
        top = (self._list.topLevelItem(n) for n in range(self._list.topLevelItemCount()))
        return [item for item in top if item is not None]

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keys of the line that belong to the list."""
        if isinstance(event, QFocusEvent) and event.type() == QEvent.Type.FocusOut:
            if event.reason() not in _STAYS_FOR:
                self.hide()
            return False
        if not isinstance(event, QKeyEvent):
            return super().eventFilter(watched, event)
        if event.type() == QEvent.Type.ShortcutOverride and event.key() == Qt.Key.Key_Escape:
            event.accept()
            return True
        if event.type() == QEvent.Type.KeyPress:
            return self._on_key(event)
        return super().eventFilter(watched, event)

    def _on_key(self, event: QKeyEvent) -> bool:
        key = event.key()
        if key == Qt.Key.Key_Escape:
            self.hide()
        elif key in (Qt.Key.Key_Down, Qt.Key.Key_Up):
            step = 1 if key == Qt.Key.Key_Down else -1
            items, current = self._items(), self._list.currentItem()
            place = (items.index(current) if current in items else 0) + step
            if items:
                self._list.setCurrentItem(items[min(max(place, 0), len(items) - 1)])
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._perform(self._list.currentItem())
        else:
            return False
        return True

    @Slot(str)
    def _filter(self, wanted: str) -> None:
        found = []
        for number, spec in enumerate(self._actions.specs):
            score = match_score(wanted, spec.words)
            if score is not None and spec.id != "help.palette":
                found.append((score if wanted else number, number, spec))
        self._list.clear()
        for _, _, spec in sorted(found, key=lambda entry: entry[:2]):
            action = self._actions.action(spec.id)
            item = QTreeWidgetItem([spec.words, spec.keys])
            item.setData(0, _ID, spec.id)
            item.setToolTip(0, spec.tip)
            if not action.isEnabled():
                item.setFlags(Qt.ItemFlag.NoItemFlags)
            self._list.addTopLevelItem(item)
        items = self._items()
        if items:
            self._list.setCurrentItem(items[0])
        self._list.setVisible(bool(found))
        self._none.setVisible(not found)

    @Slot(QTreeWidgetItem)
    def _on_clicked(self, item: QTreeWidgetItem) -> None:
        self._perform(item)

    def _perform(self, item: QTreeWidgetItem | None) -> None:
        if item is None or not item.flags() & Qt.ItemFlag.ItemIsEnabled:
            return
        self.hide()
        self._actions.trigger(str(item.data(0, _ID)))
