"""Somebody browses released cubes, of real data and of the sample, by mouse and keys."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QToolButton

from dpdesk.app.demo import sample_folder
from dpdesk.app.running import run_plan
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.ui.browsing.shelves import Chip
from dpdesk.ui.browsing.table import PivotGrid
from tests.helpers.person import Person

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
ADULT = """version = 1
title = "Adults by sex, race and work"
[source]
path = "adult.csv"
[attributes]
sex = { role = "quasi-identifier", hierarchy = "adult_hierarchy_sex.csv" }
race = { role = "quasi-identifier", hierarchy = "adult_hierarchy_race.csv" }
workclass = { role = "quasi-identifier", hierarchy = "adult_hierarchy_workclass.csv" }
age = { role = "quasi-identifier", hierarchy = "adult_hierarchy_age.csv" }
[protection]
method = "dp-cube"
dimensions = ["sex", "race", "workclass", "age"]
levels = { age = 2 }
epsilon = 0.5
[budget]
population = "adults of the census"
"""


def grid(person: Person) -> PivotGrid:
    return person.find("Values with their errors", PivotGrid)


def press(person: Person, key: Qt.Key) -> None:
    """A key where the focus is."""
    focus = person.front.focusWidget()
    assert focus is not None
    person.qtbot.keyClick(focus, key)
    person.settled()


def focus_chip(person: Person) -> str:
    """The dimension whose chip has the focus; empty when something else has it."""
    focus = person.front.focusWidget()
    return focus.facts.column if isinstance(focus, Chip) else ""


def cells(person: Person) -> list[str]:
    return person.lines("Values with their errors")


@pytest.mark.data
def test_a_cube_of_adults_is_opened_sliced_and_exported(
    person: Person, real_data: Path, tmp_path: Path
) -> None:
    for path in (real_data / "arx-adult").glob("adult*.csv"):
        shutil.copy(path, tmp_path / path.name)
    (tmp_path / "plan.toml").write_text(ADULT, encoding="utf-8")
    out = tmp_path / "release"
    run_plan(person.desk.workbench.context, tmp_path / "plan.toml", out, CancelToken(), silent)
    person.desk.open_text(str(out / "public" / "manifest.json"))
    person.settled(lambda: person.desk.workbench.verified is not None)
    person.reads("none failed")
    person.click("Browse the tables")
    person.settled()
    person.reads("Adults by sex, race and work", "In all ")
    person.shoot("opened")
    age = person.find("Dimension age", Chip)
    person.qtbot.keyClick(age, Qt.Key.Key_R)
    person.settled()
    person.reads("by race × age × sex")
    person.qtbot.keyClick(person.find("Dimension age", Chip), Qt.Key.Key_Minus)
    person.settled()
    assert any("White | 20-39 | " in line for line in cells(person))
    person.reads("△ In ")
    view, row = grid(person), [line[:15] for line in cells(person)].index("White | 20-39 |")
    at = view.model().index(row, 2)
    view.scrollTo(at)
    person.qtbot.mouseClick(
        view.viewport(), Qt.MouseButton.LeftButton, pos=view.visualRect(at).center()
    )
    person.reads("White · 20-39 · Male: ", "in 95 of 100 cases")
    person.click("Keep only this")
    person.settled()
    assert len(cells(person)) == 4
    person.keys(Qt.Key.Key_T, CTRL)
    person.settled()
    person.shoot("bars")
    person.keys(Qt.Key.Key_T, CTRL)
    person.asker.answer = tmp_path / "view.csv"
    person.click("Export the view…")
    person.settled()
    with (tmp_path / "view.csv").open(encoding="utf-8") as file:
        first = next(csv.DictReader(file))
    assert (first["race"], first["age"], first["sex"]) == ("White", "20-39", "Male")
    person.keys(Qt.Key.Key_Z, CTRL)
    person.settled()
    assert len(cells(person)) > 4
    person.find("Step 0: load", QToolButton).click()
    person.settled()
    person.reads("by race × sex")


def test_the_sample_s_cube_is_browsed_with_the_keyboard_alone(
    person: Person, tmp_path: Path
) -> None:
    out = tmp_path / "release"
    with sample_folder() as sample:
        plan = sample / "plans" / "private-tables.toml"
        run_plan(person.desk.workbench.context, plan, out, CancelToken(), silent)
    person.asker.answer = out
    person.keys(Qt.Key.Key_B, CTRL | SHIFT)
    person.settled()
    person.reads("Health by age, sex and area", "No ± is above 30 %")
    seen = []
    while focus_chip(person) != "health":
        seen.append(focus_chip(person))
        assert len(seen) < 30
        press(person, Qt.Key.Key_Tab)
    assert seen[-1] == "district"
    press(person, Qt.Key.Key_C)
    person.reads("by age × sex × health")
    assert focus_chip(person) == "health"
    press(person, Qt.Key.Key_Delete)
    person.reads("by age × sex, ")
    press(person, Qt.Key.Key_X)
    person.reads("by sex × age")
