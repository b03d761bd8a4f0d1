"""The state of a review: what its events come to, for everybody who has the same trust list.

:func:`evaluate` is pure. A state is only to be relied on when :attr:`ReviewState.ok` holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType

from dpdesk.project.review.events import Event, Fault
from dpdesk.project.review.graph import ReviewGraph
from dpdesk.project.review.payloads import EventType, Reveal, Submission
from dpdesk.project.review.rounds import Reading, RoundFacts
from dpdesk.project.review.standing import standings
from dpdesk.project.review.trust import TrustList
from dpdesk.project.review.votes import Outcome, Vote

_NOTHING_SEEN: Mapping[str, datetime] = MappingProxyType({})


class Status(StrEnum):
    """Where a review, or one of its rounds, stands."""

    DRAFT = "draft"
    SUBMITTED = "submitted"
    IN_REVIEW = "in review"
    APPROVED = "approved"
    CHANGES = "changes requested"
    REJECTED = "rejected"
    RELEASED = "released"
    WITHDRAWN = "withdrawn"
    SUPERSEDED = "superseded"


_OF_OUTCOME = {
    Outcome.APPROVE: Status.APPROVED,
    Outcome.CHANGES: Status.CHANGES,
    Outcome.REJECT: Status.REJECTED,
}


@dataclass(frozen=True)
class BallotState:
    """A ballot that counts or is late. ``vote`` and ``reveal`` are None until it is revealed.

    ``person`` is the name as the signer writes it, ``folded`` what equals for one person.
    """

    event: Event
    folded: str
    late: bool
    reveal: Event | None = None
    vote: Vote | None = None

    @property
    def person(self) -> str:
        """Whose ballot it is."""
        return self.event.signer.person


@dataclass(frozen=True)
class Round:
    """A submission and what became of it.

    ``closed`` are the ids of the ballots that count, None while no vote is revealed; ``releases``
    and ``superseded_by`` are the events that ended it.
    """

    number: int
    submission: Event
    payload: Submission
    status: Status
    outcome: Outcome | None
    ballots: tuple[BallotState, ...]
    closed: tuple[str, ...] | None
    started: tuple[Event, ...]
    releases: tuple[Event, ...]
    withdrawal: Event | None
    superseded_by: Event | None

    @property
    def voters(self) -> tuple[str, ...]:
        """Folded names of those whose ballots are in time."""
        return tuple(dict.fromkeys(item.folded for item in self.ballots if not item.late))

    @property
    def waiting(self) -> tuple[BallotState, ...]:
        """The ballots that count and are not revealed yet."""
        return tuple(item for item in self.ballots if not item.late and item.vote is None)


@dataclass(frozen=True)
class ReviewState:
    """What a review comes to.

    ``rounds`` are all rounds, ``current`` the one that counts: the one that was released, else the
    last. ``faults`` spoil the review; ``past`` were faults of earlier rounds; ``notes`` are worth
    knowing. ``void`` are the events that do not count, ``untrusted`` those of them that are signed
    by a key that is not to be trusted. ``latest`` is the newest time that this computer knows from
    elsewhere.
    """

    graph: ReviewGraph
    trust: TrustList
    now: datetime
    rounds: tuple[Round, ...] = ()
    current: Round | None = None
    faults: tuple[Fault, ...] = ()
    past: tuple[Fault, ...] = ()
    notes: tuple[Fault, ...] = ()
    void: frozenset[str] = frozenset()
    untrusted: frozenset[str] = frozenset()
    latest: datetime | None = None
    author: str = ""

    @property
    def status(self) -> Status:
        """Where the review stands."""
        return self.current.status if self.current else Status.DRAFT

    @property
    def ok(self) -> bool:
        """Whether nothing spoils the review: only then the status is to be relied on."""
        return not self.faults

    @property
    def approved(self) -> bool:
        """Whether the current round was approved by its reviewers, and nothing spoils that."""
        final = (Status.APPROVED, Status.RELEASED, Status.SUPERSEDED)
        return self.ok and self.status in final


def evaluate(
    graph: ReviewGraph,
    trust: TrustList,
    now: datetime,
    seen: Mapping[str, datetime] = _NOTHING_SEEN,
    found: tuple[Fault, ...] = (),
    latest: datetime | None = None,
) -> ReviewState:
    """What a review comes to on a computer with this trust list and this clock.

    ``seen`` says when this computer first saw an event (its receipts); ``found`` are faults that
    were found outside the graph (a removed event, a file that is not the one submitted);
    ``latest`` is the newest time that receipts and audit log know.
    """
    base = (*graph.faults, *found)
    if not graph.events:
        return ReviewState(graph, trust, now, faults=base, latest=latest)
    standing = standings(graph, trust, seen)
    reading = Reading(graph, standing, now)
    reading.read()
    facts = reading.rounds
    released = next((item for item in facts if item.of(EventType.RELEASE)), None)
    current = released or facts[-1]
    by_round = [_faults(item, reading) for item in facts]
    faults = [fault for item, own in zip(facts, by_round, strict=True) for fault in own]
    blocking = [fault for fault in faults if fault.round == current.number]
    blocking += [_beside(item, current) for item in facts[current.number :]]
    rounds = tuple(_round(item, reading) for item in facts)
    return ReviewState(
        graph=graph,
        trust=trust,
        now=now,
        rounds=rounds,
        current=rounds[current.number - 1],
        faults=(*base, *blocking),
        past=tuple(fault for fault in faults if fault.round != current.number),
        notes=(*reading.notes, *(note for item in rounds for note in _late_notes(item))),
        void=frozenset(reading.void),
        untrusted=frozenset(key for key, item in standing.items() if item.code),
        latest=latest,
        author=reading.author(),
    )


def _faults(facts: RoundFacts, reading: Reading) -> list[Fault]:
    return [*facts.faults, *reading.conflicts(facts)]


def _beside(facts: RoundFacts, released: RoundFacts) -> Fault:
    reason = "comes beside the release of the round before: the author knew nothing of it"
    words = f"{facts.submission.words} {reason}"
    return Fault("submit.beside-release", words, facts.submission.id, None, released.number)


def _round(facts: RoundFacts, reading: Reading) -> Round:
    reveals = facts.of(EventType.REVEAL)
    payloads = [event.payload for event in reveals if isinstance(event.payload, Reveal)]
    closings = {payload.closes for payload in payloads}
    closed = min(closings) if closings else None
    by_ballot = {
        event.payload.ballot: event
        for event in reversed(reveals)
        if isinstance(event.payload, Reveal)
    }
    ballots = tuple(
        _ballot(event, by_ballot.get(event.id), closed, facts, reading)
        for event in facts.of(EventType.BALLOT)
    )
    outcome = reading.outcome(facts)
    return Round(
        number=facts.number,
        submission=facts.submission,
        payload=facts.payload,
        status=_status(facts, outcome),
        outcome=outcome,
        ballots=ballots,
        closed=closed,
        started=tuple(facts.of(EventType.START)),
        releases=tuple(facts.of(EventType.RELEASE)),
        withdrawal=next(iter(facts.of(EventType.WITHDRAW)), None),
        superseded_by=next(iter(facts.of(EventType.SUPERSEDE)), None),
    )


def _ballot(
    event: Event,
    reveal: Event | None,
    closed: tuple[str, ...] | None,
    facts: RoundFacts,
    reading: Reading,
) -> BallotState:
    after = any(reading.graph.is_before(item.id, event.id) for item in facts.reveals_seen)
    late = after or (closed is not None and event.id not in closed)
    vote = reveal.payload.vote if reveal and isinstance(reveal.payload, Reveal) else None
    return BallotState(event, reading.person(event), late, reveal, vote)


def _status(facts: RoundFacts, outcome: Outcome | None) -> Status:
    if facts.of(EventType.SUPERSEDE):
        return Status.SUPERSEDED
    if facts.of(EventType.RELEASE):
        return Status.RELEASED
    if facts.of(EventType.WITHDRAW):
        return Status.WITHDRAWN
    if outcome is not None:
        return _OF_OUTCOME[outcome]
    begun = facts.of(EventType.START) or facts.of(EventType.BALLOT)
    return Status.IN_REVIEW if begun else Status.SUBMITTED


def _late_notes(item: Round) -> list[Fault]:
    reason = "came after the round was closed and is not counted"
    return [
        Fault("ballot.late", f"{ballot.event.words} {reason}", ballot.event.id, None, item.number)
        for ballot in item.ballots
        if ballot.late
    ]
