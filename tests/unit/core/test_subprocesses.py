"""Work in a process of its own: answers, faults, cancel, and an end that comes in any case."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from dpdesk.core.errors import Cancelled
from dpdesk.core.jobs import CancelToken
from dpdesk.core.subprocesses import KeptSubprocess, Subprocess, SubprocessError, serve

EXACT = "dpdesk.core.parameters:exact_number"


class CancelledWhileWaiting(CancelToken):
    """Is cancelled as soon as somebody waits."""

    @contextmanager
    def on_cancel(self, callback: Callable[[], None]) -> Iterator[None]:
        with super().on_cancel(callback):
            self.cancel()
            yield


def test_questions_are_answered_by_another_process_one_after_the_other() -> None:
    with Subprocess(EXACT) as aside:
        assert aside.ask("0.5", CancelToken()) == 0.5
        assert aside.ask("no number", CancelToken()) is None
        assert aside.start().pid != os.getpid()


def test_a_fault_is_told_and_the_next_question_is_answered() -> None:
    with Subprocess("dpdesk.core.plain:quoted") as aside:
        with pytest.raises(SubprocessError, match="Error"):
            aside.ask(object, CancelToken())
        assert aside.ask("a", CancelToken())


def test_a_process_that_cannot_load_its_work_is_reported() -> None:
    with (
        Subprocess("dpdesk.no_such_module:answer") as aside,
        pytest.raises(SubprocessError, match="ended"),
    ):
        aside.ask(1, CancelToken())


def test_a_cancelled_question_ends_the_process() -> None:
    with Subprocess(EXACT) as aside:
        process = aside.start()
        with pytest.raises(Cancelled):
            aside.ask("1", CancelledWhileWaiting())
        assert process.wait() != 0


def test_the_process_ends_with_the_block() -> None:
    with Subprocess(EXACT) as aside:
        process = aside.start()
        assert process.poll() is None
    assert process.returncode is not None


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs handles of processes")
def test_the_process_ends_when_its_starter_is_gone() -> None:
    code = (
        f"import os; from dpdesk.core.subprocesses import Subprocess; a = Subprocess('{EXACT}'); "
    )
    code += "print(a.start().pid, flush=True); os._exit(0)"
    pid = int(subprocess.check_output([sys.executable, "-c", code], text=True))
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        assert select.select([handle], [], [], 30)[0]
    finally:
        os.close(handle)


def test_a_kept_process_that_ended_between_two_questions_is_started_again() -> None:
    aside = KeptSubprocess(EXACT)
    first = aside.start()
    assert aside.ask("1", CancelToken()) == 1
    first.kill()
    first.wait()
    assert aside.ask("0.5", CancelToken()) == 0.5
    assert aside.start().pid != first.pid
    aside.close()


def test_only_functions_of_this_program_are_served() -> None:
    with pytest.raises(ValueError, match="not of this program"):
        serve("os:system")
