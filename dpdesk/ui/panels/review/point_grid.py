"""The list of what is to be decided; letters decide the chosen line."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView

from dpdesk.ui.models import DataGrid
from dpdesk.ui.theme import ThemeManager

_PLAIN = (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier)
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class PointGrid(DataGrid):
    """``letterTyped(str)`` with one of ``letters`` (capitals), ``commentAsked()`` by Enter."""

    letterTyped = Signal(str)
    commentAsked = Signal()

    def __init__(self, theme: ThemeManager, name: str) -> None:
        super().__init__(theme, name)
        self.letters = ""
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.verticalHeader().hide()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Letters decide, Enter goes to the comment."""
        plain, letter = event.modifiers() in _PLAIN, event.text().upper()
        if plain and len(letter) == 1 and letter in self.letters:
            self.letterTyped.emit(letter)
        elif plain and event.key() in _ENTER:
            self.commentAsked.emit()
        else:
            super().keyPressEvent(event)
