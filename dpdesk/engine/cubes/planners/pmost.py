"""PMost: equal noise in few cuboids, so that much of what is published stays below a variance.

Source: data cubes paper, Algorithm 2 and Theorem 7. For each number of sources s the cuboids that
are precise (variance at most theta before consistency) are those whose magnification is at most
m = floor(theta / spread(s)); the greedy choice for the largest s of each m answers for all smaller
s with that m. Each choice reaches 1 - 1/e of the largest weight that s sources can make precise,
as long as every cuboid can be computed from it; if not, the union of what is missing is added, or
takes the place of the last pick, and what is precise is counted anew.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from math import floor, lcm
from operator import or_

import numpy as np

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, Report, StepProgress, silent
from dpdesk.core.messages import msg
from dpdesk.engine.cubes.planners.bmax import best_cover, tie_orders
from dpdesk.engine.cubes.planners.problem import (
    HUGE,
    NEVER,
    CoverProblem,
    cover_problem,
    most_sources,
    spread,
    unit_variance,
)
from dpdesk.engine.cubes.plans import CubePlan
from dpdesk.engine.cubes.stopping import Ints, stop_flag
from dpdesk.engine.private.kinds import Noise

_MOST_WEIGHT = 1 << 40
_MANY = 1 << 10


def plan_pmost(
    shape: Sequence[int], published: Sequence[int], noise: Noise, *, theta: Fraction,
    budget: Fraction, sensitivity: Fraction = Fraction(1),
    weights: Mapping[int, Fraction] | None = None, forbidden: Collection[int] = (),
    token: CancelToken | None = None, report: Report = silent,
) -> CubePlan:  # fmt: skip
    """Sources that make much weight precise: cuboids whose variance is at most ``theta``.

    ``theta`` is an absolute variance of one cell before consistency, ``budget`` epsilon or rho,
    ``sensitivity`` that of one whole cuboid (L1 for Laplace, L2 for Gaussian noise). ``weights``
    are by published cuboid, 1 where it names none; ``forbidden`` cuboids get no noise. Every
    published cuboid can be computed from the sources, precise or not. Of plans with equal weight
    the one with the smaller largest variance is taken. The result is never worse than K_all and
    K_base, unless the latter is forbidden.

    Raises InputError for a threshold or budget that is not positive, weights that are negative, for
    unpublished cuboids or too finely divided, and as
    :func:`~dpdesk.engine.cubes.planners.problem.cover_problem` does; Cancelled.
    """
    if theta <= 0 or budget <= 0 or sensitivity <= 0:
        raise InputError(
            "cube.not-positive", "The largest variance, the budget and the sensitivity must be > 0."
        )
    problem = cover_problem(shape, published, noise, forbidden)
    search = _Search(problem, theta / unit_variance(noise, budget, sensitivity), weights or {})
    best = search.run(token or CancelToken(), report)
    reached = Fraction(search.weight(best), search.scale)
    return problem.plan(
        best,
        msg(
            "Weight {reached} of {total} stays within the variance.",
            reached=reached,
            total=search.total,
        ),
    )


class _Search:
    """Greedy choices for one threshold, in units of the variance of a source that has it all."""

    def __init__(
        self, problem: CoverProblem, threshold: Fraction, weights: Mapping[int, Fraction]
    ) -> None:
        self.problem = problem
        self.threshold = threshold
        self.weights, self.scale = _scaled(problem, weights)
        self.total = Fraction(int(self.weights.sum()), self.scale)

    def weight(self, sources: Ints) -> int:
        """Weight of the precise cuboids, scaled."""
        most = floor(self.threshold / spread(self.problem.noise, len(sources)))
        near = self.problem.magnifications(sources) <= most
        return int(self.weights[self.problem.published[near]].sum())

    def run(self, token: CancelToken, report: Report) -> Ints:
        """The best of K_all, K_base, BMax and the greedy choices for every number of sources."""
        problem = self.problem
        # Where BMax meets the threshold everywhere, nothing can be better.
        best = best_cover(problem, token)
        if self.weight(best) == int(self.weights.sum()):
            return best
        baselines = (best, *problem.baselines)
        best = max(baselines, key=self._merit)
        growth = spread(problem.noise, len(problem.published))
        steps = sorted(set(self._steps(growth)))
        with stop_flag(token) as stop:
            for done, (most, sources) in enumerate(steps):
                choices = self._choices(most, sources, stop)
                best = max((best, *choices), key=self._merit)
                token.check()
                report(StepProgress("cover", done + 1, len(steps), "thresholds"))
        return best

    def _merit(self, sources: Ints) -> tuple[int, int]:
        return self.weight(sources), -self.problem.worst(sources)

    def _steps(self, growth: int) -> Iterator[tuple[int, int]]:
        """Largest magnification for each number of sources, with the most sources that have it."""
        sources = 1
        while sources <= len(self.problem.published):
            most = min(floor(self.threshold / spread(self.problem.noise, sources)), HUGE - 1)
            if most == 0:
                return
            last = most_sources(self.problem.noise, min(floor(self.threshold / most), growth))
            yield most, max(sources, last)
            sources = max(sources, last) + 1

    def _choices(self, most: int, sources: int, stop: Ints) -> Iterator[Ints]:
        """Greedy choices of up to ``sources`` sources, each able to give all that is published."""
        from dpdesk.engine.cubes.planners import kernels

        problem = self.problem
        lattice = (problem.sizes, problem.by_size, problem.small(most), most)
        gains = np.zeros(len(problem.sizes), np.int64)
        kernels.coverage(gains, self.weights, *lattice, stop)
        gains[problem.forbidden] = NEVER
        orders = tie_orders(problem)
        for ranks, masks in orders if len(problem.sizes) <= _MANY else orders[:1]:
            picks = np.empty(sources, np.int64)
            count = kernels.greedy_cover(
                gains.copy(), self.weights.copy(), *lattice, ranks, masks, picks, False, stop
            )
            if count > 0:
                yield from self._completed(picks[:count])

    def _completed(self, picks: Ints) -> Iterator[Ints]:
        if not len(self._unreached(picks)):
            yield picks
            return
        for some in (picks, picks[:-1]):
            added = self._added(some)
            if added is not None:
                yield np.unique(np.append(some, added))

    def _added(self, sources: Ints) -> Ints | None:
        """What gives the rest: the union of what is missing, or each of it where that may not be.

        None when nothing is missing.
        """
        missing = self._unreached(sources)
        if not len(missing):
            return None
        union = reduce(or_, missing.tolist())
        return missing if union in self.problem.forbidden else np.array([union], np.int64)

    def _unreached(self, sources: Ints) -> Ints:
        """Published cuboids that these sources do not give."""
        problem = self.problem
        unreached = np.ones(len(problem.published), bool)
        for source in sources:
            unreached &= (problem.published & ~source) != 0
        return np.asarray(problem.published[unreached])


def _scaled(problem: CoverProblem, weights: Mapping[int, Fraction]) -> tuple[Ints, int]:
    """Weights as whole numbers on the lattice, and by what they were multiplied."""
    strange = set(weights) - set(problem.whole_published)
    if strange or min(weights.values(), default=Fraction(0)) < 0:
        raise InputError(
            "cube.bad-weights",
            "A weight is negative or belongs to a cuboid that is not published.",
        )
    values = [weights.get(cuboid, Fraction(1)) for cuboid in problem.whole_published]
    scale = lcm(*(value.denominator for value in values))
    if sum(values) * scale >= _MOST_WEIGHT:
        raise InputError(
            "cube.bad-weights",
            "The weights of the cuboids are too large or have too many digits.",
            hint="Use weights with a few digits, such as 1, 2.5 or 10.",
        )
    scaled = np.zeros(len(problem.sizes), np.int64)
    for cuboid, value in zip(problem.whole_published, values, strict=True):
        scaled[problem.renumbered(cuboid)] = int(value * scale)
    return scaled, scale
