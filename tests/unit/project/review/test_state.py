"""What a review comes to: each rule, and what breaks it."""

from __future__ import annotations

from dpdesk.project.review.state import Status
from dpdesk.project.review.votes import Outcome
from tests.helpers.reviewing import AUTHOR, BEN, CLARA, Play, released


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


def test_one_rejection_outweighs_an_approval() -> None:
    play = Play()
    play.submit()
    play.vote({"Ben": Outcome.APPROVE, "Clara": Outcome.REJECT})
    assert play.state.status is Status.REJECTED


def test_a_new_round_leaves_the_old_one_behind() -> None:
    play = released()
    assert [item.status for item in play.state.rounds] == [Status.CHANGES, Status.RELEASED]
    assert play.state.past == ()
