"""What takes long is added to the pictures when it is ready: slow planners, a simulated bias.

It begins when the hand has rested for a while, one thing after another. A change of the budget
alone does not stop it, since what is made does not depend on that; any other change does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from dpdesk.app.types import Explored
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.ui.jobs import JobCancelled, JobDone, JobHub
from dpdesk.ui.panels.protect.live import LiveAnswer
from dpdesk.ui.words.spoken import said

REST_MS = 600
_FREE = frozenset(("epsilon", "rho", "delta", "nonnegative", "integral"))


@dataclass(frozen=True)
class GrowRequest:
    """Work for a background thread: add the next thing to a view."""

    explored: Explored = field(repr=False)
    parameters: Mapping[str, object]

    def __call__(self, token: CancelToken, report: Report) -> LiveAnswer:
        """The view with it."""
        view = self.explored.grow(self.parameters, token, report)
        return LiveAnswer(self.explored, self.parameters, view)


class GrowingViews(QObject):
    """``arrived(LiveAnswer)`` when something was added to a view; ``stopped(str)`` names what the
    user stopped and can ask for :meth:`again`, empty when there is nothing of that kind any more.
    """

    arrived = Signal(object)
    stopped = Signal(str)

    def __init__(self, hub: JobHub, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self._job = 0
        self._running: GrowRequest | None = None
        self._wanted: LiveAnswer | None = None
        self._stopped: GrowRequest | None = None
        self._last: LiveAnswer | None = None
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(REST_MS)
        self._rest.timeout.connect(self._start)

    @property
    def job(self) -> int:
        """The job under way; 0 when there is none."""
        return self._job

    def follow(self, answer: LiveAnswer) -> None:
        """Add to this view what it lacks, once the hand rests."""
        wish = GrowRequest(answer.explored, answer.parameters)
        pending = answer.view.pending
        refused = bool(pending) and _alike(wish, self._stopped)
        self._last, self._wanted = answer, answer if pending and not refused else None
        self.stopped.emit(pending if refused else "")
        if self._running is not None and not _alike(wish, self._running):
            self._hub.cancel(self._job)
        if self._wanted is not None and self._running is None:
            self._rest.start()

    @Slot()
    def again(self) -> None:
        """Make what was stopped after all."""
        self._stopped = None
        if self._last is not None:
            self.follow(self._last)

    def forget(self) -> None:
        """Nobody waits for more any longer."""
        self._wanted = self._last = None
        self._rest.stop()
        self._hub.cancel(self._job)

    @Slot()
    def _start(self) -> None:
        answer, self._wanted = self._wanted, None
        if answer is None or self._running is not None:
            return
        wish = GrowRequest(answer.explored, answer.parameters)
        self._job = self._hub.query(
            self.tr("Computing {what}").format(what=said(answer.view.pending)),
            wish,
            done=self._on_done,
            failed=self._on_ended,
            cancelled=self._on_cancelled,
        )
        self._running = wish if self._job else None

    def _on_done(self, outcome: JobDone) -> None:
        self._on_ended(outcome)
        if isinstance(outcome.value, LiveAnswer):
            self.arrived.emit(outcome.value)

    def _on_cancelled(self, outcome: JobCancelled) -> None:
        stopped = self._running
        self._on_ended(outcome)
        if self._wanted is None:  # by the user, not for the sake of other settings
            self._stopped = stopped
            self.stopped.emit("" if self._last is None else self._last.view.pending)

    def _on_ended(self, outcome: object) -> None:
        self._job, self._running = 0, None
        if self._wanted is not None:
            self._rest.start()


def _alike(first: GrowRequest, second: GrowRequest | None) -> bool:
    """Whether the same plans serve both wishes."""
    if second is None or first.explored is not second.explored:
        return False
    kept = (
        {key: value for key, value in wish.parameters.items() if key not in _FREE}
        for wish in (first, second)
    )
    return next(kept) == next(kept)
