"""Events: whatever is done to the bytes of one, it is named and does not count."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import pytest

from dpdesk.io.canonical import canonical_json
from dpdesk.project.review.cards import Purpose
from dpdesk.project.review.events import (
    LARGEST_BALLOT,
    Ballot,
    Event,
    EventType,
    Fault,
    Merge,
    Start,
    parse_event,
    policy_sha256,
    read_event,
    sign_event,
)
from dpdesk.project.review.keys import Signer
from dpdesk.project.review.texts import BadFieldError
from tests.helpers.reviewing import (
    BEN,
    CLARA,
    NOON,
    POLICY,
    Play,
    code,
    released,
    signer,
    submission,
)
from tests.unit.project.review.test_cards import SMALL


def signed(who: Signer, body: dict[str, Any]) -> dict[str, Any]:
    """An event that somebody signed with a program of their own."""
    data = canonical_json(body)
    return {
        "id": hashlib.sha256(data).hexdigest(),
        "body": body,
        "signature": who.sign(Purpose.EVENT, data),
    }


def every_type() -> dict[EventType, Event]:
    play = released()
    play.supersede(BEN)
    other = Play()
    other.submit()
    other.withdraw()
    return {event.type: event for event in (*other.graph.events, *play.graph.events)}


EVENTS = every_type()


def leaves(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The ways to every value in nested tables and lists, and to the tables themselves."""
    if path:
        yield path
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from leaves(item, (*path, place))


def changed(raw: dict[str, Any], path: tuple[str | int, ...], value: object) -> dict[str, Any]:
    whole: dict[str, Any] = json.loads(json.dumps(raw))
    inner: Any = whole
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return whole


def removed(raw: dict[str, Any], path: tuple[str | int, ...]) -> dict[str, Any]:
    whole: dict[str, Any] = json.loads(json.dumps(raw))
    inner: Any = whole
    for step in path[:-1]:
        inner = inner[step]
    del inner[path[-1]]
    return whole


def test_every_type_of_event_is_read_back_as_it_was_signed() -> None:
    assert set(EVENTS) == set(EventType)
    for event in EVENTS.values():
        assert parse_event(json.loads(canonical_json(event.as_json()))) == event


@pytest.mark.parametrize("kind", list(EventType))
def test_no_field_of_an_event_can_be_changed_or_taken_away(kind: EventType) -> None:
    raw = EVENTS[kind].as_json()
    for path in leaves(raw):
        for forged in (removed(raw, path), changed(raw, path, None), changed(raw, path, "x")):
            if forged != raw:
                assert isinstance(read_event(forged, 1), Fault), path
    flips: list[object] = [0, 1, True, -1, 1.5, [], {}, "0" * 64, "", "é", "\ud800"]
    for path in leaves(raw):
        for value in flips:
            forged = changed(raw, path, value)
            if forged != raw:
                assert isinstance(read_event(forged, 7), Fault), (path, value)


@pytest.mark.parametrize("kind", list(EventType))
def test_a_field_of_a_wrong_kind_is_refused_even_when_it_is_signed(kind: EventType) -> None:
    body, who = EVENTS[kind].body(), signer(EVENTS[kind].signer.person)
    for path in leaves(body):
        if path[0] == "policy" and len(path) > 1 and path[1] != "reviewers":
            continue  # a policy is signed as it is; what it means is not decided here
        for value in ([], {}, 1.5, True, "\ud800"):
            if path in (("parents",), ("closes",)) and value == []:
                continue
            forged = changed(body, path, value)
            if path[0] == "policy" and "policy_sha256" in forged and value != "\ud800":
                forged["policy_sha256"] = policy_sha256(
                    forged["policy"] if isinstance(forged["policy"], dict) else {}
                )
            if forged == body or is_empty_table(path, value):
                continue
            try:
                raw = signed(who, forged)
            except UnicodeError:
                continue
            assert isinstance(read_event(raw, 1), Fault), (path, value)


def is_empty_table(path: tuple[str | int, ...], value: object) -> bool:
    """Tables of files, checks and items may be empty, as far as the format goes."""
    return value == {} and path[-1] in ("files", "checks", "checklist")


@pytest.mark.parametrize("kind", list(EventType))
def test_unknown_and_missing_keys_are_refused_even_when_they_are_signed(kind: EventType) -> None:
    event = EVENTS[kind]
    who = signer(event.signer.person)
    assert isinstance(read_event(signed(who, event.body()), 1), Event)
    found = read_event(signed(who, {**event.body(), "more": 1}), 3)
    assert isinstance(found, Fault)
    assert "`body.more` is not a known key" in found.reason
    for key in event.body():
        found = read_event(signed(who, removed(event.body(), (key,))), 3)
        assert isinstance(found, Fault)
        assert f"`body.{key}`" in found.reason
        assert found.position == 3


def test_a_fault_names_the_event_by_place_type_and_person() -> None:
    raw = EVENTS[EventType.BALLOT].as_json()
    found = read_event(changed(raw, ("signature",), "0" * 128), 4)
    assert isinstance(found, Fault)
    who = EVENTS[EventType.BALLOT].signer.person
    assert found.reason == f"event 4 (ballot by {who}): its signature is not by the key of {who}"


def test_one_cannot_sign_as_somebody_else() -> None:
    body = EVENTS[EventType.BALLOT].body()
    theirs = BEN if EVENTS[EventType.BALLOT].signer.person != "Ben" else CLARA
    assert isinstance(read_event(signed(theirs, body), 1), Fault)


