"""What planners with equal noise have in common: the lattice they cover and what a choice costs.

With s noise sources of equal share the variance of a cell of C is unit * spread(s) * mag(C, C'),
where C' is the best source above C, ``unit`` the variance of a source that had the whole budget,
and spread(s) is s^2 for Laplace and s for Gaussian noise. Source: data cubes paper, sections 3 and
4 (Laplace); for Gaussian noise rho is divided, so the variance of each source grows by s.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from math import ceil, floor, isqrt, lcm
from operator import or_
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import InputError, RefusedError
from dpdesk.core.jobs import CancelToken, Report, StepProgress, silent
from dpdesk.core.messages import msg
from dpdesk.engine.cubes.lattice import (
    MOST_DIMENSIONS,
    CubePlan,
    cell_variances,
    equal_shares,
    information,
    lattice_sizes,
    mask_of,
    members,
)
from dpdesk.engine.cubes.solver import INFEASIBLE, Ints, Program, Solver, stop_flag
from dpdesk.engine.private.kinds import Noise

HUGE = 1 << 53
"""Stands for every magnification from here on: no plan that is worth having gets near it."""

NEVER = -(1 << 60)
"""A gain that no further gain brings above 0: what must not be chosen."""


def unit_variance(noise: Noise, budget: Fraction, sensitivity: Fraction = Fraction(1)) -> Fraction:
    """Variance of the noise of one cell when one noise source gets the whole budget.

    Laplace: 2 * (sensitivity/epsilon)^2 (an upper bound for discrete Laplace noise); Gaussian:
    sensitivity^2 / (2 rho), with the L2 sensitivity.
    """
    if noise is Noise.LAPLACE:
        return 2 * (sensitivity / budget) ** 2
    return sensitivity**2 / (2 * budget)


def spread(noise: Noise, sources: int) -> int:
    """How much the variance of a source grows when ``sources`` share the budget equally."""
    return sources * sources if noise is Noise.LAPLACE else sources


def most_sources(noise: Noise, growth: int) -> int:
    """The largest number of sources whose :func:`spread` is at most ``growth``."""
    return isqrt(growth) if noise is Noise.LAPLACE else growth


@dataclass(frozen=True, eq=False)
class CoverProblem:
    """Published cuboids on the dimensions that occur in them, renumbered from 0.

    ``dimensions`` names the original dimensions, ``whole_forbidden`` cuboids (in the numbers of the
    whole shape) that must not be sources.
    """

    whole_shape: tuple[int, ...]
    whole_published: tuple[int, ...]
    noise: Noise
    dimensions: tuple[int, ...]
    whole_forbidden: frozenset[int] = frozenset()

    @cached_property
    def forbidden(self) -> Ints:
        """The renumbered masks of cuboids that must not be sources."""
        within = mask_of(self.dimensions)
        found = sorted(self.renumbered(one) for one in self.whole_forbidden if not one & ~within)
        return np.array(found, np.int64)

    @cached_property
    def baselines(self) -> tuple[Ints, ...]:
        """Sources of K_all, and of K_base where the base may be one."""
        if self.base in self.forbidden:
            return (self.published,)
        return self.published, np.array([self.base], np.int64)

    @cached_property
    def published(self) -> Ints:
        """The renumbered masks of the published cuboids, ascending."""
        return np.array(sorted(map(self.renumbered, self.whole_published)), np.int64)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Cardinalities of the dimensions that occur."""
        return tuple(self.whole_shape[i] for i in self.dimensions)

    @cached_property
    def sizes(self) -> Ints:
        """Cells of every cuboid, at most HUGE, shape (2^d,)."""
        return np.minimum(lattice_sizes(self.shape), float(HUGE)).astype(np.int64)

    @cached_property
    def by_size(self) -> Ints:
        """All masks, ascending by size."""
        return np.argsort(self.sizes, kind="stable").astype(np.int64)

    @cached_property
    def base(self) -> int:
        """The cuboid of all dimensions that occur."""
        return (1 << len(self.dimensions)) - 1

    def small(self, most: int) -> int:
        """How many cuboids have at most ``most`` cells: the first ones of ``by_size``."""
        return int(np.searchsorted(self._ascending, most, side="right"))

    @cached_property
    def _ascending(self) -> Ints:
        return np.asarray(self.sizes[self.by_size])

    def magnifications(self, sources: Ints) -> Ints:
        """Magnification of each published cuboid from its best source; HUGE where there is none."""
        from dpdesk.engine.cubes.planner_kernels import nearest

        best = np.full(len(self.sizes), HUGE, np.int64)
        nearest(sources, self.sizes, best)
        return np.asarray(best[self.published])

    def worst(self, sources: Ints) -> int:
        """Largest variance of a published cell, in units, before consistency."""
        return spread(self.noise, len(sources)) * int(self.magnifications(sources).max())

    def worst_consistent(self, sources: Ints) -> float:
        """Largest variance of a published cell, in units, after L2 consistency."""
        own = np.zeros(len(self.sizes))
        own[sources] = 1.0 / spread(self.noise, len(sources))
        variances = cell_variances(information(own, self.shape), self.shape)
        return float(variances[self.published].max())

    def renumbered(self, cuboid: int) -> int:
        """The mask of a published cuboid in the new numbers."""
        return mask_of(place for place, i in enumerate(self.dimensions) if cuboid >> i & 1)

    def original(self, cuboid: int) -> int:
        """The mask of a renumbered cuboid in the numbers of the whole shape."""
        return mask_of(self.dimensions[i] for i in members(cuboid))

    def plan(self, sources: Ints, note: str, *, proven: bool = False) -> CubePlan:
        """Equal noise in these (renumbered) cuboids as a plan."""
        cuboids = sorted(self.original(int(source)) for source in sources)
        return CubePlan(
            self.whole_shape, self.whole_published, self.noise, equal_shares(cuboids), proven, note
        )


