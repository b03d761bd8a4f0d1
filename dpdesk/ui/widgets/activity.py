"""Running jobs, one row each, or one line where the person is looking; each with its Cancel."""

from __future__ import annotations

import time
from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, QObject, QTimer, Signal, Slot
from PySide6.QtWidgets import QFrame, QLabel, QProgressBar, QPushButton, QSizePolicy, QWidget

from dpdesk.core.messages import msg
from dpdesk.ui.jobs import JobHub, JobOutcome, JobState
from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets.layouts import column, row
from dpdesk.ui.widgets.states import ElidedLabel
from dpdesk.ui.words.numbers import grouped
from dpdesk.ui.words.spoken import said

SHOW_AFTER_MS = 2_000


def time_left_text(seconds: float | None) -> str:
    """Words for a time left; empty when unknown."""
    if seconds is None:
        return ""
    if seconds < 5:
        text, number = QCoreApplication.translate("Activity", "a few seconds left"), 0
    elif seconds < 60:
        text = QCoreApplication.translate("Activity", "about {n} seconds left")
        number = 5 * round(seconds / 5)
    elif seconds < 5_400:
        text = QCoreApplication.translate("Activity", "about {n} minutes left")
        number = max(1, round(seconds / 60))
        if number == 1:
            text = QCoreApplication.translate("Activity", "about a minute left")
    else:
        text = QCoreApplication.translate("Activity", "about {n} hours left")
        number = round(seconds / 3_600)
    return text.format(n=number)


def state_text(state: JobState) -> str:
    """One line about a job: step n of N, units done, time left."""
    if state.keeping:
        return QCoreApplication.translate("Activity", "ending with the best so far…")
    parts = []
    if state.step:
        step = said(state.step)
        if state.count > 1:
            template = QCoreApplication.translate("Activity", "step {n} of {count}: {step}")
            step = template.format(n=state.index, count=state.count, step=step)
        parts.append(step)
    unit = f" {said(state.unit)}" if state.unit else ""
    if state.total:
        template = QCoreApplication.translate("Activity", "{done} of {total}{unit}")
        parts.append(
            template.format(done=grouped(state.done), total=grouped(state.total), unit=unit)
        )
    elif state.done:
        parts.append(f"{grouped(state.done)}{unit}")
    left = time_left_text(state.seconds_left)
    if left:
        parts.append(left)
    return " · ".join(parts)


class JobFollower(QFrame):
    """Says how far one job is, where the person is looking; ``job`` is its number, 0 for none."""

    job = 0


