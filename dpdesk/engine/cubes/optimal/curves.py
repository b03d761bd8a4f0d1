"""How the error of a published cell is spread.

The error of a published cell is a sum of independent noises with known coefficients. For Gaussian
noise it is (all but exactly) Gaussian. For Laplace noise the coefficient of a noisy cell depends
only on the dimensions on which it agrees with the published cell, so the characteristic function of
the error is a short product of 1/(1 + (b c t)^2)^m, and the probability of a half-width follows by
numerical inversion (Gil-Pelaez): exact up to the integration, without simulation and without data.
Half-widths are linear in the noise, so all errors scale with 1/epsilon or 1/sqrt(rho).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf, pi, prod, sqrt
from statistics import NormalDist

import numpy as np

from dpdesk.engine.cubes.lattice import (
    Floats,
    cell_variances,
    cells,
    down_closure,
    information,
    members,
)
from dpdesk.engine.cubes.optimal.objectives import residual_costs
from dpdesk.engine.cubes.plans import CubePlan
from dpdesk.engine.private.kinds import Noise


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
