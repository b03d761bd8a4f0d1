"""Methods that release rows in which some values are drawn at random.

Judging looks at the data and decides everything but the draws: it may be repeated, and its outcome
can be shown inside the agency. Drawing takes fresh randomness each time and is done once for each
release; nothing of it is kept but the rows that are released.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dpdesk.core.charts import Chart, Figure
from dpdesk.core.guarantee import Guarantee
from dpdesk.core.jobs import CancelToken, Note, Report
from dpdesk.core.published import ClaimCheck, PublishedTable, RowDifference
from dpdesk.core.recoding import Recoding
from dpdesk.engine.method import Exploration, Method, MethodInput

if TYPE_CHECKING:
    from dpdesk.core.rows import RewrittenRows, RowSource
    from dpdesk.engine.noise.randomness import RandomSource


@dataclass(frozen=True)
class Judged:
    """What a release will be like, but for the draws.

    ``drawn`` names the columns whose values will be drawn; ``recoding`` is what is done to columns
    and rows before that, None when nothing is. The other fields are those of
    :class:`~dpdesk.engine.method.MethodOutcome`; ``notes`` say what a newcomer should know.
    """

    guarantee: Guarantee
    result: Mapping[str, object]
    drawn: frozenset[str]
    recoding: Recoding | None = None
    internal: Mapping[str, object] = field(default_factory=dict)
    risk: Mapping[str, object] = field(default_factory=dict)
    utility: Mapping[str, object] = field(default_factory=dict)
    charts: tuple[Chart, ...] = ()
    figures: tuple[Figure, ...] = ()
    notes: tuple[Note, ...] = ()


class RandomisedMethod(Method):
    """A method whose guarantee comes from values drawn at random, row by row."""

    @abstractmethod
    def explore(self, given: MethodInput, token: CancelToken, report: Report) -> Exploration:
        """Count once, so that live parameters can be tried; nothing is drawn."""

    @abstractmethod
    def judge(self, given: MethodInput, token: CancelToken, report: Report) -> Judged:
        """Check that the data allow the release and describe it; nothing is drawn.

        Raises InputError, RefusedError when the data cannot meet what was asked, Cancelled.
        """

    @abstractmethod
    def draw(
        self,
        given: MethodInput,
        judged: Judged,
        rows: RowSource,
        randomness: RandomSource,
        token: CancelToken,
        report: Report,
    ) -> RewrittenRows:
        """The rows to release; whoever writes them wipes them. Raises RefusedError, Cancelled."""

    @abstractmethod
    def verify(
        self, manifest: Mapping[str, object], published: PublishedTable, token: CancelToken
    ) -> tuple[ClaimCheck, ...]:
        """Check each claim of a manifest against the published table.

        Shares no code with judging and drawing, and takes no number of the manifest for granted.
        """

    @abstractmethod
    def drawn_columns(self, manifest: Mapping[str, object]) -> frozenset[str]:
        """The columns whose values a manifest says were drawn, as far as it can be read."""

    @abstractmethod
    def recoded(
        self, manifest: Mapping[str, object], given: MethodInput, token: CancelToken
    ) -> Recoding | None:
        """The recoding that a manifest claims before the draws; None when it claims none."""

    @abstractmethod
    def verify_with_source(
        self,
        manifest: Mapping[str, object],
        published: PublishedTable,
        given: MethodInput,
        difference: RowDifference,
        token: CancelToken,
    ) -> tuple[ClaimCheck, ...]:
        """All checks of :meth:`verify`, those that need the source settled with it.

        ``difference`` compares the rows of the table with those of the source, recoded as
        :meth:`recoded` says.
        """

    def evidence_fault(
        self,
        manifest: Mapping[str, object],
        evidence: Mapping[str, object],
        published: PublishedTable,
        token: CancelToken,
    ) -> str | None:
        """Why the evidence cannot belong to this manifest and table, or None when it can.

        Called when the manifest's claims were checked and none failed.
        """
        return None

    def evidence_source_fault(
        self,
        manifest: Mapping[str, object],
        evidence: Mapping[str, object],
        given: MethodInput,
        token: CancelToken,
    ) -> str | None:
        """Why the evidence cannot be of this source, or None when it can.

        Called when the claims were checked with the source and none failed.
        """
        return None