class ActivityList(QFrame):
    """Rows of the hub's jobs; jobs that end within ``show_after`` ms are never shown.

    Nor are those that a follower in sight shows already, unless somebody asks for all of them.
    ``countChanged(int)`` says how many jobs (shown or not, quiet ones left out) are running.
    """

    countChanged = Signal(int)

    def __init__(
        self, hub: JobHub, parent: QWidget | None = None, show_after: int = SHOW_AFTER_MS
    ) -> None:
        super().__init__(parent)
        self._hub = hub
        self._show_after = show_after / 1_000
        self._waiting: dict[int, tuple[float, JobState]] = {}
        self._rows: dict[int, JobRow] = {}
        self._followers: tuple[JobFollower, ...] = ()
        self._all = False
        set_look(self, "sunken")
        self.setAccessibleName(self.tr("Running jobs"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)
        self._layout = column(self, margin=SPACE.s, gap=SPACE.xs)
        self._timer = QTimer(self)
        self._timer.setInterval(max(10, min(200, show_after // 4)))
        self._timer.timeout.connect(self._show_due)
        hub.started.connect(self._on_started)
        hub.progressed.connect(self._on_progressed)
        hub.finished.connect(self._on_finished)
        self.hide()

    @property
    def count(self) -> int:
        """Number of running jobs, shown or not."""
        return len(self._waiting) + len(self._rows)

    def leave_to(self, followers: Sequence[JobFollower]) -> None:
        """Leave jobs to those that show them already, as long as they are in sight."""
        self._followers = tuple(followers)

    def show_all(self) -> None:
        """Show waiting jobs now (the user asked to see them)."""
        self._all = True
        for number in tuple(self._waiting):
            self._show(number)
        self._show_rows()

    @Slot(object)
    def _on_started(self, state: JobState) -> None:
        if state.quiet:
            return
        self._waiting[state.job] = (time.monotonic(), state)
        self._timer.start()
        self.countChanged.emit(self.count)

    @Slot(object)
    def _on_progressed(self, state: JobState) -> None:
        shown = self._rows.get(state.job)
        if shown is not None:
            shown.set_state(state)
        elif state.job in self._waiting:
            began, _ = self._waiting[state.job]
            self._waiting[state.job] = (began, state)

    @Slot(object)
    def _on_finished(self, outcome: JobOutcome) -> None:
        known = self._waiting.pop(outcome.job, None) is not None
        shown = self._rows.pop(outcome.job, None)
        if shown is not None:
            self._layout.removeWidget(shown)
            shown.hide()
            shown.deleteLater()
        if not self.count:
            self._all = False
            self._timer.stop()
        self._show_rows()
        if known or shown is not None:
            self.countChanged.emit(self.count)

    @Slot()
    def _show_due(self) -> None:
        now = time.monotonic()
        for number, (began, _) in tuple(self._waiting.items()):
            if now - began >= self._show_after:
                self._show(number)
        self._show_rows()

    def _show_rows(self) -> None:
        """Each job in one place: here only where nothing else in sight shows it."""
        seen = {one.job for one in self._followers if one.isVisible()}
        for number, shown in self._rows.items():
            shown.setVisible(self._all or number not in seen)
        self.setVisible(any(not shown.isHidden() for shown in self._rows.values()))

    def _show(self, number: int) -> None:
        _, state = self._waiting.pop(number)
        shown = JobRow(state, self)
        shown.cancelAsked.connect(self._hub.end)
        self._rows[number] = shown
        self._layout.addWidget(shown)
        self._show_rows()


def share_done(state: JobState) -> float:
    """How much of all steps of a job is done, 0 to 1, steps counting alike; 0 where unknown."""
    step = min(1.0, state.done / state.total) if state.total else 0.0
    return (max(0, state.index - 1) + step) / max(1, state.count)


class ShareBar(QProgressBar):
    """How far a job is; it runs to and fro while nobody knows the total."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.setTextVisible(False)
        self.setFixedWidth(width)

    def show_state(self, state: JobState | None) -> None:
        """Show the share that is done; None: a job of which nothing is known yet."""
        share = 0.0 if state is None else share_done(state)
        known = state is not None and (bool(state.total) or share > 0)
        self.setRange(0, 1_000 if known else 0)
        self.setValue(round(1_000 * share))


class JobRow(QWidget):
    """One job; its button answers at once, the work ends soon after."""

    cancelAsked = Signal(int)

    def __init__(self, state: JobState, parent: QObject | None = None) -> None:
        super().__init__(parent if isinstance(parent, QWidget) else None)
        self._job = state.job
        layout = row(self, gap=SPACE.m)
        self._title = ElidedLabel(state.title)
        set_look(self._title, "strong")
        self._text = ElidedLabel()
        set_look(self._text, "note")
        self._bar = ShareBar(160)
        self._button = QPushButton(self.tr("Cancel"))
        self._button.setToolTip(self.tr("Stop this job; a search ends with the best so far (Esc)"))
        self._button.setAccessibleName(self.tr("Cancel {job}").format(job=state.title))
        self._button.clicked.connect(self._on_clicked)
        layout.addWidget(self._title)
        layout.addWidget(self._text, 1)
        layout.addWidget(self._bar)
        layout.addWidget(self._button)
        self.set_state(state)

    def set_state(self, state: JobState) -> None:
        """Show how far the job is; a percentage only when the total is known."""
        text = self.tr("stopping…") if state.cancelling else state_text(state)
        self._text.setText(text)
        self._button.setEnabled(not state.cancelling)
        self._bar.show_state(state)
        self._bar.setAccessibleName(msg("{file}: {note}", file=state.title, note=text))
        self.setAccessibleName(msg("{file}: {note}", file=state.title, note=text))

    @Slot()
    def _on_clicked(self) -> None:
        self._button.setEnabled(False)
        self._text.setText(self.tr("stopping…"))
        self.cancelAsked.emit(self._job)


class JobLine(JobFollower):
    """Follows one job of the hub until it ends; hidden while there is none.

    ``tip`` says what stopping means where it is not the usual: that nothing is changed.
    """

    def __init__(self, hub: JobHub, parent: QWidget | None = None, tip: str = "") -> None:
        super().__init__(parent)
        self._hub = hub
        layout = row(self, gap=SPACE.m)
        self._text = QLabel()
        set_look(self._text, "note")
        self._text.setWordWrap(True)
        self._bar = ShareBar(120)
        self._cancel = QPushButton(self.tr("Cancel"))
        self._cancel.setAccessibleName(self.tr("Cancel what is running here"))
        self._cancel.setToolTip(tip or self.tr("Stop; nothing is changed (Esc)"))
        self._cancel.clicked.connect(self._on_cancel)
        layout.addWidget(self._text, 1)
        layout.addWidget(self._bar)
        layout.addWidget(self._cancel)
        hub.progressed.connect(self._on_progressed)
        hub.finished.connect(self._on_finished)
        self.hide()

    @property
    def text(self) -> str:
        """What is written."""
        return self._text.text()

    def follow(self, job: int, title: str) -> None:
        """Show a job; 0 shows nothing."""
        self.job = job
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
        if state.job != self.job:
            return
        words = self.tr("stopping…") if state.cancelling else state_text(state)
        self._say(f"{self._title} · {words}" if words else self._title)
        self._cancel.setEnabled(not state.cancelling)
        self._bar.show_state(state)

    @Slot(object)
    def _on_finished(self, outcome: JobOutcome) -> None:
        if outcome.job == self.job:
            self.job = 0
            self.hide()

    @Slot()
    def _on_cancel(self) -> None:
        self._cancel.setEnabled(False)
        self._say(self.tr("stopping…"))
        self._hub.end(self.job)
