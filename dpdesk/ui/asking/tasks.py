"""What is done with a release that is asked, as work for a background thread."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from dpdesk.app import asking, querying
from dpdesk.app.asking import ReleasedColumn
from dpdesk.app.querying import OpenRelease
from dpdesk.app.types import AppContext
from dpdesk.core.asking import AskState
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.query import Answer

OPEN, VALUES, ASK = "ask.open", "ask.values", "ask.ask"


@dataclass(frozen=True)
class Opened:
    """A release, and whether its internal part is at hand, which knows its source."""

    release: OpenRelease
    evidence: bool


@dataclass(frozen=True)
class OpenFolder:
    """Check and open the folder of a release."""

    context: AppContext
    folder: Path

    def __call__(self, token: CancelToken, report: Report) -> Opened:
        """The release."""
        release = querying.open_release(self.context, self.folder, token, report)
        return Opened(release, asking.holds_evidence(release))


@dataclass(frozen=True)
class Values:
    """Read what a column holds."""

    release: OpenRelease
    column: str

    def __call__(self, token: CancelToken, report: Report) -> ReleasedColumn:
        """Its values."""
        return asking.released_column(self.release, self.column, token, report)


@dataclass(frozen=True)
class Answered:
    """The answer to a question; with ``truth`` what the source says, for its holder alone."""

    state: AskState
    answer: Answer
    truth: Answer | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Ask:
    """Ask the release; with a ``source`` also that."""

    context: AppContext
    release: OpenRelease
    state: AskState
    source: Path | None

    def __call__(self, token: CancelToken, report: Report) -> Answered:
        """The answer."""
        query = self.state.query()
        answer = self.release.ask(query, token, report)
        if self.source is None:
            return Answered(self.state, answer)
        truth = asking.true_answer(self.context, self.release, self.source, query, token, report)
        return Answered(self.state, answer, truth)
