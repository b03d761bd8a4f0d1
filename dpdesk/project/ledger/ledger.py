"""The ledger file: one SQLite database to which entries are only ever added.

A debit is on the disk (rollback journal, a sync at every commit) before it is given out, and it is
made in one immediate transaction together with the look at what was spent before, so that two
processes cannot overspend together. Whatever a kill cuts short is either not begun or spent:
nothing that was spent is ever forgotten.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType

from dpdesk import __version__
from dpdesk.core.budget import Budget, Debit, DebitRequest, issue_debit
from dpdesk.core.closing import Closing
from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.systems import network_share
from dpdesk.project.ledger import file
from dpdesk.project.ledger.accounts import Book, raises
from dpdesk.project.ledger.file import (
    PEOPLE_VERSION,
    RESTORED_VERSION,
    SCHEMA,
    VERSION,
    committing,
    connected,
    failures,
    has_entry,
    make_file,
    patiently,
    raise_version,
)
from dpdesk.project.ledger.judging import Preview, adopted, preview, refusal
from dpdesk.project.ledger.people import check_people
from dpdesk.project.ledger.records import (
    FIRST,
    AccountKey,
    AuditEnd,
    Begun,
    Body,
    Debited,
    Kind,
    LedgerEntry,
    LimitSet,
    Outcome,
    PeopleDeclared,
    Restored,
    Settled,
    is_said,
    one_line,
    request_for_ledger,
)
from dpdesk.project.ledger.witness import Witness
from dpdesk.project.settings import acting_user
from dpdesk.project.sql import changed_object, kind_of, reading

NOTHING_KNOWN: Mapping[int, str] = MappingProxyType({})
_FIELDS = "n, time, who, kind, body, previous, hash"
_VERSIONS = {Kind.RESTORED: RESTORED_VERSION, Kind.PEOPLE: PEOPLE_VERSION}


@dataclass(frozen=True)
class LedgerFault:
    """Where a ledger is broken: the number of the first entry that is wrong, and why."""

    n: int
    reason: str


@dataclass(frozen=True)
class LedgerCheck:
    """What checking a ledger showed; ``notes`` are sentences about what is odd but possible.

    ``audit`` says what is wrong with the audit log that goes with it; empty where nothing is.
    """

    entries: int
    head: str
    fault: LedgerFault | None
    notes: tuple[str, ...] = ()
    audit: str = ""

    @property
    def ok(self) -> bool:
        """Whether the whole chain holds, and the audit log has what it names."""
        return self.fault is None and not self.audit


class Ledger(Closing):
    """An open ledger; for the thread that opened it. Close it, or use it as a context.

    ``made`` says that opening it made the file; ``read_only`` that nothing can be written;
    ``unwitnessed`` why the witness could not be told of what was entered, empty where it was.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path,
        made: bool,
        read_only: bool,
        token: CancelToken | None = None,
        witness: Witness | None = None,
    ) -> None:
        self._token = token
        self._witness = witness
        self.unwitnessed = ""
        self.path = path
        self.made = made
        self.read_only = read_only
        self._connection = connection
        self._book = Book()
        self._last: tuple[int, str] = (0, FIRST)

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        create: bool = True,
        shared: bool = False,
        token: CancelToken | None = None,
        share: Callable[[Path], str] = network_share,
        witness: Witness | None = None,
        begun: LedgerEntry | None = None,
    ) -> Ledger:
        """Open a ledger, for reading only where it cannot be written; make it if ``create``.

        A new one can be read by its maker alone, or with ``shared`` by whom the folder's habit
        (umask) allows.
        ``share`` tells the kind of network share. What the ``witness`` knows is compared before
        anything is added, and it is told of every entry before a debit is given out. One that is
        made has ``begun`` for its first entry, where a lost one is made again.
        Raises StorageError ``ledger.missing``, ``ledger.no-folder``, ``ledger.network``,
        ``ledger.broken``, ``ledger.damaged``, ``ledger.busy``, ``ledger.disk-full`` and the like;
        InputError ``ledger.not-a-ledger``, ``ledger.newer``.
        """
        path = Path(os.path.realpath(path))
        kind = share(path)
        if kind and create:
            raise file.on_a_share(path, kind)
        with failures(path):
            made = make_file(path, 0o666 if shared else 0o600) if create else False
            ledger = cls(*patiently(lambda: connected(path, made, begun), token), token, witness)
            try:
                patiently(ledger._read, token)
            except BaseException:
                ledger.close()
                raise
        return ledger

    @property
    def identity(self) -> str:
        """The ledger's id, which never changes."""
        return self._book.ledger

    @property
    def book(self) -> Book:
        """The accounts as they are on the disk now. Raises as :meth:`open` does."""
        with failures(self.path):
            patiently(self._read, self._token)
        return self._book

    def _read(self) -> None:
        with reading(self._connection):
            self._catch_up()

    def preview(self, request: DebitRequest, limit: Fraction | None = None) -> Preview:
        """What the ledger would say after this debit; nothing is written. See :class:`Preview`."""
        return preview(self.book, request_for_ledger(request), limit, str(self.path))

    def debit(
        self,
        request: DebitRequest,
        limit: Fraction | None = None,
        known: Mapping[int, str] = NOTHING_KNOWN,
        audit: AuditEnd | None = None,
    ) -> Debit:
        """Take a cost from the budget; it is on the disk when this returns.

        ``limit`` is the plan's, in the kind of the cost; with the debit it becomes the limit of the
        account where that has none yet or a larger one of its kind. The account's own limit counts
        in every case, whatever the plan says.
        ``known`` are hashes that entries of this ledger are known to have; ``audit`` is where the
        audit log ends, which the debit keeps.

        Raises RefusedError ``ledger.exhausted``, ``ledger.incomparable``; StorageError ``ledger.*``
        when it cannot be written. Nothing was debited then, except that a disk which fails at the
        end of a commit may have kept the debit: then it shows as spent, outcome unknown, and the
        error is ``ledger.unsure``.
        """
        request = request_for_ledger(request)
        with self._adding(known):
            problem: RefusedError | None = refusal(self._book, request, limit, str(self.path))
            if problem is not None:
                raise problem
            lower = adopted(self._book, request, limit)
            entry = self._add(Debited(request, __version__, audit))
            if lower is not None:
                self._add(LimitSet(AccountKey.of(request), lower, request.title, by_plan=True))
        return issue_debit(
            request,
            ledger=self.identity,
            row=entry.n,
            entry=entry.hash,
            time=entry.time,
            population=request.population,
        )

    def settle(
        self, debit: Debit | int, outcome: Outcome, *, manifest: str = "", reason: str = ""
    ) -> None:
        """Record what became of a debit: released (with its manifest's hash), failed, cancelled.

        The budget stays spent in every case. Raises RefusedError ``ledger.settled`` when that is
        recorded already or there is no such debit; StorageError.
        """
        number = debit if isinstance(debit, int) else debit.row
        with self._adding():
            record = self._book.debits.get(number)
            other = isinstance(debit, Debit) and debit.ledger != self.identity
            if record is None or record.settled is not None or other:
                found = (
                    ("not a debit of this ledger") if record is None or other else "already settled"
                )
                raise RefusedError(
                    "ledger.settled",
                    msg(
                        "{path}: entry {number:,} is {found}, expected a debit without outcome.",
                        path=self.path,
                        number=number,
                        found=found,
                    ),
                )
            self._add(Settled(number, outcome, manifest, reason))

    def set_limit(self, key: AccountKey, limit: Budget | None, reason: str = "") -> None:
        """Set the limit of an account from now on; None takes it away.

        A limit below what is spent already is allowed: nothing more can be debited then. Raises
        InputError ``ledger.reason`` where a limit is raised or taken away without a reason,
        StorageError.
        """
        with self._adding():
            self.check_reason(key, limit, reason)
            self._add(LimitSet(key, limit, reason))

    def check_reason(self, key: AccountKey, limit: Budget | None, reason: str) -> None:
        """Raise InputError ``ledger.reason`` where setting this limit needs a reason."""
        before = self._book.limit(key)
        if raises(before, limit) and not is_said(reason):
            raise file.no_reason(self.path, str(key), str(before))

    def declare_people(self, one: str, other: str, same: bool, reason: str) -> None:
        """Say that two names of populations mean the same people, or other ones, from now on.

        The debits of the same people count together, and every limit of theirs binds all. Raises
        InputError ``ledger.reason`` without a reason, ``ledger.people`` where the two are one name
        or an earlier declaration says otherwise; StorageError.
        """
        with self._adding():
            self.check_people(one, other, same, reason)
            self._add(PeopleDeclared(one_line(one), one_line(other), same, reason))

    def check_people(self, one: str, other: str, same: bool, reason: str) -> None:
        """Raise InputError where :meth:`declare_people` would."""
        check_people(self._book.people, one, other, same, reason, self.path)

    def require(self, known: Mapping[int, str]) -> None:
        """Raise StorageError ``ledger.restored`` when an entry that is known is not there."""
        witnessed = self._witnessed()  # before the file: the ledger is the first to know
        self._must_hold(known, self.book, witnessed)

    def require_witness(self) -> None:
        """Raise StorageError ``witness.lost``, ``witness.damaged`` where it stops spending."""
        if self._witness is not None and self._witness.usable():
            self._must_be_witnessed(self.book)

    def _must_be_witnessed(self, book: Book) -> None:
        """Stop where the witness has forgotten this ledger, or a part of what it knew.

        It is told what it lacks in between: a line that a kill has cut short is whole then.
        """
        if self._witness is None or self.unwitnessed:
            return
        if (book.debits or book.limits) and not self._witnessed():
            last = max((record.time for record in book.debits.values()), default="")
            raise file.unwitnessed(self.path, self._witness.path, last)
        self._tell()
        self._witness.refuse(self.unwitnessed)
        self._witness.check(self.identity)

    def accept(self, reason: str) -> None:
        """Go on although the witness was lost or damaged: it is told all that the ledger has.

        Raises StorageError ``ledger.restored`` where the witness knows more than the ledger,
        ``witness.unwritable``.
        """
        if self._witness is None:
            return
        self._must_hold(NOTHING_KNOWN, self.book, self._witnessed())
        now = datetime.now(UTC).replace(microsecond=0).isoformat()
        who, said = acting_user(), one_line(reason)
        self.unwitnessed = self._witness.accept(self.identity, self.path, who, now, said)
        self._tell()
        self._witness.refuse(self.unwitnessed, firmly=self._witness.usable())

    def lost(self, known: Iterable[LedgerEntry] = ()) -> tuple[LedgerEntry, ...]:
        """The entries that the witness has, or that are ``known``, and the ledger does not."""
        witnessed = self._witnessed()
        return _lost(self.book, (*witnessed, *known))

    def restore(self, known: Iterable[LedgerEntry] = ()) -> tuple[LedgerEntry, ...]:
        """Enter again what is lost, of the witness and of ``known``; the entries, oldest first.

        Where they follow the ledger's end they are entered as they were; after other entries each
        is entered as a lost one. ``known`` must be entries of this ledger, each whole. Raises
        StorageError when it cannot be written.
        """
        with failures(self.path), self._transaction():
            missing = _lost(self._book, (*self._witnessed(), *known))
            for entry in missing:
                if entry.hash in self._book.hashes:
                    continue  # came back inside another one
                if (entry.n, entry.previous) == (self._last[0] + 1, self._last[1]):
                    self._insert(entry)
                else:
                    self._add(Restored(entry))
        self._tell()
        return missing

    def tell_witness(self) -> str:
        """Tell the witness of entries that it lacks; why that was impossible, or nothing.

        One that has forgotten this ledger is told nothing before that was accepted.
        """
        if self._witnessed() or not (self._book.debits or self._book.limits):
            self._tell()
        return self.unwitnessed

    def entries(self) -> tuple[LedgerEntry, ...]:
        """All entries, oldest first. Raises as :meth:`open` does."""
        with failures(self.path):
            return patiently(lambda: tuple(_rows(self._connection, 0)), self._token)

    def check(self, known: Mapping[int, str] = NOTHING_KNOWN) -> LedgerCheck:
        """Check the whole chain again from its first entry. Never raises for what is broken."""
        with failures(self.path):
            return patiently(lambda: _check(self._connection, known), self._token)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    @contextmanager
    def _adding(self, known: Mapping[int, str] = NOTHING_KNOWN) -> Iterator[None]:
        """A transaction on top of a ledger that has all that is known; then the witness is told.

        Nothing is entered where the witness's place was named and cannot be written, or does not
        take what the ledger has already: an entry that is on the disk cannot be taken back.
        """
        if self._witness is not None:
            self.unwitnessed = self._witness.ready()
        with failures(self.path), self._transaction():
            if _pages_fault(self._connection):
                raise file.damaged(self.path)
            self._must_hold(known, self._book, self._witnessed())
            self._must_be_witnessed(self._book)
            yield
        self._tell()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """One transaction on top of what is on the disk; memory follows only a whole commit."""
        before = self._book, self._last
        try:
            patiently(lambda: self._connection.execute("BEGIN IMMEDIATE"), self._token)
            with committing(self._connection):
                self._catch_up()
                before = self._book.copy(), self._last
                yield
        except BaseException as error:
            entered, (self._book, self._last) = self._last, before
            failed = isinstance(error, sqlite3.Error) and entered != self._last
            if failed and has_entry(self._connection, *entered):
                raise file.unsure(self.path, entered[0]) from error
            raise

    def _witnessed(self) -> tuple[LedgerEntry, ...]:
        return () if self._witness is None else self._witness.entries(self.identity)

    def _must_hold(
        self, known: Mapping[int, str], book: Book, witnessed: tuple[LedgerEntry, ...]
    ) -> None:
        """Stop where something is known that the ledger does not have."""
        forgotten = {n: one for n, one in known.items() if one not in book.hashes}
        lost = _lost(book, witnessed)
        if lost or forgotten:
            numbers = {entry.n for entry in lost} | set(forgotten)
            debits = {entry.n for entry in lost if entry.kind == Kind.DEBIT} | set(forgotten)
            raise file.restored(self.path, len(numbers), len(debits), min(numbers))

    def _tell(self) -> None:
        """Tell the witness what the ledger has and it has not."""
        if self._witness is None or self.unwitnessed:
            return
        heard = {entry.hash for entry in self._witnessed()}
        with failures(self.path):  # what is entered already must be told: nothing stops that
            new = patiently(lambda: self._unheard(heard), None)
        if new:
            self.unwitnessed = self._witness.keep(self.identity, self.path, new)

    def _unheard(self, heard: Collection[str]) -> list[LedgerEntry]:
        """The entries whose hashes are not among these."""
        with closing(self._connection.execute("SELECT n, hash FROM entries ORDER BY n")) as held:
            first = next((int(n) for n, one in held if one not in heard), None)
        if first is None:
            return []
        return [one for one in _rows(self._connection, first - 1) if one.hash not in heard]

    def _add(self, body: Body) -> LedgerEntry:
        number, previous = self._last
        now = datetime.now(UTC).replace(microsecond=0).isoformat()
        entry = LedgerEntry.make(body, number + 1, previous, acting_user(), now)
        self._insert(entry)
        return entry

    def _insert(self, entry: LedgerEntry) -> None:
        raise_version(self._connection, _version(entry))
        self._connection.execute(
            "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?)",
            (entry.n, entry.time, entry.who, entry.kind, entry.body, entry.previous, entry.hash),
        )
        self._take(entry)

    def _take(self, entry: LedgerEntry) -> None:
        self._book.take(entry)
        self._last = (entry.n, entry.hash)

    def _catch_up(self) -> None:
        """Read and check what others added; what was read before must still be there."""
        number, head = self._last
        if number and _hash_of(self._connection, number) != head:
            raise file.broken(self.path, number, "an entry that was here is gone or changed")
        for entry in _rows(self._connection, number):
            reason = _fault(entry, *self._last)
            if not reason:
                try:
                    self._take(entry)
                except ValueError as error:
                    reason = str(error)
            if reason:
                raise file.broken(self.path, self._last[0] + 1, reason)
        reason = _end_fault(self._connection, self._last[0])
        if reason:
            raise file.broken(self.path, self._last[0] + 1, reason)


