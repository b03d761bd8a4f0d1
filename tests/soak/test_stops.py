"""A run that is killed or cancelled at any moment leaves a whole release or none."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dpdesk.app.context import AppContext
from dpdesk.app.verifying import verify_release
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.io.workspace import Workspace
from tests.benchmarks.whole import people
from tests.helpers import releases as town
from tests.helpers.soak import SoakBook, scaled

KILLS, CANCELS, ROWS = 500, 60, 300_000


class Runs:
    """Runs of one plan into ``target/release``, with a home of their own."""

    def __init__(self, base: Path, plan: Path) -> None:
        self.home, self.target, self.plan = base / "home", base / "target", plan
        self.target.mkdir()
        self.out = self.target / "release"

    def start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dpdesk", "run", str(self.plan), "--out", str(self.out)]
        return subprocess.Popen(
            command,
            env={**os.environ, "DPDESK_HOME": str(self.home)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )

    def whole(self) -> float:
        """Seconds of a run that nobody stops; its release is removed."""
        begun = time.monotonic()
        with self.start() as process:
            assert process.stderr is not None
            process.stderr.read()
        assert process.returncode == 0
        self.remove()
        return time.monotonic() - begun

    def stopped(self, after: float, number: int) -> tuple[int, float]:
        """Exit code of a run stopped ``after`` seconds, and how long stopping took."""
        with self.start() as process:
            try:
                process.wait(after)
            except subprocess.TimeoutExpired:
                process.send_signal(number)
            begun = time.monotonic()
            process.wait(60)
            took = time.monotonic() - begun
        return process.returncode, took

    def check(self) -> bool:
        """Whether there is a release; it must be a whole one, and nothing may lie beside it."""
        Workspace.open(self.home).close()
        found = self.out.exists()
        assert [path.name for path in self.target.iterdir()] == (["release"] if found else [])
        if found:
            with AppContext.open(self.home) as context:
                assert verify_release(self.out, context.registry, CancelToken(), silent).ok
            self.remove()
        return found

    def remove(self) -> None:
        for path in sorted(self.out.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        self.out.rmdir()


def test_a_kill_at_any_moment_leaves_a_whole_release_or_none(
    tmp_path: Path, book: SoakBook
) -> None:
    runs = Runs(tmp_path, town.write_source(tmp_path / "source", 3_000))
    longest = max(runs.whole() for _ in range(3))
    moments = random.Random(1)
    released = 0
    for _ in range(scaled(KILLS)):
        code, _ = runs.stopped(moments.uniform(0, longest), signal.SIGKILL)
        assert code in (0, -signal.SIGKILL)
        released += runs.check()
    book.note(
        "Kill (SIGKILL) a run at a random moment, then start again",
        f"{scaled(KILLS):,} times",
        f"a whole release {released:,} times, none {scaled(KILLS) - released:,} times; "
        "nothing half written after the next start",
    )


def many_codes(folder: Path) -> Path:
    """A plan whose lattice of 1.7 million nodes takes a minute to walk."""
    names, digits = [f"code{number}" for number in range(8)], random.Random(3)
    lines = [",".join(names)]
    lines += [",".join(f"{digits.randrange(10**5):05}" for _ in names) for _ in range(3_000)]
    (folder / "codes.csv").write_text("\n".join(lines) + "\n", "utf-8")
    attributes = "".join(
        f'[attributes.{name}]\nrole = "quasi-identifier"\nhierarchy = {{ kind = "mask" }}\n'
        for name in names
    )
    plan = folder / "plan.toml"
    plan.write_text(
        f'version = 1\n[source]\npath = "codes.csv"\n{attributes}'
        '[protection]\nmethod = "k-anonymity"\nk = 5\n',
        "utf-8",
    )
    return plan


@pytest.mark.parametrize("what", ["300,000 people", "1.7 million nodes"])
def test_a_signal_at_any_moment_ends_the_run_and_leaves_nothing(
    tmp_path: Path, book: SoakBook, what: str
) -> None:
    source = tmp_path / "source"
    source.mkdir()
    people_wanted = what == "300,000 people"
    runs = Runs(tmp_path, people.write(source, ROWS) if people_wanted else many_codes(source))
    longest = runs.whole()
    moments, times = random.Random(2), []
    for turn in range(scaled(CANCELS)):
        # The first fifth of a second is Python's own start, when nobody can listen yet.
        number = (signal.SIGINT, signal.SIGTERM)[turn % 2]
        code, took = runs.stopped(moments.uniform(0.2, longest), number)
        assert code in (0, 130)
        assert runs.check() == (code == 0)
        if code == 130:
            times.append(took)
    assert times
    book.seconds(
        f"Ctrl+C or SIGTERM at a random moment of a run on {what}, until the process has ended",
        times,
    )
