"""The shortest ways through the window, in clicks and keys: they are counted, printed, and held."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QListWidget

from dpdesk.core.resources import resource
from tests.helpers import cubes
from tests.helpers.keyboard import Keyboard
from tests.helpers.office import (
    POINTS,
    Office,
    open_release,
    passphrase_of,
    points,
    sign_by_keys,
    signed,
)
from tests.helpers.person import Person
from tests.helpers.signers import AUTHOR, FIRST, SECOND, people

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
    person.click("Next: attributes")
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
    person.click("Suggest for all that have none…")
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


def test_an_answer_from_a_released_cube_takes_at_most_5_clicks(
    person: Person, tmp_path: Path
) -> None:
    plan = cubes.write_plan(cubes.write_register(tmp_path, cubes.people()))
    out = tmp_path / "out"
    cubes.release(person.desk.workbench.context, plan, out)
    person.asker.answer = out
    control, shift = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
    person.keys(Qt.Key.Key_B, control, shift)
    browser = person.desk.beside.browser
    person.settled(lambda: browser.isVisible() and browser.seen is not None)
    browser.activateWindow()
    person.effort.waitUntil(lambda: person.desk.window.isVisible())
    grid = browser.page.grid
    place = grid.visualRect(grid.model().index(1, 1)).center()
    person.effort.mouseClick(grid.viewport(), Qt.MouseButton.LeftButton, pos=place)
    read = browser.page.cell.text()
    assert "so between " in read
    assert " in 95 of 100 cases." in read
    assert person.effort.clicks <= 5


def test_a_review_of_20_files_with_one_exception_takes_15_clicks_and_2_passphrases(
    office: Office, tmp_path: Path
) -> None:
    author, first, second = people(tmp_path, AUTHOR, FIRST, SECOND)
    shutil.copytree(str(resource("sample")), author.desk / "sample")
    author.does("run", "sample/plans/private-tables.toml", "--out", "release")
    assert author.signs("submit").code == 0
    person, secret = office.sit(first), passphrase_of(first)
    open_release(person, author.folder)
    person.click("Decide")
    names = points(person)
    files = [name for name in names if name.startswith("public/")]
    asked = [name for name in names if name not in files]
    assert len(files) >= 18
    person.click(person.button("Accept all", "open files"))
    person.pick_line(POINTS, asked[0])
    person.keys_in(POINTS, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier, len(asked) - 1)
    person.click("Accept")
    person.press_in(POINTS, Qt.Key.Key_Return)
    typed(person, "Seen and thought through.")
    person.pick_line(POINTS, "public/cuboids/1-sex.csv")
    person.click("Request change")
    person.press_in(POINTS, Qt.Key.Key_Return)
    typed(person, "Please say what the codes mean.")
    person.reads(f"{len(names)} of {len(names)} decided")
    person.click("Sign the vote")
    person.click("Request changes")
    person.write("Overall comment", "One table has codes alone.")
    sign_by_keys(Keyboard(person), secret)
    signed(person)
    clicks = person.effort.clicks
    second.takes(author)
    assert second.votes().code == 0
    assert author.signs("merge", second.folder).code == 0
    person = office.sit(first)
    open_release(person, author.folder)
    person.click("Reveal the vote")
    sign_by_keys(Keyboard(person), secret)
    signed(person)
    clicks += person.effort.clicks
    print(f"a review of {len(files)} files: {clicks} clicks, 2 passphrases")
    assert clicks <= 15


def typed(person: Person, text: str) -> None:
    """Type where the focus is."""
    focus = QApplication.focusWidget()
    assert focus is not None
    person.qtbot.keyClicks(focus, text)
