"""While a file is being read: which step, how far, how long, and a way to stop."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QLabel, QProgressBar, QPushButton, QWidget

from dpdesk.core.messages import msg
from dpdesk.ui.jobs import JobState
from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.activity import state_text


class LoadingPage(QFrame):
    """Progress of one job; ``cancelAsked()``."""

    cancelAsked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_look(self, "card")
        layout = column(self, margin=SPACE.xl, gap=SPACE.m)
        self._title, self._text, self._bar = QLabel(), QLabel(), QProgressBar()
        set_look(self._title, "section")
        set_look(self._text, "note")
        self._bar.setTextVisible(False)
        self._bar.setFixedWidth(420)
        self.cancel_button = QPushButton(self.tr("&Cancel"))
        self.cancel_button.setToolTip(self.tr("Stop reading; nothing is changed (Esc)"))
        self.cancel_button.clicked.connect(self._on_cancel)
        layout.addStretch(1)
        for widget in (self._title, self._bar, self._text, self.cancel_button):
            layout.addWidget(widget, 0, Qt.AlignmentFlag.AlignCenter)
        layout.addStretch(2)

    def begin(self) -> None:
        """A new job, of which nothing is known yet."""
        self._title.setText(self.tr("Reading the file…"))
        self._text.setText(" ")
        self._bar.setRange(0, 0)
        self.cancel_button.setEnabled(True)

    def set_state(self, state: JobState) -> None:
        """Show how far the job is."""
        self._title.setText(f"{state.title}…")
        text = self.tr("stopping…") if state.cancelling else state_text(state)
        self._text.setText(text or " ")
        self.cancel_button.setEnabled(not state.cancelling)
        if state.total:
            self._bar.setRange(0, 1_000)
            self._bar.setValue(min(1_000, round(1_000 * state.done / state.total)))
        else:
            self._bar.setRange(0, 0)
        self._bar.setAccessibleName(msg("{file}: {note}", file=state.title, note=text))

    def _on_cancel(self) -> None:
        self.cancel_button.setEnabled(False)
        self._text.setText(self.tr("stopping…"))
        self.cancelAsked.emit()
