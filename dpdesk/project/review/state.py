"""The state of a review: what its events come to, for everybody who has the same trust list.

:func:`evaluate` is pure. A state is only to be relied on when :attr:`ReviewState.ok` holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType

from dpdesk.core.messages import msg
from dpdesk.project.review.ballots import opens, problems_of
from dpdesk.project.review.events import (
    Ballot,
    Event,
    EventType,
    Fault,
    Reveal,
    Submission,
    Supersede,
)
from dpdesk.project.review.graph import ReviewGraph
from dpdesk.project.review.texts import CLOCK_TOLERANCE, time_text
from dpdesk.project.review.trust import SignerStatus, TrustList, standings
from dpdesk.project.review.votes import Outcome, Vote

_AFTER_RELEASE = (EventType.SUPERSEDE, EventType.MERGE)


@dataclass
class RoundFacts:
    """A round while it is read: its submission and the events of it that count, in order."""

    number: int
    submission: Event
    payload: Submission
    counted: dict[EventType, list[Event]] = field(default_factory=dict)
    ballots_seen: list[Event] = field(default_factory=list)
    reveals_seen: list[Event] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    def of(self, kind: EventType) -> list[Event]:
        """The events of a type that count."""
        return self.counted.get(kind, [])


class Reading:
    """A graph read by the rules; :meth:`read` fills ``rounds``, ``void`` and ``notes``.

    ``void`` are the events that do not count, by id; each has a fault in its round.
    """

    def __init__(
        self, graph: ReviewGraph, standing: Mapping[str, SignerStatus], now: datetime
    ) -> None:
        self.graph = graph
        self.rounds: list[RoundFacts] = []
        self.void: set[str] = set()
        self.notes: list[Fault] = []
        self._standing = standing
        self._now = now
        self._rules: Mapping[EventType, Callable[[Event, RoundFacts], tuple[str, str]]] = {
            EventType.START: self._by_reviewer,
            EventType.BALLOT: self._by_reviewer,
            EventType.REVEAL: self._reveal,
            EventType.MERGE: lambda event, current: ("", ""),
            EventType.RELEASE: self._release,
            EventType.WITHDRAW: self._withdraw,
            EventType.SUPERSEDE: self._supersede,
        }

    def read(self) -> None:
        """Read all events in order."""
        for event in self.graph.events:
            if isinstance(event.payload, Submission):
                self._read_submission(event, event.payload)
            else:
                self._read_other(event)

    def person(self, event: Event) -> str:
        """The folded name of who signed."""
        return self._standing[event.id].person

    def author(self) -> str:
        """The folded name of the author."""
        return self.person(self.rounds[0].submission)

    def conflicts(
        self, current: RoundFacts, within: Callable[[Event], bool] = lambda event: True
    ) -> list[Fault]:
        """What events of a round, each in order by itself, do to each other."""

        def of(*kinds: EventType) -> list[Event]:
            return [event for kind in kinds for event in current.of(kind) if within(event)]

        found = _pairs(
            of(EventType.BALLOT), self.person, "ballot.twice", "both are ballots of one person"
        )
        words = "one ballot is a copy of the other's commitment"
        found += _pairs(of(EventType.BALLOT), _commitment, "ballot.copied", words)
        words = "they close the round with different ballots"
        found += _different(of(EventType.REVEAL), _closes, "reveal.conflict", words)
        words = "one releases what the other withdraws"
        ends = of(EventType.RELEASE, EventType.WITHDRAW)
        found += _different(ends, lambda event: event.type, "end.conflict", words)
        words = "they name different releases"
        found += _different(of(EventType.SUPERSEDE), _replacement, "supersede.conflict", words)
        for item in self.rounds[: current.number - 1]:
            if item.payload.previous == current.payload.previous and within(item.submission):
                words = "both follow the same round: the author went two ways"
                pair = item.submission, current.submission
                found.append(_pair_fault("submit.twice", *pair, words))
        return [replace(fault, round=current.number) for fault in found]

    def outcome(
        self, current: RoundFacts, within: Callable[[Event], bool] = lambda event: True
    ) -> Outcome | None:
        """What the votes of a round come to; None while it is open.

        The worst vote decides. Whatever is wrong in a round keeps it from being approved, not from
        being refused; with two closings it stays open.
        """
        reveals = [event for event in current.of(EventType.REVEAL) if within(event)]
        votes = {_reveal_of(event).ballot: _reveal_of(event).vote for event in reveals}
        closings = {_reveal_of(event).closes for event in reveals}
        if len(closings) != 1 or any(ballot not in votes for ballot in min(closings)):
            return None
        outcomes = {vote.outcome for vote in votes.values()}
        for worst in (Outcome.REJECT, Outcome.CHANGES):
            if worst in outcomes:
                return worst
        by_id = self.graph.by_id
        spoiled = any(within(by_id[fault.event]) for fault in current.faults)
        return None if spoiled or self.conflicts(current, within) else Outcome.APPROVE

    def _read_submission(self, event: Event, payload: Submission) -> None:
        code, reason = self._signer(event)
        if self.rounds and not code:
            code, reason = self._submission(event, payload)
        if code and self.rounds:
            self._add(event, self._latest_before(event), code, reason)
            return
        current = RoundFacts(len(self.rounds) + 1, event, payload)
        self.rounds.append(current)
        self._add(event, current, code, reason)

    def _read_other(self, event: Event) -> None:
        named = next((item for item in self.rounds if item.submission.id == event.submission), None)
        code, reason = self._signer(event)
        latest = self._latest_before(event)
        current = named or latest
        if not code:
            code, reason = self._place(event, named, latest)
        if not code:
            code, reason = self._rules[event.type](event, current)
        if event.type is EventType.BALLOT:
            current.ballots_seen.append(event)
        elif event.type is EventType.REVEAL:
            current.reveals_seen.append(event)
        self._add(event, current, code, reason)

    def _add(self, event: Event, current: RoundFacts, code: str, reason: str) -> None:
        """Count an event or note why not, with what its time says."""
        if code:
            self.void.add(event.id)
            current.faults.append(self._fault(code, event, current, reason))
        else:
            current.counted.setdefault(event.type, []).append(event)
        if note := self._standing[event.id].note:
            self.notes.append(self._fault("signer.old-key", event, current, note))
        for clock, words in self._clock(event):
            current.faults.append(self._fault(clock, event, current, words))

    def _signer(self, event: Event) -> tuple[str, str]:
        return self._standing[event.id].code, self._standing[event.id].reason

    def _latest_before(self, event: Event) -> RoundFacts:
        """The last round that an event could know of."""
        for current in reversed(self.rounds):
            if self.graph.is_before(current.submission.id, event.id):
                return current
        return self.rounds[0]

    def _clock(self, event: Event) -> Iterable[tuple[str, str]]:
        before = max((self.graph.by_id[p].time for p in event.parents), default=event.time)
        if event.time < before - CLOCK_TOLERANCE:
            yield (
                "clock.back",
                msg("it comes after an event of {time}: a clock was wrong", time=time_text(before)),
            )
        if event.time > self._now + CLOCK_TOLERANCE:
            yield (
                "clock.ahead",
                msg("this computer's clock shows {time} only", time=time_text(self._now)),
            )

    def _submission(self, event: Event, payload: Submission) -> tuple[str, str]:
        latest = self._latest_before(event)
        if self.person(event) != self.author():
            return "submit.author", "only the author of the first submission may submit again"
        if payload.previous != latest.submission.id:
            return "submit.previous", "it does not name the previous submission"
        if self._known(event, latest, EventType.RELEASE):
            return "submit.after-release", "what was released is final and can only be replaced"
        return "", ""

    def _place(self, event: Event, named: RoundFacts | None, latest: RoundFacts) -> tuple[str, str]:
        """Whether an event may stand where it stands: after its submission, before the end."""
        if named is None:
            return "event.no-round", "the submission that it names does not count"
        if named is not latest:
            return "event.old-round", "its signer knew a later submission"
        if self._known(event, named, EventType.RELEASE) and event.type not in _AFTER_RELEASE:
            return "event.after-release", "what was released is final and can only be replaced"
        if self._known(event, named, EventType.WITHDRAW) and event.type is not EventType.MERGE:
            return "event.after-withdrawal", "the submission was withdrawn before"
        return "", ""

    def _known(self, event: Event, current: RoundFacts, kind: EventType) -> list[Event]:
        """The events of a type that count in a round and come before an event."""
        return [item for item in current.of(kind) if self.graph.is_before(item.id, event.id)]

    def _by_reviewer(self, event: Event, current: RoundFacts) -> tuple[str, str]:
        if self.person(event) == self.author():
            return "review.author", "authors cannot review their own release"
        return "", ""

    def _reveal(self, event: Event, current: RoundFacts) -> tuple[str, str]:
        payload = _reveal_of(event)
        ballots = {item.id: item for item in self._known(event, current, EventType.BALLOT)}
        ballot = ballots.get(payload.ballot)
        if ballot is None or ballot.signer != event.signer:
            return "reveal.ballot", "no valid ballot of the same key precedes it"
        if payload.vote.reviewer != event.signer.fingerprint:
            return "reveal.vote", "the vote is that of another reviewer"
        if not _opens(ballot, payload):
            return "reveal.commitment", "the vote is not the one that the ballot committed to"
        if problems := problems_of(payload.vote, current.submission):
            where = problems[0].item or problems[0].path
            return "reveal.vote", msg(
                "the vote breaks the rules: {where} {reason}",
                where=where,
                reason=problems[0].reason,
            )
        return self._closing(event, payload, current, ballots)

    def _closing(
        self, event: Event, payload: Reveal, current: RoundFacts, ballots: Mapping[str, Event]
    ) -> tuple[str, str]:
        """Whether a reveal closes the round with the ballots with which it must."""
        if payload.ballot not in payload.closes:
            return "reveal.late", "the round was closed without its ballot"
        voters = {self.person(ballots[key]) for key in payload.closes if key in ballots}
        if len(voters) < current.payload.reviewers:
            found, wanted = len(voters), current.payload.reviewers
            return "reveal.early", msg(
                "{found} of {wanted} reviewers had voted: others could read it",
                found=found,
                wanted=wanted,
            )
        allowed = {
            _reveal_of(item).closes for item in self._known(event, current, EventType.REVEAL)
        }
        if not allowed:
            before = current.ballots_seen
            known = (item.id for item in before if self.graph.is_before(item.id, event.id))
            allowed = {tuple(sorted(known))}
        if payload.closes not in allowed:
            return "reveal.closes", "it does not close the round with all ballots before it"
        return "", ""

    def _release(self, event: Event, current: RoundFacts) -> tuple[str, str]:
        outcome = self.outcome(current, lambda item: self.graph.is_before(item.id, event.id))
        if outcome is not Outcome.APPROVE:
            return "release.early", "the reviewers had not approved it"
        return "", ""

    def _withdraw(self, event: Event, current: RoundFacts) -> tuple[str, str]:
        if self.person(event) != self.author():
            return "withdraw.author", "only the author may withdraw"
        return "", ""

    def _supersede(self, event: Event, current: RoundFacts) -> tuple[str, str]:
        if not self._known(event, current, EventType.RELEASE):
            return "supersede.early", "nothing was released that it could replace"
        if _replacement(event) == current.submission.release:
            return "supersede.itself", "a release cannot replace itself"
        return "", ""

    def _fault(self, code: str, event: Event, current: RoundFacts, reason: str) -> Fault:
        place = self.graph.place(event.id)
        words = msg("event {n} ({words}): {reason}", n=place, words=event.words, reason=reason)
        return Fault(code, words, event.id, place, current.number)


def _opens(ballot: Event, payload: Reveal) -> bool:
    return isinstance(ballot.payload, Ballot) and opens(ballot.payload, payload.nonce, payload.vote)


def _reveal_of(event: Event) -> Reveal:
    assert isinstance(event.payload, Reveal)
    return event.payload


def _commitment(event: Event) -> str:
    return event.payload.commitment if isinstance(event.payload, Ballot) else event.id


def _replacement(event: Event) -> str:
    return event.payload.replacement if isinstance(event.payload, Supersede) else ""


def _closes(event: Event) -> str:
    return " ".join(_reveal_of(event).closes)


def _pairs(events: list[Event], key: Callable[[Event], str], code: str, reason: str) -> list[Fault]:
    """A fault for each event whose key an earlier one has."""
    first: dict[str, Event] = {}
    found = []
    for event in events:
        other = first.setdefault(key(event), event)
        if other is not event:
            found.append(_pair_fault(code, other, event, reason))
    return found


def _different(
    events: list[Event], key: Callable[[Event], str], code: str, reason: str
) -> list[Fault]:
    """A fault for the first event that says something else than the first one does."""
    for event in events:
        if key(event) != key(events[0]):
            return [_pair_fault(code, events[0], event, reason)]
    return []


def _pair_fault(code: str, one: Event, other: Event, reason: str) -> Fault:
    return Fault(
        code,
        msg("{words} and {words2}: {reason}", words=one.words, words2=other.words, reason=reason),
        other.id,
    )


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
    standing = standings(graph, trust, seen, now)
    reading = Reading(graph, standing, now)
    reading.read()
    facts = reading.rounds
    released = next((item for item in facts if item.of(EventType.RELEASE)), None)
    current = released or facts[-1]
    by_round = [[*item.faults, *reading.conflicts(item)] for item in facts]
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


def _beside(facts: RoundFacts, released: RoundFacts) -> Fault:
    words = msg(
        "{event} comes beside the release of the round before: the author knew nothing of it",
        event=facts.submission.words,
    )
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
    def words(event: Event) -> str:
        return msg("{event} came after the round was closed and is not counted", event=event.words)

    return [
        Fault("ballot.late", words(each.event), each.event.id, None, item.number)
        for each in item.ballots
        if each.late
    ]
