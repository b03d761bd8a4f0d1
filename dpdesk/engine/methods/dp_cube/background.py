"""What is worth waiting for beside a design: slow planners, and the bias of clean numbers.

All of it follows from the settings, none of it from data. It is made one thing after another, in a
process of its own that can be ended at any time.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from dpdesk.core.charts import Chart
from dpdesk.core.errors import Cancelled, DpdeskError
from dpdesk.core.jobs import CancelToken, Report, StepStarted
from dpdesk.core.messages import msg
from dpdesk.engine.cubes.consistency.bias import Bias
from dpdesk.engine.cubes.plans import CubePlan
from dpdesk.engine.cubes.settings import CubeSettings
from dpdesk.engine.methods.dp_cube.bias_charts import BiasStudy, bias_chart, examples_of, study_of
from dpdesk.engine.methods.dp_cube.design import CubeDesign
from dpdesk.engine.methods.dp_cube.plan_shelf import Kept, PlanShelf, plan_key
from dpdesk.engine.methods.dp_cube.plan_worker import WORKER
from dpdesk.engine.methods.dp_cube.planner_errors import (
    NAMES,
    QUICK,
    SLOW,
    PlannerErrors,
    budgets_around,
    compared_settings,
)

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
