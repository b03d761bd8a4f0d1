"""Trying settings of a cube: each view is a design, so nothing is counted and nothing is spent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias

from dpdesk.core.charts import Chart, LatticeChart, ScatterChart
from dpdesk.core.errors import Cancelled, DpdeskError, InputError
from dpdesk.core.jobs import CancelToken, Note, Report, silent
from dpdesk.core.messages import counted, msg
from dpdesk.core.parameters import ParameterValue
from dpdesk.engine.cubes.settings import CubeSettings
from dpdesk.engine.method import Detail, ExplorationView
from dpdesk.engine.methods.dp_cube.background import Background
from dpdesk.engine.methods.dp_cube.charts import OFTEN, TABLES, measures_sentence, unit_of
from dpdesk.engine.methods.dp_cube.design import CubeDesign, design_cube
from dpdesk.engine.methods.dp_cube.example_cell import example_cell
from dpdesk.engine.methods.dp_cube.lattice_chart import (
    LATTICE,
    lattice_of_design,
    lattice_without_errors,
    supposed_budget,
)
from dpdesk.engine.methods.dp_cube.plan_shelf import Kept, PlanShelf
from dpdesk.engine.methods.dp_cube.planner_charts import error_by_budget, planners_side_by_side
from dpdesk.engine.methods.dp_cube.planner_errors import budgets_around
from dpdesk.engine.methods.dp_cube.planning_charts import needed_budget, table_detail, table_names
from dpdesk.engine.private.guarantee_words import NO_BUDGET
from dpdesk.engine.private.kinds import Noise
from dpdesk.engine.private.method import PrivateInput

_Values: TypeAlias = "Mapping[str, ParameterValue]"


class CubeExploration:
    """An :class:`~dpdesk.engine.method.Exploration` of a data cube.

    The first view of new settings plans the noise, which may take seconds; later ones, of another
    budget too, are at hand. The token ends planning that nobody waits for any more. What takes
    longer is made by :meth:`grow`, one thing after another.
    """

    def __init__(self, given: PrivateInput, token: CancelToken) -> None:
        self._given = given
        self._token = token
        self._designs: Kept[CubeDesign] = Kept()
        self._lattices: Kept[LatticeChart] = Kept()
        self._shelf = PlanShelf()
        self._background = Background(self._shelf)

    def view(self, parameters: _Values) -> ExplorationView:
        """Errors, costs and guarantee of these settings; an unusable one says what is wrong."""
        return self.view_until(parameters, self._token, silent)

    def view_until(
        self, parameters: _Values, token: CancelToken, report: Report
    ) -> ExplorationView:
        """See :meth:`view`; planning ends within a second of a cancel. Raises Cancelled."""
        supposed = supposed_budget(parameters)
        decided = supposed is None
        try:
            design = self.design(parameters, token, report)
            compared = self._compared(design, decided, token)
        except Cancelled:
            raise
        except DpdeskError as error:
            return _unusable(error, self._lattice(supposed or parameters))
        pending = self._background.pending(design, decided=decided)
        if not decided:
            lattice = lattice_of_design(design, supposed=True)
            shown = (lattice, *compared)
            return ExplorationView(False, NO_BUDGET, shown, (), supposed=True, pending=pending)
        return ExplorationView(
            True,
            _sentence(design),
            self._charts(parameters, design, compared),
            design.figures,
            design.guarantee,
            notes=(*design.notes, *_internal_note()),
            pending=pending,
        )

    def refused(self, parameters: _Values, error: DpdeskError) -> ExplorationView | None:
        """See :meth:`MendedExploration.refused`: the lattice, so that it can be mended there."""
        lattice = self._lattice(supposed_budget(parameters) or parameters)
        return _unusable(error, lattice) if lattice else None

    def grow(self, parameters: _Values, token: CancelToken, report: Report) -> ExplorationView:
        """See :meth:`GrowingExploration.grow`."""
        decided = supposed_budget(parameters) is None
        self._background.next(self.design(parameters, token), token, report, decided=decided)
        return self.view_until(parameters, token, silent)

    def detail(self, parameters: _Values, chart: str, place: int) -> Detail | None:
        """What is known of the table behind a point, whose id is the table's mask."""
        if chart not in (TABLES, LATTICE):
            return None
        return table_detail(self.design(parameters), place)

    def tables(self, parameters: _Values) -> tuple[str, ...]:
        """See :meth:`BudgetAdvice.tables`."""
        given = supposed_budget(parameters) or parameters
        return table_names(CubeSettings.from_parameters(given, self._given.where))

    def needed(
        self, parameters: _Values, place: int, wanted: float, token: CancelToken
    ) -> tuple[str, Fraction]:
        """See :meth:`BudgetAdvice.needed`."""
        design = self.design(parameters, token)
        key = "epsilon" if design.settings.noise is Noise.LAPLACE else "rho"
        return key, needed_budget(design, place, wanted, token)

    def example(
        self, parameters: _Values, place: int, size: float, token: CancelToken
    ) -> ScatterChart:
        """See :meth:`BudgetAdvice.example`."""
        token.check()
        return example_cell(self.design(parameters, token), place, size)

    def _charts(
        self, parameters: _Values, design: CubeDesign, compared: tuple[Chart, ...]
    ) -> tuple[Chart, ...]:
        """The design's charts, and behind the first one what helps to choose."""
        key = _key(parameters)
        lattice = self._lattices.get(key) or self._lattices.put(key, lattice_of_design(design))
        bias = self._background.bias(design)
        return (*design.charts[:1], lattice, *compared, *bias, *design.charts[1:])

    def _compared(self, design: CubeDesign, decided: bool, token: CancelToken) -> tuple[Chart, ...]:
        """Planners side by side: those at hand, the chosen one first."""
        settings, unit = design.settings, unit_of(design.channels[0])
        found = self._background.errors(design, token)
        coming = self._background.coming(design)
        budgets = budgets_around(settings)
        return (
            error_by_budget(settings, budgets, found, unit, decided=decided, coming=coming),
            planners_side_by_side(settings, found, unit, decided=decided, coming=coming),
        )

    def _lattice(self, parameters: Mapping[str, ParameterValue]) -> tuple[Chart, ...]:
        """The lattice where no design can be made, so that the choice can be mended there."""
        found = lattice_without_errors(replace(self._given, parameters=parameters))
        return () if found is None else (found,)

    def design(
        self, parameters: _Values, token: CancelToken | None = None, report: Report = silent
    ) -> CubeDesign:
        """The design of these settings. Raises InputError, RefusedError, Cancelled."""
        key = _key(parameters)
        known = self._designs.get(key)
        if known is None:
            given = replace(self._given, parameters=supposed_budget(parameters) or parameters)
            known = design_cube(given, token or self._token, report, self._shelf.plan)
            self._designs.put(key, known)
        return known

    def pick(self, point: int) -> Mapping[str, object]:
        """Nothing is chosen by a point: the tables of the chart are all published."""
        return {}


