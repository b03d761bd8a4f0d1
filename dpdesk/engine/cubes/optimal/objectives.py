"""What a planner minimises: a goal over the lattice of the dimensions that occur.

A cell of cuboid C has variance v_C after consistency (closed form: ``cell_variances``). Goals are
the largest weight * v_C, the sum of weight * v_C, or the same with every cell counted (expected
total squared error). All are homogeneous in the budget, so one unit is planned: epsilon = 1 with
variance 2/share^2 of a noisy cell, or rho = 1 with 1/(2 share).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from functools import cached_property
from math import inf, pi, prod, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import InputError
from dpdesk.engine.cubes.lattice import (
    CubePlan,
    Floats,
    cell_variances,
    cells,
    down_closure,
    information,
    lattice_sizes,
    members,
)
from dpdesk.engine.cubes.planners import CoverProblem, cover_problem
from dpdesk.engine.private.kinds import Noise

Weight = float | Fraction


MOST_BELOW = 1 << 24
"""Noise is put only in cuboids that have at most this many cells together with all their sums, or
no more than the largest published cuboid: else memory, not privacy, would end the plan."""


MOST_CANDIDATES = 1 << 12
"""A search begins with at most about this many cuboids."""

_MOST_JOINED = 400


class Goal(Enum):
    """Which figure of the weighted cell variances is minimised."""

    MAXIMUM = "maximum"
    SUM = "sum"
    TOTAL = "total-squared-error"


@dataclass(frozen=True, eq=False)
class Objective:
    """A goal on the renumbered lattice of ``domain``; arrays have shape (2^d,).

    ``weights`` are 0 for cuboids that do not count and hold the cells as well for Goal.TOTAL;
    ``needed`` marks residuals that a published cuboid is made of, ``allowed`` cuboids that may have
    noise of their own (see :data:`MOST_BELOW`; residuals that there are). ``costs`` is empty, or
    with residual sources what one unit of information about a residual costs: prod(1 - 1/n_i).
    ``fixed`` marks residuals that are known exactly, without noise (none when it is empty).
    """

    domain: CoverProblem
    goal: Goal
    weights: Floats
    needed: NDArray[np.bool_]
    allowed: NDArray[np.bool_]
    costs: Floats
    fixed: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))

    @property
    def kappa(self) -> int:
        """Information grows with this power of the share: 2 for Laplace, 1 for Gaussian noise."""
        return 2 if self.domain.noise is Noise.LAPLACE else 1

    @property
    def unit(self) -> float:
        """Variance of a noisy cell that gets the whole of a budget of 1."""
        return 2.0 if self.domain.noise is Noise.LAPLACE else 0.5

    @cached_property
    def inverse(self) -> Floats:
        """1/n_i of the dimensions."""
        return 1.0 / np.array(self.domain.shape, np.float64)

    @property
    def dimensions(self) -> int:
        """How many dimensions occur."""
        return len(self.domain.shape)

    def known(self, shares: Floats) -> Floats:
        """W of every residual for these shares of a budget of 1."""
        own = shares**self.kappa / self.unit
        if len(self.costs):
            with np.errstate(invalid="ignore", divide="ignore"):
                known = np.where(self.costs > 0, own / self.costs, 0.0)
        else:
            known = information(own, self.domain.shape)
        if len(self.fixed):
            known[self.fixed] = inf
        return known

    def variances(self, shares: Floats) -> Floats:
        """Cell variance of every cuboid for these shares of a budget of 1."""
        return cell_variances(self.known(shares), self.domain.shape)

    def figure(self, shares: Floats) -> float:
        """What the goal minimises, for shares that sum to 1; infinite if a cuboid is missing."""
        if not self.reaches(shares):
            return inf
        counted = self.weights > 0
        values = self.weights[counted] * self.variances(shares)[counted]
        return float(values.max() if self.goal is Goal.MAXIMUM else values.sum())

    def reaches(self, shares: Floats) -> bool:
        """Whether every published cuboid can be computed from cuboids with a share."""
        return bool((self.known(shares)[self.needed] > 0).all())


def objective_of(
    shape: Sequence[int], published: Sequence[int], noise: Noise, goal: Goal = Goal.MAXIMUM,
    weights: Mapping[int, Weight] | None = None, *, residuals: bool = False,
    replace: bool = False, forbidden: Collection[int] = (), exact: Collection[int] = (),
) -> Objective:  # fmt: skip
    """The goal with these weights (by published cuboid, 1 where none is given).

    ``forbidden`` cuboids get no noise; their residuals may. ``exact`` cuboids are released without
    noise, so nothing below them needs any. ``replace`` says that neighbours differ
    by a replaced person, which matters for residuals.

    Raises InputError for weights below 0, all 0 or of unpublished cuboids, for residual sources
    without Gaussian noise, and as
    :func:`~dpdesk.engine.cubes.planners.cover_problem` does. A dimension of a single value
    has no residual, so no source has it.
    """
    domain = cover_problem(shape, published, noise, forbidden)
    cells = lattice_sizes(domain.shape)
    given = _checked(weights or {}, domain.whole_published)
    array = np.zeros(len(cells))
    for mask in domain.whole_published:
        array[domain.renumbered(mask)] = given.get(mask, 1.0)
    if goal is Goal.TOTAL:
        array *= cells
    needed = down_closure(domain.published.tolist(), len(domain.shape))
    single = sum(1 << i for i, n in enumerate(domain.shape) if n == 1)
    needed &= (np.arange(len(cells)) & single) == 0
    costs = residual_costs(domain.shape, replace=replace) if residuals else np.zeros(0)
    if residuals and noise is Noise.LAPLACE:
        raise InputError(
            "cube.residual-laplace", "Residuals can be measured only with Gaussian noise.",
            hint="Choose Gaussian noise, or noise in whole cuboids.",
        )  # fmt: skip
    allowed = costs > 0 if residuals else _allowed(domain)
    if not residuals:
        allowed[domain.forbidden] = False
    if not exact:
        return Objective(domain, goal, array, needed, allowed, costs)
    fixed = down_closure([domain.renumbered(mask) for mask in exact], len(domain.shape))
    return Objective(domain, goal, array, needed & ~fixed, allowed & ~fixed, costs, fixed)


def candidates_of(objective: Objective) -> list[int]:
    """Cuboids (or residuals) that may be worth noise of their own, ascending.

    All of a small lattice. Of a large one those below published cuboids, and the smallest unions
    of two published ones.
    """
    allowed, domain = objective.allowed, objective.domain
    if len(objective.costs) or len(allowed) <= MOST_CANDIDATES:
        wanted = objective.needed if len(objective.costs) else allowed
        return [int(mask) for mask in np.flatnonzero(wanted)]
    below = np.flatnonzero(down_closure(domain.published.tolist(), len(domain.shape)))
    order = np.argsort(-domain.sizes[domain.published], kind="stable")
    largest = domain.published[order[:_MOST_JOINED]]
    unions = np.unique(np.bitwise_or.outer(largest, largest))
    unions = unions[np.argsort(domain.sizes[unions], kind="stable")]
    room = max(MOST_CANDIDATES - len(below), 0)
    found = np.union1d(below, unions[allowed[unions]][:room])
    return [int(mask) for mask in found[allowed[found]]]


def residual_costs(shape: Sequence[int], *, replace: bool = False) -> Floats:
    """Square of the L2 distance by which one person moves each residual, relative to a cuboid's.

    prod(1 - 1/n_i) for a person who is added or removed. One who is replaced moves a residual most
    when exactly one dimension j changes: prod(1 - 1/n_i) + prod over i but j of (1 - 1/n_i) / n_j;
    and the grand total by half, as who is replaced by nobody of the domain is removed.
    """
    costs, moved = np.ones(1), np.zeros(1)
    for n in shape:
        moved = np.concatenate([moved, np.maximum(moved * (1.0 - 1.0 / n), costs / n)])
        costs = np.concatenate([costs, costs * (1.0 - 1.0 / n)])
    if replace:
        costs += moved
        costs[0] = 0.5
    return costs


def _allowed(domain: CoverProblem) -> NDArray[np.bool_]:
    with_sums = lattice_sizes([n + 1 for n in domain.shape])
    limit = max(float(MOST_BELOW), float(with_sums[domain.published].max()))
    return np.asarray(with_sums <= limit)


def _checked(weights: Mapping[int, Weight], published: Sequence[int]) -> dict[int, float]:
    if set(weights) - set(published):
        raise InputError("cube.weight-unpublished", "A weight belongs to an unpublished cuboid.")
    given = {mask: float(weight) for mask, weight in weights.items()}
    if any(not 0 <= weight < inf for weight in given.values()):
        raise InputError("cube.negative-weight", "Weights of cuboids must be 0 or more.")
    if len(given) == len(published) and not any(given.values()):
        raise InputError("cube.no-weight", "At least one published cuboid must have a weight.")
    return given


# How the error of a published cell is spread.
#
# The error of a published cell is a sum of independent noises with known coefficients. For
# Gaussian noise it is (all but exactly) Gaussian. For Laplace noise the coefficient of a noisy
# cell depends only on the dimensions on which it agrees with the published cell, so the
# characteristic function of the error is a short product of 1/(1 + (b c t)^2)^m, and the
# probability of a half-width follows by numerical inversion (Gil-Pelaez): exact up to the
# integration, without simulation and without data. Half-widths are linear in the noise, so all
# errors scale with 1/epsilon or 1/sqrt(rho).


def plan_information(plan: CubePlan, budget: float, *, replace: bool = False) -> Floats:
    """W of every residual for sensitivity 1 and this epsilon or rho, shape (2^d,).

    A noisy cell has variance 2/(share*epsilon)^2, or 1/(2*share*rho), and one of a residual source
    c/(2*share*rho), where c is its
    :func:`~dpdesk.engine.cubes.optimal.objectives.residual_costs`. Discrete Laplace noise varies a
    little less, so this errs on the safe side.
    """
    size = 1 << len(plan.shape)
    own, direct = np.zeros(size), np.zeros(size)
    costs = residual_costs(plan.shape, replace=replace)
    for source in plan.sources:
        part = float(source.share) * budget
        if source.residual:
            direct[source.cuboid] += 2.0 * part / costs[source.cuboid]
        else:
            own[source.cuboid] += part**2 / 2 if plan.noise is Noise.LAPLACE else 2.0 * part
    known = information(own, plan.shape) + direct
    if plan.exact:
        known[down_closure(plan.exact, len(plan.shape))] = np.inf
    return known


def plan_variances(plan: CubePlan, budget: float, *, replace: bool = False) -> Floats:
    """Variance of one cell of every cuboid after consistency, shape (2^d,).

    Infinite for cuboids that the sources do not determine. For sensitivity 1; it grows with the
    square of the sensitivity. Source: resources/docs/cubes.md.
    """
    return cell_variances(plan_information(plan, budget, replace=replace), plan.shape)


_STEP = 0.1
_STEPS = 3_000
_CHUNK = 64


def noise_quantiles(plan: CubePlan, cuboid: int, count: int) -> Floats:
    """The error of a cell of ``cuboid`` in units of its standard deviation, by quantiles.

    ``count`` equally likely values, ascending: the quantiles at (i + 1/2)/count, symmetric about 0.
    Raises ValueError where the plan's sources do not determine the cuboid.
    """
    deviation = sqrt(plan_variances(plan, 1.0)[cuboid])
    if deviation == inf:
        raise ValueError("no source determines this cuboid")
    places = (np.arange(count) + 0.5) / count
    if plan.noise is Noise.GAUSSIAN:
        return np.array([NormalDist().inv_cdf(place) for place in places.tolist()])
    damping = _characteristic(plan, cuboid, deviation)
    upper = [_quantile(damping, 2 * place - 1) for place in places.tolist() if place > 0.5]
    middle = [0.0] * (count % 2)
    return np.array([*(-value for value in reversed(upper)), *middle, *upper])


def _coefficients(plan: CubePlan, cuboid: int, known: Floats) -> Iterator[tuple[Floats, Floats]]:
    """For each source: coefficients of its noisy cells times the scale b, and how many have each.

    The S-residual of the estimate is the sum over sources D above S of own_D/(mag(S, D) W_S) times
    the S-residual of D summed down to S. So a noisy cell of D that agrees with the published cell
    on the dimensions T, of those I that D and C share, has the coefficient own_D * sum over S in I
    of (1/W_S) * prod over D without S of 1/n * prod over C without S of 1/n * prod over S of
    ([i in T] - 1/n).
    """
    shape = plan.shape
    for source in plan.sources:
        share = float(source.share)
        common = members(source.cuboid & cuboid)
        apart = prod(1.0 / shape[i] for i in members(cuboid ^ source.cuboid))
        sets = _subsets(common)
        with np.errstate(divide="ignore"):
            values = apart / known[sets]
        counts = np.full(len(sets), cells(source.cuboid & ~cuboid, shape), np.float64)
        step = 1
        for i in common:
            n = shape[i]
            pairs, many = values.reshape(-1, 2, step), counts.reshape(-1, 2, step)
            without, inside = pairs[:, 0] / n**2, pairs[:, 1].copy() if n > 1 else 0 * pairs[:, 1]
            pairs[:, 0], pairs[:, 1] = without - inside / n, without + inside * (1 - 1 / n)
            many[:, 0] *= n - 1
            step *= 2
        yield values * (share / 2), counts


def _subsets(dimensions: Sequence[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Masks of all subsets; bit k of the place stands for the k-th of these dimensions."""
    masks = np.zeros(1, np.int64)
    for i in dimensions:
        masks = np.concatenate([masks, masks | (1 << i)])
    return masks


def _characteristic(plan: CubePlan, cuboid: int, deviation: float) -> Floats:
    """Characteristic function of the error in units of its deviation, at the midpoints of steps."""
    known = plan_information(plan, 1.0)
    times = (np.arange(_STEPS) + 0.5) * _STEP
    exponent = np.zeros(_STEPS)
    squares = times * times
    for scaled, counts in _coefficients(plan, cuboid, known):
        ratios = (scaled / deviation) ** 2
        for first in range(0, len(ratios), _CHUNK):
            part = slice(first, first + _CHUNK)
            exponent -= counts[part] @ np.log1p(ratios[part, None] * squares)
    return np.exp(exponent)


def _quantile(damping: Floats, coverage: float) -> float:
    """The h with Pr(|X| <= h) = coverage, by bisection of the inverted characteristic function."""
    times = (np.arange(_STEPS) + 0.5) * _STEP
    weights = damping / times * (2 * _STEP / pi)
    low, high = 0.0, 20.0
    for _ in range(50):
        middle = (low + high) / 2
        if float(weights @ np.sin(middle * times)) < coverage:
            low = middle
        else:
            high = middle
    return (low + high) / 2
