"""The audit log: who opened, ran, viewed, decided and exported what, and when.

Entries are only ever added. Each holds the hash of the one before it, and its own hash covers all
its fields, so that a changed, removed, inserted or moved entry breaks the chain at a place that
:meth:`AuditLog.verify` names. What a chain cannot show alone is that entries were cut off at its
end: SQLite's own counter tells of that where it was left alone, and heads that were written down
elsewhere (in a submission, on paper) tell of it in any case.

One log lies in the home folder and holds what this user does with DPDesk; each project file holds
one of its own. No entry holds a value of the data: paths, hashes, settings and counts only.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import sqlite3
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType, TracebackType

from dpdesk.core.errors import InputError, StorageError
from dpdesk.io.safewrite import PartialKeeper
from dpdesk.project.people import whoever
from dpdesk.project.sql import HEADER, connect, kind_of, writing

FILE = "audit.sqlite"
FORMATS = ("csv", "json")
APPLICATION = 0x44504155  # "DPAU"
VERSION = 1
FIRST = ""
_DOMAIN = b"dpdesk-audit-v1\n"
_FIELDS = ("n", "time", "who", "action", "subject", "details", "previous", "hash")
_NOTHING: Mapping[str, object] = MappingProxyType({})

SCHEMA = (
    "CREATE TABLE audit (n INTEGER PRIMARY KEY AUTOINCREMENT, time TEXT NOT NULL, "
    "who TEXT NOT NULL, action TEXT NOT NULL, subject TEXT NOT NULL, details TEXT NOT NULL, "
    "previous TEXT NOT NULL, hash TEXT NOT NULL UNIQUE)",
    "CREATE TRIGGER audit_no_change BEFORE UPDATE ON audit "
    "BEGIN SELECT RAISE(ABORT, 'the audit log only grows'); END",
    "CREATE TRIGGER audit_no_removal BEFORE DELETE ON audit "
    "BEGIN SELECT RAISE(ABORT, 'the audit log only grows'); END",
)


@dataclass(frozen=True)
class AuditEntry:
    """One entry. ``time`` is UTC to the second as ISO text; ``details`` is JSON text.

    ``previous`` is the hash of the entry before (empty for the first), ``hash`` that of this one.
    """

    n: int
    time: str
    who: str
    action: str
    subject: str
    details: str
    previous: str
    hash: str

    def expected_hash(self) -> str:
        """What the hash must be for the other fields."""
        body = {name: getattr(self, name) for name in _FIELDS[:-1]}
        text = json.dumps(body, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        return hashlib.sha256(_DOMAIN + text.encode("ascii")).hexdigest()

    @property
    def facts(self) -> Mapping[str, object]:
        """The details as a table; empty when they are no table."""
        try:
            found = json.loads(self.details)
        except (ValueError, RecursionError):
            return _NOTHING
        return found if isinstance(found, dict) else _NOTHING


@dataclass(frozen=True)
class AuditNote:
    """Something to be entered: what was done, with what, and further facts (no data values)."""

    action: str
    subject: str
    details: Mapping[str, object] = field(default_factory=lambda: _NOTHING)


@dataclass(frozen=True)
class AuditFault:
    """Where a log is broken: the number of the first entry that is wrong, and why."""

    n: int
    reason: str


@dataclass(frozen=True)
class AuditCheck:
    """What checking a log showed; ``notes`` are sentences about what is odd but possible."""

    entries: int
    head: str
    fault: AuditFault | None
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the whole chain holds."""
        return self.fault is None


def make_entry(note: AuditNote, number: int, previous: str, who: str, when: datetime) -> AuditEntry:
    """The entry number ``number`` for a note. TypeError when the details have no JSON form."""
    from dpdesk.io.canonical import to_plain

    time = when.astimezone(UTC).replace(microsecond=0).isoformat()
    details = json.dumps(to_plain(note.details), sort_keys=True, ensure_ascii=True)
    action, subject, who = (_one_line(text) for text in (note.action, note.subject, who))
    draft = AuditEntry(number, time, who, action, subject, details, previous, "")
    return AuditEntry(number, time, who, action, subject, details, previous, draft.expected_hash())


def _one_line(text: str) -> str:
    """A text without line breaks that any file can hold; odd bytes of a path as escapes."""
    return " ".join(text.split()).encode("utf-8", "backslashreplace").decode("utf-8")


