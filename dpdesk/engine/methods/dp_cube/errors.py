"""Expected errors of a design in closed form: before and after consistency, in squared units."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil, floor, log10

import numpy as np

from dpdesk.core.cube_parameters import AVERAGE, COUNT
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.engine.cubes.channels import Channel, centred, make_channels
from dpdesk.engine.cubes.consistency.linear import pinned_variances
from dpdesk.engine.cubes.consistency.residual import cells_below
from dpdesk.engine.cubes.lattice import (
    CubePlan,
    Floats,
    cell_variances,
    cells,
    information,
    magnification,
)
from dpdesk.engine.cubes.settings import CubeSettings
from dpdesk.engine.methods.dp_cube.widths import released_widths, rounded
from dpdesk.engine.private.kinds import Measure, Noise
from dpdesk.engine.private.widths import half_width, step_of_average

MOST_AT_ONCE = 300_000
"""Single exact cells times cells of all tables up to which curves take them into account."""


@dataclass(frozen=True)
class Errors:
    """Errors of one channel in squared units of its measure.

    ``before`` is the paper's figure: the largest noise(C, L_pre) = min over sources of
    2 * scale^2 * mag (Gaussian: sigma^2 * mag). ``variances`` are exact, of one cell once tables
    agree and before it is made whole, by published cuboid in order; where single cells are exact,
    of the least exact one.
    """

    before: float
    variances: tuple[float, ...] = field(repr=False)


def expected_errors(settings: CubeSettings, channel: Channel) -> Errors:
    """See :class:`Errors`. With L1 and L-infinity consistency, variances are those of L2."""
    nominal = [_nominal(channel, number) for number in range(len(channel.spreads))]
    scale = float(channel.unit) ** 2
    variances = released_variances(settings, channel, pinned=True)
    if settings.residuals:  # a residual alone gives no table
        return Errors(max(variances), variances)
    before = max(_from_best(mask, channel, nominal) for mask in settings.published)
    return Errors(before * scale, variances)


def pins_left_out(settings: CubeSettings) -> bool:
    """Whether curves and budgets leave out what single exact cells tell, for it would take long."""
    part = settings.part
    direct = settings.consistency == "none" and not settings.residuals
    if part is None or not part.single or direct:
        return False
    below = cells_below(settings.published, part.known.shape)
    return len(part.single) * below > MOST_AT_ONCE


def released_variances(
    settings: CubeSettings, channel: Channel, *, pinned: bool = False
) -> tuple[float, ...]:
    """The exact variances alone; see :class:`Errors`.

    Unless ``pinned``, what single exact cells tell of others is left out, which takes long in large
    cubes: then the variances are bounds.
    """
    scale = float(channel.unit) ** 2
    if settings.consistency == "none" and not settings.residuals:
        variances = [_from_best(mask, channel, channel.variances) for mask in settings.published]
    else:
        known = information(channel.own_information(), channel.plan.shape)
        known += channel.residual_information()
        if channel.exact is not None:
            known[channel.exact.fixed] = np.inf
        found = cell_variances(known, channel.plan.shape)
        variances = np.asarray(found)[list(settings.published)].tolist()
        if pinned and channel.exact is not None and channel.exact.single:
            fewer = pinned_variances(
                known, channel.plan.shape, settings.published, channel.exact.single, CancelToken()
            )
            variances = [fewer[mask] for mask in settings.published]
    return tuple(value * scale for value in variances)


@dataclass(frozen=True)
class MeasureErrors:
    """The errors of one measure as published: ± 95 % by published table, in order.

    Those of an average are to be divided by ``n``, the number of people in the cell
    (``per_person``); they are bounds then. ``unit`` says what they are counted in.
    """

    name: str
    unit: str
    widths: tuple[float, ...] = field(repr=False)
    per_person: bool = False


def measure_errors(
    settings: CubeSettings, channels: Sequence[Channel], errors: Sequence[Errors]
) -> tuple[MeasureErrors, ...]:
    """The errors of every measure that is published, in the order of the plan."""
    found = {
        channel.measure: rounded(settings, channel.plan, each.variances, float(channel.unit))
        for channel, each in zip(channels, errors, strict=True)
    }
    made = []
    for measure in settings.measures:
        unit = msg("units of {column}", column=measure.column) if measure.column else "people"
        variances, step = found.get(measure), float(measure.step)
        if measure.kind == AVERAGE:
            half = float(measure.upper - measure.lower) / 2
            sums, counts = found[centred(measure)], found[Measure(COUNT)]
            both = tuple(of + half**2 * n for of, n in zip(sums, counts, strict=True))
            coarse = step_of_average(float(measure.lower), float(measure.upper), step)
            widths = tuple(half_width(settings.noise, value, coarse) for value in both)
            made.append(MeasureErrors(measure.name, f"{unit} / n", widths, per_person=True))
        elif variances is not None:
            widths = tuple(half_width(settings.noise, v, step) for v in variances)
            made.append(MeasureErrors(measure.name, unit, widths))
    return tuple(made)


def _nominal(channel: Channel, number: int) -> float:
    """The paper's variance of a source in grid steps: 2b^2, or sigma^2."""
    spread, source = float(channel.spreads[number]), channel.plan.sources[number]
    if channel.plan.noise is Noise.LAPLACE:
        return 2 * spread**2
    return spread / cells(source.cuboid, channel.plan.shape) ** 2 if source.residual else spread


