"""The review of the release at hand, as it was seen when the release was checked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from dpdesk.app.review.values import Card, KeptDraft, ReviewPicture
from dpdesk.ui.jobs import JobFailed, JobOutcome
from dpdesk.ui.jobs.outcomes import failure
from dpdesk.ui.workbench import Workbench
from dpdesk.ui.workbench.tasks import CheckedRelease


class CheckedReview(QObject):
    """``changed()`` when :attr:`picture`, :attr:`problem` or :attr:`busy` is new.

    Nothing is read here: a release and its review are read in one go, by the workbench.
    """

    changed = Signal()

    def __init__(self, workbench: Workbench, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bench = workbench
        self._seen: CheckedRelease | None = None
        self._job = 0
        workbench.hub.finished.connect(self._on_finished)

    @property
    def picture(self) -> ReviewPicture | None:
        """The release with its review; None while it has not been looked at."""
        return None if self._seen is None else self._seen.picture

    @property
    def cards(self) -> tuple[Card, ...]:
        """The keys of this computer that can sign."""
        return () if self._seen is None else self._seen.cards

    def kept(self, card: Card) -> KeptDraft | None:
        """What the holder of a key had decided when the review was looked at."""
        return None if self._seen is None else self._seen.drafts.get(card.fingerprint)

    @property
    def places(self) -> Mapping[str, Path]:
        """Folders of other releases that the review names, by the hash of their manifest."""
        return {} if self._seen is None else self._seen.places

    @property
    def problem(self) -> JobFailed | None:
        """Why the review could not be looked at."""
        if self._seen is None or self._seen.unseen is None:
            return None
        return failure(0, self.tr("Looking at the review"), self._seen.unseen)

    @property
    def busy(self) -> bool:
        """Whether it is being looked at."""
        return self._job != 0

    @property
    def job(self) -> int:
        """Number of the job that looks, 0 when there is none."""
        return self._job

    def follow(self) -> None:
        """Take over what the workbench knows of the release at hand."""
        seen, job = self._bench.checked, self._bench.verify_job
        if seen is not self._seen or job != self._job:
            self._seen, self._job = seen, job
            self.changed.emit()

    @property
    def beside(self) -> Path | None:
        """The file into which the review is written, as its folder is read-only; else None."""
        files = () if self._seen is None else self._seen.beside
        return files[-1] if files else None

    @Slot()
    def look(self) -> None:
        """Check the release and look at its review again; what was seen stays until then."""
        self.look_with(())

    def look_with(self, beside: tuple[Path, ...]) -> None:
        """The same, with more files into which some of the review was written."""
        bench = self._bench
        if bench.release is not None:
            bench.verify_again(bench.verified_with, beside)
            self.follow()

    @Slot(object)
    def _on_finished(self, outcome: JobOutcome) -> None:
        if self._job and outcome.job == self._job:
            self.follow()
