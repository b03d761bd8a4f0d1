"""Reviews agree with the written rules on random graphs, and keep their promises on all of them."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import RefusedError
from dpdesk.project.review import making
from dpdesk.project.review.ballots import commitment_of
from dpdesk.project.review.events import (
    Ballot,
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
from dpdesk.project.review.graph import ReviewGraph, graph_of, joined, parse_review
from dpdesk.project.review.keys import Signer
from dpdesk.project.review.permissions import own_ballots, permissions
from dpdesk.project.review.state import ReviewState, Status, evaluate
from dpdesk.project.review.trust import RevokedAs, TrustList
from dpdesk.project.review.votes import CheckDecision, Decision, Outcome, Vote
from tests.helpers.reviewing import (
    NOON,
    POLICY,
    approval,
    code,
    refusal,
    signer,
    submission,
    trusting,
)
from tests.helpers.searching import examples
from tests.reference import review_state as reference

ANNA, ANNA_2 = signer("Anna"), signer("Anna", 1)
BEN, BEN_2, CLARA, DORA = signer("Ben"), signer("Ben", 1), signer("Clara"), signer("Dora")
MALLORY, IMPOSTOR = signer("Mallory"), signer("Eve")
PEOPLE = (ANNA, BEN, CLARA, ANNA_2, BEN_2, DORA, MALLORY, IMPOSTOR)
NOW = NOON + timedelta(hours=2)
ALL = trusting(ANNA, ANNA_2, BEN, BEN_2, CLARA, DORA)
COPIES = 2


def lists() -> st.SearchStrategy[TrustList]:
    """Trust lists: Mallory is in none, Eve's key is there under another name, some are revoked."""

    def build(revoked: list[tuple[Signer, RevokedAs, int]]) -> TrustList:
        trust = trusting(ANNA, ANNA_2, BEN, BEN_2, CLARA, DORA)
        entries = trust.add(replace(IMPOSTOR.card, person="Frank"), NOON)
        for who, kind, minutes in revoked:
            time = NOON + timedelta(minutes=minutes)
            entries = entries.revoke(who.fingerprint, time, "lost", kind)
        return entries

    one = st.tuples(
        st.sampled_from(PEOPLE[:6]),
        st.sampled_from(list(RevokedAs)),
        st.integers(-1, 15) | st.just(600),
    )
    none: st.SearchStrategy[list[tuple[Signer, RevokedAs, int]]] = st.just([])
    return st.one_of(none, none, none, st.lists(one, max_size=2)).map(build)


@dataclass
class World:
    """Copies of a folder and what reviewers remember of their votes."""

    copies: list[dict[str, Event]] = field(default_factory=lambda: [{} for _ in range(COPIES)])
    votes: dict[str, tuple[str, Vote]] = field(default_factory=dict)
    made: list[Event] = field(default_factory=list)

    def graph(self, copy: int) -> ReviewGraph:
        return graph_of(self.copies[copy].values())

    def everything(self) -> ReviewGraph:
        return graph_of(event for copy in self.copies for event in copy.values())


def draw_time(draw: st.DrawFn, world: World) -> datetime:
    minutes = len(world.made)
    odd = draw(st.sampled_from([0] * 40 + [-7, 400]))
    return NOON + timedelta(minutes=minutes + odd)


def draw_vote(draw: st.DrawFn, about: Event, who: Signer) -> Vote:
    kind = draw(st.sampled_from(["approve"] * 12 + ["changes", "reject", "rule", "other", "round"]))
    vote = approval(about, who.fingerprint)
    if kind in ("changes", "reject"):
        vote = refusal(about, who.fingerprint, Outcome(kind))
    elif kind == "rule":
        odd = draw(st.sampled_from([Decision.CHANGE, Decision.ACCEPT]))
        vote = replace(vote, checks={**vote.checks, "smallest-class": CheckDecision(odd)})
    elif kind == "other":
        vote = replace(vote, reviewer=draw(st.sampled_from(PEOPLE)).fingerprint)
    elif kind == "round":
        vote = replace(vote, submission=code("another round"))
    return vote


