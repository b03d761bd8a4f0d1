"""Locks keep others out until the file is closed, by the means of either system."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dpdesk.io import workspace
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
        assert workspace.try_hold(first.fileno())
        assert not workspace.try_hold(second.fileno())
    with path.open("rb") as third:
        assert workspace.try_hold(third.fileno())


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
        workspace.hold(first.fileno())
        workspace.hold(second.fileno())
    assert windows.waits == 2


def test_an_error_that_is_no_lock_is_told(tmp_path: Path, windows: Windows) -> None:
    with pytest.raises(OSError, match="descriptor"):
        workspace.try_hold(-1)


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
