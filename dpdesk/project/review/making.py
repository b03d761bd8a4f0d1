"""Making events: each function checks that its signer may, and signs. Nothing is written here."""

from __future__ import annotations

from collections.abc import Collection

from dpdesk.core.errors import InputError, RefusedError
from dpdesk.core.messages import msg
from dpdesk.io.canonical import canonical_json
from dpdesk.project.review.ballots import make_ballot, open_ballot, proposal
from dpdesk.project.review.cards import Card
from dpdesk.project.review.events import (
    Event,
    EventType,
    Merge,
    Payload,
    Release,
    Reveal,
    Start,
    Submission,
    Supersede,
    Withdraw,
    sign_event,
)
from dpdesk.project.review.keys import Signer
from dpdesk.project.review.permissions import own_ballots, require
from dpdesk.project.review.state import ReviewState, Round
from dpdesk.project.review.texts import is_hash, says_something, shown, text_fault
from dpdesk.project.review.votes import Vote


def submit(signer: Signer, state: ReviewState, payload: Submission) -> Event:
    """Submit a release; ``payload.previous`` is the id of the submission before.

    All functions here raise RefusedError ``review.not-allowed`` with the reason when the signer may
    not do this now, and InputError ``review.text`` for a text that cannot be signed. Nobody means a
    second round that differs from the first in nothing, before anyone has voted: it is not allowed.
    """
    require(EventType.SUBMIT, state, signer.card)
    _check_text("note", payload.note)
    if state.ok and state.current is not None and _repeats(state.current, payload):
        raise RefusedError(
            "review.not-allowed",
            "It has been submitted just so, and nothing has changed since.",
            details={"action": EventType.SUBMIT.value},
        )
    wanted = state.current.submission.id if state.current else None
    if payload.previous != wanted:
        raise ValueError("a submission names the one before it")
    try:
        return sign_event(signer, payload, state.graph.heads(), state.now)
    except ValueError as error:  # a name in it that cannot be signed, too many files
        raise InputError(
            "review.unsignable",
            msg(
                "The release cannot be submitted for review: {shown}.", shown=shown(str(error), 200)
            ),
            hint="Change what is named, and make the release again.",
        ) from error


def _repeats(current: Round, payload: Submission) -> bool:
    """Whether a submission is that of a round in which nobody has voted, all over again."""
    if current.ballots or current.withdrawal is not None:
        return False
    known, given = current.payload.as_json(), payload.as_json()
    for moment in ("previous", "audit_head"):
        known[moment] = given[moment] = None
    return canonical_json(known) == canonical_json(given)


def start(signer: Signer, state: ReviewState) -> Event:
    """Say that one's review has begun."""
    require(EventType.START, state, signer.card)
    return _signed(signer, state, Start())


def cast(signer: Signer, state: ReviewState, vote: Vote, failing: Collection[str] = ()) -> Event:
    """Cast a vote without showing it. Raises RefusedError ``vote.rules`` too."""
    require(EventType.BALLOT, state, signer.card)
    for comment in _comments(vote):
        _check_text("comment", comment)
    return _signed(signer, state, make_ballot(signer, _submission(state), vote, failing))


def reveal(signer: Signer, state: ReviewState) -> Event:
    """Show one's vote, when enough votes are cast."""
    require(EventType.REVEAL, state, signer.card)
    assert state.current is not None
    ballot = next(i.event for i in own_ballots(state, signer.fingerprint) if not i.late)
    opened = open_ballot(signer, ballot)
    closes = state.current.closed
    if closes is None:
        closes = tuple(sorted(item.event.id for item in state.current.ballots))
    return _signed(signer, state, Reveal(ballot.id, closes, opened.nonce, opened.vote))


def merge(signer: Signer, state: ReviewState) -> Event:
    """Sign all events that are there, as after joining copies."""
    require(EventType.MERGE, state, signer.card)
    return _signed(signer, state, Merge())


def release(signer: Signer, state: ReviewState, note: str = "") -> Event:
    """Release what was approved. Final."""
    require(EventType.RELEASE, state, signer.card)
    _check_text("note", note)
    return _signed(signer, state, Release(note))


def withdraw(signer: Signer, state: ReviewState, reason: str) -> Event:
    """Take the submission back, for a reason."""
    require(EventType.WITHDRAW, state, signer.card)
    _check_text("reason", reason, needed=True)
    return _signed(signer, state, Withdraw(reason))


def supersede(
    signer: Signer,
    state: ReviewState,
    replacement: str,
    reason: str,
) -> Event:
    """Say which release (SHA-256 of its manifest) replaces the one that went out, and why.

    Raises InputError ``review.replacement`` for what is no such code, or the release's own.
    """
    require(EventType.SUPERSEDE, state, signer.card)
    _check_text("reason", reason, needed=True)
    if not is_hash(replacement) or replacement == _submission(state).release:
        raise InputError(
            "review.replacement",
            "Name the release that replaces this one: the SHA-256 of its manifest, 64 digits.",
        )
    return _signed(signer, state, Supersede(replacement, reason))


def proposed_vote(state: ReviewState, card: Card) -> Vote:
    """A vote on the current round to start from: what this person accepted before, unchanged.

    Raises ValueError when nothing was submitted; see :func:`ballots.proposal`.
    """
    if state.current is None:
        raise ValueError("there is nothing to vote on")
    entry = state.trust.entry(card.fingerprint)
    person = state.trust.identity(entry.person if entry else card.person)
    before = [
        (item.payload, ballot.vote)
        for item in state.rounds[: state.current.number - 1]
        for ballot in item.ballots
        if ballot.vote is not None and ballot.folded == person
    ]
    return proposal(state.current.submission, card.fingerprint, before)


def _signed(signer: Signer, state: ReviewState, payload: Payload) -> Event:
    about = _submission(state)
    parents = state.graph.heads()
    return sign_event(signer, payload, parents, state.now, (about.id, about.release))


def _submission(state: ReviewState) -> Event:
    assert state.current is not None
    return state.current.submission


def _comments(vote: Vote) -> list[str]:
    found = [vote.comment]
    found += [check.comment for check in vote.checks.values()]
    return found + [file.comment for file in vote.files.values()]


def _check_text(what: str, text: str, *, needed: bool = False) -> None:
    fault = text_fault(text)
    if needed and not says_something(text):
        fault = "is empty"
    if fault:
        raise InputError(
            "review.text",
            msg("The {what} cannot be signed: it {fault}.", what=what, fault=fault),
            hint="Write plain words.",
        )
