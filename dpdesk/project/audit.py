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
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from types import MappingProxyType

from dpdesk.core.closing import Closing
from dpdesk.core.errors import DpdeskError, InputError, StorageError
from dpdesk.core.jobs import CancelToken, Report, StepProgress, silent
from dpdesk.core.logged import Logged
from dpdesk.core.messages import counted, msg
from dpdesk.core.passwords import holds_password, without_password
from dpdesk.core.shapes import read_json
from dpdesk.core.systems import BINARY, open_plain
from dpdesk.io.canonical import canonical_json
from dpdesk.io.safewrite import PartialKeeper, replacing
from dpdesk.project.settings import acting_user
from dpdesk.project.sql import (
    HEADER,
    OPENS_NOW,
    ChangedObject,
    changed_object,
    connect,
    kind_of,
    marks,
    not_opened,
    opens_now,
    refusal_words,
    refuse_changed,
    writing,
)

# Entries of an audit log and the chain that holds them together, apart from where they lie.


FIRST = ""
FIELDS = ("n", "time", "who", "action", "subject", "details", "previous", "hash")
_SEARCHED = ("time", "who", "action", "subject", "details", "hash")
_DOMAIN = b"dpdesk-audit-v1\n"
_NOTHING: Mapping[str, object] = MappingProxyType({})


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
        body = {name: getattr(self, name) for name in FIELDS[:-1]}
        text = json.dumps(body, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        return hashlib.sha256(_DOMAIN + text.encode("ascii")).hexdigest()

    @property
    def fields(self) -> tuple[object, ...]:
        """All fields, in the order of FIELDS."""
        return tuple(getattr(self, name) for name in FIELDS)

    @property
    def facts(self) -> Mapping[str, object]:
        """The details as a table; empty when they are no table."""
        try:
            found = read_json(self.details)
        except ValueError:
            return _NOTHING
        return found if isinstance(found, dict) else _NOTHING


@dataclass(frozen=True)
class AuditNote:
    """Something to be entered: what was done, with what, and further facts (no data values)."""

    action: Logged
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


@dataclass(frozen=True)
class AuditSize:
    """The last number of a log, how many entries there are, and what kinds of action."""

    last: int
    entries: int
    actions: tuple[str, ...]


@dataclass(frozen=True)
class AuditSearch:
    """Entries that hold all of some ``words`` anywhere, and are of an ``action``; empty: all."""

    words: str = ""
    action: str = ""

    def condition(self, last: int) -> tuple[str, tuple[object, ...]]:
        """As SQL with its values, for entries up to number ``last``."""
        parts = ["n <= ?"]
        found: list[object] = [last]
        if self.action:
            parts.append("action = ?")
            found.append(self.action)
        for word in self.words.split():
            # Details are JSON in ASCII: other letters stand there as they are written in it.
            plain, written = _pattern(word), _pattern(json.dumps(word)[1:-1])
            parts.append("(" + " OR ".join(f"{name} LIKE ? ESCAPE '!'" for name in _SEARCHED) + ")")
            found += [written if name == "details" else plain for name in _SEARCHED]
        return " AND ".join(parts), tuple(found)


def _pattern(word: str) -> str:
    for letter in "!%_":
        word = word.replace(letter, f"!{letter}")
    return f"%{word}%"


class Chain:
    """The chain as far as it has been followed."""

    def __init__(self) -> None:
        self.count = 0
        self.seen: set[str] = set()
        self._previous, self._time = FIRST, ""
        self._notes: list[str] = []

    def add(self, entry: AuditEntry) -> AuditFault | None:
        """Follow it by one entry; what is wrong with that."""
        fault = _fault(entry, self.count + 1, self._previous)
        if fault is not None:
            return fault
        if entry.time < self._time:
            self._notes.append(
                msg(
                    "Entry {n:,} was made at {time}, before the entry above it: the computer's "
                    "clock was set back.",
                    n=entry.n,
                    time=entry.time,
                )
            )
        self.count, self._previous, self._time = self.count + 1, entry.hash, entry.time
        self.seen.add(entry.hash)
        return None

    def told(self, fault: AuditFault | None) -> AuditCheck:
        """What following it has shown."""
        return AuditCheck(self.count, self._previous, fault, tuple(self._notes))


def make_entry(note: AuditNote, number: int, previous: str, who: str, when: datetime) -> AuditEntry:
    """The entry number ``number`` for a note. TypeError when the details have no JSON form."""
    from dpdesk.io.canonical import to_plain

    time = when.astimezone(UTC).replace(microsecond=0).isoformat()
    details = json.dumps(_kept(to_plain(note.details)), sort_keys=True, ensure_ascii=True)
    subject = without_password(note.subject)  # an address that was given for a file
    action, subject, who = (_one_line(text) for text in (note.action, subject, who))
    draft = AuditEntry(number, time, who, action, subject, details, previous, "")
    return AuditEntry(number, time, who, action, subject, details, previous, draft.expected_hash())


def _kept(value: object) -> object:
    """Plain values without the passwords of addresses that were given for files."""
    if isinstance(value, Mapping):
        return {key: _kept(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_kept(item) for item in value]
    return without_password(value) if isinstance(value, str) and holds_password(value) else value


def _one_line(text: str) -> str:
    """A text without line breaks that any file can hold; odd bytes of a path as escapes."""
    return " ".join(text.split()).encode("utf-8", "backslashreplace").decode("utf-8")


def _fault(entry: AuditEntry, number: int, previous: str) -> AuditFault | None:
    """What is wrong with the entry that should be the one of this number."""
    if entry.n != number:
        missing = entry.n - number
        words = "entry is" if missing == 1 else "entries are"
        return AuditFault(
            number,
            msg(
                "{missing:,} {words} missing before entry {n:,}",
                missing=missing,
                words=words,
                n=entry.n,
            ),
        )
    if entry.hash != entry.expected_hash():
        return AuditFault(number, "what the entry says was changed")
    if entry.previous != previous:
        return AuditFault(number, "the entry does not follow the one before it")
    return None


__all__ = [
    "FILE",
    "AuditCheck",
    "AuditEntry",
    "AuditFault",
    "AuditLog",
    "AuditNote",
    "AuditSearch",
    "AuditSize",
    "make_entry",
]

FILE = "audit.sqlite"
APPLICATION = 0x44504155  # "DPAU"
VERSION = 1
CHECKING = "Check the chain"
_TYPES = (int, *(str,) * (len(FIELDS) - 1))
_PIECE = 500
_TURN = 20
LOOK_SECONDS = 3.0

SCHEMA = (
    "CREATE TABLE audit (n INTEGER PRIMARY KEY AUTOINCREMENT, time TEXT NOT NULL, "
    "who TEXT NOT NULL, action TEXT NOT NULL, subject TEXT NOT NULL, details TEXT NOT NULL, "
    "previous TEXT NOT NULL, hash TEXT NOT NULL UNIQUE)",
    "CREATE TRIGGER audit_no_change BEFORE UPDATE ON audit "
    "BEGIN SELECT RAISE(ABORT, 'the audit log only grows'); END",
    "CREATE TRIGGER audit_no_removal BEFORE DELETE ON audit "
    "BEGIN SELECT RAISE(ABORT, 'the audit log only grows'); END",
)


class AuditLog(Closing):
    """A log over an SQLite connection; for one thread. Use :meth:`open_home` or a project's own.

    ``where`` is the file, for messages.
    """

    def __init__(self, connection: sqlite3.Connection, where: Path) -> None:
        self._connection = connection
        self.where = where

    @classmethod
    def open_home(cls, home: Path, *, looking: bool = False) -> AuditLog:
        """The log of the home folder, made when there is none; read only where it must be.

        Who is only ``looking`` waits less long for a log that others hold.
        Raises StorageError ``audit.unwritable``, ``audit.unreadable``, ``audit.newer``.
        """
        path = home.absolute() / FILE
        try:
            _make_file(path)
            return cls(_opened(path, LOOK_SECONDS if looking else None), path)
        except OSError as error:
            raise (_unseen if looking else _unwritable)(path, refusal_words(error)) from error
        except sqlite3.Error as error:
            if kind_of(error) in ("damaged", "nonsense"):
                raise _unreadable(path, error) from error
            raise (_unseen if looking else _unwritable)(path, _reason(error, path)) from error

    def append(
        self,
        action: Logged,
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
                entry = make_entry(note, number + 1, previous, who or acting_user(), now)
                self._connection.execute(
                    "INSERT INTO audit VALUES (?, ?, ?, ?, ?, ?, ?, ?)", entry.fields
                )
        except sqlite3.Error as error:
            raise _unwritable(self.where, _reason(error, self.where)) from error
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

    def entries_of(self, *actions: Logged) -> tuple[AuditEntry, ...]:
        """Entries with one of these actions, oldest first. Raises ``audit.unreadable``."""
        marks = ", ".join("?" * len(actions))
        with self._reading():
            rows = self._connection.execute(
                f"SELECT {', '.join(FIELDS)} FROM audit WHERE action IN ({marks}) ORDER BY n",
                actions,
            ).fetchall()
            if any(tuple(type(value) for value in row) != _TYPES for row in rows):
                raise TypeError("an entry is of other types than it should be")
        return tuple(AuditEntry(*row) for row in rows)

    def head(self) -> str:
        """The hash of the newest entry, empty when there is none."""
        with self._reading():
            return self._last()[1]

    def first(self) -> str:
        """The hash of the first entry, which names the log, empty when there is none."""
        with self._reading():
            row = self._connection.execute("SELECT hash FROM audit ORDER BY n LIMIT 1").fetchone()
        return "" if row is None else str(row[0])

    def lacking(self, hashes: Iterable[str]) -> tuple[str, ...]:
        """Those of these hashes that no entry has. Raises StorageError ``audit.unreadable``."""
        asked = "SELECT 1 FROM audit WHERE hash = ?"
        with self._reading():
            return tuple(
                one for one in hashes if self._connection.execute(asked, (one,)).fetchone() is None
            )

    def lost_some(self) -> bool:
        """Whether entries that were made are gone. Raises StorageError ``audit.unreadable``."""
        with self._reading():
            held = self._connection.execute("SELECT count(*) FROM audit").fetchone()
            return int(held[0]) < self._ends()[1]

    def newest(self) -> AuditEntry | None:
        """The newest entry; None when there is none. Raises StorageError ``audit.unreadable``."""
        with self._reading():
            row = self._connection.execute(
                f"SELECT {', '.join(FIELDS)} FROM audit ORDER BY n DESC LIMIT 1"
            ).fetchone()
        return None if row is None else AuditEntry(*row)

    def verify(
        self,
        known: Collection[str] = (),
        token: CancelToken | None = None,
        report: Report = silent,
    ) -> AuditCheck:
        """Check the whole chain; ``known`` are heads that the log had at some time.

        What others enter meanwhile is left for the next time, and nobody has to wait for this. A
        log that cannot be read any more is a fault, not an error. Raises Cancelled.
        """
        chain = Chain()
        try:
            counted, last = self._ends()
            for entry in self._rows_up_to(last):
                if token is not None and chain.count % _PIECE == 0:
                    token.check()
                    report(StepProgress(CHECKING, chain.count, last, "entries"))
                fault = chain.add(entry)
                if fault is not None:
                    return chain.told(fault)
            fault = self._end_fault(chain, counted, known)
        except (sqlite3.Error, TypeError, ValueError) as error:
            reason = msg("the entry cannot be read ({error})", error=type(error).__name__)
            fault = AuditFault(chain.count + 1, reason)
        return chain.told(fault)

    def _ends(self) -> tuple[int, int]:
        """How many entries were ever made, and the last number to look at, at one instant."""
        row = self._connection.execute(
            "SELECT (SELECT seq FROM sqlite_sequence WHERE name = 'audit'), max(n) FROM audit"
        ).fetchone()
        counted, last = (number if isinstance(number, int) else 0 for number in row)
        return counted, max(counted, last)

    def _end_fault(self, chain: Chain, entered: int, known: Collection[str]) -> AuditFault | None:
        if entered > chain.count:
            lost = entered - chain.count
            words = counted(
                "{n:,} entry was removed from the end",
                "{n:,} entries were removed from the end",
                n=lost,
            )
            return AuditFault(chain.count + 1, words)
        if any(head not in chain.seen for head in known):
            reason = "an entry that was seen in this log before is missing"
            if chain.count == 0:
                reason = (
                    "the log was removed: it is empty, and signatures or debits name its entries"
                )
            return AuditFault(chain.count + 1, reason)
        changed = changed_object(self._connection, SCHEMA, "audit")
        return None if changed is None else AuditFault(chain.count + 1, changed.reason)

    # ---- looking at some of it

    def size(self) -> AuditSize:
        """How much there is. Raises StorageError ``audit.unreadable``."""
        with self._reading():
            rows = self._connection.execute("SELECT DISTINCT action FROM audit ORDER BY 1")
            actions = tuple(str(row[0]) for row in rows)
            last = self._ends()[1]
            return AuditSize(last, self.count(AuditSearch(), last), actions)

    def count(self, search: AuditSearch, last: int) -> int:
        """How many entries up to number ``last`` are searched for."""
        where, values = search.condition(last)
        with self._reading():
            row = self._connection.execute(f"SELECT count(*) FROM audit WHERE {where}", values)
            return int(row.fetchone()[0])

    @property
    def writable(self) -> bool:
        """Whether the file lets entries be made."""
        return os.access(self.where, os.W_OK)

    def page(
        self, search: AuditSearch, last: int, start: int, count: int
    ) -> tuple[AuditEntry, ...]:
        """Entries up to number ``last`` that are searched for, newest first.

        Entries that are not what they should be are given all the same, as texts.
        """
        where, values = search.condition(last)
        with self._reading():
            rows = self._connection.execute(
                f"SELECT {', '.join(FIELDS)} FROM audit WHERE {where} "
                "ORDER BY n DESC LIMIT ? OFFSET ?",
                (*values, count, start),
            ).fetchall()
        return tuple(AuditEntry(int(row[0]), *(str(value) for value in row[1:])) for row in rows)

    def export(
        self,
        path: Path,
        form: str,
        keeper: PartialKeeper,
        token: CancelToken | None = None,
        *,
        new: bool = False,
    ) -> int:
        """Write all entries as ``csv`` or ``json``, whole or not at all; the number of entries.

        ``keeper`` minds the half-written file (:class:`~dpdesk.io.workspace.Workspace`); with
        ``new`` no other file is replaced.
        Raises InputError ``audit.format``, StorageError ``audit.unreadable``,
        ``audit-export.unwritable``, and Cancelled.
        """
        return write_log(self._readable(), path, form, keeper, token, new=new)

    def _readable(self) -> Iterator[AuditEntry]:
        with self._reading():
            yield from self._rows()

    def close(self) -> None:
        """Close the file; only for a log that was opened by :meth:`open_home`."""
        self._connection.close()

    def _rows(self) -> Iterator[AuditEntry]:
        yield from self._rows_up_to(self._ends()[1])

    def _rows_up_to(self, last: int) -> Iterator[AuditEntry]:
        """In pieces, so that whoever has an entry to make is not kept waiting."""
        seen = 0
        while rows := self._connection.execute(
            f"SELECT {', '.join(FIELDS)} FROM audit WHERE n > ? AND n <= ? ORDER BY n LIMIT ?",
            (seen, last, _PIECE),
        ).fetchall():
            for number, row in enumerate(rows):
                if number % _TURN == 0:
                    time.sleep(0)  # lets a window's event loop take its turn
                if tuple(type(value) for value in row) != _TYPES:
                    raise TypeError("an entry is of other types than it should be")
                yield AuditEntry(*row)
            seen = rows[-1][0]

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, TypeError) as error:
            if isinstance(error, sqlite3.Error) and kind_of(error) == "busy":
                raise _unseen(self.where, _reason(error, self.where)) from error
            raise _unreadable(self.where, error) from error


def _make_file(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not path.exists():
        flags = os.O_WRONLY | os.O_CREAT | BINARY
        os.close(os.open(path, flags, 0o600))


def _opened(path: Path, patience: float | None) -> sqlite3.Connection:
    with open_plain(path) as stream:
        head = stream.read(len(HEADER))
    if head and head != HEADER:
        raise _unreadable(path, None)
    connection = connect(path, read_only=not os.access(path, os.W_OK), patience=patience)
    try:
        found = marks(connection)
        if found != (APPLICATION, VERSION):
            _begin(connection, path, *found)
        refuse_changed(connection, SCHEMA, lambda found: _changed(path, found))
    except BaseException:
        connection.close()
        raise
    return connection


def _begin(connection: sqlite3.Connection, path: Path, application: int, version: int) -> None:
    """Make the table in an empty file; another program's file and a newer log are refused."""
    if application == APPLICATION and version > VERSION:
        raise StorageError(
            "audit.newer",
            msg(
                "{path}: the audit log was made by a newer version of DPDesk (format {version}, "
                "this version knows {known}).",
                path=path,
                version=version,
                known=VERSION,
            ),
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
    reason = "it is not an audit log of DPDesk"
    if isinstance(error, sqlite3.Error):
        reason = _reason(error, path)
    elif error is not None:
        reason = "an entry does not have the expected form"
    return StorageError(
        "audit.unreadable",
        msg("{path}: the audit log could not be read: {reason}.", path=path, reason=reason),
        hint="Keep the file as evidence under another name; DPDesk then starts a new log.",
    )


def _changed(path: Path, changed: ChangedObject) -> StorageError:
    return StorageError(
        "audit.unreadable",
        msg(
            "{path}: the audit log holds {found}; such a change can alter what is entered.",
            path=path,
            found=changed.words,
        ),
        hint="Keep the file as evidence under another name; DPDesk then starts a new log.",
        details={"path": str(path)},
    )


def _unseen(path: Path, reason: str) -> StorageError:
    return StorageError(
        "audit.unreadable",
        msg(
            "{path}: the audit log could not be opened: {reason}.",
            path=path,
            reason=f"{reason[:1].lower()}{reason[1:]}",
        ),
        hint="Until it can be, nothing is released or exported. Close the program that is "
        "holding it, or ask for permission to write there, then try again.",
        details={"path": str(path)},
    )


def _unwritable(path: Path, reason: str) -> StorageError:
    return StorageError(
        "audit.unwritable",
        msg(
            "{path}: the audit log could not be written: {reason}.",
            path=path,
            reason=f"{reason[:1].lower()}{reason[1:]}",
        ),
        hint="Make it writable first: without an entry nothing is released or exported.",
        details={"path": str(path)},
    )


def _reason(error: sqlite3.Error, path: Path) -> str:
    refused = not_opened(error, path)
    if refused is not None and not isinstance(refused, PermissionError):
        return refusal_words(refused)
    if opens_now(error, path):
        return OPENS_NOW
    words = {
        "full": "the disk is full",
        "busy": "another program is holding it",
        "forbidden": "no permission",
        "damaged": "the file is damaged",
    }
    return words.get(kind_of(error), str(error))


FORMATS = ("csv", "json")
_AUDIT_EXPORT_PIECE = 200


def write_log(
    entries: Iterator[AuditEntry],
    path: Path,
    form: str,
    keeper: PartialKeeper,
    token: CancelToken | None,
    *,
    new: bool = False,
) -> int:
    """Write entries as ``csv`` or ``json``, whole or not at all; how many they were.

    The JSON file is in canonical form. Raises InputError ``audit.format``, StorageError
    ``audit-export.unwritable``, Cancelled, and what reading ``entries`` raises.
    """
    if form not in FORMATS:
        raise InputError(
            "audit.format",
            msg('The format "{form}" is unknown, expected `csv` or `json`.', form=form),
        )
    counted = _Counted(entries, token)
    pieces = _as_json(counted) if form == "json" else _as_csv(counted)
    try:
        with (
            replacing(path, keeper, new=new) as fresh,
            fresh.open("x", encoding="utf-8", newline="") as out,
        ):
            for piece in pieces:
                out.write(piece)
    except (StorageError, InputError) as error:
        if counted.failure is error:
            raise
        raise StorageError("audit-export.unwritable", error.sentence, hint=error.hint) from error
    except ValueError as error:
        sentence = msg("{path}: cannot be written: {error}.", path=path, error=error)
        raise StorageError("audit-export.unwritable", sentence) from error
    return counted.count


class _Counted:
    """Entries one after the other, counted; what went wrong with reading them."""

    def __init__(self, entries: Iterator[AuditEntry], token: CancelToken | None) -> None:
        self._entries, self._token = entries, token
        self.count, self.head = 0, FIRST
        self.failure: DpdeskError | None = None

    def __iter__(self) -> Iterator[AuditEntry]:
        try:
            for entry in self._entries:
                if self._token is not None and self.count % _AUDIT_EXPORT_PIECE == 0:
                    self._token.check()
                self.count, self.head = self.count + 1, entry.hash
                yield entry
        except DpdeskError as error:
            self.failure = error
            raise


def _as_csv(entries: _Counted) -> Iterator[str]:
    head: tuple[object, ...] = FIELDS
    for row in chain((head,), (entry.fields for entry in entries)):
        text = io.StringIO(newline="")
        csv.writer(text, lineterminator="\n").writerow(row)
        yield text.getvalue()


def _as_json(entries: _Counted) -> Iterator[str]:
    yield '{\n  "entries": ['
    for entry in entries:
        row = {**dict(zip(FIELDS, entry.fields, strict=True)), "details": entry.facts}
        text = canonical_json(row).decode("utf-8").rstrip("\n")
        yield ("\n    " if entries.count == 1 else ",\n    ") + text.replace("\n", "\n    ")
    yield ("\n  ]" if entries.count else "]") + ',\n  "format": 1,\n  "head": '
    yield json.dumps(entries.head, ensure_ascii=False) + "\n}\n"
