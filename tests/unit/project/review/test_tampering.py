"""Somebody who owns the folder and knows the format: every change to review.json is noticed."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest

from dpdesk.io.canonical import canonical_json
from dpdesk.project.review import ballots
from dpdesk.project.review.graph import ReviewGraph, parse_review
from dpdesk.project.review.receipts import ReceiptBook
from dpdesk.project.review.state import ReviewState, evaluate
from tests.helpers.reviewing import STRANGER, Play, released
from tests.unit.project.review.test_events import changed, leaves, removed, signed


def small_play() -> Play:
    """A whole review with short envelopes, so that it can be read some thousand times."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ballots, "_STEP", 64)
        patch.setattr(ballots, "_SPARE", 0)
        return released()


PLAY = small_play()
GENUINE = PLAY.graph.to_bytes()
SEEN: dict[str, datetime] = {event.id: event.time for event in PLAY.graph.events}
BOOK = ReceiptBook(PLAY.graph.events[0].id, PLAY.graph, SEEN)


def weigh(data: bytes) -> ReviewState:
    """What a computer that has seen the genuine review says of some bytes."""
    graph = parse_review(data, [BOOK.root])
    return evaluate(graph, PLAY.trust, PLAY.now, SEEN, BOOK.faults(graph, PLAY.trust, PLAY.now))


def assert_noticed(data: bytes, what: object = "") -> ReviewState:
    state = weigh(data)
    assert not state.ok, what
    assert not state.approved, what
    assert all(fault.reason and fault.reason.isprintable() for fault in state.faults), what
    return state


def raw_events() -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = json.loads(GENUINE)["events"]
    return events


def file_of(events: list[Any]) -> bytes:
    return canonical_json({"format": 1, "events": events})


def test_the_genuine_review_is_in_order() -> None:
    assert weigh(GENUINE).approved
    assert file_of(raw_events()) == GENUINE


@pytest.mark.parametrize("place", range(13))
def test_every_field_of_every_event_is_guarded(place: int) -> None:
    events = raw_events()
    for path in leaves(events[place]):
        for forged in (removed(events[place], path), changed(events[place], path, twin(path))):
            if forged == events[place]:
                continue
            state = assert_noticed(file_of([*events[:place], forged, *events[place + 1 :]]), path)
            named = [fault for fault in state.faults if fault.position == place + 1]
            assert named, path


def twin(path: tuple[str | int, ...]) -> object:
    """A value of the right kind for a place, but another one."""
    return "f" * 64 if path[-1] != "time" else "2026-11-20T12:00:01Z"


def test_no_event_can_be_taken_away_not_even_the_last() -> None:
    events = raw_events()
    for place in range(len(events)):
        state = assert_noticed(file_of(events[:place] + events[place + 1 :]), place)
        lost = PLAY.graph.events[place]
        named = [fault for fault in state.faults if fault.event == lost.id]
        assert [fault.code for fault in named] == ["receipt.missing"]
        assert lost.words in named[0].reason
    for length in range(len(events)):
        assert_noticed(file_of(events[:length]), length)


def test_only_the_last_events_can_be_taken_away_where_nobody_saw_them() -> None:
    """The limit that the guide states: it takes a computer that has seen the event."""
    events = raw_events()
    for place in range(len(events) - 1):
        graph = parse_review(file_of(events[:place] + events[place + 1 :]))
        assert not evaluate(graph, PLAY.trust, PLAY.now).ok
    graph = parse_review(file_of(events[:-1]))
    assert evaluate(graph, PLAY.trust, PLAY.now).ok


def test_events_cannot_change_places_or_come_twice() -> None:
    events = raw_events()
    for one in range(len(events)):
        assert_noticed(file_of([*events, events[one]]))
        assert_noticed(file_of([events[one], *events]))
        for other in range(one):
            swapped = [*events]
            swapped[one], swapped[other] = swapped[other], swapped[one]
            assert_noticed(file_of(swapped))
            for key in ("signature", "body", "id"):
                mixed = [dict(item) for item in events]
                mixed[one][key], mixed[other][key] = events[other][key], events[one][key]
                assert_noticed(file_of(mixed), (one, other, key))


