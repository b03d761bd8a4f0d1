"""Whose events count: each event's signer, looked up in the trust list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from dpdesk.core.messages import msg
from dpdesk.project.review.events import Event
from dpdesk.project.review.graph import ReviewGraph
from dpdesk.project.review.payloads import EventType
from dpdesk.project.review.texts import fingerprint_text, fold_person, time_text
from dpdesk.project.review.trust import Revocation, RevokedAs, TrustList

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
    graph: ReviewGraph, trust: TrustList, seen: Mapping[str, datetime]
) -> dict[str, SignerStatus]:
    """The standing of each event's signer; ``seen`` says when this computer first saw an event."""
    return {event.id: _standing(event, graph, trust, seen) for event in graph.events}


def _standing(
    event: Event, graph: ReviewGraph, trust: TrustList, seen: Mapping[str, datetime]
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
