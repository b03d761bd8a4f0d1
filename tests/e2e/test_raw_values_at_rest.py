"""Raw values lie on the disk in private folders only, and are gone after the next start."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from dpdesk.io.workspace import Workspace
from tests.helpers import releases as town

# One source in an encoding that must be transcoded, so that raw text does reach the disk.
ROWS = 5_000
MARK = "Zqéclair"
RUN = """
import sys
from pathlib import Path
from dpdesk.app.context import AppContext
from tests.helpers.releases import release
def tell(event):
    if getattr(event, "unit", "") == "nodes":
        return  # a search tells these by the clock, so their number differs from run to run
    print(type(event).__name__, flush=True)
    sys.stdin.readline()
with AppContext.open() as context:
    release(Path(sys.argv[1]), Path(sys.argv[2]), context, report=tell)
"""
RAW = [
    text.encode(code)
    for text in ("zqid", town.SUPPRESSED_TOWN, town.SUPPRESSED_ILLNESS, MARK)
    for code in ("utf-8", "latin-1", "utf-16-le")
]


class Places:
    """The folders that a run may write to: home, the output's parent, the system's temp folder."""

    def __init__(self, base: Path) -> None:
        self.home, self.target, self.temp = base / "home", base / "target", base / "temp"
        for folder in self.all:
            folder.mkdir(mode=0o755)
        self.out = self.target / "release"
        self.plan = town.write_source(base / "source", ROWS)
        source = self.plan.parent / town.SOURCE
        text = source.read_text("utf-8").replace("cold", MARK)
        source.write_bytes(text.encode("latin-1"))

    @property
    def all(self) -> tuple[Path, Path, Path]:
        return self.home, self.target, self.temp

    def start(self) -> subprocess.Popen[str]:
        root = Path(__file__).parents[2]
        environment = {
            **os.environ,
            "DPDESK_HOME": str(self.home),
            "PYTHONPATH": str(root),
            **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(self.temp)),
        }
        return subprocess.Popen(
            [sys.executable, "-c", RUN, str(self.plan), str(self.out)],
            cwd=root,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def holding_raw_values(self) -> list[Path]:
        files = [path for folder in self.all for path in folder.rglob("*") if path.is_file()]
        return [path for path in files if any(raw in path.read_bytes() for raw in RAW)]

    def is_private(self, path: Path) -> bool:
        """Whether a folder on the way from the searched place to the file is closed to others."""
        place = next(folder for folder in self.all if path.is_relative_to(folder))
        above = [folder for folder in path.parents if folder.is_relative_to(place)]
        return any(stat.S_IMODE(folder.stat().st_mode) == 0o700 for folder in above)


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path)


def advance(process: subprocess.Popen[str], events: int) -> int:
    """Let the run pass this many events; it waits at the next one. How many it did pass."""
    assert process.stdin is not None
    assert process.stdout is not None
    for passed in range(events):
        if not process.stdout.readline():
            return passed
        process.stdin.write("\n")
        process.stdin.flush()
    return events


def test_after_a_whole_run_raw_values_are_internal_at_most(places: Places) -> None:
    with places.start() as process:
        events = advance(process, 100_000)
    assert process.returncode == 0
    assert events > 10
    left = places.holding_raw_values()
    assert {path.parent for path in left} <= {places.out / "internal", places.out / "public"}
    for path in (places.out / "public").iterdir():
        data = path.read_bytes()
        for raw in ("zqid", town.SUPPRESSED_TOWN, town.SUPPRESSED_ILLNESS):
            assert raw.encode() not in data, path
    assert stat.S_IMODE((places.out / "internal").stat().st_mode) == 0o700
    assert list(places.temp.rglob("*")) == []
    assert [path.name for path in places.target.iterdir()] == ["release"]


def test_a_kill_at_any_event_leaves_raw_values_in_private_folders_until_the_next_start(
    places: Places,
) -> None:
    with places.start() as process:
        events = advance(process, 100_000)
    assert process.returncode == 0
    for path in sorted(places.out.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    places.out.rmdir()
    seen = False
    for stop in sorted({*range(0, events, 5), events - 1}):
        with places.start() as process:
            advance(process, stop)
            assert process.stdout is not None
            process.stdout.readline()  # it has come to the event and waits there
            process.send_signal(signal.SIGKILL)
        assert process.returncode == -signal.SIGKILL
        assert not places.out.exists()
        left = places.holding_raw_values()
        seen = seen or bool(left)
        assert [path for path in left if not places.is_private(path)] == [], stop
        assert list(places.temp.rglob("*")) == [], stop
        Workspace.open(places.home).close()
        assert places.holding_raw_values() == [], stop
        assert list(places.target.iterdir()) == [], stop
    assert seen  # otherwise the search could not have found anything
