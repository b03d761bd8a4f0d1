"""A vote in the making, and what a person may do with a review, without a window."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dpdesk.app.review.values import (
    Decision,
    EventType,
    Fault,
    ItemStatus,
    Outcome,
    Submission,
    proposed_vote,
)
from dpdesk.ui.panels.review.deciding import Choice, Draft, begin
from dpdesk.ui.panels.review.review_status import Doable, doable
from tests.helpers.pictures_of_reviews import picture
from tests.helpers.reviewing import AUTHOR, BEN, CLARA, FILES, Play


def submitted() -> Play:
    play = Play()
    play.submit()
    return play


def draft_of(play: Play) -> Draft:
    state = play.state
    assert state.current is not None
    payload = state.current.submission.payload
    assert isinstance(payload, Submission)
    items = picture(play).checked.checklist.items
    made = proposed_vote(state, BEN.card)
    return begin(state.current.submission.id, payload, made, items)


def accepted(draft: Draft, comment: str = "") -> Draft:
    for point in draft.points:
        draft = draft.decided({point.key: Choice(Decision.ACCEPT, comment)})
    return draft


def may(play: Play, draft: Draft | None = None, author: bool = False) -> Doable:
    return doable(picture(play), (AUTHOR if author else BEN).card, draft)


def test_nothing_is_decided_at_first() -> None:
    draft = draft_of(submitted())
    assert {choice.decision for choice in draft.choices.values()} == {None}
    assert draft.words() == "0 of 6 decided"
    assert not draft.complete


def test_a_failed_check_that_is_accepted_needs_a_comment() -> None:
    draft = accepted(draft_of(submitted()))
    assert draft.words() == "5 of 6 decided"
    assert "why you accept it" in draft.problem("smallest-class")
    draft = draft.decided({"smallest-class": Choice(Decision.ACCEPT, "No harm here.")})
    assert draft.problem("smallest-class") == ""
    assert draft.complete


def test_a_check_that_fails_here_needs_a_comment_whatever_its_author_found() -> None:
    play = submitted()
    current = play.state.current
    assert current is not None
    made, items = proposed_vote(play.state, BEN.card), picture(play).checked.checklist.items
    failing = [replace(one, status=ItemStatus.FAIL) for one in items if one.id == "verified"]
    draft = accepted(begin(current.submission.id, current.payload, made, (*failing, *items[1:])))
    assert current.payload.checklist["verified"].status is ItemStatus.PASS
    assert "why you accept it" in draft.problem("verified")
    assert draft.decided({"verified": Choice(Decision.ACCEPT, "Seen.")}).problem("verified") == ""


@pytest.mark.parametrize("key", ["verified", FILES[0]])
@pytest.mark.parametrize("decision", [Decision.CHANGE, Decision.REJECT])
def test_what_is_not_accepted_needs_a_comment(key: str, decision: Decision) -> None:
    draft = draft_of(submitted()).decided({key: Choice(decision)})
    assert "why you do not accept it" in draft.problem(key)
    assert draft.done == 0
    assert draft.decided({key: Choice(decision, "Too fine.")}).done == 1


def test_a_whole_needs_an_outcome_that_fits_and_a_reason_unless_it_is_approved() -> None:
    draft = accepted(draft_of(submitted()), "Seen.")
    assert "nothing is chosen" in draft.whole_problem(None, "")
    assert draft.whole_problem(Outcome.APPROVE, "") == ""
    assert "why you do not approve" in draft.whole_problem(Outcome.REJECT, " ")
    assert draft.whole_problem(Outcome.REJECT, "Too fine.") == ""
    other = draft.decided({FILES[0]: Choice(Decision.CHANGE, "Too fine.")})
    assert "something is not" in other.whole_problem(Outcome.APPROVE, "")


def test_the_evidence_tells_what_this_computer_found_and_what_the_author_submitted() -> None:
    draft = draft_of(submitted())
    assert draft.points[0].evidence == "On this computer: ✓ pass. All claims were re-checked."
    files = [point.key for point in draft.points if point.sha256]
    assert sorted(files) == sorted(FILES)


def test_files_that_did_not_change_keep_the_decision_of_the_round_before() -> None:
    play = submitted()
    play.vote({"Ben": Outcome.CHANGES, "Clara": Outcome.APPROVE})
    play.submit("release 2")
    draft = draft_of(play)
    assert draft.choices[FILES[0]].decision is None
    assert draft.choices["verified"].decision is Decision.ACCEPT
    same = sum(one.decision is not None for one in draft.choices.values())
    assert draft.progress_words() == f"{draft.words()}, {same} of them as you signed before"
    opened = [draft.choices[point.key].decision is None for point in draft.points]
    assert (True not in opened[: draft.first_open], opened[draft.first_open]) == (True, True)
    changed = draft.decided({"verified": Choice(Decision.REJECT, "No.")})
    assert changed.progress_words().endswith(f", {same - 1} of them as you signed before")


def test_the_author_submits_and_withdraws_but_never_reviews() -> None:
    assert may(Play(), author=True).primary is EventType.SUBMIT
    found = may(submitted(), author=True)
    assert found.primary is None
    assert found.reasons[EventType.WITHDRAW] == ""
    assert "cannot review their own release" in found.reasons[EventType.BALLOT]
    assert any("cannot review their own release" in line for line in found.lines())


def test_the_vote_is_off_until_all_is_decided_and_says_how_much_is() -> None:
    play = submitted()
    play.start(BEN)
    found = may(play, draft_of(play))
    assert "0 of 6 decided" in found.reasons[EventType.BALLOT]
    assert found.primary is None
    found = may(play, accepted(draft_of(play), "Seen."))
    assert found.reasons[EventType.BALLOT] == ""
    assert found.primary is EventType.BALLOT


def test_one_action_leads_on_at_each_step() -> None:
    play = submitted()
    assert may(play, draft_of(play)).primary is EventType.START
    play.cast(BEN)
    play.cast(CLARA)
    assert may(play).primary is EventType.REVEAL
    play.reveal(BEN)
    play.reveal(CLARA)
    assert may(play, author=True).primary is EventType.RELEASE
    play.release(AUTHOR)
    assert may(play, author=True).primary is None


def test_a_fault_switches_off_everything_that_leads_on() -> None:
    play = submitted()
    bad = picture(play, (Fault("file.changed", "public/x is not the file submitted"),))
    found = doable(bad, BEN.card, accepted(draft_of(play), "Seen."))
    assert found.primary is None
    assert "public/x is not the file submitted" in found.reasons[EventType.BALLOT]


def test_without_a_key_nothing_is_allowed_and_the_way_out_is_told() -> None:
    found = doable(picture(submitted()), None, None)
    assert found.primary is None
    assert all("no key on this computer" in reason for reason in found.reasons.values())


def test_decisions_that_were_kept_are_taken_up_and_void_ones_are_named_until_decided() -> None:
    play = submitted()
    blank = draft_of(play)
    made = blank.decided({"verified": Choice(Decision.REJECT, "No.")}).kept
    kept = replace(made, void=("uniques",))
    items = picture(play).checked.checklist.items
    fresh = begin(blank.submission, blank.payload, proposed_vote(play.state, BEN.card), items, kept)
    assert fresh.choices["verified"] == Choice(Decision.REJECT, "No.")
    assert fresh.void_words().endswith(": Is anybody unique?")
    assert fresh.decided({"uniques": Choice(Decision.ACCEPT, "Few.")}).void_words() == ""
    other = {"verified": replace(kept.choices["verified"], about="0" * 64)}
    stale = replace(kept, choices=other)
    again = begin(
        blank.submission, blank.payload, proposed_vote(play.state, BEN.card), items, stale
    )
    assert again.choices["verified"] == Choice()


def test_a_reason_that_stands_against_several_actions_is_told_once() -> None:
    lines = may(submitted(), author=True).lines()
    assert len({line.rpartition(": ")[2] for line in lines}) == len(lines)
    assert "Begin the review, Sign the vote, Reveal the vote: Authors cannot" in lines[0]
