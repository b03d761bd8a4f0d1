"""Whose signatures count on this computer: the agency's list of persons and their public keys."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.io.canonical import UnreadableJsonError, canonical_json, parse_canonical
from dpdesk.project.looks import skeleton, ways_to_write
from dpdesk.project.review.cards import Card, fingerprint_of, key_fault
from dpdesk.project.review.events import Event, EventType
from dpdesk.project.review.graph import ReviewGraph
from dpdesk.project.review.homefiles import locked, read_small, write_private
from dpdesk.project.review.texts import (
    CLOCK_TOLERANCE,
    fingerprint_text,
    fold_person,
    is_hex,
    is_person,
    parse_time,
    shown,
    text_fault,
    time_text,
)

if TYPE_CHECKING:
    from dpdesk.io.safewrite import PartialKeeper


TRUST_KIND = "dpdesk-trust-list"
LARGEST_LIST = 8 * 1024 * 1024
MOST_ENTRIES = 5_000
LONGEST_REASON = 500


class RevokedAs(StrEnum):
    """Why a key is no longer used.

    RETIRED: its holder left or has another key; what was signed before stands.
    COMPROMISED: others may have it; votes from before count only when somebody else vouches for
    their time, because a thief can write any time.
    """

    RETIRED = "retired"
    COMPROMISED = "compromised"


@dataclass(frozen=True)
class Revocation:
    """From when on a key counts no more, and why."""

    time: datetime
    kind: RevokedAs
    reason: str

    def is_ahead(self, now: datetime) -> bool:
        """Whether it was made by a clock ahead of this one: since when it holds is not known."""
        return self.time > now + CLOCK_TOLERANCE


@dataclass(frozen=True)
class TrustEntry:
    """A key that is, or was, trusted to be this person's."""

    person: str
    key: str
    added: datetime
    revoked: Revocation | None = None

    @property
    def fingerprint(self) -> str:
        """SHA-256 (hex) of the raw key."""
        return fingerprint_of(self.key)


@dataclass(frozen=True)
class TrustList:
    """Persons and keys. One person may have several keys; a key has one person."""

    entries: tuple[TrustEntry, ...] = ()

    @cached_property
    def _by_fingerprint(self) -> Mapping[str, TrustEntry]:
        return {entry.fingerprint: entry for entry in self.entries}

    def entry(self, fingerprint: str) -> TrustEntry | None:
        """The entry of a key; None when it is not in the list."""
        return self._by_fingerprint.get(fingerprint)

    def persons(self) -> tuple[str, ...]:
        """The persons who have a key that is not revoked, by name."""
        names = {fold_person(item.person): item.person for item in self.entries if not item.revoked}
        return tuple(names[key] for key in sorted(names))

    @cached_property
    def _first_spelling(self) -> Mapping[str, str]:
        first: dict[str, str] = {}
        for entry in self.entries:
            ways = ways_to_write(entry.person)
            known = next((first[way] for way in ways if way in first), fold_person(entry.person))
            for way in ways:
                first.setdefault(way, known)
        return first

    def identity(self, person: str) -> str:
        """Who a person is in a review: equal for all spellings of a name.

        Names that differ by a dot, a blank, an accent, a title or the order of their words count as
        one person, so that no one can have two votes by two spellings.
        """
        known = (self._first_spelling.get(way) for way in ways_to_write(person))
        return next((name for name in known if name is not None), fold_person(person))

    def spellings(self) -> tuple[tuple[str, str], ...]:
        """Pairs of names in the list that count as one person though they are spelt differently."""
        first: dict[str, str] = {}
        found: dict[tuple[str, str], None] = {}
        for entry in self.entries:
            other = first.setdefault(self.identity(entry.person), entry.person)
            if fold_person(other) != fold_person(entry.person):
                found[other, entry.person] = None
        return tuple(found)

    def add(self, card: Card, now: datetime) -> TrustList:
        """The list with one more key.

        Raises InputError ``trust.duplicate`` (the key is there already), ``trust.other-person``
        (it is there under another name), ``trust.look-alike`` (the name could be taken for that of
        someone else in the list, or is another spelling of it).
        """
        known = self.entry(card.fingerprint)
        if known is not None:
            raise _known(card.fingerprint, card.person, known)
        ways = set(ways_to_write(card.person))
        for entry in self.entries:
            alike = not ways.isdisjoint(ways_to_write(entry.person))
            if alike and fold_person(entry.person) != fold_person(card.person):
                raise _look_alike(entry.person, card.person)
        added = TrustEntry(card.person, card.key, now.astimezone(UTC).replace(microsecond=0))
        return _without_look_alikes((*self.entries, added))

    def revoke(
        self,
        fingerprint: str,
        now: datetime,
        reason: str,
        kind: RevokedAs = RevokedAs.COMPROMISED,
    ) -> TrustList:
        """The list in which a key counts no more from ``now`` on.

        An earlier revocation stays, unless this one is graver. Raises InputError
        ``trust.missing`` or ``trust.reason``.
        """
        entry = self.entry(fingerprint)
        if entry is None:
            raise _missing(fingerprint)
        if text_fault(reason, LONGEST_REASON, lines=False) or not reason.strip():
            raise InputError(
                "trust.reason",
                msg(
                    "Give a reason of 1 to {longest_reason} printable characters.",
                    longest_reason=LONGEST_REASON,
                ),
            )
        fresh = Revocation(now.astimezone(UTC).replace(microsecond=0), kind, reason)
        changed = replace(entry, revoked=_graver(entry.revoked, fresh))
        return TrustList(_sorted(changed if item == entry else item for item in self.entries))

    def merged(self, other: TrustList) -> TrustList:
        """Both lists together; of two revocations of a key the earlier and the graver holds.

        Raises InputError ``trust.other-person`` or ``trust.look-alike``, as :meth:`add` does.
        """
        joined = {entry.fingerprint: entry for entry in self.entries}
        for entry in other.entries:
            own = joined.setdefault(entry.fingerprint, entry)
            if fold_person(own.person) != fold_person(entry.person):
                raise _known(entry.fingerprint, entry.person, own)
            joined[entry.fingerprint] = replace(own, revoked=_graver(own.revoked, entry.revoked))
        return _without_look_alikes(joined.values())

    def to_bytes(self) -> bytes:
        """The bytes of the list's file."""
        return canonical_json(
            {"format": 1, "kind": TRUST_KIND, "entries": [_plain(item) for item in self.entries]}
        )

    def fingerprint_of_list(self) -> str:
        """SHA-256 (hex) of the list's bytes: equal on two computers with the same list."""
        return hashlib.sha256(self.to_bytes()).hexdigest()


