"""A review by mouse and keys: an author and two reviewers, each with a key and a computer.

The first reviewer has no mouse at all.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from tests.helpers.keyboard import CTRL, Keyboard
from tests.helpers.office import (
    LEFT_OUT,
    POINTS,
    QUASI,
    SENSITIVE,
    Office,
    cannot,
    decide,
    decide_by_keys,
    open_release,
    open_release_by_keys,
    passphrase_of,
    points,
    sign,
    sign_by_keys,
    signed,
    take_adult,
    write_rules,
)
from tests.helpers.person import Person
from tests.helpers.signers import AUTHOR, FIRST, SECOND, people
from tests.helpers.signers import Person as Signer

Key = Qt.Key
Three = tuple[Signer, Signer, Signer]
FAILED, PASSED = "Are few enough rows suppressed?", "Is anyone alone in their class?"
MANIFEST = "public/manifest.json"
CHANGE = "Please say the year in the title."
COLUMNS = "Columns and their roles"


# ---- the author


@pytest.mark.data
def test_an_author_submits_real_data_and_cannot_review_it(
    office: Office, real_data: Path, tmp_path: Path
) -> None:
    author, *_ = three = people(tmp_path, AUTHOR, FIRST, SECOND)
    write_rules(three)
    take_adult(author, real_data)
    person = office.sit(author)
    protect(person, author)
    write_release(person, author, "Adults")
    submit(person, author)
    person.click("Review and sign-off")
    cannot(person, "Begin the review", "Sign the vote", "Reveal the vote", "Release")
    person.reads("Authors cannot review their own release.")
    person.shoot("author-cannot-review")
    office.leave()
    assert author.does("review", "status", "release", "--json").json["status"] == "submitted"


def protect(person: Person, who: Signer) -> None:
    person.asker.answer = who.desk / "adult.csv"
    person.click("Open a file…")
    person.settled(lambda: person.desk.workbench.profile is not None)
    person.go(2)
    for name in QUASI:
        person.pick(COLUMNS, name)
        person.press_in(COLUMNS, Key.Key_Q)
    for name in LEFT_OUT:
        person.pick(COLUMNS, name)
        person.press_in(COLUMNS, Key.Key_I)
    person.pick(COLUMNS, SENSITIVE)
    person.press_in(COLUMNS, Key.Key_S)
    person.go(3)
    for name in QUASI:
        person.pick("Attributes", name)
        person.click("How it is made")
        person.asker.answer = who.desk / f"adult_hierarchy_{name}.csv"
        person.click("Import")
        person.settled(lambda name=name: name in person.desk.workbench.work.hierarchies)
    person.go(4)
    person.settled(lambda: person.desk.workbench.explored is not None)
    person.reads("smallest group 1 → 5")


def write_release(person: Person, who: Signer, title: str, name: str = "release") -> None:
    person.go(6)
    person.type("Title of the release", title)
    person.type("Folder of the release", str(who.desk / name))
    person.settled()
    person.click("Write the release")
    person.settled(lambda: person.desk.workbench.release_path == who.desk / name)
    person.reads("none failed", f"{title}, released", "No one has signed off this release yet.")


def submit(person: Person, who: Signer) -> None:
    person.click("Review and sign-off")
    person.reads("This release has not been submitted for review yet.")
    person.shoot("not-submitted")
    person.click("Submit for review")
    person.reads("You sign every file")
    person.write("Note for the reviewers", "Please look at the occupations.")
    person.shoot("submit")
    sign(person, "Submit for review", passphrase_of(who))
    person.reads("Submitted; no one has begun to review.", "Please look at the occupations.")
    person.shoot("submitted")


# ---- the reviewers


@pytest.fixture(scope="module")
def submitted(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Three:
    """A release of real data that its author has submitted, and two reviewers."""
    author, first, second = three = people(tmp_path_factory.mktemp("agency"), AUTHOR, FIRST, SECOND)
    write_rules(three)
    take_adult(author, real_data)
    author.does("run", "plan.toml", "--out", "release")
    said = author.signs("submit", "--note", "Please look at the occupations.")
    assert said.code == 0, said.err
    return author, first, second


@pytest.fixture
def three(submitted: Three, tmp_path: Path) -> Three:
    author, first, second = (one.copied(tmp_path / one.desk.name) for one in submitted)
    return author, first, second


@pytest.mark.data
def test_reviewers_vote_apart_and_no_vote_is_seen_before_all_are_in(
    office: Office, three: Three
) -> None:
    author, first, second = three
    first.takes(author)  # a copy: she is elsewhere
    vote_by_keyboard(office.sit(first), first)
    vote_by_mouse(office.sit(second), second, author.folder, author.desk / "adult.csv")
    join(office.sit(author), author, first)
    reveal(office.sit(second), second, author.folder)
    reveal_by_keyboard(office.sit(first), first, author.folder)
    office.leave()
    status = author.does("review", "status", "release", "--json").json
    assert status["status"] == "changes requested"


def vote_by_keyboard(person: Person, who: Signer) -> None:
    keyboard = Keyboard(person)
    keyboard.press(Key.Key_6, CTRL)
    person.asker.answer = who.folder
    keyboard.menu(Key.Key_F, Key.Key_R)
    person.settled(lambda: person.desk.workbench.release_path == who.folder)
    keyboard.turn("Review and sign-off")
    person.reads("Submitted; no one has begun to review.")
    keyboard.use("Begin the review")
    person.reads("Others see that you have begun to review.")
    sign_by_keys(keyboard, passphrase_of(who))
    signed(person)
    person.reads("Signed: ", "Anna Weber began to review (key ")
    keyboard.turn("Decide")
    person.shoot("decide")
    person.fits()
    names = points(person)
    person.reads(f"0 of {len(names)} decided")
    for what in names:
        decide_by_keys(keyboard, what, "Accept")
    person.reads(f"{len(names) - 1} of {len(names)} decided")  # a check failed
    decide_by_keys(keyboard, FAILED, "Accept")
    person.reads("It failed: explain in the comment why you accept it nevertheless.")
    person.shoot("comment-lacks")
    decide_by_keys(keyboard, FAILED, "Accept", "77 of 30,162 rows are few enough here.")
    decide_by_keys(keyboard, MANIFEST, "Request change", CHANGE)
    person.reads(f"{len(names)} of {len(names)} decided")
    person.shoot("decided")
    keyboard.use("Sign the vote")
    person.reads("Your vote is sealed until all votes are in")
    keyboard.take(Key.Key_H, "Request changes")
    keyboard.fill("Overall comment", CHANGE)
    person.shoot("sign-vote")
    sign_by_keys(keyboard, passphrase_of(who))
    signed(person)
    person.reads("In review. Round 1: 1 of 2 votes are cast, 0 revealed.")
    person.reads("Anna Weber: sealed; no one can read it yet.")
    person.shoot("voted")


def vote_by_mouse(person: Person, who: Signer, folder: Path, source: Path) -> None:
    open_release(person, folder)
    person.reads("Submitted; no one has begun to review.")
    assert FIRST not in person.texts()
    person.click("The release")
    person.asker.answer = source
    person.click("Check with the source…")
    person.settled(lambda: person.desk.workbench.verified_with == source)
    person.reads("none failed")
    person.click("Review and sign-off")
    person.click("Decide")
    names = points(person)
    for what in names:
        decide(person, what, "Accept")
    decide(person, PASSED, "Reject")
    person.reads("Explain in the comment why you do not accept it.")
    person.shoot("comment-lacks")
    cannot(person, "Sign the vote")
    decide(person, PASSED, "Accept")
    decide(person, FAILED, "Accept", "The people of the register agreed to it.")
    person.reads(f"{len(names)} of {len(names)} decided")
    person.click("Sign the vote")
    person.click("Approve the release")
    person.shoot("sign-vote")
    sign(person, "Your vote is sealed until all votes are in", passphrase_of(who))
    person.reads("In review. Round 1: 1 of 2 votes are cast, 0 revealed.")
    assert CHANGE not in person.texts()


def join(person: Person, author: Signer, first: Signer) -> None:
    open_release(person, author.folder)
    person.reads("Ben Stone: sealed; no one can read it yet.")
    person.click("Join copies")
    person.reads("What reviewers signed in their own copies is added to this folder")
    person.asker.answer = first.folder
    person.click(person.button("Folder", "Copy 1"))
    person.shoot("join")
    sign(person, "Join copies", passphrase_of(author))
    person.reads(
        "2 of 2 votes are cast, 0 revealed.", "Anna Weber: sealed; no one can read it yet."
    )
    person.shoot("joined")
    person.fits()
    assert CHANGE not in person.texts()
    cannot(person, "Release")


def reveal(person: Person, who: Signer, folder: Path) -> None:
    open_release(person, folder)
    person.click("Reveal the vote")
    sign(person, "Everyone can read your vote from now on.", passphrase_of(who))
    person.reads("2 of 2 votes are cast, 1 revealed.", "Ben Stone approves.")
    assert CHANGE not in person.texts()


def reveal_by_keyboard(person: Person, who: Signer, folder: Path) -> None:
    keyboard = Keyboard(person)
    open_release_by_keys(keyboard, folder)
    keyboard.use("Reveal the vote")
    sign_by_keys(keyboard, passphrase_of(who))
    signed(person)
    person.reads("Changes are requested: the author submits again.")
    person.reads(f"Anna Weber requests changes. “{CHANGE}”")
    person.shoot("changes-requested")


# ---- the second round


@pytest.fixture(scope="module")
def asked_back(submitted: Three, tmp_path_factory: pytest.TempPathFactory) -> Three:
    """The same, voted on: the first reviewer asks for a change of one file."""
    folder = tmp_path_factory.mktemp("asked back")
    author, first, second = (one.copied(folder / one.desk.name) for one in submitted)
    for reviewer in (first, second):
        reviewer.takes(author)
    sheet = first.decides("approve", "Seen.")
    before, mark, after = sheet.read_text("utf-8").partition(f'[files."{MANIFEST}"]')
    before = before.replace('outcome = "approve"', 'outcome = "changes"')
    after = after.replace('decision = "accept"', 'decision = "change"', 1)
    sheet.write_text(before + mark + after, "utf-8")
    assert first.signs("vote", "--sheet", sheet).code == 0
    assert second.votes().code == 0
    assert author.signs("merge", first.folder, second.folder).code == 0
    for reviewer in (first, second):
        reviewer.takes(author)
        assert reviewer.signs("reveal").code == 0
    said = author.signs("merge", first.folder, second.folder)
    assert "Status: changes requested" in said.out
    return author, first, second


@pytest.fixture
def again(asked_back: Three, tmp_path: Path) -> Three:
    author, first, second = (one.copied(tmp_path / one.desk.name) for one in asked_back)
    return author, first, second


@pytest.mark.data
def test_what_was_asked_for_is_done_approved_and_released_for_good(
    office: Office, again: Three
) -> None:
    author, first, second = again
    folder = author.desk / "release 2"
    submit_again(office.sit(author), author, folder)
    approve_by_keyboard(office.sit(first), first, folder)
    approve_by_mouse(office.sit(second), second, folder)
    reveal_to_approve(office.sit(first), first, folder, "1 revealed.")
    reveal_to_approve(office.sit(second), second, folder, "Approved: it can be released.")
    release(office.sit(author), author, folder)
    office.leave()
    assert author.does("verify", folder).out.endswith("Verified.\n")
    assert second.does("review", "status", folder, "--json").json["status"] == "released"


def submit_again(person: Person, who: Signer, folder: Path) -> None:
    open_release(person, who.folder)
    person.reads("Changes are requested: the author submits again.", "Anna Weber requests changes.")
    person.shoot("asked-back")
    person.go(1)
    person.asker.answer = who.desk / "plan.toml"
    person.keys(Key.Key_O, CTRL)
    person.settled(lambda: person.desk.workbench.profile is not None)
    person.go(6)
    write_release(person, who, "Adults 2026", folder.name)
    person.click("Review and sign-off")
    person.click("Submit for review")
    person.asker.answer = who.folder
    person.click(person.button("Choose", "previous round"))
    person.write("Note for the reviewers", "The title says the year now.")
    sign(person, "Submit for review", passphrase_of(who))
    person.reads("Submitted; no one has begun to review. Round 2: 0 of 2 votes are cast")
    person.shoot("submitted-again")


def carried_over(person: Person) -> list[str]:
    """What of the first round is proposed again; returns what is still to be decided."""
    lines = person.lines(POINTS)
    table = next(line for line in lines if line.endswith("public/microdata.csv"))
    assert "accept" in table  # the very same bytes
    manifest = next(line for line in lines if line.endswith(MANIFEST))
    assert "open" in manifest
    return [line.split(" | ")[-1] for line in lines if "open" in line]


def approve_by_keyboard(person: Person, who: Signer, folder: Path) -> None:
    keyboard = Keyboard(person)
    open_release_by_keys(keyboard, folder)
    keyboard.turn("Decide")
    person.reads("of them as you signed before")
    person.shoot("carried-over")
    for what in carried_over(person):
        decide_by_keys(keyboard, what, "Accept")
    keyboard.use("Sign the vote")
    keyboard.take(Key.Key_A, "Approve the release")
    sign_by_keys(keyboard, passphrase_of(who))
    signed(person)
    person.reads("In review. Round 2: 1 of 2 votes are cast, 0 revealed.")


def approve_by_mouse(person: Person, who: Signer, folder: Path) -> None:
    open_release(person, folder)
    person.click("Decide")
    for what in carried_over(person):
        decide(person, what, "Accept")
    person.click("Sign the vote")
    person.click("Approve the release")
    sign(person, "Your vote is sealed until all votes are in", passphrase_of(who))
    person.reads("In review. Round 2: 2 of 2 votes are cast, 0 revealed.")


def reveal_to_approve(person: Person, who: Signer, folder: Path, then: str) -> None:
    open_release(person, folder)
    person.click("Reveal the vote")
    sign(person, "Everyone can read your vote from now on.", passphrase_of(who))
    person.reads(then, f"{who.name} approves.")
    person.shoot("revealed")


def release(person: Person, who: Signer, folder: Path) -> None:
    open_release(person, folder)
    person.reads("Approved: it can be released.")
    person.click("Release")
    person.write("Note", "It goes to the web site.")
    person.shoot("release")
    sign(person, "This is final: it can never be taken back", passphrase_of(who))
    person.reads("Released: this is final.", "It goes to the web site.")
    cannot(person, "Submit for review", "Sign the vote", "Release", "Withdraw")
    person.reads("Withdraw: It was released: that is final.")
    person.shoot("released")
    person.click("The release")
    person.reads(f"Signed off and released: reviewed by {FIRST}, {SECOND}.")
    person.reads("needed a person; reviewers accepted them.")
    person.shoot("released-export")
