"""Brings what the settings of a method with noise need: categories, and what the ledger says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from PySide6.QtCore import QObject, Slot

from dpdesk.app.private import trying
from dpdesk.app.private.labelling import LevelChoice, level_choices
from dpdesk.app.private.trial import try_work
from dpdesk.app.types import DataStore, Explored, SetBudget, SetParameters, WorkState
from dpdesk.core.charts import ScatterChart
from dpdesk.core.cube_parameters import CuboidChoice, CuboidStatus
from dpdesk.core.errors import InputError, RefusedError
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.parameters import exact_number, plain_number
from dpdesk.ui.charts.lattice_board import AVOID, EXACTLY, PUBLISH
from dpdesk.ui.charts.lattice_view import LatticeChange
from dpdesk.ui.forms.cubes import CubeForm
from dpdesk.ui.forms.cubes.dimensions import ALL, CODES, DATA, FILE
from dpdesk.ui.jobs import JobFailed
from dpdesk.ui.jobs.hub import token_only
from dpdesk.ui.panels.protect.deck import ChartDeck
from dpdesk.ui.panels.protect.result_pane import ResultPane
from dpdesk.ui.panels.protect.settings_pane import SettingsPane
from dpdesk.ui.words.spoken import in_window, said_error
from dpdesk.ui.workbench import Aspect, Changes, Workbench


class LatticeEdits(QObject):
    """Applies changes as edits that can be undone; shows edits made elsewhere at once."""

    def __init__(self, workbench: Workbench, deck: ChartDeck, parent: QObject) -> None:
        super().__init__(parent)
        self._bench, self._deck = workbench, deck
        deck.changeAsked.connect(self._on_change)
        workbench.changed.connect(self._on_work)

    def _choice(self) -> CuboidChoice | None:
        try:
            return CuboidChoice.from_plain(self._bench.work.parameters)
        except (ValueError, TypeError, KeyError):
            return None

    @Slot(object)
    def _on_change(self, change: LatticeChange) -> None:
        view, before = self._deck.lattice, self._choice()
        if view is None:
            return
        if before is None or self._bench.stale:
            view.say(self.tr("The settings on the left cannot be read; fix them first."))
            return
        try:
            after = change.made(before)
        except InputError as error:
            view.say(in_window(said_error(error)))
            return
        changes = after.changes(before)
        if changes:
            self._bench.apply(SetParameters(changes, what=self._words(change, after)))

    def _words(self, change: LatticeChange, after: CuboidChoice) -> str:
        """The edit for the trail: a plan may have to name all other tables, people need not."""
        name, standing = after.name(change.cuboid), after.standing(change.cuboid)
        if change.act == EXACTLY:
            exact = change.cuboid in after.exact
            text = self.tr("Published exactly: {name}")
            text = text if exact else self.tr("No longer exact: {name}")
            return text.format(name=name)
        if change.act not in (PUBLISH, AVOID):
            text = self.tr("Weight of {name}: {weight}")
            return text.format(name=name, weight=plain_number(after.weight(change.cuboid)))
        words = {
            CuboidStatus.PUBLISHED: self.tr("Published: {name}"),
            CuboidStatus.FREE: self.tr("Not published: {name}"),
            CuboidStatus.FORBIDDEN: self.tr("Forbidden: {name}"),
        }
        return words[standing].format(name=name)

    @Slot(object)
    def _on_work(self, changes: Changes) -> None:
        view = self._deck.lattice
        if view is not None and Aspect.PARAMETERS in changes:
            choice = self._choice()
            if choice is not None:
                view.show_choice(choice)


_CHANNEL, _ADVICE = "protect.categories", "protect.advice"
_HIERARCHIES = {Aspect.DATA, Aspect.SOURCE, Aspect.HIERARCHIES, Aspect.METHOD}
_LEVELS = "protect.levels"
_TRIAL = "protect.trial"
_SOLVED, _EXAMPLE = "protect.solved", "protect.example"
LEAST_EXACT = -1


@dataclass(frozen=True)
class Found:
    """Categories by dimension: those that a file declares, and those that only the data show."""

    kind: str
    public: Mapping[str, tuple[str, ...]] = field(repr=False)
    seen: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False)


def find_categories(
    kind: str,
    levels: Mapping[str, int],
    data: DataStore,
    work: WorkState,
    token: CancelToken,
    report: Report,
) -> Found:
    """Work for a background thread: read hierarchies, or list values of columns.

    For :data:`ALL`, code lists of the file come before values of the data.
    """
    if kind == FILE:
        found = {
            name: trying.declared_categories(work, name, level, token)
            for name, level in levels.items()
        }
        return Found(FILE, found)
    codes = {name: trying.listed_codes(data, name) for name in levels} if kind == ALL else {}
    public = {name: found for name, found in codes.items() if len(found) > 1}
    rest = [name for name in levels if name not in public]
    return Found(CODES, public, {name: trying.values_in_data(data, name, token) for name in rest})


def find_levels(
    names: tuple[str, ...], work: WorkState, token: CancelToken, report: Report
) -> dict[str, tuple[LevelChoice, ...]]:
    """Work for a background thread: read what the levels of hierarchies hold."""
    found = {name: level_choices(work, name, token) for name in names}
    return {name: levels for name, levels in found.items() if levels}


@dataclass(frozen=True)
class Advised:
    """The tables that would be published, and the budget that one of them needs, or why none."""

    explored: Explored = field(repr=False)
    tables: tuple[str, ...]
    needed: tuple[str, str] | None
    problem: str = ""


def advise(
    explored: Explored,
    parameters: Mapping[str, object],
    place: int,
    wanted: float | None,
    token: CancelToken,
    report: Report,
    *,
    least_exact: bool = False,
) -> Advised:
    """Work for a background thread: the least budget for a wanted accuracy."""
    tables = explored.tables(parameters)
    needed, problem = None, ""
    if wanted is not None and tables:
        place = place if 0 <= place < len(tables) else len(tables) - 1
        if least_exact:
            place = LEAST_EXACT
        try:
            needed = explored.needed(parameters, place, wanted, token)
        except RefusedError as error:
            problem = error.full
    return Advised(explored, tables, needed, problem)


class PrivateSide(QObject):
    """Joins the settings of a method that draws noise with what can be found out for them."""

    def __init__(
        self, workbench: Workbench, settings: SettingsPane, result: ResultPane, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._bench, self._settings, self._result = workbench, settings, result
        self._lattice = LatticeEdits(workbench, result.deck, self)
        result.example.asked.connect(self._ask_example)
        settings.categoriesWanted.connect(self._on_wanted)
        settings.budget.edited.connect(self._on_budget)
        settings.trial.asked.connect(self._on_try)
        workbench.budget.changed.connect(self._on_outlook)
        settings.accuracy.asked.connect(self.advise)
        settings.accuracy.taken.connect(self._on_taken)
        self._known_levels: tuple[object, ...] = ()
        workbench.changed.connect(self._on_work)
        self._on_outlook()

    @Slot(object)
    def _on_work(self, changes: Changes) -> None:
        """Look up the levels of hierarchies when these, or the data, are others."""
        bench = self._bench
        if not changes & _HIERARCHIES or not bench.spends:
            return
        now = (bench.work.base, dict(bench.work.hierarchies))
        if bench.data is None or now == self._known_levels:
            return
        self._known_levels = now
        bench.hub.latest(_LEVELS).query(
            self.tr("Looking up levels"),
            partial(find_levels, tuple(bench.work.hierarchies), bench.work),
            then=self._settings.show_levels,
            quiet=True,
        )

    @Slot()
    def advise(self) -> None:
        """Look up the tables, and the budget for the accuracy that was typed.

        Called when a plan of these settings is at hand, so that nothing is planned twice.
        """
        bench, box = self._bench, self._settings.accuracy
        explored = bench.explored
        if explored is None or bench.stale or not explored.patient(bench.work.parameters):
            return
        work = partial(advise, explored, dict(bench.work.parameters), box.place, box.wanted)
        bench.hub.latest(_ADVICE).query(
            self.tr("Finding the budget for an accuracy"),
            work,
            then=self._on_advised,
            failed=self._on_unadvised,
        )

    def solve(self, wanted: float) -> None:
        """Look up the budget with which the least exact table errs by this much, and set it."""
        bench = self._bench
        if bench.explored is None or bench.stale:
            return
        work = partial(
            advise, bench.explored, dict(bench.work.parameters), 0, wanted, least_exact=True
        )
        bench.hub.latest(_SOLVED).query(
            self.tr("Finding the budget for an accuracy"), work, then=self._on_solved
        )

    def _on_solved(self, found: Advised) -> None:
        if found.needed is not None:
            key, budget = found.needed
            if found.explored is self._bench.explored:
                number = plain_number(exact_number(budget))
                self._bench.apply(SetParameters({key: number}), merge=True)

    @Slot()
    def _ask_example(self) -> None:
        """Draw the example cell, where it is looked at."""
        bench, page = self._bench, self._result.example
        if bench.explored is None or bench.stale or page.size_wanted is None:
            return
        parameters = dict(bench.work.parameters)
        work = token_only(partial(bench.explored.example, parameters, page.place, page.size_wanted))
        bench.hub.latest(_EXAMPLE).query(
            self.tr("Drawing an example cell"), work, then=self._on_example, quiet=True
        )

    def _on_example(self, found: ScatterChart | None) -> None:
        if found is not None:
            self._result.example.show_example(found)

    @Slot(str, str)
    def _on_wanted(self, kind: str, name: str) -> None:
        form, data = self._settings.form, self._bench.data
        if not isinstance(form, CubeForm) or data is None:
            return
        names = form.domains.missing if kind == ALL else (name,) if name else ()
        if not names:
            return
        levels = {one: form.level(one) for one in names}
        work = partial(find_categories, kind, levels, data, self._bench.work)
        self._bench.hub.latest(_CHANNEL).query(
            self.tr("Looking up categories"), work, then=self._on_found, failed=self._on_failed
        )

    @Slot(object)
    def _on_budget(self, changes: Mapping[str, object]) -> None:
        self._bench.apply(SetBudget(dict(changes)), merge=True)

    @Slot()
    def _on_outlook(self) -> None:
        watch = self._bench.budget
        self._settings.budget.show_outlook(watch.outlook, watch.problem)
        self._settings.trial.show_trial(watch.trial)

    @Slot()
    def _on_try(self) -> None:
        """Look at the data for rows outside the declared categories."""
        bench = self._bench
        if bench.data is None:
            return
        bench.hub.latest(_TRIAL).query(
            self.tr("Trying the categories on the data"),
            partial(try_work, bench.context, bench.data, bench.work),
            then=partial(self._bench.budget.show_trial, bench.work),
            failed=self._on_untried,
        )

    def _on_untried(self, outcome: JobFailed) -> None:
        self._settings.trial.show_trial(None, outcome.full)

    def _on_advised(self, found: Advised) -> None:
        if found.explored is self._bench.explored:
            self._settings.accuracy.show_tables(found.tables)
            self._result.example.show_tables(found.tables)
            self._ask_example()
            self._settings.accuracy.show_answer(found.needed, found.problem)

    def _on_unadvised(self, outcome: JobFailed) -> None:
        """What is still to be declared is said where it is declared, in the words of the form."""
        undeclared = outcome.code.startswith(("plan.", "parameter."))
        self._settings.accuracy.show_answer(None, "" if undeclared else outcome.sentence)

    @Slot(str, str)
    def _on_taken(self, key: str, budget: str) -> None:
        other = "rho" if key == "epsilon" else "epsilon"
        number = exact_number(budget)
        changes: dict[str, object] = {key: plain_number(number)}
        if self._bench.work.parameters.get(other) is not None:
            changes[other] = None
        self._bench.apply(SetParameters(changes))

    def _on_found(self, value: object) -> None:
        form, found = self._settings.form, value
        if isinstance(form, CubeForm) and isinstance(found, Found):
            form.domains.offer(found.kind, found.public)
            form.domains.offer(DATA, found.seen)

    def _on_failed(self, outcome: JobFailed) -> None:
        self._settings.show_field_error("domains", outcome.full)