class AuditLog:
    """A log over an SQLite connection; for one thread. Use :meth:`open_home` or a project's own.

    ``where`` is the file, for messages.
    """

    def __init__(self, connection: sqlite3.Connection, where: Path) -> None:
        self._connection = connection
        self.where = where

    @classmethod
    def open_home(cls, home: Path) -> AuditLog:
        """The log of the home folder, made when there is none; read only where it must be.

        Raises StorageError ``audit.unwritable``, ``audit.unreadable``, ``audit.newer``.
        """
        path = home.absolute() / FILE
        try:
            _make_file(path)
            return cls(_opened(path), path)
        except OSError as error:
            raise _unwritable(path, error.strerror or type(error).__name__) from error
        except sqlite3.Error as error:
            if kind_of(error) in ("damaged", "nonsense"):
                raise _unreadable(path, error) from error
            raise _unwritable(path, _reason(error)) from error

    def append(
        self,
        action: str,
        subject: str,
        details: Mapping[str, object] = _NOTHING,
        *,
        who: str | None = None,
        when: datetime | None = None,
    ) -> AuditEntry:
        """Add an entry, which is on the disk when this returns (or when the outer block commits).

        Raises StorageError ``audit.unwritable``; then nothing was added.
        """
        note = AuditNote(action, subject, details)
        try:
            with writing(self._connection):
                number, previous = self._last()
                now = datetime.now(UTC) if when is None else when
                entry = make_entry(note, number + 1, previous, who or whoever(), now)
                self._connection.execute(
                    "INSERT INTO audit VALUES (?, ?, ?, ?, ?, ?, ?, ?)", _row(entry)
                )
        except sqlite3.Error as error:
            raise _unwritable(self.where, _reason(error)) from error
        return entry

    def _last(self) -> tuple[int, str]:
        row = self._connection.execute(
            "SELECT n, hash FROM audit ORDER BY n DESC LIMIT 1"
        ).fetchone()
        counted = self._counter()
        if row is None:
            return counted, FIRST
        return max(int(row[0]), counted), str(row[1])

    def _counter(self) -> int:
        """The number of the last entry that was ever made, as SQLite counted it."""
        row = self._connection.execute(
            "SELECT seq FROM sqlite_sequence WHERE name = 'audit'"
        ).fetchone()
        return int(row[0]) if row is not None and isinstance(row[0], int) else 0

    def entries(self) -> tuple[AuditEntry, ...]:
        """All entries, oldest first. Raises StorageError ``audit.unreadable``."""
        with self._reading():
            return tuple(self._rows())

    def head(self) -> str:
        """The hash of the newest entry, empty when there is none."""
        with self._reading():
            return self._last()[1]

    def newest(self) -> AuditEntry | None:
        """The newest entry; None when there is none. Raises StorageError ``audit.unreadable``."""
        with self._reading():
            row = self._connection.execute(
                f"SELECT {', '.join(_FIELDS)} FROM audit ORDER BY n DESC LIMIT 1"
            ).fetchone()
        return None if row is None else AuditEntry(*row)

    def verify(self, known: Collection[str] = ()) -> AuditCheck:
        """Check the whole chain; ``known`` are heads that the log had at some time.

        A log that cannot be read any more is a fault, not an error.
        """
        count, previous, last_time = 0, FIRST, ""
        seen: set[str] = set()
        notes: list[str] = []
        try:
            for entry in self._rows():
                fault = _fault(entry, count + 1, previous)
                if fault is not None:
                    return AuditCheck(count, previous, fault, tuple(notes))
                if entry.time < last_time:
                    notes.append(
                        f"Entry {entry.n:,} was made at {entry.time}, before the entry above it: "
                        "the computer's clock was set back."
                    )
                count, previous, last_time = count + 1, entry.hash, entry.time
                seen.add(entry.hash)
            fault = self._end_fault(count, seen, known)
        except (sqlite3.Error, TypeError, ValueError) as error:
            reason = f"the entry cannot be read ({type(error).__name__})"
            fault = AuditFault(count + 1, reason)
        return AuditCheck(count, previous, fault, tuple(notes))

    def _end_fault(self, count: int, seen: set[str], known: Collection[str]) -> AuditFault | None:
        if self._counter() > count:
            reason = f"{self._counter() - count:,} entries were removed from the end"
            return AuditFault(count + 1, reason)
        if any(head not in seen for head in known):
            return AuditFault(count + 1, "an entry that was seen in this log before is missing")
        present = {
            str(row[0])
            for row in self._connection.execute(
                "SELECT sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'audit'"
            )
        }
        if not present.issuperset(SCHEMA[1:]):
            return AuditFault(count + 1, "the guard against changes was taken away")
        return None

    def export(self, path: Path, form: str, keeper: PartialKeeper) -> int:
        """Write all entries as ``csv`` or ``json``, whole or not at all; the number of entries.

        ``keeper`` minds the half-written file (:class:`~dpdesk.io.workspace.Workspace`).
        Raises InputError ``audit.format``, StorageError ``audit.unreadable``,
        ``audit-export.unwritable``.
        """
        from dpdesk.io.canonical import canonical_json
        from dpdesk.io.textfile import write_text

        if form not in FORMATS:
            raise InputError(
                "audit.format", f'The format "{form}" is unknown, expected `csv` or `json`.'
            )
        entries = self.entries()
        if form == "json":
            rows = [
                {**dict(zip(_FIELDS, _row(e), strict=True)), "details": e.facts} for e in entries
            ]
            head = entries[-1].hash if entries else FIRST
            text = canonical_json({"format": 1, "head": head, "entries": rows}).decode("utf-8")
        else:
            out = io.StringIO(newline="")
            writer = csv.writer(out, lineterminator="\n")
            writer.writerow(_FIELDS)
            writer.writerows(_row(entry) for entry in entries)
            text = out.getvalue()
        write_text(path, text, "audit-export", keeper)
        return len(entries)

    def close(self) -> None:
        """Close the file; only for a log that was opened by :meth:`open_home`."""
        self._connection.close()

    def __enter__(self) -> AuditLog:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _rows(self) -> Iterator[AuditEntry]:
        cursor = self._connection.execute(f"SELECT {', '.join(_FIELDS)} FROM audit ORDER BY n")
        for row in cursor:
            kinds = (int, *(str,) * (len(_FIELDS) - 1))
            if any(type(value) is not kind for value, kind in zip(row, kinds, strict=True)):
                raise TypeError("an entry is of other types than it should be")
            yield AuditEntry(*row)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, TypeError) as error:
            raise _unreadable(self.where, error) from error


