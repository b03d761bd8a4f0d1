"""What a review comes to: each rule, and what breaks it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from dpdesk.core.errors import RefusedError
from dpdesk.project.review import making
from dpdesk.project.review.events import (
    EventType,
    Release,
    Reveal,
    Start,
    Supersede,
    Withdraw,
    sign_event,
)
from dpdesk.project.review.keys import Signer
from dpdesk.project.review.permissions import permissions
from dpdesk.project.review.state import Status
from dpdesk.project.review.trust import RevokedAs, TrustList
from dpdesk.project.review.votes import CheckDecision, Decision, Outcome, Vote
from tests.helpers.review_forging import (
    SECOND_AUTHOR,
    SECOND_BEN,
    begun,
    codes,
    envelope,
    forge,
)
from tests.helpers.reviewing import (
    AUTHOR,
    BEN,
    CLARA,
    DORA,
    NOON,
    POLICY,
    STRANGER,
    TRUST,
    Play,
    approval,
    code,
    refusal,
    released,
    signer,
    submission,
    trusting,
)


def test_two_approvals_lead_to_a_release() -> None:
    play = Play()
    assert play.state.status is Status.DRAFT
    play.submit()
    assert play.state.status is Status.SUBMITTED
    play.cast(BEN)
    assert play.state.status is Status.IN_REVIEW
    play.cast(CLARA)
    play.reveal(CLARA)
    assert play.state.status is Status.IN_REVIEW
    play.reveal(BEN)
    assert play.state.status is Status.APPROVED
    play.release(AUTHOR)
    assert play.state.status is Status.RELEASED
    assert play.state.approved
    play.supersede(CLARA)
    assert play.state.status is Status.SUPERSEDED


@pytest.mark.parametrize(
    ("votes", "status"),
    [
        (["approve", "approve"], Status.APPROVED),
        (["approve", "changes"], Status.CHANGES),
        (["changes", "reject"], Status.REJECTED),
        (["reject", "approve"], Status.REJECTED),
        (["approve", "approve", "reject"], Status.REJECTED),
        (["approve", "approve", "changes"], Status.CHANGES),
    ],
)
def test_the_worst_vote_decides(votes: list[str], status: Status) -> None:
    play = begun()
    names = ("Ben", "Clara", "Dora")
    play.vote({name: Outcome(vote) for name, vote in zip(names, votes, strict=False)})
    assert play.state.status is status
    assert play.state.ok
    if status is not Status.APPROVED:
        with pytest.raises(RefusedError):
            play.release(DORA)


def test_a_new_round_leaves_the_old_one_behind() -> None:
    play = released()
    assert [item.status for item in play.state.rounds] == [Status.CHANGES, Status.RELEASED]
    assert play.state.past == ()


def test_one_reviewer_is_enough_where_the_policy_says_so() -> None:
    play = begun(reviewers=1)
    play.vote({"Ben": Outcome.APPROVE})
    assert play.state.status is Status.APPROVED


def test_nobody_can_reveal_before_enough_have_voted() -> None:
    play = begun()
    play.cast(BEN)
    with pytest.raises(RefusedError) as caught:
        play.reveal(BEN)
    assert "1 more of 2 votes" in caught.value.sentence


def test_revealing_too_early_spoils_the_round_and_later_ballots_are_late() -> None:
    play = begun()
    ballot, nonce, vote = envelope(play, BEN)
    cast = forge(play, BEN, ballot)
    forge(play, BEN, Reveal(cast.id, (cast.id,), nonce, vote))
    assert codes(play) == ["reveal.early"]
    other, *_ = envelope(play, CLARA)
    forge(play, CLARA, other)
    assert [item.late for item in play.state.current.ballots] == [False, True]  # type: ignore[union-attr]
    assert "ballot.late" in [note.code for note in play.state.notes]
    assert not play.state.approved


def test_two_keys_of_one_person_are_not_two_reviewers() -> None:
    play = begun()
    first, nonce, vote = envelope(play, BEN)
    one = forge(play, BEN, first)
    second, *_ = envelope(play, SECOND_BEN)
    other = forge(play, SECOND_BEN, second)
    assert codes(play) == ["ballot.twice"]
    forge(play, BEN, Reveal(one.id, tuple(sorted([one.id, other.id])), nonce, vote))
    assert "reveal.early" in codes(play)


def test_two_spellings_of_a_name_in_an_older_list_are_not_two_reviewers() -> None:
    other = signer("B-é n")
    older = TrustList((*TRUST.entries, *trusting(other).entries))
    play = begun()
    play.trust = older
    forge(play, BEN, envelope(play, BEN)[0])
    forge(play, other, envelope(play, other)[0])
    assert codes(play) == ["ballot.twice"]
    assert len(play.state.current.voters) < 2  # type: ignore[union-attr]


def test_the_author_under_another_spelling_cannot_review() -> None:
    other = signer("An. na")
    play = begun()
    play.trust = TrustList((*TRUST.entries, *trusting(other).entries))
    assert permissions(play.state, other.card)[EventType.START].reason.startswith("Authors cannot")
    forge(play, other, envelope(play, other)[0])
    assert codes(play) == ["review.author"]


@pytest.mark.parametrize("key", [AUTHOR, SECOND_AUTHOR])
def test_the_author_cannot_review_with_any_key(key: Signer) -> None:
    play = begun()
    for action in (EventType.START, EventType.BALLOT, EventType.REVEAL):
        permission = permissions(play.state, key.card)[action]
        assert permission.reason == "Authors cannot review their own release."
    forge(play, key, envelope(play, key)[0])
    forge(play, key, Start())
    assert codes(play) == ["review.author"] * 2
    assert play.state.current is not None
    assert play.state.current.ballots == ()


def test_a_ballot_by_a_stranger_does_not_count() -> None:
    play = begun()
    forge(play, STRANGER, envelope(play, STRANGER)[0])
    assert codes(play) == ["signer.unknown"]
    assert play.state.current is not None
    assert play.state.current.ballots == ()


def test_a_trusted_key_under_another_name_does_not_count() -> None:
    play = begun()
    play.trust = trusting(AUTHOR, BEN, CLARA).add(replace(STRANGER.card, person="Max"), NOON)
    forge(play, STRANGER, envelope(play, STRANGER)[0])
    assert codes(play) == ["signer.name"]
    assert "Max" in play.state.faults[0].reason
    assert "made for Mallory" in permissions(play.state, STRANGER.card)[EventType.MERGE].reason


def test_two_ballots_of_one_person_name_each_other() -> None:
    play = begun()
    other = play.copy()
    one, two = play.cast(BEN), None
    other.now += timedelta(minutes=5)
    two = other.cast(BEN, Outcome.REJECT)
    play.join(other)
    assert codes(play) == ["ballot.twice"]
    assert one.words in play.state.faults[0].reason
    assert two.words in play.state.faults[0].reason
    with pytest.raises(RefusedError):
        play.cast(CLARA)
    play.submit("release 2")
    assert codes(play) == []
    assert [fault.code for fault in play.state.past] == ["ballot.twice"]


def test_a_person_who_votes_twice_is_not_counted_even_when_all_is_revealed() -> None:
    play = begun()
    sealed = [envelope(play, who) for who in (BEN, SECOND_BEN, CLARA)]
    people = (BEN, SECOND_BEN, CLARA)
    made = [forge(play, who, one[0]) for who, one in zip(people, sealed, strict=True)]
    closes = tuple(sorted(event.id for event in made))
    for who, event, (_, nonce, vote) in zip(people, made, sealed, strict=True):
        forge(play, who, Reveal(event.id, closes, nonce, vote))
    assert codes(play) == ["ballot.twice"]
    assert play.state.status is Status.IN_REVIEW
    forge(play, DORA, Release())
    assert codes(play) == ["release.early", "ballot.twice"]
    assert play.state.status is Status.IN_REVIEW


def test_a_copied_commitment_is_noticed_and_cannot_be_revealed() -> None:
    play = begun()
    ballot, nonce, vote = envelope(play, BEN)
    forge(play, BEN, ballot)
    copied = forge(play, CLARA, ballot)
    assert codes(play) == ["ballot.copied"]
    closes = tuple(sorted(item.event.id for item in play.state.current.ballots))  # type: ignore[union-attr]
    forge(play, CLARA, Reveal(copied.id, closes, nonce, vote))
    assert "reveal.vote" in codes(play)
    forge(play, CLARA, Reveal(copied.id, closes, nonce, replace(vote, reviewer=CLARA.fingerprint)))
    assert "reveal.commitment" in codes(play)


def test_nobody_reveals_the_ballot_of_somebody_else() -> None:
    play = begun()
    ballot, nonce, vote = envelope(play, BEN)
    cast = forge(play, BEN, ballot)
    other = play.cast(CLARA)
    closes = tuple(sorted([cast.id, other.id]))
    for who in (CLARA, SECOND_BEN):
        forge(play, who, Reveal(cast.id, closes, nonce, vote))
    assert codes(play) == ["reveal.ballot"] * 2


def test_a_ballot_is_of_no_use_in_another_round() -> None:
    play = begun()
    ballot, nonce, vote = envelope(play, BEN)
    old = forge(play, BEN, ballot)
    play.submit("release 2", policy=POLICY)
    again = forge(play, BEN, ballot)
    other = play.cast(CLARA)
    forge(play, BEN, Reveal(old.id, tuple(sorted([again.id, other.id])), nonce, vote))
    assert codes(play) == ["reveal.ballot"]
    forge(play, BEN, Reveal(again.id, tuple(sorted([again.id, other.id])), nonce, vote))
    assert codes(play) == ["reveal.ballot", "reveal.vote"]


def rule_breaking(play: Play) -> list[Vote]:
    current = play.state.current
    assert current is not None
    vote = approval(current.submission, BEN.fingerprint)
    blank = CheckDecision(Decision.ACCEPT, " ")
    refused = CheckDecision(Decision.REJECT, "No.")
    return [
        replace(vote, checks={**vote.checks, "smallest-class": blank}),
        replace(vote, checks={**vote.checks, "verified": refused}),
        replace(vote, checks={}),
        replace(vote, files={}),
        replace(refusal(current.submission, BEN.fingerprint), comment=""),
    ]


@pytest.mark.parametrize("number", range(5))
def test_a_revealed_vote_that_breaks_the_rules_does_not_count(number: int) -> None:
    play = begun()
    ballot, nonce, vote = envelope(play, BEN, rule_breaking(play)[number])
    cast, other = forge(play, BEN, ballot), play.cast(CLARA)
    forge(play, BEN, Reveal(cast.id, tuple(sorted([cast.id, other.id])), nonce, vote))
    assert codes(play) == ["reveal.vote"]
    assert not play.state.approved


def test_a_round_is_not_closed_by_one_whose_ballot_is_outside() -> None:
    play = begun()
    ballot, nonce, vote = envelope(play, DORA)
    ben, clara = play.cast(BEN), play.cast(CLARA)
    dora = forge(play, DORA, ballot, (play.graph.events[0].id,))
    forge(play, DORA, Reveal(dora.id, tuple(sorted([ben.id, clara.id])), nonce, vote))
    assert codes(play) == ["reveal.late"]


def test_a_ballot_cannot_be_left_out_when_the_round_is_closed() -> None:
    """Ben and Clara would approve without the vote of Dora, which they know."""
    play = begun()
    ballot, nonce, vote = envelope(play, BEN)
    ben, clara = forge(play, BEN, ballot), play.cast(CLARA)
    play.cast(DORA, Outcome.REJECT)
    forge(play, BEN, Reveal(ben.id, tuple(sorted([ben.id, clara.id])), nonce, vote))
    assert codes(play) == ["reveal.closes"]


def test_revealing_on_an_old_copy_does_not_take_a_vote_back_out() -> None:
    """Clara sees that Dora rejects, and closes the round again without her, on an old copy."""
    play = begun()
    ballot, nonce, vote = envelope(play, CLARA)
    ben, clara = play.cast(BEN), forge(play, CLARA, ballot)
    old = play.graph.heads()
    play.cast(DORA, Outcome.REJECT)
    play.reveal(BEN)
    play.reveal(DORA)
    closes = tuple(sorted([ben.id, clara.id]))
    forge(play, CLARA, Reveal(clara.id, closes, nonce, vote), old)
    assert codes(play) == ["reveal.conflict"]
    assert play.state.status is Status.IN_REVIEW
    assert not play.state.approved


def test_a_ballot_that_comes_after_the_closing_is_late_and_not_counted() -> None:
    play = begun()
    play.cast(BEN)
    play.cast(CLARA)
    old = play.copy()
    play.reveal(BEN)
    with pytest.raises(RefusedError) as caught:
        play.cast(DORA)
    assert "being revealed" in caught.value.sentence
    old.cast(DORA, Outcome.REJECT)
    play.join(old)
    play.reveal(CLARA)
    assert play.state.ok
    assert play.state.status is Status.APPROVED
    assert [note.code for note in play.state.notes] == ["ballot.late"]
    assert "closed without your vote" in permissions(play.state, DORA.card)[EventType.REVEAL].reason


def test_nobody_releases_what_was_not_approved() -> None:
    play = begun()
    forge(play, DORA, Release())
    assert codes(play) == ["release.early"]
    play = begun()
    play.vote({"Ben": Outcome.APPROVE, "Clara": Outcome.CHANGES})
    forge(play, AUTHOR, Release())
    assert codes(play) == ["release.early"]
    assert play.state.status is Status.CHANGES


def test_a_release_is_final() -> None:
    play = begun()
    play.vote({"Ben": Outcome.APPROVE, "Clara": Outcome.APPROVE})
    before = play.graph.heads()
    play.release(DORA)
    state = play.state
    for who, kind in ((AUTHOR, EventType.SUBMIT), (AUTHOR, EventType.WITHDRAW)):
        assert "final" in permissions(state, who.card)[kind].reason
    for payload in (Withdraw("No."), submission("release 2", state.rounds[0].submission.id)):
        forge(play, AUTHOR, payload)
    assert codes(play) == ["event.after-release", "submit.after-release"]
    assert play.state.status is Status.RELEASED
    forge(play, AUTHOR, submission("release 2", state.rounds[0].submission.id), before)
    assert play.state.status is Status.RELEASED
    assert play.state.current == play.state.rounds[0]
    assert "submit.beside-release" in codes(play)


def test_withdrawing_beside_a_release_is_named_and_does_not_undo_it() -> None:
    play = begun()
    play.vote({"Ben": Outcome.APPROVE, "Clara": Outcome.APPROVE})
    before = play.graph.heads()
    play.release(DORA)
    forge(play, AUTHOR, Withdraw("No."), before)
    assert codes(play) == ["end.conflict"]
    assert play.state.status is Status.RELEASED


def test_a_sibling_submission_made_later_does_not_undo_a_release() -> None:
    play = begun()
    root = play.graph.heads()
    first = play.state.rounds[0].submission.id
    play.submit("release 2", policy=POLICY)
    play.vote({"Ben": Outcome.APPROVE, "Clara": Outcome.APPROVE})
    play.release(DORA)
    assert play.state.approved
    other = sign_event(AUTHOR, submission("release 3", first), root, NOON + timedelta(seconds=30))
    play.add(other)
    assert play.state.status is Status.RELEASED
    assert codes(play) == ["submit.twice"] or "submit.beside-release" in codes(play)


def test_only_the_author_withdraws_and_submits_again() -> None:
    play = begun()
    forge(play, BEN, Withdraw("No."))
    forge(play, BEN, submission("release 2", play.state.rounds[0].submission.id))
    assert codes(play) == ["withdraw.author", "submit.author"]
    with pytest.raises(RefusedError):
        making.withdraw(BEN, play.state, "No.")


def test_what_was_withdrawn_can_only_be_submitted_again() -> None:
    play = begun()
    play.withdraw()
    assert play.state.status is Status.WITHDRAWN
    with pytest.raises(RefusedError):
        play.cast(BEN)
    forge(play, BEN, Start())
    assert codes(play) == ["event.after-withdrawal"]
    play.submit("release 2")
    assert play.state.status is Status.SUBMITTED
    assert codes(play) == []


def test_another_key_of_the_author_goes_on_where_the_first_is_lost() -> None:
    play = begun()
    play.trust = play.trust.revoke(AUTHOR.fingerprint, play.now, "lost", RevokedAs.COMPROMISED)
    first = play.state.rounds[0].submission.id
    play.now += timedelta(minutes=1)
    play.add(making.submit(SECOND_AUTHOR, play.state, submission("release 2", first)))
    assert play.state.ok
    assert play.state.current is not None
    assert play.state.current.number == 2


def test_two_submissions_after_one_are_named_until_a_third_follows_both() -> None:
    play = begun()
    other = play.copy()
    one = play.submit("release 2")
    other.now += timedelta(minutes=2)
    two = other.submit("release 3")
    play.join(other)
    assert codes(play) == ["submit.twice"]
    assert one.words in play.state.faults[0].reason
    assert two.words in play.state.faults[0].reason
    play.submit("release 4")
    assert codes(play) == []


def test_a_submission_names_the_one_before_it() -> None:
    play = begun()
    first = play.state.rounds[0].submission.id
    play.submit("release 2")
    forge(play, AUTHOR, submission("release 3", first))
    assert codes(play) == ["submit.previous"]


def test_an_event_about_an_old_round_by_one_who_knew_the_new_one_does_not_count() -> None:
    play = begun()
    first = play.state.rounds[0].submission
    play.submit("release 2")
    event = sign_event(BEN, Start(), play.graph.heads(), play.now, (first.id, first.release))
    play.add(event)
    assert event.id in play.state.void
    assert [fault.code for fault in play.state.past] == ["event.old-round"]
    assert play.state.ok


def test_replacing_needs_a_release_and_another_one() -> None:
    play = begun()
    forge(play, BEN, Supersede(code("next"), "New data."))
    assert codes(play) == ["supersede.early"]
    play = begun()
    play.vote({"Ben": Outcome.APPROVE, "Clara": Outcome.APPROVE})
    play.release(DORA)
    before = play.graph.heads()
    assert play.state.current is not None
    forge(play, BEN, Supersede(play.state.current.submission.release, "Itself."))
    assert codes(play) == ["supersede.itself"]
    play.graph = play.copy().graph
    one = Play(play.graph, play.trust, play.now)
    forge(one, BEN, Supersede(code("next"), "New data."), before)
    forge(one, CLARA, Supersede(code("other"), "Other data."), before)
    assert "supersede.conflict" in codes(one)
