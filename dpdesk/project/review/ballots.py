"""Ballots: a vote is committed to before anybody shows one, and shown when enough are in.

The commitment is a hash over 32 random bytes and the vote, so it binds and tells nothing. The vote
names its reviewer and its submission: a commitment copied from a colleague, another round or
another release cannot be revealed by anybody else or anywhere else. A sealed copy travels with the
ballot, so that its maker can reveal it from any computer with the key; its length depends on the
submission, not on the vote, as long as comments stay below some thousand characters.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from dpdesk.core.errors import InputError, RefusedError
from dpdesk.core.messages import msg
from dpdesk.io.canonical import UnreadableJsonError, canonical_json, parse_canonical
from dpdesk.project.review.events import LARGEST_BALLOT, Ballot, Event, Submission
from dpdesk.project.review.keys import Signer
from dpdesk.project.review.texts import BadFieldError, Fields
from dpdesk.project.review.votes import (
    CheckDecision,
    Decision,
    FileDecision,
    Outcome,
    Vote,
    VoteProblem,
    read_vote,
    vote_problems,
)

_COMMIT = b"dpdesk-ballot-v1\n"
_SEAL = b"dpdesk-ballot-seal-v1\n"
_STEP = 16 * 1024
_SPARE = 8 * 1024


@dataclass(frozen=True)
class OpenedBallot:
    """What a ballot holds: the nonce (hex) and the vote; together they open the commitment."""

    nonce: str
    vote: Vote


def commitment_of(nonce: str, vote: Vote) -> str:
    """SHA-256 (hex) of a first line, the nonce's 32 bytes and the canonical bytes of the vote."""
    return hashlib.sha256(
        _COMMIT + bytes.fromhex(nonce) + canonical_json(vote.as_json())
    ).hexdigest()


def opens(ballot: Ballot, nonce: str, vote: Vote) -> bool:
    """Whether a nonce and a vote are those that a ballot committed to."""
    return commitment_of(nonce, vote) == ballot.commitment


def problems_of(
    vote: Vote, submission: Event, failing: Collection[str] = ()
) -> tuple[VoteProblem, ...]:
    """The rules that a vote on a submission breaks; see :func:`votes.vote_problems`."""
    payload = _submission(submission)
    if vote.submission != submission.id:
        return (VoteProblem("the vote is on a different submission"),)
    return vote_problems(vote, payload.statuses, payload.files, failing)


def make_ballot(
    signer: Signer, submission: Event, vote: Vote, failing: Collection[str] = ()
) -> Ballot:
    """Commit to a vote and seal it for its maker; ``failing`` are items that fail here.

    Raises RefusedError ``vote.rules`` naming the first rule that it breaks, InputError
    ``vote.too-long``, ValueError when it is the vote of somebody else.
    """
    if vote.reviewer != signer.fingerprint:
        raise ValueError("a vote is committed to by its own reviewer")
    problems = problems_of(vote, submission, failing)
    if problems:
        raise _refused(problems)
    nonce = secrets.token_hex(32)
    commitment = commitment_of(nonce, vote)
    plain = canonical_json({"nonce": nonce, "vote": vote.as_json()})
    size = _padded(len(plain), submission, signer.fingerprint)
    if size + 64 > LARGEST_BALLOT:
        raise InputError(
            "vote.too-long",
            msg("The vote has {len:,} bytes, too many for a signature.", len=len(plain)),
            hint="Put long comments into a document, and name it here.",
        )
    sealed = _sealed(signer, submission.id, commitment, plain + b" " * (size - len(plain)))
    return Ballot(commitment, sealed)


