"""Signed events: how one is made, and how one is read from a file that may be an enemy's.

An event's id is the SHA-256 of the canonical bytes of its body; its signature is over a first line
that names the purpose, and the same bytes. The body names the events before it (``parents``), so a
signature covers them all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import ClassVar

import dpdesk
from dpdesk.core.messages import msg
from dpdesk.io.canonical import canonical_json
from dpdesk.project.review.cards import Purpose, fingerprint_of, key_fault, signature_holds
from dpdesk.project.review.keys import Signer
from dpdesk.project.review.texts import (
    BadFieldError,
    Fields,
    canonical_of,
    is_person,
    shown,
    signable,
    time_text,
    too_deep,
)
from dpdesk.project.review.votes import (
    MOST_FILES,
    MOST_ITEMS,
    ItemStatus,
    Vote,
    file_path,
    item_id,
    read_vote,
)

# What events say besides who, when and about what: one class for each type of event.


MOST_REVIEWERS = 64
MOST_CLOSED = 256
LARGEST_BALLOT = 4 * 1024 * 1024
COMMON = ("type", "parents", "release", "submission", "signer", "time", "dpdesk")


class EventType(StrEnum):
    """What an event does."""

    SUBMIT = "submit"
    START = "start"
    BALLOT = "ballot"
    REVEAL = "reveal"
    MERGE = "merge"
    RELEASE = "release"
    WITHDRAW = "withdraw"
    SUPERSEDE = "supersede"


class Mode(StrEnum):
    """What a submission is for: to find a protocol, or to apply one that is locked."""

    DEVELOP = "develop"
    APPLY = "apply"


@dataclass(frozen=True)
class ChecklistItem:
    """An item of the checklist as the author's program found it; ``evidence`` is a sentence."""

    question: str
    status: ItemStatus
    evidence: str

    @classmethod
    def made(cls, question: str, status: ItemStatus, evidence: str) -> ChecklistItem:
        """An item whose texts can be signed, whatever names of the data are in them."""
        return cls(signable(question), status, signable(evidence))


@dataclass(frozen=True)
class Submission:
    """The author submits a release: everything about it that reviewers sign with their votes.

    ``plan_sha256`` is that of the canonical bytes of the evidence's plan; ``commitment`` is the
    manifest's; ``files`` are all files of both parts but the review itself, {path: sha256};
    ``policy`` is the policy's whole content, with ``reviewers`` the number of votes it takes;
    ``previous`` is the submission of the round before, ``supersedes`` the manifest's SHA-256 of a
    release that this one is to replace, ``audit_head`` the author's audit log at that time.
    """

    type: ClassVar[EventType] = EventType.SUBMIT
    manifest_sha256: str
    seal_sha256: str
    plan_sha256: str
    commitment: str
    files: Mapping[str, str]
    policy: Mapping[str, object]
    checklist: Mapping[str, ChecklistItem]
    mode: Mode = Mode.DEVELOP
    protocol_sha256: str | None = None
    note: str = ""
    supersedes: str | None = None
    audit_head: str | None = None
    previous: str | None = None

    @property
    def policy_sha256(self) -> str:
        """SHA-256 (hex) of the canonical bytes of the policy."""
        return policy_sha256(self.policy)

    @property
    def reviewers(self) -> int:
        """How many reviewers must have voted."""
        number = self.policy.get("reviewers")
        return number if isinstance(number, int) else MOST_REVIEWERS

    @property
    def statuses(self) -> Mapping[str, ItemStatus]:
        """The status of each item of the checklist."""
        return {item: entry.status for item, entry in self.checklist.items()}

    def as_json(self) -> dict[str, object]:
        """The payload's keys of the event's body."""
        return {
            "manifest_sha256": self.manifest_sha256,
            "seal_sha256": self.seal_sha256,
            "plan_sha256": self.plan_sha256,
            "commitment": self.commitment,
            "files": dict(self.files),
            "policy": dict(self.policy),
            "policy_sha256": self.policy_sha256,
            "mode": self.mode.value,
            "protocol_sha256": self.protocol_sha256,
            "checklist": {
                item: {
                    "question": entry.question,
                    "status": entry.status.value,
                    "evidence": entry.evidence,
                }
                for item, entry in self.checklist.items()
            },
            "note": self.note,
            "supersedes": self.supersedes,
            "audit_head": self.audit_head,
            "previous": self.previous,
        }


@dataclass(frozen=True)
class Start:
    """A reviewer began to look."""

    type: ClassVar[EventType] = EventType.START

    def as_json(self) -> dict[str, object]:
        """No keys."""
        return {}


@dataclass(frozen=True)
class Ballot:
    """A vote in a closed envelope: the commitment, and the vote sealed for its maker alone."""

    type: ClassVar[EventType] = EventType.BALLOT
    commitment: str
    sealed: str

    def as_json(self) -> dict[str, object]:
        """The payload's keys of the event's body."""
        return {"commitment": self.commitment, "sealed": self.sealed}


@dataclass(frozen=True)
class Reveal:
    """The envelope is opened; ``closes`` are all ballots that count in this round."""

    type: ClassVar[EventType] = EventType.REVEAL
    ballot: str
    closes: tuple[str, ...]
    nonce: str
    vote: Vote

    def as_json(self) -> dict[str, object]:
        """The payload's keys of the event's body."""
        return {
            "ballot": self.ballot,
            "closes": list(self.closes),
            "nonce": self.nonce,
            "vote": self.vote.as_json(),
        }