def cover_problem(
    shape: Sequence[int],
    published: Sequence[int],
    noise: Noise,
    forbidden: Collection[int] = (),
) -> CoverProblem:
    """Check the request and leave out dimensions that no published cuboid has.

    ``forbidden`` cuboids get no noise; none of them is published, so each published cuboid can
    still be its own source. Raises InputError when nothing is published, a cuboid has an unknown
    dimension, occurs twice or is forbidden, a cardinality is below 1, or more than MOST_DIMENSIONS
    dimensions occur.
    """
    whole = tuple(int(cuboid) for cuboid in published)
    if not whole:
        raise InputError("cube.nothing-published", "The plan publishes no cuboid.")
    if min(shape, default=1) < 1:
        raise InputError("cube.empty-domain", "A dimension of the cube has no category.")
    if min(whole) < 0 or max(whole) >> len(shape):
        raise InputError(
            "cube.unknown-dimension",
            ("A published cuboid has a dimension that the cube does not have."),
        )
    if len(set(whole)) < len(whole):
        raise InputError("cube.cuboid-twice", "A cuboid is published twice.")
    if not set(whole).isdisjoint(forbidden):
        raise InputError("cube.forbid", "A cuboid is both published and forbidden.")
    dimensions = members(reduce(or_, whole))
    if len(dimensions) > MOST_DIMENSIONS:
        raise InputError(
            "cube.too-many-dimensions",
            msg(
                "The published cuboids have {len} dimensions together, and at most {most} can "
                "be planned at once.",
                len=len(dimensions),
                most=MOST_DIMENSIONS,
            ),
            hint="Publish fewer dimensions, or make two releases.",
        )
    return CoverProblem(
        tuple(int(n) for n in shape), whole, noise, dimensions, frozenset(forbidden)
    )


# The two baselines: noise in every published cuboid, or in the base cuboid alone.
#
# Source: data cubes paper, section 3 (K_all and K_base).


def plan_all(shape: Sequence[int], published: Sequence[int], noise: Noise) -> CubePlan:
    """Independent noise in each published cuboid, the budget shared equally (K_all).

    Raises InputError as :func:`~dpdesk.engine.cubes.planners.cover_problem` does.
    """
    problem = cover_problem(shape, published, noise)
    return problem.plan(problem.published, "Noise in every published cuboid.")


def plan_base(
    shape: Sequence[int],
    published: Sequence[int],
    noise: Noise,
    forbidden: Collection[int] = (),
) -> CubePlan:
    """The whole budget in one cuboid of all published dimensions; the others are its sums (K_base).

    Dimensions that no published cuboid has are left out: they would only add noise. Raises
    InputError when that cuboid is forbidden, and as
    :func:`~dpdesk.engine.cubes.planners.cover_problem` does.
    """
    problem = cover_problem(shape, published, noise, forbidden)
    if problem.base in problem.forbidden:
        raise InputError(
            "cube.forbid",
            "The planner `base` puts all noise in the finest table, which `forbid` names.",
            hint='Use another planner, such as "bmax".',
            details={"key": "planner"},
        )
    base = np.array([problem.base], np.int64)
    return problem.plan(base, "Noise in the base cuboid; the others are its sums.")


