"""What a running job of this panel is doing, with its Cancel, where the person is looking."""

from __future__ import annotations

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QLabel, QProgressBar, QPushButton, QWidget

from dpdesk.ui.jobs import JobHub, JobOutcome, JobState
from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets import row
from dpdesk.ui.widgets.activity import state_text


class JobLine(QWidget):
    """Follows one job of the hub until it ends; hidden while there is none.

    ``tip`` says what stopping means where it is not the usual: that nothing is changed.
    """

    def __init__(self, hub: JobHub, parent: QWidget | None = None, tip: str = "") -> None:
        super().__init__(parent)
        self._hub = hub
        self._job = 0
        layout = row(self, gap=SPACE.m)
        self._text = QLabel()
        set_look(self._text, "note")
        self._text.setWordWrap(True)
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setFixedWidth(120)
        self._cancel = QPushButton(self.tr("Cancel"))
        self._cancel.setAccessibleName(self.tr("Cancel what is being done here"))
        self._cancel.setToolTip(tip or self.tr("Stop; nothing is changed (Esc)"))
        self._cancel.clicked.connect(self._on_cancel)
        layout.addWidget(self._text, 1)
        layout.addWidget(self._bar)
        layout.addWidget(self._cancel)
        hub.progressed.connect(self._on_progressed)
        hub.finished.connect(self._on_finished)
        self.hide()

    @property
    def job(self) -> int:
        """Number of the job that is followed, 0 when there is none."""
        return self._job

    @property
    def text(self) -> str:
        """What is written."""
        return self._text.text()

    def follow(self, job: int, title: str) -> None:
        """Show a job; 0 shows nothing."""
        self._job = job
        self._title = title
        self._cancel.setEnabled(True)
        self._bar.setRange(0, 0)
        self._say(title)
        self.setVisible(job != 0)

    def _say(self, text: str) -> None:
        self._text.setText(text)
        self._bar.setAccessibleName(text)

    @Slot(object)
    def _on_progressed(self, state: JobState) -> None:
        if state.job != self._job:
            return
        words = self.tr("stopping…") if state.cancelling else state_text(state)
        self._say(f"{self._title} · {words}" if words else self._title)
        self._cancel.setEnabled(not state.cancelling)
        if state.total:
            self._bar.setRange(0, 1_000)
            self._bar.setValue(min(1_000, round(1_000 * state.done / state.total)))
        else:
            self._bar.setRange(0, 0)

    @Slot(object)
    def _on_finished(self, outcome: JobOutcome) -> None:
        if outcome.job == self._job:
            self._job = 0
            self.hide()

    @Slot()
    def _on_cancel(self) -> None:
        self._cancel.setEnabled(False)
        self._say(self.tr("stopping…"))
        self._hub.cancel(self._job)
