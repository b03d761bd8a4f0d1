"""Graphs: order, parents, roots; hostile files become faults; copies join without loss."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from dpdesk.io.canonical import canonical_json
from dpdesk.project.review.events import Event, Merge, Start, sign_event
from dpdesk.project.review.graph import (
    LARGEST_REVIEW,
    MOST_EVENTS,
    ReviewGraph,
    graph_of,
    joined,
    parse_review,
    without,
)
from tests.helpers.reviewing import (
    AUTHOR,
    BEN,
    CLARA,
    DORA,
    NOON,
    Play,
    code,
    released,
    submission,
)


def file_of(events: list[Any], **other: object) -> bytes:
    return canonical_json({"format": 1, "events": events, **other})


def codes(graph: ReviewGraph) -> list[str]:
    return [fault.code for fault in graph.faults]


def begun() -> tuple[Play, Event]:
    play = Play()
    return play, play.submit()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b"{}\n",
        b"\xff" * 50,
        b"\x00" * 50,
        b"[" * 1_000_000,
        b'{"a":' * 200_000,
        b'{"events": [], "events": [], "format": 1}',
        b'{"events": [], "format": 1}',
        b"\xef\xbb\xbf" + file_of([]),
        file_of([], more=1),
        file_of([]).replace(b"1", b"2"),
        file_of([]).replace(b"1", b"1.0"),
        file_of([]).replace(b"1", b"true"),
        file_of([]).replace(b"[]", b"{}"),
        file_of([]).replace(b"1", b"9" * 5_000),
        file_of([]).replace(b"1", b"NaN"),
        file_of([]).replace(b"1", b"1e999"),
        file_of([]).replace(b"[]", b'["\\ud800"]'),
        file_of([None] * (MOST_EVENTS + 1)),
        b" " * (LARGEST_REVIEW + 1),
    ],
    ids=range(23),
)
def test_bytes_that_are_no_review_are_one_named_fault(data: bytes) -> None:
    graph = parse_review(data)
    assert graph.events == ()
    assert codes(graph) == ["review.unreadable"]
    assert graph.faults[0].reason


def test_deep_nesting_anywhere_is_a_fault() -> None:
    for depth in (20, 40, 100, 400, 900, 1_000, 5_000, 100_000):
        inner = b"[" * depth + b"]" * depth
        graph = parse_review(file_of(["HERE"]).replace(b'"HERE"', inner))
        assert graph.events == ()
        assert graph.faults


def test_an_empty_list_of_events_is_a_fault() -> None:
    """No DPDesk writes a file before the first event: a draft has none."""
    found = parse_review(file_of([]))
    assert found.events == ()
    assert [fault.code for fault in found.faults] == ["review.unreadable"]


def test_what_is_written_is_read_again() -> None:
    graph = released().graph
    assert parse_review(graph.to_bytes()) == graph
    assert len(graph.events) == 13


def test_a_removed_event_leaves_those_that_build_on_it_unchecked() -> None:
    graph = released().graph
    raw = [event.as_json() for event in graph.events]
    for place in range(len(raw) - 1):
        found = parse_review(file_of(raw[:place] + raw[place + 1 :]))
        assert "event.parent-missing" in codes(found)
        assert len(found.events) == place
        assert len(found.faults) == len(raw) - place - 1
        assert "removed" in found.faults[0].reason


def test_events_in_another_order_or_twice_are_faults() -> None:
    graph = released().graph
    raw = [event.as_json() for event in graph.events]
    for place in range(len(raw) - 1):
        swapped = [*raw[:place], raw[place + 1], raw[place], *raw[place + 2 :]]
        assert codes(parse_review(file_of(swapped))) == ["review.order"]
    for place in range(len(raw)):
        twice = parse_review(file_of([*raw, raw[place]]))
        assert codes(twice) == ["event.twice"]
        assert f"event {place + 1}" in twice.faults[0].reason
        assert twice.events == graph.events


def test_events_of_another_review_do_not_come_in() -> None:
    play, root = begun()
    other = Play(now=NOON + timedelta(hours=1))
    foreign = other.submit("another release")
    ballot = other.cast(BEN)
    graph = graph_of([*play.graph.events, foreign, ballot])
    assert codes(graph) == ["review.two-roots", "event.form"]
    assert [event.id for event in graph.events] == [root.id]
    graph = graph_of([*play.graph.events, ballot])
    assert codes(graph) == ["event.parent-missing"]


def test_of_two_first_submissions_the_known_one_is_taken() -> None:
    _, root = begun()
    older = sign_event(AUTHOR, submission("older"), (), NOON - timedelta(days=1))
    assert graph_of([root, older]).root == older
    assert graph_of([root, older], (), [root.id]).root == root
    data = file_of([event.as_json() for event in (older, root)])
    assert parse_review(data).root == older
    assert parse_review(data, [root.id]).root == root
    assert codes(parse_review(data, [root.id])) == ["review.two-roots"]


def test_an_event_must_follow_its_own_submission() -> None:
    play, root = begun()
    late = play.submit("release 2")
    for target, parents in (
        ((late.id, late.release), (root.id,)),
        ((root.id, late.release), (late.id,)),
        ((code("x"), root.release), (root.id,)),
    ):
        for time in (NOON, play.now):
            event = sign_event(BEN, Start(), parents, time, target)
            assert codes(graph_of([*play.graph.events, event])) == ["event.form"]
    start = play.start(BEN)
    event = sign_event(CLARA, Start(), (start.id,), NOON, (start.id, late.release))
    assert codes(graph_of([*play.graph.events, event])) == ["event.form"]


def test_parents_that_come_before_one_another_are_a_fault() -> None:
    play, root = begun()
    start = play.start(BEN)
    event = sign_event(CLARA, Merge(), (root.id, start.id), play.now, (root.id, root.release))
    assert codes(graph_of([*play.graph.events, event])) == ["event.form"]


def test_an_event_without_parents_is_a_first_submission_or_nothing() -> None:
    _, root = begun()
    alone = sign_event(BEN, Start(), (), NOON, (root.id, root.release))
    assert graph_of([alone]).events == ()
    assert codes(graph_of([alone])) == ["event.form"]
    orphan = sign_event(AUTHOR, submission(previous=code("x")), (), NOON)
    assert codes(graph_of([orphan])) == ["event.form"]


def test_heads_and_ancestors_are_what_they_are_called() -> None:
    play, root = begun()
    one, other = play.copy(), play.copy()
    ben, clara = one.cast(BEN), other.cast(CLARA)
    one.join(other)
    assert one.graph.heads() == tuple(sorted([ben.id, clara.id]))
    merge = one.merge(DORA)
    assert merge.parents == tuple(sorted([ben.id, clara.id]))
    assert one.graph.heads() == (merge.id,)
    assert {event.id for event in one.graph.ancestors(merge.id)} == {root.id, ben.id, clara.id}
    assert one.graph.is_before(root.id, merge.id)
    assert not one.graph.is_before(ben.id, clara.id)
    assert not one.graph.is_before(merge.id, merge.id)


def test_the_copy_of_another_review_is_named_and_left_out() -> None:
    play, _ = begun()
    other = Play()
    other.submit("another release")
    graph = joined([play.graph, other.graph])
    assert graph.events == play.graph.events
    assert codes(graph) == ["review.other"]
    assert joined([ReviewGraph(), play.graph]).events == play.graph.events
    assert joined([]) == ReviewGraph()


def test_events_are_left_out_only_when_nothing_builds_on_them() -> None:
    play, root = begun()
    start = play.start(BEN)
    ballot = play.cast(BEN)
    assert without(play.graph, [ballot.id]).heads() == (start.id,)
    assert without(play.graph, [start.id]) == play.graph
    assert without(play.graph, [start.id, ballot.id]).heads() == (root.id,)


def test_two_signatures_of_one_body_are_one_event() -> None:
    """The holder of a key could make another signature; the event stays the same one."""
    play, root = begun()
    raw = root.as_json()
    assert graph_of([root, root]) == play.graph
    assert json.loads(play.graph.to_bytes())["events"] == [raw]


def test_two_thousand_events_are_read_in_little_time_and_stack() -> None:
    play, root = begun()
    events, last = list(play.graph.events), root.id
    for number in range(MOST_EVENTS - 1):
        time = NOON + timedelta(seconds=number)
        event = sign_event(BEN, Merge(), (last,), time, (root.id, root.release))
        events.append(event)
        last = event.id
    graph = parse_review(graph_of(events).to_bytes())
    assert graph.faults == ()
    assert len(graph.events) == MOST_EVENTS
    assert graph.heads() == (last,)
