"""Writing a whole project file: a new one, a copy, what could be saved of a damaged one."""

from __future__ import annotations

import os
import shutil
import sqlite3
import uuid
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

from dpdesk import __version__
from dpdesk.core.errors import StorageError
from dpdesk.core.messages import msg
from dpdesk.io.safewrite import PartialKeeper, replacing
from dpdesk.project.audit import AuditLog, AuditNote
from dpdesk.project.candidates import ShelfSnapshot
from dpdesk.project.file.loading import Loaded, Lost, salvage
from dpdesk.project.file.locking import LockHolder, WriterLock, take_lock
from dpdesk.project.file.opening import JOURNAL, SUFFIX, OpeningHelpers, damaged, private_copy
from dpdesk.project.file.places import network_share
from dpdesk.project.file.records import ProjectContents
from dpdesk.project.file.store import ProjectStore
from dpdesk.project.history import HistorySnapshot
from dpdesk.project.sql import connect, reading, storage_problem


def new_contents(history: HistorySnapshot, shelf: ShelfSnapshot) -> ProjectContents:
    """The contents of a project that begins with this work."""
    return ProjectContents(uuid.uuid4().hex, __version__, history, shelf)


def write_project(
    path: Path,
    contents: ProjectContents,
    notes: tuple[AuditNote, ...],
    keeper: PartialKeeper,
    private: Callable[[str], Path],
    share: Callable[[Path], str] = network_share,
) -> Path:
    """Write a project file, whole or not at all, in the place of what is there; its real path.

    The notes are entered in its audit log after the entries that ``contents`` brings.
    Raises StorageError ``project.locked`` when somebody has the file open for writing,
    ``project.disk-full`` and the like; InputError ``out.folder``.
    """
    path = Path(os.path.realpath(path))
    lock = _locked(path)
    try:
        with replacing(path, keeper) as fresh:
            if share(path):
                _build_elsewhere(fresh, contents, notes, path.parent, private(SUFFIX))
            else:
                _build(fresh, contents, notes, path.parent)
            # Left by another program's crash, it would be taken for a journal of the new file.
            path.with_name(path.name + JOURNAL).unlink(missing_ok=True)
    except sqlite3.Error as error:
        raise storage_problem(error, path, "project") from error
    finally:
        if lock is not None:
            lock.release()
    return path


def _locked(path: Path) -> WriterLock | None:
    """The lock of the file that is replaced; None where no folder is yet."""
    if not path.parent.is_dir():
        return None
    try:
        lock = take_lock(path)
    except OSError as error:
        raise storage_problem(error, path, "project") from error
    if isinstance(lock, LockHolder):
        raise StorageError(
            "project.locked",
            msg("{path}: {holder} is working in this project.", path=path, holder=lock.sentence),
            hint="Choose another name.",
        )
    return lock


def _build(
    fresh: Path, contents: ProjectContents, notes: tuple[AuditNote, ...], folder: Path
) -> None:
    fresh.touch(mode=0o666)
    ProjectStore.build(fresh, contents, folder)
    if notes:
        with closing(connect(fresh)) as connection:
            log = AuditLog(connection, fresh)
            for note in notes:
                log.append(note.action, note.subject, note.details)


def _build_elsewhere(
    fresh: Path,
    contents: ProjectContents,
    notes: tuple[AuditNote, ...],
    folder: Path,
    private: Path,
) -> None:
    """A network share gets the finished file only."""
    try:
        _build(private, contents, notes, folder)
        shutil.copyfile(private, fresh)
    finally:
        private.unlink(missing_ok=True)


def rescue(path: Path, way: OpeningHelpers) -> tuple[ProjectContents, Lost]:
    """What can still be read of a damaged project; the file itself is not touched.

    The audit log of a damaged file is not taken over: its chain may be broken.
    Raises StorageError ``project.damaged`` when nothing can be read.
    """
    path = Path(os.path.realpath(path))
    copy = private_copy(path, way)
    found: Loaded | None = None
    lost: Lost | None = None
    try:
        with suppress(sqlite3.Error), closing(connect(copy)) as connection, reading(connection):
            found, lost = salvage(connection)
    finally:
        for name in (copy, copy.with_name(copy.name + JOURNAL)):
            name.unlink(missing_ok=True)
    if found is None or lost is None:
        raise damaged(path, lost)
    return replace(found.contents, identity=uuid.uuid4().hex, audit=()), lost
