"""Entries of an audit log and the chain that holds them together, apart from where they lie."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType

from dpdesk.core.jsontext import read_json
from dpdesk.core.messages import msg

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
    details = json.dumps(to_plain(note.details), sort_keys=True, ensure_ascii=True)
    action, subject, who = (_one_line(text) for text in (note.action, note.subject, who))
    draft = AuditEntry(number, time, who, action, subject, details, previous, "")
    return AuditEntry(number, time, who, action, subject, details, previous, draft.expected_hash())


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
