from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path

import pytest

from dpdesk.core.errors import InputError, StorageError
from dpdesk.project.file import ProjectUpdate, store
from dpdesk.project.file.locking import lock_path
from dpdesk.project.history import History
from dpdesk.project.settings import host_name, user_name
from dpdesk.project.work import SetTitle, WorkState
from tests.helpers.hidden_objects import hidden_trigger
from tests.helpers.hostile_journals import write_hostile_journal
from tests.helpers.powerless import run_powerless
from tests.helpers.projects import Desk, history, plain, save


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_second_opener_reads_and_learns_who_writes(desk: Desk, tmp_path: Path) -> None:
    first = desk.new(tmp_path / "a.dpdesk")
    second = desk.open(tmp_path / "a.dpdesk")
    assert first.read_only is None
    assert second.read_only is not None
    assert second.read_only.code == "locked"
    assert user_name() in second.read_only.sentence
    assert host_name() in second.read_only.sentence
    assert second.read_only.holder is not None
    assert second.read_only.holder.since[:4] in second.read_only.sentence
    assert plain(second.contents.history) == plain(first.contents.history)
    with pytest.raises(StorageError) as error:
        second.save(ProjectUpdate())
    assert error.value.code == "project.read-only"


def test_after_closing_the_next_one_may_write_and_nothing_lies_beside(
    desk: Desk, tmp_path: Path
) -> None:
    desk.new(tmp_path / "a.dpdesk").close()
    assert names(tmp_path) == ["a.dpdesk"]
    assert desk.open(tmp_path / "a.dpdesk").read_only is None
    assert names(tmp_path) == [".a.dpdesk.lock", "a.dpdesk"]


def test_a_link_is_locked_as_what_it_leads_to(desk: Desk, tmp_path: Path) -> None:
    desk.new(tmp_path / "a.dpdesk")
    (tmp_path / "link.dpdesk").symlink_to(tmp_path / "a.dpdesk")
    found = desk.open(tmp_path / "link.dpdesk")
    assert found.read_only is not None
    assert found.read_only.code == "locked"


