"""Looking at the review of the release at hand, in the background."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from dpdesk.app import signing
from dpdesk.app.review import looking
from dpdesk.app.review.values import Card, ReviewPicture
from dpdesk.app.types import AppContext
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.ui.jobs import JobCancelled, JobDone, JobFailed
from dpdesk.ui.workbench import Workbench

_CHANNEL = "review.look"


@dataclass(frozen=True)
class Seen:
    """The release with its review, and the keys of this computer that can sign."""

    picture: ReviewPicture
    cards: tuple[Card, ...]


@dataclass(frozen=True)
class Look:
    """Work for a background thread: verify the folder, read its review, list the own keys."""

    context: AppContext
    folder: Path
    source: Path | None

    def __call__(self, token: CancelToken, report: Report) -> Seen:
        """What was seen."""
        picture = looking.look(self.context, self.folder, token, report, self.source)
        keys = signing.own_keys(self.context)
        return Seen(picture, tuple(one.card for one in keys if one.card is not None))


class Looker(QObject):
    """``changed()`` when :attr:`seen`, :attr:`problem` or :attr:`busy` is new."""

    changed = Signal()

    def __init__(self, workbench: Workbench, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bench = workbench
        self._of: object = None
        self._job = 0
        self._seen: Seen | None = None
        self._problem: JobFailed | None = None

    @property
    def seen(self) -> Seen | None:
        """The review of the release at hand; None while it has not been looked at."""
        return self._seen

    @property
    def picture(self) -> ReviewPicture | None:
        """The release with its review; None while it has not been looked at."""
        return None if self._seen is None else self._seen.picture

    @property
    def problem(self) -> JobFailed | None:
        """Why the review could not be looked at."""
        return self._problem

    @property
    def busy(self) -> bool:
        """Whether it is being looked at."""
        return self._job != 0

    @property
    def job(self) -> int:
        """Number of the job that looks, 0 when there is none."""
        return self._job

    def follow(self) -> None:
        """Look when another release is at hand, or the same one was read again."""
        facts = self._bench.release
        if facts is not self._of:
            self._of = facts
            if self._seen is not None and self._seen.picture.folder != self._bench.release_path:
                self._seen = None
            self.look()

    def look(self) -> None:
        """Look again; what was seen stays until that is done."""
        bench, facts = self._bench, self._bench.release
        channel = bench.hub.latest(_CHANNEL)
        channel.cancel()
        self._job, self._problem = 0, None
        if facts is None or facts.internal is None or bench.release_path is None:
            self._seen = None
            self.changed.emit()
            return
        self._job = channel.query(
            self.tr("Looking at the review of {name}").format(name=bench.release_path.name),
            Look(bench.context, bench.release_path, bench.verified_with),
            done=self._on_done,
            failed=self._on_failed,
            cancelled=self._on_cancelled,
        )
        self.changed.emit()

    def _on_done(self, outcome: JobDone) -> None:
        if outcome.job == self._job and isinstance(outcome.value, Seen):
            self._job, self._seen = 0, outcome.value
            self.changed.emit()

    def _on_failed(self, outcome: JobFailed) -> None:
        if outcome.job == self._job:
            self._job, self._seen, self._problem = 0, None, outcome
            self.changed.emit()

    def _on_cancelled(self, outcome: JobCancelled) -> None:
        if outcome.job == self._job:
            self._job = 0
            self.changed.emit()
