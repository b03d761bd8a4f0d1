"""What events say besides who, when and about what: one class for each type of event."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from dpdesk.io.canonical import canonical_json
from dpdesk.project.review.fields import BadFieldError, Fields, canonical_of
from dpdesk.project.review.texts import signable
from dpdesk.project.review.votes import (
    MOST_FILES,
    MOST_ITEMS,
    ItemStatus,
    Vote,
    file_path,
    item_id,
    read_vote,
)

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
