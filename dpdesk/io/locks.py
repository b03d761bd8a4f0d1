"""Locks on open files, the one place that knows how each system does it.

A lock belongs to the open file: it ends when the file is closed or its process dies. It keeps out
whoever else opened the file, in this process or in another one.
"""

from __future__ import annotations

import errno
import importlib
import os
from typing import Any

_BUSY = (errno.EACCES, errno.EAGAIN, errno.EDEADLK, 36)  # 36: Windows waited ten seconds in vain


def hold(handle: int) -> None:
    """Lock an open file; waits as long as somebody else holds it. Raises OSError."""
    system = _system()
    if hasattr(system, "flock"):
        system.flock(handle, system.LOCK_EX)
        return
    while not _lock_byte(system, handle, system.LK_LOCK):
        pass  # the system has waited ten seconds itself


def try_hold(handle: int) -> bool:
    """Lock an open file unless somebody else holds it; whether it is ours now. Raises OSError."""
    system = _system()
    if not hasattr(system, "flock"):
        return _lock_byte(system, handle, system.LK_NBLCK)
    try:
        system.flock(handle, system.LOCK_EX | system.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _system() -> Any:
    """The module of the standard library: ``fcntl``, or ``msvcrt`` on Windows."""
    try:
        return importlib.import_module("fcntl")
    except ImportError:
        return importlib.import_module("msvcrt")


def _lock_byte(system: Any, handle: int, mode: int) -> bool:
    """Lock the first byte, which need not exist; Windows has no lock for a whole file."""
    os.lseek(handle, 0, os.SEEK_SET)
    try:
        system.locking(handle, mode, 1)
    except OSError as problem:
        if problem.errno in _BUSY:
            return False
        raise
    return True