def test_a_lock_left_by_a_crash_is_no_obstacle(desk: Desk, tmp_path: Path) -> None:
    path = desk.write(tmp_path / "a.dpdesk")
    code = f"""
import os
from pathlib import Path
from dpdesk.project.file.locking import take_lock
lock = take_lock(Path({str(path)!r}))
os._exit(9)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 9
    assert lock_path(path).exists()
    assert desk.open(path).read_only is None


@pytest.mark.parametrize("content", [b"", b"x", b" {", b' {"who": 1}', b" []", b"\xff" * 50])
def test_a_lock_that_says_nothing_useful_still_locks(
    desk: Desk, tmp_path: Path, content: bytes
) -> None:
    desk.new(tmp_path / "a.dpdesk")
    lock_path(tmp_path / "a.dpdesk").write_bytes(content)
    found = desk.open(tmp_path / "a.dpdesk")
    assert found.read_only is not None
    assert "someone" in found.read_only.sentence


def test_a_very_long_name_can_be_locked(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / ("x" * 230 + ".dpdesk")
    assert desk.new(path).read_only is None
    assert desk.open(path).read_only is not None


def test_on_a_network_share_a_project_is_for_reading(desk: Desk, tmp_path: Path) -> None:
    path = desk.write(tmp_path / "a.dpdesk")
    found = desk.open(path, share=lambda path: "NFS")
    assert found.read_only is not None
    assert found.read_only.code == "network"
    assert "NFS" in found.read_only.sentence
    assert plain(found.contents.history) == plain(history().snapshot())
    assert names(tmp_path) == ["a.dpdesk"]
    assert not [name for name in names(desk.workspace.folder) if "dpdesk" in name]


def test_looking_only_takes_no_lock_and_changes_nothing(desk: Desk, tmp_path: Path) -> None:
    path = desk.write(tmp_path / "a.dpdesk")
    before = path.read_bytes()
    found = desk.open(path, read_only=True)
    assert found.read_only is not None
    assert found.read_only.code == "asked"
    assert path.read_bytes() == before
    assert desk.open(path).read_only is None


@pytest.mark.skipif(sys.platform == "win32", reason="needs Unix users")
@pytest.mark.parametrize(("what", "code"), [("folder", "folder"), ("file", "file")])
def test_what_must_not_be_written_is_opened_for_reading(
    desk: Desk, tmp_path: Path, what: str, code: str
) -> None:
    folder = tmp_path / "given"
    folder.mkdir()
    path = desk.write(folder / "a.dpdesk")
    path.chmod(0o666 if what == "folder" else 0o444)
    folder.chmod(0o555 if what == "folder" else 0o777)
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
    preload = "import tests.helpers.projects\n"
    printed = run_powerless(program, folder, preload)
    folder.chmod(0o755)
    assert printed.split() == [code, str(len(history().moments()))]
    assert names(folder) == ["a.dpdesk"]


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"", "an empty file"),
        (b"hello", "a file of another kind"),
        (b"version = 1\n" * 100, "a file of another kind"),
    ],
)
def test_a_file_of_another_kind_is_refused(
    desk: Desk, tmp_path: Path, content: bytes, found: str
) -> None:
    path = tmp_path / "a.dpdesk"
    path.write_bytes(content)
    with pytest.raises(InputError, match=found) as error:
        desk.open(path)
    assert error.value.code == "project.not-a-project"
    assert path.read_bytes() == content
    assert names(tmp_path) == ["a.dpdesk"]


def test_a_folder_and_a_missing_file_are_refused(desk: Desk, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a folder"):
        desk.open(tmp_path)
    with pytest.raises(StorageError) as error:
        desk.open(tmp_path / "absent.dpdesk")
    assert error.value.code == "project.missing"
    assert names(tmp_path) == []


def test_the_database_of_another_program_is_refused(desk: Desk, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "a.dpdesk")) as connection:
        connection.execute("CREATE TABLE t (x)")
        connection.commit()
    with pytest.raises(InputError, match="database of another program"):
        desk.open(tmp_path / "a.dpdesk")


@pytest.mark.parametrize("read_only", [False, True])
def test_a_layout_that_no_version_numbers_so_is_called_damaged(
    desk: Desk, tmp_path: Path, read_only: bool
) -> None:
    path = desk.write(tmp_path / "a.dpdesk")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = -1")
    before = path.read_bytes()
    with pytest.raises(StorageError, match="found -1 as the version") as error:
        desk.open(path, read_only=read_only)
    assert error.value.code == "project.damaged"
    assert path.read_bytes() == before


@pytest.mark.parametrize("read_only", [False, True])
def test_a_project_of_a_newer_version_is_refused_naming_both(
    desk: Desk, tmp_path: Path, read_only: bool
) -> None:
    path = desk.write(tmp_path / "a.dpdesk")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
        connection.execute("UPDATE meta SET value = '7.5' WHERE key = 'written_by'")
        connection.commit()
    before = path.read_bytes()
    with pytest.raises(InputError) as error:
        desk.open(path, read_only=read_only)
    assert error.value.code == "project.newer"
    for version in ("7.5", "layout 99", "0.1.0"):
        assert version in error.value.sentence
    assert path.read_bytes() == before
    assert names(tmp_path) == ["a.dpdesk"]


def test_content_that_only_a_newer_version_understands_names_that_version(
    desk: Desk, tmp_path: Path
) -> None:
    path = desk.write(tmp_path / "a.dpdesk")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE meta SET value = '7.5' WHERE key = 'written_by'")
        connection.execute("""UPDATE moments SET state = '{"format": 2}' WHERE id = 1""")
        connection.commit()
    with pytest.raises(InputError, match=r"7\.5") as error:
        desk.open(path)
    assert error.value.code == "project.newer"


def test_a_moved_project_is_not_written_where_nobody_looks(desk: Desk, tmp_path: Path) -> None:
    made = history()
    project = desk.new(tmp_path / "a.dpdesk", made)
    (tmp_path / "a.dpdesk").rename(tmp_path / "b.dpdesk")
    made.do(SetTitle("x"))
    with pytest.raises(StorageError) as error:
        save(project, made)
    assert error.value.code == "project.moved"
    (tmp_path / "b.dpdesk").rename(tmp_path / "a.dpdesk")
    project.flush()
    assert project.state.problem is None


def test_a_replaced_project_is_not_written_either(desk: Desk, tmp_path: Path) -> None:
    made = history()
    project = desk.new(tmp_path / "a.dpdesk", made)
    shutil.copy(tmp_path / "a.dpdesk", tmp_path / "copy")
    (tmp_path / "copy").replace(tmp_path / "a.dpdesk")
    made.do(SetTitle("x"))
    with pytest.raises(StorageError) as error:
        save(project, made)
    assert error.value.code == "project.moved"


def test_a_project_taken_over_under_another_name_is_not_written(desk: Desk, tmp_path: Path) -> None:
    made = history()
    project = desk.new(tmp_path / "a.dpdesk", made)
    (tmp_path / "b.dpdesk").hardlink_to(tmp_path / "a.dpdesk")
    desk.open(tmp_path / "b.dpdesk")
    made.do(SetTitle("x"))
    with pytest.raises(StorageError) as error:
        save(project, made)
    assert error.value.code == "project.taken"


def test_parts_that_nothing_names_are_thrown_away_when_opened(desk: Desk, tmp_path: Path) -> None:
    path = desk.write(tmp_path / "a.dpdesk")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO parts VALUES ('unused', x'00')")
        connection.commit()
        before = connection.execute("SELECT count(*) FROM parts").fetchone()[0]
    desk.open(path).close()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM parts").fetchone()[0] == before - 1
    assert plain(desk.open(path).contents.history) == plain(history().snapshot())


def test_a_new_project_takes_the_place_of_an_old_file_whole(desk: Desk, tmp_path: Path) -> None:
    path = desk.write(tmp_path / "a.dpdesk")
    path.with_name("a.dpdesk-journal").write_bytes(b"x" * 512)
    desk.write(path, History(WorkState()))
    assert names(tmp_path) == ["a.dpdesk"]
    assert len(desk.open(path).contents.history.moments) == 1


def test_a_project_that_is_open_elsewhere_is_never_replaced(desk: Desk, tmp_path: Path) -> None:
    project = desk.new(tmp_path / "a.dpdesk")
    with pytest.raises(StorageError) as error:
        desk.write(tmp_path / "a.dpdesk", History(WorkState()))
    assert error.value.code == "project.locked"
    assert user_name() in error.value.sentence
    project.close()
    assert plain(desk.open(project.path).contents.history) == plain(history().snapshot())


def test_a_folder_is_never_replaced_by_a_project(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "a.dpdesk").mkdir()
    with pytest.raises(InputError) as error:
        desk.write(tmp_path / "a.dpdesk")
    assert error.value.code == "out.folder"
    assert names(tmp_path) == ["a.dpdesk"]


FOREIGN = {
    "a trigger": "CREATE TRIGGER rename AFTER INSERT ON moments BEGIN "
    "UPDATE moments SET label = 'another' WHERE id = new.id; END",
    "a trigger that drops what is saved": "CREATE TRIGGER drop_it BEFORE INSERT ON moments "
    "BEGIN SELECT RAISE(IGNORE); END",
    "a view": "CREATE VIEW extra AS SELECT * FROM moments",
    "an index": "CREATE UNIQUE INDEX one_label ON moments (label)",
    "a table": "CREATE TABLE other (x)",
    "another column": "ALTER TABLE candidates ADD COLUMN note",
    "a trigger under a name of SQLite's own": hidden_trigger(
        "moments", "UPDATE moments SET label = 'another' WHERE id = new.id;"
    ),
}


@pytest.mark.parametrize("statement", FOREIGN.values(), ids=FOREIGN)
@pytest.mark.parametrize("read_only", [False, True])
def test_a_project_with_an_object_of_another_making_is_not_opened_but_can_be_saved(
    desk: Desk, tmp_path: Path, statement: str, read_only: bool
) -> None:
    path = tmp_path / "a.dpdesk"
    desk.write(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(statement)
    before = path.read_bytes()
    with pytest.raises(StorageError, match="such a change can alter what is saved") as caught:
        desk.open(path, read_only=read_only)
    assert caught.value.code == "project.damaged"
    assert caught.value.details["moments"] == 7
    assert path.read_bytes() == before


def test_a_second_entry_under_a_name_does_not_hide_behind_the_first(tmp_path: Path) -> None:
    path = tmp_path / "a.dpdesk"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        store.build(connection)
        assert store.changed(connection) is None
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(
            "INSERT INTO sqlite_master SELECT type, name, tbl_name, rootpage + 1, sql "
            "FROM sqlite_master WHERE name = 'sqlite_autoindex_meta_1'"
        )
    with closing(sqlite3.connect(path)) as connection:
        found = store.changed(connection)
    assert found is not None
    assert (found.kind, found.name) == ("index", "sqlite_autoindex_meta_1")


def test_statistics_of_the_database_are_no_change_of_a_project(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "a.dpdesk"
    desk.write(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("ANALYZE")
    assert desk.open(path).read_only is None


@pytest.mark.parametrize("locked", [False, True])
def test_a_journal_of_a_foreign_project_deletes_no_file(
    desk: Desk, tmp_path: Path, locked: bool
) -> None:
    path, victim = desk.write(tmp_path / "a.dpdesk"), tmp_path / "thesis.odt"
    for database in (path, shutil.copy(path, tmp_path / "plain.sqlite")):
        victim.write_text("years of work")
        write_hostile_journal(Path(database), victim)
    with closing(sqlite3.connect(tmp_path / "plain.sqlite")) as connection:
        connection.execute("SELECT * FROM meta").fetchall()
    assert not victim.exists()  # what SQLite does by itself
    victim.write_text("years of work")
    if locked:
        lock_path(path).write_text("{}")
    with pytest.raises(StorageError) as error:
        desk.open(path)
    assert error.value.code == "project.damaged"
    assert victim.read_text() == "years of work"


@pytest.mark.parametrize("planted", ["link", "hard link", "link to nothing", "pipe", "folder"])
def test_what_lies_in_the_place_of_a_lock_is_neither_emptied_nor_waited_for(
    desk: Desk, tmp_path: Path, planted: str
) -> None:
    path, victim = desk.write(tmp_path / "shared/a.dpdesk"), tmp_path / "thesis.odt"
    victim.write_text("years of work")
    lock, gone = lock_path(path), tmp_path / "made.txt"
    lock.unlink(missing_ok=True)
    if planted == "link":
        lock.symlink_to(victim)
    elif planted == "link to nothing":
        lock.symlink_to(gone)
    elif planted == "hard link":
        lock.hardlink_to(victim)
    elif planted == "pipe":
        os.mkfifo(lock)
    else:
        lock.mkdir()
    found = desk.open(path)
    assert found.read_only is not None
    assert "lock" in found.read_only.sentence
    assert victim.read_text() == "years of work"
    assert not gone.exists()


@pytest.mark.parametrize("beside", ["-journal", "-wal", "-shm"])
def test_a_link_beside_a_project_is_not_written_through(
    desk: Desk, tmp_path: Path, beside: str
) -> None:
    path, victim = desk.write(tmp_path / "shared/a.dpdesk"), tmp_path / "thesis.odt"
    victim.write_text("years of work")
    path.with_name(path.name + beside).symlink_to(victim)
    with suppress(StorageError):
        found = desk.open(path)
        if found.read_only is None:
            save(found, history(4))
    assert victim.read_text() == "years of work"


@pytest.mark.parametrize("beside", ["-journal", "-wal", "-shm"])
def test_a_pipe_beside_a_project_is_not_waited_for(desk: Desk, tmp_path: Path, beside: str) -> None:
    path = desk.write(tmp_path / "a.dpdesk")
    if beside != "-journal":
        with path.open("r+b") as stream:  # written by somebody who asks for a log of writes
            stream.seek(18)
            stream.write(b"\x02\x02")
    os.mkfifo(path.with_name(path.name + beside))
    with pytest.raises(StorageError) as error:
        desk.open(path)
    assert error.value.code == "project.damaged"


def test_a_pipe_is_no_project(desk: Desk, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.dpdesk")
    with pytest.raises(InputError, match="a device"):
        desk.open(tmp_path / "a.dpdesk")
