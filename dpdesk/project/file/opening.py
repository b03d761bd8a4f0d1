"""Opening a project file: for writing where that is safe, for reading where it is not.

Whatever lies in the way (somebody else writes, a network share, a folder that must not be written,
a full disk) makes the project open read only, with the reason; what makes no sense at all (another
kind of file, a newer layout, damage) is refused in one sentence.
"""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from dpdesk import __version__
from dpdesk.core.errors import DpdeskError, InputError, StorageError
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.messages import msg
from dpdesk.core.systems import network_share
from dpdesk.io.safewrite import PartialKeeper, replacing
from dpdesk.project.file import store
from dpdesk.project.file.codec import CodecError
from dpdesk.project.file.locking import LockHolder, WriterLock, lock_path, take_lock
from dpdesk.project.file.migrations import MIGRATIONS, Migration
from dpdesk.project.file.parts import PartError, ProjectContents, ReadOnly
from dpdesk.project.file.sources import (
    FoundSource,
    Loaded,
    Lost,
    find_sources,
    load,
    relocated,
    salvage,
)
from dpdesk.project.file.store import ProjectStore
from dpdesk.project.sql import (
    HEADER,
    connect,
    kind_of,
    marks,
    opens_now,
    reading,
    storage_problem,
    writing,
)

SUFFIX = ".dpdesk"
JOURNAL = "-journal"
_TRIES = 5
_MOST_FAULTS = 20


@dataclass(frozen=True)
class Opened:
    """An open project: its contents, and the store and the lock when it is open for writing.

    ``notes`` are sentences worth showing (a file found elsewhere, a layout brought up to date).
    """

    path: Path
    contents: ProjectContents
    found: tuple[FoundSource, ...]
    read_only: ReadOnly | None
    store: ProjectStore | None = None
    lock: WriterLock | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class OpeningHelpers:
    """How to open: helpers of the caller, and what tests replace.

    ``keeper`` makes hidden folders that a later start removes after a crash; ``private`` gives a
    fresh path in a private folder; ``share`` tells the kind of network share.
    """

    keeper: PartialKeeper
    private: Callable[[str], Path]
    token: CancelToken
    report: Report
    read_only: bool = False
    share: Callable[[Path], str] = network_share
    migrations: Mapping[int, Migration] = field(default_factory=lambda: MIGRATIONS)


def open_file(path: Path, way: OpeningHelpers) -> Opened:
    """Open a project file; the store it returns is for the calling thread alone.

    Raises StorageError ``project.missing``, ``project.damaged``, ``project.unreadable``; InputError
    ``project.not-a-project``, ``project.newer``; Cancelled.
    """
    path = Path(os.path.realpath(path))
    _check_header(path)
    reason = _must_read(path, way)
    if reason is not None:
        return _open_reading(path, way, reason)
    try:
        lock = take_lock(path)
    except OSError as error:
        return _open_reading(path, way, _no_lock(path, error))
    if isinstance(lock, LockHolder):
        sentence = msg(
            "{name} is open read-only here: {holder} is working in it.",
            name=path.name,
            holder=lock.sentence,
        )
        return _open_reading(path, way, ReadOnly("locked", sentence, lock))
    try:
        return _open_writing(path, way, lock)
    except _CannotWrite as found:
        lock.release()
        return _open_reading(path, way, found.reason)
    except BaseException:
        lock.release()
        raise


class _CannotWrite(Exception):  # noqa: N818 - it is a turn of the way, not a fault
    def __init__(self, reason: ReadOnly) -> None:
        super().__init__(reason.sentence)
        self.reason = reason


def _must_read(path: Path, way: OpeningHelpers) -> ReadOnly | None:
    """Why a project is not even tried for writing; None when it may be."""
    if way.read_only:
        return ReadOnly("asked", msg("{name} was opened read-only.", name=path.name))
    share = way.share(path)
    if share:
        sentence = msg(
            "{name} is on a network share ({share}), where the file could be damaged while it is "
            "written.",
            name=path.name,
            share=share,
        )
        return ReadOnly("network", sentence)
    if not os.access(path, os.W_OK):
        return ReadOnly("file", msg("{name} is write-protected.", name=path.name))
    return None


