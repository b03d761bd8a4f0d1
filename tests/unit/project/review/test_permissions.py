"""What a person may do now, and the reason where not; copies that were made independently."""

from __future__ import annotations

import pytest

from dpdesk.core.errors import InputError
from dpdesk.project.review import making
from dpdesk.project.review.events import ChecklistItem, EventType, Submission
from dpdesk.project.review.permissions import permissions
from dpdesk.project.review.state import Status, evaluate
from dpdesk.project.review.votes import Decision, ItemStatus, Outcome
from tests.helpers.review_forging import (
    SECOND_BEN,
    approved,
    begun,
)
from tests.helpers.reviewing import (
    AUTHOR,
    BEN,
    CLARA,
    DORA,
    STRANGER,
    TRUST,
    Play,
    approval,
    code,
    submission,
    trusting,
)


def test_copies_made_independently_come_to_the_same_in_either_order() -> None:
    play = begun()
    one, other = play.copy(), play.copy()
    one.cast(BEN)
    other.cast(CLARA, Outcome.CHANGES)
    left, right = one.copy(), other.copy()
    left.join(other)
    right.join(one)
    assert left.graph == right.graph
    left.reveal(CLARA)
    left.reveal(BEN)
    assert left.state.status is Status.CHANGES


def test_a_fault_of_the_file_forbids_everything_but_fixing() -> None:
    from dpdesk.project.review.graph import parse_review

    play = begun()
    play.cast(BEN)
    damaged = play.graph.to_bytes().replace(b'"note": "Please', b'"note": "Pleese')
    state = evaluate(parse_review(damaged), play.trust, play.now)
    assert not state.ok
    for who in (AUTHOR, BEN, DORA):
        assert not any(item.allowed for item in permissions(state, who.card).values())


def test_without_a_key_nothing_is_allowed_and_the_reason_is_said() -> None:
    play = begun()
    for card, words in ((None, "no key"), (STRANGER.card, "not in this computer's list")):
        found = permissions(play.state, card)
        assert set(found) == set(EventType)
        assert all(words in item.reason for item in found.values())


def test_each_action_says_why_it_is_not_allowed_yet() -> None:
    play = Play()
    found = permissions(play.state, BEN.card)
    assert found[EventType.SUBMIT].allowed
    assert "not been submitted" in found[EventType.BALLOT].reason
    play = begun()
    play.cast(BEN)
    ben, dora = permissions(play.state, BEN.card), permissions(play.state, DORA.card)
    assert ben[EventType.BALLOT].reason == "Your vote has been cast; it cannot be changed."
    assert ben[EventType.RELEASE].reason == "1 more of 2 votes must be cast."
    assert dora[EventType.REVEAL].reason == "You have cast no vote with this key."
    assert "Only the author, Anna" in dora[EventType.WITHDRAW].reason
    play.cast(CLARA)
    play.reveal(CLARA)
    found = permissions(play.state, CLARA.card)
    assert found[EventType.REVEAL].reason == "Your vote has already been revealed."
    assert found[EventType.RELEASE].reason == "Votes must be revealed first: Ben."


def test_texts_that_cannot_be_signed_are_named() -> None:
    play = begun()
    for reason in ("", " \u200b", "a\u202eb", "x" * 20_001):
        with pytest.raises(InputError) as caught:
            making.withdraw(AUTHOR, play.state, reason)
        assert caught.value.code == "review.text"
    current = play.state.current
    assert current is not None
    vote = approval(current.submission, BEN.fingerprint, "a\x07b")
    with pytest.raises(InputError) as caught:
        making.cast(BEN, play.state, vote)
    assert caught.value.code == "review.text"
    done = approved()
    done.release(DORA)
    for replacement in ("", "x", done.graph.events[0].release):
        with pytest.raises(InputError) as caught:
            making.supersede(BEN, done.state, replacement, "New data.")
        assert caught.value.code == "review.replacement"


def test_the_list_decides_who_somebody_is_on_this_computer() -> None:
    """Another computer's list may lack a reviewer; then the review is spoiled there, by name."""
    play = approved()
    elsewhere = evaluate(play.graph, trusting(AUTHOR, BEN), play.now)
    assert not elsewhere.approved
    assert {fault.code for fault in elsewhere.faults} >= {"signer.unknown"}
    assert TRUST.entry(CLARA.fingerprint) is not None
    assert evaluate(play.graph, TRUST, play.now).approved


def test_a_release_with_names_that_cannot_be_signed_is_refused_in_words() -> None:
    state = Play().state
    for payload in (
        submission(files={"public/a\u202eb.csv": code("x")}),
        submission(files={f"public/{number}.csv": code("x") for number in range(5_001)}),
        submission(policy={"reviewers": 2, "title": "a\ud800b"}),
    ):
        with pytest.raises(InputError) as caught:
            making.submit(AUTHOR, state, payload)
        assert caught.value.code == "review.unsignable"
        assert caught.value.sentence.isprintable()


def test_evidence_with_odd_names_of_the_data_can_be_signed() -> None:
    text = "The column `a\u202eb\x00\ud800` is nearly unique. " + "x" * 30_000
    item = ChecklistItem.made("Is `\x1b[31m` all right?", ItemStatus.REVIEW, text)
    play = Play()
    event = play.submit(checklist={"odd": item})
    assert isinstance(event.payload, Submission)
    evidence = event.payload.checklist["odd"].evidence
    assert evidence.startswith("The column `a\\u202eb\\x00\\ud800` is nearly unique. x")
    assert len(evidence) == 20_000


def test_a_vote_starts_from_what_the_same_person_said_before() -> None:
    play = begun()
    play.vote({"Ben": Outcome.APPROVE, "Clara": Outcome.CHANGES})
    play.submit("release 1")
    own = making.proposed_vote(play.state, SECOND_BEN.card)
    assert own.reviewer == SECOND_BEN.fingerprint
    assert {file.decision for file in own.files.values()} == {Decision.ACCEPT}
    assert own.outcome is Outcome.CHANGES
    other = making.proposed_vote(play.state, DORA.card)
    assert {file.decision for file in other.files.values()} == {Decision.CHANGE}
    with pytest.raises(ValueError, match="nothing"):
        making.proposed_vote(Play().state, BEN.card)
