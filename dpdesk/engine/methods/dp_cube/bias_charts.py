"""What “No negative numbers” and “Whole numbers” would do, before anybody chooses them.

Simulated with noise alone on invented tables, so that choosing after a look costs no budget.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import log10, prod, sqrt

import numpy as np

from dpdesk.core.charts import (
    MOST_DRAWN,
    Axis,
    BarChart,
    BarSeries,
    ChartTable,
    LatticeChart,
    PointSeries,
    ScatterChart,
    SeriesStyle,
    format_figure,
    table_from,
)
from dpdesk.core.cube_parameters import ACCURACY, AVERAGE, CuboidChoice
from dpdesk.core.errors import InputError
from dpdesk.core.messages import counted, joined, msg
from dpdesk.engine.cubes.channels import Channel
from dpdesk.engine.cubes.consistency.integral import MOST_EXAMPLE_CELLS, Bias, CellErrors, Example
from dpdesk.engine.cubes.lattice import Floats, cell_variances, information, magnification
from dpdesk.engine.cubes.settings import Covered, CubeSettings
from dpdesk.engine.methods.dp_cube.charts import OFTEN, WIDTH_AXES, WIDTH_HEADS, name_of, unit_of
from dpdesk.engine.methods.dp_cube.design import CubeDesign, declare_all
from dpdesk.engine.methods.dp_cube.errors import NAMES, Errors, PlannerErrors, pins_left_out
from dpdesk.engine.methods.dp_cube.widths import released_widths, widths_of_lattice
from dpdesk.engine.private.kinds import Noise
from dpdesk.engine.private.method import PrivateInput

# The lattice of a design: every cuboid, published or possible, with its expected error.
#
# Nothing here depends on the data. Where no budget is chosen yet, errors are those of ε = 1 (ρ = 1
# with Gaussian noise), from which all others follow.


LATTICE = "cube-lattice"
QUESTION = "Which tables are published, and how accurate is each?"
SHORT = "Lattice of tables"
MOST_IN_LIST = 2_000
_OPENS = "its error and its sources"


def lattice_of_design(design: CubeDesign, *, supposed: bool = False) -> LatticeChart:
    """The lattice with the expected errors of a design, those of its first measure."""
    settings, channel = design.settings, design.channels[0]
    listed = _listed(settings, [source.cuboid for source in design.plan.sources])
    variances = _variances(settings, channel, design.errors[0], listed)
    shares: dict[int, float] = {}
    for source in design.plan.sources:
        shares[source.cuboid] = shares.get(source.cuboid, 0.0) + float(source.share)
    widths = widths_of_lattice(settings, design.plan, variances, float(channel.unit))
    budget = f"{'ε' if settings.noise is Noise.LAPLACE else 'ρ'} = {float(settings.budget):g}"
    chart = LatticeChart(
        id=LATTICE,
        question=QUESTION,
        answer=_lattice_answer(design, supposed=supposed),
        choice=_choice(settings),
        shape=design.plan.shape,
        widths=widths,
        deviations=np.sqrt(variances),
        shares=shares,
        listed=listed,
        unit=unit_of(channel),
        width_head=WIDTH_HEADS[settings.covered],
        budget_words=budget,
        supposed=supposed,
        weighted=_weighted(settings),
        exact=_exact(settings, listed),
        minimal_change=settings.part.generic.l1 if settings.part else 0,
        short=SHORT,
        opens=_OPENS,
    )
    _ = chart.table, chart.ramp  # made here, where nobody waits for it
    return chart


def lattice_without_errors(given: PrivateInput) -> LatticeChart | None:
    """The lattice of settings of which no design can be made; None where they cannot be read."""
    try:
        settings = CubeSettings.from_parameters(given.parameters, given.where)
        shape = declare_all(settings, given).domain.shape
    except InputError:
        return None
    listed, choice = _listed(settings, []), _choice(settings)
    return LatticeChart(
        id=LATTICE,
        question=QUESTION,
        answer=msg(
            "{tables} chosen; their errors cannot be planned in this way.",
            tables=_tables(len(settings.published)),
        ),
        choice=choice,
        shape=shape,
        widths=np.empty(0),
        deviations=np.empty(0),
        shares={},
        listed=listed,
        unit="people",
        weighted=_weighted(settings),
        exact=frozenset(one for one in listed if choice.exact_above(one) is not None),
        short=SHORT,
        opens=_OPENS,
    )


def _listed(settings: CubeSettings, sources: Sequence[int]) -> tuple[int, ...]:
    """All cuboids of a small lattice, else those that the settings or the plan speak of."""
    count = len(settings.dimensions)
    found: Iterable[int] = range(1 << count)
    if 1 << count > MOST_DRAWN:
        named = [*sources, *settings.exact, *settings.exact_cells]
        named += [*settings.forbidden, *settings.weights, *settings.targets]
        rest = sorted(settings.published, key=_by_size)[: max(0, MOST_IN_LIST - len(named))]
        found = {*named, *rest}
    return tuple(sorted(found, key=_by_size))


def _by_size(mask: int) -> tuple[int, int]:
    return mask.bit_count(), mask


def _variances(
    settings: CubeSettings, channel: Channel, errors: Errors, listed: Sequence[int]
) -> Floats:
    """Variance of a cell of every cuboid, shape (2^d,); NaN where it was not worked out.

    Infinite where the tables with noise do not tell a cuboid.
    """
    shape, scale = channel.plan.shape, float(channel.unit) ** 2
    if settings.consistency == "none" and not settings.residuals:
        found = np.full(1 << len(shape), np.nan)
        for mask in listed:
            found[mask] = scale * _from_best(mask, channel)
    else:
        known = information(channel.own_information(), shape) + channel.residual_information()
        if channel.exact is not None:
            known[channel.exact.fixed] = np.inf
        found = cell_variances(known, shape) * scale
    found[list(settings.published)] = errors.variances
    return found


def _from_best(mask: int, channel: Channel) -> float:
    if channel.exact is not None and channel.exact.gives(mask):
        return 0.0
    pairs = zip(channel.plan.sources, channel.variances, strict=True)
    holding = [
        variance * magnification(mask, source.cuboid, channel.plan.shape)
        for source, variance in pairs
        if not mask & ~source.cuboid
    ]
    return min(holding, default=float("inf"))


def _choice(settings: CubeSettings) -> CuboidChoice:
    return CuboidChoice(
        settings.dimensions,
        None,
        settings.published,
        tuple(sorted(settings.forbidden)),
        settings.weights,
        settings.targets,
        settings.exact,
        settings.exact_cells,
    )


def _weighted(settings: CubeSettings) -> bool:
    """Whether the planner looks at weights."""
    if settings.planner == "optimal":
        return settings.objective != "targets"
    return settings.planner == "pmost"


def _lattice_answer(design: CubeDesign, *, supposed: bool) -> str:
    settings = design.settings
    exact = _exact(settings, settings.published)
    step = float(design.channels[0].unit)
    widths = released_widths(settings, design.plan, design.errors[0].variances, step)
    pairs = zip(settings.published, widths, strict=True)
    noisy = {mask: width for mask, width in pairs if mask not in exact}
    count, every = len(settings.published), 1 << len(settings.dimensions)
    which = (
        msg("All {tables} published", tables=_tables(every))
        if count == every
        else msg("{tables} of {every:,} published", tables=_tables(count), every=every)
    )
    if settings.part is not None:
        which += msg(" ({exact:,} exactly", exact=len(exact)) if exact else " (some cells exactly"
        which += msg(", noise for a minimal change of size {l:,})", l=settings.part.generic.l1)
    if not noisy:
        return msg("{which}; no noise is in any of them.", which=which)
    worst = max(noisy, key=lambda mask: noisy[mask])
    sign = "ε" if settings.noise is Noise.LAPLACE else "ρ"
    said = msg(
        "{which}, {span} {often} at {sign} = {budget:g}; least accurate: {name_of}.",
        which=which,
        span=_span(design, noisy.values()),
        often=OFTEN[settings.covered],
        sign=sign,
        budget=float(settings.budget),
        name_of=name_of(settings, worst),
    )
    if not supposed:
        return said
    law = "1/ε" if settings.noise is Noise.LAPLACE else "1/√ρ"
    return msg(
        "{said} No {sign} is chosen yet: for any other, multiply by {law}.",
        said=said,
        sign=sign,
        law=law,
    )


def _span(design: CubeDesign, widths: Collection[float]) -> str:
    """The least and the largest ± in words."""
    low, high = (
        format_figure(float(f"{value:.3g}"), "number") for value in (min(widths), max(widths))
    )
    unit = unit_of(design.channels[0])
    if low == high:
        return msg("± {size} {unit}", size=high, unit=unit)
    return msg("± {low} to ± {high} {unit}", low=low, high=high, unit=unit)


def _exact(settings: CubeSettings, cuboids: Iterable[int]) -> frozenset[int]:
    """Those of some cuboids that follow from what is released exactly."""
    part = settings.part
    return frozenset(mask for mask in cuboids if part is not None and part.gives(mask))


def _tables(count: int) -> str:
    return counted("{n:,} table", "{n:,} tables", n=count)


# Before a budget is chosen: planners side by side, and their error against the budget.
#
# No count of the data is behind any number here.


BUDGETS, PLANNERS = "cube-budgets", "cube-planners"
MOST_CURVES = 4
_LOOKS = (SeriesStyle.FIRST, SeriesStyle.SECOND, SeriesStyle.THIRD, SeriesStyle.FOURTH)
_AT_MOST = "Each ± is at most this: what the single exact cells reveal is left out."
_LARGEST = {
    Covered.RELEASED: "Largest ± in 95 % of a table's cells",
    Covered.WITH_NEGATIVES: "Largest ± before negative numbers are removed",
    Covered.LEAST_SQUARES: "Largest ± by least squares",
}
_ALIKE = 0.005
"""Curves that differ by no more than this part are drawn as one."""


def error_by_budget(
    settings: CubeSettings,
    budgets: Sequence[Fraction],
    found: Sequence[PlannerErrors],
    unit: str,
    *,
    decided: bool,
    coming: Sequence[str] = (),
) -> ScatterChart:
    """The largest error against the budget, a line for each planner; the chosen one first.

    Without a ``decided`` budget there is no line at one. ``coming`` are planners that are still
    being computed.
    """
    sign, now = _sign(settings), float(settings.budget)
    places = np.array([float(budget) for budget in budgets])
    groups = _alike(found)
    shown, hidden = groups[:MOST_CURVES], groups[MOST_CURVES:]
    own = found[0]
    chart = ScatterChart(
        id=BUDGETS,
        question=msg("How large is the error at each {sign}?", sign=sign),
        answer=_sentences(
            _budget_answer(f"{sign} = {now:g}", own, found, unit, decided),
            _bound(settings),
            _left(hidden, coming),
        ),
        x_axis=Axis(msg("Privacy loss {sign}", sign=sign), "smaller protects more", log=True),
        y_axis=Axis(_LARGEST[settings.covered], unit, log=True),
        series=tuple(
            PointSeries(
                _named(group),
                places,
                group[0].curve,
                look=look,
                joined=True,
                labels=_label_at(_named(group), number, len(places)),
            )
            for number, (look, group) in enumerate(zip(_LOOKS, shown, strict=False))
        ),
        table=_budget_table(sign, places, found, unit),
        short=msg("Error by {sign}", sign=sign),
    )
    return _with_lines(chart, sign, now, own.now.largest, unit) if decided else chart


def _with_lines(
    chart: ScatterChart, sign: str, now: float, error: float, unit: str
) -> ScatterChart:
    """Lines at the chosen budget and its error, both of which can be dragged."""
    return replace(
        chart,
        x_limit=now,
        x_limit_label=f"{sign} = {now:g}",
        x_limit_key="epsilon" if sign == "ε" else "rho",
        y_limit=error,
        y_limit_label=msg("± {size} {unit}", size=_noise_number(error), unit=unit),
        y_limit_key=ACCURACY,
    )


def _alike(found: Sequence[PlannerErrors]) -> list[list[PlannerErrors]]:
    """Planners by curves that look the same: the chosen one's first, then the most exact first."""
    groups: list[list[PlannerErrors]] = []
    for one in (found[0], *sorted(found[1:], key=lambda each: each.now.largest)):
        near = (group for group in groups if np.allclose(group[0].curve, one.curve, rtol=_ALIKE))
        group = next(near, None)
        if group is None:
            groups.append([one])
        else:
            group.append(one)
    return groups


