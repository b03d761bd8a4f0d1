"""What planning a cube and making it consistent cost, in one run.

Run as ``python -m tests.benchmarks.cubes`` (``--large`` adds the cube of 206 million cells,
``--exact`` the proof of the exact planner). Processor time is of all threads together, so that
other work on the machine disturbs it less than the elapsed time. Ratios are of processor time, to a
plain copy of the same cells in the same run; the bandwidth is what the passes move through memory,
as a part of what that copy (one thread) moves in the same time.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from math import prod

import numpy as np

from dpdesk.engine.cubes.consistency.residual import Measured, consistent_cube, layout
from dpdesk.engine.cubes.lattice import CubePlan, members
from dpdesk.engine.cubes.planners import CoverProblem, cover_problem, plan_bmax, plan_exact
from dpdesk.engine.private.kinds import Noise

EIGHT = (9, 16, 7, 15, 6, 5, 2, 2)
TEN = (*EIGHT, 4, 4)
TWELVE = (*TEN, 3, 10)


def timed(work: Callable[[], object], times: int) -> tuple[float, float]:
    """Shortest elapsed and processor seconds of some runs."""
    elapsed = used = float("inf")
    for _ in range(times):
        began, spent = time.perf_counter(), time.process_time()
        work()
        elapsed = min(elapsed, time.perf_counter() - began)
        used = min(used, time.process_time() - spent)
    return elapsed, used


class Zeros(Mapping[int, Measured]):
    """Noisy cuboids that are made when they are asked for, so that they cost no memory."""

    def __init__(self, shape: tuple[int, ...], cuboids: list[int]) -> None:
        self.shape, self.cuboids = shape, cuboids

    def __getitem__(self, mask: int) -> Measured:
        return Measured(np.zeros([self.shape[i] for i in members(mask)]), 1.0)

    def __iter__(self) -> Iterator[int]:
        return iter(self.cuboids)

    def __len__(self) -> int:
        return len(self.cuboids)


def largest(plan: CubePlan) -> int:
    """Largest variance of a published cell, in units of 1/epsilon^2."""
    problem: CoverProblem = cover_problem(plan.shape, plan.published, plan.noise)
    sources = np.array([problem.renumbered(source.cuboid) for source in plan.sources])
    return 2 * problem.worst(sources)


def consistency(shape: tuple[int, ...], cuboids: list[int], times: int) -> None:
    noisy = Zeros(shape, cuboids)
    cells = np.ones(prod(n + 1 for n in shape))
    target = np.zeros_like(cells)
    took, copied = timed(partial(np.copyto, target, cells), max(times, 3))
    del cells, target
    elapsed, used = timed(partial(consistent_cube, shape, noisy), times)
    share = trips(shape) * took / elapsed
    print(
        f"| {len(shape)} dimensions, {prod(n + 1 for n in shape):,} cells, {len(cuboids)} noisy "
        f"| {elapsed:.2f} s | {used:.2f} s | {used / copied:.1f} | {share:.0%} "
        f"| {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB |",
        flush=True,
    )


def trips(shape: tuple[int, ...]) -> int:
    """How often the passes read and write all cells: twice an outer axis, once for all inner."""
    return 2 * len(layout([(1 << len(shape)) - 1], shape).outer) + 1


def planning(name: str, plan: Callable[[], CubePlan], times: int) -> None:
    elapsed, used = timed(plan, times)
    made = plan()
    print(
        f"| {name} | {elapsed:.2f} s | {used:.2f} s | {len(made.sources)} | {largest(made):,} |",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--exact", action="store_true")
    parser.add_argument("--times", type=int, default=3)
    options = parser.parse_args()
    times = options.times
    consistent_cube((2, 2), {3: Measured(np.ones((2, 2)), 1.0)})
    plan_bmax((2, 2), range(4), Noise.LAPLACE)
    print("| consistency | elapsed | processor | ratio | bandwidth | memory |")
    print("| --- | --- | --- | --- | --- | --- |")
    every = list(range(256))
    consistency(EIGHT, every, times)
    consistency(EIGHT, every[-1:], times)
    if options.large:
        consistency(TEN, list(range(1024)), 1)
    print("| plan | elapsed | processor | sources | variance |\n| --- | --- | --- | --- | --- |")
    for shape in (EIGHT, TEN, TWELVE):
        name = f"bmax, all {1 << len(shape)} cuboids of {len(shape)} dimensions"
        planning(name, partial(plan_bmax, shape, range(1 << len(shape)), Noise.LAPLACE), times)
    pairs = [mask for mask in range(1 << 20) if mask.bit_count() <= 2]
    planning("bmax, 2-way of 20", partial(plan_bmax, (5,) * 20, pairs, Noise.LAPLACE), times)
    if options.exact:
        planning("exact, all 256", partial(plan_exact, EIGHT, every, Noise.LAPLACE), 1)


if __name__ == "__main__":
    main()
