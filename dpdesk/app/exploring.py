"""Try settings live, and keep the good ones: what the window does before a release."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from dpdesk.app.planning import placed_work, prepare_rows
from dpdesk.app.prepared import Prepared, PreparedCells, PreparedRows
from dpdesk.app.private.pinning import as_read, is_pinned, pinned_source
from dpdesk.app.witnessing import noise_notes
from dpdesk.core.budget import Noise
from dpdesk.core.charts import ScatterChart
from dpdesk.core.errors import InputError
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken, Note, Report, ending, silent
from dpdesk.core.parameters import ParameterValue, parse_parameters
from dpdesk.core.plain import number_text
from dpdesk.core.schema import DataProfile, Role
from dpdesk.core.source_spec import SourceSpec
from dpdesk.engine.method import (
    Detail,
    DetailedExploration,
    Exploration,
    ExplorationView,
    FixableExploration,
    GrowingExploration,
    Method,
    MostlyQuickExploration,
    PatientExploration,
    PlanInput,
)
from dpdesk.engine.private.method import BudgetAdvice
from dpdesk.engine.registry import noise_of, priced_of
from dpdesk.project.candidates import Candidate, LevelNames
from dpdesk.project.work import THE_SETTINGS, THE_WORK, WorkState

if TYPE_CHECKING:
    from dpdesk.app.checklists import Checklist
    from dpdesk.app.context import AppContext
    from dpdesk.core.release import ReleaseSummary
    from dpdesk.io.store import DataStore


@dataclass(frozen=True)
class Explored:
    """A finished search over all settings of the live parameters.

    It holds for this method, these roles and these hierarchies; ``stands_for`` tells whether a
    state of the work still is one that it answers.
    """

    work: WorkState
    method: Method
    exploration: Exploration = field(repr=False)
    columns: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    """What holds for all settings: other releases about the same people."""
    earlier: Callable[..., tuple[Note, ...]] | None = field(default=None, repr=False)
    """What earlier tables give away of those of a setting (its parameters, them, a token)."""
    level_names: LevelNames = field(default_factory=lambda: MappingProxyType({}), repr=False)
    """What people call the levels of the columns: see :attr:`Hierarchy.level_names`."""

    def view(
        self,
        parameters: Mapping[str, object],
        token: CancelToken | None = None,
        report: Report = silent,
    ) -> ExplorationView:
        """Charts and figures for parameters as plain values (plan keys).

        Milliseconds, but for a ``patient`` exploration, which the token stops. Raises InputError
        for a value out of range and for what a plan refuses, Cancelled.
        """
        if not isinstance(self.exploration, PatientExploration):
            return self._noted(self.exploration.view(self._checked(parameters)))
        try:
            values = self._checked(parameters)
        except InputError as error:
            fixed = self._refused(parameters, error)
            if fixed is None:
                raise
            return fixed
        token = token or CancelToken()
        view = self._noted(self.exploration.view_until(values, token, report))
        if self.earlier is None or not view.tables:
            return view
        tables = [look.table for look in view.tables]
        return replace(view, notes=(*view.notes, *self.earlier(parameters, tables, token)))

    def _noted(self, view: ExplorationView) -> ExplorationView:
        return replace(view, notes=(*view.notes, *self.notes)) if self.notes else view

    def _checked(self, parameters: Mapping[str, object]) -> dict[str, ParameterValue]:
        values = self._parsed(parameters)
        checked = self._parsed(_budgeted(parameters)) if self._spends else values
        roles = self.method.effective_roles(self._roles(), checked)
        self.method.check(self.columns, roles, checked, THE_SETTINGS)
        return values

    def _refused(
        self, parameters: Mapping[str, object], error: InputError
    ) -> ExplorationView | None:
        """What can be shown where the exact part was refused: the rest, without the refused key."""
        key = error.details.get("key")
        about_exact = error.code == "cube.exact" or key == "exact"
        if not about_exact or not isinstance(self.exploration, FixableExploration):
            return None
        rest = {name: value for name, value in parameters.items() if name != key}
        try:
            return self.exploration.refused(self._checked(rest), error)
        except InputError:
            return None

    def grow(
        self, parameters: Mapping[str, object], token: CancelToken, report: Report
    ) -> ExplorationView:
        """Add what a view calls ``pending``, which may take a minute; the view with it.

        Raises InputError, Cancelled; TypeError for an exploration whose views never grow.
        """
        if not isinstance(self.exploration, GrowingExploration):
            raise TypeError("these views do not grow")
        return self.exploration.grow(self._parsed(parameters), token, report)

    def example(
        self, parameters: Mapping[str, object], place: int, size: float, token: CancelToken
    ) -> ScatterChart | None:
        """What a cell of a table that truly holds ``size``, an example, could be released as.

        None where nothing tells. Raises InputError, Cancelled.
        """
        if not isinstance(self.exploration, BudgetAdvice):
            return None
        return self.exploration.example(self._parsed(_budgeted(parameters)), place, size, token)

    def tables(self, parameters: Mapping[str, object]) -> tuple[str, ...]:
        """Names of the tables that would be published; none where nothing advises on a budget."""
        if not isinstance(self.exploration, BudgetAdvice):
            return ()
        return self.exploration.tables(self._parsed(_budgeted(parameters)))

    def needed(
        self, parameters: Mapping[str, object], place: int, wanted: float, token: CancelToken
    ) -> tuple[str, str] | None:
        """The plan's key and the exact decimal of the least budget for an accuracy of a table.

        Settings without a budget are planned for ε = 1: the plan does not depend on it. None where
        nothing advises. Raises InputError, ValueError, Cancelled.
        """
        if not isinstance(self.exploration, BudgetAdvice):
            return None
        given = self._parsed(_budgeted(parameters))
        key, budget = self.exploration.needed(given, place, wanted, token)
        return key, number_text(budget)

    def patient(self, parameters: Mapping[str, object]) -> bool:
        """Whether a view of parameters may take long, so that it is worth stopping."""
        if isinstance(self.exploration, MostlyQuickExploration):
            return self.exploration.takes_long(parameters)
        return isinstance(self.exploration, PatientExploration)

    @property
    def advises(self) -> bool:
        """Whether it knows errors before anything is spent: of examples, and for budgets."""
        return isinstance(self.exploration, BudgetAdvice)

    def _parsed(self, parameters: Mapping[str, object]) -> dict[str, ParameterValue]:
        return parse_parameters(self.method.parameters, parameters, THE_SETTINGS)

    def _roles(self) -> dict[str, Role]:
        return {name: self.work.released_as(name) for name in self.columns}

    def pick(self, point: int) -> Mapping[str, object]:
        """The plan keys that select a point of a scatter."""
        return self.exploration.pick(point)

    def detail(self, parameters: Mapping[str, object], chart: str, place: int) -> Detail | None:
        """What lies behind a bar of a chart of the view; None when nothing does."""
        if not isinstance(self.exploration, DetailedExploration):
            return None
        return self.exploration.detail(self._parsed(parameters), chart, place)

    def stands_for(self, work: WorkState) -> bool:
        """Whether only the title, or parameters that it was not made for, have changed since."""
        mine, other = self.work, work
        keys = self.method.explored_for
        return (
            *(mine.source, mine.base, mine.roles, mine.hierarchies, mine.method),
            *(mine.pseudonyms, *(mine.parameters.get(key) for key in keys)),
        ) == (
            *(other.source, other.base, other.roles, other.hierarchies, other.method),
            *(other.pseudonyms, *(other.parameters.get(key) for key in keys)),
        ) and self._given_for(mine) == self._given_for(other)

    def _given_for(self, work: WorkState) -> object:
        """The roles that parameters make of columns, and of which columns hierarchies are given.

        None for parameters that a view refuses, and for noise, which is planned from them alone.
        """
        if self._spends:
            return None
        try:
            values = self._parsed(work.parameters)
        except InputError:
            return None
        roles = self.method.effective_roles(self._roles(), values)
        return roles, self.method.roles_with_hierarchy(values)

    @property
    def _spends(self) -> bool:
        return any(each.key == "epsilon" for each in self.method.parameters)


def _budgeted(parameters: Mapping[str, object]) -> dict[str, object]:
    """The parameters, with ε (or ρ) = 1 where no budget is given yet."""
    given = dict(parameters)
    if given.get("epsilon") is None and given.get("rho") is None:
        given["rho" if given.get("noise") == Noise.DISCRETE_GAUSSIAN.value else "epsilon"] = 1
    return given


def ready(
    context: AppContext,
    data: DataStore,
    work: WorkState,
    token: CancelToken,
    report: Report,
    name: str = THE_WORK,
    *,
    spending: bool = False,
) -> Prepared:
    """The work as a run over data that are loaded; ``name`` is how messages call the plan.

    Of a method that draws noise the data are not looked at; with ``spending`` its source is read
    again, as such a method reads it. Raises InputError for whatever is wrong with the work.
    """
    from dpdesk.app.running import prepare

    placed = placed_work(work, name)
    return prepare(context, placed, token, report, data, spending=spending)


def ready_rows(
    context: AppContext, data: DataStore, work: WorkState, token: CancelToken, report: Report
) -> PreparedRows:
    """As :func:`ready`, for work that releases rows; InputError ``method.no-trial`` for other."""
    return prepare_rows(context, placed_work(work, THE_WORK), token, report, data)


def is_private(context: AppContext, work: WorkState) -> bool:
    """Whether the method of the work draws noise, so that trying it on the data would cost."""
    if not work.method:
        return False
    return noise_of(context.registry.ready(work.method, THE_WORK)) is not None


def pinned_for(
    method: Method | None, work: WorkState, data: DataStore, profile: DataProfile
) -> SourceSpec | None:
    """The source of the work with all that the method must have named of how it is read.

    None where the method has no such need, or the work names it all. ``profile`` is of ``data``.
    """
    if priced_of(method) is None or work.source is None:
        return None
    if is_pinned(work.source, data.columns):
        return None
    return pinned_source(work.source, data.reading, profile)


def reads_alike(data: DataStore, of: SourceSpec | None, source: SourceSpec | None) -> bool:
    """Whether ``data``, which were read as ``of`` says, are those of another source as well."""
    if of is None or source is None:
        return of is source
    return as_read(of, data.reading) == as_read(source, data.reading)


def explore(
    context: AppContext, data: DataStore, work: WorkState, token: CancelToken, report: Report
) -> Explored:
    """Search once, so that live parameters can be tried without another search.

    Raises InputError for whatever is wrong with the work, Cancelled.
    """
    if is_private(context, work):
        from dpdesk.app.private.trying import trying_input

        method, given = trying_input(context, data, work, token, report)
        tried = method.explore(given, CancelToken())
        columns, names = tuple(data.columns), _level_names(given)
        return Explored(work, method, tried, columns, level_names=names)
    prepared, earlier = ready(context, data, work, token, report), None
    if isinstance(prepared, PreparedCells):
        from dpdesk.app.past_tables import given_away, source_of

        found = prepared.method.explore(prepared.given, token, report)
        earlier = partial(given_away, prepared, source_of(prepared, context.workspace))
    else:
        assert isinstance(prepared, PreparedRows)
        found = prepared.method.explore(prepared.given, token, report)
    _, notes = noise_notes(prepared.home, prepared.plan.budget, data.sha256)
    columns, names = tuple(data.columns), _level_names(prepared.given)
    return Explored(work, prepared.method, found, columns, notes, earlier, names)


def make_candidate(
    context: AppContext,
    data: DataStore,
    work: WorkState,
    token: CancelToken,
    report: Report,
    name: str = "",
) -> Candidate:
    """Run the method for these settings and keep what it would give; nothing is written.

    Of a method that draws noise the plan alone is kept, with its expected errors: nothing is
    counted and nothing is spent. Raises InputError, RefusedError when the data cannot meet what is
    asked, Cancelled.
    """
    with ending(token) as own:
        prepared = ready(context, data, work, own, report)
        outcome = prepared.decide(own, report)
        charts = tuple(outcome.charts)
    return Candidate(
        id=0,
        name=name,
        work=work,
        guarantee=outcome.guarantee,
        figures=outcome.figures,
        charts=charts,
        result=outcome.result,
        when=datetime.now().astimezone(),
        level_names=_level_names(prepared.given),
    )


def _level_names(given: PlanInput) -> LevelNames:
    """What people call the levels of the columns, as far as their hierarchies are known."""
    known = given.hierarchies.items()
    return MappingProxyType(
        {name: one.level_names for name, one in known if isinstance(one, Hierarchy)}
    )


def release_work(
    context: AppContext,
    data: DataStore,
    work: WorkState,
    out: Path,
    token: CancelToken,
    report: Report,
    name: str = THE_WORK,
    *,
    paper: bool = True,
) -> ReleaseSummary:
    """Write the release that the work describes: the same bytes as ``dpdesk run`` on its plan.

    A method that draws noise debits its budget first, and its noise is fresh each time. Raises what
    :func:`dpdesk.app.running.write_release` raises.
    """
    from dpdesk.app.running import write_release

    with ready(context, data, work, token, report, name, spending=True) as prepared:
        return write_release(context, prepared, out, token, report, paper=paper)


def checklist_ahead(
    context: AppContext, data: DataStore, work: WorkState, token: CancelToken, report: Report
) -> Checklist:
    """What a reviewer would be asked of the release that the work describes, before it is written.

    A release without its PDF is made in the private workspace, checked as every release is, and
    removed. That is
    possible where nothing is spent; a method that spends, or does not say, is refused with
    InputError. Raises what :func:`release_work` raises.
    """
    from dpdesk.app.checklists import check_release

    if context.registry.about(work.method).spends is not False:
        raise InputError(
            "checklist.spends",
            "Noise is drawn once, so its checklist is known only when the release is written.",
        )
    out = context.workspace.new_path()
    try:
        release_work(context, data, work, out, token, report, paper=False)
        return check_release(context, out, token, report).checklist
    finally:
        shutil.rmtree(out, ignore_errors=True)


def methods(context: AppContext) -> tuple[Method, ...]:
    """The methods that the window offers, in order."""
    return tuple(context.registry)
