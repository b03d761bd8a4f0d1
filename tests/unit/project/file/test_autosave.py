"""The saving thread: nobody waits for it, nothing is lost on it."""

from __future__ import annotations

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dpdesk.core.errors import StorageError
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.project.audit import AuditNote
from dpdesk.project.candidates import ShelfSnapshot
from dpdesk.project.file import ProjectFile, ProjectUpdate, SaveState
from dpdesk.project.history import History
from dpdesk.project.work import SetHierarchy, SetParameters, SetTitle, WorkState
from tests.helpers.projects import Desk, candidate, plain, save


class Gate:
    """Holds the saving thread before it writes, until it is opened."""

    def __init__(self, project: ProjectFile) -> None:
        self._open = threading.Event()
        self.writes: list[ProjectUpdate] = []
        store = project._opened.store
        assert store is not None
        self._write = store.write
        store.write = self._held  # type: ignore[method-assign]

    def _held(self, update: ProjectUpdate) -> None:
        self._open.wait()
        self.writes.append(update)
        self._write(update)

    def open(self) -> None:
        self._open.set()


def moments(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("SELECT count(*) FROM moments").fetchone()[0])


def test_handing_over_never_waits_for_the_disk(desk: Desk, tmp_path: Path) -> None:
    made = History(WorkState())
    project = desk.new(tmp_path / "a.dpdesk", made)
    gate = Gate(project)
    for number in range(100):
        made.do(SetTitle(str(number)))
        project.save(ProjectUpdate(history=made.snapshot()))
    assert project.state.waiting
    assert moments(project.path) == 1
    gate.open()
    project.flush()
    assert project.state == SaveState(False, None, project.state.saved)
    assert project.state.saved is not None
    assert moments(project.path) == 101
    assert len(gate.writes) <= 3


def test_all_kinds_of_changes_are_joined_and_none_is_forgotten(desk: Desk, tmp_path: Path) -> None:
    made = History(WorkState())
    project = desk.new(tmp_path / "a.dpdesk", made)
    gate = Gate(project)
    project.save(ProjectUpdate(notes=(AuditNote("opened", "a"),)))
    made.do(SetTitle("x"))
    project.save(ProjectUpdate(history=made.snapshot()))
    project.save(ProjectUpdate(shelf=ShelfSnapshot((replace(candidate(), id=1),), 2)))
    project.save(ProjectUpdate(notes=(AuditNote("closed", "a"),)))
    gate.open()
    project.flush()
    assert [entry.action for entry in project.audit()] == ["opened", "closed"]
    project.close()
    found = desk.open(project.path).contents
    assert plain(found.history) == plain(made.snapshot())
    assert len(found.shelf.candidates) == 1
    assert [entry.action for entry in found.audit] == ["opened", "closed"]


def test_a_dragged_slider_is_stored_as_the_one_moment_that_it_is(
    desk: Desk, tmp_path: Path
) -> None:
    made = History(WorkState())
    project = desk.new(tmp_path / "a.dpdesk", made)
    for k in range(2, 30):
        made.do(SetParameters({"k": k}), merge=True)
        project.save(ProjectUpdate(history=made.snapshot()))
        project.flush()
    project.close()
    found = desk.open(project.path).contents.history
    assert [moment.state.parameters for moment in found.moments] == [{}, {"k": 29}]


def test_only_what_differs_is_written(desk: Desk, tmp_path: Path) -> None:
    made = History(WorkState())
    for number in range(50):
        made.do(SetTitle(str(number)))
    project = desk.new(tmp_path / "a.dpdesk", made)
    project.close()
    project = desk.open(project.path)
    store = project._opened.store
    assert store is not None
    made = History.restored(project.contents.history)
    before = store._connection.total_changes
    made.undo()
    save(project, made)
    assert store._connection.total_changes - before == 1
    made.do(SetTitle("other"))
    save(project, made)
    assert store._connection.total_changes - before == 1 + 3


def test_states_are_told_in_order_and_end_with_saved(desk: Desk, tmp_path: Path) -> None:
    made = History(WorkState())
    project = desk.new(tmp_path / "a.dpdesk", made)
    told: list[SaveState] = []
    project.listen(told.append)
    made.do(SetTitle("x"))
    save(project, made)
    assert [state.waiting for state in told] == [True, False]
    project.listen(None)
    made.do(SetTitle("y"))
    save(project, made)
    assert len(told) == 2


