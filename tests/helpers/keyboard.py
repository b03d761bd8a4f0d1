"""Somebody who has no mouse: every key goes to whatever has the focus."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget

from tests.helpers.person import Person

Key = Qt.Key
PLAIN, CTRL = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ControlModifier
ALT, SHIFT = Qt.KeyboardModifier.AltModifier, Qt.KeyboardModifier.ShiftModifier
_MOST_TABS = 80


class Keyboard:
    """Presses keys for a :class:`Person`, who looks at the window."""

    def __init__(self, person: Person) -> None:
        self.person = person

    @property
    def focus(self) -> QWidget:
        """What has the focus, as soon as it lies in what is in front."""

        def there() -> None:
            found, front = QApplication.focusWidget(), self.person.front
            if QApplication.activeWindow() is not front:
                front.activateWindow()  # where there is one, the window manager does it
            assert found is not None, f"nothing has the focus in {front}"
            assert found.window() is front, f"{found} has the focus, {front} is in front"

        self.person.qtbot.waitUntil(there)
        found = QApplication.focusWidget()
        assert found is not None
        return found

    def press(self, key: Qt.Key, modifier: Qt.KeyboardModifier = PLAIN, times: int = 1) -> None:
        """Press a key where the focus is, and wait for what follows."""
        for _ in range(times):
            self.person.qtbot.keyClick(self.focus, key, modifier)
        self.person.settled()

    def type(self, text: str) -> None:
        """Write where the focus is, in place of what is there."""
        self.person.qtbot.keyClick(self.focus, Key.Key_A, CTRL)
        self.person.qtbot.keyClicks(self.focus, text)

    def tab_to(self, name: str, *, back: bool = False) -> QWidget:
        """Press Tab (or Shift+Tab) until the control with this name has the focus."""
        seen: list[str] = []
        modifier = SHIFT if back else PLAIN
        for _ in range(_MOST_TABS):
            if name in names_of(self.focus):
                return self.focus
            seen.append(names_of(self.focus)[0])
            self.person.qtbot.keyClick(self.focus, Key.Key_Tab, modifier)
        raise AssertionError(f"{name!r} is out of the reach of Tab, which visits {seen}")

    def use(self, name: str) -> None:
        """Go to a button by Tab and press Space on it."""
        button = self.tab_to(name)
        assert isinstance(button, QAbstractButton)
        self.press(Key.Key_Space)

    def turn(self, name: str) -> None:
        """Go to a line of choices by Tab, and to one of them by arrow keys."""
        button = self.person.find(name, QAbstractButton)
        group = button.group()
        assert group is not None
        for _ in range(_MOST_TABS):
            if self.focus in group.buttons():
                break
            self.person.qtbot.keyClick(self.focus, Key.Key_Tab)
        for _ in group.buttons():
            if button.isChecked():
                break
            self.person.qtbot.keyClick(self.focus, Key.Key_Right)
        assert button.isChecked(), f"no arrow key leads to {name!r}"
        self.person.settled()

    def menu(self, first: Qt.Key, second: Qt.Key) -> None:
        """Open a menu by Alt and a letter, and take its line with another letter."""
        self.person.qtbot.keyClick(self.focus, first, ALT)
        menu = QApplication.activePopupWidget()
        assert menu is not None, "no menu has opened"
        self.person.qtbot.keyClick(menu, second)
        self.person.settled()

    def take(self, key: Qt.Key, name: str) -> None:
        """Press Alt and a letter, which puts this button down a little later."""
        button = self.person.find(name, QAbstractButton)
        self.person.qtbot.keyClick(self.focus, key, ALT)
        self.person.qtbot.waitUntil(button.isChecked)

    def fill(self, name: str, text: str) -> None:
        """Go to a field by Tab and write."""
        self.tab_to(name)
        self.type(text)


def names_of(widget: QWidget) -> tuple[str, ...]:
    """How a control is called: by its accessible name, or the text on it."""
    text = widget.text().replace("&", "") if isinstance(widget, QAbstractButton) else ""
    return (widget.accessibleName(), text)
