"""Millions of people through the command line: inspect, run, verify, export."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.benchmarks.whole import people
from tests.helpers.soak import SoakBook, scaled

ROWS = 5_000_000
MOST_MEMORY = 4_000_000_000
MEASURE = """
import json, resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=sys.stderr).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
cpu = used.ru_utime + used.ru_stime
print(json.dumps({"code": code, "cpu": cpu, "memory": used.ru_maxrss * 1024}))
"""


def measured(book: SoakBook, name: str, rows: int, *arguments: object) -> None:
    command = [sys.executable, "-c", MEASURE, sys.executable, "-m", "dpdesk", *map(str, arguments)]
    begun = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    took = time.monotonic() - begun
    found = json.loads(done.stdout)
    assert found["code"] == 0, done.stderr
    assert found["memory"] < MOST_MEMORY
    book.note(
        f"`dpdesk {name}`",
        f"{rows:,} rows, 12 columns",
        f"{took:.0f} s, {found['cpu']:.0f} s of processor time, {found['memory'] / 1e9:.1f} GB",
    )


@pytest.mark.skipif(sys.platform == "win32", reason="memory is measured the Unix way")
def test_millions_of_people_are_inspected_released_verified_and_exported(
    tmp_path: Path, book: SoakBook
) -> None:
    rows = scaled(ROWS)
    plan = people.write(tmp_path, rows)
    data, out, table = tmp_path / "people.csv", tmp_path / "out", tmp_path / "people.parquet"
    measured(book, "inspect", rows, "inspect", data)
    measured(book, "run", rows, "run", plan, "--out", out)
    result = json.loads((out / "public/manifest.json").read_text("utf-8"))["result"]
    assert result["rows_out"] + result["rows_suppressed"] == rows
    measured(book, "verify", rows, "verify", out)
    measured(book, "verify --source", rows, "verify", out, "--source", data)
    measured(book, "export", rows, "export", out, "--format", "parquet", "--out", table)
    assert os.path.getsize(table)
