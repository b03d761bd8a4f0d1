"""The shortest ways through the window, in clicks and keys: they are counted, printed, and held."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QListWidget

from dpdesk.core.resources import resource
from tests.helpers.person import Person

COLUMNS = "Columns and their roles"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    made = tmp_path / "people.csv"
    shutil.copy(str(resource("sample/population.csv")), made)
    return made


def opened(person: Person, table: Path) -> None:
    person.asker.answer = table
    person.click("Open a file…")
    person.settled(lambda: person.desk.workbench.profile is not None)


def test_a_k_anonymous_file_takes_at_most_25_clicks(
    person: Person, table: Path, tmp_path: Path
) -> None:
    opened(person, table)
    person.click("Next: tag attributes")
    person.click("Accept 16 suggestions")
    person.settled()
    for name in ("birth_date", "postcode", "birthplace", "household_size", "household_id"):
        person.pick(COLUMNS, name)
        person.press_in(COLUMNS, Qt.Key.Key_I)
    person.click("Next: hierarchies")
    person.click("Suggest for all that have none")
    person.settled()
    person.go(4)
    person.settled(lambda: person.desk.workbench.explored is not None)
    person.click("Release… in Review and export")
    person.settled()
    person.reads("are for a person to judge")
    person.type("Folder of the release", str(tmp_path / "out"))
    person.settled()
    person.click("Write the release")
    person.settled(lambda: person.desk.workbench.release is not None)
    person.asker.answer = tmp_path / "given.csv"
    person.click("Export as CSV")
    person.settled(lambda: (tmp_path / "given.csv").exists())
    assert person.effort.clicks <= 25


def test_a_first_table_with_noise_takes_at_most_20_clicks(
    person: Person, table: Path, tmp_path: Path
) -> None:
    opened(person, table)
    person.go(4)
    person.settled()
    person.click("Differentially private tables")
    person.settled()
    person.type("ε, the privacy loss", "1")
    view = person.find("Dimensions", QListWidget)
    view.setFocus(Qt.FocusReason.TabFocusReason)
    for name in ("district", "education", "sex"):
        view.setCurrentItem(view.findItems(name, Qt.MatchFlag.MatchExactly)[0])
        person.qtbot.keyClick(view, Qt.Key.Key_Space)
    person.settled()
    person.reads("Still to be declared: the categories of")
    person.click("Propose for all that have none…")
    person.settled()
    person.click("These categories were known beforehand")
    person.click("Use the suggested categories")
    person.settled()
    person.reads("the largest planned error is")
    person.type("People of the budget", "residents")
    person.settled()
    person.click("Release… in Review and export")
    person.settled()
    person.type("Folder of the release", str(tmp_path / "out"))
    person.settled()
    person.click(person.button("Release, spends ε"))
    person.settled()
    person.click(person.button("Yes: Release"))
    person.settled(lambda: person.desk.workbench.release is not None)
    person.reads("none failed")
    assert person.effort.clicks <= 20
