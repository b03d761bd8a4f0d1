"""A review played in the window: author and two reviewers, each with a home and a copy."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QRadioButton, QTextBrowser, QWidget
from pytestqt.qtbot import QtBot

from dpdesk.app.review.values import Decision, EventType, Outcome, Status
from dpdesk.project.audit import AuditLog
from dpdesk.ui.charts import ChartView
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.models import DataGrid
from dpdesk.ui.panels.review.deciding import Choice
from dpdesk.ui.panels.review.review_status import ORDER
from dpdesk.ui.panels.review.sign_dialog import SignDialog, SigningContext
from dpdesk.ui.panels.review.sign_page import DECIDE
from dpdesk.ui.theme import ThemeManager
from tests.helpers.a11y import findings
from tests.helpers.counting import counted_verifications
from tests.helpers.events import settle
from tests.helpers.review_room import Room, Rooms
from tests.helpers.signers import AUTHOR, FIRST, SECOND, Person, people, write_plan
from tests.helpers.told import faults

pytestmark = pytest.mark.cheap_prints

Three = tuple[Person, Person, Person]
Part = TypeVar("Part", bound=QWidget)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Three:
    author, first, second = people(tmp_path_factory.mktemp("agency"), AUTHOR, FIRST, SECOND)
    write_plan(author)
    author.does("run", "plan.toml", "--out", "release")
    for other in (first, second):
        other.takes(author)
    return author, first, second


@pytest.fixture
def three(made: Three, tmp_path: Path) -> Three:
    author, first, second = (one.copied(tmp_path / one.desk.name) for one in made)
    return author, first, second


@pytest.fixture
def at(qtbot: QtBot, hub: JobHub, theme: ThemeManager) -> Iterator[Callable[[Person], Room]]:
    rooms = Rooms(qtbot, hub, theme)
    yield rooms.enter
    rooms.leave()


def submit(at: Callable[[Person], Room], three: Three) -> None:
    room = at(three[0])
    dialog = room.dialog(EventType.SUBMIT)
    dialog.text.setPlainText("Please look at the illnesses.")
    room.sign(dialog)
    room.quiet(lambda: room.status is Status.SUBMITTED)


def take(person: Person, other: Person) -> None:
    shutil.rmtree(person.folder)
    shutil.copytree(other.folder, person.folder)


def vote(at: Callable[[Person], Room], person: Person) -> None:
    room = at(person)
    room.decide_all()
    dialog = room.dialog(EventType.BALLOT)
    dialog.outcomes[Outcome.APPROVE].click()
    room.sign(dialog)
    room.quiet(lambda: room.status is Status.IN_REVIEW)


def test_a_whole_review_is_played_from_submission_to_release(
    at: Callable[[Person], Room], three: Three
) -> None:
    author, first, second = three
    submit(at, three)
    for reviewer in (first, second):
        take(reviewer, author)
        vote(at, reviewer)
    room = at(author)
    dialog = room.dialog(EventType.MERGE)
    for key, reviewer in (("copy-1", first), ("copy-2", second)):
        dialog.paths[key].line.setText(str(reviewer.folder))
    room.sign(dialog)
    room.quiet(lambda: "Ben Stone: sealed" in room.page.standing.votes.text)
    for reviewer, source in ((first, author), (second, first)):
        take(reviewer, source)
        room = at(reviewer)
        assert room.primary == ["Reveal the vote"]
        room.sign(room.dialog(EventType.REVEAL))
    room.quiet(lambda: room.status is Status.APPROVED)
    take(author, second)
    room = at(author)
    assert room.primary == ["Release"]
    dialog = room.dialog(EventType.RELEASE)
    assert "This is final" in dialog.sign.toolTip()
    room.sign(dialog)
    room.quiet(lambda: room.status is Status.RELEASED)
    assert room.primary == []
    assert author.does("verify", "release").out.endswith("Verified.\n")


@pytest.mark.parametrize("language", ["en", "de"])
def test_each_dialog_of_signing_is_told_as_it_is_seen(
    at: Callable[[Person], Room],
    three: Three,
    qtbot: QtBot,
    theme: ThemeManager,
    language: str,
    request: pytest.FixtureRequest,
) -> None:
    if language == "de":
        request.getfixturevalue("german")
    room = at(three[0])
    room.dialog(EventType.SUBMIT).reject()
    card = room.page.card
    assert card is not None
    bench = room.bench
    assert bench.release_path is not None
    desk = SigningContext(
        bench.context, bench.hub, room.asker, bench.release_path, room.panel.looker.beside
    )
    for action in ORDER:
        dialog = SignDialog(action, card, None, theme, desk, room.page)
        dialog.open()
        settle()
        assert faults(dialog) == [], action
        dialog.reject()


def test_a_wrong_passphrase_is_told_in_the_dialog_and_nothing_is_signed(
    at: Callable[[Person], Room], three: Three
) -> None:
    room = at(three[0])
    assert room.primary == ["Submit for review"]
    dialog = room.dialog(EventType.SUBMIT)
    assert findings(dialog) == []
    dialog.sign.click()
    assert "Enter the passphrase" in dialog.problem.text()
    room.qtbot.keyClicks(dialog.passphrase, "another passphrase")
    dialog.sign.click()
    room.quiet(lambda: "passphrase" in dialog.problem.text() and dialog.sign.isEnabled())
    assert dialog.isVisible()
    assert not three[0].review.exists()
    dialog.reject()


def test_the_author_may_withdraw_with_a_reason_but_not_review(
    at: Callable[[Person], Room], three: Three
) -> None:
    submit(at, three)
    room = at(three[0])
    assert not room.page.buttons[EventType.BALLOT].isEnabled()
    assert "cannot review their own release" in room.page.buttons[EventType.BALLOT].toolTip()
    assert room.page.draft is None
    assert findings(room.panel) == []
    dialog = room.dialog(EventType.WITHDRAW)
    room.qtbot.keyClicks(dialog.passphrase, room.passphrase)
    dialog.sign.click()
    assert "Give a reason" in dialog.problem.text()
    dialog.passphrase.clear()
    dialog.text.setPlainText("A column is wrong.")
    room.sign(dialog)
    room.quiet(lambda: room.status is Status.WITHDRAWN)


def test_a_reviewer_sees_what_is_decided_and_signs_only_when_all_is(
    at: Callable[[Person], Room], three: Three, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit(at, three)
    take(three[1], three[0])
    room = at(three[1])
    assert room.primary == ["Begin the review"]
    verified = counted_verifications(monkeypatch)
    room.sign(room.dialog(EventType.START))
    room.quiet(lambda: room.status is Status.IN_REVIEW)
    assert len(verified) == 1
    page = room.page
    page.strip.button(DECIDE).click()
    assert not any(button.isChecked() for button in page.decide.buttons.values())
    assert page.decide.progress.text().startswith("0 of ")
    assert not page.buttons[EventType.BALLOT].isEnabled()
    assert findings(room.panel) == []
    assert page.draft is not None
    page.decide.choose(page.draft.points[-1].key)
    page.decide.buttons[Decision.REJECT].click()
    assert "why you do not accept it" in page.decide.problem.text()
    room.decide_all()
    assert page.draft.complete
    assert room.primary == ["Sign the vote"]
    dialog = room.dialog(EventType.BALLOT)
    assert not any(button.isChecked() for button in dialog.outcomes.values())
    assert findings(dialog) == []
    dialog.sign.click()
    assert "nothing is chosen" in dialog.problem.text()
    dialog.reject()


def test_files_are_accepted_together_the_exceptions_named_and_shown_next_to_the_decision(
    at: Callable[[Person], Room], three: Three
) -> None:
    submit(at, three)
    take(three[1], three[0])
    room = at(three[1])
    room.sign(room.dialog(EventType.START))
    room.quiet(lambda: room.status is Status.IN_REVIEW)
    page = room.page
    page.strip.button(DECIDE).click()
    page.decide.choose("public/microdata.csv")
    rows = part(page.decide, DataGrid, "Rows of the file")
    table = (three[1].folder / "public/microdata.csv").read_text("utf-8").splitlines()
    room.quiet(lambda: rows.model().rowCount() == len(table) - 1)
    last = rows.model().index(len(table) - 2, 0)
    room.quiet(lambda: last.data() == table[-1].split(",")[0])
    assert rows.isVisible()
    assert rows.model().headerData(0, Qt.Orientation.Horizontal) == table[0].split(",")[0]
    pictures = [one for one in page.decide.findChildren(QRadioButton) if one.text() == "Risk"]
    pictures[0].click()
    assert any(one.isVisible() for one in page.decide.findChildren(ChartView))
    assert findings(room.panel) == []
    page.decide.choose("public/about.html")
    about = part(page.decide, QTextBrowser, "Page of the release")
    room.quiet(about.isVisible)
    assert "k = " in about.toPlainText() or "at least" in about.toPlainText()
    page.decide.choose("public/manifest.json")
    text = part(page.decide, QPlainTextEdit, "Text of the file")
    room.quiet(text.isVisible)
    assert '"guarantee": {' in text.toPlainText()
    page.decide.choose("public/microdata.csv")
    page.decide.buttons[Decision.CHANGE].click()
    page.decide.comment.setPlainText("A column is wrong.")
    assert page.draft is not None
    left = len(page.draft.open_files)
    assert page.decide.others.text() == f"Accept all {left} open &files"
    page.decide.others.click()
    assert page.draft is not None
    assert page.draft.open_files == ()
    assert page.draft.choices["public/microdata.csv"].decision is Decision.CHANGE
    assert "Files not accepted: public/microdata.csv." in page.decide.progress.text()
    assert not page.decide.others.isVisibleTo(page.decide)
    assert findings(room.panel) == []


def test_several_files_are_decided_at_once(at: Callable[[Person], Room], three: Three) -> None:
    submit(at, three)
    take(three[1], three[0])
    room = at(three[1])
    room.sign(room.dialog(EventType.START))
    room.quiet(lambda: room.status is Status.IN_REVIEW)
    page = room.page
    page.strip.button(DECIDE).click()
    assert page.draft is not None
    files = [one.key for one in page.draft.points if one.sha256]
    page.decide.choose(files[0])
    grid = part(page.decide, DataGrid, "What is to be decided")
    for _ in files[1:3]:
        room.qtbot.keyClick(grid, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    told = [one.text() for one in page.decide.findChildren(QLabel) if one.isVisible()]
    assert any("3 points" in one and all(name in one for name in files[:3]) for one in told)
    page.decide.buttons[Decision.CHANGE].click()
    page.decide.comment.setPlainText("Not these.")
    draft = page.draft
    assert draft is not None
    decided = {key: one for key, one in draft.choices.items() if one.decision is not None}
    assert set(decided) == set(files[:3])
    assert {(one.decision, one.comment) for one in decided.values()} == {
        (Decision.CHANGE, "Not these.")
    }


def part(page: QWidget, kind: type[Part], name: str) -> Part:
    """The part of a page with this accessible name."""
    (found,) = (one for one in page.findChildren(kind) if one.accessibleName() == name)
    return found


def test_a_passphrase_is_kept_for_a_sitting_only_where_that_is_asked_for(
    at: Callable[[Person], Room], three: Three
) -> None:
    submit(at, three)
    take(three[1], three[0])
    room = at(three[1])
    dialog = room.dialog(EventType.START)
    assert not dialog.keep.isChecked()
    dialog.keep.click()
    room.sign(dialog)
    room.quiet(lambda: room.status is Status.IN_REVIEW)
    assert room.page.sitting
    room.decide_all()
    dialog = room.dialog(EventType.BALLOT)
    dialog.outcomes[Outcome.APPROVE].click()
    dialog.sign.click()  # nothing is typed
    room.quiet(lambda: room.page.dialog is None)
    assert room.page.draft is None
    room.page.forget_passphrase()
    assert not room.page.sitting


def test_what_is_decided_comes_back_after_closing_and_never_lies_in_the_release(
    at: Callable[[Person], Room], three: Three
) -> None:
    submit(at, three)
    take(three[1], three[0])
    before = sorted(three[1].folder.rglob("*"))
    room = at(three[1])
    page = room.page
    page.strip.button(DECIDE).click()
    assert page.draft is not None
    key = page.draft.points[0].key
    page.decide.choose(key)
    page.decide.buttons[Decision.CHANGE].click()
    page.decide.comment.setPlainText("Say more about the source.")
    room.quiet(lambda: page.drafts.kept)
    assert sorted(three[1].folder.rglob("*")) == before
    again = at(three[1])  # another program, which knows nothing but what was kept
    draft = again.page.draft
    assert draft is not None
    assert draft.choices[key] == Choice(Decision.CHANGE, "Say more about the source.")
    assert draft.done == 1
    again.decide_all()
    dialog = again.dialog(EventType.BALLOT)
    dialog.outcomes[Outcome.APPROVE].click()
    again.sign(dialog)
    again.quiet(lambda: again.status is Status.IN_REVIEW)
    assert list((three[1].home / "drafts").glob("*.json")) == []


def test_what_is_kept_late_goes_when_the_vote_was_signed_meanwhile(
    at: Callable[[Person], Room], three: Three
) -> None:
    """A slow disk: the draft is still being written when the vote is signed."""
    submit(at, three)
    take(three[1], three[0])
    room = at(three[1])
    page = room.page
    page.strip.button(DECIDE).click()
    draft = page.draft
    assert draft is not None
    page.drafts.decide(draft, {draft.points[0].key: Choice(Decision.CHANGE, "Say more.")})
    page.drafts.signed(draft.submission, draft.reviewer)  # before the job has come to its end
    room.quiet()
    room.quiet(lambda: not list((three[1].home / "drafts").glob("*.json")))


def test_what_cannot_be_kept_is_said_and_tried_again_at_the_end(
    at: Callable[[Person], Room], three: Three
) -> None:
    submit(at, three)
    take(three[1], three[0])
    room = at(three[1])
    page = room.page
    page.strip.button(DECIDE).click()
    (three[1].home / "drafts").write_text("in the way", "utf-8")
    page.decide.buttons[Decision.ACCEPT].click()
    room.quiet(lambda: "lost when the window closes" in page.decide.unkept.text())
    assert page.decide.unkept.isVisible()
    (three[1].home / "drafts").unlink()
    page.drafts.flush()
    assert len(list((three[1].home / "drafts").glob("*.json"))) == 1


def test_what_is_signed_in_the_window_stands_in_the_audit_log(
    at: Callable[[Person], Room], three: Three
) -> None:
    submit(at, three)
    with AuditLog.open_home(three[0].home) as log:
        newest = next(one for one in reversed(log.entries()) if one.action == "decided")
    assert newest.subject == str(three[0].folder)
    assert newest.facts["event"] == "submit"
    assert newest.facts["person"] == AUTHOR
