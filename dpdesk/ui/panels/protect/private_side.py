"""Brings what the settings of a method with noise need: categories, and what the ledger says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from PySide6.QtCore import QObject, Slot

from dpdesk.app.private import trying
from dpdesk.app.types import DataStore, SetBudget, WorkState
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.ui.forms.cubes import CubeForm
from dpdesk.ui.forms.cubes.domains import DATA
from dpdesk.ui.jobs import JobDone, JobFailed
from dpdesk.ui.panels.protect.settings_pane import SettingsPane
from dpdesk.ui.workbench import Workbench

_CHANNEL = "protect.categories"


@dataclass(frozen=True)
class Found:
    """Categories, and where they are from."""

    kind: str
    name: str
    categories: tuple[str, ...] = field(repr=False)


@dataclass(frozen=True)
class FindCategories:
    """Work for a background thread: read a hierarchy, or list the values of a column."""

    kind: str
    name: str
    level: int
    data: DataStore
    work: WorkState

    def __call__(self, token: CancelToken, report: Report) -> Found:
        """The categories."""
        if self.kind == DATA:
            values = trying.values_in_data(self.data, self.name, token)
        else:
            values = trying.declared_categories(self.work, self.name, self.level, token)
        return Found(self.kind, self.name, values)


class PrivateSide(QObject):
    """Joins the settings of a method that draws noise with what can be found out for them."""

    def __init__(self, workbench: Workbench, settings: SettingsPane, parent: QObject) -> None:
        super().__init__(parent)
        self._bench, self._settings = workbench, settings
        settings.categoriesWanted.connect(self._on_wanted)
        settings.budget.edited.connect(self._on_budget)
        workbench.budget.changed.connect(self._on_outlook)
        self._on_outlook()

    @Slot(str, str)
    def _on_wanted(self, kind: str, name: str) -> None:
        form, data = self._settings.form, self._bench.data
        if not isinstance(form, CubeForm) or data is None or not name:
            return
        work = FindCategories(kind, name, form.level(name), data, self._bench.work)
        self._bench.hub.latest(_CHANNEL).query(
            self.tr("Looking up categories"), work, done=self._on_found, failed=self._on_failed
        )

    @Slot(object)
    def _on_budget(self, changes: Mapping[str, object]) -> None:
        self._bench.apply(SetBudget(dict(changes)), merge=True)

    @Slot()
    def _on_outlook(self) -> None:
        watch = self._bench.budget
        self._settings.budget.show_outlook(watch.outlook, watch.problem)

    def _on_found(self, outcome: JobDone) -> None:
        form, found = self._settings.form, outcome.value
        if isinstance(form, CubeForm) and isinstance(found, Found):
            form.domains.offer(found.kind, found.name, found.categories)

    def _on_failed(self, outcome: JobFailed) -> None:
        self._settings.show_field_error("domains", f"{outcome.sentence} {outcome.hint}".strip())