def _version(entry: LedgerEntry) -> int:
    """The layout that an entry needs."""
    content = entry.content
    inner = _version(content.entry) if isinstance(content, Restored) else VERSION
    return max(inner, _VERSIONS.get(Kind(entry.kind), VERSION))


def _lost(book: Book, known: Iterable[LedgerEntry]) -> tuple[LedgerEntry, ...]:
    """Each known entry that a ledger does not have, once, in the order of their numbers."""
    found = {entry.hash: entry for entry in known if entry.hash not in book.hashes}
    return tuple(sorted(found.values(), key=lambda entry: (entry.n, entry.hash)))


def check_file(
    path: Path, known_of: Callable[[str], Mapping[int, str]], token: CancelToken | None = None
) -> LedgerCheck:
    """Check a ledger that may be broken; ``known_of`` gives what is known of one, by its id.

    Raises StorageError ``ledger.missing`` and the like, InputError ``ledger.not-a-ledger``,
    ``ledger.newer``.
    """
    path = Path(os.path.realpath(path))
    with failures(path):
        connection = patiently(lambda: connected(path, made=False), token)[0]
        try:
            known = known_of(patiently(lambda: _identity(connection), token))
            return patiently(lambda: _check(connection, known), token)
        finally:
            connection.close()


def _identity(connection: sqlite3.Connection) -> str:
    """The id in the first entry; empty where that cannot be read."""
    try:
        first = next(_rows(connection, 0), None)
        content = None if first is None else first.content
    except (sqlite3.Error, ValueError) as error:
        if isinstance(error, sqlite3.Error) and kind_of(error) == "busy":
            raise
        return ""
    return content.ledger if isinstance(content, Begun) else ""


