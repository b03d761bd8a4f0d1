"""A project by mouse and keys: begun, left and gone on with, looked at by a second person."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from tests.helpers import projects
from tests.helpers.person import Person
from tests.helpers.releases import write_source

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
COLUMNS = "Columns and their roles"


@pytest.fixture(autouse=True)
def local_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Whatever disk the tests run on counts as this computer's own."""
    monkeypatch.setattr("dpdesk.core.systems._MOUNTS", tmp_path / "none")


def test_a_work_is_kept_left_and_gone_on_with(person: Person, tmp_path: Path) -> None:
    plan, path = write_source(tmp_path / "work"), tmp_path / "work" / "town.dpdesk"
    _begin(person, plan, path)
    _work(person)
    _leave(person)
    _go_on(person, path)
    _look_as_a_second_person(person, path, tmp_path)


def _begin(person: Person, plan: Path, path: Path) -> None:
    person.reads("a project (.dpdesk)")
    person.asker.answer = plan
    person.click("Open a file…")
    person.settled(lambda: person.desk.workbench.profile is not None)
    person.asker.answer = path
    person.keys(Qt.Key.Key_N, CTRL, SHIFT)
    person.reads(
        "Every change is now saved in town.dpdesk", "✓ Saved", "town – zq-raw-register.csv"
    )
    person.shoot("begun")


def _work(person: Person) -> None:
    person.go(2)
    person.pick(COLUMNS, "illness")
    person.press_in(COLUMNS, Qt.Key.Key_I)
    person.settled()
    person.keys(Qt.Key.Key_Z, CTRL)
    person.pick(COLUMNS, "town")
    person.press_in(COLUMNS, Qt.Key.Key_S)
    person.reads("town: sensitive", "✓ Saved")


def _leave(person: Person) -> None:
    person.keys(Qt.Key.Key_W, CTRL)
    person.reads("Drop a table of people here", "nothing open")
    person.shoot("left")


def _go_on(person: Person, path: Path) -> None:
    person.asker.answer = path
    person.click("Open a project…")
    person.settled(lambda: person.desk.workbench.profile is not None)
    person.reads("town: sensitive", "✓ Saved", "zq-raw-register.csv contains 300 rows")
    labels = {moment.label for moment in person.desk.workbench.history.moments()}
    assert {"illness: identifier", "town: sensitive"} <= labels
    person.keys(Qt.Key.Key_W, CTRL)
    person.reads("nothing open")


def _look_as_a_second_person(person: Person, path: Path, folder: Path) -> None:
    first = projects.Desk(folder / "home of the first")
    try:
        first.open(path)
        person.asker.answer = path
        person.keys(Qt.Key.Key_O, CTRL, SHIFT)
        person.reads("is working in it", "△ Read only")
        person.shoot("read-only")
        person.asker.answer = folder / "copy.dpdesk"
        person.click("Work on a copy…")
        person.reads("Every change is now saved in copy.dpdesk", "✓ Saved")
        person.settled(lambda: person.desk.workbench.profile is not None)
        person.desk.projects.keeper.end()
    finally:
        first.close()
