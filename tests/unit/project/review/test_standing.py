"""Revoked keys, and clocks that are wrong: what then counts, and what is said."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from dpdesk.core.errors import RefusedError
from dpdesk.project.review.events import (
    Event,
    EventType,
    Start,
    sign_event,
)
from dpdesk.project.review.permissions import permissions
from dpdesk.project.review.state import evaluate
from dpdesk.project.review.trust import RevokedAs
from tests.helpers.review_forging import (
    SECOND_BEN,
    approved,
    begun,
    codes,
    envelope,
    forge,
)
from tests.helpers.reviewing import (
    BEN,
    CLARA,
    DORA,
    NOON,
    STRANGER,
    Play,
)


def test_a_clock_that_went_back_is_named_with_both_times() -> None:
    play = begun()
    play.now -= timedelta(minutes=10)
    forge(play, BEN, Start())
    play.now = NOON
    assert codes(play) == ["clock.back"]
    assert "2026-11-20T12:00:00Z" in play.state.faults[0].reason
    assert "2026-11-20 11:51:00 UTC" in play.state.faults[0].reason


def test_five_minutes_between_clocks_are_no_fault() -> None:
    play = begun()
    play.now = NOON - timedelta(seconds=300)
    forge(play, BEN, Start())
    assert codes(play) == []
    play.now = NOON - timedelta(seconds=301)
    forge(play, CLARA, Start(), (play.graph.events[0].id,))
    assert "clock.back" in codes(play)


def test_the_latest_of_all_events_before_counts_for_the_clock() -> None:
    play = begun()
    other = play.copy()
    one = play.start(BEN)
    other.now += timedelta(minutes=20)
    two = other.start(CLARA)
    play.join(other)
    play.now = NOON + timedelta(minutes=5)
    forge(play, DORA, Start(), (one.id, two.id))
    play.now = other.now
    assert codes(play) == ["clock.back"]


def test_an_event_from_the_future_is_named_until_its_time_comes() -> None:
    play = begun()
    play.now += timedelta(hours=2)
    forge(play, BEN, Start())
    early = evaluate(play.graph, play.trust, NOON)
    assert [fault.code for fault in early.faults] == ["clock.ahead"]
    assert "2026-11-20T12:00:00Z" in early.faults[0].reason
    assert evaluate(play.graph, play.trust, play.now).ok


@pytest.mark.parametrize(
    "action",
    [
        lambda play: play.cast(BEN),
        lambda play: play.start(BEN),
        lambda play: play.merge(BEN),
        lambda play: play.submit("release 2"),
        lambda play: play.withdraw(),
    ],
)
def test_nothing_is_signed_while_the_clock_is_behind(action: Callable[[Play], Event]) -> None:
    play = begun()
    play.now = NOON - timedelta(seconds=301)
    with pytest.raises(RefusedError) as caught:
        action(play)
    assert "set the clock right" in caught.value.sentence
    assert "2026-11-20T11:54:59Z" in caught.value.sentence
    assert "2026-11-20T12:00:00Z" in caught.value.sentence


@pytest.mark.parametrize("kind", list(RevokedAs))
def test_what_a_key_signs_after_it_was_revoked_does_not_count(kind: RevokedAs) -> None:
    play = begun()
    play.trust = play.trust.revoke(BEN.fingerprint, play.now, "lost", kind)
    assert play.state.ok
    assert "revoked on" in permissions(play.state, BEN.card)[EventType.MERGE].reason
    forge(play, BEN, envelope(play, BEN)[0])
    assert codes(play) == ["signer.revoked"]
    assert "revoked on" in permissions(play.state, BEN.card)[EventType.BALLOT].reason


@pytest.mark.parametrize("kind", list(RevokedAs))
def test_a_key_revoked_by_a_clock_that_was_ahead_counts_no_more_at_once(kind: RevokedAs) -> None:
    play = begun()
    ahead = play.now + timedelta(days=365)
    play.trust = play.trust.revoke(BEN.fingerprint, ahead, "lost", kind)
    ballot = forge(play, BEN, envelope(play, BEN)[0])
    seen = evaluate(play.graph, play.trust, play.now, {ballot.id: play.now})
    assert codes(play) == [fault.code for fault in seen.faults] == ["signer.revoked"]
    assert "revoke it again" in play.state.faults[0].reason
    play.trust = play.trust.revoke(BEN.fingerprint, play.now + timedelta(hours=1), "lost", kind)
    play.now += timedelta(hours=2)
    late = evaluate(play.graph, play.trust, play.now, {ballot.id: ballot.time})
    assert late.ok, "the earlier time holds, and the ballot is from before it"


def test_what_others_signed_over_in_time_stands_after_a_theft() -> None:
    play = approved()
    play.merge(DORA)
    play.now += timedelta(days=1)
    play.trust = play.trust.revoke(BEN.fingerprint, play.now, "stolen", RevokedAs.COMPROMISED)
    assert play.state.approved
    assert play.state.notes == ()


def test_a_vote_by_a_stolen_key_that_nobody_saw_in_time_does_not_count() -> None:
    play = begun()
    play.cast(CLARA)
    stolen = play.now + timedelta(days=1)
    play.trust = play.trust.revoke(BEN.fingerprint, stolen, "stolen", RevokedAs.COMPROMISED)
    event = forge(play, BEN, envelope(play, BEN)[0])  # with a time from before the theft
    play.now += timedelta(days=2)
    assert codes(play) == ["signer.compromised"]
    seen = {event.id: stolen - timedelta(hours=1)}
    assert evaluate(play.graph, play.trust, play.now, seen).ok
    too_late = {event.id: stolen}
    assert not evaluate(play.graph, play.trust, play.now, too_late).ok


def test_the_thief_cannot_vouch_for_the_own_time() -> None:
    play = begun()
    play.cast(CLARA)
    forge(play, BEN, envelope(play, BEN)[0])
    forge(play, SECOND_BEN, Start())  # the same person's other key
    forge(play, STRANGER, Start())
    later = play.now + timedelta(days=1)
    play.trust = play.trust.revoke(BEN.fingerprint, later, "stolen", RevokedAs.COMPROMISED)
    play.now = later + timedelta(days=1)
    assert "signer.compromised" in codes(play)
    play.add(sign_event(DORA, Start(), play.graph.heads(), play.now, target_of(play)))
    assert "signer.compromised" in codes(play)


def test_a_witness_whose_key_was_revoked_vouches_for_nothing() -> None:
    play = begun()
    forge(play, BEN, envelope(play, BEN)[0])
    play.cast(CLARA)
    later = play.now + timedelta(days=1)
    play.now += timedelta(days=2)
    play.trust = play.trust.revoke(BEN.fingerprint, later, "stolen", RevokedAs.COMPROMISED)
    assert play.state.ok
    retired = play.trust.revoke(CLARA.fingerprint, play.now, "left", RevokedAs.RETIRED)
    found = evaluate(play.graph, retired, play.now)
    assert [fault.code for fault in found.faults] == ["signer.compromised"]


def target_of(play: Play) -> tuple[str, str]:
    about = play.graph.events[0]
    return about.id, about.release


def test_votes_of_somebody_who_left_stand_with_a_note() -> None:
    play = approved()
    left = play.now + timedelta(days=1)
    play.now += timedelta(days=2)
    for who in (BEN, CLARA):
        play.trust = play.trust.revoke(who.fingerprint, left, "retired", RevokedAs.RETIRED)
    assert play.state.approved
    assert {note.code for note in play.state.notes} == {"signer.old-key"}