def draw_payload(
    draw: st.DrawFn, kind: EventType, graph: ReviewGraph, about: Event, who: Signer, world: World
) -> Payload:
    if kind is EventType.SUBMIT:
        rounds = [event.id for event in graph.events if event.type is EventType.SUBMIT]
        previous = draw(st.sampled_from([rounds[-1]] * 4 + rounds))
        return submission(draw(st.sampled_from(["release 1", "release 2"])), previous)
    if kind is EventType.BALLOT:
        old = [event.payload for event in graph.events if isinstance(event.payload, Ballot)]
        if old and rarely(draw):
            return draw(st.sampled_from(old))
        nonce, vote = secrets.token_hex(32), draw_vote(draw, about, who)
        commitment = commitment_of(nonce, vote)
        world.votes[commitment] = (nonce, vote)
        return Ballot(commitment, "00")
    if kind is EventType.REVEAL:
        return draw_reveal(draw, graph, about, who, world)
    return {
        EventType.START: Start(),
        EventType.MERGE: Merge(),
        EventType.RELEASE: Release(),
        EventType.WITHDRAW: Withdraw("wrong"),
        EventType.SUPERSEDE: Supersede(
            draw(st.sampled_from([about.release, code("next"), code("other")])), "new data"
        ),
    }[kind]


def draw_reveal(
    draw: st.DrawFn, graph: ReviewGraph, about: Event, who: Signer, world: World
) -> Payload:
    ballots = [event for event in graph.events if isinstance(event.payload, Ballot)]
    if not ballots:
        return Start()
    own = [event for event in ballots if event.signer.fingerprint == who.fingerprint]
    ballot = draw(st.sampled_from(ballots if rarely(draw) or not own else own))
    assert isinstance(ballot.payload, Ballot)
    nonce, vote = world.votes[ballot.payload.commitment]
    if rarely(draw):
        nonce = code("another nonce")
    here = {event.id for event in ballots if event.submission == about.id}
    closed = [event.payload.closes for event in graph.events if isinstance(event.payload, Reveal)]
    choice = draw(st.sampled_from(["all"] * 6 + ["old", "own", "some"]))
    closes = here
    if choice == "old" and closed:
        closes = set(draw(st.sampled_from(closed)))
    elif choice == "own":
        closes = {ballot.id}
    elif choice == "some" and here:
        closes = here - {draw(st.sampled_from(sorted(here)))}
    return Reveal(ballot.id, tuple(sorted(closes)), nonce, vote)


KINDS = (
    [EventType.BALLOT] * 5
    + [EventType.REVEAL] * 8
    + [EventType.RELEASE] * 4
    + [EventType.SUBMIT, EventType.WITHDRAW, EventType.SUPERSEDE, EventType.START, EventType.MERGE]
)


def rarely(draw: st.DrawFn) -> bool:
    return draw(st.sampled_from([False] * 15 + [True]))


def draw_step(draw: st.DrawFn, world: World) -> None:
    copy = draw(st.integers(0, COPIES - 1))
    step = draw(st.sampled_from(["sensible"] * 8 + ["join"] * 3 + ["any"]))
    if step == "join":
        world.copies[copy] |= world.copies[draw(st.integers(0, COPIES - 1))]
        return
    graph = world.graph(copy)
    make = sensible if step == "sensible" else anything
    event = make(draw, graph, world)
    if event is not None and not graph_of([*graph.events, event]).faults:
        world.made.append(event)
        world.copies[copy][event.id] = event


def sensible(draw: st.DrawFn, graph: ReviewGraph, world: World) -> Event | None:
    """What the program would allow somebody in this copy, done as the program does it."""
    time = draw_time(draw, world)
    state = evaluate(graph, ALL, time)
    people = (BEN, CLARA, DORA, ANNA, BEN_2)
    may = {who: permissions(state, who.card) for who in people}
    steps = [(kind, who) for kind in KINDS for who in people if may[who][kind].allowed]
    if not steps or state.current is None:
        return None
    (kind, who), about = draw(st.sampled_from(steps)), state.current.submission
    payload = draw_payload(draw, kind, graph, about, who, world)
    if kind is EventType.REVEAL:
        own = own_ballots(state, who.fingerprint)[0].event
        assert isinstance(own.payload, Ballot)
        nonce, vote = world.votes[own.payload.commitment]
        everything = tuple(sorted(item.event.id for item in state.current.ballots))
        payload = Reveal(own.id, state.current.closed or everything, nonce, vote)
    target = None if isinstance(payload, Submission) else (about.id, about.release)
    return sign_event(who, payload, graph.heads(), time, target)


