"""After the votes: protocols, what supersedes what, and folders that cannot be written to."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from dpdesk.app.review.values import EventType, Mode, Status
from dpdesk.project.review import review_file
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.panels.review.review_status import Beside
from dpdesk.ui.panels.review.sign_dialog import SubmitFields
from dpdesk.ui.panels.review.sign_page import Relation
from dpdesk.ui.theme import ThemeManager
from tests.helpers.a11y import findings
from tests.helpers.review_room import Room, Rooms
from tests.helpers.signers import AUTHOR, FIRST, SECOND, Person, approve, people, write_plan

pytestmark = pytest.mark.cheap_prints

Three = tuple[Person, Person, Person]
At = Callable[..., Room]


@pytest.fixture(scope="module")
def approved(tmp_path_factory: pytest.TempPathFactory) -> Three:
    author, first, second = people(tmp_path_factory.mktemp("agency"), AUTHOR, FIRST, SECOND)
    write_plan(author)
    author.does("run", "plan.toml", "--out", "release")
    approve(author, first, second)
    return author, first, second


@pytest.fixture
def author(approved: Three, tmp_path: Path) -> Person:
    return approved[0].copied(tmp_path / "author")


@pytest.fixture(scope="module")
def two_releases(approved: Three, tmp_path_factory: pytest.TempPathFactory) -> Person:
    """An author with a released release, and a folder `new` that is to take its place."""
    folder = tmp_path_factory.mktemp("later")
    author, first, second = (one.copied(folder / one.desk.name) for one in approved)
    assert author.signs("release").code == 0
    old = author.folder.rename(author.desk / "old")
    write_plan(author, k=10)
    author.does("run", "plan.toml", "--out", "release")
    approve(author, first, second, saying=("--supersedes", "old"))
    assert author.signs("release").code == 0
    author.folder.rename(author.desk / "new")
    old.rename(author.folder)
    return author


@pytest.fixture
def released(two_releases: Person, tmp_path: Path) -> Person:
    return two_releases.copied(tmp_path / "author")


@pytest.fixture
def at(qtbot: QtBot, hub: JobHub, theme: ThemeManager) -> Iterator[At]:
    rooms = Rooms(qtbot, hub, theme)
    yield rooms.enter
    rooms.leave()


def listen(room: Room) -> list[str]:
    heard: list[str] = []
    room.panel.messageRaised.connect(lambda kind, text: heard.append(text))
    return heard


# ---- protocols


def test_a_protocol_is_locked_from_an_approved_release_and_another_release_applies_it(
    at: At, author: Person
) -> None:
    room = at(author)
    heard = listen(room)
    assert "It develops a protocol." in room.page.standing.mode.text
    dialog = room.dialog(Beside.LOCK)
    assert findings(dialog) == []
    out = author.desk / "p.json"
    dialog.paths["other"].line.setText(str(out))
    room.sign(dialog)
    assert "is locked. Anyone who applies it needs" in heard[-1]
    assert out.is_file()
    author.does("run", "plan.toml", "--out", "next")
    room = at(author, author.desk / "next")
    dialog = room.dialog(EventType.SUBMIT)
    fields = dialog.fields
    assert isinstance(fields, SubmitFields)
    assert fields.protocol.path is None
    fields.protocol.modes[Mode.APPLY].click()
    room.quiet(lambda: "locked by Carla Author" in fields.protocol.about.text())
    assert "✓" in fields.protocol.about.text()
    assert findings(dialog) == []
    room.sign(dialog)
    room.quiet(lambda: room.status is Status.SUBMITTED)
    lines = room.page.standing.mode.text.splitlines()
    assert lines[0].startswith("It applies a locked protocol.")
    assert "“A small table”, locked by Carla Author" in lines[1]
    assert lines[2].startswith("△ Except for source and title, the plan is the locked protocol")


def test_a_file_that_is_no_protocol_is_told_before_anything_is_signed(
    at: At, author: Person
) -> None:
    author.does("run", "plan.toml", "--out", "next")
    room = at(author, author.desk / "next")
    dialog = room.dialog(EventType.SUBMIT)
    fields = dialog.fields
    assert isinstance(fields, SubmitFields)
    fields.protocol.modes[Mode.APPLY].click()
    room.qtbot.keyClicks(dialog.passphrase, room.passphrase)
    dialog.sign.click()
    assert "Choose the locked protocol" in dialog.problem.text()
    fields.protocol.file.line.setText(str(author.desk / "plan.toml"))
    room.quiet(lambda: "not a locked protocol" in fields.protocol.about.text())
    dialog.sign.click()
    assert "not a locked protocol" in dialog.problem.text()
    dialog.reject()
    assert not (author.desk / "next" / "internal" / "review.json").exists()


def test_a_protocol_that_is_elsewhere_is_said_and_can_be_taken_up(
    at: At, author: Person, approved: Three, tmp_path: Path
) -> None:
    author.does(
        *("review", "protocol", "lock", "release", "--out", "p.json"),
        *("--passphrase-file", author.secret),
    )
    author.does("run", "plan.toml", "--out", "next")
    author.does(
        *("review", "submit", "next", "--protocol", "p.json"),
        *("--passphrase-file", author.secret),
    )
    first = approved[1].copied(tmp_path / "first")
    shutil.copytree(author.desk / "next", first.desk / "next")
    room = at(first, first.desk / "next")
    assert "is not on this computer" in room.page.standing.mode.text
    room.asker.answer = author.desk / "p.json"
    room.button("Take up the protocol").click()
    room.quiet(lambda: "locked by Carla Author" in room.page.standing.mode.text)
    assert not room.button("Take up the protocol").isVisible()


def test_no_protocol_is_locked_before_the_release_is_approved(at: At, author: Person) -> None:
    author.does("run", "plan.toml", "--out", "next")
    room = at(author, author.desk / "next")
    assert not room.page.buttons[Beside.LOCK].isEnabled()
    assert "locked from an approved release" in room.page.buttons[Beside.LOCK].toolTip()


# ---- superseding


def test_a_release_is_superseded_by_another_with_a_link_to_it(at: At, released: Person) -> None:
    new = released.desk / "new"
    room = at(released)
    dialog = room.dialog(EventType.SUPERSEDE)
    assert findings(dialog) == []
    dialog.text.setPlainText("Newer data came.")
    room.qtbot.keyClicks(dialog.passphrase, room.passphrase)
    dialog.sign.click()
    assert "Choose the release that replaces" in dialog.problem.text()
    dialog.paths["other"].line.setText(str(released.folder))
    dialog.sign.click()
    assert "This is the release itself" in dialog.problem.text()
    dialog.passphrase.clear()
    dialog.paths["other"].line.setText(str(new))
    room.sign(dialog)
    room.quiet(lambda: room.status is Status.SUPERSEDED)
    page = room.page.standing
    assert page.band.text.startswith("Superseded: another release replaces it.")
    assert str(new) in page.others.text
    assert "Newer data came." in page.events.text
    page.links[Relation.AFTER].click()
    room.quiet(lambda: room.bench.release_path == new)
    assert str(released.folder) in page.others.text
    assert page.links[Relation.BEFORE].isVisible()


def test_only_a_released_release_may_take_the_place_of_another(at: At, released: Person) -> None:
    released.does("run", "plan.toml", "--out", "next")
    room = at(released)
    dialog = room.dialog(EventType.SUPERSEDE)
    dialog.text.setPlainText("Newer data came.")
    dialog.paths["other"].line.setText(str(released.desk / "next"))
    room.qtbot.keyClicks(dialog.passphrase, room.passphrase)
    dialog.sign.click()
    room.quiet(lambda: "expected a release that has been released" in dialog.problem.text())
    dialog.reject()
    assert room.status is Status.RELEASED


# ---- folders that cannot be written to


def test_a_review_that_cannot_be_written_into_its_folder_goes_into_a_file_to_be_joined(
    at: At, author: Person, approved: Three, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = at(author)
    heard, before = listen(room), author.review.read_bytes()
    lock_folder(monkeypatch, author.desk)
    dialog = room.dialog(EventType.RELEASE)
    assert not dialog.out.isVisible()
    room.qtbot.keyClicks(dialog.passphrase, room.passphrase)
    dialog.sign.click()
    room.quiet(lambda: dialog.out.isVisible())
    assert "the folder is read-only" in dialog.problem.text()
    assert dialog.out.path == Path.home() / "release-review.json"
    assert findings(dialog) == []
    out = tmp_path / "signed.json"
    dialog.out.line.setText(str(out))
    room.sign(dialog)
    assert f"It is only in {out}: give" in heard[-1]
    assert author.review.read_bytes() == before
    assert room.status is Status.RELEASED
    assert f"{out} is not in this folder yet" in room.page.standing.notes.text
    dialog = room.dialog(EventType.MERGE)  # and goes on there without failing first
    assert dialog.out.path == out
    room.sign(dialog)
    room.quiet(lambda: "joined copies" in room.page.standing.events.text.splitlines()[-1])
    assert author.review.read_bytes() == before
    room = at(author)  # another program does not know of the file
    assert "that this computer has seen are missing" in room.page.standing.band.text
    first = approved[1].copied(tmp_path / "first")
    shutil.rmtree(first.folder)
    shutil.copytree(author.folder, first.folder)
    monkeypatch.undo()
    room = at(first)
    dialog = room.dialog(EventType.MERGE)
    dialog.paths["copy-1"].line.setText(str(out))
    room.sign(dialog)
    room.quiet(lambda: room.status is Status.RELEASED)


def lock_folder(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """No review can be written below this folder, whoever tries."""
    whole = review_file.write_new

    def refusing(path: Path, data: bytes, mode: int) -> None:
        if path.is_relative_to(folder):
            raise OSError(errno.EROFS, "Read-only file system")
        whole(path, data, mode=mode)

    monkeypatch.setattr(review_file, "write_new", refusing)


def test_as_many_copies_as_there_are_can_be_joined_folders_and_files(
    at: At, author: Person, tmp_path: Path
) -> None:
    room = at(author)
    dialog = room.dialog(EventType.MERGE)
    assert sorted(dialog.paths) == ["copy-1", "copy-2"]
    for number in (1, 2, 3):
        place = tmp_path / f"copy {number}"
        if number == 2:
            shutil.copy(author.review, place)
        else:
            shutil.copytree(author.folder, place)
        room.asker.answer = place
        what = "File" if number == 2 else "Folder"
        room.button(f"{what}: Copy {number} (optional)").click()
        assert dialog.paths[f"copy-{number}"].path == place
    assert sorted(dialog.paths) == ["copy-1", "copy-2", "copy-3", "copy-4"]
    assert findings(dialog) == []
    room.sign(dialog)
    room.quiet(lambda: "joined copies of the review" in room.page.standing.events.text)


def test_without_a_key_the_way_to_make_one_leads(at: At, released: Person, tmp_path: Path) -> None:
    stranger = Person("Nobody", tmp_path / "nobody")
    stranger.home.mkdir(parents=True, mode=0o700)
    shutil.copy(released.home / "trust.json", stranger.home)
    shutil.copytree(released.folder, stranger.folder)
    room = at(stranger)
    assert room.primary == ["People and keys…"]
    assert not room.page.keys.isVisible()
    lines = room.page.reasons.text.splitlines()
    assert len(lines) == 1
    assert "You have no key on this computer" in lines[0]
    assert findings(room.panel) == []
