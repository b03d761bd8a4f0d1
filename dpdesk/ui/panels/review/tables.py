"""Reads the tables of a release with noise in the background, for the page that shows them."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject, Slot

from dpdesk.app.private.browsing import TablePreview, preview_table, released_tables
from dpdesk.app.types import ReleaseFacts
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.ui.jobs import JobDone, JobFailed, JobHub
from dpdesk.ui.panels.review.tables_page import TablesPage

_CHANNEL = "review.table"


@dataclass(frozen=True)
class ReadTable:
    """Work for a background thread: the first cells of a table."""

    facts: ReleaseFacts
    file: str

    def __call__(self, token: CancelToken, report: Report) -> TablePreview:
        """The preview."""
        return preview_table(self.facts, self.file, token)


class Tables(QObject):
    """Joins a release with the page of its tables."""

    def __init__(self, hub: JobHub, page: TablesPage, parent: QObject) -> None:
        super().__init__(parent)
        self._hub, self._page = hub, page
        self._facts: ReleaseFacts | None = None
        page.wanted.connect(self._on_wanted)

    def show_release(self, facts: ReleaseFacts) -> bool:
        """Offer the tables of a release; False for one that has none."""
        self._facts, names = facts, released_tables(facts)
        self._page.show_names(names)
        return bool(names)

    @Slot(str)
    def _on_wanted(self, file: str) -> None:
        if self._facts is not None:
            self._hub.latest(_CHANNEL).query(
                self.tr("Reading a table"),
                ReadTable(self._facts, file),
                done=self._on_read,
                failed=self._on_failed,
                quiet=True,
            )

    def _on_read(self, outcome: JobDone) -> None:
        if isinstance(outcome.value, TablePreview):
            self._page.show_table(outcome.value)

    def _on_failed(self, outcome: JobFailed) -> None:
        self._page.show_problem(outcome.sentence)
