"""What the page on signatures says is enough to verify a review without this program."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dpdesk.project.review.cards import Purpose, is_honest_key
from dpdesk.project.review.events import EventType
from dpdesk.project.review.graph import parse_review
from tests.helpers.reviewing import BEN, NOON, Play, signer
from tests.reference import outside_verifier as outside
from tests.reference import review_state
from tests.unit.project.review.test_cards import SECOND_SPELLINGS, SMALL
from tests.unit.project.review.test_tampering import GENUINE, PLAY

PAGE = (Path(__file__).parents[4] / "resources/docs/signatures.md").read_text("utf-8")


def test_an_outsider_finds_the_same_events_and_the_same_end() -> None:
    events = outside.sound_events(GENUINE)
    assert events is not None
    assert [event["id"] for event in events] == [event.id for event in PLAY.graph.events]
    trust = {
        entry.fingerprint: {"person": entry.person, "revoked": None} for entry in PLAY.trust.entries
    }
    found = review_state.review(events, trust, PLAY.now, {})
    assert found["rounds"][found["current"]]["status"] == PLAY.state.status.value == "released"
    assert found["faults"] == []


def test_an_outsider_and_the_program_refuse_the_same_bytes() -> None:
    data = bytearray(GENUINE)
    for place in range(0, len(data), 211):
        data[place] ^= 1
        mine = parse_review(bytes(data))
        assert (outside.sound_events(bytes(data)) is None) == bool(mine.faults), place
        data[place] ^= 1


def test_odd_values_have_the_same_canonical_form() -> None:
    odd = {
        "b": '\x00\x1f\x7f"\\/\b\f\n\r\té€😀\u2028',
        "a": [],
        "é": {},
        "Z": [1, 0.5, 1e-05, 1e16],
    }
    play = Play()
    play.submit(policy={"reviewers": 2, "odd": odd, "none": None, "yes": True})
    data = play.graph.to_bytes()
    assert outside.canonical(json.loads(data)) == data
    assert outside.sound_events(data) is not None


def test_cards_hold_for_an_outsider() -> None:
    assert outside.card_holds(BEN.card.to_bytes())
    other = BEN.card.to_bytes().replace(b'"Ben"', b'"Bea"')
    assert not outside.card_holds(other)


@pytest.mark.parametrize("key", [*SMALL, *SECOND_SPELLINGS, BEN.card.key, "02" + "00" * 31])
def test_both_agree_on_which_keys_are_honest(key: str) -> None:
    assert outside.honest(bytes.fromhex(key)) == is_honest_key(bytes.fromhex(key))


def test_the_page_names_every_type_every_first_line_and_every_key() -> None:
    for kind in EventType:
        assert f"`{kind.value}`" in PAGE
    for purpose in Purpose:
        assert f"`{purpose.value}`" in PAGE
    for words in (outside.ALWAYS, *outside.FURTHER.values()):
        assert all(f"`{key}`" in PAGE for key in words.split())
    assert signer("Ben").card.created < NOON
