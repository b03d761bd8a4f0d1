"""Plans and error curves that were made already, by the settings on which they depend.

The shares of a plan do not depend on the size of the budget, so whoever moves ε plans nothing anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from threading import Lock
from typing import Generic, TypeVar

from dpdesk.core.jobs import CancelToken, Report, silent
from dpdesk.engine.cubes.lattice import Floats
from dpdesk.engine.cubes.plans import CubePlan
from dpdesk.engine.cubes.settings import CubeSettings
from dpdesk.engine.methods.dp_cube.planner_errors import (
    PlannerErrors,
    budgets_around,
    error_curve,
    widths_at,
)
from dpdesk.engine.methods.dp_cube.planning import noise_plan

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
