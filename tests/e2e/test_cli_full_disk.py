"""A full disk, of the output or of the program's own folder: which one, what to do, nothing left.

The small disk is a file system in memory, mounted where nobody else sees it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dpdesk.app.context import AppContext
from tests.helpers import releases as town

NOBODY_MAY = 99
# Mount, run, say what is left on the disk; what a start always makes in its home is not counted.
SCRIPT = """
mount -t tmpfs -o size="$1" tmpfs "$2" || exit 99
cd "$2/.." && shift && place=$1 && shift
"$@"
code=$?
find "$place" -mindepth 1 ! -name work ! -name .sweep ! -name audit.sqlite
exit $code
"""


class SmallDisk:
    """Runs commands that see a disk of some kilobytes at ``small``."""

    def __init__(self, base: Path) -> None:
        self.place = base / "small"
        self.place.mkdir()
        self.home = base / "home"
        self.plan = town.write_source(base / "source", 20_000)

    def refuses(self, size: str, home: Path, *arguments: object) -> str:
        """The line that a command ends with that exits 2 and leaves nothing."""
        command = [sys.executable, "-m", "dpdesk", *map(str, arguments)]
        done = subprocess.run(
            [*UNSHARE, "sh", "-c", SCRIPT, "sh", size, str(self.place), *command],
            env=os.environ | {"DPDESK_HOME": str(home)},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode == NOBODY_MAY:
            pytest.skip("this machine lets no one mount a small disk")
        assert done.returncode == 2, done.stderr
        assert done.stdout == ""
        return done.stderr.splitlines()[-1]


UNSHARE = ("unshare", "--mount", "--map-root-user")


@pytest.fixture
def disk(tmp_path: Path) -> SmallDisk:
    able = (
        shutil.which("unshare")
        and not subprocess.run([*UNSHARE, "true"], capture_output=True, check=False).returncode
    )
    if not able:
        pytest.skip("this machine lets no one mount a small disk")
    return SmallDisk(tmp_path)


@pytest.mark.parametrize("size", ["4k", "16k", "256k"])
def test_a_release_that_does_not_fit_is_told_by_the_path_that_was_given(
    disk: SmallDisk, size: str
) -> None:
    line = disk.refuses(size, disk.home, "run", disk.plan, "--out", "small/a/release")
    assert line.startswith("small/a/release: the disk is full")
    assert "DPDESK_HOME" not in line


@pytest.mark.parametrize("form", ["csv", "parquet", "xlsx"])
def test_an_export_that_does_not_fit_is_told_by_the_path_that_was_given(
    disk: SmallDisk, form: str
) -> None:
    with AppContext.open() as context:
        made = town.release(disk.plan, disk.place.parent / "release", context).out
    out = f"small/table.{form}"
    line = disk.refuses("8k", disk.home, "export", made, "--format", form, "--out", out)
    assert line.startswith(f"{out}: the disk is full")
    assert "DPDESK_HOME" not in line


def test_a_full_home_is_told_as_such(disk: SmallDisk) -> None:
    source = disk.plan.parent / town.SOURCE
    source.write_bytes(b"\n" + source.read_bytes().replace(b"cold", "Zqéclair".encode("latin-1")))
    out = disk.place.parent / "release"
    line = disk.refuses("64k", disk.place, "run", disk.plan, "--out", out)
    assert line.startswith(f"{disk.place}: the disk is full")
    assert "DPDESK_HOME" in line
    assert not out.exists()
    assert sorted(path.name for path in out.parent.iterdir()) == ["small", "source"]
