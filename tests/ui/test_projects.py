"""Projects at the window: menus, questions, the band, the status bar, closing."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from dpdesk.app.types import AppContext, SetTitle
from dpdesk.core.errors import StorageError
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.theme import ThemeManager
from tests.helpers import projects, signers
from tests.helpers.a11y import findings
from tests.helpers.memory_settings import MemorySettings
from tests.helpers.releases import SOURCE, write_source
from tests.helpers.sitting import Sitting

pytestmark = pytest.mark.plain


class Office(Sitting):
    """A desk, a person who answers its file choosers, and a second program."""

    def __init__(
        self,
        qtbot: QtBot,
        context: AppContext,
        hub: JobHub,
        theme: ThemeManager,
        settings: MemorySettings,
        other: projects.Desk,
    ) -> None:
        super().__init__(qtbot, context, hub, theme, settings)
        self.other, self.keeper = other, self.desk.projects.keeper

    def calm(self) -> bool:
        saved = not self.keeper.state.waiting or self.keeper.state.problem is not None
        return saved and super().calm()

    def begin(self, path: Path) -> None:
        """File > New project."""
        self.asker.answer = path
        self.window.actions_.trigger("file.project-new")
        self.quiet(lambda: self.keeper.path == path)

    def leave(self) -> None:
        """File > Close project."""
        self.window.actions_.trigger("file.project-close")
        self.quiet(lambda: self.keeper.path is None)

    def press(self, words: str) -> None:
        """Press a button of the band."""
        self.qtbot.waitUntil(lambda: len(self.answers(words)) == 1)
        self.qtbot.mouseClick(self.answers(words)[0], Qt.MouseButton.LeftButton)

    def answers(self, words: str) -> list[QPushButton]:
        return [
            button
            for button in self.window._band.findChildren(QPushButton)
            if button.isVisible() and button.text().replace("&", "") == words
        ]

    @property
    def band(self) -> str:
        return self.window._band.text

    def says(self, words: str) -> None:
        """Wait until the status bar says this of saving."""
        self.qtbot.waitUntil(lambda: self.window._strip.texts["saving"] == words)


@pytest.fixture
def office(
    qtbot: QtBot,
    tmp_path: Path,
    hub: JobHub,
    theme: ThemeManager,
    settings: MemorySettings,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Office]:
    monkeypatch.setattr("dpdesk.core.systems._MOUNTS", tmp_path / "none")
    other = projects.Desk(tmp_path / "other home")
    with AppContext.open(tmp_path / "home") as context:
        made = Office(qtbot, context, hub, theme, settings, other)
        yield made
        with suppress(StorageError):  # what could not be saved is not this test's business
            made.end()
    other.close()


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    return write_source(tmp_path / "work")


@pytest.mark.styled
def test_a_new_project_takes_the_work_and_says_that_it_saves(office: Office, plan: Path) -> None:
    path = plan.parent / "study.dpdesk"
    office.open(plan)
    office.says("")
    office.begin(path)
    assert office.asker.asked[-1] == ("New project", str(plan.parent / "zq-raw-register.dpdesk"))
    assert office.window.windowTitle() == f"study – {SOURCE} – DPDesk"
    assert "Every change is now saved in study.dpdesk" in office.band
    office.says("✓ Saved")
    assert str(path) in office.window._strip._labels["saving"].toolTip()
    assert office.settings.current.recent[0] == str(path)
    assert findings(office.window) == []


def test_in_a_project_nothing_is_unsaved_and_closing_asks_nothing(
    office: Office, plan: Path
) -> None:
    office.open(plan)
    office.begin(plan.parent / "study.dpdesk")
    office.bench.apply(SetTitle("changed"))
    office.quiet()
    assert not office.window.windowTitle().startswith("●")
    event = QCloseEvent()
    office.window.closeEvent(event)
    assert event.isAccepted()
    office.desk.let_go()
    found = office.other.open(plan.parent / "study.dpdesk")
    assert found.read_only is None
    assert found.contents.history.moments[-1].state.title == "changed"


def test_a_project_is_opened_by_menu_by_name_and_again(office: Office, plan: Path) -> None:
    path = plan.parent / "study.dpdesk"
    office.open(plan)
    office.begin(path)
    office.bench.apply(SetTitle("kept"))
    office.window.show_panel("protect")
    office.leave()
    assert office.window.current_id == "data"
    assert office.window.windowTitle() == "DPDesk"
    office.says("")
    office.asker.answer = path
    office.window.actions_.trigger("file.project-open")
    office.quiet(lambda: office.bench.profile is not None)
    assert office.bench.work.title == "kept"
    assert office.window.windowTitle().startswith("study – ")
    office.desk.open_text(str(path))
    office.quiet()
    assert "is open already" in office.band
    office.leave()
    office.desk.open_text(str(path))
    office.quiet(lambda: office.bench.profile is not None)
    assert office.bench.work.title == "kept"


def test_the_start_screen_offers_projects(office: Office, plan: Path) -> None:
    path = office.other.write(plan.parent / "study.dpdesk")
    office.asker.answer = path
    office.qtbot.mouseClick(office.desk.data.start.zone.project_button, Qt.MouseButton.LeftButton)
    office.quiet(lambda: office.keeper.path == path)
    assert office.asker.asked[-1][0] == "Open a project"


def test_opening_data_in_a_project_says_that_undo_goes_back(office: Office, plan: Path) -> None:
    office.open(plan)
    office.begin(plan.parent / "study.dpdesk")
    office.bench.apply(SetTitle("before"))
    office.desk.open_text(str(plan.parent / SOURCE))
    office.quiet(lambda: office.bench.work.title == "")
    assert "part of the project now" in office.band
    office.window.actions_.trigger("edit.undo")
    office.quiet()
    assert office.bench.work.title == "before"


def test_unsaved_work_can_be_kept_in_a_project_rather_than_lost(
    office: Office, plan: Path, tmp_path: Path
) -> None:
    other = office.other.write(tmp_path / "other.dpdesk")
    office.open(plan)
    office.bench.apply(SetTitle("unsaved"))
    office.desk.open_text(str(other))
    assert "closes the current work" in office.band
    office.asker.answer = plan.parent / "kept"
    office.press("Keep it in a project…")
    office.quiet(lambda: office.keeper.path == plan.parent / "kept.dpdesk")
    assert office.bench.work.title == "unsaved"
    office.desk.open_text(str(other))
    office.quiet(lambda: office.keeper.path == other)
    found = office.other.open(plan.parent / "kept.dpdesk")
    assert found.contents.history.moments[-1].state.title == "unsaved"


def test_a_project_that_somebody_writes_says_who_and_offers_a_copy(
    office: Office, plan: Path
) -> None:
    path = office.other.new(plan.parent / "study.dpdesk").path
    office.desk.open_text(str(path))
    office.quiet(lambda: office.keeper.path == path)
    assert "is working in it" in office.band
    assert "until you work on a copy" in office.band
    office.says("△ Read only")
    office.bench.apply(SetTitle("in memory"))
    assert office.window.windowTitle().startswith("●")
    event = QCloseEvent()
    office.window.closeEvent(event)
    assert not event.isAccepted()
    assert "in this window only" in office.band
    office.asker.answer = plan.parent / "copy.dpdesk"
    office.press("Save")
    office.quiet(lambda: office.keeper.path == plan.parent / "copy.dpdesk")
    office.says("✓ Saved")
    assert not office.window.windowTitle().startswith("●")
    assert office.bench.work.title == "in memory"


def test_a_copy_is_offered_again_until_it_is_made(office: Office, plan: Path) -> None:
    path = office.other.new(plan.parent / "study.dpdesk").path
    office.desk.open_text(str(path))
    office.quiet(lambda: office.keeper.path == path)
    office.press("Work on a copy…")
    assert "is working in it" in office.band
    office.asker.answer = plan.parent / "copy.dpdesk"
    office.press("Work on a copy…")
    office.quiet(lambda: office.keeper.saves)
    assert "Every change is now saved in copy.dpdesk" in office.band


def test_save_project_as_goes_on_in_the_other_file(office: Office, plan: Path) -> None:
    first, second = plan.parent / "a.dpdesk", plan.parent / "b.dpdesk"
    office.open(plan)
    office.begin(first)
    office.asker.answer = second
    office.window.actions_.trigger("file.project-copy")
    office.quiet(lambda: office.keeper.path == second)
    office.bench.apply(SetTitle("second"))
    office.quiet()
    assert office.other.open(first).contents.history.moments[-1].state.title != "second"
    office.leave()
    assert office.other.open(second).contents.history.moments[-1].state.title == "second"


def test_saving_that_fails_is_told_at_once_and_tried_again(office: Office, plan: Path) -> None:
    path = plan.parent / "study.dpdesk"
    office.open(plan)
    office.begin(path)
    path.rename(plan.parent / "away")
    office.bench.apply(SetTitle("late"))
    office.quiet(lambda: office.keeper.state.problem is not None)
    office.qtbot.waitUntil(lambda: "moved, renamed or replaced" in office.band)
    office.says("✕ Not saved")
    assert office.window.windowTitle().startswith("●")
    for trigger in ("file.project-close", "file.project-new"):
        office.window.actions_.trigger(trigger)
        assert office.keeper.path == path
        assert "moved, renamed or replaced" in office.band
    (plan.parent / "away").rename(path)
    office.press("Try again")
    office.quiet(lambda: office.keeper.state.problem is None)
    office.qtbot.waitUntil(lambda: office.band == "Everything is saved again.")
    office.says("✓ Saved")


def test_a_project_that_cannot_be_saved_is_closed_only_when_told_so(
    office: Office, plan: Path
) -> None:
    path = plan.parent / "study.dpdesk"
    office.open(plan)
    office.begin(path)
    path.unlink()
    office.bench.apply(SetTitle("lost"))
    office.quiet(lambda: office.keeper.state.problem is not None)
    event = QCloseEvent()
    office.window.closeEvent(event)
    assert not event.isAccepted()
    assert "could not be saved" in office.band
    office.desk.projects.tell_problem()
    office.press("Close without saving")
    office.quiet(lambda: office.keeper.path is None)
    assert office.bench.work.source is None


def test_the_last_change_that_cannot_be_saved_is_an_error_at_the_end(
    office: Office, plan: Path
) -> None:
    path = plan.parent / "study.dpdesk"
    office.open(plan)
    office.begin(path)
    path.unlink()
    office.bench.apply(SetTitle("lost"))
    with pytest.raises(StorageError) as error:
        office.desk.let_go()
    assert error.value.code == "project.moved"


def test_ctrl_s_in_a_project_says_that_all_is_saved(office: Office, plan: Path) -> None:
    office.open(plan.parent / SOURCE)
    office.begin(plan.parent / "study.dpdesk")
    office.window.actions_.trigger("file.save")
    assert "Everything is saved in study as you work" in office.band
    assert len(office.asker.asked) == 1


def test_a_damaged_project_offers_what_can_be_read(office: Office, plan: Path) -> None:
    path = plan.parent / "study.dpdesk"
    office.open(plan)
    office.begin(path)
    for number in range(4):
        office.bench.apply(SetTitle(str(number)))
    office.leave()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE moments SET state = '' WHERE id = 2")
        connection.commit()
    office.desk.open_text(str(path))
    office.quiet(lambda: "damaged" in office.band)
    assert "4 of at least 5 states" in office.band
    office.asker.answer = plan.parent / "saved.dpdesk"
    office.press("Save what can be read…")
    office.quiet(lambda: office.keeper.path == plan.parent / "saved.dpdesk")
    assert "were saved in saved.dpdesk" in office.band
    assert office.bench.work.title == "3"


def test_what_was_signed_of_a_release_is_kept_in_its_project(
    office: Office, plan: Path, tmp_path: Path
) -> None:
    path, out = plan.parent / "study.dpdesk", tmp_path / "out"
    office.open(plan)
    office.begin(path)
    office.window.show_panel("review")
    office.bench.write_release(out)
    office.quiet(lambda: office.desk.review.looker.picture is not None)
    (author,) = signers.people(tmp_path / "people", signers.AUTHOR)
    author.does("review", "submit", out, "--passphrase-file", author.secret)
    for _ in range(2):
        office.bench.verify_again()
        office.quiet()
        office.desk.review.looker.look()
        office.quiet(lambda: office.desk.review.looker.picture is not None)
    office.leave()
    found = office.other.open(path, read_only=True).contents
    (decision,) = found.decisions
    assert (decision.type, decision.who) == ("submit", signers.AUTHOR)
    assert decision.release == found.releases[0].manifest_sha256
    assert decision.content["id"] == decision.id
    assert [entry.action for entry in found.audit].count("decided") == 1


def test_a_project_of_nothing_at_all_is_an_empty_one(office: Office, tmp_path: Path) -> None:
    office.begin(tmp_path / "empty.dpdesk")
    assert office.window.windowTitle() == "empty – DPDesk"
    office.leave()
    office.desk.open_text(str(tmp_path / "empty.dpdesk"))
    office.quiet(lambda: office.keeper.path is not None)
    assert office.bench.work.source is None


def test_commands_on_an_open_project_are_grey_without_one(office: Office, tmp_path: Path) -> None:
    actions = office.window.actions_
    for name in ("file.project-copy", "file.project-close"):
        assert not actions.action(name).isEnabled()
    office.begin(tmp_path / "a.dpdesk")
    for name in ("file.project-copy", "file.project-close"):
        assert actions.action(name).isEnabled()


def test_recent_files_stand_before_the_projects_in_the_menu(office: Office, plan: Path) -> None:
    office.open(plan)
    menu = office.window._menu_widgets["file"]
    menu.aboutToShow.emit()
    texts = [action.text().replace("&", "") for action in menu.actions()]
    recent = texts.index("Open recent")
    assert texts[recent + 2 : recent + 6] == [
        "New project…",
        "Open project…",
        "Save project as…",
        "Close project",
    ]
