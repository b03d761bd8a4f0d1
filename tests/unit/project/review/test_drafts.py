"""Votes in the making: kept privately, for exactly what they are about, until they are signed."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from dpdesk.app.context import AppContext
from dpdesk.app.review.drafts import forget_draft, keep_draft, kept_drafts
from dpdesk.project.review.drafts import DraftBox, KeptChoice, KeptDraft, subjects
from dpdesk.project.review.votes import Decision, Outcome
from tests.helpers.reviewing import BEN, CHECKLIST, CLARA, FILES, Play, code


@pytest.fixture
def context(tmp_path: Path) -> Iterator[AppContext]:
    with AppContext.open(tmp_path / "home") as opened:
        yield opened


def submitted() -> Play:
    play = Play()
    play.submit()
    return play


def draft(play: Play, comment: str = "Too fine.") -> KeptDraft:
    """Everything is decided in the same way."""
    assert play.state.current is not None
    about = subjects(play.state.current.payload)
    choices = {key: KeptChoice(one, Decision.CHANGE, comment) for key, one in about.items()}
    return KeptDraft(play.state.current.submission.id, BEN.fingerprint, choices)


def found(context: AppContext, play: Play) -> KeptDraft | None:
    return kept_drafts(context, play.state, (BEN.card, CLARA.card)).get(BEN.fingerprint)


def files(context: AppContext) -> list[Path]:
    return sorted((context.home / "drafts").glob("*.json"))


def test_a_draft_comes_back_for_its_reviewer_alone(context: AppContext) -> None:
    play = submitted()
    made = draft(play, "Umlaut ü, “quotes”\nand lines")
    keep_draft(context, made)
    assert kept_drafts(context, play.state, (BEN.card, CLARA.card)) == {BEN.fingerprint: made}
    assert set(made.choices) == {*CHECKLIST, *FILES}


def test_the_file_is_private_and_holds_the_newest_draft(context: AppContext) -> None:
    play = submitted()
    for comment in ("First.", "Second."):
        keep_draft(context, draft(play, comment))
    (path,) = files(context)
    assert "First." not in path.read_text("utf-8")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_what_is_about_other_bytes_or_figures_is_void_in_the_next_round_and_named(
    context: AppContext,
) -> None:
    play = submitted()
    keep_draft(context, draft(play))
    play.withdraw()
    checklist = {**CHECKLIST, "uniques": replace(CHECKLIST["uniques"], evidence="2 rows are.")}
    same = {path: code(f"release 1 {path}") for path in FILES}
    play.submit("release 2", checklist=checklist, files={**same, FILES[1]: code("another")})
    for _ in range(2):  # the second time it is kept as that of the new round
        carried = found(context, play)
        assert carried is not None
        assert sorted(carried.void) == sorted(["uniques", FILES[1]])
        assert set(carried.choices) == {*CHECKLIST, *FILES} - {"uniques", FILES[1]}
        assert len(files(context)) == 1


def test_a_cast_vote_has_no_draft_any_more(context: AppContext) -> None:
    play = submitted()
    keep_draft(context, draft(play))
    play.cast(BEN)
    assert found(context, play) is None


def test_a_review_that_is_over_leaves_no_draft_behind(context: AppContext) -> None:
    play = submitted()
    made = draft(play)
    play.vote({"Ben": Outcome.APPROVE, "Clara": Outcome.APPROVE})
    keep_draft(context, made)
    play.release(CLARA)
    assert found(context, play) is None
    assert files(context) == []


def test_a_draft_without_decisions_is_removed(context: AppContext) -> None:
    made = draft(submitted())
    keep_draft(context, made)
    keep_draft(context, replace(made, choices={}))
    assert DraftBox(context.home).find(made.submission, made.reviewer) is None
    forget_draft(context, made.submission, made.reviewer)


@pytest.mark.parametrize("spoil", [lambda b: b[:-9], lambda b: b.replace(b'"change"', b'"maybe"')])
def test_a_damaged_draft_is_set_aside_and_nothing_is_decided(
    context: AppContext, spoil: Callable[[bytes], bytes]
) -> None:
    play = submitted()
    keep_draft(context, draft(play))
    (path,) = files(context)
    path.write_bytes(spoil(path.read_bytes()))
    assert found(context, play) is None
    assert files(context) == []
    assert any("damaged" in one.name for one in path.parent.iterdir())
