"""The planner that optimises the closed-form variance after consistency.

Source: resources/docs/cubes.md (unequal budgets); for residual sources the literature on residual
planners, whose optimum for sums is share_S proportional to sqrt(c_S * prod(1 - 1/n_i)).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import ceil, inf, log2
from random import Random
from statistics import median

import numpy as np

from dpdesk.core.jobs import CancelToken, Report, StepProgress, silent
from dpdesk.core.messages import msg
from dpdesk.engine.cubes.lattice import CubePlan, Floats, NoiseSource, lattice_sizes
from dpdesk.engine.cubes.optimal import kernels
from dpdesk.engine.cubes.optimal.objectives import (
    Goal,
    Objective,
    Weight,
    candidates_of,
    objective_of,
    residual_costs,
)
from dpdesk.engine.cubes.planners import plan_bmax
from dpdesk.engine.cubes.solver import Ints, stop_flag
from dpdesk.engine.private.kinds import Noise

# What the compiled objective sums: the whole lattice, or only what published cuboids need.
#
# Where most cuboids are published, sums along the lattice are quickest. Where few are, the
# residuals below them are few too, and lists of links (which residuals a noisy cuboid tells, which
# ones a published cuboid is made of) cost less and hold for any number of dimensions.


Shares = dict[int, float]
"""Parts of the budget by (renumbered) cuboid; cuboids without a share are absent."""

Maps = tuple[Floats, Ints, Ints, Floats, Ints, Ints, Floats]
_NONE, _NOTHING = np.zeros(0, np.int64), np.zeros(0)


@dataclass(eq=False)
class Terms:
    """The arrays that kernels need for one objective; not for use by two threads at once."""

    objective: Objective
    _rows: dict[int, tuple[Ints, Floats]] = field(default_factory=dict, repr=False)

    @cached_property
    def dense(self) -> bool:
        """Whether sums go over the whole lattice."""
        goal = self.objective
        return self._links > len(goal.weights) * max(goal.dimensions, 1)

    @cached_property
    def cost(self) -> int:
        """About how many products one evaluation takes."""
        goal = self.objective
        if self.dense:
            return 2 * len(goal.weights) * max(goal.dimensions, 1)
        return 3 * self._links + 40 * len(self._residuals)

    @property
    def _links(self) -> int:
        return sum(1 << int(mask).bit_count() for mask in self._counted)

    @cached_property
    def _counted(self) -> Ints:
        return np.flatnonzero(self.objective.weights > 0)

    @cached_property
    def _residuals(self) -> Ints:
        return np.flatnonzero(self.objective.needed)

    @cached_property
    def _sizes(self) -> Floats:
        return lattice_sizes(self.objective.domain.shape)

    @cached_property
    def weights(self) -> Floats:
        """Weights of cuboids, as the kernels count them."""
        weights = self.objective.weights
        return weights if self.dense else np.ascontiguousarray(weights[self._counted])

    @cached_property
    def needed(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which residuals must be known, as the kernels count them."""
        return self.objective.needed if self.dense else np.ones(len(self._residuals), np.bool_)

    @cached_property
    def _made_of(self) -> tuple[Ints, Ints, Floats]:
        if self.dense:
            return _NONE, _NONE, _NOTHING
        kept = np.ones(1)
        for n in self.objective.domain.shape:
            kept = np.concatenate([kept, kept * (1.0 - 1.0 / n)])
        rows = [self._row(int(mask)) for mask in self._counted]
        # 1/mag is squared in a cell variance; see lattice.cell_variances.
        parts = [part * part * kept[self._residuals[place]] for place, part in rows]
        return _joined([place for place, _ in rows], parts)

    def maps(self, candidates: Ints) -> Maps:
        """What :func:`kernels.objective` needs of the lattice for these candidates."""
        if self.dense:
            return (self.objective.inverse, _NONE, _NONE, _NOTHING, *self._made_of)
        rows = [self._told(int(mask)) for mask in candidates]
        first, place, part = _joined([row[0] for row in rows], [row[1] for row in rows])
        return (self.objective.inverse, first, place, part, *self._made_of)

    def _row(self, mask: int) -> tuple[Ints, Floats]:
        """Places of the residuals below a cuboid, and 1/mag to each."""
        found = self._rows.get(mask)
        if found is None:
            places = np.flatnonzero((self._residuals & ~mask) == 0)
            found = places, self._sizes[self._residuals[places]] / self._sizes[mask]
            self._rows[mask] = found
        return found

    def _told(self, mask: int) -> tuple[Ints, Floats]:
        """Places of the residuals that noise in a cuboid tells, and how well."""
        costs = self.objective.costs
        if not len(costs):
            return self._row(mask)
        place = np.searchsorted(self._residuals, [mask]).astype(np.int64)
        return place, 1.0 / costs[mask : mask + 1]

    @property
    def costs(self) -> Floats:
        """Costs of residuals, where the kernels need them."""
        return self.objective.costs if self.dense else _NOTHING

    def reaches(self, shares: Shares) -> bool:
        """Whether every published cuboid can be computed from cuboids with a share."""
        known = np.zeros(len(self._residuals), np.bool_)
        for mask in shares:
            known[self._told(mask)[0]] = True
        return bool(known.all())

    def figure(self, shares: Shares) -> float:
        """What the goal minimises, of shares of any sum; infinite if a cuboid is missing."""
        if self.dense:
            return self.objective.figure(self.array(shares))
        if not self.reaches(shares):
            return inf
        known, total = np.zeros(len(self._residuals)), sum(shares.values())
        for mask in sorted(shares):
            place, part = self._told(mask)
            known[place] += (shares[mask] / total) ** self.objective.kappa * part
        first, place, part = self._made_of
        variances = np.add.reduceat(part * (self.objective.unit / known)[place], first[:-1])
        values = self.weights * variances
        return float(values.max() if self.objective.goal is Goal.MAXIMUM else values.sum())

    def array(self, shares: Shares) -> Floats:
        """The shares over the lattice, shape (2^d,), with the sum 1."""
        found = np.zeros(len(self.objective.weights))
        found[list(shares)] = list(shares.values())
        return np.asarray(found / found.sum())


