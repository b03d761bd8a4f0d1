"""Signed events: how one is made, and how one is read from a file that may be an enemy's.

An event's id is the SHA-256 of the canonical bytes of its body; its signature is over a first line
that names the purpose, and the same bytes. The body names the events before it (``parents``), so a
signature covers them all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

import dpdesk
from dpdesk.core.messages import msg
from dpdesk.io.canonical import canonical_json
from dpdesk.project.review.cards import Purpose, fingerprint_of, key_fault, signature_holds
from dpdesk.project.review.fields import BadFieldError, Fields, canonical_of, too_deep
from dpdesk.project.review.keys import Signer
from dpdesk.project.review.payloads import (
    EventType,
    Payload,
    Submission,
    read_payload,
)
from dpdesk.project.review.texts import is_person, shown, time_text

MOST_PARENTS = 64
LONGEST_VERSION = 40
_NAMES = {
    EventType.SUBMIT: "submission",
    EventType.START: "start of a review",
    EventType.BALLOT: "ballot",
    EventType.REVEAL: "vote",
    EventType.MERGE: "merge",
    EventType.RELEASE: "release",
    EventType.WITHDRAW: "withdrawal",
    EventType.SUPERSEDE: "replacement",
}


@dataclass(frozen=True)
class SignedBy:
    """Who signed, in the signer's own words; only a trust list can say whether it is so."""

    person: str
    key: str

    @property
    def fingerprint(self) -> str:
        """SHA-256 (hex) of the raw key."""
        return fingerprint_of(self.key)

    def as_json(self) -> dict[str, object]:
        """The signer as the object in an event's body."""
        return {"person": self.person, "key": self.key, "fingerprint": self.fingerprint}


@dataclass(frozen=True)
class Event:
    """An event whose id and signature hold.

    ``release`` is the SHA-256 of the manifest it is about, ``submission`` the id of the submission
    (None for a submission itself), ``parents`` are ascending ids, ``time`` is the signer's own.
    """

    id: str
    parents: tuple[str, ...]
    release: str
    submission: str | None
    signer: SignedBy
    time: datetime
    dpdesk: str
    payload: Payload
    signature: str

    @property
    def type(self) -> EventType:
        """What the event does."""
        return self.payload.type

    @property
    def kind(self) -> str:
        """What the event is called."""
        return _NAMES[self.type]

    @property
    def words(self) -> str:
        """The event in a few words: "ballot by Anna Weber of 2026-11-20 09:30:00 UTC"."""
        moment = time_text(self.time).replace("T", " ").removesuffix("Z")
        return msg(
            "{kind} by {person} at {moment} UTC",
            kind=self.kind,
            person=self.signer.person,
            moment=moment,
        )

    def body(self) -> dict[str, object]:
        """What is signed."""
        return {
            "type": self.type.value,
            "parents": list(self.parents),
            "release": self.release,
            "submission": self.submission,
            "signer": self.signer.as_json(),
            "time": time_text(self.time),
            "dpdesk": self.dpdesk,
            **self.payload.as_json(),
        }

    def as_json(self) -> dict[str, object]:
        """The event as the object in a file."""
        return {"id": self.id, "body": self.body(), "signature": self.signature}


@dataclass(frozen=True)
class Fault:
    """Something is wrong with a review.

    ``reason`` reads on after a path and a colon; ``event`` is the id of the event (empty: none),
    ``position`` its place in the file, from 1. ``round`` is the round that it spoils, from 1; None
    means the whole file.
    """

    code: str
    reason: str
    event: str = ""
    position: int | None = None
    round: int | None = None