def _unusable(error: DpdeskError, lattice: tuple[Chart, ...]) -> ExplorationView:
    sentence = error.full if isinstance(error, InputError) else error.line
    key = error.details.get("key")
    if key != "exact":
        at = key if isinstance(key, str) else ""
        return ExplorationView(False, sentence, lattice, (), at=at)
    return ExplorationView(
        False,
        sentence,
        lattice,
        (),
        remedy={"exact": None},
        remedy_label="Publish nothing exactly",
        at="exact",
    )


def _key(parameters: _Values) -> str:
    return repr(sorted((name, repr(value)) for name, value in parameters.items()))


def _sentence(design: CubeDesign) -> str:
    figures = {figure.key: figure for figure in design.figures}
    tables, error = int(figures["tables"].value), figures["largest_error"]
    count = counted("{n:,} table", "{n:,} tables", n=tables)
    each, often = measures_sentence(design.measures), OFTEN[design.settings.covered]
    if each:
        return msg(
            "{count}; the largest planned errors, {often}: {each}.",
            count=count,
            often=often,
            each=each,
        )
    return msg(
        "{count}; the largest planned error is ± {size:,.4g} {unit} {often}.",
        count=count,
        size=error.value,
        unit=error.unit,
        often=often,
    )


def _internal_note() -> tuple[Note, ...]:
    return (
        Note(
            "cube.planned",
            "All errors are planned ones: they follow from the settings, and nothing was counted.",
        ),
    )
