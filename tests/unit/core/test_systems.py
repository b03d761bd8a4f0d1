"""What differs between systems: locks, folders, shares, names, lengths, streams."""

from __future__ import annotations

import errno
import io
import ntpath
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest

from dpdesk.core import systems
from dpdesk.io.workspace import Workspace

fcntl = pytest.importorskip("fcntl")


class Windows:
    """``msvcrt`` over the locks of this system: one byte, at the place where the handle stands."""

    LK_LOCK, LK_NBLCK = 1, 2

    def __init__(self) -> None:
        self.waits = 0
        self.on_wait: Callable[[], None] = lambda: None

    def locking(self, handle: int, mode: int, count: int) -> None:
        assert count == 1
        assert os.lseek(handle, 0, os.SEEK_CUR) == 0
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if mode == self.LK_NBLCK:
                raise PermissionError(errno.EACCES, "Permission denied") from None
            self.waits += 1
            self.on_wait()
            raise OSError(36, "Resource deadlock avoided") from None


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> Windows:
    system = Windows()
    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", system)
    return system


def held_once(path: Path) -> None:
    with path.open("ab") as first, path.open("rb") as second:
        assert systems.try_hold(first.fileno())
        assert not systems.try_hold(second.fileno())
    with path.open("rb") as third:
        assert systems.try_hold(third.fileno())


def test_a_lock_keeps_others_out_until_it_is_closed(tmp_path: Path) -> None:
    held_once(tmp_path / "lock")


def test_windows_locks_do_the_same(tmp_path: Path, windows: Windows) -> None:
    (tmp_path / "lock").write_bytes(b"text, so that an appending handle stands behind it")
    held_once(tmp_path / "lock")


def test_windows_is_asked_again_as_long_as_somebody_holds_the_lock(
    tmp_path: Path, windows: Windows
) -> None:
    with (tmp_path / "lock").open("ab") as first, (tmp_path / "lock").open("ab") as second:
        windows.on_wait = lambda: first.close() if windows.waits == 2 else None
        systems.hold(first.fileno())
        systems.hold(second.fileno())
    assert windows.waits == 2


def test_an_error_that_is_no_lock_is_told(tmp_path: Path, windows: Windows) -> None:
    with pytest.raises(OSError, match="descriptor"):
        systems.try_hold(-1)


def test_a_workspace_lives_and_is_swept_with_the_locks_of_windows(
    tmp_path: Path, windows: Windows
) -> None:
    first = Workspace.open(tmp_path)
    (first.folder / "spill").write_text("raw")
    second = Workspace.open(tmp_path)
    assert (first.folder / "spill").exists()
    first._lock.close()  # as when its process dies
    Workspace.open(tmp_path).close()
    assert not first.folder.exists()
    assert second.folder.exists()
    second.close()
    first.close()