def test_a_field_of_one_event_does_not_fit_into_another() -> None:
    events = raw_events()
    for one, first in enumerate(events):
        for other in (one - 1, one - 4, one - 6):
            second = events[other]
            for key in first["body"].keys() & second["body"].keys():
                if first["body"][key] == second["body"][key]:
                    continue
                forged = changed(first, ("body", key), second["body"][key])
                data = file_of([*events[:one], forged, *events[one + 1 :]])
                assert_noticed(data, (one, other, key))


def test_signing_again_as_a_stranger_does_not_help() -> None:
    """Each event replaced by the same one under a key of the attacker's, with the rest rebuilt."""
    events = raw_events()
    for place in range(len(events)):
        forged: list[dict[str, Any]] = []
        new: dict[str, str] = {}
        for number, event in enumerate(events):
            body = json.loads(json.dumps(event["body"]))
            for old, fresh in new.items():
                body = json.loads(json.dumps(body).replace(old, fresh))
            if number == place or body != event["body"]:
                body["signer"] = {**STRANGER_SIGNER, "person": body["signer"]["person"]}
                event = signed(STRANGER, body)
                new[events[number]["id"]] = event["id"]
            forged.append(event)
        graph = parse_review(file_of(forged))
        assert not evaluate(graph, PLAY.trust, PLAY.now).ok
        assert_noticed(file_of(forged), place)


STRANGER_SIGNER = {"key": STRANGER.card.key, "fingerprint": STRANGER.fingerprint}


def test_a_whole_review_by_strangers_is_no_review() -> None:
    """The same story, told from the start by keys that nobody trusts, with everybody's names."""
    events = raw_events()
    text = json.dumps([event["body"] for event in events])
    forged: list[dict[str, Any]] = []
    for number, _ in enumerate(events):
        body = json.loads(text)[number]
        body["signer"] = {**STRANGER_SIGNER, "person": body["signer"]["person"]}
        for key in body.keys() & {"parents", "closes"}:
            body[key] = sorted(body[key])
        event = signed(STRANGER, body)
        text = text.replace(events[number]["id"], event["id"])
        forged.append(event)
    state = evaluate(parse_review(file_of(forged)), PLAY.trust, PLAY.now)
    assert not state.approved
    assert {fault.code for fault in state.faults} == {"signer.unknown"}


def flips(count: int) -> Iterator[tuple[int, int]]:
    random_places = random.Random(20261120)
    for _ in range(count):
        yield random_places.randrange(len(GENUINE)), random_places.randrange(1, 256)


def test_any_single_byte_matters() -> None:
    """Random bytes of the file in random ways, and one bit of every 101st byte."""
    data = bytearray(GENUINE)
    for place, mask in (*flips(100), *((place, 1) for place in range(0, len(data), 101))):
        data[place] ^= mask
        assert_noticed(bytes(data), (place, mask))
        data[place] ^= mask
    assert bytes(data) == GENUINE


def test_cutting_and_lengthening_are_noticed() -> None:
    for length in (*range(0, 400, 13), len(GENUINE) // 2, len(GENUINE) - 2, len(GENUINE) - 1):
        assert_noticed(GENUINE[:length], length)
    for more in (b"\n", b" ", b"\x00", b"{}", GENUINE):
        assert_noticed(GENUINE + more)


def test_another_spelling_of_the_same_values_is_noticed() -> None:
    value = json.loads(GENUINE)
    for data in (
        json.dumps(value).encode(),
        json.dumps(value, indent=4, sort_keys=True).encode() + b"\n",
        GENUINE.replace(b"\n", b"\r\n"),
        GENUINE.replace(b'"Anna"', b'"\\u0041nna"'),
        GENUINE.replace(b'"format": 1', b'"format": 1.0'),
        GENUINE.replace(b'"format": 1', b'"format": 1,\n  "format": 1'),
    ):
        assert data != GENUINE
        assert_noticed(data)


def test_an_emptied_or_a_fresh_file_is_noticed() -> None:
    assert_noticed(file_of([]))
    other = Play()
    other.submit()
    other.now = PLAY.now
    fresh = other.graph.to_bytes()
    graph = parse_review(fresh, [BOOK.root])
    assert isinstance(graph, ReviewGraph)
    if graph.root is not None and graph.root.id != BOOK.root:
        assert_noticed(fresh)
    else:  # the same submission again: all later events are missed
        assert len(weigh(fresh).faults) == len(PLAY.graph.events) - 1
