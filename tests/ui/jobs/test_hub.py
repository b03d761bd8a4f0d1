"""The hub: one outcome per job, in the main thread, cancel and supersede, close without waiting."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable

import pytest
from PySide6.QtCore import QObject, Signal, Slot
from pytestqt.qtbot import QtBot

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, Note, Report, StepProgress, StepStarted
from dpdesk.ui.jobs import JobCancelled, JobDone, JobFailed, JobHub, JobState
from tests.helpers.waiting import PATIENCE_SECONDS


class Listener(QObject):
    """Records what it is told, and in which thread."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[object] = []
        self.threads: set[int] = set()

    def hear(self, value: object) -> None:
        self.heard.append(value)
        self.threads.add(threading.get_ident())


class Gate:
    """Work that waits for its gate or its cancel; the tests need no sleep."""

    def __init__(self, value: object = None, *, stubborn: bool = False) -> None:
        self.entered = threading.Event()
        self.open = threading.Event()
        self.value = value
        self.stubborn = stubborn

    def __call__(self, token: CancelToken, report: Report) -> object:
        self.entered.set()
        with token.on_cancel(lambda: None if self.stubborn else self.open.set()):
            assert self.open.wait(PATIENCE_SECONDS)
        if not self.stubborn:
            token.check()
        return self.value


def give(value: object) -> Callable[[CancelToken, Report], object]:
    return lambda token, report: value


def outcomes(hub: JobHub) -> Listener:
    listener = Listener()
    hub.finished.connect(listener.hear)
    return listener


def test_a_value_arrives_in_the_main_thread_exactly_once(hub: JobHub, qtbot: QtBot) -> None:
    listener, all_of_them = Listener(), outcomes(hub)
    with qtbot.waitSignal(hub.idle):
        hub.query("Adding", give(42), done=listener.hear)
    assert [outcome.value for outcome in listener.heard] == [42]
    assert listener.threads == {threading.get_ident()}
    assert all_of_them.heard == listener.heard


def test_an_input_error_keeps_code_sentence_and_hint(hub: JobHub, qtbot: QtBot) -> None:
    def work(token: CancelToken, report: Report) -> object:
        raise InputError("data.ragged", "row 3 has 4 fields, expected 5.", hint="Mend row 3.")

    listener = Listener()
    with qtbot.waitSignal(hub.idle):
        hub.query("Reading", work, failed=listener.hear)
    (outcome,) = listener.heard
    assert isinstance(outcome, JobFailed)
    assert (outcome.kind, outcome.code) == ("input", "data.ragged")
    assert (outcome.sentence, outcome.hint) == ("row 3 has 4 fields, expected 5.", "Mend row 3.")
    assert outcome.trace == ""


def test_a_fault_says_where_but_no_data_value(hub: JobHub, qtbot: QtBot) -> None:
    def work(token: CancelToken, report: Report) -> object:
        raise KeyError("Jane Roe, 1 Main Street")

    listener = Listener()
    with qtbot.waitSignal(hub.idle):
        hub.query("Reading", work, failed=listener.hear)
    (outcome,) = listener.heard
    assert isinstance(outcome, JobFailed)
    assert outcome.kind == "internal"
    assert "test_hub.py" in outcome.trace
    assert "KeyError" in outcome.trace
    assert "Jane" not in repr(outcome)


def test_cancel_is_announced_at_once_and_ends_as_cancelled(hub: JobHub, qtbot: QtBot) -> None:
    gate, listener, states = Gate("late"), Listener(), Listener()
    hub.progressed.connect(states.hear)
    job = hub.query("Searching", gate, done=listener.hear, cancelled=listener.hear)
    qtbot.waitUntil(gate.entered.is_set)
    with qtbot.waitSignal(hub.idle):
        hub.cancel(job)
        assert [state.cancelling for state in states.heard] == [True]
    assert listener.heard == [JobCancelled(job, "Searching")]


