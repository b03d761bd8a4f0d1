"""Trying settings of a cube: each view is a design, so nothing is counted and nothing is spent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor, log10, sqrt
from statistics import NormalDist
from typing import TypeAlias

import numpy as np

from dpdesk.core.charts import (
    Axis,
    Cell,
    Chart,
    ChartTable,
    LatticeChart,
    PointSeries,
    ScatterChart,
    SeriesStyle,
    format_figure,
    table_from,
)
from dpdesk.core.cube_parameters import COUNT, SUM
from dpdesk.core.errors import Cancelled, DpdeskError, RefusedError
from dpdesk.core.jobs import CancelToken, Note, Report, StepStarted, silent
from dpdesk.core.messages import counted, msg
from dpdesk.core.parameters import ParameterValue
from dpdesk.engine.cubes.channels import make_channels
from dpdesk.engine.cubes.consistency.integral import Bias
from dpdesk.engine.cubes.lattice import CubePlan, Floats, cells, magnification
from dpdesk.engine.cubes.optimal.objectives import noise_quantiles
from dpdesk.engine.cubes.settings import Covered, CubeSettings
from dpdesk.engine.method import Detail, DetailPart, ExplorationView, unusable
from dpdesk.engine.methods.dp_cube.bias_charts import (
    LATTICE,
    BiasStudy,
    bias_chart,
    error_by_budget,
    examples_of,
    lattice_of_design,
    lattice_without_errors,
    planners_side_by_side,
    study_of,
)
from dpdesk.engine.methods.dp_cube.charts import (
    OFTEN,
    TABLES,
    WIDTH_AXES,
    in_cells,
    measures_sentence,
    name_of,
    several,
    unit_of,
)
from dpdesk.engine.methods.dp_cube.design import CubeDesign, design_cube
from dpdesk.engine.methods.dp_cube.errors import (
    NAMES,
    QUICK,
    SLOW,
    PlannerErrors,
    budgets_around,
    compared_settings,
    pins_left_out,
    released_variances,
)
from dpdesk.engine.methods.dp_cube.plan_worker import WORKER
from dpdesk.engine.methods.dp_cube.planning import Kept, PlanShelf, plan_key
from dpdesk.engine.methods.dp_cube.widths import moved_by_rounding, released_width, released_widths
from dpdesk.engine.private.charts import PLANNED, supposed_budget
from dpdesk.engine.private.guarantee_words import NO_BUDGET
from dpdesk.engine.private.kinds import Noise
from dpdesk.engine.private.method import PrivateInput

# What is worth waiting for beside a design: slow planners, and the bias of clean numbers.
#
# All of it follows from the settings, none of it from data. It is made one thing after another, in
# a process of its own that can be ended at any time.


_AT_ONCE = 64
"""Published tables up to which PMost, which plans anew for each budget, answers at once."""

_LARGE = 1 << 12
"""Cuboids of a lattice up to which BMax answers at once."""


class Background:
    """Knows what is at hand, what is still to come, and makes the next of it."""

    def __init__(self, shelf: PlanShelf) -> None:
        self._shelf = shelf
        self._refused: Kept[str] = Kept()
        self._biases: Kept[tuple[Bias, ...]] = Kept()

    def errors(self, design: CubeDesign, token: CancelToken) -> tuple[PlannerErrors, ...]:
        """The errors of all planners that are at hand, the chosen one first. Raises Cancelled."""
        shape, found = design.plan.shape, []
        for planner in self._planners(design.settings):
            token.check()
            settings = compared_settings(design.settings, planner)
            if planner != design.settings.planner and not self._ready(settings, shape):
                continue
            try:
                found.append(self._shelf.errors(settings, shape, token))
            except Cancelled:
                raise
            except DpdeskError as error:
                self._refused.put(plan_key(settings, shape), error.sentence)
        return tuple(found)

    def coming(self, design: CubeDesign) -> tuple[str, ...]:
        """Planners that are still to be computed."""
        return tuple(
            planner
            for planner in self._planners(design.settings)[1:]
            if not self._settled(compared_settings(design.settings, planner), design.plan.shape)
        )

    def bias(self, design: CubeDesign) -> tuple[Chart, ...]:
        """The chart of the bias, once it is known."""
        study = study_of(design)
        found = None if study is None else self._biases.get(repr(study))
        return (bias_chart(design, found),) if found else ()

    def pending(self, design: CubeDesign, *, decided: bool) -> str:
        """What :meth:`next` would make, for people; empty when all is at hand."""
        study = study_of(design) if decided else None
        if study is not None and self._biases.get(repr(study)) is None:
            return "the bias of numbers without negative ones"
        coming = self.coming(design)
        return msg("the planner {names}", names=NAMES[coming[0]]) if coming else ""

    def next(
        self, design: CubeDesign, token: CancelToken, report: Report, *, decided: bool
    ) -> None:
        """Make one thing that is still to come. Raises Cancelled."""
        study = study_of(design) if decided else None
        if study is not None and self._biases.get(repr(study)) is None:
            report(StepStarted("Simulate the bias", 1, 1))
            self._biases.put(repr(study), _simulated(study, design, token))
            return
        coming = self.coming(design)
        if coming:
            report(StepStarted(msg("Plan with {names}", names=NAMES[coming[0]]), 1, 1))
            self._plan(compared_settings(design.settings, coming[0]), design.plan.shape, token)

    def _planners(self, settings: CubeSettings) -> tuple[str, ...]:
        """All that can be compared with these settings, the chosen one first."""
        pmost = ("pmost",) if settings.theta is not None else ()
        others = (*QUICK, *pmost, *SLOW)
        return (settings.planner, *(one for one in others if one != settings.planner))

    def _ready(self, settings: CubeSettings, shape: tuple[int, ...]) -> bool:
        """Whether the errors of a planner cost no waiting."""
        key = plan_key(settings, shape)
        if self._refused.get(key) is not None:
            return False
        if settings.planner == "pmost":
            return len(settings.published) <= _AT_ONCE or self._curved(settings, shape)
        searches = settings.planner == "bmax" and 1 << len(shape) > _LARGE
        quick = settings.planner in QUICK and not searches
        return quick or self._shelf.knows(settings, shape)

    def _settled(self, settings: CubeSettings, shape: tuple[int, ...]) -> bool:
        refused = self._refused.get(plan_key(settings, shape)) is not None
        return refused or self._ready(settings, shape)

    def _curved(self, settings: CubeSettings, shape: tuple[int, ...]) -> bool:
        places = (settings.budget, *budgets_around(settings))
        return all(self._shelf.knows(replace(settings, budget=one), shape) for one in places)

    def _plan(self, settings: CubeSettings, shape: tuple[int, ...], token: CancelToken) -> None:
        budgets: tuple[Fraction, ...] = (settings.budget,)
        if settings.planner == "pmost":
            budgets += budgets_around(settings)
        for budget in budgets:
            each = replace(settings, budget=budget)
            if self._shelf.knows(each, shape):
                continue
            found = self._made(each, shape, token)
            if found is None:
                return
            self._shelf.keep(each, shape, found)

    def _made(
        self, settings: CubeSettings, shape: tuple[int, ...], token: CancelToken
    ) -> CubePlan | None:
        try:
            return WORKER.plan(settings, shape, token)
        except Cancelled:
            raise
        except DpdeskError as error:
            self._refused.put(plan_key(settings, shape), error.sentence)
            return None


def _simulated(study: BiasStudy, design: CubeDesign, token: CancelToken) -> tuple[Bias, ...]:
    """The bias of the base cuboid for each size; none where it is refused. Raises Cancelled."""
    base = (1 << len(study.shape)) - 1
    given = (
        study.shape,
        dict(study.own),
        design.settings.noise,
        [base],
        examples_of(study),
        dict(study.residuals),
        study.draws,
    )
    try:
        found = WORKER.run("bias", given, token)
    except Cancelled:
        raise
    except DpdeskError:
        return ()
    return tuple(found) if isinstance(found, list) else ()


# Before a budget is chosen: the ε for an accuracy, and what is known of a table.
#
# Shares of the budget do not depend on its size, so one plan serves every ε. No count of the data
# is behind any number here.

_DOUBLINGS, _HALVINGS = 24, 11


def table_names(settings: CubeSettings) -> tuple[str, ...]:
    """The published tables as people read them, in the order of the plan."""
    return tuple(name_of(settings, mask) for mask in settings.published)


def needed_budget(design: CubeDesign, place: int, wanted: float, token: CancelToken) -> Fraction:
    """The least ε or ρ with which 95 % of the cells of a table err by at most ``wanted``.

    ``place`` is the table's among the published ones, -1 for the least exact of all; rounded up to
    three digits. Somewhat more than the least where there are many single exact cells
    (:func:`pins_left_out`). Raises ValueError for a width that is not above 0, RefusedError
    ``cube.accuracy`` for one that no sane budget reaches, Cancelled.
    """
    if not wanted > 0:
        raise ValueError("the wanted error must be above 0")

    def reaches(budget: Fraction) -> bool:
        token.check()
        return _width(design, place, budget) <= wanted

    low = high = design.settings.budget
    for _ in range(_DOUBLINGS):
        if reaches(high):
            break
        low, high = high, high * 2
    else:
        raise _unreachable(design, place, high)
    for _ in range(_DOUBLINGS):
        if low < high and not reaches(low):
            break
        low, high = low / 2, low if reaches(low) else high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if reaches(middle) else (middle, high)
    unit = Fraction(10) ** (floor(log10(high)) - 2)
    return ceil(high / unit) * unit


def _unreachable(design: CubeDesign, place: int, budget: Fraction) -> RefusedError:
    sign = "ε" if design.settings.noise is Noise.LAPLACE else "ρ"
    unit, least = unit_of(design.channels[0]), _number(_width(design, place, budget))
    said = msg("No {sign} up to {budget:.3g} reaches this error", sign=sign, budget=float(budget))
    if moved_by_rounding(design.settings, design.plan):
        said = msg(
            "No {sign} reaches this error: rounding to whole numbers alone adds ± {least} {unit}",
            sign=sign,
            least=least,
            unit=unit,
        )
    return RefusedError("cube.accuracy", msg("{said}.", said=said), hint="Enter a larger error.")


def _width(design: CubeDesign, place: int, budget: Fraction) -> float:
    """± 95 % of a cell of a table with this budget and the design's plan."""
    settings = replace(design.settings, budget=budget)
    channel = make_channels(settings, design.plan)[0]
    variances = released_variances(settings, channel, pinned=not pins_left_out(settings))
    widths = released_widths(settings, channel.plan, variances, float(channel.unit))
    return max(widths) if place < 0 else widths[place]


