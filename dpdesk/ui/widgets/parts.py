"""Small parts that most windows are made of: notes, buttons, named fields, lists of lines."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, QUrl
from PySide6.QtGui import QImage
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QLabel,
    QLineEdit,
    QPushButton,
    QTextBrowser,
    QVBoxLayout,
    QWidget,
)

from dpdesk.ui.models import DataGrid, ListModel
from dpdesk.ui.theme import ThemeManager, set_look
from dpdesk.ui.widgets.states import in_window


class Lines(DataGrid):
    """A table of which one whole line is chosen."""

    def __init__(self, theme: ThemeManager, name: str, tip: str) -> None:
        super().__init__(theme, name)
        self.lines = ListModel(parent=self)
        self.setToolTip(tip)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setModel(self.lines)
        self.verticalHeader().hide()
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.horizontalHeader().setStretchLastSection(True)

    @property
    def chosen(self) -> int:
        """The chosen line; -1 when there is none."""
        rows = self.selectionModel().selectedRows()
        return rows[0].row() if rows else -1


def labelled(layout: QVBoxLayout, words: str, field: QWidget, tip: str) -> QWidget:
    """Put a field below its label; both have the same name."""
    label = QLabel(words)
    label.setWordWrap(True)
    label.setBuddy(field)
    field.setAccessibleName(words.replace("&", ""))
    field.setToolTip(tip)
    layout.addWidget(label)
    layout.addWidget(field)
    return field


class RoomyLine(QLineEdit):
    """A field that is wide enough for what it asks for while it is empty."""

    def sizeHint(self) -> QSize:
        """See QWidget; room for the cross that clears it, too."""
        hint = super().sizeHint()
        words = self.fontMetrics().horizontalAdvance(self.placeholderText())
        return QSize(max(hint.width(), words + 2 * hint.height()), hint.height())


def secret_field() -> QLineEdit:
    """A field that shows dots."""
    field = QLineEdit()
    field.setEchoMode(QLineEdit.EchoMode.Password)
    return field


def note(text: str = "", look: str = "note") -> QLabel:
    """A wrapped line of text."""
    label = QLabel(text)
    label.setWordWrap(True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    set_look(label, look)
    return label


def button(text: str, tip: str, look: str = "") -> QPushButton:
    """A button with a name and a tip."""
    made = QPushButton(text)
    made.setAccessibleName(text.replace("&", ""))
    made.setToolTip(tip)
    set_look(made, look)
    return made


class Problem(QLabel):
    """One sentence about what is wrong, with shape and colour; hidden when nothing is."""

    def __init__(self) -> None:
        super().__init__()
        self.setWordWrap(True)
        self.setTextFormat(Qt.TextFormat.PlainText)
        set_look(self, "fail")
        self.hide()

    def say(self, sentence: str) -> None:
        """Show a sentence; empty: nothing."""
        self.setText(f"✕ {in_window(sentence)}" if sentence else "")
        self.setAccessibleName(sentence)
        self.setVisible(bool(sentence))


class LonelyBrowser(QTextBrowser):
    """A page: it shows what stands in it, loads nothing and leads nowhere."""

    def loadResource(self, kind: int, name: QUrl | str) -> object:
        """Nothing from outside the page: one clear dot for a picture.

        Without an answer Qt would look for a file of that name by itself.
        """
        nothing = QImage(1, 1, QImage.Format.Format_ARGB32)
        nothing.fill(Qt.GlobalColor.transparent)
        return nothing