def test_many_threads_may_hand_over(desk: Desk, tmp_path: Path) -> None:
    project = desk.new(tmp_path / "a.dpdesk")

    def note(number: int) -> None:
        project.save(ProjectUpdate(notes=(AuditNote("ran", str(number)),)))
        project.flush()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(note, range(60)))
    subjects = {entry.subject for entry in project.audit()}
    assert subjects == {str(number) for number in range(60)}
    check = project.check_audit()
    assert check is not None
    assert check.ok


def test_a_value_that_cannot_be_stored_stops_nothing_else(desk: Desk, tmp_path: Path) -> None:
    made = History(WorkState())
    project = desk.new(tmp_path / "a.dpdesk", made)
    made.do(SetTitle("x"))
    odd = replace(candidate(), id=1, result={"x": object()})
    project.save(ProjectUpdate(history=made.snapshot(), shelf=ShelfSnapshot((odd,), 2)))
    with pytest.raises(StorageError) as error:
        project.flush()
    assert error.value.code == "project.fault"
    assert moments(project.path) == 2
    made.do(SetTitle("y"))
    save(project, made)
    assert project.state.problem is None
    assert moments(project.path) == 3


def test_moments_are_never_lost_silently(desk: Desk, tmp_path: Path) -> None:
    made = History(WorkState())
    made.do(SetTitle("x"))
    project = desk.new(tmp_path / "a.dpdesk", made)
    project.save(ProjectUpdate(history=History(WorkState()).snapshot()))
    with pytest.raises(StorageError) as error:
        project.flush()
    assert error.value.code == "project.fault"
    assert moments(project.path) == 2
    with pytest.raises(StorageError):
        project.close()
    project.close(discard=True)


def test_a_problem_holds_on_to_nothing(desk: Desk, tmp_path: Path) -> None:
    made = History(WorkState())
    project = desk.new(tmp_path / "a.dpdesk", made)
    project.path.rename(tmp_path / "away")
    project.save(ProjectUpdate(notes=(AuditNote("ran", "x"),)))
    with pytest.raises(StorageError):
        project.flush()
    (tmp_path / "away").rename(project.path)
    problem = project.state.problem
    assert problem is not None
    assert (problem.__cause__, problem.__context__) == (None, None)
    project.close()
    assert [entry.action for entry in desk.open(project.path).contents.audit] == ["ran"]


def test_closing_saves_what_is_left(desk: Desk, tmp_path: Path) -> None:
    made = History(WorkState())
    project = desk.new(tmp_path / "a.dpdesk", made)
    made.do(SetTitle("x"))
    project.save(ProjectUpdate(history=made.snapshot()))
    project.close()
    project.close()
    assert moments(project.path) == 2
    with pytest.raises(StorageError) as error:
        project.save(ProjectUpdate())
    assert error.value.code == "project.closed"


def test_what_is_handed_over_is_what_the_project_says_it_holds(desk: Desk, tmp_path: Path) -> None:
    made = History(WorkState())
    project = desk.new(tmp_path / "a.dpdesk", made)
    made.do(SetTitle("x"))
    project.save(ProjectUpdate(history=made.snapshot()))
    assert project.contents.history.current == 1
    assert project.contents.shelf == ShelfSnapshot()


def test_an_edited_hierarchy_shares_what_did_not_change(desk: Desk, tmp_path: Path) -> None:
    codes = np.arange(20_000, dtype=np.int32)
    labels = tuple(f"value {code}" for code in codes)
    top = np.zeros(20_000, dtype=np.int32)
    made = History(WorkState())
    project = desk.new(tmp_path / "a.dpdesk", made)
    sizes = []
    for number in range(4):
        groups = tuple(f"group {number}.{code}" for code in range(20))
        middle = (codes // 1_000).astype(np.int32)
        levels = Hierarchy("v", (labels, groups, ("*",)), (middle, top[:20]))
        made.do(SetHierarchy("v", levels))
        save(project, made)
        sizes.append(project.path.stat().st_size)
    assert sizes[0] > 40_000
    assert sizes[-1] - sizes[0] < 20_000