def _rows(connection: sqlite3.Connection, after: int) -> Iterator[LedgerEntry]:
    cursor = connection.execute(f"SELECT {_FIELDS} FROM entries WHERE n > ? ORDER BY n", (after,))
    for row in cursor:
        if type(row[0]) is not int or any(type(value) is not str for value in row[1:]):
            raise sqlite3.DatabaseError("an entry is of other types than it should be")
        yield LedgerEntry(*row)


def _hash_of(connection: sqlite3.Connection, number: int) -> str:
    row = connection.execute("SELECT hash FROM entries WHERE n = ?", (number,)).fetchone()
    return "" if row is None else str(row[0])


def _fault(entry: LedgerEntry, number: int, previous: str) -> str:
    """What is wrong with the entry that should follow number ``number``; empty when nothing."""
    if entry.n != number + 1:
        return msg("{n:,} missing before entry {n2:,}", n=entry.n - number - 1, n2=entry.n)
    if entry.hash != entry.expected_hash():
        return "what the entry says was changed"
    if entry.previous != previous:
        return "the entry does not follow the one before it"
    return ""


def _end_fault(connection: sqlite3.Connection, count: int) -> str:
    """What was taken away from the end, as SQLite's own counter tells."""
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'entries'").fetchone()
    counted = int(row[0]) if row is not None and isinstance(row[0], int) else 0
    if counted > count:
        return msg("{counted:,} removed from the end", counted=counted - count)
    return ""