def table_detail(design: CubeDesign, mask: int) -> Detail | None:
    """What is known of a published table before it exists: its error, and where it comes from."""
    settings = design.settings
    if mask not in settings.published:
        return None
    place, unit = settings.published.index(mask), unit_of(design.channels[0])
    variance = design.errors[0].variances[place]
    deviation = sqrt(variance)
    name, shape = name_of(settings, mask), design.plan.shape
    width = released_width(settings, design.plan, mask, variance, float(design.channels[0].unit))
    own = [source for source in design.plan.sources if source.cuboid == mask]
    share = sum((source.share for source in own), Fraction(0))
    said = "It has noise of its own" if own else "It is computed from other tables"
    measures: list[list[Cell]] = [
        [
            msg("± of the {measure} ({unit})", measure=one.name, unit=one.unit),
            round(one.widths[place], 3),
        ]
        for one in several(design.measures)
    ]
    numbers = table_from(
        ["Figure", "Value"],
        [
            ["Cells", cells(mask, shape)],
            [msg("Standard deviation of a cell ({unit})", unit=unit), round(deviation, 3)],
            [
                msg("{width} ({unit})", width=WIDTH_AXES[settings.covered], unit=unit),
                round(width, 3),
            ],
            *measures,
            ["Share of the budget (%)", round(100 * float(share), 3) if own else None],
        ],
    )
    return Detail(
        title=msg("How accurate is {table}?", table=name),
        sentence=msg(
            "± {width} {unit} {often}. {said}.",
            width=_number(width),
            unit=unit,
            often=in_cells(settings),
            said=said,
        ),
        parts=(
            DetailPart("Error", numbers),
            DetailPart("Computed from", _sources(design, mask), _SOURCES_NOTE),
        ),
        confidential=False,
    )