def _row(entry: AuditEntry) -> tuple[object, ...]:
    return tuple(getattr(entry, name) for name in _FIELDS)


def _fault(entry: AuditEntry, number: int, previous: str) -> AuditFault | None:
    """What is wrong with the entry that should be the one of this number."""
    if entry.n != number:
        missing = entry.n - number
        words = "entry is" if missing == 1 else "entries are"
        return AuditFault(number, f"{missing:,} {words} missing before entry {entry.n:,}")
    if entry.hash != entry.expected_hash():
        return AuditFault(number, "what the entry says was changed")
    if entry.previous != previous:
        return AuditFault(number, "the entry does not follow the one before it")
    return None


def _make_file(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not path.exists():
        flags = os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0)
        os.close(os.open(path, flags, 0o600))


def _opened(path: Path) -> sqlite3.Connection:
    with path.open("rb") as stream:
        head = stream.read(len(HEADER))
    if head and head != HEADER:
        raise _unreadable(path, None)
    connection = connect(path, read_only=not os.access(path, os.W_OK))
    try:
        application, version = (
            connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("application_id", "user_version")
        )
        if (application, version) != (APPLICATION, VERSION):
            _begin(connection, path, application, version)
    except BaseException:
        connection.close()
        raise
    return connection


def _begin(connection: sqlite3.Connection, path: Path, application: int, version: int) -> None:
    """Make the table in an empty file; another program's file and a newer log are refused."""
    if application == APPLICATION and version > VERSION:
        raise StorageError(
            "audit.newer",
            f"{path}: the audit log was made by a newer version of DPDesk (format {version}, this "
            f"version knows {VERSION}).",
            hint="Use the newer version.",
        )
    with writing(connection):
        if connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is not None:
            if connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION:
                return  # another process has just made it
            raise _unreadable(path, None)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
        for statement in SCHEMA:
            connection.execute(statement)


def _unreadable(path: Path, error: Exception | None) -> StorageError:
    reason = "it is no audit log of DPDesk"
    if isinstance(error, sqlite3.Error):
        reason = _reason(error)
    elif error is not None:
        reason = "an entry is not what it should be"
    return StorageError(
        "audit.unreadable",
        f"{path}: the audit log could not be read: {reason}.",
        hint="Keep the file as evidence under another name; DPDesk then starts a new log.",
    )


def _unwritable(path: Path, reason: str) -> StorageError:
    return StorageError(
        "audit.unwritable",
        f"{path}: the audit log could not be written: {reason[:1].lower()}{reason[1:]}.",
        hint="Make it writable first: without an entry nothing is released or exported.",
        details={"path": str(path)},
    )


def _reason(error: sqlite3.Error) -> str:
    words = {
        "full": "the disk is full",
        "busy": "another program is holding it",
        "forbidden": "no permission",
        "damaged": "the file is damaged",
    }
    return words.get(kind_of(error), str(error))