def shares_of(array: Floats) -> Shares:
    """The shares above 0 by cuboid."""
    return {int(mask): float(array[mask]) for mask in np.flatnonzero(array)}


def _joined(places: list[Ints], parts: list[Floats]) -> tuple[Ints, Ints, Floats]:
    first = np.concatenate([[0], np.cumsum([len(place) for place in places])]).astype(np.int64)
    return first, np.concatenate(places).astype(np.int64), np.concatenate(parts)


# Local descent: from given shares to a local optimum, dropping shares that are of no use.
#
# The largest variance is approached through p-norms with growing p; the p-norm of m values is
# within a factor m^(1/p) of the largest.

FINAL_POWERS = (64.0, 128.0, 512.0, 2048.0, 8192.0)
"""The norms that end a search for the smallest maximum."""

_BENDS = tuple(1.0 + step / 10 for step in range(11))
_NEGLIGIBLE = 1e-6


@dataclass(frozen=True, eq=False)
class Point:
    """Shares of the budget, sum 1, and log of the p-norm that they reach."""

    value: float
    shares: Shares


@dataclass(eq=False)
class Descent:
    """Descents for one objective; not for use by two threads at once.

    Shares below ``spare`` times the mean share are dropped after each descent: with Laplace noise a
    small share buys information in proportion to its square, hence next to nothing.
    """

    objective: Objective
    stop: Ints
    spare: float = 0.1
    terms: Terms = field(init=False)
    work: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.terms = Terms(self.objective)
        longest = max(len(self.terms.weights), len(self.terms.needed))
        self.work = np.zeros((5, longest))

    def lower(
        self, candidates: Ints, shares: Floats, power: float, steps: int, tolerance: float,
        kappa: float,
    ) -> tuple[float, Floats]:  # fmt: skip
        """At most ``steps`` steps down the p-norm (the sum for 0): its log, shares of sum 1."""
        logs = np.log(shares)
        value = kernels.descend(
            logs, candidates, self.terms.maps(candidates), self.terms.weights, self.terms.needed,
            self.terms.costs, power, kappa, self.work, steps, tolerance, self.stop,
        )  # fmt: skip
        fitted = np.exp(logs - logs.max())
        return float(value), fitted / fitted.sum()

    def run(self, shares: Shares, power: float, steps: int, tolerance: float) -> Point:
        """:meth:`lower`, and drop what is too small, as long as everything stays known."""
        candidates, before = _arrays(shares)
        kappa = float(self.objective.kappa)
        value, fitted = self.lower(candidates, before, power, steps, tolerance, kappa)
        slim = _kept(candidates, fitted, self.spare / len(fitted))
        if not self.terms.reaches(slim):
            slim = _kept(candidates, fitted, 0.0)
        return Point(value, slim)

    def settle(self, shares: Shares, power: float, limit: float = inf) -> Point:
        """A local optimum; given up early if it looks worse than ``limit`` by some percent."""
        if power:
            shares = self.run(shares, min(power, 8.0), 15, 1e-3).shares
        point = self.run(shares, power, 20, 1e-3)
        if point.value > limit + 0.12:
            return point
        point = self.run(point.shares, power, 60, 1e-4)
        if point.value > limit + 0.04:
            return point
        return self.run(point.shares, power, 200, 1e-6)

    def soften(self, shares: Shares, power: float) -> Shares:
        """Shares near a good local optimum of Laplace noise, by way of problems less bent.

        Were information proportional to the share (as for Gaussian noise), the problem would be
        convex; the power of the share grows from 1 to 2 in steps, each from the optimum before.
        """
        for kappa in _BENDS:
            candidates, before = _arrays(shares)
            _, fitted = self.lower(candidates, before, power, 60, 1e-4, kappa)
            shares = _kept(candidates, fitted, float(fitted.max()) * _NEGLIGIBLE)
        return shares

    def finish(self, shares: Shares) -> Shares:
        """The best shares on the way from here to a sharp local optimum of the goal itself."""
        best, reached = shares, self.terms.figure(shares)
        for power in FINAL_POWERS if self.objective.goal is Goal.MAXIMUM else (0.0,):
            shares = self.run(shares, power, 600, 1e-8).shares
            figure = self.terms.figure(shares)
            if figure < reached:
                best, reached = shares, figure
            if self.stop[0]:
                break
        return best


