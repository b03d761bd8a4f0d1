"""What the present settings would release: one dry run at a time, the newest settings win."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from dpdesk.app.types import Candidate, WorkState
from dpdesk.ui.jobs import JobCancelled, JobDone, JobFailed
from dpdesk.ui.panels.review.presenter import known_candidate, same_release
from dpdesk.ui.workbench import Workbench, tasks

_CHANNEL = "review.preview"


class Preview(QObject):
    """``changed()`` when :attr:`candidate`, :attr:`problem` or :attr:`current` is new."""

    changed = Signal()

    def __init__(self, workbench: Workbench, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bench = workbench
        self._of: WorkState | None = None
        self._candidate: Candidate | None = None
        self._problem: JobFailed | None = None

    @property
    def candidate(self) -> Candidate | None:
        """What would be released; look at :attr:`current` before trusting it."""
        return self._candidate

    @property
    def problem(self) -> JobFailed | None:
        """Why the present settings cannot be released; None when they can, or are not tried."""
        return self._problem if same_release(self._of, self._bench.work) else None

    @property
    def current(self) -> bool:
        """Whether the candidate is that of the present settings."""
        work = self._bench.work
        return self._candidate is not None and same_release(self._candidate.work, work)

    def forget(self) -> None:
        """Other data: nothing that was worked out holds."""
        self._bench.hub.latest(_CHANNEL).cancel()
        self._of = self._candidate = self._problem = None

    def work_out(self) -> None:
        """Run the settings without writing anything, unless that has been done or is under way."""
        bench = self._bench
        if bench.data is None or same_release(self._of, bench.work):
            return
        self._of, self._problem = bench.work, None
        kept = known_candidate(bench.work, bench.candidates)
        if kept is not None:
            bench.hub.latest(_CHANNEL).cancel()
            self._candidate = kept
            return
        bench.hub.latest(_CHANNEL).query(
            self.tr("Working out what would be released"),
            tasks.MakeCandidate(bench.context, bench.data, bench.work, ""),
            done=self._on_done,
            failed=self._on_failed,
            cancelled=self._on_cancelled,
        )

    def _on_done(self, outcome: JobDone) -> None:
        if isinstance(outcome.value, Candidate):
            self._candidate = outcome.value
            self.changed.emit()

    def _on_failed(self, outcome: JobFailed) -> None:
        self._problem = outcome
        self.changed.emit()

    def _on_cancelled(self, outcome: JobCancelled) -> None:
        self._of = None
        self.changed.emit()
