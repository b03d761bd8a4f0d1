"""Votes and ballots: the rules of a vote, and an envelope that tells nothing to anybody."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest

from dpdesk.core.errors import InputError, RefusedError
from dpdesk.project.review import ballots
from dpdesk.project.review.ballots import (
    commitment_of,
    make_ballot,
    open_ballot,
    opens,
    problems_of,
    proposal,
)
from dpdesk.project.review.events import Ballot, Event, Submission
from dpdesk.project.review.votes import (
    CheckDecision,
    Decision,
    FileDecision,
    Outcome,
    Vote,
)
from tests.helpers.forging import canonical
from tests.helpers.reviewing import BEN, CLARA, Play, approval, code, refusal, submission


@pytest.fixture
def about() -> Event:
    return Play().submit()


def reasons(vote: Vote, about: Event) -> list[str]:
    return [
        " ".join(filter(None, (problem.item, problem.path, problem.reason)))
        for problem in problems_of(vote, about)
    ]


def with_check(vote: Vote, item: str, decision: Decision, comment: str = "") -> Vote:
    return replace(vote, checks={**vote.checks, item: CheckDecision(decision, comment)})


def with_file(vote: Vote, path: str, decision: Decision, comment: str = "") -> Vote:
    old = vote.files[path]
    return replace(vote, files={**vote.files, path: FileDecision(old.sha256, decision, comment)})


def test_approving_takes_accepting_everything(about: Event) -> None:
    vote = approval(about, BEN.fingerprint)
    assert reasons(vote, about) == []
    whole = "the release is approved although not everything is accepted"
    for decision in (Decision.CHANGE, Decision.REJECT):
        assert whole in reasons(with_check(vote, "uniques", decision, "No."), about)
        path = "public/microdata.csv"
        assert whole in reasons(with_file(vote, path, decision, "No."), about)


@pytest.mark.parametrize("comment", ["", "  \n", "\u200b\u2060", "...", "\u3164"])
def test_a_reason_is_needed_against_what_the_figures_say(about: Event, comment: str) -> None:
    vote = replace(refusal(about, BEN.fingerprint), comment="No.")
    failed = with_check(vote, "smallest-class", Decision.ACCEPT, comment)
    assert reasons(failed, about) == ["smallest-class failed and is accepted without a comment"]
    for decision in (Decision.CHANGE, Decision.REJECT):
        passed = with_check(vote, "verified", decision, comment)
        assert reasons(passed, about) == ["verified passed and is not accepted, without a comment"]
        file = with_file(vote, "public/microdata.csv", decision, comment)
        assert reasons(file, about) == ["public/microdata.csv is not accepted, without a comment"]
    whole = replace(vote, comment=comment)
    assert reasons(whole, about) == ["the release is not approved, without a comment"]


def test_no_reason_is_needed_where_the_figures_leave_it_open(about: Event) -> None:
    vote = refusal(about, BEN.fingerprint)
    for decision in Decision:
        assert reasons(with_check(vote, "uniques", decision), about) == []
    assert reasons(with_check(vote, "smallest-class", Decision.REJECT), about) == []
    assert reasons(with_check(vote, "verified", Decision.ACCEPT), about) == []


def test_everything_is_decided_and_nothing_else(about: Event) -> None:
    vote = approval(about, BEN.fingerprint)
    for item in vote.checks:
        rest = {key: check for key, check in vote.checks.items() if key != item}
        assert reasons(replace(vote, checks=rest), about) == [f"{item} is not decided"]
    for path in vote.files:
        files = {key: file for key, file in vote.files.items() if key != path}
        assert reasons(replace(vote, files=files), about) == [f"{path} is not decided"]
    more = with_check(vote, "more", Decision.ACCEPT)
    assert reasons(more, about) == ["more is not an item of the checklist"]
    extra = {**vote.files, "public/more.csv": FileDecision(code("x"), Decision.ACCEPT)}
    assert reasons(replace(vote, files=extra), about) == ["public/more.csv is not submitted"]


def test_a_file_is_decided_with_the_bytes_submitted(about: Event) -> None:
    vote = approval(about, BEN.fingerprint)
    files = {**vote.files, "public/microdata.csv": FileDecision(code("x"), Decision.ACCEPT)}
    words = "public/microdata.csv is decided for other bytes than those submitted"
    assert reasons(replace(vote, files=files), about) == [words]


def test_a_vote_on_another_submission_is_none(about: Event) -> None:
    vote = replace(approval(about, BEN.fingerprint), submission=code("another"))
    assert reasons(vote, about) == ["the vote is on a different submission"]


def test_the_commitment_is_the_hash_that_is_documented(about: Event) -> None:
    vote = approval(about, BEN.fingerprint)
    nonce = code("nonce")
    data = b"dpdesk-ballot-v1\n" + bytes.fromhex(nonce) + canonical(vote.as_json())
    assert commitment_of(nonce, vote) == hashlib.sha256(data).hexdigest()


def test_a_ballot_is_opened_by_its_maker_alone(about: Event) -> None:
    play = Play()
    play.submit()
    ballot = play.cast(BEN, Outcome.REJECT)
    opened = open_ballot(BEN, ballot)
    assert opened.vote.outcome is Outcome.REJECT
    assert isinstance(ballot.payload, Ballot)
    assert opens(ballot.payload, opened.nonce, opened.vote)
    with pytest.raises(InputError) as caught:
        open_ballot(CLARA, ballot)
    assert caught.value.code == "ballot.other"


def test_an_envelope_with_another_content_is_named(about: Event) -> None:
    play = Play()
    play.submit()
    ballot, other = play.cast(BEN), play.copy()
    assert isinstance(ballot.payload, Ballot)
    for sealed in (
        *(ballot.payload.sealed[:-2] + "00", ballot.payload.sealed[:100], "", "00" * 40),
        make_ballot(BEN, about, refusal(about, BEN.fingerprint)).sealed,
    ):
        damaged = replace(ballot, payload=replace(ballot.payload, sealed=sealed))
        with pytest.raises(InputError) as caught:
            open_ballot(BEN, damaged)
        assert caught.value.code == "ballot.damaged"
    plain = canonical({"nonce": code("n"), "vote": approval(about, BEN.fingerprint).as_json()})
    sealed = ballots._sealed(BEN, about.id, ballot.payload.commitment, plain)
    lying = replace(ballot, submission=about.id, payload=replace(ballot.payload, sealed=sealed))
    with pytest.raises(InputError) as caught:
        open_ballot(BEN, lying)
    assert caught.value.code == "ballot.damaged"
    swapped = replace(ballot, payload=replace(ballot.payload, commitment=code("x")))
    with pytest.raises(InputError) as caught:
        open_ballot(BEN, swapped)
    assert caught.value.code == "ballot.damaged"
    assert other.graph == play.graph


def test_neither_length_nor_repetition_of_an_envelope_tells_the_vote(about: Event) -> None:
    votes = [
        approval(about, BEN.fingerprint),
        approval(about, BEN.fingerprint, "x" * 500),
        refusal(about, BEN.fingerprint, Outcome.CHANGES),
        replace(refusal(about, CLARA.fingerprint), comment="A long reason. " * 300),
    ]
    who = [BEN, BEN, BEN, CLARA]
    made = [make_ballot(one, about, vote) for one, vote in zip(who, votes, strict=True)]
    assert len({len(ballot.sealed) for ballot in made}) == 1
    again = make_ballot(BEN, about, votes[0])
    assert again.commitment != made[0].commitment
    assert again.sealed != made[0].sealed
    assert again.sealed[:24] != made[0].sealed[:24]


def test_a_ballot_against_the_rules_is_not_made(about: Event) -> None:
    vote = replace(approval(about, BEN.fingerprint), checks={})
    with pytest.raises(RefusedError) as caught:
        make_ballot(BEN, about, vote)
    assert caught.value.code == "vote.rules"
    assert "smallest-class is not decided (2 more)" in caught.value.sentence
    with pytest.raises(ValueError, match="own reviewer"):
        make_ballot(CLARA, about, approval(about, BEN.fingerprint))


def test_a_vote_that_nobody_could_read_is_not_made() -> None:
    files = {f"public/{number:04}.csv": code(str(number)) for number in range(300)}
    about = Play().submit(files=files)
    vote = approval(about, BEN.fingerprint)
    long = {
        path: FileDecision(file.sha256, Decision.ACCEPT, "x" * 20_000)
        for path, file in vote.files.items()
    }
    with pytest.raises(InputError) as caught:
        make_ballot(BEN, about, replace(vote, files=long))
    assert caught.value.code == "vote.too-long"
    assert make_ballot(BEN, about, vote)


def test_a_proposal_approves_nothing_that_was_not_decided(about: Event) -> None:
    vote = proposal(about, BEN.fingerprint)
    assert vote.outcome is not Outcome.APPROVE
    assert {check.decision for check in vote.checks.values()} == {Decision.CHANGE}
    assert {file.decision for file in vote.files.values()} == {Decision.CHANGE}


def test_a_proposal_carries_over_what_did_not_change(about: Event) -> None:
    assert isinstance(about.payload, Submission)
    before = approval(about, BEN.fingerprint)
    again = submission("release 2", about.id)
    path = "internal/evidence.json"
    again = replace(again, files={**again.files, path: about.payload.files[path]})
    item = replace(again.checklist["uniques"], evidence="5 rows are.")
    again = replace(again, checklist={**again.checklist, "uniques": item})
    second = Play().submit(files=again.files, checklist=again.checklist)
    vote = proposal(second, BEN.fingerprint, [(about.payload, before)])
    assert vote.submission == second.id
    assert vote.files[path].decision is Decision.ACCEPT
    assert vote.files["public/microdata.csv"].decision is Decision.CHANGE
    assert vote.checks["smallest-class"] == before.checks["smallest-class"]
    assert vote.checks["uniques"].decision is Decision.CHANGE
    assert vote.outcome is Outcome.CHANGES
