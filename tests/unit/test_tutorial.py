"""The tutorial is what happens: its files are written, run, and what they print is compared."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "resources" / "docs" / "add-a-method.md"
NAMED = re.compile(r"^`([\w.]+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PRINTED = re.compile(r"^```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run(folder: Path, script: str) -> str:
    """What a script of the tutorial prints."""
    done = subprocess.run(
        [sys.executable, script], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty folder with the files of the page."""
    made = tmp_path_factory.mktemp("tutorial")
    files = dict(NAMED.findall(PAGE.read_text("utf-8")))
    assert set(files) == {
        *("people.csv", "plan.toml", "common_values.py", "common_values_check.py"),
        *("release.py", "forge.py"),
    }
    for name, content in files.items():
        (made / name).write_text(content, "utf-8")
    return made


def test_the_release_of_the_page_is_made_and_verified_and_its_forged_copy_is_not(
    folder: Path,
) -> None:
    printed = run(folder, "release.py").splitlines()
    (shown,) = PRINTED.findall(PAGE.read_text("utf-8"))
    table, claims = shown.split("\n\n")
    assert printed[: len(table.splitlines()) + 1] == [*table.splitlines(), ""]
    assert [line for line in printed if line in claims.splitlines()] == claims.splitlines()
    assert printed[-1] == "verified"
    forged = run(folder, "forge.py").splitlines()
    assert forged[-1] == "NOT VERIFIED"
    failures = "\n".join(forged[:-1])
    assert "the number of rows" in failures
    assert "the values of town" in failures
