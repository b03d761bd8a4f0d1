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
from dpdesk.core.jobs import CancelToken
from dpdesk.project import sql
from dpdesk.project.ledger import problems
from dpdesk.project.ledger.records import FIRST, Begun, LedgerEntry
from dpdesk.project.people import whoever
from dpdesk.project.sql import HEADER, connect, refuse_changed, writing

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
    with path.open("rb") as stream:
        facts = os.fstat(stream.fileno())
        return facts.st_ino, facts.st_size, facts.st_mtime_ns, stream.read(100)


@contextmanager
def failures(path: Path) -> Iterator[None]:
    """Failures of the disk and the database, in plain words."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise problems.failure(error, path) from error


def make_file(path: Path, mode: int) -> bool:
    """Whether an empty file was made where there was none."""
    if path.is_dir():
        raise problems.not_a_ledger(path, "a folder")
    if path.exists():
        return False
    if not path.parent.is_dir():
        raise problems.no_folder(path)
    flags = os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0)
    os.close(os.open(path, flags, mode))
    return True


def connected(
    path: Path, made: bool, begun: LedgerEntry | None = None
) -> tuple[sqlite3.Connection, Path, bool, bool]:
    """A connection to a ledger, with its table; an empty one begins with ``begun``."""
    if path.is_dir():
        raise problems.not_a_ledger(path, "a folder")
    try:
        with path.open("rb") as stream:
            head = stream.read(len(HEADER))
    except FileNotFoundError as error:
        raise problems.missing(path) from error
    if head and head != HEADER:
        raise problems.not_a_ledger(path, "a file of another kind, or one that is damaged")
    read_only = not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))
    connection = connect(path, read_only=read_only, patience=_MOMENT)
    try:
        _check_marks(connection, path, begun, may_begin=not read_only)
        refuse_changed(connection, SCHEMA, lambda found: problems.changed(path, found))
    except BaseException:
        connection.close()
        raise
    return connection, path, made, read_only


def _check_marks(
    connection: sqlite3.Connection, path: Path, begun: LedgerEntry | None, *, may_begin: bool
) -> None:
    application, version = _marks(connection)
    if application == APPLICATION and version > PEOPLE_VERSION:
        raise problems.newer(path, version, PEOPLE_VERSION)
    if application == APPLICATION and version >= VERSION:
        return
    if connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is not None:
        if _marks(connection) == (APPLICATION, VERSION):
            return  # another process has just made it
        if application == APPLICATION:
            raise problems.damaged(path)  # no version numbers its layout so
        raise problems.not_a_ledger(path, "a database of another program")
    if not may_begin:
        raise problems.not_a_ledger(path, "an empty file")
    _begin(connection, begun)


def _marks(connection: sqlite3.Connection) -> tuple[int, int]:
    application, version = (
        int(connection.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("application_id", "user_version")
    )
    return application, version


def raise_version(connection: sqlite3.Connection, version: int) -> None:
    """Mark the layout as one that versions which do not know it must not read."""
    if _marks(connection)[1] < version:
        connection.execute(f"PRAGMA user_version = {version}")


def _begin(connection: sqlite3.Connection, begun: LedgerEntry | None) -> None:
    """The table and the first entry, unless another process was quicker."""
    with writing(connection):
        if connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is not None:
            return
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
        for statement in SCHEMA:
            connection.execute(statement)
        now = datetime.now(UTC).replace(microsecond=0).isoformat()
        fresh = LedgerEntry.make(Begun(uuid.uuid4().hex, __version__), 1, FIRST, whoever(), now)
        entry = begun or fresh
        connection.execute(
            "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?)",
            (entry.n, entry.time, entry.who, entry.kind, entry.body, entry.previous, entry.hash),
        )
