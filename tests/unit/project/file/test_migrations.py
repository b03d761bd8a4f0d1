from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import pytest

from dpdesk.core.errors import StorageError
from dpdesk.core.schema import Role
from dpdesk.project.file import ProjectFile, ProjectUpdate, store
from dpdesk.project.file.migrations import MIGRATIONS
from dpdesk.project.history import History
from dpdesk.project.work import SetTitle
from tests.helpers.old_projects import write_layout_0
from tests.helpers.projects import Desk


def layout(path: Path) -> dict[str, str]:
    """The tables of a file: what was typed to make them, without needless spaces."""
    query = "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'"
    with closing(sqlite3.connect(path)) as connection:
        found = dict(connection.execute(query))
    return {name: re.sub(r"\s+", " ", sql.replace('"', "")) for name, sql in found.items()}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def check_contents(project: ProjectFile, folder: Path) -> None:
    contents = project.contents
    history = History.restored(contents.history)
    assert [moment.label for moment in history.moments()] == ["Start", "Title “one”", "k = 7"]
    assert (history.current.id, history.redo_label, contents.history.saved) == (0, "k = 7", 1)
    state = history.moments()[2].state
    assert state.source is not None
    assert (state.source.path, state.source.delimiter) == ("people.csv", ";")
    assert state.base == folder
    assert state.roles == {"age": Role.QUASI_IDENTIFIER}
    assert state.hierarchies["age"].options["widths"] == (5, Decimal("2.5"))  # type: ignore[union-attr]
    assert state.parameters == {"k": 7}
    (candidate,) = contents.shelf.candidates
    assert (candidate.id, candidate.name, candidate.result) == (4, "mild", {"rows_out": 7})
    assert candidate.work.title == "one"
    assert contents.shelf.next_id == 5
    (source,), (release,) = contents.sources, contents.releases
    assert (source.kind, source.path, source.size) == ("data", folder / "people.csv", 12)
    assert (release.path, release.manifest_sha256) == (folder / "out", "b" * 64)


def test_there_is_a_migration_from_every_layout_to_the_present_one() -> None:
    assert sorted(MIGRATIONS) == list(range(store.VERSION))


def test_the_oldest_layout_is_brought_up_to_date_and_kept_beside(
    desk: Desk, tmp_path: Path
) -> None:
    write_layout_0(tmp_path / "a.dpdesk")
    before = layout(tmp_path / "a.dpdesk")
    project = desk.open(tmp_path / "a.dpdesk")
    assert project.read_only is None
    check_contents(project, tmp_path)
    assert "a.layout-0.dpdesk" in project.notes[0]
    project.close()
    assert names(tmp_path) == ["a.dpdesk", "a.layout-0.dpdesk"]
    assert layout(tmp_path / "a.layout-0.dpdesk") == before
    again = desk.open(tmp_path / "a.dpdesk")
    check_contents(again, tmp_path)
    assert not [note for note in again.notes if "up to date" in note]


def test_a_migrated_file_has_the_very_tables_of_a_new_one(desk: Desk, tmp_path: Path) -> None:
    write_layout_0(tmp_path / "old.dpdesk")
    desk.open(tmp_path / "old.dpdesk").close()
    desk.write(tmp_path / "new.dpdesk")
    assert layout(tmp_path / "old.dpdesk") == layout(tmp_path / "new.dpdesk")


def test_a_migrated_project_is_worked_on_like_any_other(desk: Desk, tmp_path: Path) -> None:
    write_layout_0(tmp_path / "a.dpdesk")
    project = desk.open(tmp_path / "a.dpdesk")
    history = History.restored(project.contents.history)
    history.do(SetTitle("later"))
    project.save(ProjectUpdate(history=history.snapshot()))
    project.close()
    assert desk.open(tmp_path / "a.dpdesk").contents.history.moments[3].label == "Title “later”"


def test_a_second_copy_gets_a_name_of_its_own(desk: Desk, tmp_path: Path) -> None:
    write_layout_0(tmp_path / "a.dpdesk")
    (tmp_path / "a.layout-0.dpdesk").write_bytes(b"mine")
    desk.open(tmp_path / "a.dpdesk").close()
    assert names(tmp_path) == ["a.dpdesk", "a.layout-0-2.dpdesk", "a.layout-0.dpdesk"]
    assert (tmp_path / "a.layout-0.dpdesk").read_bytes() == b"mine"


def test_looking_at_an_old_project_changes_nothing(desk: Desk, tmp_path: Path) -> None:
    write_layout_0(tmp_path / "a.dpdesk")
    before = (tmp_path / "a.dpdesk").read_bytes()
    check_contents(desk.open(tmp_path / "a.dpdesk", read_only=True), tmp_path)
    assert (tmp_path / "a.dpdesk").read_bytes() == before
    assert names(tmp_path) == ["a.dpdesk"]


def _half_way(connection: sqlite3.Connection) -> None:
    connection.execute("DROP TABLE candidates")
    raise ValueError("half way")


def _without_sense(connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE moments SET parent = 77 WHERE id = 1")


def _incomplete(connection: sqlite3.Connection) -> None:
    connection.execute("SELECT nothing FROM nowhere")


@pytest.mark.parametrize("step", [_half_way, _without_sense, _incomplete])
def test_a_migration_that_fails_leaves_the_file_as_it_was(
    desk: Desk, tmp_path: Path, step: object
) -> None:
    write_layout_0(tmp_path / "a.dpdesk")
    before = (tmp_path / "a.dpdesk").read_bytes()
    with pytest.raises(StorageError) as error:
        desk.open(tmp_path / "a.dpdesk", migrations={0: step})
    assert error.value.code == "project.not-migrated"
    assert (tmp_path / "a.dpdesk").read_bytes() == before
    assert names(tmp_path) == ["a.dpdesk"]
    check_contents(desk.open(tmp_path / "a.dpdesk"), tmp_path)


@pytest.mark.parametrize("place", ["UPDATE moments SET state", "UPDATE meta SET value"])
def test_an_old_project_whose_texts_are_nested_too_deeply_is_left_as_it_was(
    desk: Desk, tmp_path: Path, place: str
) -> None:
    path = tmp_path / "a.dpdesk"
    write_layout_0(path)
    deep = "[" * 200_000 + "]" * 200_000
    with closing(sqlite3.connect(path)) as connection:
        where = " WHERE key = 'redo'" if "meta" in place else ""
        changed = connection.execute(f"{place} = ?{where}", (deep,))
        assert changed.rowcount > 0
        connection.commit()
    before = path.read_bytes()
    with pytest.raises(StorageError) as error:
        desk.open(path)
    assert error.value.code == "project.not-migrated"
    assert path.read_bytes() == before


def test_a_kill_in_the_middle_of_a_migration_loses_nothing(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "a.dpdesk"
    write_layout_0(path)
    code = f"""
import os, sys
from pathlib import Path
from tests.helpers.projects import Desk
from dpdesk.project.file.migrations import m0000
def killed(connection):
    connection.execute("PRAGMA cache_size = 1")
    m0000.migrate(connection)
    connection.executemany(
        "INSERT INTO parts VALUES (?, zeroblob(9000))", [(str(n),) for n in range(50)]
    )
    os._exit(9)
Desk(Path({str(tmp_path / "home")!r})).open(Path({str(path)!r}), migrations={{0: killed}})
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 9
    assert path.with_name("a.dpdesk-journal").stat().st_size > 0
    check_contents(desk.open(path), tmp_path)