_SOURCES_NOTE = (
    "Tables with noise that contain all dimensions of this one; the fewer of their cells are "
    "added up, the more they say."
)


def _sources(design: CubeDesign, mask: int) -> ChartTable:
    shape = design.plan.shape
    holding = [source for source in design.plan.sources if not mask & ~source.cuboid]
    order = sorted(holding, key=lambda source: magnification(mask, source.cuboid, shape))
    return table_from(
        ["Table with noise", "Cells added up", "Share of the budget"],
        [
            [
                name_of(design.settings, source.cuboid),
                magnification(mask, source.cuboid, shape),
                format_figure(float(source.share), "share"),
            ]
            for source in order
        ],
    )


# One example cell: what it could be released as, in equally likely values.
#
# The true size is an example that somebody types, never a count of the data.

DOTS = 50
_COLUMNS = 14
_HEADROOM = 1.3
_RELEASED = {
    Covered.RELEASED: "in 95 % of the cases it is released as",
    Covered.WITH_NEGATIVES: "before negative numbers are removed, in 95 % of the cases it is",
    Covered.LEAST_SQUARES: "if tables agreed by least squares, in 95 % of the cases it would be",
}


def example_cell(design: CubeDesign, place: int, size: float) -> ScatterChart:
    """Fifty dots for a cell of the published table at ``place`` that truly holds ``size``.

    Of the first measure; where that is an average, of the count behind it.
    """
    settings, number = design.settings, _told(design)
    channel = design.channels[number]
    place = place if 0 <= place < len(settings.published) else len(settings.published) - 1
    mask, variance = settings.published[place], design.errors[number].variances[place]
    unit, step = unit_of(channel), float(channel.unit)
    values = size + sqrt(variance) * _quantiles(design, mask)
    width = released_width(settings, design.plan, mask, variance, step)
    across, along = _stacked(values)
    cell = msg(
        "a cell of {name_of} that truly holds {number} {unit}",
        name_of=name_of(settings, mask),
        number=_number(size),
        unit=unit,
    )
    return ScatterChart(
        id="cube-example",
        question=msg("What could {cell} be released as?", cell=cell),
        answer=(
            msg(
                "Each dot is one case in {dots}: {released} {number} to {number2} (± "
                "{number3}{share}). The size is your example; nothing was counted.",
                dots=DOTS,
                released=_RELEASED[settings.covered],
                number=_number(size - width),
                number2=_number(size + width),
                number3=_number(width),
                share=_share(width, size),
            )
        ),
        x_axis=Axis("Released value", unit),
        y_axis=Axis("One dot: one case in 50", minimum=0.0, maximum=_top(along), bare=True),
        series=(PointSeries("One case in 50", across, along, look=SeriesStyle.FIRST),),
        table=table_from(
            ["Case", msg("Released value ({unit})", unit=unit), "Chance of less (%)"],
            [
                [number + 1, round(value, 2), round(100 * (number + 0.5) / DOTS, 1)]
                for number, value in enumerate(values.tolist())
            ],
        ),
        x_limit=size,
        x_limit_label=msg("example: {size}", size=_number(size)),
        short="Example cell",
    )


