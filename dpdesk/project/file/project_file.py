"""The project file as the rest of the program sees it: changes go in, nobody waits for the disk.

::

    project = ProjectFile.open(path, way)          # in the background: it reads the whole file
    project.listen(self._on_state)                 # called from the saving thread
    project.save(ProjectUpdate(history=history.snapshot()))    # returns at once
    project.flush()                                # in the background: all of it is on the disk
    project.close()                                # likewise

One thread of its own holds the connection. What is handed over while it writes is joined, so that a
dragged slider costs few commits. A change counts as saved only when its transaction is on the disk;
what could not be saved is kept and tried again with the next change.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from dpdesk import __version__
from dpdesk.core.errors import DpdeskError, StorageError
from dpdesk.core.messages import msg
from dpdesk.core.systems import network_share
from dpdesk.io.safewrite import PartialKeeper, replacing
from dpdesk.project.audit import AuditCheck, AuditEntry, AuditLog, AuditNote
from dpdesk.project.candidates import ShelfSnapshot
from dpdesk.project.file.locking import LockHolder, WriterLock, take_lock
from dpdesk.project.file.opening import (
    JOURNAL,
    SUFFIX,
    Opened,
    OpeningHelpers,
    damaged,
    open_file,
    private_copy,
)
from dpdesk.project.file.parts import ProjectContents, ProjectUpdate, ReadOnly, SaveState
from dpdesk.project.file.sources import FoundSource, Loaded, Lost, salvage
from dpdesk.project.file.store import ProjectStore
from dpdesk.project.history import HistorySnapshot
from dpdesk.project.sql import connect, reading, storage_problem

# Writing a whole project file: a new one, a copy, what could be saved of a damaged one.


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


Listener = Callable[[SaveState], None]


class ProjectFile:
    """An open project; safe to use from any thread. Use :meth:`open`."""

    def __init__(self, opened: Opened, lane: ThreadPoolExecutor) -> None:
        self._opened = opened
        self._lane = lane
        self._guard = threading.Lock()
        self._contents = opened.contents
        self._pending: ProjectUpdate | None = None
        self._scheduled = False
        self._state = SaveState()
        self._listener: Listener | None = None
        self._closed = False

    @classmethod
    def open(cls, path: Path, way: OpeningHelpers) -> ProjectFile:
        """Open a project; it is open for reading only where :attr:`read_only` says why.

        Raises what :func:`~dpdesk.project.file.opening.open_file` raises.
        """
        lane = ThreadPoolExecutor(1, thread_name_prefix="dpdesk-autosave")
        try:
            opened = lane.submit(open_file, path, way).result()
        except BaseException:
            lane.shutdown()
            raise
        if opened.store is None:
            lane.shutdown()
        return cls(opened, lane)

    @property
    def path(self) -> Path:
        """The real path of the file."""
        return self._opened.path

    @property
    def read_only(self) -> ReadOnly | None:
        """Why nothing can be saved in it; None when it is open for writing."""
        return self._opened.read_only

    @property
    def found(self) -> tuple[FoundSource, ...]:
        """What had become of the files that the project reads, when it was opened."""
        return self._opened.found

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences worth showing when it has just been opened."""
        return self._opened.notes

    @property
    def contents(self) -> ProjectContents:
        """What the project holds, with everything that was handed over; see :meth:`audit`."""
        with self._guard:
            return self._contents

    @property
    def state(self) -> SaveState:
        """How far saving has come."""
        with self._guard:
            return self._state

    def listen(self, listener: Listener | None) -> None:
        """Call ``listener`` with each new :attr:`state`, from the thread that made it."""
        with self._guard:
            self._listener = listener

    def save(self, update: ProjectUpdate) -> None:
        """Hand a change over; it is saved in the background.

        Raises StorageError ``project.read-only``, ``project.closed``.
        """
        self._demand_store()
        with self._guard:
            self._contents = self._contents.after(update)
            self._pending = update if self._pending is None else self._pending.then(update)
            begin, self._scheduled = not self._scheduled, True
            state = self._set_state(waiting=True)
        self._tell(state)
        if begin:
            self._lane.submit(self._drain)

    def flush(self, timeout: float | None = None) -> None:
        """Wait until everything that was handed over is on the disk; tries again what failed.

        Raises the StorageError for which the last attempt failed, TimeoutError after ``timeout``
        seconds.
        """
        if self._opened.store is None or self._closed:
            return
        self._lane.submit(self._drain).result(timeout)
        problem = self.state.problem
        if problem is not None:
            raise problem

    def audit(self) -> tuple[AuditEntry, ...]:
        """The entries of the project's own audit log, as the file has them. Waits for the disk."""
        store = self._opened.store
        if store is None or self._closed:
            return self._opened.contents.audit
        return self._lane.submit(store.audit).result()

    def check_audit(self) -> AuditCheck | None:
        """Check the project's own audit log; None when the file is not open for writing."""
        store = self._opened.store
        if store is None or self._closed:
            return None
        return self._lane.submit(store.check_audit).result()

    def close(self, *, discard: bool = False) -> None:
        """Save what is left, then let the file go. With ``discard``, also when that fails.

        Raises the StorageError for which saving failed; then the project stays open.
        """
        if self._closed:
            return
        try:
            self.flush()
        except DpdeskError:
            if not discard:
                raise
        self._closed = True
        store, lock = self._opened.store, self._opened.lock
        if store is not None:
            self._lane.submit(store.close).result()
            self._lane.shutdown()
        if lock is not None:
            lock.release()

    def _demand_store(self) -> ProjectStore:
        store, reason = self._opened.store, self._opened.read_only
        if self._closed:
            raise StorageError(
                "project.closed", msg("{path}: the project was closed.", path=self.path)
            )
        if store is None:
            sentence = "" if reason is None else reason.sentence
            raise StorageError(
                "project.read-only",
                msg(
                    "{path}: nothing can be saved in this project: {sentence}",
                    path=self.path,
                    sentence=sentence,
                ),
                hint="Work on a copy.",
            )
        return store

    def _drain(self) -> None:
        """In the saving thread: write what is pending."""
        with self._guard:
            update, self._pending, self._scheduled = self._pending, None, False
        if update is None:
            return
        problem, left = self._write(self._demand_store(), update)
        if problem is not None:  # it is kept: what it was raised from must not be
            problem.with_traceback(None)
            problem.__cause__ = problem.__context__ = None
        with self._guard:
            if left is not None:
                self._pending = left if self._pending is None else left.then(self._pending)
            saved = self._state.saved if problem is not None else datetime.now(UTC)
            waiting = self._pending is not None
            state = self._state = SaveState(waiting, problem, saved)
        self._tell(state)

    def _write(
        self, store: ProjectStore, update: ProjectUpdate
    ) -> tuple[DpdeskError | None, ProjectUpdate | None]:
        """Why it failed, and what is to be tried again; both None when all is saved."""
        try:
            store.write(update)
        except DpdeskError as error:
            return error, update
        except Exception:  # noqa: BLE001 - one value that cannot be stored must not stop the rest
            return self._write_pieces(store, update)
        return None, None

    def _write_pieces(
        self, store: ProjectStore, update: ProjectUpdate
    ) -> tuple[DpdeskError | None, ProjectUpdate | None]:
        problem: DpdeskError | None = None
        left: ProjectUpdate | None = None
        for piece in update.pieces():
            try:
                store.write(piece)
            except DpdeskError as error:
                problem = error
                left = piece if left is None else left.then(piece)
            except Exception as error:  # noqa: BLE001 - a fault of the program: it is said
                problem = problem or _fault(self.path, error)
        return problem, left

    def _set_state(self, *, waiting: bool) -> SaveState:
        self._state = replace(self._state, waiting=waiting)
        return self._state

    def _tell(self, state: SaveState) -> None:
        listener = self._listener
        if listener is not None:
            listener(state)


def _fault(path: Path, error: Exception) -> StorageError:
    return StorageError(
        "project.fault",
        msg(
            "{path}: a part of the work could not be saved because of a fault in DPDesk ({name}).",
            path=path,
            name=type(error).__name__,
        ),
        hint="Save the plan as a file of its own, and report this.",
    )
