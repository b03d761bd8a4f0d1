"""The private folder: closed to others, emptied at the end, swept after a kill."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dpdesk.core.errors import Cancelled, StorageError
from dpdesk.io.workspace import Workspace

RAW = "raw-value-of-a-person"
CHILD = """
import sys, time
from pathlib import Path
from dpdesk.io.workspace import Workspace
w = Workspace.open(Path(sys.argv[1]))
(w.folder / "spill.txt").write_text(sys.argv[3])
(w.partial_beside(Path(sys.argv[2])) / "half.csv").write_text(sys.argv[3])
print("ready", flush=True)
sys.stdin.read()
"""


def files_with(text: str, *folders: Path) -> list[Path]:
    return [
        path
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file() and text in path.read_text(errors="replace")
    ]


def test_the_folder_is_closed_to_other_users_and_goes_on_close(tmp_path: Path) -> None:
    workspace = Workspace.open(tmp_path / "home")
    assert workspace.folder.stat().st_mode & 0o777 == 0o700
    partial = workspace.partial_beside(tmp_path / "release")
    assert partial.stat().st_mode & 0o777 == 0o700
    workspace.close()
    assert not workspace.folder.exists()
    assert not partial.exists()


def test_a_forgotten_partial_survives_the_close(tmp_path: Path) -> None:
    workspace = Workspace.open(tmp_path / "home")
    partial = workspace.partial_beside(tmp_path / "release")
    workspace.forget_partial(partial)
    workspace.close()
    assert partial.exists()


def test_two_living_workspaces_leave_each_other_alone(tmp_path: Path) -> None:
    first = Workspace.open(tmp_path)
    second = Workspace.open(tmp_path)
    assert first.folder.exists()
    first.close()
    second.close()


def test_what_a_killed_process_left_is_removed_at_the_next_start(tmp_path: Path) -> None:
    home, out = tmp_path / "home", tmp_path / "out"
    out.mkdir()
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(home), str(out / "release"), RAW],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    assert child.stdout.readline() == b"ready\n"
    while_alive = Workspace.open(home)
    assert len(files_with(RAW, home, out)) == 2
    while_alive.close()
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    child.stdin.close()
    child.stdout.close()
    assert len(files_with(RAW, home, out)) == 2
    Workspace.open(home).close()
    assert files_with(RAW, home, out) == []
    assert list(out.iterdir()) == []


def test_a_plan_that_a_killed_process_was_writing_goes_at_the_next_start(tmp_path: Path) -> None:
    home, out = tmp_path / "home", tmp_path / "out"
    out.mkdir()
    (out / "plan.toml").write_text("old")
    script = """
import os, signal, sys
from pathlib import Path
from dpdesk.io import safewrite
from dpdesk.io.safewrite import write_text
from dpdesk.io.workspace import Workspace
safewrite.sync_file = lambda path: os.kill(os.getpid(), signal.SIGKILL)
write_text(Path(sys.argv[2]), "new", "plan", Workspace.open(Path(sys.argv[1])))
"""
    command = [sys.executable, "-c", script, str(home), str(out / "plan.toml")]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert len(list(out.iterdir())) == 2
    Workspace.open(home).close()
    assert [path.name for path in out.iterdir()] == ["plan.toml"]
    assert (out / "plan.toml").read_text() == "old"


def test_small_files_of_the_home_that_nobody_finished_go_when_they_are_old(tmp_path: Path) -> None:
    for name in (".settings.json.12.new", ".settings.json.34.new", "settings.json"):
        (tmp_path / name).write_text("{}")
    below = [tmp_path / "keys/.a.json.12.new", tmp_path / "receipts/plans/.a.json.12.new"]
    for path in below:
        path.parent.mkdir(parents=True)
        path.write_text("{}")
    for path in (*below, tmp_path / ".settings.json.12.new", tmp_path / "settings.json"):
        os.utime(path, (0, 0))
    Workspace.open(tmp_path).close()
    assert not any(path.exists() for path in below)
    for path in below:
        path.parent.rmdir()
    (tmp_path / "receipts").rmdir()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        ".settings.json.34.new",
        "settings.json",
        "work",
    ]


def test_folders_made_above_a_target_go_with_the_partial_unless_something_is_in_them(
    tmp_path: Path,
) -> None:
    workspace = Workspace.open(tmp_path / "home")
    for used in (False, True):
        partial = workspace.partial_beside(tmp_path / "a" / "b" / "release")
        assert partial.parent == tmp_path / "a" / "b"
        if used:
            partial.rename(tmp_path / "a" / "b" / "release")
        else:
            partial.rmdir()
        workspace.forget_partial(partial)
        assert (tmp_path / "a").exists() == used
    workspace.close()
    assert (tmp_path / "a" / "b" / "release").exists()


def test_folders_that_a_killed_process_made_go_at_the_next_start(tmp_path: Path) -> None:
    home, out = tmp_path / "home", tmp_path / "a" / "b" / "release"
    script = """
