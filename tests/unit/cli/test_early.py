"""Signals before the work begins and after it is done: one answer, and the right exit code."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

LISTEN = "import os, signal; from dpdesk.cli import early; early.listen(); "
KILL = "os.kill(os.getpid(), signal.SIGTERM); "


def said(script: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_before_the_work_a_signal_is_a_cancel(name: str) -> None:
    script = LISTEN + f"os.kill(os.getpid(), signal.{name}); print('went on')"
    assert said(script) == (130, "", "Cancelled; nothing was written.\n")


def test_after_the_work_one_signal_is_let_pass_and_the_next_keeps_the_code() -> None:
    script = LISTEN + "early.settle(0); " + KILL + "print('said', flush=True); " + KILL
    assert said(script + "print('went on')") == (0, "said\n", "")


def test_the_first_outcome_is_the_one_that_counts() -> None:
    script = LISTEN + "early.settle(130); early.settle(2); " + KILL + KILL
    assert said(script) == (130, "", "")


def test_a_signal_that_was_ignored_stays_so() -> None:
    script = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + LISTEN + KILL
    assert said(script + "print('went on')") == (0, "went on\n", "")


def test_the_window_gets_the_signals_back() -> None:
    code, out, _ = said(LISTEN + "early.listen_no_more(); " + KILL + "print('went on')")
    assert (code, out) == (-signal.SIGTERM, "")


def test_leaving_says_what_is_still_to_be_said() -> None:
    script = LISTEN + "import sys; sys.stdout.write('last'); early.leave(130); print('went on')"
    assert said(script) == (130, "last", "")


def test_a_process_that_nobody_listens_in_is_not_left() -> None:
    script = LISTEN + "early.listen_no_more(); early.leave(130); print('went on')"
    assert said(script) == (0, "went on\n", "")


def test_a_question_at_the_terminal_is_ended_in_the_usual_way() -> None:
    ask = "import contextlib\nwith contextlib.suppress(KeyboardInterrupt), early.paused():\n  "
    script = LISTEN + "\n" + ask + KILL.replace("TERM", "INT") + "\nprint('put right')\n" + KILL
    assert said(script) == (130, "put right\n", "Cancelled; nothing was written.\n")