def parse_trust(data: bytes, name: str, *, weigh_keys: bool = True) -> TrustList:
    """Read a list; ``name`` is what errors call it.

    ``weigh_keys`` refuses weak keys at once; the list of this computer was weighed when it grew,
    and signatures by weak keys never hold. Raises InputError ``trust.damaged`` or
    ``trust.look-alike``.
    """
    try:
        raw = parse_canonical(data)
    except UnreadableJsonError as error:
        raise _damaged(name, error.reason) from None
    if set(raw) != {"format", "kind", "entries"} or raw["kind"] != TRUST_KIND:
        raise _damaged(name, "it is not a list of trusted keys")
    if type(raw["format"]) is not int or raw["format"] != 1:
        raise _damaged(name, "its format is not 1; a newer DPDesk made it")
    items = raw["entries"]
    if not isinstance(items, list) or len(items) > MOST_ENTRIES:
        raise _damaged(
            name, msg(("it does not hold a list of at most {most:,} entries"), most=MOST_ENTRIES)
        )
    entries = tuple(_entry(item, name, number) for number, item in enumerate(items, start=1))
    for entry in entries if weigh_keys else ():
        if fault := key_fault(entry.key):
            raise _damaged(name, msg("`key` of {person} {fault}", person=entry.person, fault=fault))
    if entries != _sorted(entries) or len({item.key for item in entries}) != len(entries):
        raise _damaged(name, "a key occurs twice, or the entries are out of order")
    return _without_look_alikes(entries)


class TrustStore:
    """The trust list of this computer, ``home/trust.json``; missing means empty."""

    def __init__(self, home: Path, keeper: PartialKeeper | None = None) -> None:
        self._home = home
        self._keeper = keeper
        self.path = home / "trust.json"

    def load(self) -> TrustList:
        """The list. Raises StorageError and InputError ``trust.damaged``."""
        if not self.path.exists() and not self.path.is_symlink():
            return TrustList()
        return parse_trust(read_small(self.path, LARGEST_LIST), str(self.path), weigh_keys=False)

    def add(self, card: Card, now: datetime) -> TrustList:
        """Add a card and write; see :meth:`TrustList.add`."""
        with locked(self._home, "trust"):
            return self._write(self.load().add(card, now))

    def revoke(
        self,
        fingerprint: str,
        now: datetime,
        reason: str,
        kind: RevokedAs = RevokedAs.COMPROMISED,
    ) -> TrustList:
        """Revoke a key and write; see :meth:`TrustList.revoke`."""
        with locked(self._home, "trust"):
            return self._write(self.load().revoke(fingerprint, now, reason, kind))

    def import_list(
        self, path: Path, set_aside: Callable[[Path], object] | None = None
    ) -> TrustList:
        """Merge the agency's list from a file and write; see :meth:`TrustList.merged`.

        With ``set_aside``, a list of this computer that is damaged is kept under another name, of
        which it is told, and the agency's takes its place.
        """
        other = parse_trust(read_small(path, LARGEST_LIST), str(path))
        with locked(self._home, "trust"):
            try:
                return self._write(self.load().merged(other))
            except InputError as error:
                if error.code != "trust.damaged" or set_aside is None:
                    raise
            kept = self._keep_aside()
            written = self._write(other)
        set_aside(kept)
        return written

    def _keep_aside(self) -> Path:
        """Another name for the damaged list, which still has its own, too."""
        names = (self.path.with_name(f"trust.damaged-{n}.json") for n in range(1, 1_000))
        kept = next(name for name in names if not name.exists() and not name.is_symlink())
        write_private(kept, read_small(self.path, LARGEST_LIST), self._keeper)
        return kept

    def export_list(self, path: Path, keeper: PartialKeeper, *, new: bool = False) -> TrustList:
        """Write the list to a file for other computers; with ``new`` over no other one."""
        from dpdesk.io.safewrite import write_text

        trust = self.load()
        write_text(path, trust.to_bytes().decode("utf-8"), "trust", keeper, new=new)
        return trust

    def _write(self, trust: TrustList) -> TrustList:
        write_private(self.path, trust.to_bytes(), self._keeper)
        return trust


