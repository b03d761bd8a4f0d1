"""Which cuboids of a design get noise: the planner that the settings name, asked as they say."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil, isqrt

from dpdesk.core.cube_parameters import COUNT
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.engine.cubes.exact.planned import without_exact
from dpdesk.engine.cubes.mechanism import RowEffect
from dpdesk.engine.cubes.plans import CubePlan
from dpdesk.engine.cubes.settings import CubeSettings
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
        from dpdesk.engine.cubes.planners.simple import plan_all, plan_base

        if settings.planner == "all":
            return plan_all(shape, published, noise)
        return plan_base(shape, published, noise, settings.forbidden)
    if settings.planner == "bmax":
        from dpdesk.engine.cubes.planners.bmax import plan_bmax

        return plan_bmax(shape, published, noise, token, report, settings.forbidden)
    if settings.planner == "exact":
        from dpdesk.engine.cubes.planners.exact import plan_exact

        return plan_exact(shape, published, noise, token, report, forbidden=settings.forbidden)
    if settings.planner == "optimal":
        return _optimal(settings, shape, token, report)
    from dpdesk.engine.cubes.planners.pmost import plan_pmost

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