def _no_lock(path: Path, error: OSError) -> ReadOnly:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return ReadOnly("disk-full", msg("The disk that holds {name} is full.", name=path.name))
    if error.errno == errno.ELOOP:
        sentence = msg(
            "The lock file of {name} is a link or something else that is not a regular file: "
            "{lock}.",
            name=path.name,
            lock=lock_path(path).name,
        )
        return ReadOnly("folder", sentence)
    return ReadOnly("folder", msg("The folder {parent} is write-protected.", parent=path.parent))


def _open_writing(path: Path, way: OpeningHelpers, lock: WriterLock) -> Opened:
    connection: sqlite3.Connection | None = None
    try:
        connection = connect(path)
        notes = _bring_up_to_date(connection, path, way)
        loaded = _read(connection, path)
        found, contents, notes = _placed(loaded, path, way, notes)
        store = ProjectStore(connection, path)
        rewrite = contents is not loaded.contents or loaded.folder != path.parent
        store.adopt(replace(loaded, contents=contents), rewrite=rewrite)
    except BaseException as error:
        if connection is not None:
            connection.close()
        if isinstance(error, sqlite3.Error | OSError):
            raise _refused(error, path) from error
        raise
    return Opened(path, contents, found, None, store, lock, notes)


def _placed(
    loaded: Loaded, path: Path, way: OpeningHelpers, notes: tuple[str, ...]
) -> tuple[tuple[FoundSource, ...], ProjectContents, tuple[str, ...]]:
    found = find_sources(loaded, path.parent, way.token, way.report)
    contents = relocated(loaded, path.parent, found)
    said = tuple(one.sentence for one in found if one.sentence)
    return found, contents, (*notes, *said)


def _refused(error: sqlite3.Error | OSError, path: Path) -> Exception:
    """A failure to open for writing: a reason to read only, or an error."""
    kind = kind_of(error) if isinstance(error, sqlite3.Error) else ""
    if kind == "full":
        return _CannotWrite(
            ReadOnly("disk-full", msg("The disk that holds {name} is full.", name=path.name))
        )
    again = isinstance(error, sqlite3.Error) and opens_now(error, path)
    if kind == "forbidden" and not again:
        sentence = msg(
            "The folder {parent} or the file {name} is write-protected.",
            parent=path.parent,
            name=path.name,
        )
        return _CannotWrite(ReadOnly("folder", sentence))
    if kind == "busy":
        return _CannotWrite(
            ReadOnly("locked", msg("Another program is using {name}.", name=path.name))
        )
    if kind in ("damaged", "nonsense"):
        return damaged(path, None)
    return storage_problem(error, path, "project")


def _open_reading(path: Path, way: OpeningHelpers, reason: ReadOnly) -> Opened:
    """Look at the file itself, or at a private copy where it cannot be looked at in place."""
    if reason.code != "network":
        with suppress(sqlite3.Error), closing(connect(path, read_only=True)) as connection:
            _check_marks(connection, path)
            if marks(connection)[1] == store.VERSION:
                return _looked(connection, path, way, reason)
    copy = private_copy(path, way)
    try:
        with closing(connect(copy)) as connection:
            _check_marks(connection, path)
            _check_schema(connection, path)
            _migrate(connection, path, way.migrations)
            return _looked(connection, path, way, reason)
    except sqlite3.Error as error:
        if kind_of(error) in ("damaged", "nonsense"):
            raise damaged(path, None) from error
        raise _unreadable(path, str(error)) from error
    finally:
        for name in (copy, copy.with_name(copy.name + JOURNAL)):
            name.unlink(missing_ok=True)


def _looked(
    connection: sqlite3.Connection, path: Path, way: OpeningHelpers, reason: ReadOnly
) -> Opened:
    loaded = _read(connection, path)
    found, contents, notes = _placed(loaded, path, way, ())
    return Opened(path, contents, found, reason, notes=notes)


def private_copy(path: Path, way: OpeningHelpers) -> Path:
    """A copy of the file and its journal; again when somebody wrote meanwhile."""
    copy = way.private(SUFFIX)
    journal = path.with_name(path.name + JOURNAL)
    try:
        for _ in range(_TRIES):
            before = _stamp(path), _stamp(journal)
            shutil.copyfile(path, copy)
            copied_journal = copy.with_name(copy.name + JOURNAL)
            copied_journal.unlink(missing_ok=True)
            if before[1] is not None:
                with suppress(FileNotFoundError):
                    shutil.copyfile(journal, copied_journal)
            if before == (_stamp(path), _stamp(journal)):
                return copy
    except OSError as error:
        raise _unreadable(path, error.strerror or type(error).__name__) from error
    raise _unreadable(path, "it is being written all the time")


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        facts = path.stat()
    except FileNotFoundError:
        return None
    return facts.st_size, facts.st_mtime_ns


