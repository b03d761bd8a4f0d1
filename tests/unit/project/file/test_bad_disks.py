"""Full disks and damaged files: what was saved stays, and what can be read is said and saved."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from dpdesk.core.errors import Cancelled, InputError, StorageError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.project.file import (
    DATA,
    OpeningHelpers,
    ProjectFile,
    ProjectUpdate,
    SourceRecord,
    rescue,
    write_project,
)
from dpdesk.project.file.sources import load
from dpdesk.project.file.store import ProjectStore
from dpdesk.project.history import History, HistorySnapshot
from dpdesk.project.sql import connect, reading
from dpdesk.project.work import SetHierarchy, SetTitle, WorkState
from tests.helpers.powerless import run_powerless
from tests.helpers.projects import AGE, WHEN, Desk, history, plain, save, shelf


def pages(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("PRAGMA page_count").fetchone()[0])


def check_whole(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def opened_store(path: Path, limit: int) -> ProjectStore:
    """A store that may use ``limit`` pages."""
    connection = connect(path)
    with reading(connection):
        loaded = load(connection)
    store = ProjectStore(connection, path)
    store.adopt(loaded)
    connection.execute(f"PRAGMA max_page_count = {limit}")
    return store


def test_on_a_disk_of_any_size_what_was_acknowledged_is_there(desk: Desk, tmp_path: Path) -> None:
    """From no free page at all to enough for everything, one page more each time."""
    full_once, enough_once = False, False
    for extra in range(40):
        path = desk.write(tmp_path / f"{extra}.dpdesk", History(WorkState()))
        store = opened_store(path, pages(path) + extra)
        kept, full = shelf(), False
        made = History.restored(load_all(path).contents.history)
        for number in range(12):
            made.do(SetTitle(f"{number} " + "x" * 1500))
            update = ProjectUpdate(
                history=made.snapshot(), shelf=kept.snapshot() if number == 6 else None
            )
            full = not is_stored(store, update)
            if full:
                break
        store.close()
        acknowledged = number if full else number + 1
        found = load_all(path).contents
        assert len(found.history.moments) == acknowledged + 1
        assert len(found.shelf.candidates) == (2 if acknowledged > 6 else 0)
        check_whole(path)
        full_once, enough_once = full_once or full, enough_once or not full
        if enough_once:
            break
    assert full_once


def is_stored(store: ProjectStore, update: ProjectUpdate) -> bool:
    """Whether there was room for an update."""
    try:
        store.write(update)
    except StorageError as error:
        if error.code != "project.disk-full":
            raise
        return False
    return True


def load_all(path: Path):  # type: ignore[no-untyped-def]
    with closing(connect(path, read_only=True)) as connection, reading(connection):
        return load(connection)


def test_after_a_full_disk_the_same_change_is_saved_once_there_is_room(
    desk: Desk, tmp_path: Path
) -> None:
    path = desk.write(tmp_path / "a.dpdesk", History(WorkState()))
    made = History.restored(load_all(path).contents.history)
    store = opened_store(path, pages(path))
    made.do(SetTitle("x" * 20_000))
    made.do(SetHierarchy("age", AGE))
    with pytest.raises(StorageError):
        store.write(ProjectUpdate(history=made.snapshot()))
    store._connection.execute("PRAGMA max_page_count = 100000")
    made.do(SetTitle("after"))
    store.write(ProjectUpdate(history=made.snapshot()))
    store.close()
    assert plain(load_all(path).contents.history) == plain(made.snapshot())


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Callable[[int], Path]]:
    """A function that gives a disk of so many kilobytes."""
    mounted: list[Path] = []

    def make(kilobytes: int) -> Path:
        place = tmp_path / f"disk{kilobytes}"
        place.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(place)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as error:
            pytest.skip(f"no disk can be mounted here: {error}")
        if done.returncode != 0:
            pytest.skip(f"no disk can be mounted here: {done.stderr.strip()}")
        mounted.append(place)
        return place

    yield make
    for place in mounted:
        subprocess.run(["umount", str(place)], check=True)


@pytest.mark.skipif(sys.platform != "linux", reason="mounts a small disk")
@pytest.mark.parametrize("kilobytes", [160, 200, 256, 400])
def test_on_a_really_full_disk_the_work_goes_on_and_nothing_saved_is_lost(
    desk: Desk, tiny_disk: Callable[[int], Path], kilobytes: int
) -> None:
    disk = tiny_disk(kilobytes)
    project = desk.new(disk / "a.dpdesk", History(WorkState()))
    made = History.restored(project.contents.history)
    saved, problem = 0, None
    while problem is None:
        made.do(SetTitle(f"{len(made.moments())} " + "x" * 5_000))
        try:
            save(project, made)
            saved = len(made.moments())
        except StorageError as error:
            problem = error
    assert problem.code in ("project.disk-full", "project.unwritable")
    assert project.state.waiting
    assert project.state.problem is problem
    with pytest.raises(StorageError):
        project.close()
    check_whole(disk / "a.dpdesk")
    assert len(load_all(disk / "a.dpdesk").contents.history.moments) == saved
    copy = disk.parent / "elsewhere.dpdesk"
    space = desk.workspace
    write_project(copy, project.contents, (), space, space.new_path, share=lambda path: "")
    assert plain(load_all(copy).contents.history) == plain(made.snapshot())
    project.close(discard=True)


def fill(path: Path) -> None:
    """Write until nothing more fits."""
    with path.open("wb", buffering=0) as filler, suppress(OSError):
        while filler.write(b"x" * 4096) == 4096:
            pass


@pytest.mark.skipif(sys.platform != "linux", reason="mounts a small disk")
def test_a_project_on_a_full_disk_is_opened_for_reading(
    desk: Desk, tiny_disk: Callable[[int], Path]
) -> None:
    disk = tiny_disk(256)
    desk.write(disk / "a.dpdesk")
    fill(disk / "filler")
    found = desk.open(disk / "a.dpdesk")
    assert found.read_only is not None
    assert found.read_only.code == "disk-full"
    assert plain(found.contents.history) == plain(history().snapshot())


@pytest.mark.skipif(sys.platform != "linux", reason="mounts a small disk")
def test_a_new_project_that_does_not_fit_is_not_there_at_all(
    desk: Desk, tiny_disk: Callable[[int], Path]
) -> None:
    disk = tiny_disk(40)
    with pytest.raises(StorageError, match="full"):
        desk.write(disk / "a.dpdesk")
    assert list(disk.iterdir()) == []


def damage(path: Path, page: int, content: bytes = b"\xa5" * 4096) -> None:
    data = bytearray(path.read_bytes())
    data[page * 4096 : (page + 1) * 4096] = content
    path.write_bytes(bytes(data))


def long_history() -> History:
    made = history()
    for number in range(60):
        made.do(SetTitle(f"{number} " + "x" * 500))
    return made


def way(desk: Desk) -> OpeningHelpers:
    return desk.way()


def test_a_project_with_any_one_page_destroyed_says_so_and_gives_what_is_left(
    desk: Desk, tmp_path: Path
) -> None:
    """Page after page: refused by name or opened whole; never opened with something missing."""
    made = long_history()
    whole = desk.write(tmp_path / "whole.dpdesk", made).read_bytes()
    count, most = len(made.moments()), 0
    assert len(whole) // 4096 > 20
    for page in range(1, len(whole) // 4096):
        path = tmp_path / "a.dpdesk"
        path.write_bytes(whole)
        damage(path, page)
        with pytest.raises(StorageError) as error:
            desk.open(path)
        assert error.value.code == "project.damaged"
        details = error.value.details
        if details["moments"]:
            contents, lost = rescue(path, way(desk))
            assert lost.moments == details["moments"] == len(contents.history.moments) <= count
            restored = History.restored(contents.history)
            known = {moment.label for moment in made.moments()}
            assert {moment.label for moment in restored.moments()} <= known
            most = max(most, lost.moments)
        else:
            with pytest.raises(StorageError):
                rescue(path, way(desk))
        assert sorted(os.listdir(tmp_path)) == ["a.dpdesk", "whole.dpdesk"]
    assert most > count // 2


def test_a_file_without_its_beginning_is_refused_and_left_alone(desk: Desk, tmp_path: Path) -> None:
    path = desk.write(tmp_path / "a.dpdesk", long_history())
    damage(path, 0)
    before = path.read_bytes()
    with pytest.raises(InputError, match="damaged from its start") as error:
        desk.open(path)
    assert error.value.code == "project.not-a-project"
    assert path.read_bytes() == before


def test_what_was_rescued_is_a_project_again(desk: Desk, tmp_path: Path) -> None:
    made = long_history()
    path = desk.write(tmp_path / "a.dpdesk", made)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE moments SET state = 'x' WHERE id IN (0, 5, 9)")
        connection.commit()
    with pytest.raises(StorageError, match="of at least") as error:
        desk.open(path)
    count = len(made.moments())
    assert f"{count - 3} of at least {count} states" in error.value.sentence
    contents, lost = rescue(path, way(desk))
    space = desk.workspace
    out = tmp_path / "saved.dpdesk"
    write_project(out, contents, (), space, space.new_path, share=lambda path: "")
    project = desk.open(out)
    found = project.contents.history
    assert len(found.moments) == lost.moments == count - 3
    states = [plain(moment.state) for moment in made.moments() if moment.id not in (0, 5, 9)]
    assert [plain(moment.state) for moment in found.moments] == states
    assert plain(found.moments[found.current].state) == plain(made.state)
    assert project.contents.identity != load_all(out.with_name("saved.dpdesk")).contents.written_by


@pytest.mark.parametrize("size", [100, 4096, 4096 * 3, 4096 * 10 + 17])
def test_a_file_that_was_cut_off_is_damaged(desk: Desk, tmp_path: Path, size: int) -> None:
    path = desk.write(tmp_path / "a.dpdesk", long_history())
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(StorageError) as error:
        desk.open(path)
    assert error.value.code == "project.damaged"


@pytest.mark.parametrize("what", ["moments", "candidates", "parts", "meta", "audit", "sources"])
def test_a_missing_table_is_damage(desk: Desk, tmp_path: Path, what: str) -> None:
    path = desk.write(tmp_path / "a.dpdesk", history(), shelf())
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute(f"DROP TABLE {what}")
        connection.commit()
    with pytest.raises(StorageError) as error:
        desk.open(path)
    assert error.value.code == "project.damaged"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE meta SET value = '999' WHERE key = 'current'",
        "UPDATE meta SET value = 'x' WHERE key = 'saved'",
        "DELETE FROM meta WHERE key = 'identity'",
        "UPDATE moments SET followed = 0 WHERE id = 0",
        "UPDATE moments SET made = 'yesterday'",
        "UPDATE moments SET label = x'00' WHERE id = 1",
        "UPDATE moments SET parent = 3 WHERE id = 1",
        "DELETE FROM parts",
        "UPDATE candidates SET content = '[]'",
        "UPDATE meta SET value = '1' WHERE key = 'next_candidate'",
        "INSERT INTO audit VALUES (1, x'00', '', '', '', '', '', '')",
    ],
)
def test_content_that_does_not_fit_together_is_damage(
    desk: Desk, tmp_path: Path, statement: str
) -> None:
    path = desk.write(tmp_path / "a.dpdesk", history(), shelf())
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
        connection.commit()
    with pytest.raises(StorageError) as error:
        desk.open(path)
    assert error.value.code == "project.damaged"


def test_random_bytes_anywhere_never_open_as_something_else(desk: Desk, tmp_path: Path) -> None:
    made, rng, refused = history(), random.Random(7), set()
    path = desk.write(tmp_path / "a.dpdesk", made)
    whole = path.read_bytes()
    for _ in range(60):
        data = bytearray(whole)
        place = rng.randrange(100, len(data) - 8)
        data[place : place + 8] = rng.randbytes(8)
        path.write_bytes(bytes(data))
        found = opened_or_refused(desk, path)
        if isinstance(found, str):
            refused.add(found)
        else:
            assert plain(found) == plain(made.snapshot())
    assert refused == {"project.damaged"}


def opened_or_refused(desk: Desk, path: Path) -> HistorySnapshot | str:
    """The history, or the code of the error."""
    try:
        return desk.open(path, read_only=True).contents.history
    except StorageError as error:
        return error.code


def interrupted(path: Path, folder: Path) -> Path:
    """A copy of a project as a crash in the middle of a commit leaves it."""
    folder.mkdir()
    target = folder / "a.dpdesk"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA cache_size = 1")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("UPDATE moments SET state = 'half'")
        for number in range(60):
            connection.execute("INSERT INTO parts VALUES (?, zeroblob(5000))", (str(number),))
        target.write_bytes(path.read_bytes())
        journal = path.with_name(path.name + "-journal")
        target.with_name("a.dpdesk-journal").write_bytes(journal.read_bytes())
        connection.execute("ROLLBACK")
    return target


@pytest.mark.parametrize("how", ["write", "look", "share"])
def test_a_commit_cut_short_is_taken_back(desk: Desk, tmp_path: Path, how: str) -> None:
    path = interrupted(desk.write(tmp_path / "a.dpdesk"), tmp_path / "crashed")
    changes: dict[str, dict[str, object]] = {
        "write": {},
        "look": {"read_only": True},
        "share": {"share": lambda path: "NFS"},
    }
    found = desk.open(path, **changes[how])
    assert plain(found.contents.history) == plain(history().snapshot())


@pytest.mark.skipif(sys.platform == "win32", reason="needs Unix users")
def test_a_commit_cut_short_in_a_folder_that_must_not_be_written_can_be_looked_at(
    desk: Desk, tmp_path: Path
) -> None:
    path = interrupted(desk.write(tmp_path / "a.dpdesk"), tmp_path / "crashed")
    path.chmod(0o666)
    path.parent.chmod(0o555)
    program = f"""
from pathlib import Path
from tests.helpers.projects import Desk
import tempfile
with tempfile.TemporaryDirectory() as home:
    desk = Desk(Path(home))
    found = desk.open(Path({str(path)!r}))
    print(found.read_only.code, len(found.contents.history.moments))
    desk.close()
"""
    printed = run_powerless(program, path.parent, "import tests.helpers.projects\n")
    path.parent.chmod(0o755)
    assert printed.split() == ["folder", str(len(history().moments()))]


def test_cancelling_leaves_the_lock_free(desk: Desk, tmp_path: Path) -> None:
    source = tmp_path / "people.csv"
    source.write_bytes(b"x" * 100)
    project = desk.new(tmp_path / "a.dpdesk")
    project.save(ProjectUpdate(sources=(SourceRecord(DATA, source, "0" * 64, 100, 1, WHEN),)))
    project.close()
    token = CancelToken()
    token.cancel()
    stopped = OpeningHelpers(
        desk.workspace, desk.workspace.new_path, token, silent, share=lambda path: ""
    )
    with pytest.raises(Cancelled):
        ProjectFile.open(tmp_path / "a.dpdesk", stopped)
    assert desk.open(tmp_path / "a.dpdesk").read_only is None
