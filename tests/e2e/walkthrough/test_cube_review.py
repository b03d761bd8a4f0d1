"""Tables with noise are planned, drawn, submitted, decided on, released and exported by mouse."""

from __future__ import annotations

import csv
from pathlib import Path

from tests.helpers import cubes
from tests.helpers.office import (
    Office,
    cannot,
    decide,
    open_release,
    passphrase_of,
    points,
    sign,
)
from tests.helpers.person import Person
from tests.helpers.signers import AUTHOR, FIRST, SECOND, people
from tests.helpers.signers import Person as Signer

WHY = "Seen and thought through."


def test_tables_with_noise_go_from_the_plan_to_a_signed_export_in_the_window(
    office: Office, tmp_path: Path
) -> None:
    author, first, second = people(tmp_path, AUTHOR, FIRST, SECOND)
    cubes.write_plan(cubes.write_register(author.desk, cubes.people()))
    make(office.sit(author), author)
    submit(office.sit(author), author)
    for reviewer in (first, second):
        vote(office.sit(reviewer), reviewer, author.folder)
    for reviewer in (first, second):
        reveal(office.sit(reviewer), reviewer, author.folder)
    release(office.sit(author), author)
    export(office.sit(author), author)
    office.leave()
    assert second.does("verify", author.folder).out.endswith("Verified.\n")


def make(person: Person, who: Signer) -> None:
    """Open the plan, look at the planned errors, and draw the noise once."""
    person.desk.workbench.open_path(who.desk / "plan.toml")
    person.settled(lambda: person.desk.workbench.profile is not None)
    person.go(4)
    person.settled(lambda: person.desk.workbench.explored is not None)
    person.reads("8 tables; the largest planned error is")
    person.click("Lattice of tables")
    person.settled()
    person.shoot("planned")
    person.go(6)
    person.settled()
    person.type("Folder of the release", str(who.folder))
    person.settled()
    person.click(person.button("Release, spends ε"))
    person.settled()
    person.reads("drawn once")
    assert not who.folder.exists()
    person.click(person.button("Yes: Release"))
    person.settled(lambda: person.desk.workbench.release is not None)
    person.reads("none failed")
    person.shoot("made")


def submit(person: Person, who: Signer) -> None:
    open_release(person, who.folder)
    person.click("Submit for review")
    sign(person, "Submit for review", passphrase_of(who))
    person.reads("Submitted; no one has begun to review.")
    cannot(person, "Sign the vote", "Release")


def vote(person: Person, who: Signer, folder: Path) -> None:
    open_release(person, folder)
    person.click("Decide")
    names = points(person)
    files = [path for path in (folder / "public" / "cuboids").iterdir() if path.is_file()]
    assert {f"public/cuboids/{path.name}" for path in files} <= set(names)
    assert "What was spent on these people?" in names
    for what in names:
        decide(person, what, "Accept", WHY)
    person.shoot("decided")
    person.click("Sign the vote")
    person.click("Approve the release")
    sign(person, "Your vote is sealed until all votes are in", passphrase_of(who))
    person.reads(f"{who.name}: sealed; no one can read it yet.")


def reveal(person: Person, who: Signer, folder: Path) -> None:
    open_release(person, folder)
    person.click("Reveal the vote")
    sign(person, "Everyone can read your vote from now on.", passphrase_of(who))
    person.reads(f"{who.name} approves.")


def release(person: Person, who: Signer) -> None:
    open_release(person, who.folder)
    person.reads("Approved: it can be released.")
    person.click("Release")
    sign(person, "This is final: it can never be taken back", passphrase_of(who))
    person.reads("Released: this is final.")
    person.shoot("released")
    person.click("The release")
    person.reads(f"Signed off and released: reviewed by {FIRST}, {SECOND}.")
    person.shoot("released-tables")


def export(person: Person, who: Signer) -> None:
    """Open the signed release again and write its tables as one file."""
    open_release(person, who.folder)
    person.reads("Released: this is final.")
    person.click("The release")
    person.asker.answer = given = who.desk / "given.csv"
    person.click("Export as CSV")
    person.settled(given.exists)
    person.reads("The public table is in")
    person.shoot("exported")
    with given.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    tables = (who.folder / "public" / "cuboids").iterdir()
    assert len(rows) == sum(len(path.read_text("utf-8").splitlines()) - 1 for path in tables)
