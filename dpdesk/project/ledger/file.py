"""The file of a ledger: made, opened, waited for, committed to."""

from __future__ import annotations

import os
import sqlite3
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from dpdesk import __version__
from dpdesk.core.errors import DpdeskError, InputError, StorageError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.systems import BINARY, open_plain
from dpdesk.project import sql
from dpdesk.project.ledger.records import FIRST, Begun, LedgerEntry
from dpdesk.project.settings import acting_user
from dpdesk.project.sql import (
    HEADER,
    ChangedObject,
    connect,
    kind_of,
    marks,
    refuse_changed,
    storage_problem,
    writing,
)

# What can be wrong with a ledger file, in one sentence each.


KEEP = (
    "Keep the file as evidence, and put back the newest intact copy: until then, nothing is "
    "debited, and nothing that needs a budget is released."
)


def not_a_ledger(path: Path, found: str) -> InputError:
    """The file is something else."""
    return InputError(
        "ledger.not-a-ledger",
        msg("{path}: found {found}, expected a ledger of DPDesk.", path=path, found=found),
        hint="Name another file as `ledger` under [budget].",
        details={"path": str(path)},
    )


def newer(path: Path, version: int, known: int) -> InputError:
    """The ledger was made by a later version."""
    return InputError(
        "ledger.newer",
        msg(
            "{path}: the ledger was made by a newer version of DPDesk (layout {version}, this "
            "version knows {known}).",
            path=path,
            version=version,
            known=known,
        ),
        hint="Use the newer version; nothing was changed.",
        details={"path": str(path)},
    )


def broken(path: Path, place: int, reason: str) -> StorageError:
    """The chain of entries does not hold."""
    return StorageError(
        "ledger.broken",
        msg(
            "{path}: the ledger is broken at entry {place:,}: {reason}.",
            path=path,
            place=place,
            reason=reason,
        ),
        hint=KEEP,
        details={"path": str(path), "entry": place},
    )


def restored(path: Path, entries: int, debits: int, first: int) -> StorageError:
    """The ledger is an old copy: what was entered in it later is known elsewhere."""
    return StorageError(
        "ledger.restored",
        msg(
            "{path}: the ledger is an old copy that was put back: what was entered later is "
            "missing (entries: {entries:,}, debits among them: {debits:,}, the first is entry "
            "{first:,}).",
            path=path,
            entries=entries,
            debits=debits,
            first=first,
        ),
        hint="Enter them again (`dpdesk ledger restore --reason TEXT`), or put back the newest "
        "copy; nothing is spent until then.",
        details={"path": str(path), "entry": first, "missing": entries, "debits": debits},
    )


def unwitnessed(path: Path, witness: Path, last: str) -> StorageError:
    """The witness does not know a ledger in which something was entered before."""
    return StorageError(
        "witness.lost",
        msg(
            "{path}: the witness {witness} does not know this ledger (last debit: {last}): the "
            "witness was lost, or the ledger comes from a backup or another computer, and "
            "debits that were made later may be missing.",
            path=path,
            witness=witness,
            last=last or "–",
        ),
        hint="Put the witness back, or enter lost debits from their releases (`dpdesk ledger "
        "restore --reason TEXT --release DIR`); then accept it with a reason (`dpdesk "
        "ledger accept --reason TEXT`, or in the window Budget ledger). "
        "Nothing is spent until then.",
        details={"path": str(path), "witness": str(witness)},
    )


def audit_gap(log: Path, first: int) -> StorageError:
    """The audit log of the home folder does not have what the debits of a ledger name."""
    return StorageError(
        "ledger.audit-gap",
        msg(
            "{place}: entries that the ledger's debits name are missing from the audit log, the "
            "first of them entry {n:,}: it was emptied, replaced or put back from an old copy, "
            "or could not be written at the time.",
            place=log,
            n=first,
        ),
        hint="Put the newest copy of it back, or have the debits entered in it again, with a "
        "reason (`dpdesk ledger restore --reason TEXT`). Nothing is spent until then.",
        details={"path": str(log), "entry": first},
    )


def another(path: Path, debits: int, last: str) -> StorageError:
    """Another ledger lies where one with debits or limits lay."""
    return StorageError(
        "ledger.another",
        msg(
            "{path}: a different ledger was here before, and its debits and limits do not hold in "
            "this one ({n:,}, the last of {last}).",
            path=path,
            n=debits,
            last=last,
        ),
        hint="Put the other one back; only if this one is to be used in its place, accept it "
        "with a reason (`dpdesk ledger accept --reason TEXT`, or in the window Budget ledger). "
        "Nothing is spent until then.",
        details={"path": str(path), "debits": debits},
    )


