from __future__ import annotations

import os
import signal
import threading

import pytest

from dpdesk.cli import interrupts
from dpdesk.cli.interrupts import run_cancellable
from dpdesk.core.errors import Cancelled, InputError
from dpdesk.core.jobs import CancelToken
from tests.helpers.waiting import PATIENCE_SECONDS


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_cancels_the_work(number: signal.Signals) -> None:
    def work(token: CancelToken) -> None:
        stopped = threading.Event()
        with token.on_cancel(stopped.set):
            os.kill(os.getpid(), number)
            os.kill(os.getpid(), number)
            assert stopped.wait(PATIENCE_SECONDS)
        token.check()

    with pytest.raises(Cancelled):
        run_cancellable(work)


def test_the_first_interrupt_lets_a_search_end_with_its_best_and_the_next_cancels() -> None:
    def search(token: CancelToken) -> str:
        stop, told = CancelToken(), threading.Event()
        with stop.on_cancel(told.set), token.keeping(stop):
            os.kill(os.getpid(), signal.SIGINT)
            assert told.wait(PATIENCE_SECONDS)
        assert not token.cancelled
        return "the best so far"

    def work(token: CancelToken) -> None:
        search(token)
        stopped = threading.Event()
        with token.on_cancel(stopped.set):
            os.kill(os.getpid(), signal.SIGINT)
            assert stopped.wait(PATIENCE_SECONDS)
        token.check()

    assert run_cancellable(search) == "the best so far"
    with pytest.raises(Cancelled):
        run_cancellable(work)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_request_to_terminate_keeps_nothing(number: signal.Signals) -> None:
    def work(token: CancelToken) -> None:
        stopped = threading.Event()
        with token.on_cancel(stopped.set), token.keeping(CancelToken()):
            os.kill(os.getpid(), number)
            assert stopped.wait(PATIENCE_SECONDS)
        token.check()

    with pytest.raises(Cancelled):
        run_cancellable(work)


def test_handlers_are_as_before_afterwards() -> None:
    before = signal.getsignal(signal.SIGINT)
    assert run_cancellable(lambda token: 7) == 7
    assert signal.getsignal(signal.SIGINT) is before


def test_an_error_of_the_work_is_the_error_of_the_call() -> None:
    def work(token: CancelToken) -> None:
        raise InputError("x", "Bad.")

    with pytest.raises(InputError, match="Bad"):
        run_cancellable(work)


def test_an_odd_error_after_a_signal_counts_as_cancelled() -> None:
    def work(token: CancelToken) -> None:
        token.cancel()
        raise RuntimeError("the library was interrupted")

    with pytest.raises(Cancelled):
        run_cancellable(work)


def test_work_that_does_not_stop_is_left_alone_once_its_traces_are_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(interrupts, "PATIENCE", 0.0)
    asked: list[bool] = []
    ended, released = threading.Event(), threading.Event()

    def work(token: CancelToken) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        released.wait(PATIENCE_SECONDS)
        ended.set()

    def abandon() -> bool:
        asked.append(ended.is_set())
        return len(asked) == 2

    with pytest.raises(Cancelled):
        run_cancellable(work, abandon)
    assert asked == [False, False]
    released.set()
    assert ended.wait(PATIENCE_SECONDS)


def test_work_that_has_put_its_result_in_place_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(interrupts, "PATIENCE", 0.0)
    asked = threading.Event()

    def work(token: CancelToken) -> str:
        os.kill(os.getpid(), signal.SIGINT)
        assert asked.wait(PATIENCE_SECONDS)
        return "written"

    def abandon() -> bool:
        asked.set()
        return False

    assert run_cancellable(work, abandon) == "written"
