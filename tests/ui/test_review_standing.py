"""Where a review stands, as sentences."""

from __future__ import annotations

from datetime import timedelta

from dpdesk.app.review.values import Difference, Fault, ItemStatus, Outcome, TrustList
from dpdesk.core.release import Failure
from dpdesk.ui.panels.review.review_status import ReviewStatus, signed_words, standing_of
from tests.helpers.pictures_of_reviews import picture
from tests.helpers.reviewing import BEN, CLARA, Play, released


def standing(play: Play) -> ReviewStatus:
    return standing_of(picture(play))


def submitted() -> Play:
    play = Play()
    play.submit()
    return play


def test_without_a_submission_it_says_so() -> None:
    found = standing(Play())
    assert (found.kind, found.spoiled) == ("info", False)
    assert found.sentence == "This release has not been submitted for review yet."
    assert found.events == found.votes == ()


def test_a_submission_is_told_with_person_time_key_and_note() -> None:
    found = standing(submitted())
    assert "Round 1: 0 of 2 votes are cast, 0 revealed." in found.sentence
    assert "Each reviewer votes in a copy of this folder" in found.sentence
    line = found.events[0]
    assert line.startswith("2026-11-20 12:00 UTC  Anna submitted the release (key ")
    assert line.endswith("“Please look at the uniques.”")


def test_a_sealed_vote_tells_nothing_but_who_cast_it() -> None:
    play = submitted()
    play.cast(BEN, Outcome.REJECT)
    found = standing(play)
    assert found.votes == ("Ben: sealed; no one can read it yet.",)
    assert "reject" not in " ".join((*found.votes, *found.events, found.sentence)).lower()


def test_revealed_votes_are_told_with_their_reasons() -> None:
    play = submitted()
    play.vote({"Ben": Outcome.APPROVE, "Clara": Outcome.CHANGES})
    found = standing(play)
    assert found.votes == (
        "Ben approves.",
        "Clara requests changes. “The table is too detailed.”",
    )
    assert (found.kind, found.sentence.split(":")[0]) == ("caution", "Changes are requested")


def test_what_was_released_is_told_as_final_with_its_reviewers() -> None:
    play = released()
    assert standing(play).kind == "ok"
    assert standing(play).sentence.startswith("Released: this is final.")
    assert signed_words(picture(play)) == "Signed off and released: reviewed by Ben, Clara."


def test_a_fault_makes_the_review_unfit_to_be_relied_on_and_every_fault_is_a_sentence() -> None:
    faults = (
        Fault("file.changed", "public/microdata.csv is not the file submitted"),
        Fault("file.added", "public/more.csv was not submitted"),
    )
    found = standing_of(picture(released(), faults))
    assert (found.kind, found.spoiled) == ("fail", True)
    assert "nothing can be signed or exported" in found.sentence
    assert found.faults == (
        "public/microdata.csv is not the file submitted.",
        "public/more.csv was not submitted.",
    )
    assert signed_words(picture(released(), faults)).startswith("No one has signed off")


def test_a_release_that_does_not_verify_spoils_its_review() -> None:
    failures = (Failure("public/microdata.csv", "is not what the manifest lists"),)
    found = standing_of(picture(submitted(), failures=failures))
    assert found.faults == ("public/microdata.csv: is not what the manifest lists.",)


def test_on_a_computer_that_trusts_nobody_unknown_keys_are_a_caution_with_the_way_out() -> None:
    play = submitted()
    play.trust = TrustList()
    found = standing(play)
    assert (found.kind, found.spoiled) == ("caution", False)
    assert "People and keys" in found.sentence
    assert found.notes


def test_notes_and_checks_that_stand_otherwise_here_are_told() -> None:
    play = submitted()
    play.cast(CLARA)
    notes = (Fault("related", "another review of this release is known here"),)
    other = (Difference("uniques", ItemStatus.REVIEW, ItemStatus.PASS),)
    found = standing_of(picture(play, notes=notes, differences=other))
    assert found.notes == (
        "Another review of this release is known here.",
        "“Is anybody unique?” was review for the author and is pass here.",
    )


def test_a_release_that_was_never_submitted_and_fails_says_what_is_wrong_with_itself() -> None:
    broken = (Failure("public/microdata.csv", "has another hash"), Failure("x", "is unexpected"))
    found = standing_of(picture(Play(), failures=broken))
    assert found.spoiled
    assert found.sentence == (
        "This release failed its check, so it cannot be submitted: public/microdata.csv: has "
        "another hash. (1 more below.)"
    )
    submitted_too = standing_of(picture(submitted(), failures=broken))
    assert submitted_too.sentence.startswith("This review is not to be relied on")


def test_a_clock_that_has_gone_back_is_told_with_both_times() -> None:
    play = submitted()
    play.now -= timedelta(days=3)
    found = standing(play)
    assert found.kind == "fail"
    assert found.sentence == (
        "This computer's clock shows 2026-11-17 12:01 UTC, but this review was signed on "
        "2026-11-20 12:00 UTC: set the clock right. Until then nothing can be signed or exported."
    )


def test_a_folder_that_lacks_what_was_seen_here_says_how_to_bring_it_back() -> None:
    lost = (Fault("receipt.missing", "an event that this computer has seen is missing"),)
    found = standing_of(picture(submitted(), lost))
    assert found.kind == "fail"
    assert "“Join copies” restores them" in found.sentence
    both = (*lost, Fault("file.changed", "public/x is not the file submitted"))
    assert "not to be relied on" in standing_of(picture(submitted(), both)).sentence
