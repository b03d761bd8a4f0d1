"""Finds out, in the background, what lies behind a bar that was clicked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from PySide6.QtCore import QObject, Slot

from dpdesk.app.types import Detail, Explored
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.ui.jobs import JobDone
from dpdesk.ui.panels.protect.deck import ChartDeck
from dpdesk.ui.workbench import Workbench

_CHANNEL = "protect.detail"


@dataclass(frozen=True)
class Behind:
    """A detail and the bar that it is behind; None: nothing is."""

    chart: str
    explored: Explored = field(repr=False)
    parameters: Mapping[str, object]
    detail: Detail | None = field(repr=False)


@dataclass(frozen=True)
class DetailRequest:
    """Work for a background thread: look behind a bar."""

    explored: Explored = field(repr=False)
    parameters: Mapping[str, object]
    chart: str
    place: int

    def __call__(self, token: CancelToken, report: Report) -> Behind:
        """What is there."""
        found = self.explored.detail(self.parameters, self.chart, self.place)
        return Behind(self.chart, self.explored, self.parameters, found)


class Details(QObject):
    """Joins a deck whose bars are clicked with the search that knows what is behind them."""

    def __init__(
        self, workbench: Workbench, deck: ChartDeck, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._bench, self._deck = workbench, deck
        deck.barPicked.connect(self._on_bar)

    @Slot(str, int)
    def _on_bar(self, chart: str, place: int) -> None:
        explored = self._bench.explored
        if explored is None or self._bench.stale:
            return
        look = DetailRequest(explored, dict(self._bench.work.parameters), chart, place)
        self._bench.hub.latest(_CHANNEL).query(
            self.tr("Looking behind a bar"), look, done=self._on_found, failed=self._on_failed
        )

    def _on_found(self, outcome: JobDone) -> None:
        found = outcome.value
        if not isinstance(found, Behind) or found.detail is None:
            return
        now = (self._bench.explored, dict(self._bench.work.parameters))
        if (found.explored, dict(found.parameters)) == now:
            self._deck.show_detail(found.chart, found.detail)

    def _on_failed(self, outcome: object) -> None:
        self._bench.failed.emit(outcome)
