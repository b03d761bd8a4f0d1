"""Actions, declared once; menus, command palette and the help on keys derive from them.

Use::

    actions.add(ActionSpec("compare.keep", self.tr("Save as candidate"), "run", "Ctrl+B",
                           self.tr("Keep this result for comparison")),
                self.keep, enabled=self.can_keep)      # bound methods, kept weakly
    actions.refresh()          # ask all `enabled` again
    actions.trigger("compare.keep")
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QEvent, QObject, Qt, Signal, Slot
from PySide6.QtGui import QAction, QFocusEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QHeaderView,
    QLabel,
    QLineEdit,
    QMenu,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets.layouts import column

MENUS = ("file", "edit", "view", "run", "help")


@dataclass(frozen=True)
class ActionSpec:
    """An action: ``menu`` is one of MENUS or empty (palette only); ``text`` may hold an ``&``.

    ``group`` separates actions of one menu: a rule stands where it changes.
    """

    id: str
    text: str
    menu: str = ""
    shortcut: str = ""
    tip: str = ""
    group: str = ""
    checkable: bool = False

    @property
    def words(self) -> str:
        """The text without its mark for a letter."""
        return self.text.replace("&&", "\0").replace("&", "").replace("\0", "&")

    @property
    def keys(self) -> str:
        """The shortcut as it stands on a keyboard."""
        return self.shortcut.replace("Return", "Enter")


class ActionSet(QObject):
    """All actions of a window; ``performed(str)`` is emitted after each."""

    performed = Signal(str)

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = weakref.ref(window)
        self._specs: dict[str, ActionSpec] = {}
        self._actions: dict[str, QAction] = {}
        self._handlers: dict[str, weakref.WeakMethod[Any]] = {}
        self._conditions: dict[str, weakref.WeakMethod[Any]] = {}

    def add(
        self,
        spec: ActionSpec,
        handler: Callable[[], object],
        enabled: Callable[[], bool] | None = None,
    ) -> QAction:
        """Declare an action; ValueError when its id or its keys are taken."""
        taken = {known.shortcut for known in self._specs.values() if known.shortcut}
        if spec.id in self._specs or spec.shortcut in taken:
            raise ValueError(f"action {spec.id!r} or its keys {spec.shortcut!r} are taken")
        action = QAction(spec.text, self)
        action.setData(spec.id)
        action.setToolTip(spec.tip or spec.words)
        action.setStatusTip(spec.tip)
        action.setCheckable(spec.checkable)
        if spec.shortcut:
            action.setShortcut(QKeySequence(spec.shortcut))
        action.triggered.connect(self._on_triggered)
        self._specs[spec.id] = spec
        self._actions[spec.id] = action
        self._handlers[spec.id] = weakref.WeakMethod(handler)
        if enabled is not None:
            self._conditions[spec.id] = weakref.WeakMethod(enabled)
        window = self._window()
        if window is not None:
            window.addAction(action)
        return action

    def action(self, identifier: str) -> QAction:
        """The action with this id, for buttons that show it."""
        return self._actions[identifier]

    @property
    def specs(self) -> tuple[ActionSpec, ...]:
        """All declarations, in order."""
        return tuple(self._specs.values())

    def refresh(self) -> None:
        """Enable and disable by the conditions."""
        for identifier, reference in self._conditions.items():
            condition = reference()
            self._actions[identifier].setEnabled(condition is not None and bool(condition()))

    def trigger(self, identifier: str) -> None:
        """Perform an action if it is enabled."""
        self._actions[identifier].trigger()

    def fill(self, menu: QMenu, name: str) -> None:
        """Put all actions of a menu into it, with rules between groups; quitting is the last."""
        wanted = [spec for spec in self._specs.values() if spec.menu == name]
        groups = sorted(dict.fromkeys(spec.group for spec in wanted), key=lambda one: one == "quit")
        for place, group in enumerate(groups):
            if place:
                menu.addSeparator()
            menu.addActions([self._actions[one.id] for one in wanted if one.group == group])

    @Slot()
    def _on_triggered(self) -> None:
        sender = self.sender()
        if not isinstance(sender, QAction):
            return
        identifier = str(sender.data())
        handler = self._handlers[identifier]()
        if handler is not None:
            handler()
            self.performed.emit(identifier)


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


def toggle_tables(panel: QWidget) -> None:
    """Turn the chart that has the focus into its table and back, or all charts of a panel."""
    from dpdesk.ui.charts import ChartView

    views = [view for view in panel.findChildren(ChartView) if view.isVisible()]
    focus = QApplication.focusWidget()
    inside = [view for view in views if focus is not None and view.isAncestorOf(focus)]
    for view in inside or views:
        view.toggle_table()
