"""Planners side by side on a cube of the shape of Adult: errors after consistency, and
processor time.

``python -m tests.benchmarks.cube_plans`` prints a table in Markdown for ε = 1 and for ρ = 0.024356
(Gaussian noise). With ``--attack`` it looks around each optimum for something better: chains of
random moves with other seeds, started from the plan itself.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from random import Random
from time import process_time

import numpy as np

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.cubes.lattice import CubePlan, lattice_sizes
from dpdesk.engine.cubes.optimal.objectives import Goal, candidates_of, objective_of, plan_variances
from dpdesk.engine.cubes.optimal.planner import Descent, Search, plan_optimal
from dpdesk.engine.cubes.planners import plan_all, plan_base, plan_bmax
from dpdesk.engine.private.kinds import Noise

ADULT = (9, 16, 7, 15, 6, 5, 2, 2)
RHO = 0.024356
WORKLOADS = {
    name: [mask for mask in range(256) if ways in (None, mask.bit_count())]
    for name, ways in {"all 256 cuboids": None, "3-way": 3, "2-way": 2}.items()
}
Planner = Callable[[list[int]], CubePlan]


def planners() -> Iterator[tuple[str, float, Planner]]:
    """Name, budget and planner of each line of the table."""
    laplace, gaussian = Noise.LAPLACE, Noise.GAUSSIAN
    yield "all, Laplace", 1.0, lambda masks: plan_all(ADULT, masks, laplace)
    yield "base, Laplace", 1.0, lambda masks: plan_base(ADULT, masks, laplace)
    yield "BMax, Laplace", 1.0, lambda masks: plan_bmax(ADULT, masks, laplace)
    for goal in Goal:
        yield (
            f"optimal, {goal.value}, Laplace", 1.0,
            lambda masks, goal=goal: plan_optimal(ADULT, masks, laplace, goal=goal),
        )  # fmt: skip
    yield "BMax, Gaussian", RHO, lambda masks: plan_bmax(ADULT, masks, gaussian)
    yield "optimal, maximum, Gaussian", RHO, lambda masks: plan_optimal(ADULT, masks, gaussian)
    yield (
        "optimal, maximum, residuals", RHO,
        lambda masks: plan_optimal(ADULT, masks, gaussian, residuals=True),
    )  # fmt: skip


def table() -> None:
    """Print a line for each workload and planner."""
    print(
        "| workload | planner | noisy | largest variance | average | total squared error | CPU s |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, masks in WORKLOADS.items():
        for label, budget, planner in planners():
            began = process_time()
            plan = planner(masks)
            elapsed = process_time() - began
            found = plan_variances(plan, budget)[masks]
            total = found @ lattice_sizes(ADULT)[masks]
            proven = " (proven)" if plan.proven else ""
            print(
                f"| {name} | {label}{proven} | {len(plan.sources)} | {found.max():,.1f} "
                f"| {found.mean():,.1f} | {total:.3g} | {elapsed:.1f} |",
                flush=True,
            )


def attack(effort: int = 4000) -> None:
    """Print by how much chains with other seeds, from the plan itself, improve it."""
    for name, masks in WORKLOADS.items():
        for goal in Goal:
            plan = plan_optimal(ADULT, masks, Noise.LAPLACE, goal=goal)
            objective = objective_of(ADULT, masks, Noise.LAPLACE, goal)
            shares = {
                objective.domain.renumbered(source.cuboid): float(source.share)
                for source in plan.sources
            }
            descent = Descent(objective, np.zeros(1, np.int64))
            reached = descent.terms.figure(shares)
            search = Search(
                descent, effort, candidates_of(objective), CancelToken(), random=Random(7)
            )
            better = descent.terms.figure(search.joined([shares]))
            print(f"{name}, {goal.value}: {1 - better / reached:.2%} better", flush=True)


if __name__ == "__main__":
    attack() if "--attack" in sys.argv else table()
