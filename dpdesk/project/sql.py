"""SQLite as projects and the audit log use it: durable, explicit, with errors in plain words.

A rollback journal and a sync at every commit: what is committed survives a kill and a power cut.
``synchronous = EXTRA`` is FULL and also syncs the folder once the journal is gone.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from dpdesk.core.errors import DpdeskError, StorageError
from dpdesk.core.messages import msg
from dpdesk.core.systems import BINARY, NO_WAIT, NotAFileError

BUSY_SECONDS = 15.0
HEADER = b"SQLite format 3\x00"
_FULL = (sqlite3.SQLITE_FULL,)
_UNTOLD = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR)
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_FORBIDDEN = (
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_AUTH,
)
# The statement and the tables do not fit each other.
_NONSENSE = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH)
_BROKEN = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT)
_NAMES_A_FILE = bytes.fromhex("d9d505f920a163d7")
"""How a journal ends that names the journal of several databases (SQLite's file format, 3)."""
_BESIDE = ("-journal", "-wal", "-shm")
# SQLite's own statistics, as ANALYZE makes them. Only it may give out such a name, but a file that
# was written by hand can hold anything under it, and what acts by itself then acts.
_STATISTICS = frozenset(
    ("table", name, name, f"CREATE TABLE {name}({columns})")
    for name, columns in (
        ("sqlite_stat1", "tbl,idx,stat"),
        ("sqlite_stat3", "tbl,idx,neq,nlt,ndlt,sample"),
        ("sqlite_stat4", "tbl,idx,neq,nlt,ndlt,sample"),
    )
)


def connect(
    path: Path, *, read_only: bool = False, patience: float | None = None
) -> sqlite3.Connection:
    """A connection without implicit transactions, for the thread that opens it alone.

    The file must exist. It waits ``patience`` seconds for others (BUSY_SECONDS). Raises
    sqlite3.Error.
    """
    _refuse_foreign_journal(path)
    mode = "ro" if read_only else "rw"
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        isolation_level=None,
        timeout=BUSY_SECONDS if patience is None else patience,
    )
    try:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        if not read_only:
            connection.execute("PRAGMA journal_mode = DELETE").fetchone()
            connection.execute("PRAGMA synchronous = EXTRA")
            connection.execute("PRAGMA fullfsync = ON")
    except BaseException:
        connection.close()
        raise
    return connection


def _refuse_foreign_journal(path: Path) -> None:
    """Raise sqlite3.DatabaseError for a journal that names a file: SQLite would delete that one.

    Only transactions over several databases name one, and DPDesk makes none. A pipe in the place
    of what SQLite keeps beside a file would be waited for without end, and a link is none of its.
    """
    whole = os.path.realpath(path)
    for suffix in _BESIDE:
        with suppress(OSError):
            if not stat.S_ISREG(os.lstat(f"{whole}{suffix}").st_mode):
                raise _damaged(f"what is named {Path(whole).name}{suffix} is not a file")
    journal = Path(f"{whole}-journal")
    try:
        size = journal.stat().st_size if journal.is_file() else 0
        if size < len(_NAMES_A_FILE):
            return
        with journal.open("rb") as stream:
            stream.seek(size - len(_NAMES_A_FILE))
            end = stream.read()
    except OSError:  # it has just been removed, or SQLite cannot read it either
        return
    if end == _NAMES_A_FILE:
        raise _damaged("the journal names another file")


def _damaged(reason: str) -> sqlite3.DatabaseError:
    error = sqlite3.DatabaseError(reason)
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    return error


@dataclass(frozen=True)
class ChangedObject:
    """An object of a file's layout that is not as DPDesk makes it.

    ``kind`` is SQLite's word for it (``"trigger"``). ``missing`` and ``foreign`` objects are in one
    layout alone; any other is in both and differs.
    """

    kind: str
    name: str
    missing: bool = False
    foreign: bool = False

    @property
    def words(self) -> str:
        """What was found, as part of a sentence after "holds"."""
        if self.foreign:
            return msg(
                "the {kind} `{name}`, which DPDesk did not make",
                kind=self.kind,
                name=self.name[:60],
            )
        if self.missing:
            return msg("no {kind} `{name}`", kind=self.kind, name=self.name)
        return msg(
            "the {kind} `{name}` in another form than DPDesk makes it",
            kind=self.kind,
            name=self.name,
        )

    @property
    def reason(self) -> str:
        """Why a log that may only grow is not to be trusted, as part of a sentence."""
        if self.missing and self.kind == "trigger":
            return "the guard against changes was taken away"
        return msg("the file holds {found}", found=self.words)


def changed_object(
    connection: sqlite3.Connection, statements: Sequence[str], table: str = ""
) -> ChangedObject | None:
    """The first difference between a file's layout and the one that ``statements`` make, or None.

    Foreign objects come first, missing ones last. A trigger, a view or another index can change
    what is written or read without a trace, so every object counts, or every one on ``table`` when
    it is named; only SQLite's own statistics may be there in addition. Raises sqlite3.Error.
    """
    with closing(sqlite3.connect(":memory:")) as fresh:
        for statement in statements:
            fresh.execute(statement)
        expected = _objects(fresh, table)
    found = _objects(connection, table)
    for kind, name in sorted(found.keys() - expected.keys()):
        return ChangedObject(kind, name, foreign=True)
    for kind, name in sorted(found.keys() & expected.keys()):
        if found[kind, name] != expected[kind, name]:
            return ChangedObject(kind, name)
    for kind, name in sorted(expected.keys() - found.keys()):
        return ChangedObject(kind, name, missing=True)
    return None


