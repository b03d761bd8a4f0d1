"""What screen readers are told of widgets whose kind the toolkit does not know by itself.

Headings are labels, side windows plain widgets to it, and buttons that open something below them
buttons like others. A widget with a method ``told_as`` gives its own interface.
"""

from __future__ import annotations

from functools import cache

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAccessible, QAccessibleStateChangeEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QAccessibleWidget,
    QDialog,
    QLabel,
    QMainWindow,
    QWidget,
)
from shiboken6 import isValid

HEADINGS = frozenset(("headline", "section"))
LOOK = "look"


class _Heading(QAccessibleWidget):
    def __init__(self, label: QLabel) -> None:
        super().__init__(label, QAccessible.Role.Heading)
        self._label = label

    def text(self, which: QAccessible.Text) -> str:
        """A heading is called what it says."""
        if which is QAccessible.Text.Name and not self._label.accessibleName():
            return self._label.text()
        return super().text(which)


EXPANDED = "expanded"
_PRESS = "Press"


def say_expanded(button: QAbstractButton, expanded: bool) -> None:
    """Say that a button opens something in its place, and whether it is open.

    To be called first where the button is made.
    """
    known = button.property(EXPANDED)
    button.setProperty(EXPANDED, expanded)
    if known is not None and known != expanded:
        changed = QAccessible.State()
        changed.expanded = changed.collapsed = True
        QAccessible.updateAccessibility(QAccessibleStateChangeEvent(button, changed))


class _Expander(QAccessibleWidget):
    def __init__(self, button: QAbstractButton) -> None:
        super().__init__(button, QAccessible.Role.Button)
        self._button = button

    def state(self) -> QAccessible.State:
        """Whether what it opens is open."""
        found = super().state()
        expanded = bool(self._button.property(EXPANDED))
        found.expandable, found.expanded, found.collapsed = (1, int(expanded), int(not expanded))
        return found

    def text(self, which: QAccessible.Text) -> str:
        """A button is called as it is labelled, where it has no other name."""
        found = super().text(which)
        if which is QAccessible.Text.Name and not found:
            return self._button.text().replace("&", "")
        return found

    def actionNames(self) -> list[str]:
        """It can be pressed, as every button."""
        return [*super().actionNames(), _PRESS]

    def doAction(self, name: str) -> None:
        """Press it."""
        if name == _PRESS:
            self._button.click()
        else:
            super().doAction(name)


_told: list[QAccessibleWidget] = []


def _of(thing: QObject) -> QAccessibleWidget | None:
    if not isinstance(thing, QWidget):
        return None
    own = getattr(thing, "told_as", None)
    if own is not None:
        made = own()
        return made if isinstance(made, QAccessibleWidget) else None
    if isinstance(thing, QAbstractButton):
        return None if thing.property(EXPANDED) is None else _Expander(thing)
    if isinstance(thing, QLabel):
        return _Heading(thing) if thing.property(LOOK) in HEADINGS else None
    if thing.windowType() is Qt.WindowType.Window and thing.parentWidget() is not None:
        known = isinstance(thing, QMainWindow | QDialog)
        return None if known else QAccessibleWidget(thing, QAccessible.Role.Window)
    return None


def _told_of(key: str, thing: QObject) -> QAccessibleWidget | None:
    """What the toolkit asks for; it deletes these with their widgets, and here they are kept."""
    made = _of(thing)
    if made is not None:
        _told[:] = [one for one in _told if isValid(one)]
        _told.append(made)
    return made


@cache
def tell_more() -> None:
    """Answer the toolkit from now on; once for the program."""
    QAccessible.installFactory(_told_of)