def test_a_search_that_is_ended_hands_over_its_best_and_stops_when_asked_again(
    hub: JobHub, qtbot: QtBot
) -> None:
    listener, states, entered = Listener(), Listener(), threading.Event()
    hub.progressed.connect(states.hear)

    def work(token: CancelToken, report: Report) -> object:
        stop, told = CancelToken(), threading.Event()
        with stop.on_cancel(told.set), token.keeping(stop):
            entered.set()
            assert told.wait(PATIENCE_SECONDS)
        return "the best so far"

    job = hub.query("Searching", work, then=listener.hear)
    qtbot.waitUntil(entered.is_set)
    with qtbot.waitSignal(hub.idle):
        hub.end(job)
        assert states.heard == [JobState(job, "Searching", keeping=True)]
    assert listener.heard == ["the best so far"]

    gate, stopped = Gate("late"), Listener()
    job = hub.query("Searching", gate, done=stopped.hear, cancelled=stopped.hear)
    qtbot.waitUntil(gate.entered.is_set)
    with qtbot.waitSignal(hub.idle):
        hub.end(job)
    assert stopped.heard == [JobCancelled(job, "Searching")]


def test_a_query_that_ends_after_its_cancel_is_discarded(hub: JobHub, qtbot: QtBot) -> None:
    gate, listener = Gate("late", stubborn=True), Listener()
    job = hub.query("Searching", gate, done=listener.hear, cancelled=listener.hear)
    qtbot.waitUntil(gate.entered.is_set)
    hub.cancel(job)
    with qtbot.waitSignal(hub.idle):
        gate.open.set()
    assert listener.heard == [JobCancelled(job, "Searching")]


def test_a_query_cancelled_after_its_value_was_sent_is_discarded(hub: JobHub, qtbot: QtBot) -> None:
    ended, listener = threading.Event(), Listener()

    def work(token: CancelToken, report: Report) -> object:
        ended.set()
        return 1

    job = hub.query("Searching", work, done=listener.hear, cancelled=listener.hear)
    assert ended.wait(PATIENCE_SECONDS)
    with qtbot.waitSignal(hub.idle):
        hub.cancel(job)
    assert listener.heard == [JobCancelled(job, "Searching")]


def test_a_change_that_completed_despite_its_cancel_is_done(hub: JobHub, qtbot: QtBot) -> None:
    gate, listener = Gate("written", stubborn=True), Listener()
    job = hub.mutate("Writing", gate, done=listener.hear, cancelled=listener.hear)
    qtbot.waitUntil(gate.entered.is_set)
    hub.cancel(job)
    with qtbot.waitSignal(hub.idle):
        gate.open.set()
    assert listener.heard == [JobDone(job, "Writing", "written")]


def test_changes_run_one_after_the_other(hub: JobHub, qtbot: QtBot) -> None:
    first, second = Gate(), Gate()
    hub.mutate("One", first)
    hub.mutate("Two", second)
    qtbot.waitUntil(first.entered.is_set)
    assert not second.entered.is_set()
    first.open.set()
    qtbot.waitUntil(second.entered.is_set)
    second.open.set()
    qtbot.waitUntil(lambda: not hub.busy)


def test_a_waiting_job_can_be_cancelled_before_it_starts(hub: JobHub, qtbot: QtBot) -> None:
    first, second, listener = Gate(), Gate(), Listener()
    hub.mutate("One", first)
    job = hub.mutate("Two", second, cancelled=listener.hear)
    qtbot.waitUntil(first.entered.is_set)
    hub.cancel(job)
    qtbot.waitUntil(lambda: listener.heard == [JobCancelled(job, "Two")])
    assert not second.entered.is_set()
    first.open.set()
    qtbot.waitUntil(lambda: not hub.busy)


