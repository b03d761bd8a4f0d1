"""The votes in the making: one for each submission and key, kept on this computer as they grow."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from PySide6.QtCore import QObject, Signal

from dpdesk.app.review.drafts import keep_draft
from dpdesk.app.review.values import Card, EventType, KeptDraft, ReviewPicture, proposed_vote
from dpdesk.app.types import AppContext
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.ui.jobs import JobCancelled, JobDone, JobFailed
from dpdesk.ui.panels.review.checked_review import CheckedReview
from dpdesk.ui.panels.review.deciding import Choice, Draft, begin
from dpdesk.ui.workbench import Workbench


@dataclass(frozen=True)
class Keep:
    """Work for a background thread: keep a draft."""

    context: AppContext
    draft: KeptDraft = field(repr=False)

    def __call__(self, token: CancelToken, report: Report) -> None:
        """It is on the disk when this returns."""
        keep_draft(self.context, self.draft)


class Drafts(QObject):
    """``problemChanged()`` when :attr:`problem` is new.

    One draft is written at a time, and always the newest.
    """

    problemChanged = Signal()

    def __init__(
        self, workbench: Workbench, looker: CheckedReview, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._bench, self._looker = workbench, looker
        self._drafts: dict[tuple[str, str], Draft] = {}
        self._seen_by: dict[tuple[str, str], ReviewPicture] = {}
        self._waiting: dict[tuple[str, str], KeptDraft] = {}
        self._under_way: KeptDraft | None = None
        self._problem = ""

    @property
    def problem(self) -> str:
        """Why what was decided last could not be kept, as a sentence; empty when it was."""
        return self._problem

    @property
    def kept(self) -> bool:
        """Whether all that was decided is on the disk."""
        return not self._waiting

    def of(self, card: Card | None) -> Draft | None:
        """What the holder of a key has decided so far; None when there is nothing to decide."""
        picture = self._looker.picture
        current = None if picture is None else picture.state.current
        if picture is None or current is None or card is None:
            return None
        if not picture.rights(card)[EventType.BALLOT].allowed:
            return None
        place = (current.submission.id, card.fingerprint)
        known = self._drafts.get(place)
        if known is None or self._seen_by.get(place) is not picture:
            made = proposed_vote(picture.state, card)
            items, kept = picture.checked.checklist.items, self._looker.kept(card)
            fresh = begin(current.submission.id, current.payload, made, items, kept)
            if known is not None:
                fresh = replace(fresh, choices=known.choices, void=known.void)
            known = self._drafts[place] = fresh
            self._seen_by[place] = picture
        return known

    def decide(self, draft: Draft, key: str, choice: Choice) -> Draft:
        """Take a decision and keep it; returns the draft with it."""
        changed = draft.decided(key, choice)
        self._drafts[(draft.submission, draft.reviewer)] = changed
        self._keep(changed.kept)
        return changed

    def signed(self, submission: str, reviewer: str) -> None:
        """The vote is signed: nothing is to be kept any more."""
        for book in (self._drafts, self._seen_by, self._waiting):
            book.pop((submission, reviewer), None)

    def flush(self) -> None:
        """Keep at once what has not been kept; only when the window has closed.

        Raises StorageError.
        """
        for draft in tuple(self._waiting.values()):
            keep_draft(self._bench.context, draft)
        self._waiting.clear()

    def _keep(self, draft: KeptDraft) -> None:
        self._waiting[(draft.submission, draft.reviewer)] = draft
        self._write_next()

    def _write_next(self) -> None:
        """What waits stays in the book until it is known to be on the disk."""
        if self._under_way is not None or not self._waiting:
            return
        draft = next(iter(self._waiting.values()))
        started = self._bench.hub.query(
            self.tr("Keeping what is decided"),
            Keep(self._bench.context, draft),
            done=self._on_kept,
            failed=self._on_failed,
            cancelled=self._on_cancelled,
            quiet=True,
        )
        self._under_way = draft if started else None

    def _on_kept(self, outcome: JobDone) -> None:
        draft, self._under_way = self._under_way, None
        if draft is not None:
            place = (draft.submission, draft.reviewer)
            if self._waiting.get(place) is draft:
                del self._waiting[place]
        self._tell("")
        self._write_next()

    def _on_failed(self, outcome: JobFailed) -> None:
        self._under_way = None  # it waits for the next decision, or for the end
        self._tell(outcome.sentence)

    def _on_cancelled(self, outcome: JobCancelled) -> None:
        self._under_way = None

    def _tell(self, problem: str) -> None:
        if problem != self._problem:
            self._problem = problem
            self.problemChanged.emit()
