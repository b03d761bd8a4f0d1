"""Leaving the window: the process ends with 0, says nothing, and leaves no trace of a crash."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.releases import write_source
from tests.helpers.waiting import PATIENCE_SECONDS

ROOT = Path(__file__).parents[2]
LARGE = ROOT / "resources" / "sample" / "plans" / "research-file.toml"
REMARK = "This plugin does not support propagateSizeHints()"  # Qt's own, without a display


@pytest.mark.parametrize(
    ("end", "told"),
    [
        ("quit", ["released"]),
        ("close", ["released"]),
        ("busy", ["released", "searching"]),
    ],
)
def test_the_program_ends_cleanly_after_work(
    tmp_path: Path, private_home: Path, end: str, told: list[str]
) -> None:
    plan = LARGE if end == "busy" else write_source(tmp_path / "work")
    out = tmp_path / "release"
    done = subprocess.run(
        [sys.executable, "-m", "tests.helpers.window_script", end, str(plan), str(out)],
        cwd=ROOT,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "DPDESK_HOME": str(private_home)},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_SECONDS,
    )
    said = [line for line in done.stderr.splitlines() if line != REMARK]
    assert (done.returncode, said, done.stdout.splitlines()) == (0, [], told)
    assert (out / "public" / "microdata.csv").is_file()
    assert not (private_home / "crash.log").exists()
    assert not (private_home / "faults.log").exists()