def test_a_new_request_of_a_channel_supersedes_the_old(hub: JobHub, qtbot: QtBot) -> None:
    gate, old, new, every = Gate("old"), Listener(), Listener(), outcomes(hub)
    channel = hub.latest("view")
    first = channel.query("View", gate, done=old.hear, cancelled=old.hear)
    qtbot.waitUntil(gate.entered.is_set)
    with qtbot.waitSignal(hub.idle):
        second = channel.query("View", give("new"), done=new.hear)
    assert old.heard == []
    assert [outcome.value for outcome in new.heard] == ["new"]
    assert JobCancelled(first, "View", superseded=True) in every.heard
    assert sorted(outcome.job for outcome in every.heard) == [first, second]
    assert not channel.busy


def test_progress_is_folded_to_the_latest_and_notes_are_kept(hub: JobHub, qtbot: QtBot) -> None:
    reported, leave, states, done = threading.Event(), threading.Event(), Listener(), Listener()

    def work(token: CancelToken, report: Report) -> object:
        report(StepStarted("Counting", 2, 3))
        for number in range(5_000):
            report(StepProgress("Counting", number + 1, 5_000, "rows"))
        report(Note("default", "Took k = 5."))
        reported.set()
        assert leave.wait(PATIENCE_SECONDS)
        return None

    hub.progressed.connect(states.hear)
    hub.query("Counting", work, done=done.hear)
    assert reported.wait(PATIENCE_SECONDS)
    with qtbot.waitSignal(hub.progressed):
        pass
    state = states.heard[-1]
    assert isinstance(state, JobState)
    assert (state.step, state.index, state.count) == ("Counting", 2, 3)
    assert (state.done, state.total, state.unit) == (5_000, 5_000, "rows")
    assert len(states.heard) < 50
    with qtbot.waitSignal(hub.idle):
        leave.set()
    assert done.heard[0].notes == ("Took k = 5.",)


def test_close_refuses_new_work_cancels_the_rest_and_says_idle(qtbot: QtBot) -> None:
    hub, gate, listener = JobHub(), Gate(), Listener()
    job = hub.mutate("Writing", gate, cancelled=listener.hear)
    qtbot.waitUntil(gate.entered.is_set)
    with qtbot.waitSignal(hub.idle):
        hub.close()
    assert listener.heard == [JobCancelled(job, "Writing")]
    assert hub.query("Late", give(1)) == 0
    assert not hub.busy


def test_closing_an_idle_hub_says_idle(qtbot: QtBot) -> None:
    hub = JobHub()
    with qtbot.waitSignal(hub.idle):
        hub.close()


def test_a_listener_that_is_gone_is_not_called_and_not_kept(hub: JobHub, qtbot: QtBot) -> None:
    gate, listener = Gate(1), Listener()
    hub.query("Searching", gate, done=listener.hear)
    reference = weakref.ref(listener)
    del listener
    gc.collect()
    assert reference() is None
    with qtbot.waitSignal(hub.idle):
        gate.open.set()


def test_functions_are_refused_as_callbacks(hub: JobHub) -> None:
    with pytest.raises(TypeError):
        hub.query("Adding", give(1), done=lambda outcome: None)


def test_an_exception_in_a_callback_still_ends_the_job(hub: JobHub, qtbot: QtBot) -> None:
    class Faulty(QObject):
        def hear(self, outcome: JobDone) -> None:
            raise ValueError("faulty listener")

    faulty, every = Faulty(), outcomes(hub)
    with qtbot.captureExceptions() as caught, qtbot.waitSignal(hub.idle):
        hub.query("Adding", give(1), done=faulty.hear)
    assert len(every.heard) == 1
    assert [kind for kind, _, _ in caught] == [ValueError]


def test_two_thousand_emits_leave_the_interpreter_whole() -> None:
    class Emitter(QObject):
        fired = Signal(object)

        def __init__(self) -> None:
            super().__init__()
            self.count = 0

        @Slot(object)
        def on_fired(self, value: object) -> None:
            self.count += 1

    emitter = Emitter()
    for number in range(2_000):
        emitter.fired.connect(emitter.on_fired)
        emitter.fired.emit(number)
        emitter.fired.disconnect(emitter.on_fired)
    assert emitter.count == 2_000
