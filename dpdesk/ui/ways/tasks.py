"""The comparison as work for a background thread."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dpdesk.app import comparing
from dpdesk.app.types import AppContext, DataStore, WorkState
from dpdesk.core.jobs import CancelToken, Report

if TYPE_CHECKING:
    from dpdesk.app.comparing import Comparison

COMPARE = "ways.compare"


@dataclass(frozen=True)
class Compared:
    """What was measured, and the work it was measured for."""

    work: WorkState
    found: tuple[Comparison, ...] = field(repr=False)


@dataclass(frozen=True)
class CompareWays:
    """Compare ways to release the sensitive columns of the work."""

    context: AppContext
    data: DataStore = field(repr=False)
    work: WorkState

    def __call__(self, token: CancelToken, report: Report) -> Compared:
        """What was measured."""
        found = comparing.compare_work(self.context, self.data, self.work, token, report)
        return Compared(self.work, found)
