"""The keeper of projects over a real workbench: what is handed over, and what comes back."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from dpdesk.app.types import AppContext, Role, SetParameters, SetRoles, SetTitle
from dpdesk.project.audit import AuditLog
from dpdesk.ui.jobs import JobFailed, JobHub
from dpdesk.ui.workbench import ProjectKeeper, Workbench
from tests.helpers.projects import Desk, plain
from tests.helpers.releases import SOURCE, write_source


class Office:
    """A workbench with its keeper, and what they said."""

    def __init__(self, qtbot: QtBot, context: AppContext, hub: JobHub) -> None:
        self.qtbot, self.hub = qtbot, hub
        self.bench = Workbench(context, hub)
        self.keeper = ProjectKeeper(self.bench)
        self.failures: list[JobFailed] = []
        self.noticed: list[tuple[str, str]] = []
        self.damaged: list[Path] = []
        for signal in (self.bench.failed, self.keeper.failed):
            signal.connect(self.failures.append)
        self.keeper.noticed.connect(self._on_noticed)
        self.keeper.damaged.connect(self._on_damaged)

    def _on_noticed(self, kind: str, text: str) -> None:
        self.noticed.append((kind, text))

    def _on_damaged(self, path: Path, failure: JobFailed) -> None:
        self.damaged.append(path)

    def quiet(self, condition: Callable[[], bool] = lambda: True) -> None:
        def calm() -> bool:
            saved = not self.keeper.state.waiting or self.keeper.state.problem is not None
            return condition() and not self.hub.busy and saved

        self.qtbot.waitUntil(calm)

    def open_data(self, path: Path) -> None:
        self.bench.open_path(path)
        self.quiet(lambda: self.bench.profile is not None)

    def create(self, path: Path) -> None:
        self.keeper.create(path)
        self.quiet(lambda: self.keeper.path == path)

    def open(self, path: Path) -> None:
        self.keeper.open(path)
        self.quiet(lambda: self.keeper.path == path)

    def leave(self) -> None:
        """Close the project as a person does."""
        self.keeper.close()
        self.quiet(lambda: self.keeper.path is None)


@pytest.fixture
def office(
    qtbot: QtBot, tmp_path: Path, hub: JobHub, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Office]:
    monkeypatch.setattr("dpdesk.core.systems._MOUNTS", tmp_path / "none")
    with AppContext.open(tmp_path / "home") as context:
        made = Office(qtbot, context, hub)
        yield made
        hub.cancel_all()
        made.quiet()
        made.keeper.end()
        made.bench.close()


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    return write_source(tmp_path / "work")


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Desk]:
    """Another program on the same computer."""
    made = Desk(tmp_path / "other home")
    yield made
    made.close()


def test_every_change_is_saved_by_itself(office: Office, plan: Path, elsewhere: Desk) -> None:
    path = plan.parent / "study.dpdesk"
    office.open_data(plan)
    office.create(path)
    assert office.keeper.saves
    for number in range(5):
        office.bench.apply(SetTitle(f"title {number}"))
    office.bench.undo()
    office.bench.apply(SetRoles({"age": Role.SENSITIVE}))
    office.quiet()
    found = elsewhere.open(path, read_only=True).contents
    assert plain(found.history) == plain(office.bench.history.snapshot())
    assert [one.path.name for one in found.sources][:1] == [SOURCE]
    assert office.failures == []


def test_an_opened_project_is_the_whole_work_with_undo_and_data(office: Office, plan: Path) -> None:
    path = plan.parent / "study.dpdesk"
    office.open_data(plan)
    office.create(path)
    office.bench.apply(SetTitle("one"))
    office.bench.keep_candidate("mild")
    office.quiet(lambda: len(office.bench.candidates) == 1)
    office.bench.apply(SetTitle("two"))
    before = plain(office.bench.history.snapshot())
    office.leave()
    assert office.bench.work.source is None
    assert office.bench.data is None
    office.open(path)
    office.quiet(lambda: office.bench.profile is not None)
    assert plain(office.bench.history.snapshot()) == before
    assert [one.name for one in office.bench.candidates] == ["mild"]
    assert office.bench.data is not None
    assert office.bench.data.rows == 300
    office.bench.undo()
    assert office.bench.work.title == "one"
    assert office.noticed == [("ok", "Every change is now saved in study.dpdesk as you make it.")]


def test_a_candidate_from_a_project_can_be_compared_and_taken_away(
    office: Office, plan: Path, elsewhere: Desk
) -> None:
    path = plan.parent / "study.dpdesk"
    office.open_data(plan)
    office.create(path)
    for name in ("a", "b"):
        office.bench.keep_candidate(name)
    office.quiet(lambda: len(office.bench.candidates) == 2)
    office.bench.remove_candidate(1)
    office.bench.rename_candidate(2, "other")
    office.leave()
    (kept,) = elsewhere.open(path, read_only=True).contents.shelf.candidates
    assert (kept.id, kept.name) == (2, "other")


def test_opening_data_in_a_project_is_a_change_like_any_other(office: Office, plan: Path) -> None:
    office.open_data(plan)
    office.create(plan.parent / "study.dpdesk")
    office.bench.apply(SetTitle("kept"))
    office.open_data(plan.parent / SOURCE)
    assert office.bench.history.undo_label == f"Open {SOURCE}"
    assert office.bench.work.title == ""
    office.bench.undo()
    office.quiet(lambda: office.bench.data is not None)
    assert office.bench.work.title == "kept"
    office.leave()
    office.open(plan.parent / "study.dpdesk")
    assert office.bench.work.title == "kept"
    assert office.bench.history.redo_label == f"Open {SOURCE}"


def test_a_new_project_beside_an_open_one_is_empty(
    office: Office, plan: Path, elsewhere: Desk
) -> None:
    first, second = plan.parent / "a.dpdesk", plan.parent / "b.dpdesk"
    office.open_data(plan)
    office.create(first)
    office.bench.apply(SetTitle("first"))
    office.create(second)
    assert office.bench.work.source is None
    assert len(office.bench.history.moments()) == 1
    office.quiet()
    found = elsewhere.open(first)
    assert found.read_only is None
    assert found.contents.history.moments[-1].state.title == "first"


def test_a_project_that_somebody_writes_is_for_looking_and_can_be_copied(
    office: Office, plan: Path, elsewhere: Desk
) -> None:
    path = elsewhere.new(plan.parent / "study.dpdesk").path
    office.keeper.open(path)
    office.quiet(lambda: office.keeper.path == path)
    assert office.keeper.read_only is not None
    assert office.keeper.read_only.code == "locked"
    assert not office.keeper.saves
    assert "Changes stay in this window" in office.noticed[-1][1]
    assert not office.keeper.edited
    office.bench.apply(SetTitle("in memory"))
    assert office.keeper.edited
    copy = plan.parent / "copy.dpdesk"
    office.keeper.save_as(copy)
    office.quiet(lambda: office.keeper.path == copy)
    assert office.keeper.saves
    office.bench.apply(SetTitle("saved"))
    office.leave()
    titles = [moment.state.title for moment in elsewhere.open(copy).contents.history.moments]
    assert titles[-2:] == ["in memory", "saved"]


def test_what_cannot_be_saved_is_said_and_saved_elsewhere(office: Office, plan: Path) -> None:
    path = plan.parent / "study.dpdesk"
    office.open_data(plan)
    office.create(path)
    path.rename(path.with_name("away.dpdesk"))
    office.bench.apply(SetTitle("not saved"))
    office.quiet(lambda: office.keeper.state.problem is not None)
    problem = office.keeper.state.problem
    assert problem is not None
    assert problem.code == "project.moved"
    office.keeper.save_again()
    office.quiet(lambda: bool(office.failures))
    assert office.failures[0].code == "project.moved"
    copy = plan.parent / "copy.dpdesk"
    office.keeper.save_as(copy)
    office.quiet(lambda: office.keeper.path == copy)
    assert office.keeper.state.problem is None
    with closing(sqlite3.connect(copy)) as connection:
        labels = [row[0] for row in connection.execute("SELECT label FROM moments")]
    assert "Title “not saved”" in labels


def test_a_disk_with_room_again_saves_what_had_to_wait(office: Office, plan: Path) -> None:
    path = plan.parent / "study.dpdesk"
    office.open_data(plan)
    office.create(path)
    path.rename(path.with_name("away.dpdesk"))
    office.bench.apply(SetTitle("late"))
    office.quiet(lambda: office.keeper.state.problem is not None)
    path.with_name("away.dpdesk").rename(path)
    office.keeper.save_again()
    office.quiet(lambda: office.keeper.state.problem is None)
    assert not office.keeper.state.waiting


def test_a_damaged_project_is_told_and_its_rest_becomes_a_new_one(
    office: Office, plan: Path
) -> None:
    path = plan.parent / "study.dpdesk"
    office.open_data(plan)
    office.create(path)
    for number in range(4):
        office.bench.apply(SetTitle(str(number)))
    office.leave()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE moments SET state = '' WHERE id = 2")
        connection.commit()
    office.keeper.open(path)
    office.quiet(lambda: bool(office.damaged))
    assert office.damaged == [path]
    assert office.keeper.path is None
    office.keeper.rescue(path, plan.parent / "saved")
    office.quiet(lambda: office.keeper.path == plan.parent / "saved.dpdesk")
    assert office.noticed[-1][0] == "caution"
    assert "4 of at least 5 states" in office.noticed[-1][1]
    assert office.bench.work.title == "3"


def test_data_that_changed_are_told_once(office: Office, plan: Path) -> None:
    path, data = plan.parent / "study.dpdesk", plan.parent / SOURCE
    office.open_data(plan)
    office.create(path)
    office.leave()
    lines = data.read_text("utf-8").splitlines()
    data.write_text("\n".join(lines[:-1]) + "\n", "utf-8")
    for told in (True, False):
        office.noticed.clear()
        office.open(path)
        office.quiet(lambda: office.bench.profile is not None)
        assert office.bench.data is not None
        assert office.bench.data.rows == 299
        assert bool(office.noticed) is told
        if told:
            assert office.noticed == [("caution", office.noticed[0][1])]
            assert f"{SOURCE} has changed since" in office.noticed[0][1]
        office.leave()


def test_a_project_whose_data_are_gone_opens_all_the_same(office: Office, plan: Path) -> None:
    path = plan.parent / "study.dpdesk"
    office.open_data(plan)
    office.create(path)
    office.bench.apply(SetTitle("kept"))
    office.leave()
    (plan.parent / SOURCE).unlink()
    office.open(path)
    office.quiet(lambda: office.bench.open_problem is not None)
    assert office.bench.work.title == "kept"
    assert "no longer exists" in office.noticed[-1][1]
    (plan.parent / "later.csv").touch()
    office.bench.apply(SetParameters({"k": 4}))
    office.leave()


def test_a_release_is_noted_with_its_moment_and_in_both_logs(
    office: Office, plan: Path, tmp_path: Path, elsewhere: Desk
) -> None:
    path = plan.parent / "study.dpdesk"
    office.open_data(plan)
    office.create(path)
    office.bench.apply(SetTitle("Released"))
    moment = office.bench.history.current.id
    office.bench.write_release(tmp_path / "out")
    office.quiet(lambda: office.bench.release is not None)
    office.bench.export("csv", tmp_path / "table.csv")
    office.quiet(lambda: (tmp_path / "table.csv").exists())
    office.leave()
    found = elsewhere.open(path, read_only=True).contents
    (release,) = found.releases
    assert (release.path, release.title, release.moment) == (tmp_path / "out", "Released", moment)
    noted = [entry for entry in found.audit if entry.action == "released"]
    assert noted[0].facts == {"manifest_sha256": release.manifest_sha256}
    with AuditLog.open_home(tmp_path / "home") as log:
        actions = [entry.action for entry in log.entries()]
        assert log.verify().ok
    assert actions == ["opened", "ran", "released", "viewed", "exported", "exported"]


def test_without_an_audit_log_nothing_is_released(
    office: Office, plan: Path, tmp_path: Path
) -> None:
    office.open_data(plan)
    (tmp_path / "home" / "audit.sqlite").write_bytes(b"no log")
    office.bench.write_release(tmp_path / "out")
    office.quiet(lambda: bool(office.failures))
    assert office.failures[0].code == "audit.unreadable"
    assert not (tmp_path / "out").exists()
    office.open_data(plan)
    assert office.bench.data is not None


def test_ending_saves_the_last_change(office: Office, plan: Path, elsewhere: Desk) -> None:
    path = plan.parent / "study.dpdesk"
    office.open_data(plan)
    office.create(path)
    office.bench.apply(SetTitle("last"))
    office.keeper.end()
    assert office.keeper.path is None
    found = elsewhere.open(path)
    assert found.read_only is None
    assert found.contents.history.moments[-1].state.title == "last"


def test_a_project_opened_where_no_project_is_fails_and_keeps_the_work(
    office: Office, plan: Path
) -> None:
    office.open_data(plan)
    (plan.parent / "study.dpdesk").write_text("no project")
    office.keeper.open(plan.parent / "study.dpdesk")
    office.quiet(lambda: bool(office.failures))
    assert office.failures[0].code == "project.not-a-project"
    assert office.bench.data is not None
    office.bench.open_path(plan.parent / "absent.dpdesk")
    office.quiet(lambda: len(office.failures) > 1)
