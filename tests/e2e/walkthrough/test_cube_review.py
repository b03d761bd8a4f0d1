"""Tables with noise are submitted, decided on, shown and released by mouse."""

from __future__ import annotations

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


def test_tables_with_noise_are_reviewed_and_released_in_the_window(
    office: Office, tmp_path: Path
) -> None:
    author, first, second = people(tmp_path, AUTHOR, FIRST, SECOND)
    cubes.write_plan(cubes.write_register(author.desk, cubes.people()))
    author.does("run", "plan.toml", "--out", "release")
    submit(office.sit(author), author)
    for reviewer in (first, second):
        vote(office.sit(reviewer), reviewer, author.folder)
    for reviewer in (first, second):
        reveal(office.sit(reviewer), reviewer, author.folder)
    release(office.sit(author), author)
    office.leave()
    assert second.does("verify", author.folder).out.endswith("Verified.\n")


def submit(person: Person, who: Signer) -> None:
    open_release(person, who.folder)
    person.click("Submit for review")
    sign(person, "Submit for review", passphrase_of(who))
    person.reads("Submitted; nobody has begun to review.")
    cannot(person, "Sign the vote", "Release")


def vote(person: Person, who: Signer, folder: Path) -> None:
    open_release(person, folder)
    person.click("Show: Decide")
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
    person.reads(f"{who.name}: sealed; nobody can read it yet.")


def reveal(person: Person, who: Signer, folder: Path) -> None:
    open_release(person, folder)
    person.click("Reveal the vote")
    sign(person, "Everybody reads your vote from now on.", passphrase_of(who))
    person.reads(f"{who.name} approves.")


def release(person: Person, who: Signer) -> None:
    open_release(person, who.folder)
    person.reads("Approved: it can be released.")
    person.click("Release")
    sign(person, "This is final: it can never be taken back", passphrase_of(who))
    person.reads("Released: this is final.")
    person.shoot("released")
    person.click("Show: The release")
    person.reads(f"Signed off and released: reviewed by {FIRST}, {SECOND}.")
    person.shoot("released-tables")