def _check_header(path: Path) -> None:
    """Refuse at once what cannot be a project."""
    if path.is_dir():
        raise _not_a_project(path, "a folder")
    if path.exists() and not path.is_file():  # a pipe would be waited for
        raise _not_a_project(path, "a device")
    try:
        with path.open("rb") as stream:
            head = stream.read(len(HEADER))
    except FileNotFoundError as error:
        raise StorageError(
            "project.missing",
            msg("{path}: there is no such file, expected a project.", path=path),
            hint="Check the path; the project may have been moved.",
        ) from error
    except OSError as error:
        raise _unreadable(path, error.strerror or type(error).__name__) from error
    if not head:
        raise _not_a_project(path, "an empty file")
    if head != HEADER:
        raise _not_a_project(path, "a file of another kind, or one that is damaged from its start")


def _check_marks(connection: sqlite3.Connection, path: Path) -> None:
    application, version = marks(connection)
    if application != store.APPLICATION:
        raise _not_a_project(path, "a database of another program")
    if version < 0:  # no version of DPDesk, present or to come, numbers its layouts so
        raise _damaged_layout(path, version)
    if version > store.VERSION:
        raise InputError(
            "project.newer",
            msg(
                "{path}: the project was made by DPDesk {written_by} (layout {version}); this "
                "is DPDesk {version_3}, which knows layouts up to {version_4}.",
                path=path,
                written_by=_written_by(connection),
                version=version,
                version_3=__version__,
                version_4=store.VERSION,
            ),
            hint="Open it with the newer version; nothing was changed.",
            details={"layout": version, "known": store.VERSION},
        )


def _written_by(connection: sqlite3.Connection) -> str:
    with suppress(sqlite3.Error):
        row = connection.execute("SELECT value FROM meta WHERE key = 'written_by'").fetchone()
        if row is not None:
            return str(row[0])[:40]
    return "of a newer version"


def _damaged_layout(path: Path, version: int) -> StorageError:
    return StorageError(
        "project.damaged",
        msg(
            "{path}: found {version} as the version of the project's layout, expected 0 or more; "
            "the file was damaged or changed by another program.",
            path=path,
            version=version,
        ),
        hint="Open the newest intact copy; nothing was changed.",
        details={"layout": version},
    )


def _not_a_project(path: Path, found: str) -> InputError:
    return InputError(
        "project.not-a-project",
        msg("{path}: found {found}, expected a project of DPDesk.", path=path, found=found),
    )


def _unreadable(path: Path, reason: str) -> StorageError:
    return StorageError(
        "project.unreadable",
        msg(
            "{path}: the project cannot be read: {reason}.",
            path=path,
            reason=f"{reason[:1].lower()}{reason[1:]}",
        ),
        hint="Check the permissions and the connection to the disk.",
    )


def damaged(path: Path, lost: Lost | None) -> StorageError:
    """The error for a damaged project, which says what of it can be saved."""
    if lost is None or not lost.moments:
        return StorageError(
            "project.damaged",
            msg("{path}: the project file is damaged, and nothing of it could be read.", path=path),
            hint="Go back to a copy of it, for instance from a backup.",
            details={"moments": 0, "moments_of": 0 if lost is None else lost.moments_of},
        )
    return StorageError(
        "project.damaged",
        msg(
            "{path}: the project file is damaged; {moments:,} of at least {moments_of:,} states "
            "of its history and {candidates:,} candidates can still be read.",
            path=path,
            moments=lost.moments,
            moments_of=lost.moments_of,
            candidates=lost.candidates,
        ),
        hint="Save what can be read as a new project, or go back to a backup.",
        details={
            "moments": lost.moments,
            "moments_of": lost.moments_of,
            "candidates": lost.candidates,
        },
    )