def _sorted(entries: Iterable[TrustEntry]) -> tuple[TrustEntry, ...]:
    return tuple(sorted(entries, key=lambda item: (fold_person(item.person), item.fingerprint)))


def _without_look_alikes(entries: Iterable[TrustEntry]) -> TrustList:
    """A list of these entries; raises InputError ``trust.look-alike``."""
    found: dict[str, TrustEntry] = {}
    for entry in _sorted(entries):
        other = found.setdefault(skeleton(entry.person), entry)
        if fold_person(other.person) != fold_person(entry.person):
            raise _look_alike(other.person, entry.person)
    return TrustList(_sorted(entries))


def _look_alike(one: str, other: str) -> InputError:
    return InputError(
        "trust.look-alike",
        msg(
            "The names {one} and {other} could be mistaken for each other, but are not written "
            "with the same letters.",
            one=one,
            other=other,
        ),
        hint="If it is the same person, ask for a card with exactly the same name; "
        "if not, ask for one with a name that cannot be mistaken.",
    )


def _plain(entry: TrustEntry) -> dict[str, object]:
    revoked = entry.revoked
    return {
        "person": entry.person,
        "key": entry.key,
        "fingerprint": entry.fingerprint,
        "added": time_text(entry.added),
        "revoked": None
        if revoked is None
        else {
            "time": time_text(revoked.time),
            "kind": revoked.kind.value,
            "reason": revoked.reason,
        },
    }


def _entry(raw: object, name: str, number: int) -> TrustEntry:
    where = msg("entry {number}", number=number)
    if not isinstance(raw, dict) or set(raw) != {
        "person",
        "key",
        "fingerprint",
        "added",
        "revoked",
    }:
        raise _damaged(name, msg("{where} is not an entry of a person and a key", where=where))
    person, key, added = raw["person"], raw["key"], parse_time(raw["added"])
    if not isinstance(person, str) or not is_person(person) or added is None:
        raise _damaged(name, msg("{where} has a person or a date that cannot be used", where=where))
    if not isinstance(key, str) or not is_hex(key, 32) or raw["fingerprint"] != fingerprint_of(key):
        raise _damaged(
            name, msg("the fingerprint of {person} is not that of the key", person=person)
        )
    return TrustEntry(person, key, added, _revocation(raw["revoked"], name, where))


def _revocation(raw: object, name: str, where: str) -> Revocation | None:
    if raw is None:
        return None
    if not isinstance(raw, dict) or set(raw) != {"time", "kind", "reason"}:
        raise _damaged(name, msg("{where} has a revocation that cannot be read", where=where))
    time, kind, reason = parse_time(raw["time"]), raw["kind"], raw["reason"]
    known = isinstance(kind, str) and kind in {item.value for item in RevokedAs}
    if time is None or not known or text_fault(reason, LONGEST_REASON, lines=False):
        raise _damaged(name, msg("{where} has a revocation that cannot be read", where=where))
    return Revocation(time, RevokedAs(kind), reason)


def _graver(one: Revocation | None, other: Revocation | None) -> Revocation | None:
    """What holds of two revocations: the earlier time, the graver kind."""
    if one is None or other is None:
        return one or other
    first = one if one.time <= other.time else other
    worst = RevokedAs.COMPROMISED if RevokedAs.COMPROMISED in (one.kind, other.kind) else first.kind
    return (
        first
        if first.kind is worst
        else replace(first, kind=worst, reason=_of_kind(worst, one, other))
    )