def refuse_changed(
    connection: sqlite3.Connection,
    statements: Sequence[str],
    problem: Callable[[ChangedObject], DpdeskError],
) -> None:
    """Raise ``problem`` when a file's layout is not as ``statements`` make it.

    A missing guard is let through here: it changes nothing by itself, and checking finds it.
    """
    changed = changed_object(connection, statements)
    if changed is not None and not changed.missing:
        raise problem(changed)


def _objects(
    connection: sqlite3.Connection, table: str
) -> dict[tuple[str, str], list[tuple[str, str | None]]]:
    """All that is entered under each kind and name: a second entry must not hide behind a first."""
    found: dict[tuple[str, str], list[tuple[str, str | None]]] = {}
    for kind, name, on, sql in connection.execute(
        "SELECT type, name, tbl_name, sql FROM sqlite_master"
    ):
        if (kind, name, on, sql) not in _STATISTICS and (not table or str(on) == table):
            found.setdefault((str(kind), str(name)), []).append((str(on), sql))
    return found


@contextmanager
def writing(connection: sqlite3.Connection) -> Iterator[None]:
    """One transaction: all of the block is committed, or nothing. Nested blocks join the outer.

    Raises what the block raises, and sqlite3.Error when the commit fails; then nothing is changed.
    """
    if connection.in_transaction:
        yield
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        _roll_back(connection)
        raise


@contextmanager
def reading(connection: sqlite3.Connection) -> Iterator[None]:
    """One consistent look; nothing that others write meanwhile is seen."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        _roll_back(connection)


def _roll_back(connection: sqlite3.Connection) -> None:
    if connection.in_transaction:  # not after an error that has rolled it back already
        connection.execute("ROLLBACK")


def kind_of(error: sqlite3.Error) -> str:
    """``full``, ``busy``, ``forbidden``, ``damaged``, ``nonsense`` or ``failed``."""
    code = getattr(error, "sqlite_errorcode", None)
    # Not a text any more: found by the binding of the library, which has no code for it.
    if code is None and "Could not decode to UTF-8" in str(error):
        return "damaged"
    primary = None if code is None else code & 0xFF
    for name, codes in (
        ("full", _FULL),
        ("busy", _BUSY),
        ("forbidden", _FORBIDDEN),
        ("damaged", _BROKEN),
        ("nonsense", _NONSENSE),
    ):
        if primary in codes:
            return name
    return "failed"


def not_opened(error: sqlite3.Error, path: Path) -> OSError | None:
    """What the system says where SQLite says of a file, or its journal, that it cannot be opened,
    or that the disk failed.

    SQLite says so of a full disk, of too many open files and of a file that may not grow as well;
    None where the system has nothing to say (any more).
    """
    if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _UNTOLD:
        return None
    try:
        size = _size_of(path)
        with suppress(FileNotFoundError):
            _size_of(Path(f"{os.path.realpath(path)}-journal"))
        with tempfile.TemporaryFile(dir=path.parent) as beside:
            beside.seek(size)  # where a limit on the size of files is met
            beside.write(b"\0")
            beside.flush()
            os.fsync(beside.fileno())
    except OSError as refused:
        return refused
    return None


def _size_of(path: Path) -> int:
    """The size of a file, opened to be written. Raises OSError."""
    handle = os.open(path, os.O_RDWR | BINARY | NO_WAIT)
    try:
        return os.fstat(handle).st_size
    finally:
        os.close(handle)


OPENS_NOW = "the system could not open it, and can now"


def opens_now(error: sqlite3.Error, path: Path) -> bool:
    """Whether SQLite could not open a file, or its journal, that the system opens: the disk failed
    for a moment, and nobody lacks a permission.
    """
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code == sqlite3.SQLITE_CANTOPEN and not_opened(error, path) is None


def refusal_words(error: OSError) -> str:
    """Why the system refused a file, as part of a sentence."""
    if isinstance(error, NotAFileError):
        return "found something else than a file"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "the disk is full"
    if error.errno == errno.EFBIG:
        return "the system lets no file grow that large"
    return error.strerror or type(error).__name__


def storage_problem(error: sqlite3.Error | OSError, path: Path, what: str) -> DpdeskError:
    """The StorageError for a failure to write ``what`` (``"project"``, ``"audit"``) at ``path``.

    Codes: ``{what}.disk-full``, ``{what}.busy``, ``{what}.forbidden``, ``{what}.damaged``,
    ``{what}.unwritable``.
    """
    if isinstance(error, OSError):
        from dpdesk.io.failures import storage_error

        plain = storage_error(error, path, "write")
        code = "disk-full" if plain.code == "storage.disk-full" else "unwritable"
        return StorageError(f"{what}.{code}", plain.sentence, hint=plain.hint)
    refused = not_opened(error, path)
    if refused is not None and not isinstance(refused, PermissionError):
        return storage_problem(refused, path, what)
    kind = "again" if opens_now(error, path) else kind_of(error)
    words = {
        "again": ("unwritable", OPENS_NOW, "Try again, and check the disk."),
        "full": ("disk-full", "the disk is full", "Free some space on that disk."),
        "busy": ("busy", "another program is using the file", "Close it there, then try again."),
        "forbidden": ("forbidden", "no permission to write it", "Ask for permission to write."),
        "damaged": ("damaged", "the file is damaged", "Continue with the newest intact copy."),
    }
    code, reason, hint = words.get(kind, ("unwritable", f"{error}", ""))
    return StorageError(
        f"{what}.{code}",
        msg("{path}: could not be written: {reason}.", path=path, reason=reason),
        hint=hint or "Check the disk and the connection to it.",
        details={"path": str(path)},
    )


def marks(connection: sqlite3.Connection) -> tuple[int, int]:
    """Application id and version of the layout."""
    application, version = (
        int(connection.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("application_id", "user_version")
    )
    return application, version
