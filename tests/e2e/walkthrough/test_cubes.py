"""Somebody plans and releases tables with noise over real data, by mouse and keys."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QListWidget

from tests.helpers.person import Person

CTRL = Qt.KeyboardModifier.ControlModifier
PLAN = """version = 1
title = "Adults by sex, race and work"
[source]
path = "adult.csv"
[attributes]
sex = { role = "quasi-identifier", hierarchy = "adult_hierarchy_sex.csv" }
race = { role = "quasi-identifier", hierarchy = "adult_hierarchy_race.csv" }
workclass = { role = "quasi-identifier", hierarchy = "adult_hierarchy_workclass.csv" }
education = { role = "quasi-identifier", hierarchy = "adult_hierarchy_education.csv" }
[protection]
method = "k-anonymity"
k = 5
"""


@pytest.fixture
def plan(real_data: Path, tmp_path: Path) -> Path:
    for path in (real_data / "arx-adult").glob("adult*.csv"):
        shutil.copy(path, tmp_path / path.name)
    made = tmp_path / "plan.toml"
    made.write_text(PLAN, encoding="utf-8")
    return made


def check(person: Person, *columns: str) -> None:
    """Check columns in the list of dimensions with the space bar."""
    view = person.find("Dimensions", QListWidget)
    view.setFocus(Qt.FocusReason.TabFocusReason)
    for name in columns:
        item = view.findItems(name, Qt.MatchFlag.MatchExactly)[0]
        view.setCurrentItem(item)
        person.qtbot.keyClick(view, Qt.Key.Key_Space)


@pytest.mark.data
def test_tables_of_adults_are_planned_then_released_once(
    person: Person, plan: Path, tmp_path: Path
) -> None:
    person.desk.workbench.open_path(plan)
    person.settled(lambda: person.desk.workbench.profile is not None)
    person.go(4)
    person.settled(lambda: person.desk.workbench.explored is not None)
    person.click("Differentially private tables")
    person.settled()
    check(person, "sex", "race", "workclass")
    person.settled()
    person.shoot("before-epsilon")
    person.settled(lambda: person.desk.protect.result.deck.charts != ())
    assert "epsilon" not in person.desk.workbench.work.parameters
    person.reads("ε = 1")
    person.type("ε, the privacy loss", "0.5")
    person.settled(lambda: person.desk.protect.result.sentence != "")
    person.reads("8 tables; the largest planned error is")
    person.shoot("errors")
    person.type("Target error of a cell", "50")
    person.choose("Table that must be this exact", "sex × race")
    person.settled()
    person.click(person.button("Set ε to"))
    person.settled(lambda: str(person.desk.workbench.work.parameters["epsilon"]) != "0.5")
    person.type("ε, the privacy loss", "0.5")
    person.type("People of the budget", "adults of the census")
    person.type("Limit of the budget", "1.2")
    person.settled()
    person.reads("0.7 left")
    person.keys(Qt.Key.Key_B, CTRL)
    person.settled(lambda: len(person.desk.workbench.candidates) == 1)
    assert not (person.desk.workbench.context.home / "ledger.sqlite").exists()
    _release(person, tmp_path / "release", "Release, spends ε 0.5 of 1.2")
    person.click("Which numbers")
    person.settled()
    person.reads("in 95 of 100 cases")
    person.shoot("numbers")
    assert person.find("Table of the release", QComboBox).count() == 8
    with (tmp_path / "release/public/cuboids/1-sex.csv").open(encoding="utf-8") as stream:
        assert [row["sex"] for row in csv.DictReader(stream)] == ["Male", "Female"]
    person.click("Prepare a release")
    person.settled()
    person.reads("0.2 left")
    person.shoot("again")
    person.button("Release again, spends ε")


def _release(person: Person, out: Path, words: str) -> None:
    person.go(6)
    person.settled()
    person.type("Folder of the release", str(out))
    person.settled()
    name = person.button("Release, spends ε")
    assert name.replace("\u00a0", " ") == words
    person.click(name)
    person.settled()
    person.reads("drawn once")
    person.shoot("asked")
    assert not out.exists()
    person.click(person.button("Yes: Release"))
    person.settled(lambda: person.desk.workbench.release is not None)
    person.reads("none failed")
    person.shoot("released")