def sign_event(
    signer: Signer,
    payload: Payload,
    parents: Iterable[str],
    time: datetime,
    submission: tuple[str, str] | None = None,
) -> Event:
    """Make a signed event; ``submission`` is (id, manifest's SHA-256), None for a submission.

    The event is read again from its own bytes, so that nothing is signed that nobody could read.
    Raises ValueError when the payload could not be read (a defect of the caller, who checks texts).
    """
    if isinstance(payload, Submission) == (submission is not None):
        raise ValueError("a submission names none, every other event names one")
    release = payload.manifest_sha256 if isinstance(payload, Submission) else (submission or "")[1]
    event = Event(
        id="",
        parents=tuple(sorted(set(parents))),
        release=release,
        submission=submission[0] if submission else None,
        signer=SignedBy(signer.person, signer.card.key),
        time=time.replace(microsecond=0),
        dpdesk=dpdesk.__version__,
        payload=payload,
        signature="",
    )
    body = canonical_json(event.body())
    signature = signer.sign(Purpose.EVENT, body)
    raw = {"id": _id(body), "body": _plain(body), "signature": signature}
    return parse_event(raw)


def read_event(raw: object, position: int) -> Event | Fault:
    """An event of a file, or what is wrong with it; never raises."""
    try:
        return parse_event(raw)
    except BadFieldError as error:
        return Fault(
            "event.unreadable",
            msg("event {position}{hint}: {error}", position=position, hint=_hint(raw), error=error),
            "",
            position,
        )


def parse_event(raw: object) -> Event:
    """An event whose id and signature hold. Raises BadFieldError."""
    if too_deep(raw):
        raise BadFieldError("it is nested too deeply")
    outer = Fields(raw)
    outer.only("id", "body", "signature")
    fields = outer.table("body")
    kind = fields.choice("type", EventType)
    payload = read_payload(kind, fields)
    body = canonical_of(fields.raw)
    if outer.code("id") != _id(body):
        raise BadFieldError("it was changed: its id is not the SHA-256 of its body")
    signer = _signer(fields.table("signer"))
    signature = outer.hex("signature", 64, 64)
    if not signature_holds(signer.key, Purpose.EVENT, body, signature):
        raise BadFieldError(
            msg("its signature is not by the key of {person}", person=signer.person)
        )
    submission = fields.code_or_none("submission")
    if (submission is None) != (kind is EventType.SUBMIT):
        raise fields.bad("submission", msg("does not go with a {names}", names=_NAMES[kind]))
    release = fields.code("release")
    if isinstance(payload, Submission) and release != payload.manifest_sha256:
        raise BadFieldError("`release` and `manifest_sha256` differ")
    event = Event(
        id=outer.code("id"),
        parents=fields.codes("parents", MOST_PARENTS),
        release=release,
        submission=submission,
        signer=signer,
        time=fields.time("time"),
        dpdesk=fields.text("dpdesk", LONGEST_VERSION, lines=False),
        payload=payload,
        signature=signature,
    )
    if canonical_json(event.body()) != body:
        raise BadFieldError("it holds something that its signer did not mean to sign")
    return event


def _signer(fields: Fields) -> SignedBy:
    fields.only("person", "key", "fingerprint")
    person, key = fields.raw["person"], fields.raw["key"]
    if not isinstance(person, str) or not is_person(person):
        raise fields.bad("person", "is not the name of a person")
    if fault := key_fault(key):
        raise fields.bad("key", fault)
    signer = SignedBy(person, str(key))
    if fields.code("fingerprint") != signer.fingerprint:
        raise fields.bad("fingerprint", "is not that of the key")
    return signer


def _id(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def _plain(body: bytes) -> dict[str, object]:
    from dpdesk.io.canonical import parse_canonical

    return parse_canonical(body)


def _hint(raw: object) -> str:
    """What an unreadable event says it is, for people: " (ballot by Anna Weber)"."""
    body = raw.get("body") if isinstance(raw, dict) else None
    if not isinstance(body, dict):
        return ""
    kind, signer = body.get("type"), body.get("signer")
    person = signer.get("person") if isinstance(signer, dict) else None
    name = _NAMES.get(kind) if isinstance(kind, str) else None  # type: ignore[call-overload]
    by = f" by {shown(person, 60)}" if isinstance(person, str) else ""
    return f" ({name}{by})" if name else ""
