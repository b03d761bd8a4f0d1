"""Views of an exploration, made in the background: one at a time, the newest wish next.

A dragged slider wishes faster than views are made. Waiting wishes are replaced by newer ones, and
each view that arrives is shown, so the pictures follow the hand and the event loop never waits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from dpdesk.app.types import ExplorationView, Explored
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.ui.jobs import JobCancelled, JobDone, JobFailed, JobHub
from dpdesk.ui.words.spoken import said

REST_MS = 250


@dataclass(frozen=True)
class LiveAnswer:
    """A view and what was asked for it."""

    explored: Explored = field(repr=False)
    parameters: Mapping[str, object]
    view: ExplorationView = field(repr=False)


@dataclass(frozen=True)
class ViewRequest:
    """What a view is wanted of."""

    explored: Explored = field(repr=False)
    parameters: Mapping[str, object]


def make_view(wish: ViewRequest, token: CancelToken, report: Report) -> LiveAnswer:
    """Make one view."""
    view = wish.explored.view(wish.parameters, token, report)
    return LiveAnswer(wish.explored, wish.parameters, view)


def grow_view(wish: ViewRequest, token: CancelToken, report: Report) -> LiveAnswer:
    """Add the next thing to a view."""
    view = wish.explored.grow(wish.parameters, token, report)
    return LiveAnswer(wish.explored, wish.parameters, view)


class LiveViews(QObject):
    """``arrived(LiveAnswer)`` for each view made, ``failed(JobFailed)`` when one cannot be made.

    Views that take long begin when the hand rests, give way to newer wishes, and can be stopped:
    ``started()`` tells that :attr:`job` is new, ``stopped(ViewWish)`` that the user stopped one.
    """

    arrived = Signal(object)
    failed = Signal(object)
    started = Signal()
    stopped = Signal(object)

    def __init__(self, hub: JobHub, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self._running: ViewRequest | None = None
        self._job = 0
        self._next: ViewRequest | None = None
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(REST_MS)
        self._rest.timeout.connect(self._start)

    @property
    def busy(self) -> bool:
        """Whether a view is on its way."""
        return self._running is not None or self._next is not None

    @property
    def job(self) -> int:
        """Number of the job that makes a view that takes long; 0 when there is none."""
        patient = self._running is not None and self._running.explored.patient
        return self._job if patient else 0

    def ask(self, explored: Explored, parameters: Mapping[str, object]) -> None:
        """Wish for the view of these parameters (plain values)."""
        wish = ViewRequest(explored, dict(parameters))
        if explored.patient:
            self._ask_patiently(wish)
            return
        self._next = wish
        if self._running is None:
            self._start()

    def forget(self) -> None:
        """Nobody waits for a view any more."""
        self._next = None
        self._rest.stop()
        if self._running is not None:
            self._hub.cancel(self._job)

    def _ask_patiently(self, wish: ViewRequest) -> None:
        if self._running == wish:
            self._next = None
        elif self._next != wish:
            self._next = wish
            if self._running is not None:
                self._hub.cancel(self._job)
            self._rest.start()

    @Slot()
    def _start(self) -> None:
        if self._running is not None or self._next is None:
            return
        wish, self._next = self._next, None
        patient = wish.explored.patient
        self._job = self._hub.query(
            self.tr("Planning the noise") if patient else self.tr("Drawing the charts"),
            partial(make_view, wish),
            then=self._on_done,
            failed=self._on_failed,
            cancelled=self._on_cancelled,
            quiet=not patient,
        )
        self._running = wish if self._job else None
        self.started.emit()

    def _on_done(self, found: LiveAnswer) -> None:
        self._end()
        self.arrived.emit(found)

    def _on_failed(self, outcome: JobFailed) -> None:
        newer = self._next is not None
        self._end()
        if not newer:
            self.failed.emit(outcome)

    def _on_cancelled(self, outcome: JobCancelled) -> None:
        wish, newer = self._running, self._next is not None
        self._end()
        if not newer:
            self.stopped.emit(wish)

    def _end(self) -> None:
        """The next one is under way while the last one is being painted."""
        self._running = None
        if not self._rest.isActive():
            self._start()
        self.started.emit()


GROW_REST_MS = 600
_FREE = frozenset(("epsilon", "rho", "delta", "nonnegative", "integral"))


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
        self._running: ViewRequest | None = None
        self._wanted: LiveAnswer | None = None
        self._stopped: ViewRequest | None = None
        self._last: LiveAnswer | None = None
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(GROW_REST_MS)
        self._rest.timeout.connect(self._start)

    @property
    def job(self) -> int:
        """The job under way; 0 when there is none."""
        return self._job

    def follow(self, answer: LiveAnswer) -> None:
        """Add to this view what it lacks, once the hand rests."""
        wish = ViewRequest(answer.explored, answer.parameters)
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
        wish = ViewRequest(answer.explored, answer.parameters)
        self._job = self._hub.query(
            self.tr("Computing {what}").format(what=said(answer.view.pending)),
            partial(grow_view, wish),
            done=self._on_done,
            failed=self._on_ended,
            cancelled=self._on_cancelled,
        )
        self._running = wish if self._job else None

    def _on_done(self, outcome: JobDone[LiveAnswer]) -> None:
        self._on_ended(outcome)
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


def _alike(first: ViewRequest, second: ViewRequest | None) -> bool:
    """Whether the same plans serve both wishes."""
    if second is None or first.explored is not second.explored:
        return False
    kept = (
        {key: value for key, value in wish.parameters.items() if key not in _FREE}
        for wish in (first, second)
    )
    return next(kept) == next(kept)
