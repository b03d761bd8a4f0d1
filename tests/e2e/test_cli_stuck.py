"""Work that does not answer a signal: the process ends all the same, and nothing is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.waiting import PATIENCE_SECONDS

STUCK = """
import sys, threading
from dpdesk.cli import commands, interrupts
interrupts.PATIENCE = 0.0
def stuck(context, options, token, report):
    (context.workspace.partial_beside(options.out) / "half.csv").write_text("raw")
    (context.workspace.folder / "spill").write_text("raw")
    if options.out.name == "paid":
        context.unreleased[0] = ["The budget stays spent."]
    print("ready", flush=True)
    threading.Event().wait()
commands._COMMANDS = {"run": stuck}
from dpdesk.__main__ import main
sys.exit(main())
"""


@pytest.mark.parametrize(
    ("number", "out", "more"),
    [
        (signal.SIGINT, "release", ""),
        (signal.SIGTERM, "release", ""),
        (signal.SIGTERM, "paid", "; the budget stays spent."),
    ],
)
def test_a_command_that_is_stuck_ends_with_one_line_and_leaves_nothing(
    tmp_path: Path, number: signal.Signals, out: str, more: str
) -> None:
    home = tmp_path / "home"
    command = [sys.executable, "-c", STUCK, "run", "plan.toml", "--out", f"made/here/{out}"]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        env=os.environ | {"DPDESK_HOME": str(home)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        assert (tmp_path / "made" / "here").exists()
        process.send_signal(number)
        text, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 130
    assert text == ""
    assert err == f"Cancelled; nothing was written{more or '.'}\n"
    assert [path.name for path in tmp_path.iterdir()] == ["home"]
    assert [path.name for path in (home / "work").iterdir()] == [".sweep"]


WAITING = """
import sys, threading
from dpdesk.cli import commands, interrupts, ledger
interrupts.PATIENCE = 0.0
def stuck(context, options, token, report):
    stopped = threading.Event()
    with token.on_cancel(stopped.set):
        print("ready", flush=True)
        stopped.wait()
    if options.handler == "ledger.show":
        threading.Event().wait()
    return commands.Outcome("done")
ledger.show = ledger.limit = stuck
from dpdesk.__main__ import main
sys.exit(main())
"""


@pytest.mark.parametrize(
    ("action", "code"), [(["show"], 130), (["limit", "--population", "all", "--none"], 0)]
)
def test_a_look_at_the_ledger_is_left_alone_and_an_entry_is_finished(
    tmp_path: Path, action: list[str], code: int
) -> None:
    command = [sys.executable, "-c", WAITING, "ledger", *action]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        env=os.environ | {"DPDESK_HOME": str(tmp_path / "home")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == code
    assert err == ("Cancelled; nothing was written.\n" if code else "")