# BMax: equal noise in few cuboids, so that the largest variance of a published cell is small.
#
# Source: data cubes paper, Algorithm 1 and Theorem 6. The paper searches over the variance theta
# and the number of sources s; what a cuboid covers depends on both only through the largest
# magnification m = floor(theta / spread(s)), and m takes finitely many values, so all of them are
# tried (beyond twelve dimensions one in each 5 %): a greedy cover for m answers for every (theta,
# s) that has it. (Feasibility of the greedy cover is not monotone in theta or s, so the paper's
# binary search can miss the best.) Ties of the greedy choice are broken in several orders, picks
# that turned out to be spare are dropped, and the best plan is kept; the guarantee (ln|L| + 1)^2
# holds for each order (5 % more where magnifications were skipped).


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

    Raises InputError as :func:`~dpdesk.engine.cubes.planners.cover_problem` does, and
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
        from dpdesk.engine.cubes import planner_kernels as kernels

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
        from dpdesk.engine.cubes import planner_kernels as kernels

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


# PMost: equal noise in few cuboids, so that much of what is published stays below a variance.
#
# Source: data cubes paper, Algorithm 2 and Theorem 7. For each number of sources s the cuboids
# that are precise (variance at most theta before consistency) are those whose magnification is at
# most m = floor(theta / spread(s)); the greedy choice for the largest s of each m answers for all
# smaller s with that m. Each choice reaches 1 - 1/e of the largest weight that s sources can make
# precise, as long as every cuboid can be computed from it; if not, the union of what is missing
# is added, or takes the place of the last pick, and what is precise is counted anew.