def _arrays(shares: Shares) -> tuple[Ints, Floats]:
    candidates = sorted(shares)
    return np.array(candidates, np.int64), np.array([shares[mask] for mask in candidates])


def _kept(candidates: Ints, shares: Floats, least: float) -> Shares:
    """What is not below ``least``, with the sum 1."""
    kept = shares >= least
    left = shares[kept] / shares[kept].sum()
    return dict(zip(candidates[kept].tolist(), left.tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class Bound:
    """No plan with the objective's sources has a figure below ``value`` (for rho = 1).

    ``worth`` holds what a unit of budget would gain in each place, as a part of what it gains in
    the mean: at the optimum 1 where there is a share, and at most 1 elsewhere.
    """

    value: float
    worth: Floats


def lower_bound(objective: Objective, shares: Floats, power: float) -> Bound:
    """The better bound that the multipliers of the p-norm at these shares give.

    For the sum (power 0) the multipliers are the weights.
    """
    known = objective.known(shares)
    needed = objective.needed
    parts = np.zeros_like(known)
    parts[needed] = 1.0 / known[needed]
    variances = parts.copy()
    kernels.build_up(variances, objective.inverse)
    below = np.zeros_like(known)
    kernels.figure(variances, below, objective.weights, power)
    if objective.goal is Goal.MAXIMUM:
        counted = objective.weights > 0
        below /= (below[counted] / objective.weights[counted]).sum()
    value = float((below * variances)[objective.weights > 0].sum())
    kernels.build_up_adjoint(below, objective.inverse)
    costs = objective.costs if len(objective.costs) else residual_costs(objective.domain.shape)
    bound = float(np.sqrt(below * costs)[needed].sum() ** 2 / 2)
    slopes = below * parts * parts
    if len(objective.costs):
        return Bound(
            bound, np.where(costs > 0, 2 * slopes / (np.where(costs > 0, costs, 1) * value), 0)
        )
    kernels.gather_down_adjoint(slopes, objective.inverse)
    return Bound(
        max(bound, value**2 / (2 * float(slopes[objective.allowed].max()))), 2 * slopes / value
    )


_TINY = 1e-9

Anywhere = Callable[[Random], int]
"""Draws any cuboid that might be of use."""


def neighbour(shares: Shares, dimensions: int, random: Random, anywhere: Anywhere) -> Shares:
    """Shares after one to three random moves; half of the time with a sprinkle of small shares.

    The sum is not kept at 1, and the result may leave a published cuboid without a source.
    """
    changed = dict(shares)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        random.choice(_MOVES)(changed, dimensions, random, anywhere)
        changed = {mask: share for mask, share in sorted(changed.items()) if share > _TINY}
        if not changed:
            return dict(shares)
    if random.random() < 0.5:
        middle = median(changed.values())
        for _ in range(random.choice((4, 8, 16))):
            _give(changed, anywhere(random), random.uniform(0.1, 0.5) * middle)
    return changed


def crossing(one: Shares, other: Shares, random: Random) -> Shares:
    """Each cuboid with the share that it has in one of the two, or in the mean of both."""
    found: Shares = {}
    for mask in sorted({*one, *other}):
        weight = random.choice((0.0, 0.5, 1.0))
        share = weight * one.get(mask, 0.0) + (1.0 - weight) * other.get(mask, 0.0)
        if share > _TINY:
            found[mask] = share
    return found


def _give(shares: Shares, mask: int, amount: float) -> None:
    shares[mask] = shares.get(mask, 0.0) + amount


def _pick(shares: Shares, random: Random) -> int:
    return random.choice(sorted(shares))


def _shift(shares: Shares, source: int, targets: tuple[int, ...], random: Random) -> None:
    amount = shares[source] * random.choice((0.5, 1.0))
    shares[source] -= amount
    for target in targets:
        _give(shares, target, amount / len(targets))


def _flip(shares: Shares, dimensions: int, random: Random, anywhere: Anywhere) -> None:
    """A cuboid gives its share, or half of it, to one with a dimension more or less."""
    source = _pick(shares, random)
    _shift(shares, source, (source ^ 1 << random.randrange(dimensions),), random)


def _exchange(shares: Shares, dimensions: int, random: Random, anywhere: Anywhere) -> None:
    """... to one with another dimension in place of one of its own."""
    source = _pick(shares, random)
    inside = [i for i in range(dimensions) if source >> i & 1]
    outside = [i for i in range(dimensions) if not source >> i & 1]
    if inside and outside:
        swap = 1 << random.choice(inside) | 1 << random.choice(outside)
        _shift(shares, source, (source ^ swap,), random)


def _split(shares: Shares, dimensions: int, random: Random, anywhere: Anywhere) -> None:
    """... to two cuboids below it."""
    source = _pick(shares, random)
    first, second = (source & ~(1 << random.randrange(dimensions)) for _ in range(2))
    _shift(shares, source, (first, second), random)


def _merge(shares: Shares, dimensions: int, random: Random, anywhere: Anywhere) -> None:
    """Two cuboids become one: that of all their dimensions, or of their common ones."""
    first, second = _pick(shares, random), _pick(shares, random)
    amount = max(shares[first], shares[second])
    shares[first] = shares[second] = 0.0
    _give(shares, first | second if random.random() < 0.5 else first & second, amount)


def _add(shares: Shares, dimensions: int, random: Random, anywhere: Anywhere) -> None:
    """Any cuboid gets a share like that of the others."""
    _give(shares, anywhere(random), random.choice((0.5, 1.0, 2.0)) * median(shares.values()))


def _shake(shares: Shares, dimensions: int, random: Random, anywhere: Anywhere) -> None:
    """All shares change a little."""
    for mask in sorted(shares):
        shares[mask] *= random.lognormvariate(0.0, 0.5)


def _drop(shares: Shares, dimensions: int, random: Random, anywhere: Anywhere) -> None:
    """Some cuboids lose all or most of their share."""
    count = min(len(shares) - 1, random.choice((1, 2, 3)))
    for mask in random.sample(sorted(shares), max(count, 0)):
        shares[mask] *= random.choice((0.0, 0.1))


_MOVES = (_flip, _flip, _exchange, _split, _merge, _add, _shake, _drop)


POWER = 32.0
"""The p-norm that chains minimise in place of the maximum."""

SHARP = 128.0
"""The p-norm of the last chain."""

_CHAINS = 8
_MOST_STARTS = 24
_SOFTENED = 6  # descents that one softening takes
_CROSSED, _JOINED = 0.1, 0.3
_FEW = 10
_STEP = "noise shares"


@dataclass(eq=False)
class Search:
    """One search of about ``effort`` descents; ``candidates`` are cuboids to begin with.

    Progress counts on from the descents ``before``.
    """

    descent: Descent
    effort: int
    candidates: Sequence[int]
    token: CancelToken
    report: Report = silent
    random: Random = field(default_factory=lambda: Random(20261121))
    before: int = 0
    power: float = field(init=False)
    done: int = 0

    def __post_init__(self) -> None:
        self.power = POWER if self.descent.objective.goal is Goal.MAXIMUM else 0.0

    def best(self, given: Sequence[Shares]) -> Shares:
        """The best shares that starts (these and softened ones) and chains lead to."""
        points = [self._settled(shares, inf) for shares in given]
        for number in range(min(_MOST_STARTS, self.effort // (8 * _SOFTENED))):
            softened = self.descent.soften(self._start(number), self.power)
            self.done += _SOFTENED
            points.append(self._settled(softened, inf))
        points = sorted(points, key=lambda point: point.value)[:_CHAINS]
        rounds = ceil(log2(len(points))) + (2 if self.power else 1)
        each = max(self.effort - self.done, 0) // rounds
        while True:
            steps = each // len(points)
            points = sorted(
                (self._chain(point, steps, points) for point in points),
                key=lambda point: point.value,
            )
            if len(points) == 1:
                return self._finished([self._sharpened(points[0])])
            points = points[: ceil(len(points) / 2)] if len(points) > 2 else points[:1]

    def joined(self, given: Sequence[Shares]) -> Shares:
        """The best shares that crossing these plans, and chains from the best of them, lead to."""
        points = sorted(
            (self._settled(shares, inf) for shares in given), key=lambda point: point.value
        )
        point = self._chain(points[0], max(self.effort - self.done, 0) // 2, points, _JOINED)
        return self._finished([self._sharpened(point)])

    def _sharpened(self, point: Point) -> Point:
        """A last chain at a norm nearer to the maximum, with what is left of the effort."""
        if not self.power:
            return point
        self.power = SHARP
        start = self._settled(point.shares, inf)
        return self._chain(start, max(self.effort - self.done, 0), [start])

    def _finished(self, points: Sequence[Point]) -> Shares:
        ends = [self.descent.finish(point.shares) for point in points]
        self.token.check()
        return min(ends, key=self.descent.terms.figure)

    def _settled(self, shares: Shares, limit: float) -> Point:
        self.token.check()
        self.done += 1
        if self.done % 50 == 0:
            self.report(StepProgress(_STEP, self.before + self.done, None, "descents"))
        return self.descent.settle(shares, self.power, limit)

    def _start(self, number: int) -> Shares:
        """All candidates with nearly equal shares; the first ones with equal ones."""
        width = 0.3 if number else 0.0
        return {mask: self.random.lognormvariate(0.0, width) for mask in self.candidates}

    def _anywhere(self, random: Random) -> int:
        dimensions = self.descent.objective.dimensions
        if dimensions <= _FEW:
            return random.randrange(1 << dimensions)
        return random.choice(self.candidates)

    def _chain(
        self, point: Point, steps: int, others: Sequence[Point], crossed: float = _CROSSED
    ) -> Point:
        goal, random = self.descent.objective, self.random
        for _ in range(steps):
            if len(others) > 1 and random.random() < crossed:
                shares = crossing(point.shares, random.choice(others).shares, random)
            else:
                shares = neighbour(point.shares, goal.dimensions, random, self._anywhere)
            shares = {mask: share for mask, share in shares.items() if goal.allowed[mask]}
            if shares and self.descent.terms.reaches(shares):
                found = self._settled(shares, point.value)
                if found.value < point.value - 1e-9:
                    point = found
            else:
                self.done += 1
        return point


DENOMINATOR = 10_000_000
"""Shares are whole multiples of one ten-millionth of the budget, so a plan shows them exactly."""


def exact_shares(shares: Floats) -> dict[int, Fraction]:
    """Shares proportional to these up to rounding, that sum to exactly 1, by place; none is 0.

    Largest remainders: every share is rounded down, then the units that are left go to those that
    lost most (the first ones of equals).
    """
    wanted = shares / shares.sum() * DENOMINATOR
    units = np.floor(wanted).astype(np.int64)
    left = DENOMINATOR - int(units.sum())
    order = np.argsort(units - wanted, kind="stable")
    if left >= 0:
        units[order[:left]] += 1
    else:  # the floating-point sum was a little below 1
        units[np.argmax(units)] += left
    return {int(c): Fraction(int(units[c]), DENOMINATOR) for c in np.flatnonzero(units > 0)}


PROVEN_WITHIN = 0.002
"""A Gaussian plan counts as proven when no plan can be better by more than this part."""

_POWERS = (4.0, 16.0, 64.0, 256.0, 1024.0, 4096.0, 16384.0)
_REVIVALS = 12
_REVIVED = 1 << 12
_SMALL = 0.01
_SEARCHES = 3
_SPLIT = 3_000
_SEED = 20261151
_WORK = 110_000_000
_OVERHEAD = 3_000
_LARGE = 8_000  # products of one evaluation from which on the whole search takes less long
_LEAST_EFFORT, _MOST_EFFORT = 40, 30_000
_SUMMED = 2  # sums settle in half the time of a maximum
_FOUND = "The best plan that a search found; a better one may exist."


def plan_optimal(
    shape: Sequence[int], published: Sequence[int], noise: Noise, *, goal: Goal = Goal.MAXIMUM,
    weights: Mapping[int, Weight] | None = None, residuals: bool = False,
    replace: bool = False, rivals: Iterable[CubePlan] = (), effort: int | None = None,
    token: CancelToken | None = None, report: Report = silent, forbidden: Collection[int] = (),
    exact: Collection[int] = (),
) -> CubePlan:  # fmt: skip
    """Sources and shares of the budget that make the goal small after consistency.

    ``forbidden`` cuboids get no noise (their residuals may, as those belong to larger ones too).
    What follows from ``exact`` cuboids, which have none, is known.

    The result is never worse than K_all, K_base, BMax and equal noise on all cuboids below
    published ones, or than the ``rivals`` (plans for the same cuboids and noise). With
    ``residuals`` noise goes to residuals instead of whole cuboids (Gaussian noise alone), and then
    it matters whether neighbours ``replace`` a person.
    ``effort`` is the number of descents for Laplace noise, by default chosen from the size of the
    problem; no clock has a say in the result.

    Raises InputError as :func:`~dpdesk.engine.cubes.optimal.objectives.objective_of` does;
    Cancelled.
    """
    token = token or CancelToken()
    objective = objective_of(
        shape, published, noise, goal, weights,
        residuals=residuals, replace=replace, forbidden=forbidden, exact=exact,
    )  # fmt: skip
    starts = _starts(objective, rivals, token)
    with stop_flag(token) as stop:
        if noise is Noise.GAUSSIAN:
            found, bound = _convex(objective, starts, stop)
        else:
            found, bound = _searched(objective, starts, stop, effort, token, report), 0.0
    token.check()
    terms = Terms(objective)
    shares = min([*starts, found], key=terms.figure)
    reached = terms.figure(shares)
    note = _gap_note(reached, bound) if noise is Noise.GAUSSIAN else _FOUND
    return _plan(objective, shares, note, proven=reached <= bound * (1 + PROVEN_WITHIN))


def _starts(objective: Objective, rivals: Iterable[CubePlan], token: CancelToken) -> list[Shares]:
    """Shares of plans that the result must not be worse than, if they can be measured."""
    domain = objective.domain
    equal = dict.fromkeys(np.flatnonzero(objective.needed).tolist(), 1.0)
    if len(objective.costs):
        return [_whole(equal)]
    equal = {mask: share for mask, share in equal.items() if objective.allowed[mask]}
    starts = [{domain.base: 1.0}, dict.fromkeys(domain.published.tolist(), 1.0), equal]
    whole = (domain.whole_shape, domain.whole_published, domain.noise)
    bmax = plan_bmax(*whole, token, forbidden=domain.whole_forbidden)
    for rival in (bmax, *rivals):
        shares: Shares = {}
        for source in rival.sources:
            mask = domain.renumbered(source.cuboid)
            shares[mask] = shares.get(mask, 0.0) + float(source.share)
        starts.append(shares)
    return [_whole(shares) for shares in starts if objective.allowed[list(shares)].all()]


def _whole(shares: Shares) -> Shares:
    total = sum(shares.values())
    return {mask: share / total for mask, share in shares.items()}


def _searched(
    objective: Objective, starts: Sequence[Shares], stop: Ints, effort: int | None,
    token: CancelToken, report: Report,
) -> Shares:  # fmt: skip
    if objective.dimensions == 0:
        return starts[0]
    cost = Terms(objective).cost + _OVERHEAD
    work = _WORK if objective.goal is Goal.MAXIMUM else _SUMMED * _WORK
    work = work * _LARGE // max(cost, _LARGE)
    effort = effort or min(max(work // cost, _LEAST_EFFORT), _MOST_EFFORT)
    effort = min(effort, 100 * len(objective.weights))
    searches = _SEARCHES if effort >= _SPLIT else 1
    each = effort // (searches + 1) if searches > 1 else effort
    candidates = candidates_of(objective)
    found: list[Shares] = []
    for number in range(searches):
        search = Search(
            Descent(objective, stop), each, candidates, token, report, Random(_SEED + number),
            before=number * each,
        )  # fmt: skip
        found.append(search.best(starts))
    if searches > 1:
        search = Search(
            Descent(objective, stop), each, candidates, token, report, Random(_SEED + searches),
            before=searches * each,
        )  # fmt: skip
        found.append(search.joined(found))
    return min(found, key=Terms(objective).figure)


def _convex(objective: Objective, starts: Sequence[Shares], stop: Ints) -> tuple[Shares, float]:
    """Shares near the optimum, and what no plan can beat, for Gaussian noise."""
    descent = Descent(objective, stop, spare=0.0)
    candidates = set(candidates_of(objective)).union(*starts)
    shares = np.zeros(len(objective.weights))
    shares[sorted(candidates)] = 1 / len(candidates)
    for start in starts:
        shares[list(start)] += list(start.values())
    shares /= shares.sum()
    best, reached, bound = shares, objective.figure(shares), 0.0
    for power in _POWERS if objective.goal is Goal.MAXIMUM else (0.0,):
        for _ in range(_REVIVALS):
            held = np.flatnonzero(shares)
            shares = shares.copy()
            _, shares[held] = descent.lower(held, shares[held], power, 1500, 1e-9, 1.0)
            limit = lower_bound(objective, shares, power)
            bound = max(bound, limit.value)
            figure = objective.figure(shares)
            if figure < reached:
                best, reached = shares, figure
            if stop[0] or reached <= bound * (1 + PROVEN_WITHIN / 10):
                return shares_of(best), bound
            revived = _revived(objective, shares, limit)
            if revived is None:
                break
            shares = revived
    return shares_of(best), bound


def _revived(objective: Objective, shares: Floats, limit: Bound) -> Floats | None:
    """Shares for what is worth more than it has; None when there is nothing."""
    middle = float(shares[shares > 0].mean())
    wanted = (limit.worth > 1 + PROVEN_WITHIN / 20) & objective.allowed
    places = np.flatnonzero(wanted & (shares < _SMALL * middle))
    if not len(places):
        return None
    places = places[np.argsort(-limit.worth[places], kind="stable")[:_REVIVED]]
    found = shares.copy()
    found[places] = np.maximum(found[places], 0.02 * middle)
    return np.asarray(found / found.sum())


def _gap_note(reached: float, bound: float) -> str:
    gap = reached / bound - 1 if bound > 0 else inf
    if gap <= PROVEN_WITHIN:
        return msg(
            "No plan of this kind is better by more than {n:.2f} %.", n=100 * max(gap, 0.0001)
        )
    return msg("A plan of this kind may be better, by at most {n:.1f} %.", n=100 * gap)


def _plan(objective: Objective, shares: Shares, note: str, *, proven: bool) -> CubePlan:
    domain = objective.domain
    residual = bool(len(objective.costs))
    # Dimensions of one category cost nothing, and without them no source would hold some tables.
    single = 0 if residual else sum(1 << i for i, n in enumerate(domain.shape) if n == 1)
    forbidden = set(domain.forbidden.tolist())
    found: dict[int, Fraction] = {}
    for place, share in exact_shares(Terms(objective).array(shares)).items():
        whole = place if place | single in forbidden else place | single
        found[whole] = found.get(whole, Fraction(0)) + share
    sources = tuple(
        NoiseSource(domain.original(place), share, residual)
        for place, share in sorted(found.items())
    )
    return CubePlan(domain.whole_shape, domain.whole_published, domain.noise, sources, proven, note)