@dataclass(frozen=True)
class Merge:
    """Somebody joined copies, or countersigned: all events before it were there."""

    type: ClassVar[EventType] = EventType.MERGE

    def as_json(self) -> dict[str, object]:
        """No keys."""
        return {}


@dataclass(frozen=True)
class Release:
    """The release goes out. Final."""

    type: ClassVar[EventType] = EventType.RELEASE
    note: str = ""

    def as_json(self) -> dict[str, object]:
        """The payload's keys of the event's body."""
        return {"note": self.note}


@dataclass(frozen=True)
class Withdraw:
    """The author takes the submission back."""

    type: ClassVar[EventType] = EventType.WITHDRAW
    reason: str

    def as_json(self) -> dict[str, object]:
        """The payload's keys of the event's body."""
        return {"reason": self.reason}


@dataclass(frozen=True)
class Supersede:
    """The release that went out is replaced by another one (its manifest's SHA-256)."""

    type: ClassVar[EventType] = EventType.SUPERSEDE
    replacement: str
    reason: str

    def as_json(self) -> dict[str, object]:
        """The payload's keys of the event's body."""
        return {"replacement": self.replacement, "reason": self.reason}


Payload = Submission | Start | Ballot | Reveal | Merge | Release | Withdraw | Supersede


def policy_sha256(policy: Mapping[str, object]) -> str:
    """SHA-256 (hex) of the canonical bytes of a policy's content."""
    return hashlib.sha256(canonical_json(policy)).hexdigest()


def read_payload(kind: EventType, fields: Fields) -> Payload:
    """The payload in an event's body. Raises BadFieldError."""
    return _READERS[kind](fields)


def _submission(fields: Fields) -> Submission:
    fields.only(
        *COMMON,
        *("manifest_sha256", "seal_sha256", "plan_sha256", "commitment", "files", "policy"),
        *("policy_sha256", "mode", "protocol_sha256", "checklist", "note", "supersedes"),
        *("audit_head", "previous"),
    )
    files, checklist = fields.table("files", MOST_FILES), fields.table("checklist", MOST_ITEMS)
    mode, protocol = fields.choice("mode", Mode), fields.code_or_none("protocol_sha256")
    if (mode is Mode.APPLY) != (protocol is not None):
        raise BadFieldError("`protocol_sha256` does not go with `mode`")
    return Submission(
        manifest_sha256=fields.code("manifest_sha256"),
        seal_sha256=fields.code("seal_sha256"),
        plan_sha256=fields.code("plan_sha256"),
        commitment=fields.code("commitment"),
        files={file_path(files, key): files.code(key) for key in files.raw},
        policy=_policy(fields),
        checklist={item_id(checklist, key): _item(checklist.table(key)) for key in checklist.raw},
        mode=mode,
        protocol_sha256=protocol,
        note=fields.text("note"),
        supersedes=fields.code_or_none("supersedes"),
        audit_head=fields.code_or_none("audit_head"),
        previous=fields.code_or_none("previous"),
    )


def _policy(fields: Fields) -> Mapping[str, object]:
    policy = fields.table("policy")
    policy.number("reviewers", 1, MOST_REVIEWERS)
    found = hashlib.sha256(canonical_of(policy.raw)).hexdigest()
    if fields.code("policy_sha256") != found:
        raise fields.bad("policy_sha256", "is not the SHA-256 of `policy`")
    return policy.raw


def _item(fields: Fields) -> ChecklistItem:
    fields.only("question", "status", "evidence")
    status = fields.choice("status", ItemStatus)
    return ChecklistItem(fields.text("question"), status, fields.text("evidence"))


def _start(fields: Fields) -> Start:
    fields.only(*COMMON)
    return Start()


def _ballot(fields: Fields) -> Ballot:
    fields.only(*COMMON, "commitment", "sealed")
    return Ballot(fields.code("commitment"), fields.hex("sealed", LARGEST_BALLOT))


def _reveal(fields: Fields) -> Reveal:
    fields.only(*COMMON, "ballot", "closes", "nonce", "vote")
    return Reveal(
        ballot=fields.code("ballot"),
        closes=fields.codes("closes", MOST_CLOSED),
        nonce=fields.code("nonce"),
        vote=read_vote(fields.table("vote")),
    )


def _merge(fields: Fields) -> Merge:
    fields.only(*COMMON)
    return Merge()


def _release(fields: Fields) -> Release:
    fields.only(*COMMON, "note")
    return Release(fields.text("note"))


def _withdraw(fields: Fields) -> Withdraw:
    fields.only(*COMMON, "reason")
    return Withdraw(fields.text("reason"))


def _supersede(fields: Fields) -> Supersede:
    fields.only(*COMMON, "replacement", "reason")
    return Supersede(fields.code("replacement"), fields.text("reason"))


_READERS: Mapping[EventType, Callable[[Fields], Payload]] = {
    EventType.SUBMIT: _submission,
    EventType.START: _start,
    EventType.BALLOT: _ballot,
    EventType.REVEAL: _reveal,
    EventType.MERGE: _merge,
    EventType.RELEASE: _release,
    EventType.WITHDRAW: _withdraw,
    EventType.SUPERSEDE: _supersede,
}


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
        raise fields.bad(
            "submission", msg(("does not go together with a {names}"), names=_NAMES[kind])
        )
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