def _named(group: Sequence[PlannerErrors]) -> str:
    return " = ".join(one.name for one in group)


def _label_at(name: str, number: int, places: int) -> tuple[str, ...]:
    """The name beside its curve, each at another place so that none lies on the next."""
    at = round((number + 0.6) / (MOST_CURVES + 0.5) * (places - 1))
    return tuple(name if place == at else "" for place in range(places))


def _sentences(*said: str) -> str:
    return joined(said)


def _bound(settings: CubeSettings) -> str:
    """What to say where errors are upper bounds."""
    return _AT_MOST if pins_left_out(settings) else ""


def _left(hidden: Sequence[Sequence[PlannerErrors]], coming: Sequence[str]) -> str:
    said = []
    if hidden:
        names = ", ".join(_named(group) for group in hidden)
        said.append(msg("Not drawn, but in the table: {names}.", names=names))
    if coming:
        said.append(
            msg("Not computed yet: {names}.", names=", ".join(NAMES[name] for name in coming))
        )
    return joined(said)


def _budget_answer(
    at: str, own: PlannerErrors, found: Sequence[PlannerErrors], unit: str, decided: bool
) -> str:
    width = _noise_number(own.now.largest)
    if not decided:
        return msg(
            "Nothing is chosen yet: with {at}, for instance, {planner} would have ± {width} "
            "{unit} in its least accurate table.",
            at=at,
            planner=own.name,
            width=width,
            unit=unit,
        )
    said = msg(
        "At {at}, {name} has ± {width} {unit} in its least accurate table",
        at=at,
        name=own.name,
        width=width,
        unit=unit,
    )
    best = min(found, key=lambda one: one.now.largest)
    if best is own or best.now.largest > (1 - _ALIKE) * own.now.largest:
        return msg("{said}; no planner shown here has less.", said=said)
    return msg(
        "{said}; {name} would have ± {number}.",
        said=said,
        name=best.name,
        number=_noise_number(best.now.largest),
    )