import os, signal, sys
from pathlib import Path
from dpdesk.io.workspace import Workspace
(Workspace.open(Path(sys.argv[1])).partial_beside(Path(sys.argv[2])) / "half").touch()
os.kill(os.getpid(), signal.SIGKILL)
"""
    command = [sys.executable, "-c", script, str(home), str(out)]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert out.parent.exists()
    Workspace.open(home).close()
    assert [path.name for path in tmp_path.iterdir()] == ["home"]


def test_what_is_abandoned_is_gone_and_nothing_finished_takes_its_place_afterwards(
    tmp_path: Path,
) -> None:
    workspace, target = Workspace.open(tmp_path / "home"), tmp_path / "a" / "release"
    partial = workspace.partial_beside(target)
    with (partial / "half").open("w") as still_written:
        assert workspace.abandon()
        still_written.write("more")
    with pytest.raises(Cancelled), workspace.placing(target):
        target.mkdir()
    with pytest.raises(Cancelled):
        workspace.partial_beside(target)
    assert not workspace.folder.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["home"]


def test_what_is_in_its_place_is_not_abandoned(tmp_path: Path) -> None:
    workspace, target = Workspace.open(tmp_path / "home"), tmp_path / "release"
    partial = workspace.partial_beside(target)
    with workspace.placing(partial / "inner"):  # of no interest: it goes with the partial
        pass
    with workspace.placing(target):
        partial.rename(target)
    assert not workspace.abandon()
    assert target.exists()
    assert workspace.folder.exists()
    workspace.close()


def test_a_full_home_is_named_with_the_way_out_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    home, out = tmp_path / "home", tmp_path / "out"
    workspace = Workspace.open(home)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(StorageError, match="the disk is full") as caught:
            workspace.partial_beside(out)
    assert str(home) in caught.value.sentence
    assert "DPDESK_HOME" in caught.value.hint
    assert [path.name for path in tmp_path.iterdir()] == ["home"]
    workspace.close()


def test_a_full_home_does_not_undo_what_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = Workspace.open(tmp_path / "home")
    with monkeypatch.context() as patch:
        partial = workspace.partial_beside(tmp_path / "out")
        patch.setattr(os, "fsync", lambda handle: (_ for _ in ()).throw(OSError(errno.ENOSPC, "")))
        workspace.forget_partial(partial)
    workspace.close()
    assert partial.exists()


def test_a_home_that_cannot_be_made_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError):
        Workspace.open(tmp_path / "file" / "home")


@pytest.mark.parametrize("made", ["pipe", "link"])
def test_what_is_no_file_in_the_place_of_a_lock_is_not_waited_for_or_followed(
    tmp_path: Path, made: str
) -> None:
    work, other = tmp_path / "work", tmp_path / "other.txt"
    work.mkdir(mode=0o700)
    if made == "pipe":
        os.mkfifo(work / ".sweep")
    else:
        (work / ".sweep").symlink_to(other)
    with pytest.raises(StorageError) as error:
        Workspace.open(tmp_path)
    assert error.value.code == "storage.kind"
    assert not other.exists()


@pytest.mark.parametrize("name", ["lock", "partial.jsonl"])
def test_a_pipe_in_a_folder_that_was_left_behind_does_not_stop_the_start(
    tmp_path: Path, name: str
) -> None:
    left = tmp_path / "work" / "1-abc"
    left.mkdir(parents=True, mode=0o700)
    (left / "lock").touch()
    (left / name).unlink(missing_ok=True)
    os.mkfifo(left / name)
    Workspace.open(tmp_path).close()
    assert not left.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_home_whose_name_is_no_text_is_refused_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(StorageError) as error:
        Workspace.open(tmp_path / os.fsdecode(b"h\xff"))
    assert error.value.code == "storage.name"
    assert "DPDESK_HOME" in error.value.hint


def test_one_run_at_a_time_writes_to_a_place_and_a_killed_one_lets_it_go(tmp_path: Path) -> None:
    home, out = tmp_path / "home", tmp_path / "release"
    first, second = Workspace.open(home), Workspace.open(home)
    (tmp_path / "link").symlink_to(tmp_path)
    with first.claiming(out):
        for same in (out, tmp_path / "link" / "release"):
            with pytest.raises(StorageError) as refused, second.claiming(same):
                pass
            assert refused.value.code == "out.busy"
        with second.claiming(tmp_path / "other"):
            Workspace.open(home).close()  # a start in between removes no claim that is held
            with pytest.raises(StorageError), Workspace.open(home).claiming(out):
                pass
    with second.claiming(out):
        second.abandon()
    script = """
import os, signal, sys
from pathlib import Path
from dpdesk.io.workspace import Workspace
with Workspace.open(Path(sys.argv[1])).claiming(Path(sys.argv[2])):
    os.kill(os.getpid(), signal.SIGKILL)
"""
    command = [sys.executable, "-c", script, str(home), str(out)]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    third = Workspace.open(home)
    assert not list((home / "work").glob(".claim-*"))
    with third.claiming(out):
        pass
    assert not list((home / "work").glob(".claim-*"))
