"""Views of an exploration, made in the background: one at a time, the newest wish next.

A dragged slider wishes faster than views are made. Waiting wishes are replaced by newer ones, and
each view that arrives is shown, so the pictures follow the hand and the event loop never waits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from PySide6.QtCore import QObject, Signal

from dpdesk.app.types import ExplorationView, Explored
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.ui.jobs import JobCancelled, JobDone, JobFailed, JobHub


@dataclass(frozen=True)
class LiveAnswer:
    """A view and what was asked for it."""

    explored: Explored = field(repr=False)
    parameters: Mapping[str, object]
    view: ExplorationView = field(repr=False)


@dataclass(frozen=True)
class ViewWish:
    """Work for a background thread: make one view."""

    explored: Explored = field(repr=False)
    parameters: Mapping[str, object]

    def __call__(self, token: CancelToken, report: Report) -> LiveAnswer:
        """The view."""
        view = self.explored.view(self.parameters)
        return LiveAnswer(self.explored, self.parameters, view)


class LiveViews(QObject):
    """``arrived(LiveAnswer)`` for each view made, ``failed(JobFailed)`` when one cannot be made."""

    arrived = Signal(object)
    failed = Signal(object)

    def __init__(self, hub: JobHub, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self._running = False
        self._next: ViewWish | None = None

    @property
    def busy(self) -> bool:
        """Whether a view is on its way."""
        return self._running

    def ask(self, explored: Explored, parameters: Mapping[str, object]) -> None:
        """Wish for the view of these parameters (plain values)."""
        self._next = ViewWish(explored, dict(parameters))
        if not self._running:
            self._start()

    def _start(self) -> None:
        wish, self._next = self._next, None
        if wish is None:
            return
        job = self._hub.query(
            self.tr("Drawing the charts"),
            wish,
            done=self._on_done,
            failed=self._on_failed,
            cancelled=self._on_cancelled,
            quiet=True,
        )
        self._running = job != 0

    def _on_done(self, outcome: JobDone) -> None:
        self._running = False
        # The next one is under way while this one is being painted.
        self._start()
        if isinstance(outcome.value, LiveAnswer):
            self.arrived.emit(outcome.value)

    def _on_failed(self, outcome: JobFailed) -> None:
        self._running = False
        newer = self._next is not None
        self._start()
        if not newer:
            self.failed.emit(outcome)

    def _on_cancelled(self, outcome: JobCancelled) -> None:
        self._running = False
        self._start()