def anything(draw: st.DrawFn, graph: ReviewGraph, world: World) -> Event:
    """Something that anybody with any key could sign."""
    kind, who = draw(st.sampled_from(KINDS)), draw(st.sampled_from(PEOPLE))
    submissions = [event for event in graph.events if event.type is EventType.SUBMIT]
    about = draw(st.sampled_from([submissions[-1]] * 5 + submissions))
    payload = draw_payload(draw, kind, graph, about, who, world)
    target = None if isinstance(payload, Submission) else (about.id, about.release)
    parents = graph.heads()
    if draw(st.booleans()):  # somebody who knows only a part
        parents = (draw(st.sampled_from(graph.events)).id,)
    return sign_event(who, payload, parents, draw_time(draw, world), target)


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Copies that began with one submission and in which anybody did anything."""
    world = World()
    reviewers = draw(st.sampled_from([1, 2, 2, 3]))
    author = MALLORY if rarely(draw) else ANNA
    first = submission(policy={**POLICY, "reviewers": reviewers})
    root = sign_event(author, first, (), NOON)
    world.made.append(root)
    for copy in world.copies:
        copy[root.id] = root
    for _ in range(draw(st.sampled_from([4, 8, 12, 16, 20, 24]))):
        draw_step(draw, world)
    return world


def plain(graph: ReviewGraph) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = json.loads(graph.to_bytes())["events"]
    return events


def plain_trust(trust: TrustList) -> dict[str, dict[str, Any]]:
    return {
        entry.fingerprint: {
            "person": entry.person,
            "revoked": entry.revoked
            and {"time": entry.revoked.time, "kind": entry.revoked.kind.value},
        }
        for entry in trust.entries
    }


def compare(graph: ReviewGraph, trust: TrustList, seen: dict[str, datetime]) -> ReviewState:
    """Both ways of reading a graph say the same."""
    state = evaluate(graph, trust, NOW, seen)
    expected = reference.review(plain(graph), plain_trust(trust), NOW, seen)
    assert {event for event, verdict in expected["verdicts"].items() if verdict} == state.void
    assert [item.submission.id for item in state.rounds] == [
        item["submission"] for item in expected["rounds"]
    ]
    assert [item.status.value for item in state.rounds] == [
        item["status"] for item in expected["rounds"]
    ]
    assert [item.outcome or "" for item in state.rounds] == [
        item["outcome"] for item in expected["rounds"]
    ]
    late = [{one.event.id for one in item.ballots if one.late} for item in state.rounds]
    assert late == [item["late"] for item in expected["rounds"]]
    assert state.current is not None
    assert state.current.number == expected["current"] + 1
    assert sorted(fault.code for fault in state.faults) == expected["faults"]
    past = [
        fault
        for number, item in enumerate(expected["rounds"])
        if number != expected["current"]
        for fault in item["faults"]
    ]
    assert sorted(fault.code for fault in state.past) == sorted(past)
    return state


@settings(max_examples=examples(100), deadline=None)
@given(worlds(), lists(), st.data())
def test_a_review_comes_to_what_the_written_rules_say(
    world: World, trust: TrustList, data: st.DataObject
) -> None:
    minutes = st.integers(-5, 30).map(lambda number: NOON + timedelta(minutes=number))
    seen = data.draw(
        st.dictionaries(st.sampled_from([event.id for event in world.made]), minutes, max_size=3)
    )
    for copy in range(COPIES):
        compare(world.graph(copy), trust, seen)
    state = compare(world.everything(), trust, seen)
    nothing_is_approved_that_must_not_be(state)


def nothing_is_approved_that_must_not_be(state: ReviewState) -> None:
    """Four eyes, said without the rules: enough other persons approved, blind to each other."""
    if not state.approved or state.current is None:
        return
    current, graph = state.current, state.graph
    reveals = [item.reveal for item in current.ballots if item.reveal and not item.late]
    people = {item.folded for item in current.ballots if item.reveal and not item.late}
    assert state.author not in people
    assert len(people) >= current.payload.reviewers
    for item in current.ballots:
        if item.late:
            continue
        assert item.vote is not None
        assert item.vote.outcome is Outcome.APPROVE
        assert state.trust.entry(item.event.signer.fingerprint) is not None
        assert all(graph.is_before(item.event.id, reveal.id) for reveal in reveals)


@settings(deadline=None, max_examples=50)
@given(worlds(), lists(), st.permutations(range(COPIES)))
def test_copies_join_to_the_same_review_in_any_order(
    world: World, trust: TrustList, order: list[int]
) -> None:
    graphs = [world.graph(copy) for copy in range(COPIES)]
    whole = joined([graphs[copy] for copy in order])
    assert whole == world.everything()
    assert whole.faults == ()
    data = whole.to_bytes()
    again = parse_review(data)
    assert again == whole
    assert again.to_bytes() == data
    for graph in graphs:
        assert {event.id for event in graph.events} <= set(whole.by_id)


@settings(max_examples=examples(100), deadline=None)
@given(worlds(), lists())
def test_what_counted_in_a_copy_still_counts_when_more_comes_in(
    world: World, trust: TrustList
) -> None:
    """Above all a release: nobody can undo it, or anybody's vote, by something done beside it."""
    whole = evaluate(world.everything(), trust, NOW)
    for copy in range(COPIES):
        part = evaluate(world.graph(copy), trust, NOW)
        counted = {event.id for event in part.graph.events} - part.void
        assert counted.isdisjoint(whole.void)
        if part.status in (Status.RELEASED, Status.SUPERSEDED):
            assert whole.status in (Status.RELEASED, Status.SUPERSEDED)