def _of_kind(kind: RevokedAs, one: Revocation, other: Revocation) -> str:
    return one.reason if one.kind is kind else other.reason


def _known(fingerprint: str, person: str, known: TrustEntry) -> InputError:
    if fold_person(known.person) == fold_person(person):
        return InputError(
            "trust.duplicate",
            msg(
                "The key {fingerprint_text} of {person} is already in the list",
                fingerprint_text=fingerprint_text(fingerprint),
                person=known.person,
            )
            + (", revoked." if known.revoked else "."),
        )
    return InputError(
        "trust.other-person",
        msg(
            "The key {print} is in the list as that of {person}, now it comes as that of "
            "{person_2}.",
            print=fingerprint_text(fingerprint),
            person=known.person,
            person_2=person,
        ),
        hint="A key has one holder: ask both whose it is.",
    )


def _missing(fingerprint: str) -> InputError:
    return InputError(
        "trust.missing",
        msg("The key {shown} is not in the list of trusted keys.", shown=shown(fingerprint, 64)),
    )


def _damaged(name: str, reason: str) -> InputError:
    return InputError(
        "trust.damaged",
        msg(
            "{name}: the list of trusted keys is damaged: {shown}.",
            name=name,
            shown=shown(reason, 200),
        ),
        hint=(
            "Import the agency's list again (the damaged file is kept), or restore it from a "
            "backup."
        ),
    )


# Whose events count: each event's signer, looked up in the trust list.


_VOTES = (EventType.BALLOT, EventType.REVEAL)


@dataclass(frozen=True)
class SignerStatus:
    """What the trust list says of an event's signer.

    ``person`` is the folded name, of the list where the key is in it. ``code`` and ``reason`` say
    why the event does not count (empty: it does); ``note`` is worth knowing.
    """

    person: str
    code: str = ""
    reason: str = ""
    note: str = ""


def standings(
    graph: ReviewGraph, trust: TrustList, seen: Mapping[str, datetime], now: datetime
) -> dict[str, SignerStatus]:
    """The standing of each event's signer at a clock that shows ``now``; ``seen`` says when this
    computer first saw an event.
    """
    return {event.id: _standing(event, graph, trust, seen, now) for event in graph.events}


def _standing(
    event: Event,
    graph: ReviewGraph,
    trust: TrustList,
    seen: Mapping[str, datetime],
    now: datetime,
) -> SignerStatus:
    entry = trust.entry(event.signer.fingerprint)
    key = fingerprint_text(event.signer.fingerprint)
    if entry is None:
        reason = msg("the key {key} is not in this computer's list of trusted keys", key=key)
        return SignerStatus(fold_person(event.signer.person), "signer.unknown", reason)
    person = trust.identity(entry.person)
    if fold_person(entry.person) != fold_person(event.signer.person):
        reason = msg(
            "the key {key} is that of {person} in the list of trusted keys",
            key=key,
            person=entry.person,
        )
        return SignerStatus(person, "signer.name", reason)
    revoked = entry.revoked
    if revoked is None:
        return SignerStatus(person)
    if revoked.is_ahead(now):
        reason = msg(
            "the key was revoked ({reason}) by a clock that showed {time}, which is ahead of this "
            "computer's: once both are right, revoke it again, and the earlier time holds",
            reason=revoked.reason,
            time=time_text(revoked.time),
        )
        return SignerStatus(person, "signer.revoked", reason)
    if event.time >= revoked.time:
        reason = msg(
            "the key was revoked on {time} ({reason})",
            time=time_text(revoked.time),
            reason=revoked.reason,
        )
        return SignerStatus(person, "signer.revoked", reason)
    if _vouched(event, person, revoked, graph, trust, seen):
        return SignerStatus(person)
    words = msg(
        "the key was revoked on {time} ({reason}) and no one else vouches that the event is "
        "older: its time is the signer's own",
        time=time_text(revoked.time),
        reason=revoked.reason,
    )
    if revoked.kind is RevokedAs.COMPROMISED and event.type in _VOTES:
        return SignerStatus(person, "signer.compromised", words)
    return SignerStatus(person, note=words)


def _vouched(
    event: Event,
    person: str,
    revoked: Revocation,
    graph: ReviewGraph,
    trust: TrustList,
    seen: Mapping[str, datetime],
) -> bool:
    """Whether this computer, or another trusted person's signature, knew the event in time."""
    if event.id in seen and seen[event.id] < revoked.time:
        return True
    for later in graph.events:
        if later.time >= revoked.time or not graph.is_before(event.id, later.id):
            continue
        other = trust.entry(later.signer.fingerprint)
        if other is None or other.revoked is not None:
            continue
        same = fold_person(other.person) == fold_person(later.signer.person)
        if same and trust.identity(other.person) != person:
            return True
    return False
