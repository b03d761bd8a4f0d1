"""From the start screen to an exported release of the sample, by mouse and keys only."""

from __future__ import annotations

import csv
import shutil
from collections import Counter
from pathlib import Path

from PySide6.QtCore import Qt

from dpdesk.core.resources import resource
from tests.helpers.person import Person

CTRL = Qt.KeyboardModifier.ControlModifier
COLUMNS = "Columns and their roles"
ATTRIBUTES = "Attributes"
QUASI = ("age", "sex", "district", "marital_status", "education", "occupation")


def test_a_newcomer_releases_the_sample(person: Person, tmp_path: Path) -> None:
    table = tmp_path / "people.csv"
    shutil.copy(str(resource("sample/population.csv")), table)
    _open(person, table)
    _tag(person)
    _make_hierarchies(person)
    _protect(person)
    _compare(person)
    out = _write(person, tmp_path)
    _verify(person, table)
    _export(person, tmp_path, out)


def _open(person: Person, table: Path) -> None:
    person.reads("Drop a table of people here")
    person.shoot("start")
    person.asker.answer = table
    person.click("Open a file…")
    person.settled(lambda: person.desk.workbench.profile is not None)
    person.reads("people.csv contains 20,502 rows and 16 columns", "delimiter comma")
    person.reads("20,502 rows", "CONFIDENTIAL")
    person.shoot("data")
    person.click("Next: attributes")


def _tag(person: Person) -> None:
    person.reads("What does each column say about a person?")
    person.shoot("attributes-suggested")
    person.click("Accept 16 suggestions")
    person.settled()
    # What the release shall not hold is left out, as identifiers are.
    for name in ("birth_date", "postcode", "birthplace", "household_size", "household_id"):
        person.pick(COLUMNS, name)
        person.press_in(COLUMNS, Qt.Key.Key_I)
    person.pick(COLUMNS, "condition")
    person.press_in(COLUMNS, Qt.Key.Key_S)
    person.settled()
    person.reads("All 16 columns are decided, 6 of them quasi-identifiers.")
    person.reads("17,985 are in groups of fewer than 5 rows")
    person.shoot("attributes")
    person.keys(Qt.Key.Key_Z, CTRL)
    person.keys(Qt.Key.Key_Z, CTRL, Qt.KeyboardModifier.ShiftModifier)
    person.settled()
    person.click("Next: hierarchies")


def _make_hierarchies(person: Person) -> None:
    person.reads("How may values be made coarser?")
    person.shoot("hierarchies-none")
    person.click("Suggest for all that have none")
    person.settled()
    person.reads("Each of the 6 quasi-identifiers has a hierarchy.")
    person.shoot("hierarchies-suggested")
    person.slide("Level shown, slider", Qt.Key.Key_Right, 2)
    person.shoot("hierarchies-level")
    person.pick(ATTRIBUTES, "education")
    person.click("How it is made")
    person.shoot("hierarchies-made")


def _protect(person: Person) -> None:
    person.go(4)
    person.settled(lambda: person.desk.workbench.explored is not None)
    person.reads("How risky is it now?", "smallest group 1 → 5")
    person.shoot("protect")
    person.keys(Qt.Key.Key_B, CTRL)
    person.settled(lambda: len(person.desk.workbench.candidates) == 1)
    person.slide("k, the smallest class, slider", Qt.Key.Key_Right, 5)
    person.settled()
    person.reads("smallest group 1 → 10")
    person.click("Nodes")
    person.settled()
    person.shoot("protect-nodes")
    person.keys(Qt.Key.Key_B, CTRL)
    person.settled(lambda: len(person.desk.workbench.candidates) == 2)


def _compare(person: Person) -> None:
    person.go(5)
    person.reads("Which candidate is better?", "2 of at most 6 candidates")
    person.shoot("compare")
    person.click("Table: What differs?")
    person.shoot("compare-table")
    person.click("Pin candidate 1 as A")
    person.click("Release A…")
    person.settled()


def _write(person: Person, tmp_path: Path) -> Path:
    person.reads(
        "What will be published, and is it verified?", "For someone who knows only age, sex"
    )
    person.type("Title of the release", "People of the sample")
    out = tmp_path / "release"
    person.type("Folder of the release", str(out))
    person.settled()
    person.shoot("review-prepare")
    person.click("Write the release")
    person.settled(lambda: person.desk.workbench.release is not None)
    person.reads("none failed", "People of the sample, released", "No one has signed off")
    person.shoot("review-release")
    person.click("Which files")
    person.reads("public/ is published", "internal/ stays with you", "microdata.csv")
    person.shoot("review-files")
    return out


def _verify(person: Person, table: Path) -> None:
    person.asker.answer = table
    person.click("Check with the source…")
    person.settled(lambda: person.desk.workbench.verified_with is not None)
    person.reads("none failed")
    person.shoot("review-verified")


def _export(person: Person, tmp_path: Path, out: Path) -> None:
    person.asker.answer = tmp_path / "people.xlsx"
    person.click("Other formats")
    person.click("Export as Excel")
    person.settled(lambda: (tmp_path / "people.xlsx").exists())
    person.reads("The public table is in")
    person.shoot("review-exported")
    person.asker.answer = tmp_path / "given.csv"
    person.click("Export as CSV")
    person.settled(lambda: (tmp_path / "given.csv").exists())
    with (tmp_path / "given.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert "person_id" not in rows[0]
    classes = Counter(tuple(row[name] for name in QUASI) for row in rows)
    assert min(classes.values()) >= 5
    assert len(rows) >= 20_502 * 0.98
    assert (out / "internal" / "seal.json").exists()
