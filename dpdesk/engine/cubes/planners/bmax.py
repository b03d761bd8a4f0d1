"""BMax: equal noise in few cuboids, so that the largest variance of a published cell is small.

Source: data cubes paper, Algorithm 1 and Theorem 6. The paper searches over the variance theta and
the number of sources s; what a cuboid covers depends on both only through the largest
magnification m = floor(theta / spread(s)), and m takes finitely many values, so all of them are
tried (beyond twelve dimensions one in each 5 %): a greedy cover for m answers for every (theta, s)
that has it. (Feasibility of the greedy cover is not monotone in theta or s, so the paper's binary
search can miss the best.) Ties of the greedy choice are broken in several orders, picks that turned
out to be spare are dropped, and the best plan is kept; the guarantee (ln|L| + 1)^2 holds for each
order (5 % more where magnifications were skipped).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.jobs import CancelToken, Report, StepProgress, silent
from dpdesk.engine.cubes.planners.problem import (
    HUGE,
    NEVER,
    CoverProblem,
    cover_problem,
    most_sources,
    spread,
)
from dpdesk.engine.cubes.plans import CubePlan
from dpdesk.engine.cubes.stopping import Ints, stop_flag
from dpdesk.engine.private.kinds import Noise

_SHUFFLES = 12
_MANY = 1 << 10
_LARGE_LATTICE = 1 << 12
_HUGE_LATTICE = 1 << 14
_SKIPPED = 1.05
_FIRST_PASS = 12
_SLACK = 8
_FOUND = "The tables with noise of their own were found step by step; there may be better ones."


def plan_bmax(
    shape: Sequence[int], published: Sequence[int], noise: Noise,
    token: CancelToken | None = None, report: Report = silent, forbidden: Collection[int] = (),
) -> CubePlan:  # fmt: skip
    """The best plan that the greedy covers find, never worse than K_all and K_base.

    ``forbidden`` cuboids get no noise.

    Raises InputError as :func:`~dpdesk.engine.cubes.planners.problem.cover_problem` does, and
    Cancelled.
    """
    problem = cover_problem(shape, published, noise, forbidden)
    best = best_cover(problem, token or CancelToken(), report)
    return problem.plan(best, _FOUND)


def best_cover(problem: CoverProblem, token: CancelToken, report: Report = silent) -> Ints:
    """The sources of smallest largest variance; ties go to the smaller one after consistency."""
    search = _Search(problem)
    with stop_flag(token) as stop:
        candidates = _thresholds(problem)
        sample = np.unique(np.geomspace(1, len(candidates), _FIRST_PASS).astype(np.int64)) - 1
        for most in candidates[sample]:
            token.check()
            search.try_orders(int(most), 1, stop)
        for done, most in enumerate(candidates):
            if most >= HUGE or most > search.value:
                break
            token.check()
            search.try_orders(int(most), len(search.orders), stop)
            report(StepProgress("cover", done + 1, len(candidates), "thresholds"))
    token.check()
    return search.best


class _Search:
    """The best sources so far, and the orders in which ties are broken."""

    def __init__(self, problem: CoverProblem) -> None:
        self.problem = problem
        self.orders = tie_orders(problem)
        self.weights = np.zeros(len(problem.sizes), np.int64)
        self.weights[problem.published] = 1
        self.best = min(problem.baselines, key=problem.worst)
        self.value = problem.worst(self.best)
        self._consistent = problem.worst_consistent(self.best)

    def try_orders(self, most: int, orders: int, stop: Ints) -> None:
        """Cover greedily with magnifications up to ``most``, ties broken in the first orders."""
        from dpdesk.engine.cubes.planners import kernels

        problem = self.problem
        limit = most_sources(problem.noise, self.value // most)
        if limit == 0:
            return
        lattice = (problem.sizes, problem.by_size, problem.small(most), most)
        gains = np.zeros(len(problem.sizes), np.int64)
        kernels.coverage(gains, self.weights, *lattice, stop)
        gains[problem.forbidden] = NEVER
        # Spare picks are dropped later, so a cover that is a little too large may still do.
        picks = np.empty(limit + limit // _SLACK, np.int64)
        reach = gains[gains > 0]
        if len(reach) > len(picks):
            reach = np.partition(reach, -len(picks))[-len(picks) :]
        if reach.sum() < len(problem.published):
            return
        for ranks, masks in self.orders[:orders]:
            count = kernels.greedy_cover(
                gains.copy(), self.weights.copy(), *lattice, ranks, masks, picks, True, stop
            )
            if count > 0:
                self._offer(picks[:count], most, stop)

    def _offer(self, picks: Ints, most: int, stop: Ints) -> None:
        from dpdesk.engine.cubes.planners import kernels

        problem = self.problem
        kept = np.zeros(len(picks), bool)
        count = kernels.without_spare(picks, self.weights, problem.sizes, most, kept, stop)
        if count < 0 or spread(problem.noise, count) * most > self.value:
            return
        sources = picks[kept]
        value = problem.worst(sources)
        if value > self.value:
            return
        consistent = problem.worst_consistent(sources)
        if (value, consistent) < (self.value, self._consistent):
            self.best, self.value, self._consistent = sources.copy(), value, consistent


def _thresholds(problem: CoverProblem) -> Ints:
    """Magnifications to try, ascending: all, but one in each 5 % on large lattices.

    The largest of each 5 % is kept, so that skipping costs at most 5 % of the variance.
    """
    every = np.unique(problem.sizes)
    if len(problem.sizes) <= _LARGE_LATTICE:
        return every
    steps = np.floor(np.log(every) / np.log(_SKIPPED))
    return np.asarray(every[np.append(np.diff(steps) > 0, True)])


def tie_orders(problem: CoverProblem) -> list[tuple[Ints, Ints]]:
    """Orders in which ties are broken, each as the rank of every mask and as the masks by rank."""
    return [_ranked(masks) for masks in _orders(problem)]


def _orders(problem: CoverProblem) -> Iterator[Ints]:
    """Orders of all cuboids, first choice first; fewer of them for large lattices."""
    masks = np.arange(len(problem.sizes), dtype=np.int64)
    if len(masks) > _HUGE_LATTICE:
        yield problem.by_size
        yield masks[::-1].copy()
        return
    dimensions = np.bitwise_count(masks).astype(np.int64)
    yield masks[::-1].copy()
    yield masks
    yield problem.by_size
    yield problem.by_size[::-1].copy()
    yield np.lexsort((problem.sizes, dimensions))
    yield np.lexsort((problem.sizes, -dimensions))
    generator = np.random.default_rng(0)  # shuffles, no noise: the same plan every time
    for _ in range(_SHUFFLES if len(masks) <= _MANY else 0):
        yield generator.permutation(masks)


def _ranked(masks: NDArray[np.int64]) -> tuple[Ints, Ints]:
    ranks = np.empty(len(masks), np.int64)
    ranks[masks] = np.arange(len(masks))
    return ranks, np.ascontiguousarray(masks, np.int64)
