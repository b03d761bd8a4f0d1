"""Pictures of reviews as the window gets them, made without any folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from dpdesk.app.checklists import CheckedRelease
from dpdesk.app.review.values import Difference, Fault, ReviewPicture
from dpdesk.core.release import Failure, ReleaseFacts, VerifyReport
from dpdesk.project.review.checklist import Checklist
from dpdesk.project.review.questions import Basis, CheckedFacts, Item
from dpdesk.project.review.review_file import LoadedReview
from tests.helpers.reviewing import CHECKLIST, Play

FOLDER = Path("release")


def picture(
    play: Play,
    faults: Sequence[Fault] = (),
    failures: Sequence[Failure] = (),
    notes: Sequence[Fault] = (),
    differences: Sequence[Difference] = (),
) -> ReviewPicture:
    """What looking at a review gives, with these things wrong with it."""
    state = replace(play.state, faults=(*play.state.faults, *faults))
    report = VerifyReport(not failures, (), tuple(failures), (), True)
    facts = CheckedFacts(ReleaseFacts(FOLDER, FOLDER), report, None)
    items = tuple(
        Item(key, one.question, one.status, one.evidence, Basis.FILES)
        for key, one in CHECKLIST.items()
    )
    checked = CheckedRelease(facts, Checklist(items, ""))
    loaded = LoadedReview(FOLDER, state, None, ())
    shown = (*state.notes, *notes)
    return ReviewPicture(FOLDER, checked, loaded, tuple(differences), shown)