def no_reason(path: Path, account: str, limit: str) -> InputError:
    """A limit is to be raised or taken away, and nothing says why."""
    return InputError(
        "ledger.reason",
        msg(
            "{where}: the limit of {key} is {limit}; raising it, changing its kind or removing "
            "it needs a reason.",
            where=path,
            key=account,
            limit=limit,
        ),
        hint="Say why, for the ledger and the audit log: `--reason TEXT`.",
        details={"key": "reason"},
    )


def changed(path: Path, found: ChangedObject) -> StorageError:
    """The file holds something that acts by itself, or another table."""
    return StorageError(
        "ledger.damaged",
        msg(
            "{path}: the ledger holds {found}; such a change can alter what is entered.",
            path=path,
            found=found.words,
        ),
        hint=KEEP,
        details={"path": str(path)},
    )


def damaged(path: Path) -> StorageError:
    """SQLite cannot rely on the file."""
    return StorageError(
        "ledger.damaged",
        msg("{path}: the ledger is damaged and cannot be used.", path=path),
        hint=KEEP,
        details={"path": str(path)},
    )


def unsure(path: Path, entry: int) -> StorageError:
    """The disk failed when an entry was in its place: only a power cut could take it away."""
    return StorageError(
        "ledger.unsure",
        msg(
            "{path}: the disk failed while entry {entry:,} was written; the entry is there now, "
            "and counts.",
            path=path,
            entry=entry,
        ),
        hint="Check the disk, and look at the ledger (`dpdesk ledger show`) before you try again.",
        details={"path": str(path), "entry": entry},
    )


def missing(path: Path) -> StorageError:
    """There is no such ledger, and none is to be made."""
    return StorageError(
        "ledger.missing",
        msg("{path}: there is no such ledger.", path=path),
        hint="Check the path. A ledger is made by the first release that spends a budget.",
        details={"path": str(path)},
    )


def no_folder(path: Path) -> StorageError:
    """The ledger cannot be made where the plan wants it."""
    return StorageError(
        "ledger.no-folder",
        msg(
            "{path}: the ledger cannot be made, there is no folder {parent}.",
            path=path,
            parent=path.parent,
        ),
        hint="Make the folder first, or name another file as `ledger` under [budget].",
        details={"path": str(path)},
    )


def on_a_share(path: Path, kind: str) -> StorageError:
    """The file lies where two computers could overspend together."""
    return StorageError(
        "ledger.network",
        msg(
            "{path}: the ledger is on a network share ({kind}), where two computers could spend "
            "the same budget at once.",
            path=path,
            kind=kind,
        ),
        hint="Name one on a disk of the computer that makes the releases, as `ledger` under "
        "[budget].",
        details={"path": str(path)},
    )


def failure(error: sqlite3.Error | OSError, path: Path) -> DpdeskError:
    """A failure of the disk or the database, met while something was written or read."""
    if isinstance(error, sqlite3.Error) and kind_of(error) in ("damaged", "nonsense"):
        return damaged(path)
    return storage_problem(error, path, "ledger")


FILE = "ledger.sqlite"
APPLICATION = 0x44504C47  # "DPLG"
VERSION, RESTORED_VERSION, PEOPLE_VERSION = 1, 2, 3
"""The layout of a ledger; of one that holds entries which were lost and entered again; of one that
says which names mean the same people."""
_MOMENT = 0.1  # how long SQLite waits for others before we look whether to stop
T = TypeVar("T")

SCHEMA = (
    "CREATE TABLE entries (n INTEGER PRIMARY KEY AUTOINCREMENT, time TEXT NOT NULL, "
    "who TEXT NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL, previous TEXT NOT NULL, "
    "hash TEXT NOT NULL UNIQUE)",
    "CREATE TRIGGER entries_no_change BEFORE UPDATE ON entries "
    "BEGIN SELECT RAISE(ABORT, 'the ledger only grows'); END",
    "CREATE TRIGGER entries_no_removal BEFORE DELETE ON entries "
    "BEGIN SELECT RAISE(ABORT, 'the ledger only grows'); END",
)


def patiently(attempt: Callable[[], T], token: CancelToken | None) -> T:
    """Try again while another program holds the file, for :data:`~dpdesk.project.sql.BUSY_SECONDS`.

    Raises Cancelled when the token says so meanwhile, else what the last attempt raised.
    """
    until = time.monotonic() + sql.BUSY_SECONDS
    while True:
        if token is not None:
            token.check()
        try:
            return attempt()
        except sqlite3.Error as error:
            if sql.kind_of(error) != "busy" or time.monotonic() >= until:
                raise


