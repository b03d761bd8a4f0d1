"""The exact planner against enumeration, its proof, its time limit, and its cancelling."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from dpdesk.core.errors import Cancelled, RefusedError
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.cubes import solver as solvers
from dpdesk.engine.cubes.lattice import CubePlan
from dpdesk.engine.cubes.planners import plan_bmax, plan_exact
from dpdesk.engine.cubes.solver import INFEASIBLE, OPTIMAL, Program, Solver
from dpdesk.engine.private.kinds import Noise
from tests.reference import cube_plans as reference

ADULT = (9, 16, 7, 15, 6, 5, 2, 2)
# On this lattice the greedy covers miss the optimum, so that the integer program has to find it.
HARD = (9, 16, 7, 15, 6)


def worst(plan: CubePlan) -> float:
    sources = [reference.cuboid(source.cuboid) for source in plan.sources]
    published = [reference.cuboid(mask) for mask in plan.published]
    return reference.worst(sources, published, plan.shape, plan.noise)


def up_to(dimensions: int, largest: int) -> list[int]:
    return [mask for mask in range(1 << dimensions) if mask.bit_count() <= largest]


@pytest.mark.parametrize("noise", Noise)
@pytest.mark.parametrize(
    ("shape", "published"),
    [
        ((2, 7, 5), list(range(8))),
        ((2, 3, 2), [0, 1, 2, 4, 7]),
        ((9, 2, 4), [3, 5, 6]),
        ((3, 3, 3), list(range(8))),
        ((2, 2, 2), [0, 3, 4]),
    ],
)
def test_the_plan_is_as_good_as_the_best_of_all_choices(
    shape: tuple[int, ...], published: list[int], noise: Noise
) -> None:
    plan = plan_exact(shape, published, noise)
    cuboids = [reference.cuboid(mask) for mask in published]
    assert worst(plan) == reference.smallest_worst(cuboids, shape, noise)
    assert plan.proven


def test_two_way_tables_of_eight_dimensions_are_proven_to_need_every_source() -> None:
    plan = plan_exact(ADULT, up_to(8, 2), Noise.LAPLACE)
    assert plan.proven
    assert worst(plan) == 37**2


def test_the_optimum_is_never_above_the_greedy_covers() -> None:
    exact = plan_exact(HARD, range(32), Noise.LAPLACE)
    assert exact.proven
    assert worst(exact) <= worst(plan_bmax(HARD, range(32), Noise.LAPLACE))


def test_without_time_the_gap_is_stated() -> None:
    plan = plan_exact(ADULT, range(256), Noise.LAPLACE, seconds=0)
    assert not plan.proven
    assert worst(plan) == worst(plan_bmax(ADULT, range(256), Noise.LAPLACE))
    assert plan.note.startswith("No plan with equal noise is more than ")


def test_too_many_dimensions_are_refused() -> None:
    with pytest.raises(RefusedError) as refused:
        plan_exact((2,) * 11, [2**11 - 1], Noise.LAPLACE)
    assert refused.value.code == "cube.too-many-dimensions"


class CancelledWhileWaiting(CancelToken):
    """Is cancelled from another thread as soon as some work waits for it to be."""

    @contextmanager
    def on_cancel(self, callback: Callable[[], None]) -> Iterator[None]:
        with super().on_cancel(callback):
            thread = threading.Thread(target=self.cancel)
            thread.start()
            try:
                yield
            finally:
                thread.join()


def program(*, count: int, least: float = 1.0, integral: bool = True) -> Program:
    """The fewest of ``count`` numbers, each at most 1, that sum to at least ``least``."""
    return Program(
        cost=np.ones(count),
        rows=np.zeros(count, np.int64),
        columns=np.arange(count),
        values=np.ones(count),
        least=np.array([least]),
        most=np.array([np.inf]),
        lower=np.zeros(count),
        upper=np.ones(count),
        integral=integral,
    )


def test_a_solver_that_is_cancelled_ends() -> None:
    with Solver() as solver, pytest.raises(Cancelled):
        solver.solve(program(count=10), 600, CancelledWhileWaiting())


def test_a_solver_that_dies_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solvers, "_WORKER", "dpdesk.no_such_module:answer")
    with Solver() as solver, pytest.raises(RefusedError) as refused:
        solver.solve(program(count=10), 600, CancelToken())
    assert refused.value.code == "cube.solver-failed"


def test_a_solver_solves_one_program_after_the_other() -> None:
    with Solver() as solver:
        whole = solver.solve(program(count=4, least=1.5), 60, CancelToken())
        linear = solver.solve(program(count=4, least=1.5, integral=False), 60, CancelToken())
        none = solver.solve(program(count=4, least=4.5), 60, CancelToken())
    assert (whole.status, whole.bound) == (OPTIMAL, 2)
    assert linear.bound == pytest.approx(1.5)
    assert none.status == INFEASIBLE
    assert none.x is None