_MOST_WEIGHT = 1 << 40


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
    :func:`~dpdesk.engine.cubes.planners.cover_problem` does; Cancelled.
    """
    if theta <= 0 or budget <= 0 or sensitivity <= 0:
        raise InputError(
            "cube.not-positive", "The largest variance, the budget and the sensitivity must be > 0."
        )
    problem = cover_problem(shape, published, noise, forbidden)
    search = _PMostSearch(problem, theta / unit_variance(noise, budget, sensitivity), weights or {})
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


class _PMostSearch:
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
        from dpdesk.engine.cubes import planner_kernels as kernels

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


# The exact planner: equal noise with the smallest possible largest variance, with proof.
#
# The largest variance is spread(s) * m, where m is the largest magnification and s the number of
# sources, and s is at least the size of a smallest cover of the published cuboids by
# magnifications up to m. So the optimum is the least of spread(k(m)) * m over the finitely many
# m, where k(m) is a minimum set cover: an integer program for each m that simple bounds do not
# rule out. Starts from the plan of BMax, so it is never worse; what the solver cannot settle in
# the time allowed is stated as a gap. The problem is NP-hard (data cubes paper, Theorem 5).


MOST_EXACT_DIMENSIONS = 10
"""More published dimensions than this are left to the other planners."""

SECONDS = 120.0
"""Time for the integer programs unless the caller says otherwise."""

_TOLERANCE = 1e-6


def plan_exact(
    shape: Sequence[int], published: Sequence[int], noise: Noise,
    token: CancelToken | None = None, report: Report = silent, *, seconds: float = SECONDS,
    forbidden: Collection[int] = (),
) -> CubePlan:  # fmt: skip
    """The optimum of BMax's goal, ``proven`` where the proof was finished in ``seconds``.

    ``forbidden`` cuboids get no noise; the proof is about plans without them.

    Without the proof the note states how far the plan may be from the optimum. Raises RefusedError
    beyond :data:`MOST_EXACT_DIMENSIONS` published dimensions or when the solver fails, InputError
    as :func:`~dpdesk.engine.cubes.planners.cover_problem` does, and Cancelled.
    """
    token = token or CancelToken()
    problem = cover_problem(shape, published, noise, forbidden)
    if len(problem.dimensions) > MOST_EXACT_DIMENSIONS:
        raise RefusedError(
            "cube.too-many-dimensions",
            msg(
                "The exact planner takes at most {most} dimensions, and the published cuboids "
                "have {len} together.",
                most=MOST_EXACT_DIMENSIONS,
                len=len(problem.dimensions),
            ),
            hint="Choose the planner bmax or optimal.",
        )
    search = _ExactSearch(problem, best_cover(problem, token), monotonic() + seconds)
    with Solver() as solver:
        least = search.run(solver, token, report)
    if least >= search.value:
        note = "Proven: no plan with equal noise has a smaller largest variance."
    else:
        gap = 100 * (1 - least / search.value)
        note = msg("No plan with equal noise is more than {n:.2g} % better (time ran out).", n=gap)
    return problem.plan(search.best, note, proven=least >= search.value)


@dataclass(frozen=True, eq=False)
class _Cover:
    """A set cover without what is dominated: which candidate covers which row.

    ``count`` is a proven lower bound of the cover's size.
    """

    most: int
    covers: NDArray[np.bool_]
    candidates: Ints
    count: int


class _ExactSearch:
    """The best sources so far, and the covers that could still beat them."""

    def __init__(self, problem: CoverProblem, best: Ints, end: float) -> None:
        self.problem = problem
        self.best = best
        self.value = problem.worst(best)
        self.end = end

    def run(self, solver: Solver, token: CancelToken, report: Report) -> int:
        """Settle every magnification; the proven lower bound of the largest variance."""
        open_covers = []
        for most in np.unique(self.problem.sizes).tolist():
            if most >= min(HUGE, self.value):
                break
            cover = self._relaxed(most, solver, token)
            if cover is not None:
                open_covers.append(cover)
        # The most promising first: what it finds may rule out others.
        open_covers.sort(key=self._hope)
        bounds = [self.value]
        for done, cover in enumerate(open_covers):
            bounds.append(self._settle(cover, solver, token))
            report(StepProgress("proof", done + 1, len(open_covers), "integer programs"))
        return min(*bounds, self.value)

    def _room(self, most: int) -> int:
        """How many sources a better plan may have at this magnification."""
        return most_sources(self.problem.noise, (self.value - 1) // most)

    def _hope(self, cover: _Cover) -> int:
        return spread(self.problem.noise, cover.count) * cover.most

    def _relaxed(self, most: int, solver: Solver, token: CancelToken) -> _Cover | None:
        """The cover for a magnification, None when bounds rule it out."""
        token.check()
        covers = self._matrix(most)
        reach = np.cumsum(np.sort(covers.sum(axis=0))[::-1])
        count = int(np.searchsorted(reach, len(covers))) + 1
        if count > self._room(most):
            return None
        covers, candidates = _reduced(covers)
        left = self.end - monotonic()
        if left > 0:
            answer = solver.solve(_program(covers, len(candidates)), left, token)
            if np.isfinite(answer.bound):
                count = max(count, ceil(answer.bound - _TOLERANCE))
        if count > self._room(most):
            return None
        return _Cover(most, covers, candidates, count)

    def _matrix(self, most: int) -> NDArray[np.bool_]:
        """Which cuboid (column) covers which published one (row)."""
        problem = self.problem
        rows = problem.published[:, None]
        columns = np.arange(len(problem.sizes), dtype=np.int64)[None, :]
        below = (rows & ~columns) == 0
        below[:, problem.forbidden] = False
        return np.asarray(below & (problem.sizes[rows ^ columns] <= most))

    def _settle(self, cover: _Cover, solver: Solver, token: CancelToken) -> int:
        """Solve one cover; a proven lower bound of the variance at its magnification."""
        room = self._room(cover.most)
        left = self.end - monotonic()
        if cover.count > room:
            return self.value
        if left <= 0:
            return self._hope(cover)
        answer = solver.solve(_program(cover.covers, room, integral=True), left, token)
        if answer.x is not None:
            self._offer(cover.candidates[answer.x > 0.5])
        if answer.status == INFEASIBLE:
            return self.value
        count = cover.count
        if np.isfinite(answer.bound):
            count = max(count, ceil(answer.bound - _TOLERANCE))
        return spread(self.problem.noise, count) * cover.most

    def _offer(self, sources: Ints) -> None:
        value = self.problem.worst(sources)
        if value < self.value:
            self.best, self.value = sources, value


def _program(covers: NDArray[np.bool_], room: int, *, integral: bool = False) -> Program:
    """The smallest cover with at most ``room`` candidates; its relaxation unless ``integral``."""
    count, candidates = covers.shape
    rows, columns = np.nonzero(covers)
    return Program(
        cost=np.ones(candidates),
        rows=np.append(rows, np.full(candidates, count)),
        columns=np.append(columns, np.arange(candidates)),
        values=np.ones(len(rows) + candidates),
        least=np.append(np.ones(count), 0.0),
        most=np.append(np.full(count, np.inf), float(room)),
        lower=np.zeros(candidates),
        upper=np.ones(candidates),
        integral=integral,
    )


def _reduced(covers: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], Ints]:
    """Without candidates that cover no more than another, and rows covered with another.

    Also returns which candidates (columns) are left.
    """
    candidates = np.arange(covers.shape[1], dtype=np.int64)
    while True:
        spare = _within_another(covers.T)
        covers, candidates = covers[:, ~spare], candidates[~spare]
        # A row is covered with another when whatever covers the other covers it too.
        implied = _within_another(~covers)
        if not implied.any():
            return covers, candidates
        covers = covers[~implied]


def _within_another(sets: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which rows are subsets of another row; of equal rows all but the first are."""
    counted = sets.astype(np.float32)
    common = counted @ counted.T
    inside = common == common.diagonal()[:, None]
    first = np.tri(len(sets), k=-1, dtype=bool)
    return np.asarray((inside & (~inside.T | first)).any(axis=1))
