"""The review panel on release folders with signed reviews."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from dpdesk.app.types import AppContext
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.panels.review import ReviewPanel
from dpdesk.ui.panels.review.panel import RELEASE, SIGN
from dpdesk.ui.shell import Mark
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.workbench import Workbench
from tests.helpers.a11y import findings
from tests.helpers.asking import ScriptedAsker
from tests.helpers.counting import counted_verifications
from tests.helpers.signers import AUTHOR, FIRST, Person, people, write_plan

pytestmark = pytest.mark.plain

Two = tuple[Person, Person]


class Room:
    """The panel at somebody's computer."""

    def __init__(self, qtbot: QtBot, context: AppContext, hub: JobHub, theme: ThemeManager) -> None:
        self.qtbot, self.hub = qtbot, hub
        self.bench = Workbench(context, hub)
        with theme.building():
            self.panel = ReviewPanel(self.bench, theme, ScriptedAsker())
        qtbot.addWidget(self.panel)
        self.panel.resize(1000, 640)
        self.panel.show()

    def quiet(self, condition: Callable[[], bool] = lambda: True) -> None:
        self.qtbot.waitUntil(lambda: condition() and not self.hub.busy)

    def open(self, path: Path) -> None:
        self.bench.open_path(path)
        self.quiet(lambda: not self.panel.looker.busy)

    def button(self, name: str) -> QPushButton:
        found = [b for b in self.panel.findChildren(QPushButton) if b.accessibleName() == name]
        assert len(found) == 1, f"{len(found)} buttons are called {name}"
        return found[0]

    def turn(self, page: str) -> None:
        self.panel.strip.button(page).click()


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Two:
    author, first = people(tmp_path_factory.mktemp("agency"), AUTHOR, FIRST)
    write_plan(author)
    author.does("run", "plan.toml", "--out", "release")
    said = author.signs("submit", "--note", "Please look at the illnesses.")
    assert said.code == 0, said.err
    first.takes(author)
    assert first.votes().code == 0
    author.takes(first)
    return author, first


@pytest.fixture
def author(written: Two, tmp_path: Path) -> Person:
    return written[0].copied(tmp_path / "author")


@pytest.fixture
def room(qtbot: QtBot, author: Person, hub: JobHub, theme: ThemeManager) -> Iterator[Room]:
    with AppContext.open(author.home) as context:
        made = Room(qtbot, context, hub, theme)
        yield made
        hub.cancel_all()
        made.quiet()
        made.bench.close()


@pytest.mark.styled
def test_an_opened_release_shows_who_signed_and_that_votes_are_sealed(
    room: Room, author: Person
) -> None:
    room.open(author.folder)
    room.turn(SIGN)
    page = room.panel.standing
    assert (page.band.kind, page.band.text) == (
        "info",
        "In review. Round 1: 1 of 2 votes are cast, 0 revealed. Each reviewer votes in a copy of "
        "this folder; “Join copies” brings the votes together.",
    )
    assert page.votes.text == "Anna Weber: sealed; no one can read it yet."
    assert "Carla Author submitted the release" in page.events.text
    assert "“Please look at the illnesses.”" in page.events.text
    assert not page.faults.isVisible()
    assert findings(room.panel) == []
    assert room.button("Export as CSV").isEnabled()


def test_a_file_that_was_not_submitted_makes_a_fail_band_and_stops_the_export(
    room: Room, author: Person
) -> None:
    (author.folder / "internal" / "more.txt").write_text("x", "utf-8")
    room.open(author.folder)
    room.turn(SIGN)
    page = room.panel.standing
    assert page.band.kind == "fail"
    assert "✕ internal/more.txt was not submitted." in page.faults.text.splitlines()
    assert room.panel.status().mark is Mark.ATTENTION
    room.turn(RELEASE)
    assert not room.button("Export as CSV").isEnabled()
    assert not room.panel.can_run()
    assert room.panel.release.band.kind == "fail"


def test_opening_again_reads_the_review_again(room: Room, author: Person, written: Two) -> None:
    text = author.review.read_bytes()
    author.review.write_bytes(text[:-20])
    room.open(author.folder)
    room.turn(SIGN)
    assert room.panel.standing.band.kind == "fail"
    author.review.write_bytes(text)
    room.open(author.folder)
    assert room.panel.standing.band.kind == "info"
    author.review.write_bytes(text[:-20])
    room.button("Look at the review again").click()
    room.quiet(lambda: room.panel.standing.band.kind == "fail")


def test_the_public_part_alone_says_where_the_review_lies(room: Room, author: Person) -> None:
    room.open(author.folder / "public")
    room.turn(SIGN)
    assert "The review is in the internal part, which is not here" in room.panel.standing.band.text
    assert not room.button("Look at the review again").isEnabled()


def test_opening_and_looking_again_read_the_files_once_each(
    room: Room, author: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    verified = counted_verifications(monkeypatch)
    room.open(author.folder)
    assert len(verified) == 1
    room.turn(SIGN)
    room.button("Look at the review again").click()
    room.quiet(lambda: not room.panel.looker.busy)
    assert len(verified) == 2
