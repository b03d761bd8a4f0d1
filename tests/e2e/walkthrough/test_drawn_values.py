"""Values are drawn from opening the data to the signed export, and the release is asked."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QListWidget

from tests.helpers import clinic
from tests.helpers.office import Office, open_release, passphrase_of, sign
from tests.helpers.person import Person
from tests.helpers.signers import AUTHOR, FIRST, SECOND, approve, people
from tests.helpers.signers import Person as Signer

COLUMNS = "Columns and their roles"
ASKED = "Columns and their conditions"


def test_drawn_values_are_released_signed_exported_and_asked(
    office: Office, tmp_path: Path
) -> None:
    author, first, second = people(tmp_path, AUTHOR, FIRST, SECOND)
    source = clinic.write_source(author.desk, 1202)
    person = office.sit(author)
    protect(person, source)
    write(person, author.folder)
    ask(person)
    office.leave()
    approve(author, first, second)
    person = office.sit(author)
    release(person, author)
    export(person, tmp_path / "given.csv")
    office.leave()
    said = second.does("query", author.folder, "--by", "job", "--json").json
    assert said["method"] == "l-diverted"
    assert second.does("verify", author.folder).out.endswith("Verified.\n")


def protect(person: Person, source: Path) -> None:
    person.asker.answer = source
    person.click("Open a file…")
    person.settled(lambda: person.desk.workbench.profile is not None)
    person.go(2)
    person.pick(COLUMNS, clinic.IDENTIFIER)
    person.press_in(COLUMNS, Qt.Key.Key_I)
    person.pick(COLUMNS, "job")
    person.press_in(COLUMNS, Qt.Key.Key_S)
    person.go(4)
    person.click("Diverted sensitive values")
    person.slide("ℓ′, values in a hidden group, slider", Qt.Key.Key_Left, 2)
    person.settled(lambda: person.desk.workbench.explored is not None)
    person.reads("Every published value of job is drawn from 3 values; 2 rows are removed")
    assert "k" not in person.desk.workbench.work.parameters
    person.shoot("protect")
    person.go(5)
    person.click("Compare ways to release…")
    person.click("Compare")
    person.settled()
    person.reads("Which method says most about job at ℓ′ = 3?", "Internal, confidential")
    person.shoot("ways")
    person.keys(Qt.Key.Key_Escape)
    person.window.activateWindow()
    person.qtbot.waitUntil(lambda: QApplication.activeWindow() is person.window)


def write(person: Person, out: Path) -> None:
    person.go(6)
    person.type("Title of the release", "Clinic register")
    person.type("Folder of the release", str(out))
    person.settled()
    person.click("Write the release")
    person.settled(lambda: person.desk.workbench.release_path == out)
    person.reads("none failed", "Clinic register, released")


def release(person: Person, who: Signer) -> None:
    open_release(person, who.folder)
    person.reads("Approved: it can be released.")
    person.click("Release")
    sign(person, "This is final: it can never be taken back", passphrase_of(who))
    person.reads("Released: this is final.")
    person.click("The release")
    person.reads(f"Signed off and released: reviewed by {FIRST}, {SECOND}.")


def export(person: Person, out: Path) -> None:
    person.asker.answer = out
    person.click("Export as CSV")
    person.settled(out.exists)
    with out.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 1200
    assert clinic.IDENTIFIER not in rows[0]


def ask(person: Person) -> None:
    person.click("Ask for counts")
    person.settled()
    person.reads("Clinic register", "How many rows by job?", "drawn in hidden groups of 3 values")
    person.pick(ASKED, "town")
    person.settled()
    person.click("None")
    ticks = person.find("Categories of town to keep", QListWidget)
    person.qtbot.keyClick(ticks, Qt.Key.Key_Space)
    person.settled()
    person.reads("How many rows with town = town 0, by job?")
    person.click("Show the truth and the error")
    person.settled()
    true = Counter(row[4] for row in clinic.people(1202) if row[2] == "town 0")
    person.reads("Internal, confidential, from the source", "intervals contain the number")
    person.shoot("asked")
    person.keys(Qt.Key.Key_T, Qt.KeyboardModifier.ControlModifier)
    table = "Table: How many rows with town = town 0, by job?"
    for job, count in true.items():
        person.lists(table, f"{job} | ")
        line = next(line for line in person.lines(table) if line.startswith(f"{job} | "))
        assert line.split(" | ")[5] == f"{count:,}"