def _read(connection: sqlite3.Connection, path: Path) -> Loaded:
    """Everything, from a file that is whole. Raises ``project.damaged``, ``project.newer``."""
    try:
        with reading(connection):
            if not _is_whole(connection):
                raise damaged(path, salvage(connection)[1])
            _check_schema(connection, path)
            return load(connection)
    except sqlite3.Error as error:
        if kind_of(error) not in ("damaged", "nonsense"):
            raise
        raise damaged(path, _still_readable(connection)) from error
    except (CodecError, PartError, ValueError, TypeError) as error:
        writer = _written_by(connection)
        if writer != __version__:
            raise InputError(
                "project.newer",
                msg(
                    "{path}: the project was written last by DPDesk {writer}; this is DPDesk "
                    "{version}, which does not understand all of it ({error}).",
                    path=path,
                    writer=writer,
                    version=__version__,
                    error=error,
                ),
                hint="Open it with that version; nothing was changed.",
            ) from error
        raise damaged(path, _still_readable(connection)) from error


def _still_readable(connection: sqlite3.Connection) -> Lost | None:
    with suppress(sqlite3.Error), reading(connection):
        return salvage(connection)[1]
    return None


def _check_schema(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file with a trigger, a view or a table that DPDesk did not make.

    A trigger would change what is saved without a trace. Raises StorageError ``project.damaged``,
    sqlite3.Error.
    """
    found = store.changed(connection)
    if found is None:
        return
    lost = salvage(connection)[1]
    raise StorageError(
        "project.damaged",
        msg(
            "{path}: the project file holds {found}; such a change can alter what is saved, so "
            "the project was not opened.",
            path=path,
            found=found.words,
        ),
        hint="Ask who changed the file with another program. Go back to a backup, or save what "
        "can be read as a new project and check it.",
        details={
            "moments": lost.moments,
            "moments_of": lost.moments_of,
            "candidates": lost.candidates,
        },
    )


def _is_whole(connection: sqlite3.Connection) -> bool:
    found = connection.execute(f"PRAGMA integrity_check({_MOST_FAULTS})").fetchall()
    loose = connection.execute("PRAGMA foreign_key_check").fetchone()
    return found == [("ok",)] and loose is None


def _bring_up_to_date(
    connection: sqlite3.Connection, path: Path, way: OpeningHelpers
) -> tuple[str, ...]:
    """Migrate an older layout, after a copy of the file has been put beside it."""
    _check_marks(connection, path)
    version = marks(connection)[1]
    if version == store.VERSION:
        return ()
    _check_schema(connection, path)
    backup = _backup(connection, path, version, way.keeper)
    try:
        _migrate(connection, path, way.migrations)
    except BaseException:
        backup.unlink(missing_ok=True)  # the file itself is as it was
        raise
    return (
        msg(
            "The project was brought up to date; a copy of it as it was before is in {name}.",
            name=backup.name,
        ),
    )


def _backup(
    connection: sqlite3.Connection, path: Path, version: int, keeper: PartialKeeper
) -> Path:
    number, target = 1, path.with_name(f"{path.stem}.layout-{version}{path.suffix}")
    while target.exists():
        number += 1
        target = path.with_name(f"{path.stem}.layout-{version}-{number}{path.suffix}")
    try:
        with replacing(target, keeper) as fresh, closing(sqlite3.connect(fresh)) as copy:
            connection.backup(copy)
    except DpdeskError as error:
        full = error.code == "storage.disk-full"
        code, where = ("disk-full", "disk") if full else ("folder", "folder")
        sentence = msg(
            "{name} has an older layout, and the {where} has no room for the copy that is kept "
            "before it is brought up to date.",
            name=path.name,
            where=where,
        )
        raise _CannotWrite(ReadOnly(code, sentence)) from error
    return target


def _migrate(
    connection: sqlite3.Connection, path: Path, migrations: Mapping[int, Migration]
) -> None:
    """All steps to the present layout in one transaction; on any failure nothing has changed."""
    if marks(connection)[1] == store.VERSION:
        return
    try:
        with writing(connection):
            for version in range(marks(connection)[1], store.VERSION):
                migrations[version](connection)
            connection.execute(f"PRAGMA user_version = {store.VERSION}")
            if not _is_whole(connection) or store.changed(connection) is not None:
                raise _not_migrated(path)
    except (ValueError, KeyError, TypeError) as error:
        raise _not_migrated(path) from error
    except sqlite3.Error as error:
        if kind_of(error) == "nonsense":
            raise _not_migrated(path) from error
        raise


def _not_migrated(path: Path) -> StorageError:
    return StorageError(
        "project.not-migrated",
        msg(
            "{path}: the project has an older layout and could not be brought up to date; it was "
            "not changed.",
            path=path,
        ),
        hint="Open it with the version that made it, and report this.",
    )