def _known_fault(book: Book, known: Mapping[int, str]) -> str:
    """What is known of a ledger and is not there."""
    for number, entry_hash in sorted(known.items()):
        if entry_hash not in book.hashes:
            return msg(
                "entry {number:,}, which this computer knows, is missing or different",
                number=number,
            )
    return ""


def _check(connection: sqlite3.Connection, known: Mapping[int, str]) -> LedgerCheck:
    book, last, notes, before = Book(), (0, FIRST), list[str](), ""
    try:
        with reading(connection):
            for entry in _rows(connection, 0):
                reason = _fault(entry, *last)
                if reason:
                    return LedgerCheck(*last, LedgerFault(last[0] + 1, reason), tuple(notes))
                book.take(entry)
                if entry.time < before:
                    notes.append(
                        msg(
                            "Entry {n:,} was made at {time}, before the entry above it: the "
                            "computer's clock was set back.",
                            n=entry.n,
                            time=entry.time,
                        )
                    )
                last, before = (entry.n, entry.hash), entry.time
            reason = _end_fault(connection, last[0]) or _known_fault(book, known)
            reason = reason or _guard_fault(connection) or _pages_fault(connection)
    except ValueError as error:
        reason = str(error)
    except sqlite3.Error as error:
        if kind_of(error) == "busy":
            raise
        reason = msg("the entry cannot be read ({error})", error=type(error).__name__)
    fault = LedgerFault(last[0] + 1, reason) if reason else None
    return LedgerCheck(*last, fault, tuple(notes))


def _pages_fault(connection: sqlite3.Connection) -> str:
    """Whether SQLite finds that a page, an index or a table is not as it should be."""
    found = [str(row[0]) for row in connection.execute("PRAGMA integrity_check")]
    return "" if found == ["ok"] else "SQLite reports that the file is damaged (integrity_check)"


def _guard_fault(connection: sqlite3.Connection) -> str:
    changed = changed_object(connection, SCHEMA)
    return "" if changed is None else changed.reason