def _told(design: CubeDesign) -> int:
    """The place of the channel whose cells somebody can have an idea of."""
    kinds = [channel.measure.kind for channel in design.channels]
    return next((at for at, kind in enumerate(kinds) if kind in (COUNT, SUM)), 0)


def _quantiles(design: CubeDesign, mask: int) -> Floats:
    """Of the noise, in units of its deviation; normal ones where exact tables are part of it."""
    if design.settings.part is None:
        return noise_quantiles(design.plan, mask, DOTS)
    places = (np.arange(DOTS) + 0.5) / DOTS
    return np.array([NormalDist().inv_cdf(place) for place in places.tolist()])


def _stacked(values: Floats) -> tuple[Floats, Floats]:
    """Dots in columns, one upon the other, as places of a plot."""
    low, high = float(values[0]), float(values[-1])
    width = (high - low) / _COLUMNS or 1.0
    columns = np.minimum(((values - low) / width).astype(np.int64), _COLUMNS - 1)
    heights = np.array([np.count_nonzero(columns[:at] == columns[at]) for at in range(len(values))])
    return low + (columns + 0.5) * width, heights + 0.5


def _top(heights: Floats) -> float:
    """The end of the axis, with room above all dots for what is written next to the line."""
    return float(heights.max()) * _HEADROOM


def _share(width: float, size: float) -> str:
    if size <= 0:
        return ""
    return msg(", {width} of the example", width=format_figure(width / size, "share"))


def _number(value: float) -> str:
    return format_figure(float(value), "number" if abs(value) < 1000 else "count")


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
            notes=(*design.notes, Note("cube.planned", PLANNED)),
            pending=pending,
        )

    def refused(self, parameters: _Values, error: DpdeskError) -> ExplorationView | None:
        """See :meth:`FixableExploration.refused`: the lattice, so that it can be fixed there."""
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
        """The lattice where no design can be made, so that the choice can be fixed there."""
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
    view = unusable(error, lattice)
    if view.at != "exact":
        return view
    return replace(view, remedy={"exact": None}, remedy_label="Publish nothing exactly")


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
