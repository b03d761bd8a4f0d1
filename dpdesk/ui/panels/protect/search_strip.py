"""How far a search is, with a button that stops it."""

from __future__ import annotations

from PySide6.QtCore import QTimer, Signal, Slot
from PySide6.QtWidgets import QFrame, QLabel, QProgressBar, QPushButton, QWidget

from dpdesk.ui.jobs import JobHub, JobState
from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets import row
from dpdesk.ui.widgets.activity import state_text

SHOW_AFTER_MS = 200


class SearchStrip(QFrame):
    """One line about one job: step n of N, units, time left. Appears after 0.2 s."""

    cancelAsked = Signal()

    def __init__(self, hub: JobHub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._job = 0
        self._doing = ""
        set_look(self, "sunken")
        line = row(self, gap=SPACE.m)
        line.setContentsMargins(SPACE.m, SPACE.s, SPACE.s, SPACE.s)
        self._text = QLabel()
        self._text.setWordWrap(True)
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setFixedWidth(120)
        self._cancel = QPushButton(self.tr("&Cancel"))
        self._cancel.setAccessibleName(self.tr("Cancel the search"))
        self._cancel.setToolTip(self.tr("Stop searching; the last result stays (Esc)"))
        self._cancel.clicked.connect(self._on_cancel)
        line.addWidget(self._text, 1)
        line.addWidget(self._bar)
        line.addWidget(self._cancel)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.show)
        hub.progressed.connect(self._on_progress)
        self.hide()

    def follow(self, job: int, doing: str = "") -> None:
        """Show the progress of this job; 0: of none. ``doing`` says what it does, in one word."""
        if job == self._job:
            return
        self._job = job
        self._doing = doing or self.tr("Searching")
        self._cancel.setEnabled(True)
        if job:
            self._say(f"{self._doing}…", None)
            self._timer.start(SHOW_AFTER_MS)
        else:
            self._timer.stop()
            self.hide()

    @property
    def text(self) -> str:
        """The line."""
        return self._text.text()

    def _say(self, text: str, share: float | None) -> None:
        self._text.setText(text)
        self._bar.setRange(0, 0 if share is None else 1_000)
        self._bar.setValue(0 if share is None else round(1_000 * min(1.0, share)))
        self._bar.setAccessibleName(text)
        self.setAccessibleName(text)

    @Slot(object)
    def _on_progress(self, state: JobState) -> None:
        if state.job != self._job:
            return
        text = self.tr("Stopping…") if state.cancelling else state_text(state)
        share = state.done / state.total if state.total else None
        self._say(f"{self._doing}: {text}", share)
        self._cancel.setEnabled(not state.cancelling)

    @Slot()
    def _on_cancel(self) -> None:
        self._cancel.setEnabled(False)
        self._say(self.tr("Stopping…"), None)
        self.cancelAsked.emit()