@st.composite
def honest_plays(draw: st.DrawFn) -> tuple[ReviewGraph, TrustList, datetime]:
    """Persons who do, in one folder, only what the program allows them."""
    trust, graph, now = ALL, ReviewGraph(), NOON
    for number in range(draw(st.integers(1, 16))):
        state = evaluate(graph, trust, now)
        who = draw(st.sampled_from((ANNA, BEN, CLARA, DORA, BEN_2)))
        allowed = [kind for kind, one in permissions(state, who.card).items() if one.allowed]
        if not allowed:
            continue
        kinds = [kind for kind in KINDS if kind in allowed]
        event = honest(draw, draw(st.sampled_from(kinds)), who, state, number)
        graph, now = graph_of([*graph.events, event]), now + timedelta(minutes=1)
    return graph, trust, now


def honest(draw: st.DrawFn, kind: EventType, who: Signer, state: ReviewState, number: int) -> Event:
    current = state.current
    if kind is EventType.SUBMIT or current is None:
        previous = current.submission.id if current else None
        return making.submit(who, state, submission(f"release {number}", previous))
    about = current.submission
    outcome = draw(st.sampled_from([Outcome.APPROVE, Outcome.APPROVE, Outcome.CHANGES]))
    vote = approval(about, who.fingerprint)
    if outcome is not Outcome.APPROVE:
        vote = refusal(about, who.fingerprint, outcome)
    return {
        EventType.START: lambda: making.start(who, state),
        EventType.BALLOT: lambda: making.cast(who, state, vote),
        EventType.REVEAL: lambda: making.reveal(who, state),
        EventType.MERGE: lambda: making.merge(who, state),
        EventType.RELEASE: lambda: making.release(who, state),
        EventType.WITHDRAW: lambda: making.withdraw(who, state, "wrong"),
        EventType.SUPERSEDE: lambda: making.supersede(who, state, code("next"), "new"),
    }[kind]()


@settings(deadline=None, max_examples=50)
@given(honest_plays())
def test_who_does_only_what_is_allowed_never_spoils_a_review(
    play: tuple[ReviewGraph, TrustList, datetime],
) -> None:
    graph, trust, now = play
    state = evaluate(graph, trust, now)
    assert state.faults == ()
    assert state.past == ()
    assert not state.void


@settings(deadline=None, max_examples=examples(50))
@given(worlds(), lists(), st.sampled_from(PEOPLE), st.sampled_from(list(EventType)))
def test_what_is_not_allowed_is_refused_and_what_is_allowed_counts(
    world: World, trust: TrustList, who: Signer, kind: EventType
) -> None:
    state = evaluate(world.everything(), trust, NOW)
    permission = permissions(state, who.card)[kind]
    if kind in (EventType.BALLOT, EventType.REVEAL, EventType.SUBMIT):
        return
    assert state.current is not None
    make = {
        EventType.START: lambda: making.start(who, state),
        EventType.MERGE: lambda: making.merge(who, state),
        EventType.RELEASE: lambda: making.release(who, state),
        EventType.WITHDRAW: lambda: making.withdraw(who, state, "wrong"),
        EventType.SUPERSEDE: lambda: making.supersede(who, state, code("next"), "new"),
    }[kind]
    if permission.allowed:
        after = evaluate(graph_of([*state.graph.events, make()]), trust, NOW)
        assert after.void == state.void
        return
    with pytest.raises(RefusedError) as caught:
        make()
    assert caught.value.sentence == permission.reason
