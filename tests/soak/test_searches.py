"""Tests of which an ordinary run tries a third of the examples, with many more of them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.searching import LONG, examples
from tests.helpers.soak import SoakBook

ROOT = Path(__file__).parents[2]
FILES = [
    path.relative_to(ROOT).as_posix()
    for path in sorted((ROOT / "tests").rglob("test_*.py"))
    if f"import {examples.__name__}\n" in path.read_text("utf-8")
]


@pytest.mark.parametrize("name", FILES)
def test_a_search_that_an_ordinary_run_cuts_short_finds_nothing(name: str, book: SoakBook) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not soak", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, name],
        cwd=ROOT,
        env=os.environ | {"DPDESK_HYPOTHESIS": "fuzz"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5_000:]
    book.note(f"Hypothesis: `{name}`", f"{LONG} times the examples, new ones", "no counterexample")
