"""Somebody browses released cubes, of real data and of the sample, by mouse and keys."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDoubleSpinBox, QToolButton

from dpdesk.app.demo import sample_folder
from dpdesk.app.running import run_plan
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.ui.browsing import BrowseWindow
from dpdesk.ui.browsing.page import PivotGrid
from dpdesk.ui.browsing.side import Chip
from tests.helpers.person import Person
from tests.helpers.pinned import pin

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


def browser(person: Person) -> BrowseWindow:
    """The window that browses."""
    found = person.desk.beside.browser
    assert found is not None
    return found


def press_on(person: Person, dimension: str, key: Qt.Key) -> None:
    """A key on the chip of a dimension, and wait until its numbers or its offer are there."""
    chip = browser(person).side.chip(dimension)
    chip.setFocus(Qt.FocusReason.TabFocusReason)
    person.qtbot.keyClick(chip, key)
    person.settled(lambda: not browser(person).purchase.waits)


def set_share(person: Person, percent: int) -> None:
    """Mark cells from another share on, by typing it."""
    box = person.find("Mark △ where the ± is above", QDoubleSpinBox)
    box.setFocus(Qt.FocusReason.TabFocusReason)
    box.selectAll()
    person.qtbot.keyClicks(box, str(percent))
    person.qtbot.keyClick(box, Qt.Key.Key_Return)


def cells(person: Person) -> list[str]:
    return person.lines("Values with their errors")


def adults(person: Person, real_data: Path, tmp_path: Path, more: str = "") -> Path:
    """A release of the adults, made from a plan in the folder; ``more`` is added to its end."""
    for path in (real_data / "arx-adult").glob("adult*.csv"):
        shutil.copy(path, tmp_path / path.name)
    text = ADULT.replace("epsilon", f"{more}\nepsilon") + "limit = 1.0\n"
    (tmp_path / "plan.toml").write_text(text, encoding="utf-8")
    pin(tmp_path / "plan.toml")
    out = tmp_path / "release"
    run_plan(person.desk.workbench.context, tmp_path / "plan.toml", out, CancelToken(), silent)
    return out


@pytest.mark.data
def test_a_cube_of_adults_is_opened_sliced_and_exported(
    person: Person, real_data: Path, tmp_path: Path
) -> None:
    out = adults(person, real_data, tmp_path)
    person.desk.open_text(str(out / "public" / "manifest.json"))
    person.settled(lambda: person.desk.workbench.verified is not None)
    person.reads("none failed")
    person.click("Browse the tables")
    person.settled()
    person.reads("Adults by sex, race and work", "In all ")
    person.shoot("opened")
    age = person.find("age, dimension", Chip)
    person.qtbot.keyClick(age, Qt.Key.Key_R)
    person.settled()
    person.reads("by race × age × sex")
    person.qtbot.keyClick(person.find("age, dimension", Chip), Qt.Key.Key_Minus)
    person.settled()
    assert any("White | 20-39 | " in line for line in cells(person))
    person.reads("△ In ")
    view, row = grid(person), [line[:15] for line in cells(person)].index("White | 20-39 |")
    at = view.model().index(row, 2)
    view.scrollTo(at)
    person.qtbot.mouseClick(
        view.viewport(), Qt.MouseButton.LeftButton, pos=view.visualRect(at).center()
    )
    person.reads("race White · age 20-39 · sex Male: ", "in 95 of 100 cases")
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
    person.find("load, step 0", QToolButton).click()
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


@pytest.mark.data
def test_a_table_that_a_cube_of_adults_lacks_is_bought_and_read_with_the_rest(
    person: Person, real_data: Path, tmp_path: Path
) -> None:
    out = adults(person, real_data, tmp_path, "publish = { max_dimensions = 2 }")
    person.desk.open_text(str(tmp_path / "plan.toml"))
    person.settled(lambda: person.desk.workbench.data is not None)
    person.desk.open_text(str(out))
    person.settled(lambda: person.desk.workbench.verified is not None)
    person.keys(Qt.Key.Key_5, CTRL)
    person.click("Browse the release…")
    person.settled()
    person.reads("by race × sex")
    drag = person.find("age, dimension", Chip)
    person.qtbot.keyClick(drag, Qt.Key.Key_R)
    person.settled(lambda: not browser(person).purchase.waits)
    person.reads(
        "Where should the table sex × race × age come from?", "no answer, because no table"
    )
    person.reads("For example, bought for ε = 1: ± ")
    person.shoot("nothing-has-it")
    person.type("Spend ε", "0.6")
    person.settled(lambda: not browser(person).purchase.waits)
    person.reads("more than is left: ε = 0.5 of ε = 1 is spent")
    person.type("Spend ε", "1/4")
    person.settled(lambda: not browser(person).purchase.waits)
    person.reads("Bought for ε = 0.25: ± ", "It leaves ε = 0.25 of ε = 1")
    person.click("Buy this table…")
    person.reads("ε = 0.25 is taken from the budget of “adults of the census”", "cannot be undone")
    person.shoot("second-step")
    person.click("Debit ε = 0.25 and buy")
    person.settled(lambda: browser(person).seen is not None)
    person.reads("Combined from 2 releases: release, release-sex-race-age")
    person.reads("by race × age × sex")
    person.shoot("bought")
    press_on(person, "age", Qt.Key.Key_Minus)
    assert any("White | 20-39 | " in line for line in cells(person))
    press_on(person, "age", Qt.Key.Key_Plus)
    assert not any("White | 20-39 | " in line for line in cells(person))
    person.keys(Qt.Key.Key_X)
    person.settled()
    person.reads("by sex × race × age")
    set_share(person, 2)
    person.reads("the ± is above 2 % of the value")
    press_on(person, "sex", Qt.Key.Key_F)
    person.pick("Categories of sex to keep", "Female")
    press(person, Qt.Key.Key_Space)
    person.settled(lambda: "▽" in person.texts() or len(cells(person)) == 2)
    person.asker.answer = tmp_path / "view.xlsx"
    person.keys(Qt.Key.Key_E, CTRL)
    person.settled(lambda: (tmp_path / "view.xlsx").exists())
    piece = out.with_name("release-sex-race-age")
    person.desk.open_text(str(piece))
    person.settled(lambda: person.desk.workbench.release_path == piece)
    verified = person.desk.workbench.verified
    assert verified is not None
    assert verified.ok
    outlook = person.desk.workbench.budget.outlook
    assert outlook is not None
    assert outlook.spent == "ε = 0.75"


def test_the_sample_s_cube_is_bought_table_by_table_from_its_plan(
    person: Person, tmp_path: Path
) -> None:
    with sample_folder() as sample:
        shutil.copytree(sample, tmp_path / "sample")
    person.desk.open_text(str(tmp_path / "sample" / "plans" / "private-tables.toml"))
    person.settled(lambda: person.desk.workbench.data is not None)
    person.keys(Qt.Key.Key_G, CTRL | SHIFT)
    person.settled()
    person.reads("Put dimensions on rows and columns")
    person.shoot("only-planned")
    press_on(person, "age", Qt.Key.Key_R)
    press_on(person, "sex", Qt.Key.Key_C)
    person.reads("Where should the table age × sex come from?")
    person.asker.answer = tmp_path
    person.click("Write elsewhere…")
    person.type("Spend ε", "0.5")
    person.settled(lambda: not browser(person).purchase.waits)
    press(person, Qt.Key.Key_Return)
    assert person.front.focusWidget() is browser(person).purchase.card.back
    press(person, Qt.Key.Key_Backtab)
    press(person, Qt.Key.Key_Space)
    person.settled(lambda: browser(person).seen is not None)
    person.reads("by age × sex", "In all ")
    person.shoot("first-table")
    assert any("age-sex" in path.name for path in tmp_path.iterdir())
