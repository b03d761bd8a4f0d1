"""What the ledger says of the present work, looked up in the background whenever it may be new."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal, Slot

from dpdesk.app.private import trying
from dpdesk.app.private.trial import Trial
from dpdesk.app.types import AppContext, DataStore, Outlook, WorkState
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.ui.jobs import JobDone, JobFailed
from dpdesk.ui.workbench.changes import Aspect, Changes
from dpdesk.ui.workbench.state import WorkbenchState

_CHANNEL = "workbench.budget"
_TRIED = {
    Aspect.DATA,
    Aspect.SOURCE,
    Aspect.ROLES,
    Aspect.HIERARCHIES,
    Aspect.METHOD,
    Aspect.PARAMETERS,
}
_MATTERS = {
    Aspect.DATA,
    Aspect.SOURCE,
    Aspect.ROLES,
    Aspect.METHOD,
    Aspect.PARAMETERS,
    Aspect.BUDGET,
    Aspect.RELEASE,
}


@dataclass(frozen=True)
class LookAhead:
    """Work for a background thread: read the ledger."""

    context: AppContext
    data: DataStore
    work: WorkState

    def __call__(self, token: CancelToken, report: Report) -> Outlook:
        """What it says."""
        return trying.outlook(self.context, self.data, self.work, token)


class BudgetWatch(QObject):
    """``changed()`` when :attr:`outlook`, :attr:`problem` or :attr:`trial` is new.

    All are empty for a method that spends nothing, and while its settings are not complete.
    """

    changed = Signal()

    def __init__(self, bench: WorkbenchState) -> None:
        super().__init__(bench)
        self._bench = bench
        self._outlook: Outlook | None = None
        self._problem = ""
        self._trial: Trial | None = None

    @property
    def trial(self) -> Trial | None:
        """What the trial of these settings on these data found; None: not tried."""
        return self._trial

    def show_trial(self, work: WorkState, trial: Trial) -> None:
        """Keep what a trial found, where the work is still the one that was tried."""
        if work == self._bench.work:
            self._trial = trial
            self.changed.emit()

    @property
    def outlook(self) -> Outlook | None:
        """What the ledger says; None when there is nothing to say."""
        return self._outlook

    @property
    def problem(self) -> str:
        """Why the ledger cannot be asked; empty when it can."""
        return self._problem

    @Slot(object)
    def follow(self, changes: Changes) -> None:
        """Look again where these changes may matter."""
        if changes & _TRIED and self._trial is not None:
            self._trial = None
            self.changed.emit()
        if changes & _MATTERS:
            self.look()

    @Slot()
    def look(self) -> None:
        """Ask the ledger."""
        bench, channel = self._bench, self._bench.hub.latest(_CHANNEL)
        if bench.data is None or not bench.spends:
            channel.cancel()
            self._show(None, "")
            return
        channel.query(
            self.tr("Looking at the budget"),
            LookAhead(bench.context, bench.data, bench.work),
            done=self._on_done,
            failed=self._on_failed,
            quiet=True,
        )

    def _on_done(self, outcome: JobDone) -> None:
        if isinstance(outcome.value, Outlook):
            self._show(outcome.value, "")

    def _on_failed(self, outcome: JobFailed) -> None:
        unfinished = outcome.code.startswith(("cube.", "parameter.", "plan.unknown-column"))
        self._show(None, "" if unfinished else f"{outcome.sentence} {outcome.hint}".strip())

    def _show(self, outlook: Outlook | None, problem: str) -> None:
        if (outlook, problem) != (self._outlook, self._problem):
            self._outlook, self._problem = outlook, problem
            self.changed.emit()
