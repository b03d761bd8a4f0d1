"""What programs without rules would sign in a review, for tests."""

from __future__ import annotations

from dpdesk.project.review.ballots import commitment_of
from dpdesk.project.review.events import Ballot, Event, Payload, Submission, sign_event
from dpdesk.project.review.keys import Signer
from dpdesk.project.review.votes import Outcome, Vote
from tests.helpers.reviewing import (
    AUTHOR,
    BEN,
    CLARA,
    DORA,
    POLICY,
    Play,
    approval,
    code,
    signer,
    trusting,
)

SECOND_AUTHOR = signer("Anna", 1)
SECOND_BEN = signer("Ben", 1)
EVERYBODY = trusting(AUTHOR, SECOND_AUTHOR, BEN, SECOND_BEN, CLARA, DORA)


def begun(reviewers: int = 2) -> Play:
    """A review whose first submission is made."""
    play = Play(trust=EVERYBODY)
    play.submit(policy={**POLICY, "reviewers": reviewers})
    return play


def approved() -> Play:
    """A review whose two reviewers approved and have shown it."""
    play = begun()
    play.vote({"Ben": Outcome.APPROVE, "Clara": Outcome.APPROVE})
    return play


def forge(play: Play, who: Signer, payload: Payload, parents: tuple[str, ...] = ()) -> Event:
    """Add what a program without rules would sign, after all events or after some."""
    current = play.state.current
    assert current is not None
    about = current.submission
    target = None if isinstance(payload, Submission) else (about.id, about.release)
    return play.add(sign_event(who, payload, parents or play.graph.heads(), play.now, target))


def envelope(play: Play, who: Signer, vote: Vote | None = None) -> tuple[Ballot, str, Vote]:
    current = play.state.current
    assert current is not None
    vote = vote or approval(current.submission, who.fingerprint)
    nonce = code(f"{who.fingerprint} {len(play.graph.events)}")
    return Ballot(commitment_of(nonce, vote), "00"), nonce, vote


def codes(play: Play) -> list[str]:
    return [fault.code for fault in play.state.faults]