def _budget_table(
    sign: str, places: Floats, found: Sequence[PlannerErrors], unit: str
) -> ChartTable:
    return table_from(
        [sign, *(msg("{planner}, ± ({unit})", planner=one.name, unit=unit) for one in found)],
        [
            [float(f"{place:.3g}"), *(float(f"{one.curve[row]:.4g}") for one in found)]
            for row, place in enumerate(places.tolist())
        ],
    )


def planners_side_by_side(
    settings: CubeSettings,
    found: Sequence[PlannerErrors],
    unit: str,
    *,
    decided: bool,
    coming: Sequence[str] = (),
) -> BarChart:
    """All planners for one budget: the error of their least exact table and of the middle one."""
    sign = _sign(settings)
    order = sorted(found, key=lambda one: one.now.largest)
    best, own = order[0], found[0]
    at = f"{sign} = {float(settings.budget):g}"
    at = at if decided else msg("{at}, as an example", at=at)
    if best is own:
        said = msg(
            "At {at}, {name}, which is chosen, has the smallest largest error", at=at, name=own.name
        )
    else:
        said = msg(
            "At {at}, {name} has the smallest largest error, ± {number} {unit}; "
            "{name2}, which is chosen, has ± {number2}",
            at=at,
            name=best.name,
            number=_noise_number(best.now.largest),
            unit=unit,
            name2=own.name,
            number2=_noise_number(own.now.largest),
        )
    return BarChart(
        id=PLANNERS,
        question="Which planner is the most accurate?",
        answer=_sentences(msg("{said}.", said=said), _bound(settings), _left((), coming)),
        category_axis=Axis("Planner"),
        value_axis=Axis(WIDTH_AXES[settings.covered], unit, minimum=0.0),
        categories=tuple(
            msg("{planner} (chosen)", planner=one.name) if one is own else one.name for one in order
        ),
        series=(
            BarSeries("Least accurate table", tuple(one.now.largest for one in order)),
            BarSeries("Median table", tuple(one.now.middle for one in order), SeriesStyle.SECOND),
        ),
        table=table_from(
            ["Planner", msg("Largest ± ({unit})", unit=unit), msg("Middle ± ({unit})", unit=unit)],
            [[one.name, round(one.now.largest, 3), round(one.now.middle, 3)] for one in order],
        ),
        horizontal=True,
        short="Planners",
    )


