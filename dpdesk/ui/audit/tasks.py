"""What is done with the audit log, as work for a background thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

from dpdesk.app import auditing
from dpdesk.app.auditing import AuditCheck, AuditEntry, AuditSearch, AuditView
from dpdesk.app.types import AppContext
from dpdesk.core.charts import Cell
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.ui.audit.words import headings, row_of

_SHOWN = 5


@dataclass(frozen=True)
class FoundRows:
    """Found entries as rows: the cells that are shown, then all fields of the entry."""

    view: AuditView

    @property
    def columns(self) -> Sequence[str]:
        """Headings."""
        return headings()

    @property
    def count(self) -> int:
        """Number of found entries."""
        return self.view.count

    def page(self, start: int, count: int) -> Sequence[Sequence[Cell]]:
        """Rows from ``start``."""
        found = self.view.page(start, count)
        return [(*row_of(entry), *astuple(entry)) for entry in found]


def entry_of(row: Sequence[Cell]) -> AuditEntry:
    """The entry of a row."""
    number, *texts = row[_SHOWN:]
    return AuditEntry(int(str(number)), *(str(text) for text in texts))


@dataclass(frozen=True)
class FindEntries:
    """Search the log."""

    context: AppContext
    search: AuditSearch

    def __call__(self, token: CancelToken, report: Report) -> AuditView:
        """What is found."""
        return auditing.find_entries(self.context, self.search)


@dataclass(frozen=True)
class Checked:
    """What the check has shown, and what to do about it."""

    check: AuditCheck
    advice: str


@dataclass(frozen=True)
class CheckChain:
    """Check the whole chain."""

    context: AppContext

    def __call__(self, token: CancelToken, report: Report) -> Checked:
        """What that shows."""
        check = auditing.check_audit(self.context, token, report)
        return Checked(check, auditing.fault_advice(self.context, check))


@dataclass(frozen=True)
class FindPlace:
    """Where an entry stands in the list."""

    view: AuditView
    number: int

    def __call__(self, token: CancelToken, report: Report) -> int:
        """The row."""
        return self.view.place_of(self.number)


@dataclass(frozen=True)
class ExportLog:
    """Write the whole log to a file."""

    context: AppContext
    out: Path
    replace: bool

    def __call__(self, token: CancelToken, report: Report) -> Path:
        """The file that was written."""
        auditing.export_audit(self.context, self.out, token, replace=self.replace)
        return self.out
