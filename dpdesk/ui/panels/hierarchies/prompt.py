"""One line that asks for a label where it is needed, in place of a dialog."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QStringListModel, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QCompleter, QFrame, QLabel, QLineEdit, QPushButton, QWidget

from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets import column, row
from dpdesk.ui.widgets.wording import in_window


class Prompt(QFrame):
    """``accepted(str)`` after Enter, ``rejected()`` after Escape; errors stand below the line."""

    accepted = Signal(str)
    rejected = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_look(self, "sunken")
        layout = column(self, margin=SPACE.s, gap=SPACE.xs)
        self._question = QLabel()
        self._question.setWordWrap(True)
        self.line = QLineEdit()
        self._question.setBuddy(self.line)
        self._completer = QCompleter(self)
        self._completer.setModel(QStringListModel(self._completer))
        self._completer.setFilterMode(Qt.MatchFlag.MatchContains)
        self._completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.line.setCompleter(self._completer)
        self.ok = QPushButton(self.tr("OK"))
        self.ok.setToolTip(self.tr("Make the change (Enter)"))
        self.ok.setAccessibleName(self.tr("Make the change"))
        self.cancel = QPushButton(self.tr("Cancel"))
        self.cancel.setToolTip(self.tr("Leave everything as it is (Escape)"))
        self.cancel.setAccessibleName(self.tr("Leave everything as it is"))
        self._error = QLabel()
        self._error.setWordWrap(True)
        set_look(self._error, "fail")
        line = row()
        line.addWidget(self.line, 1)
        line.addWidget(self.ok)
        line.addWidget(self.cancel)
        layout.addWidget(self._question)
        layout.addLayout(line)
        layout.addWidget(self._error)
        self.line.returnPressed.connect(self._on_ok)
        self.ok.clicked.connect(self._on_ok)
        self.cancel.clicked.connect(self.close_prompt)
        self.hide()

    @property
    def question(self) -> str:
        """What is asked."""
        return self._question.text()

    @property
    def error(self) -> str:
        """The error on show."""
        return self._error.text()

    def ask(self, question: str, text: str = "", offers: Sequence[str] = ()) -> None:
        """Ask; ``offers`` complete what is typed."""
        self._question.setText(question)
        self.line.setAccessibleName(question)
        self.line.setToolTip(question)
        model = self._completer.model()
        if isinstance(model, QStringListModel):
            model.setStringList(list(offers))
        self.line.setText(text)
        self.line.selectAll()
        self.show_error("")
        self.show()
        self.line.setFocus(Qt.FocusReason.OtherFocusReason)

    def show_error(self, sentence: str) -> None:
        """Say why the change could not be made."""
        self._error.setText(f"✕ {in_window(sentence)}" if sentence else "")
        self._error.setVisible(bool(sentence))

    @Slot()
    def close_prompt(self) -> None:
        """Take the question away."""
        if not self.isHidden():
            self.hide()
            self.rejected.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape cancels."""
        if event.key() == Qt.Key.Key_Escape:
            self.close_prompt()
            return
        super().keyPressEvent(event)

    @Slot()
    def _on_ok(self) -> None:
        self.accepted.emit(self.line.text().strip())