def _sign(settings: CubeSettings) -> str:
    return "ε" if settings.noise is Noise.LAPLACE else "ρ"


def _noise_number(value: float) -> str:
    return format_figure(float(value), "number" if value < 1000 else "count")


BIAS = "cube-bias"
FILLED = 0.2
"""Share of the base cells that hold somebody in the invented tables."""

_MULTIPLES = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
_DRAWN_CELLS = 40_000
_MOST_DRAWS, _LEAST_DRAWS = 200, 4
_ASSUMED = "Assumes an invented table: one cell in five holds this many, the others nothing."


@dataclass(frozen=True)
class BiasStudy:
    """What to simulate: all of it follows from the settings. Sizes are in steps of the measure."""

    shape: tuple[int, ...]
    own: tuple[tuple[int, float], ...]
    residuals: tuple[tuple[int, float], ...]
    sizes: tuple[float, ...]
    draws: int


def study_of(design: CubeDesign) -> BiasStudy | None:
    """The simulation of a design; None where the choice is not offered or nothing is known.

    It needs least squares, a noise source with all dimensions, and at most
    :data:`~dpdesk.engine.cubes.consistency.integral.MOST_EXAMPLE_CELLS` base cells.
    """
    channel, shape = design.channels[0], design.plan.shape
    base = (1 << len(shape)) - 1
    sources = {source.cuboid for source in design.plan.sources}
    if design.settings.consistency != "l2" or base not in sources or not _offered(design):
        return None
    if prod(shape) > MOST_EXAMPLE_CELLS or base not in design.settings.published:
        return None
    draws = max(_LEAST_DRAWS, min(_MOST_DRAWS, _DRAWN_CELLS // prod(shape)))
    return BiasStudy(
        shape,
        _filled(channel.own_information()),
        _filled(channel.residual_information()),
        _sizes(sqrt(_base_variance(design)) / float(channel.unit)),
        draws,
    )


def _offered(design: CubeDesign) -> bool:
    """Whether the settings may ask for it: counts, and sums of values of 0 or more, none exact."""
    return design.settings.part is None and all(
        one.kind != AVERAGE and one.lower >= 0 and one.step.denominator == 1
        for one in design.settings.measures
    )


def _base_variance(design: CubeDesign) -> float:
    base = (1 << len(design.plan.shape)) - 1
    return design.errors[0].variances[design.settings.published.index(base)]


def _filled(information: Floats) -> tuple[tuple[int, float], ...]:
    return tuple((int(mask), float(information[mask])) for mask in np.flatnonzero(information))


def _sizes(deviation: float) -> tuple[float, ...]:
    """Round sizes up to some standard deviations, whole ones: nobody is half a person."""
    found = {max(1.0, _rounded(deviation * times)) for times in _MULTIPLES}
    return tuple(sorted(found))


def _rounded(value: float) -> float:
    if value < 1:
        return 1.0
    places = max(0, int(log10(value)) - 1)
    return float(round(value, -places))


def examples_of(study: BiasStudy) -> list[Example]:
    """The invented tables, one for each size."""
    return [Example(FILLED, size) for size in study.sizes]


def bias_chart(design: CubeDesign, found: Sequence[Bias]) -> ScatterChart:
    """Mean and typical error of a base cell by its true size, with and without the choices."""
    channel = design.channels[0]
    unit, step = unit_of(channel), float(channel.unit)
    sizes = np.array([each.example.value for each in found]) * step
    cleaned = [each.choices[1] for each in found]
    off = np.array([each.other for each in cleaned]) * step
    empty = np.array([each.empty for each in cleaned]) * step
    typical = np.array([each.spread_other for each in cleaned]) * step
    without = np.full(len(found), sqrt(_base_variance(design)))
    names = (
        "Bias of cells of this size",
        "Bias of empty cells",
        "Typical error with it",
        "Typical error without",
    )
    looks = (SeriesStyle.FIRST, SeriesStyle.SECOND, SeriesStyle.THIRD, SeriesStyle.REFERENCE)
    curves = (off, empty, typical, without)
    return ScatterChart(
        id=BIAS,
        question="What would “No negative numbers” do to the cells?",
        answer=joined([_answer(design, found, channel), _ASSUMED]),
        x_axis=Axis("True size of the filled cells of an invented table", unit, minimum=0.0),
        y_axis=Axis("Error of a cell of the finest table", unit),
        series=tuple(
            PointSeries(
                name,
                sizes,
                curve,
                look=look,
                joined=True,
                labels=_named_at(name, place, len(sizes)),
            )
            for place, (name, curve, look) in enumerate(zip(names, curves, looks, strict=True))
        ),
        table=_table(found, unit, step),
        short="Bias",
    )


def _named_at(name: str, place: int, count: int) -> tuple[str, ...]:
    """Names beside the curves, each at another place so that none lies on the next."""
    at = round((0.5, 0.65, 0.15, 0.85)[place] * (count - 1))
    return tuple(name if number == at else "" for number in range(count))


def _answer(design: CubeDesign, found: Sequence[Bias], channel: Channel) -> str:
    """The mean error of small cells, and the typical one, with and without."""
    middle = found[len(found) // 2]
    size, step = middle.example.value * float(channel.unit), float(channel.unit)
    cleaned = middle.choices[1]
    choice = (
        "With “No negative numbers”"
        if design.settings.nonnegative
        else "If you choose “No negative numbers”"
    )
    after, before = cleaned.spread_other * step, sqrt(_base_variance(design))
    return msg(
        "{choice}, empty cells are {empty} too large on average and cells of {size} {unit} {less} "
        "(typical error {after} instead of {before}). “Whole numbers” adds no bias.",
        choice=choice,
        empty=_number(cleaned.empty * step),
        size=_number(size),
        unit=unit_of(channel),
        less=_less(cleaned.other * step),
        after=_number(after),
        before=_number(before),
    )


def _less(value: float) -> str:
    return msg(
        "{number} too {value}", number=_number(abs(value)), value="small" if value < 0 else "large"
    )


def _table(found: Sequence[Bias], unit: str, step: float) -> ChartTable:
    words = ("as they are", "no negative numbers", "whole numbers", "both")
    heads = [msg("True size ({unit})", unit=unit)]
    for choice in words:
        heads += [
            msg("Bias, empty cells: {choice}", choice=choice),
            msg("Bias: {choice}", choice=choice),
            msg("Typical error: {choice}", choice=choice),
        ]
    return table_from(heads, [_row(each, step) for each in found])


def _row(found: Bias, step: float) -> list[float]:
    row = [found.example.value * step]
    for choice in found.choices:
        row += [_three(value * step) for value in _figures(choice)]
    return row


def _figures(choice: CellErrors) -> tuple[float, float, float]:
    return choice.empty, choice.other, choice.spread_other


def _three(value: float) -> float:
    return float(f"{value:.3g}")


def _number(value: float) -> str:
    return format_figure(_three(value), "number")
