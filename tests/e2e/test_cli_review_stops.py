"""A review command that has to wait for another program is stopped by a signal all the same."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dpdesk.core import systems
from tests.helpers.signers import AUTHOR, Person, people, write_plan
from tests.helpers.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.costly_keys


@pytest.fixture(scope="module")
def author(tmp_path_factory: pytest.TempPathFactory) -> Person:
    (person,) = people(tmp_path_factory.mktemp("agency"), AUTHOR)
    write_plan(person)
    person.does("run", "plan.toml", "--out", "release")
    return person


def wait_for_lock(folder: Path) -> None:
    """Until a process holds a lock file below ``folder``."""
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        for path in folder.glob(".*.lock"):
            with path.open("ab") as stream:
                if not systems.try_hold(stream.fileno()):
                    return
        os.sched_yield()
    raise AssertionError(f"no one locked anything in {folder}")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_submission_that_waits_for_another_program_is_stopped(
    author: Person, number: signal.Signals
) -> None:
    before = sorted(path for path in author.desk.rglob("*") if "home" not in path.parts)
    command = [sys.executable, "-m", "dpdesk", "review", "submit", "release"]
    handle = os.open(author.folder / "internal", os.O_RDONLY)
    try:
        systems.hold(handle)
        with subprocess.Popen(
            [*command, "--passphrase-file", str(author.secret)],
            cwd=author.desk,
            env=os.environ | {"DPDESK_HOME": str(author.home)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            wait_for_lock(author.home / "locks")
            process.send_signal(number)
            out, err = process.communicate(timeout=PATIENCE_SECONDS)
    finally:
        os.close(handle)
    assert process.returncode == 130
    assert out == ""
    assert err.splitlines()[-1] == "Cancelled; nothing was written."
    assert sorted(path for path in author.desk.rglob("*") if "home" not in path.parts) == before
    assert [path.name for path in (author.home / "work").iterdir()] == [".sweep"]


def test_after_a_stop_the_submission_can_be_made(author: Person) -> None:
    said = author.signs("submit")
    assert said.code == 0, said.err
    assert author.review.exists()
