"""Folding the events of one job into its state, from any thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace

from dpdesk.core.jobs import Event, StepProgress, StepStarted
from dpdesk.ui.jobs.outcomes import JobState

MIN_SECONDS = 0.5
MIN_SHARE = 0.01


class ProgressFold:
    """The latest state of a job; the worker writes, the main thread takes what changed.

    However many events come, at most one state waits: this is what coalesces progress.
    """

    def __init__(self, state: JobState, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._state = state
        self._changed = False
        self._step_began = clock()

    def add(self, event: Event) -> None:
        """Fold one event (called by the worker)."""
        with self._lock:
            self._state = self._folded(event)
            self._changed = True

    def mark_cancelling(self) -> None:
        """Say that the user asked to stop."""
        with self._lock:
            self._state = replace(self._state, cancelling=True, seconds_left=None)
            self._changed = True

    def take(self) -> JobState | None:
        """The state if it changed since the last call, else None."""
        with self._lock:
            if not self._changed:
                return None
            self._changed = False
            return self._state

    @property
    def state(self) -> JobState:
        """The state as it stands."""
        with self._lock:
            return self._state

    def _folded(self, event: Event) -> JobState:
        state = self._state
        if isinstance(event, StepStarted):
            self._step_began = self._clock()
            return replace(
                state,
                step=event.step,
                index=event.index,
                count=event.count,
                done=0,
                total=None,
                unit="",
                seconds_left=None,
            )
        if isinstance(event, StepProgress):
            if event.step != state.step or event.done < state.done:
                self._step_began = self._clock()
            return replace(
                state,
                step=event.step,
                done=event.done,
                total=event.total,
                unit=event.unit,
                seconds_left=self._seconds_left(event),
            )
        return replace(state, notes=(*state.notes, event.sentence))

    def _seconds_left(self, event: StepProgress) -> float | None:
        """Rest of the step at its mean speed so far; None while too little is known."""
        elapsed = self._clock() - self._step_began
        if not event.total or event.done <= 0 or elapsed < MIN_SECONDS:
            return None
        share = event.done / event.total
        if share < MIN_SHARE:
            return None
        return max(0.0, elapsed * (1 - share) / share)
