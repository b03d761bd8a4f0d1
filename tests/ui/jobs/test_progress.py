"""The time left of a step, from its mean speed so far."""

from __future__ import annotations

from dpdesk.core.jobs import StepProgress, StepStarted
from dpdesk.ui.jobs import JobState
from dpdesk.ui.jobs.hub import ProgressFold


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def fold() -> tuple[ProgressFold, Clock]:
    clock = Clock()
    return ProgressFold(JobState(1, "Job"), clock), clock


def test_a_quarter_done_in_three_seconds_leaves_nine() -> None:
    progress, clock = fold()
    progress.add(StepStarted("Counting", 1, 1))
    clock.now = 3.0
    progress.add(StepProgress("Counting", 25, 100))
    assert progress.state.seconds_left == 9.0


def test_nothing_is_promised_without_a_total_or_too_early() -> None:
    progress, clock = fold()
    progress.add(StepStarted("Counting", 1, 1))
    clock.now = 0.1
    progress.add(StepProgress("Counting", 50, 100))
    assert progress.state.seconds_left is None
    clock.now = 5.0
    progress.add(StepProgress("Counting", 60, None))
    assert progress.state.seconds_left is None


def test_a_new_step_starts_its_own_clock() -> None:
    progress, clock = fold()
    progress.add(StepStarted("Reading", 1, 2))
    clock.now = 100.0
    progress.add(StepStarted("Counting", 2, 2))
    clock.now = 102.0
    progress.add(StepProgress("Counting", 1, 2))
    assert progress.state.seconds_left == 2.0


def test_a_state_is_taken_once() -> None:
    progress, _ = fold()
    assert progress.take() is None
    progress.add(StepStarted("Reading", 1, 2))
    assert progress.take() is not None
    assert progress.take() is None