MOUNTS = r"""
/dev/sda1 / ext4 rw 0 0
server:/home /net nfs4 rw 0 0
/dev/sdb1 /net/local ext4 rw 0 0
//server/share /mnt/Our\040Files cifs rw 0 0
ann@host:/ /ssh fuse.sshfs rw 0 0
host /host 9p rw 0 0
drive /cloud fuse.rclone rw 0 0
vault /vault fuse.gocryptfs rw 0 0
tmpfs /over tmpfs rw 0 0
server:/over /over nfs rw 0 0
broken line
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/data/a.dpdesk", ""),
        ("/net/ann/a.dpdesk", "NFS"),
        ("/net", "NFS"),
        ("/network/a.dpdesk", ""),
        ("/net/local/a.dpdesk", ""),
        ("/mnt/Our Files/x/a.dpdesk", "Windows share"),
        ("/ssh/a.dpdesk", "sshfs"),
        ("/host/a.dpdesk", "9P"),
        ("/cloud/a.dpdesk", "rclone"),
        ("/vault/a.dpdesk", ""),
        ("/over/a.dpdesk", "NFS"),
    ],
)
def test_network_shares_are_told_by_their_mounts(path: str, kind: str) -> None:
    assert systems.network_share(Path(path), MOUNTS) == kind


def test_a_link_counts_as_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/net/ann")
    assert systems.network_share(tmp_path / "link" / "a.dpdesk", MOUNTS) == "NFS"


def test_the_own_table_of_mounts_is_read(tmp_path: Path) -> None:
    assert isinstance(systems.network_share(tmp_path), str)


# What would be so on Windows, as far as it can be tried elsewhere.


@pytest.fixture
def on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(systems, "on_windows", lambda: True)


def test_nothing_but_this_module_asks_for_the_system() -> None:
    root = Path(systems.__file__).parents[1]
    asks = re.compile(
        r"\bos\.name\b|\bsys\.platform\b|\bplatform\.system\(\)\s*==|\b(msvcrt|fcntl|winreg)\b"
        r"|\bO_(BINARY|NOFOLLOW|NONBLOCK)\b|\bos\.killpg\b"
    )
    found = {
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        if asks.search(path.read_text("utf-8"))
    }
    assert found == {"core/systems.py"}


@pytest.mark.parametrize("name", ["con", "CON.csv", "nul.tar.gz", "Com1.csv", "LPT\u00b9.txt"])
def test_names_of_devices_are_known(name: str) -> None:
    assert systems.is_device_name(name)


@pytest.mark.parametrize("name", ["icon.csv", "con-1.csv", "console", "com.csv", "com10.csv", ""])
def test_other_names_are_no_devices(name: str) -> None:
    assert not systems.is_device_name(name)


def test_only_long_paths_of_windows_are_extended(
    monkeypatch: pytest.MonkeyPatch, on_windows: None
) -> None:
    monkeypatch.setattr(os.path, "abspath", ntpath.normpath)
    deep = "\\".join(["folder"] * 40)
    short, long = PureWindowsPath("C:\\a\\b.csv"), PureWindowsPath(f"C:\\{deep}\\b.csv")
    share = PureWindowsPath(f"\\\\server\\files\\{deep}")
    assert systems.reachable(short) == str(short)
    assert systems.reachable(long) == f"\\\\?\\C:\\{deep}\\b.csv"
    assert systems.reachable(share) == f"\\\\?\\UNC\\server\\files\\{deep}"
    once = systems.reachable(long)
    assert systems.reachable(PureWindowsPath(once)) == once


def test_elsewhere_paths_stay_as_they_are() -> None:
    long = PurePosixPath("/" + "/".join(["folder"] * 60))
    assert systems.reachable(long) == str(long)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("\\\\server\\files\\a.dpdesk", "Windows share"),
        ("\\\\?\\UNC\\server\\files\\a.dpdesk", "Windows share"),
        ("\\\\?\\C:\\Users\\a.dpdesk", ""),
        ("C:\\Users\\a.dpdesk", ""),
    ],
)
def test_shares_of_windows_are_known_by_their_names(
    monkeypatch: pytest.MonkeyPatch, on_windows: None, path: str, kind: str
) -> None:
    monkeypatch.setattr(os.path, "abspath", str)
    assert systems.network_share(PurePosixPath(path)) == kind  # type: ignore[arg-type]


def test_a_finished_folder_takes_the_place_of_an_empty_one(
    tmp_path: Path, on_windows: None
) -> None:
    made, target = tmp_path / "made", tmp_path / "target"
    made.mkdir()
    (made / "file").touch()
    target.mkdir()
    systems.put_in_place(made, target)
    assert (target / "file").exists()
    (tmp_path / "next").mkdir()
    with pytest.raises(OSError, match="not empty"):
        systems.put_in_place(tmp_path / "next", target)
    assert (target / "file").exists()


def test_a_lock_file_of_windows_is_emptied_and_stays(tmp_path: Path, on_windows: None) -> None:
    path = tmp_path / "lock"
    path.write_bytes(b" holder")
    with path.open("r+b") as file:
        systems.remove_held(path, file)
    assert path.read_bytes() == b""


def test_streams_of_windows_that_are_no_console_are_utf_8(on_windows: None) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="cp1252")
    systems.prepare_streams(stream, None)
    stream.write("\u03b5")
    stream.flush()
    assert raw.getvalue() == "\u03b5".encode()


def test_a_character_that_a_terminal_lacks_is_written_as_its_number() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    systems.prepare_streams(stream)
    stream.write("\u03b5")
    stream.flush()
    assert raw.getvalue() == b"\\u03b5"


def test_modes_say_who_else_may_read_but_not_on_windows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "key"
    path.touch(0o600)
    path.chmod(0o600)
    assert not systems.open_to_others(path)
    path.chmod(0o640)
    assert systems.open_to_others(path)
    assert not systems.open_to_others(tmp_path / "none")
    monkeypatch.setattr(systems, "on_windows", lambda: True)
    assert not systems.open_to_others(path)


def test_the_memory_is_that_of_the_computer_or_of_a_smaller_group(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(systems, "_GROUP_LIMIT", limit)
    whole = systems.memory()
    assert whole > 1 << 28
    for text, known in (("max\n", whole), ("1048576\n", 1 << 20), (f"{1 << 62}\n", whole)):
        limit.write_text(text)
        assert systems.memory() == known
    monkeypatch.setattr(systems.os, "sysconf", lambda name: -1)
    limit.unlink()
    assert systems.memory() in (0, 1)


def test_a_program_is_started_with_limits_where_there_are_some(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    command = [sys.executable, "-c", "import resource as r; print(r.getrlimit(r.RLIMIT_FSIZE)[0])"]
    said = subprocess.run(
        systems.limited(command, 8 << 30, 1 << 20), capture_output=True, text=True
    )
    assert said.stdout.strip() == str(1 << 20)
    monkeypatch.setattr(systems, "on_windows", lambda: True)
    assert systems.limited(command, 1, 1) == command
