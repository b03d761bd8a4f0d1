"""Which cuboids of a design get noise: the planner that the settings name, asked as they say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, isqrt
from threading import Lock
from typing import Generic, TypeVar

from dpdesk.core.cube_parameters import COUNT
from dpdesk.core.jobs import CancelToken, Report, silent
from dpdesk.engine.cubes.exact.planned import without_exact
from dpdesk.engine.cubes.lattice import CubePlan, Floats
from dpdesk.engine.cubes.mechanism import RowEffect
from dpdesk.engine.cubes.settings import CubeSettings
from dpdesk.engine.methods.dp_cube.errors import (
    PlannerErrors,
    budgets_around,
    error_curve,
    widths_at,
)
from dpdesk.engine.private.kinds import Noise, bounds_in_steps

_HARDLY = 1000


def noise_plan(
    settings: CubeSettings, shape: tuple[int, ...], token: CancelToken, report: Report
) -> CubePlan:
    """The noise sources that the plan's planner chooses for all tables that are not exact."""
    plan = _chosen(without_exact(settings), shape, token, report)
    return plan if settings.part is None else replace(plan, exact=settings.part.whole)


def _chosen(
    settings: CubeSettings, shape: tuple[int, ...], token: CancelToken, report: Report
) -> CubePlan:
    published, noise = settings.published, settings.noise
    if settings.planner in ("all", "base"):
        from dpdesk.engine.cubes.planners import plan_all, plan_base

        if settings.planner == "all":
            return plan_all(shape, published, noise)
        return plan_base(shape, published, noise, settings.forbidden)
    if settings.planner == "bmax":
        from dpdesk.engine.cubes.planners import plan_bmax

        return plan_bmax(shape, published, noise, token, report, settings.forbidden)
    if settings.planner == "exact":
        from dpdesk.engine.cubes.planners import plan_exact

        return plan_exact(shape, published, noise, token, report, forbidden=settings.forbidden)
    if settings.planner == "optimal":
        return _optimal(settings, shape, token, report)
    from dpdesk.engine.cubes.planners import plan_pmost

    return plan_pmost(
        shape,
        published,
        noise,
        theta=settings.theta or Fraction(1),
        budget=settings.budget,
        sensitivity=_planned_sensitivity(settings),
        weights=settings.weights or None,
        forbidden=settings.forbidden,
        token=token,
        report=report,
    )


def _optimal(
    settings: CubeSettings, shape: tuple[int, ...], token: CancelToken, report: Report
) -> CubePlan:
    from dpdesk.engine.cubes.optimal.objectives import Goal
    from dpdesk.engine.cubes.optimal.planner import plan_optimal

    goals = {"average": Goal.SUM, "total": Goal.TOTAL}
    weights: dict[int, Fraction] = dict.fromkeys(settings.published, Fraction(1))
    weights.update(settings.weights)
    if settings.objective == "targets":
        # Tables without a target hardly matter, but each must come out at all.
        least = 1 / max(settings.targets.values()) / _HARDLY
        weights = dict.fromkeys(settings.published, least)
        weights.update({mask: 1 / target for mask, target in settings.targets.items()})
    # A minimal change beside exact tables moves rows where it keeps their number.
    moves = settings.part.generic.total_fixed if settings.part else settings.replace
    return plan_optimal(
        shape,
        settings.published,
        settings.noise,
        goal=goals.get(settings.objective, Goal.MAXIMUM),
        weights=weights,
        residuals=settings.residuals,
        replace=moves,
        exact=settings.part.whole if settings.part else (),
        forbidden=settings.forbidden,
        token=token,
        report=report,
    )


def _planned_sensitivity(settings: CubeSettings) -> Fraction:
    """Sensitivity of the first measure, in its units; an upper bound in L2, where it is no root."""
    measure = settings.measures[0]
    lowest, highest = (1, 1) if measure.kind == COUNT else bounds_in_steps(measure)
    generic = settings.part.generic if settings.part else None
    rows = settings.rows_per_person
    effect = RowEffect(lowest, highest, rows, settings.replace, generic).of_cuboid()
    if settings.noise is Noise.LAPLACE:
        return effect.l1 * measure.step
    return Fraction(isqrt(ceil(effect.l2_squared * 10**12)) + 1, 10**6) * measure.step


# Plans and error curves that were made already, by the settings on which they depend.
#
# The shares of a plan do not depend on the size of the budget, so whoever moves ε plans nothing
# anew.


MOST_KEPT = 256
_ONE = Fraction(1)
Shape = tuple[int, ...]
Made = TypeVar("Made")


class Kept(Generic[Made]):
    """The last things that were made, by a text; callable from any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._known: dict[str, Made] = {}

    def get(self, key: str) -> Made | None:
        """What was made for this text; None when nothing was, or long ago."""
        with self._lock:
            return self._known.get(key)

    def put(self, key: str, made: Made) -> Made:
        """Keep what was made, and return it."""
        with self._lock:
            while len(self._known) >= MOST_KEPT:
                del self._known[next(iter(self._known))]
            self._known[key] = made
        return made


class PlanShelf:
    """Makes each plan and each curve once."""

    def __init__(self) -> None:
        self._plans: Kept[CubePlan] = Kept()
        self._curves: Kept[Floats] = Kept()

    def knows(self, settings: CubeSettings, shape: Shape) -> bool:
        """Whether the plan of these settings is at hand."""
        return self._plans.get(plan_key(settings, shape)) is not None

    def keep(self, settings: CubeSettings, shape: Shape, plan: CubePlan) -> None:
        """Keep a plan that was made elsewhere."""
        self._plans.put(plan_key(settings, shape), plan)

    def plan(
        self, settings: CubeSettings, shape: Shape, token: CancelToken, report: Report = silent
    ) -> CubePlan:
        """What :func:`~.planning.noise_plan` makes; slow the first time."""
        key = plan_key(settings, shape)
        known = self._plans.get(key)
        return known or self._plans.put(key, noise_plan(settings, shape, token, report))

    def errors(self, settings: CubeSettings, shape: Shape, token: CancelToken) -> PlannerErrors:
        """The error of the settings' planner now and for all budgets around."""
        budgets = budgets_around(settings)

        def plan_at(budget: Fraction) -> CubePlan:
            return self.plan(replace(settings, budget=budget), shape, token)

        key = f"{plan_key(replace(settings, budget=_ONE), shape)} {_numbers(settings, budgets)}"
        curve = self._curves.get(key)
        if curve is None:
            curve = self._curves.put(key, error_curve(settings, plan_at, budgets, token))
        now = widths_at(settings, plan_at(settings.budget), settings.budget)
        return PlannerErrors(settings.planner, now, curve)


def plan_key(settings: CubeSettings, shape: Shape) -> str:
    """All that the plan of these settings depends on."""
    known: tuple[object, ...] = (settings.planner, shape, settings.published, settings.noise)
    known += (sorted(settings.forbidden), settings.exact, sorted(settings.exact_cells.items()))
    weights = sorted(settings.weights.items())
    if settings.planner == "optimal":
        targets = sorted(settings.targets.items())
        known += (settings.objective, weights, targets, settings.residuals, settings.replace)
    if settings.planner == "pmost":
        known += (settings.theta, settings.budget, weights, settings.replace)
        known += (settings.measures[0], settings.rows_per_person)
    return repr(known)


def _numbers(settings: CubeSettings, budgets: Sequence[Fraction]) -> str:
    """What the size of an error depends on besides."""
    known = (settings.measures, settings.rows_per_person, settings.replace, settings.consistency)
    return repr((*known, len(budgets), budgets[0]))