def open_ballot(signer: Signer, ballot: Event) -> OpenedBallot:
    """Open one's own ballot, to show the vote to its maker or to reveal it.

    Raises InputError ``ballot.other`` when it is somebody else's, ``ballot.damaged`` when its
    maker's program sealed something else than it committed to.
    """
    payload = ballot.payload
    if not isinstance(payload, Ballot) or ballot.signer.fingerprint != signer.fingerprint:
        raise InputError(
            "ballot.other",
            msg("The {words} is not that of {person}.", words=ballot.words, person=signer.person),
        )
    try:
        plain = _unsealed(signer, str(ballot.submission), payload)
        fields = Fields(parse_canonical(plain.rstrip(b" ")))
        fields.only("nonce", "vote")
        opened = OpenedBallot(fields.code("nonce"), read_vote(fields.table("vote")))
    except (UnreadableJsonError, BadFieldError) as error:
        raise _damaged(ballot) from error
    if not opens(payload, opened.nonce, opened.vote):
        raise _damaged(ballot)
    return opened


def proposal(
    submission: Event, reviewer: str, before: Sequence[tuple[Submission, Vote]] = ()
) -> Vote:
    """A vote to start from: accept nothing but what the reviewer accepted before, unchanged.

    ``before`` are the reviewer's own earlier rounds, oldest first. A file is carried over when its
    path and bytes are the same, an item when its status and evidence are. What was never decided
    stands as "change" and still needs its comment, so that nothing is approved by default.
    """
    payload = _submission(submission)
    checks = {item: CheckDecision(Decision.CHANGE) for item in payload.checklist}
    files = {path: FileDecision(code, Decision.CHANGE) for path, code in payload.files.items()}
    for earlier, vote in before:
        for item, entry in payload.checklist.items():
            if earlier.checklist.get(item) == entry and item in vote.checks:
                checks[item] = vote.checks[item]
        for path, code in payload.files.items():
            if path in vote.files and vote.files[path].sha256 == code:
                files[path] = vote.files[path]
    return Vote(submission.id, reviewer, Outcome.CHANGES, checks, files)


def _padded(length: int, submission: Event, reviewer: str) -> int:
    """The length to which a vote is filled up: one for all votes on a submission, then doubles."""
    plainest = len(canonical_json(proposal(submission, reviewer).as_json()))
    size = -(-(plainest * 5 // 4 + _SPARE) // _STEP) * _STEP
    while size < length:
        size *= 2
    return size


def _sealed(signer: Signer, submission: str, commitment: str, plain: bytes) -> str:
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    nonce = secrets.token_bytes(12)
    key = signer.sealing_key(_SEAL + submission.encode("ascii"))
    return (nonce + ChaCha20Poly1305(key).encrypt(nonce, plain, commitment.encode("ascii"))).hex()


def _unsealed(signer: Signer, submission: str, ballot: Ballot) -> bytes:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    raw = bytes.fromhex(ballot.sealed)
    key = signer.sealing_key(_SEAL + submission.encode("ascii"))
    try:
        return ChaCha20Poly1305(key).decrypt(raw[:12], raw[12:], ballot.commitment.encode("ascii"))
    except (InvalidTag, ValueError):
        raise BadFieldError("cannot be opened") from None


def _submission(event: Event) -> Submission:
    if not isinstance(event.payload, Submission):
        raise ValueError("votes are on submissions")  # noqa: TRY004 - a value, not a type
    return event.payload


def _refused(problems: Sequence[VoteProblem]) -> RefusedError:
    first = problems[0]
    where = (
        msg("the check {item} ", item=first.item)
        if first.item
        else f"{first.path} "
        if first.path
        else ""
    )
    more = msg(" ({problems} more)", problems=len(problems) - 1) if len(problems) > 1 else ""
    return RefusedError(
        "vote.rules",
        msg(
            "The vote cannot be cast: {where}{reason}{more}.",
            where=where,
            reason=first.reason,
            more=more,
        ),
        hint="Decide everything and give the reasons that are missing.",
        details={"problems": [tuple(problem) for problem in problems]},
    )


def _damaged(ballot: Event) -> InputError:
    return InputError(
        "ballot.damaged",
        msg("The {words} holds another vote than the one it committed to.", words=ballot.words),
        hint="It was made by a program that is not DPDesk; only a new submission helps.",
    )
