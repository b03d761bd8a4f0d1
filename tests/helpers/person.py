"""A person at the window: finds things by their names, uses mouse and keys, waits to see results.

Nothing here reaches into the program: whatever a person could not see or reach is a failure.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from PySide6.QtCore import QModelIndex, QPoint, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractScrollArea,
    QApplication,
    QComboBox,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QScrollArea,
    QSlider,
    QWidget,
)
from pytestqt.qtbot import QtBot

from dpdesk.ui.charts import ChartView
from dpdesk.ui.desk import Desk
from dpdesk.ui.theme import ThemeManager
from tests.helpers.asking import ScriptedAsker
from tests.helpers.events import settle
from tests.helpers.fits import misfits

LOOKS = (("light", 100), ("dark", 100), ("light", 200))
_Widget = TypeVar("_Widget", bound=QWidget)


class Effort:
    """Mouse and keys of a person, counted: ``clicks``, and ``keys`` pressed."""

    def __init__(self, qtbot: QtBot) -> None:
        self._qtbot = qtbot
        self.clicks = self.keys = 0

    def mouseClick(self, *given: Any, **named: Any) -> None:
        self.clicks += 1
        self._qtbot.mouseClick(*given, **named)

    def keyClick(self, *given: Any, **named: Any) -> None:
        self.keys += 1
        self._qtbot.keyClick(*given, **named)

    def keyClicks(self, widget: QWidget, text: str, *given: Any, **named: Any) -> None:
        self.keys += len(text)
        self._qtbot.keyClicks(widget, text, *given, **named)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._qtbot, name)

    def __str__(self) -> str:
        return f"{self.clicks} clicks, {self.keys} keys"


class Person:
    """Drives a :class:`Desk`.

    ``shots`` is the folder for pictures, None for none; their names begin with ``name``.
    """

    def __init__(
        self,
        qtbot: QtBot,
        desk: Desk,
        theme: ThemeManager,
        asker: ScriptedAsker,
        shots: Path | None,
        name: str = "",
    ) -> None:
        self.qtbot = self.effort = Effort(qtbot)
        self.desk, self.theme, self.asker = desk, theme, asker
        self.window = desk.window
        self._shots, self._step = shots, 0
        self._prefix = f"{name}-" if name else ""

    # -- seeing

    @property
    def front(self) -> QWidget:
        """What is in front: a dialog, or the window that has the keyboard."""
        dialog = QApplication.activeModalWidget()
        active = QApplication.activeWindow() if dialog is None else dialog
        above = [] if active is None else [active]
        while above and above[-1].parentWidget() is not None:
            above.append(above[-1].parentWidget())
        seen = [one for one in above if one.isWindow() and one.isVisible() and not _pops_up(one)]
        return seen[0] if self.window in seen else self.window

    def find(self, name: str, kind: type[_Widget]) -> _Widget:
        """The one visible widget with this name (a label's text, or the accessible name)."""
        seen = [one for one in self.front.findChildren(kind) if self._sees(one, name)]
        found = [one for one in seen if one.accessibleName() == name] or seen
        if len(found) != 1:
            others = sorted(_called(one) for one in self.front.findChildren(kind) if _shown(one))
            raise AssertionError(f"{len(found)} things called {name!r} are among {others}")
        return found[0]

    def _sees(self, widget: QWidget, name: str) -> bool:
        text = widget.text().replace("&", "") if isinstance(widget, QAbstractButton) else ""
        return _shown(widget) and name in (widget.accessibleName(), text)

    def button(self, *parts: str) -> str:
        """The name of the one button in sight whose name holds all these parts."""
        names = [_called(one) for one in self.front.findChildren(QAbstractButton) if _shown(one)]
        found = [name for name in names if all(part in name for part in parts)]
        assert len(found) == 1, f"{found} have {parts} in their names, of {names}"
        return found[0]

    def texts(self) -> str:
        """All that can be read in what is in front."""
        labels = [one.text() for one in self.front.findChildren(QLabel) if one.isVisible()]
        plain = (re.sub(r"<[^>]+>", "", text) for text in labels if text)
        return "\n".join(plain).replace("\u00a0", " ")

    def reads(self, *parts: str) -> None:
        """Wait until all these parts of sentences are in sight."""

        def there() -> None:
            seen = self.texts()
            for part in parts:
                assert part in seen, f"{part!r} is not among:\n{seen}"

        self.qtbot.waitUntil(there)

    def lines(self, view_name: str) -> list[str]:
        """The lines of a list or table, what stands in their columns joined by bars."""
        model = self.find(view_name, QAbstractItemView).model()
        columns = range(model.columnCount())
        return [
            " | ".join(str(model.index(row, column).data() or "") for column in columns)
            for row in range(model.rowCount())
        ]

    def lists(self, view_name: str, *parts: str) -> None:
        """Wait until each of these parts stands in some line of a list or table."""

        def there() -> None:
            lines = self.lines(view_name)
            for part in parts:
                assert any(part in line for line in lines), f"{part!r} is not among {lines}"

        self.qtbot.waitUntil(there)

    def settled(self, condition: Callable[[], bool] = lambda: True) -> None:
        """Wait until nothing is running any more and ``condition`` holds."""
        hub = self.desk.workbench.hub

        def calm() -> bool:
            return condition() and not hub.busy and not self.desk.protect.busy

        self.qtbot.waitUntil(calm)

    def shoot(self, name: str) -> None:
        """A picture in light, in dark, and with text twice as large; without a folder, a look.

        Fitting the whole window to another look takes a second, three times at every step.
        """
        self._step += 1
        if self._shots is None:
            assert not self.front.grab().isNull()
            settle()
            return
        for mode, percent in LOOKS:
            self.theme.set_mode(mode)
            self.theme.set_text_size(percent)
            self.front.grab()  # axes take their width when they are painted for the first time
            settle()
            picture = self.front.grab()
            assert not picture.isNull()
            path = self._shots / f"{self._prefix}{self._step:02d}-{name}-{mode}-{percent}.png"
            assert picture.save(str(path))
        self.theme.set_mode("light")
        self.theme.set_text_size(100)
        settle()

    def fits(self) -> None:
        """Wait until nothing in front is cut, with text of twice the size as well."""
        for percent in (200, 100):
            self.theme.set_text_size(percent)

            def well(size: int = percent) -> None:
                self.front.grab()
                assert misfits(self.front) == [], f"{size} %"

            self.qtbot.waitUntil(well)
        settle()

    # -- doing

    def click(self, name: str) -> None:
        """Click a button."""
        button = self.find(name, QAbstractButton)
        assert button.isEnabled(), f"{name!r} cannot be used now: {button.toolTip()}"

        def in_sight() -> None:
            self._scroll_to(button)
            place = button.rect().center()
            assert button.visibleRegion().contains(place), f"{name!r} is covered or out of sight"

        self.qtbot.waitUntil(in_sight)
        self.qtbot.mouseClick(button, Qt.MouseButton.LeftButton, pos=button.rect().center())

    def type(self, name: str, text: str) -> None:
        """Replace the text of a field."""
        field = self.find(name, QLineEdit)
        self._scroll_to(field)
        self.qtbot.mouseClick(field, Qt.MouseButton.LeftButton, pos=field.rect().center())
        self.qtbot.keyClick(field, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
        self.qtbot.keyClick(field, Qt.Key.Key_Delete)
        self.qtbot.keyClicks(field, text)

    def write(self, name: str, text: str) -> None:
        """Replace the text of a field with several lines."""
        field = self.find(name, QPlainTextEdit)
        self._scroll_to(field)
        self.qtbot.mouseClick(
            field.viewport(), Qt.MouseButton.LeftButton, pos=field.viewport().rect().center()
        )
        self.qtbot.keyClick(field, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
        for number, line in enumerate(text.split("\n")):
            if number:
                self.qtbot.keyClick(field, Qt.Key.Key_Return)
            self.qtbot.keyClicks(field, line)

    def keys(self, key: Qt.Key, *modifiers: Qt.KeyboardModifier, times: int = 1) -> None:
        """Press a key of the whole window, such as Ctrl+B."""
        combined = Qt.KeyboardModifier.NoModifier
        for one in modifiers:
            combined |= one
        for _ in range(times):
            self.qtbot.keyClick(self.front, key, combined)

    def slide(self, name: str, key: Qt.Key, times: int) -> None:
        """Move a slider by keys."""
        slider = self.find(name, QSlider)
        self._scroll_to(slider)
        slider.setFocus(Qt.FocusReason.TabFocusReason)
        for _ in range(times):
            self.qtbot.keyClick(slider, key)

    def choose(self, name: str, words: str) -> None:
        """Choose a line of a list that folds out, by arrow keys."""
        box = self.find(name, QComboBox)
        self._scroll_to(box)
        lines = [box.itemText(number) for number in range(box.count())]
        assert words in lines, f"{words!r} is not among {lines}"
        box.setFocus(Qt.FocusReason.TabFocusReason)
        self.qtbot.keyClick(box, Qt.Key.Key_Home)
        while box.currentText() != words:
            self.qtbot.keyClick(box, Qt.Key.Key_Down)

    def pick(self, view_name: str, words: str, modifier: Qt.KeyboardModifier | None = None) -> None:
        """Click the line of a list or table that begins with these words."""
        view = self.find(view_name, QAbstractItemView)
        model = view.model()
        index = next(
            (
                model.index(row, 0)
                for row in range(model.rowCount())
                if str(model.index(row, 0).data() or "").split("\n")[0] == words
            ),
            QModelIndex(),
        )
        assert index.isValid(), f"{view_name!r} has no line {words!r}"
        self._scroll_to(view)
        view.scrollTo(index)
        place: QPoint = view.visualRect(index).center()
        assert view.viewport().rect().contains(place)
        modifiers = modifier or Qt.KeyboardModifier.NoModifier
        self.qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, modifiers, place)

    def pick_line(self, view_name: str, words: str) -> None:
        """Click the line of a table that has these words in a column, or begins with them."""
        view = self.find(view_name, QAbstractItemView)
        model = view.model()
        found = [
            model.index(row, column)
            for row in range(model.rowCount())
            for column in range(model.columnCount())
            if str(model.index(row, column).data() or "").startswith(words)
        ]
        assert found, f"{view_name!r} has no line with {words!r}"
        self._scroll_to(view)
        view.scrollTo(found[0])
        place = view.visualRect(found[0]).intersected(view.viewport().rect()).center()
        self.qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)

    def press_in(self, view_name: str, key: Qt.Key) -> None:
        """Press a key in a list or table."""
        self.qtbot.keyClick(self.find(view_name, QAbstractItemView), key)

    def keys_in(
        self, view_name: str, key: Qt.Key, modifier: Qt.KeyboardModifier, times: int
    ) -> None:
        """Press a key in a list or table several times."""
        view = self.find(view_name, QAbstractItemView)
        for _ in range(times):
            self.qtbot.keyClick(view, key, modifier)

    def go(self, number: int) -> None:
        """Ctrl+1 to Ctrl+6."""
        key = Qt.Key(Qt.Key.Key_0.value + number)
        self.keys(key, Qt.KeyboardModifier.ControlModifier)

    def chart(self, question: str) -> ChartView:
        """The chart that answers a question."""
        return self.find(question, ChartView)

    def _scroll_to(self, widget: QWidget) -> None:
        """Turn the wheel until the widget is in sight, in every area around it."""
        parent = widget.parentWidget()
        while parent is not None:
            if isinstance(parent, QScrollArea):
                parent.ensureWidgetVisible(widget, 20, 20)
            elif isinstance(parent, QAbstractScrollArea):
                break
            parent = parent.parentWidget()


def _shown(widget: QWidget) -> bool:
    return widget.isVisible()


def _pops_up(window: QWidget) -> bool:
    return window.windowType() in (Qt.WindowType.Popup, Qt.WindowType.ToolTip)


def _called(widget: QWidget) -> str:
    text = widget.text() if isinstance(widget, QAbstractButton) else ""
    return widget.accessibleName() or text.replace("&", "")
