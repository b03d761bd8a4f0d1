"""What was clicked and what is typed give the same bytes, with hierarchies that people made."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from tests.helpers.person import Person
from tests.helpers.waiting import PATIENCE_SECONDS

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
COLUMNS, ATTRIBUTES = "Columns and their roles", "Attributes"
NAMES = (
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
    "salary-class",
)


@pytest.mark.data
def test_window_and_command_line_write_the_same_table(
    person: Person, real_data: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "adult"
    shutil.copytree(real_data / "arx-adult", folder)
    person.asker.answer = folder / "adult.csv"
    person.click("Open a file…")
    person.settled(lambda: person.desk.workbench.profile is not None)
    person.go(2)
    person.pick(COLUMNS, NAMES[0])
    for name in NAMES:
        person.pick(COLUMNS, name)
        person.press_in(COLUMNS, Qt.Key.Key_Q)
    person.go(3)
    for name in NAMES:
        person.pick(ATTRIBUTES, name)
        person.click("How it is made")
        person.asker.answer = folder / f"adult_hierarchy_{name}.csv"
        person.click("Import")
        person.settled(lambda name=name: name in person.desk.workbench.work.hierarchies)
    person.shoot("hierarchies")
    person.go(4)
    person.settled(lambda: person.desk.workbench.explored is not None)
    person.choose("Objective", "Discernibility: rows that look alike")
    person.settled()
    person.reads("smallest group 1 → 5")
    person.shoot("protect")
    person.go(6)
    person.type("Folder of the release", str(tmp_path / "clicked"))
    person.settled()
    person.click("Write the release")
    person.settled(lambda: person.desk.workbench.release is not None)
    person.reads("none failed")
    person.asker.answer = folder / "plan.toml"
    person.keys(Qt.Key.Key_S, CTRL)
    person.settled(lambda: (folder / "plan.toml").exists())
    _run(folder / "plan.toml", tmp_path / "typed")
    clicked, typed = (
        (tmp_path / one / "public" / "microdata.csv").read_bytes() for one in ("clicked", "typed")
    )
    assert clicked == typed
    facts = person.desk.workbench.release
    assert facts is not None
    assert facts.manifest.result["metrics"]["discernibility"] == 7_220_555  # type: ignore[index]
    assert facts.manifest.result["rows_suppressed"] <= 603  # type: ignore[operator]


def _run(plan: Path, out: Path) -> None:
    command = [sys.executable, "-m", "dpdesk", "run", str(plan), "--out", str(out)]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env=dict(os.environ),
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
