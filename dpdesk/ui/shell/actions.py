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

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

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
        """Put all actions of a menu into it, with rules between groups."""
        last: str | None = None
        for spec in self._specs.values():
            if spec.menu != name:
                continue
            if last is not None and spec.group != last:
                menu.addSeparator()
            last = spec.group
            menu.addAction(self._actions[spec.id])

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