def test_a_signature_for_another_purpose_does_not_pass() -> None:
    event = EVENTS[EventType.MERGE]
    who = signer(event.signer.person)
    for purpose in (Purpose.CARD, Purpose.PROTOCOL):
        signature = who.sign(purpose, canonical_json(event.body()))
        raw = {**event.as_json(), "signature": signature}
        assert isinstance(read_event(raw, 1), Fault)


def test_an_event_under_a_weak_key_is_refused() -> None:
    body = EVENTS[EventType.MERGE].body()
    key = SMALL[0]
    body["signer"] = {
        "person": "Ben",
        "key": key,
        "fingerprint": hashlib.sha256(bytes.fromhex(key)).hexdigest(),
    }
    raw = {
        "id": hashlib.sha256(canonical_json(body)).hexdigest(),
        "body": body,
        "signature": key + "00" * 32,
    }
    found = read_event(raw, 1)
    assert isinstance(found, Fault)
    assert "weak" in found.reason


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("files", {"../../etc/passwd": code("x")}),
        ("files", {"public/../internal/x": code("x")}),
        ("files", {"public//x": code("x")}),
        ("files", {"public": code("x")}),
        ("files", {"/public/x": code("x")}),
        ("files", {"public\\x": code("x")}),
        ("files", {"public/a\nb": code("x")}),
        ("files", {"internal/review.json": code("x")}),
        ("files", {"public/x": code("x").upper()}),
        ("checklist", {"": {"question": "", "status": "pass", "evidence": ""}}),
        ("checklist", {"x": {"question": "", "status": "maybe", "evidence": ""}}),
        ("policy", {"reviewers": 0}),
        ("policy", {"reviewers": 65}),
        ("policy", {"reviewers": True}),
        ("policy", {"reviewers": 2.0}),
        ("policy", {}),
        ("mode", "apply"),
        ("protocol_sha256", code("x")),
        ("note", "a\u202eb"),
        ("note", "x" * 20_001),
        ("parents", [code("a"), code("b")]),
        ("parents", [code("a"), code("a")]),
        ("parents", [f"{place:064x}" for place in range(65)]),
        ("release", code("another")),
        ("submission", code("x")),
        ("time", "2026-11-20 12:00:00"),
        ("time", "1999-11-20T12:00:00Z"),
        ("dpdesk", "x" * 41),
    ],
)
def test_values_outside_the_format_are_refused_even_when_they_are_signed(
    path: str, value: object
) -> None:
    body = EVENTS[EventType.SUBMIT].body()
    forged = {**body, path: value}
    if path == "policy" and isinstance(value, dict):
        forged["policy_sha256"] = policy_sha256(value)
    assert isinstance(read_event(signed(signer("Anna"), forged), 1), Fault)


def test_hostile_values_are_faults_and_never_errors() -> None:
    deep: Any = []
    for _ in range(5_000):
        deep = [deep]
    wide: dict[str, Any] = {"type": "submit", "files": {str(place): 1 for place in range(6_000)}}
    for raw in (
        *(None, 1, "x", [], {}, {"id": 1}, deep, {"id": "", "body": deep, "signature": ""}),
        *({"id": "", "body": {"type": deep}, "signature": ""}, {"body": wide}),
        *({"id": "x", "body": {"type": ["ballot"]}, "signature": "x"}, {"body": {"signer": []}}),
        {"id": "x", "body": {"type": "ballot", "signer": {"person": "\x1b[31m"}}, "signature": ""},
    ):
        found = read_event(raw, 1)
        assert isinstance(found, Fault)
        assert found.reason.isprintable()


def test_a_ballot_beyond_the_limit_is_refused() -> None:
    about = EVENTS[EventType.SUBMIT]
    large = Ballot(code("x"), "00" * (LARGEST_BALLOT + 1))
    with pytest.raises(BadFieldError):
        sign_event(BEN, large, (about.id,), NOON, (about.id, about.release))


def test_nothing_is_signed_that_nobody_could_read() -> None:
    with pytest.raises(ValueError, match="names"):
        sign_event(BEN, Merge(), (code("x"),), NOON)
    with pytest.raises(ValueError, match="names"):
        sign_event(BEN, submission(), (), NOON, (code("x"), code("y")))
    with pytest.raises(BadFieldError):
        sign_event(BEN, submission(note="a\x00b"), (), NOON)
    with pytest.raises(ValueError, match="surrogates"):
        sign_event(BEN, submission(note="a\ud800b"), (), NOON)
    with pytest.raises(BadFieldError):
        sign_event(BEN, submission(policy={**POLICY, "reviewers": 0}), (), NOON)


def test_the_bytes_that_are_signed_are_as_documented() -> None:
    about = EVENTS[EventType.SUBMIT]
    event = sign_event(BEN, Start(), (about.id,), NOON, (about.id, about.release))
    body = (
        "{\n"
        f'  "dpdesk": "{event.dpdesk}",\n'
        '  "parents": [\n'
        f'    "{about.id}"\n'
        "  ],\n"
        f'  "release": "{about.release}",\n'
        '  "signer": {\n'
        f'    "fingerprint": "{BEN.fingerprint}",\n'
        f'    "key": "{BEN.card.key}",\n'
        '    "person": "Ben"\n'
        "  },\n"
        f'  "submission": "{about.id}",\n'
        '  "time": "2026-11-20T12:00:00Z",\n'
        '  "type": "start"\n'
        "}\n"
    ).encode()
    assert event.id == hashlib.sha256(body).hexdigest()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(BEN.card.key))
    key.verify(bytes.fromhex(event.signature), b"dpdesk-review-event-v1\n" + body)