@contextmanager
def committing(connection: sqlite3.Connection) -> Iterator[None]:
    """The rest of a transaction that has begun: all of it is committed, or nothing.

    Those who only look may hold the file when it is committed; they are waited for.
    """
    try:
        yield
        patiently(lambda: connection.execute("COMMIT"), None)
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def stamp_of(path: Path) -> tuple[object, ...]:
    """What is another after every change of a ledger: SQLite counts them in the file's header.

    Raises OSError.
    """
    with open_plain(path) as stream:
        facts = os.fstat(stream.fileno())
        return facts.st_ino, facts.st_size, facts.st_mtime_ns, stream.read(100)


@contextmanager
def failures(path: Path) -> Iterator[None]:
    """Failures of the disk and the database, in plain words."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise failure(error, path) from error


def make_file(path: Path, mode: int) -> bool:
    """Whether an empty file was made where there was none."""
    if path.is_dir():
        raise not_a_ledger(path, "a folder")
    if path.exists():
        return False
    if not path.parent.is_dir():
        raise no_folder(path)
    flags = os.O_WRONLY | os.O_CREAT | BINARY
    os.close(os.open(path, flags, mode))
    return True


def connected(
    path: Path, made: bool, begun: LedgerEntry | None = None
) -> tuple[sqlite3.Connection, Path, bool, bool]:
    """A connection to a ledger, with its table; an empty one begins with ``begun``."""
    if path.is_dir():
        raise not_a_ledger(path, "a folder")
    if path.exists() and not path.is_file():  # a pipe would be waited for
        raise not_a_ledger(path, "a device")
    try:
        with path.open("rb") as stream:
            head = stream.read(len(HEADER))
    except FileNotFoundError as error:
        raise missing(path) from error
    if head and head != HEADER:
        raise not_a_ledger(path, "a file of another kind, or one that is damaged")
    read_only = not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))
    connection = connect(path, read_only=read_only, patience=_MOMENT)
    try:
        _check_marks(connection, path, begun, may_begin=not read_only)
        refuse_changed(connection, SCHEMA, lambda found: changed(path, found))
    except BaseException:
        connection.close()
        raise
    return connection, path, made, read_only


def _check_marks(
    connection: sqlite3.Connection, path: Path, begun: LedgerEntry | None, *, may_begin: bool
) -> None:
    application, version = marks(connection)
    if application == APPLICATION and version > PEOPLE_VERSION:
        raise newer(path, version, PEOPLE_VERSION)
    if application == APPLICATION and version >= VERSION:
        return
    if connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is not None:
        if marks(connection) == (APPLICATION, VERSION):
            return  # another process has just made it
        if application == APPLICATION:
            raise damaged(path)  # no version numbers its layout so
        raise not_a_ledger(path, "a database of another program")
    if not may_begin:
        raise not_a_ledger(path, "an empty file")
    _begin(connection, path, begun)


def raise_version(connection: sqlite3.Connection, version: int) -> None:
    """Mark the layout as one that versions which do not know it must not read."""
    if marks(connection)[1] < version:
        connection.execute(f"PRAGMA user_version = {version}")


def _begin(connection: sqlite3.Connection, path: Path, begun: LedgerEntry | None) -> None:
    """The table and the first entry, unless another process was quicker."""
    now = datetime.now(UTC).replace(microsecond=0).isoformat()
    fresh = LedgerEntry.make(Begun(uuid.uuid4().hex, __version__), 1, FIRST, acting_user(), now)
    entry = begun or fresh
    try:
        _make_table(connection, entry)
    except sqlite3.Error as error:
        if has_entry(connection, entry.n, entry.hash):
            raise unsure(path, entry.n) from error
        raise


def has_entry(connection: sqlite3.Connection, number: int, entry_hash: str) -> bool:
    """Whether the file has this entry, after a commit that ended with an error."""
    try:
        found = connection.execute("SELECT hash FROM entries WHERE n = ?", (number,)).fetchone()
    except sqlite3.Error:
        return False
    return found is not None and found[0] == entry_hash


def _make_table(connection: sqlite3.Connection, entry: LedgerEntry) -> None:
    with writing(connection):
        if connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is not None:
            return
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
        for statement in SCHEMA:
            connection.execute(statement)
        connection.execute(
            "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?)",
            (entry.n, entry.time, entry.who, entry.kind, entry.body, entry.previous, entry.hash),
        )
