"""The error of each planner, for any budget: exact, from plans and noise parameters alone.

Shares of the budget do not depend on its size, but for PMost, whose threshold is an absolute
variance. So a plan is made once, and its error is computed anew for every budget: the ± does not
quite scale with 1/ε, because released numbers are whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil, floor, log10

import numpy as np

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.cubes.channels import make_channels
from dpdesk.engine.cubes.lattice import Floats
from dpdesk.engine.cubes.plans import CubePlan
from dpdesk.engine.cubes.settings import CubeSettings
from dpdesk.engine.methods.dp_cube.errors import pins_left_out, released_variances
from dpdesk.engine.methods.dp_cube.widths import released_widths
from dpdesk.engine.private.kinds import Noise

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
        found.append(_largest(settings, plan_at(budget), budget))
    return np.array(found)


def _largest(settings: CubeSettings, plan: CubePlan, budget: Fraction) -> float:
    return widths_at(settings, plan, budget).largest
