"""Bad days of a review, in the window by mouse and keys: tampering, keys, folders, clocks."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from PySide6.QtWidgets import QPushButton

from dpdesk.app import signing
from tests.helpers.forging import manifest_of, seal_again
from tests.helpers.keyboard import Keyboard
from tests.helpers.office import (
    Office,
    ask,
    cannot,
    decide,
    open_release,
    open_release_by_keys,
    passphrase_of,
    points,
    sign,
    sign_by_keys,
    signed,
)
from tests.helpers.person import Person
from tests.helpers.read_only import make_read_only
from tests.helpers.signers import AUTHOR, FIRST, SECOND, people, write_plan
from tests.helpers.signers import Person as Signer

Three = tuple[Signer, Signer, Signer]
SPOILED = "nothing can be signed or exported"


@pytest.fixture(scope="module")
def submitted(tmp_path_factory: pytest.TempPathFactory) -> Three:
    """A release that its author has submitted, and two reviewers with a copy each."""
    author, first, second = people(tmp_path_factory.mktemp("agency"), AUTHOR, FIRST, SECOND)
    write_plan(author)
    author.does("run", "plan.toml", "--out", "release")
    assert author.signs("submit").code == 0
    for reviewer in (first, second):
        reviewer.takes(author)
    return author, first, second


@pytest.fixture
def three(submitted: Three, tmp_path: Path) -> Three:
    author, first, second = (one.copied(tmp_path / one.desk.name) for one in submitted)
    return author, first, second


# ---- the attacker


def test_a_file_edited_while_a_reviewer_decides_is_named_and_nothing_is_signed(
    office: Office, three: Three
) -> None:
    _, first, _ = three
    person = office.sit(first)
    open_release(person, first.folder)
    person.click("Decide")
    for what in points(person):
        decide(person, what, "Accept", "Seen.")
    before = first.review.read_bytes()
    edit_table(first.folder)

    person.click("Sign the vote")
    person.click("Approve the release")
    person.type("Passphrase of the key", passphrase_of(first))
    person.click("Sign")
    person.reads("✕ ", "public/microdata.csv")
    person.shoot("edited-while-signing")
    person.click("Cancel")
    signed(person)
    person.click("Where it is")
    person.click("Look at the review again")
    person.reads(SPOILED, "public/microdata.csv")
    nothing_can_be_signed(person)
    person.shoot("edited")
    assert first.review.read_bytes() == before


@pytest.mark.parametrize("where", ["public/microdata.csv", "internal/report.html"])
def test_a_file_edited_and_sealed_again_is_named_when_the_folder_is_opened(
    office: Office, three: Three, where: str
) -> None:
    _, first, _ = three
    edits: dict[str, Callable[[Path], None]] = {
        "public/microdata.csv": edit_table,
        "internal/report.html": lambda folder: praise(folder / where),
    }
    edits[where](first.folder)
    seal_again(first.folder, manifest_of(first.folder))
    person = office.sit(first)
    open_release(person, first.folder)
    person.reads(SPOILED, where)
    nothing_can_be_signed(person)
    person.shoot("sealed-again")
    person.click("The release")
    assert not person.find("Export as CSV", QPushButton).isEnabled()
    person.shoot("sealed-again-release")


def test_a_vote_taken_out_of_the_folder_is_missed_and_put_back(
    office: Office, three: Three
) -> None:
    _, first, _ = three
    empty = first.review.read_bytes()
    assert first.votes().code == 0
    voted = first.review.read_bytes()
    first.review.write_bytes(empty)
    person = office.sit(first)
    open_release(person, first.folder)
    person.reads(SPOILED, "has seen is missing", FIRST)
    nothing_can_be_signed(person)
    person.shoot("vote-removed")
    person.click("Join copies")
    sign(person, "What this computer has seen before is restored, too.", passphrase_of(first))
    person.reads("In review. Round 1: 1 of 2 votes are cast", "Anna Weber: sealed")
    assert len(first.review.read_bytes()) > len(voted)


def edit_table(folder: Path) -> None:
    table = folder / "public" / "microdata.csv"
    table.write_bytes(table.read_bytes().replace(b"flu", b"flv", 1))


def praise(page: Path) -> None:
    page.write_text("<html>All is well.</html>", "utf-8")


def nothing_can_be_signed(person: Person) -> None:
    cannot(person, "Begin the review", "Sign the vote", "Reveal the vote", "Release")


# ---- keys, folders, clocks: by keyboard alone


def test_a_wrong_passphrase_is_told_and_the_right_one_still_signs(
    office: Office, three: Three
) -> None:
    _, first, _ = three
    before = first.review.read_bytes()
    keyboard = at_review(office, first)
    ask(keyboard, "Begin the review")
    sign_by_keys(keyboard, "not the right words")
    keyboard.person.reads("does not open the key")
    keyboard.person.shoot("wrong-passphrase")
    assert first.review.read_bytes() == before
    sign_by_keys(keyboard, passphrase_of(first))
    signed(keyboard.person)
    keyboard.person.reads("Signed: ", "Anna Weber began to review (key ")


def test_without_a_key_nothing_can_be_signed_until_one_is_made(
    office: Office, three: Three
) -> None:
    _, first, _ = three
    shutil.rmtree(first.home / "keys")
    keyboard = at_review(office, first)
    keyboard.person.reads("You have no key on this computer: make one and have it trusted.")
    nothing_can_be_signed(keyboard.person)
    keyboard.person.shoot("no-key")
    keyboard.use("People and keys…")
    keyboard.person.reads("There is no key on this computer yet.")


def test_a_clock_that_has_gone_back_signs_nothing(
    office: Office, three: Three, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, first, _ = three
    before, now = first.review.read_bytes(), signing.now()
    monkeypatch.setattr(signing, "now", lambda: now - timedelta(days=30))
    keyboard = at_review(office, first)
    keyboard.person.reads("clock")
    keyboard.person.shoot("clock-gone-back")
    assert first.review.read_bytes() == before


def test_from_a_read_only_folder_the_review_goes_into_a_file_that_is_joined(
    office: Office, three: Three, monkeypatch: pytest.MonkeyPatch
) -> None:
    author, first, _ = three
    before, out = first.review.read_bytes(), first.desk / "mine.json"
    make_read_only(first.folder, monkeypatch)
    keyboard = at_review(office, first)
    ask(keyboard, "Begin the review")
    sign_by_keys(keyboard, passphrase_of(first))
    keyboard.person.reads("the folder is read-only")
    field = keyboard.tab_to("Write the review into this file instead")
    office.waits(lambda: field.visibleRegion().contains(field.rect()))
    keyboard.person.shoot("read-only")
    keyboard.type(str(out))
    sign_by_keys(keyboard, passphrase_of(first))
    signed(keyboard.person)
    keyboard.person.reads("Anna Weber began to review", "It is only in ", "mine.json")
    keyboard.person.shoot("written-elsewhere")
    assert first.review.read_bytes() == before

    person = office.sit(author)
    open_release(person, author.folder)
    person.click("Join copies")
    person.asker.answer = out
    person.click(person.button("File", "Copy 1"))
    sign(person, "Join copies", passphrase_of(author))
    person.reads("In review. Round 1: 0 of 2 votes are cast", "Anna Weber began to review")


def at_review(office: Office, who: Signer) -> Keyboard:
    keyboard = Keyboard(office.sit(who))
    open_release_by_keys(keyboard, who.folder)
    return keyboard