def _from_best(mask: int, channel: Channel, variances: list[float] | tuple[float, ...]) -> float:
    """Smallest variance of a cell of ``mask`` when it is summed up from one source; 0 if exact."""
    plan = channel.plan
    if channel.exact is not None and channel.exact.gives(mask):
        return 0.0
    return min(
        (
            variance * magnification(mask, source.cuboid, plan.shape)
            for source, variance in zip(plan.sources, variances, strict=True)
            if not mask & ~source.cuboid
        ),
        default=float("inf"),
    )


# The error of each planner, for any budget: exact, from plans and noise parameters alone.
#
# Shares of the budget do not depend on its size, but for PMost, whose threshold is an absolute
# variance. So a plan is made once, and its error is computed anew for every budget: the ± does
# not quite scale with 1/ε, because released numbers are whole.


NAMES = {
    "bmax": "BMax",
    "pmost": "PMost",
    "all": "All",
    "base": "Base",
    "exact": "Exact",
    "optimal": "Optimal",
}
QUICK = ("bmax", "all", "base")
"""Planners that answer at once."""

SLOW = ("optimal", "exact")
"""Planners that may search for a minute: compared in the background."""

PLACES_PER_DECADE = 8
_DECADES = {Noise.LAPLACE: (-2.0, 0.5), Noise.GAUSSIAN: (-4.0, 0.0)}

PlanAt = Callable[[Fraction], CubePlan]


@dataclass(frozen=True, eq=False)
class Widths:
    """± 95 % of a planner's tables for one budget: of the least exact one and of the middle one."""

    largest: float
    middle: float


@dataclass(frozen=True, eq=False)
class PlannerErrors:
    """The error of one planner: ``now`` at the budget in question, ``curve`` at all ``budgets``."""

    planner: str
    now: Widths
    curve: Floats = field(repr=False)

    @property
    def name(self) -> str:
        """As people call it."""
        return NAMES[self.planner]


def budgets_around(settings: CubeSettings) -> tuple[Fraction, ...]:
    """Budgets at which curves are computed: whole decades that hold the settings' own."""
    first, last = _DECADES[settings.noise]
    own = log10(settings.budget)
    first, last = min(first, floor(own)), max(last, ceil(own))
    places = round((last - first) * PLACES_PER_DECADE) + 1
    return tuple(Fraction(f"{10.0**power:.6g}") for power in np.linspace(first, last, places))


def compared_settings(settings: CubeSettings, planner: str) -> CubeSettings:
    """The settings with another planner: without what only the chosen one knows."""
    own = planner == settings.planner
    if own:
        return settings
    objective = "maximum" if settings.planner != "optimal" else settings.objective
    return replace(settings, planner=planner, residuals=False, objective=objective)


def widths_at(settings: CubeSettings, plan: CubePlan, budget: Fraction) -> Widths:
    """The errors of a plan's tables with a budget, in the units of the first measure.

    Upper bounds where there are many single exact cells (:func:`pins_left_out`).
    """
    channel = make_channels(replace(settings, budget=budget), plan)[0]
    variances = released_variances(settings, channel, pinned=not pins_left_out(settings))
    widths = released_widths(settings, channel.plan, variances, float(channel.unit))
    return Widths(max(widths), float(np.median(widths)))


def error_curve(
    settings: CubeSettings, plan_at: PlanAt, budgets: Sequence[Fraction], token: CancelToken
) -> Floats:
    """± 95 % of the least exact table at each budget. Raises Cancelled."""
    found = []
    for budget in budgets:
        token.check()
        found.append(widths_at(settings, plan_at(budget), budget).largest)
    return np.array(found)
