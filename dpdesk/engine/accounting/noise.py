"""The privacy losses of one draw of noise: the worst two neighbouring tables for each kind.

**Laplace, any number of cells.** One unit changes the values by a vector v with ‖v‖₁ ≤ Δ. Walk from
the one table to the other along v: each step of length t is t/b-indistinguishable, so the
probability p(t) of any test obeys p' ≤ min(p, 1 − p)/b. The threshold tests between Lap(0, b) and
Lap(Δ, b) attain this with equality at every p, so no v is told apart better than one cell that
moves by Δ, at any level of the test; by Blackwell's theorem one cell moving by Δ dominates, also
under composition. The discrete Laplace is the same with whole steps: a step of the grid is
a-indistinguishable (a = 1/b), p ↦ min(e^a p, 1 − e^{−a}(1 − p)) bounds every test, and the
threshold tests of the two-sided geometric distribution, randomised between neighbouring
thresholds, attain it: its tail probabilities q^j/(1 + q) and 1 − q^j/(1 + q), q = e^{−a}, are
mapped on each other. For Δ = 1 that is randomised response: the worst mechanism with pure ε there
is (Kairouz, Oh and Viswanath 2015), so ``PURE`` is treated as one such step.
Taking r steps as one of r·a only weakens the bound on each test, so a long walk may be coarsened.

**Gaussian.** Rotating the cells shows that only ‖v‖₂ matters: L ~ N(ρ, 2ρ), ρ = ‖v‖₂²/(2σ²), and
c draws are one with c·ρ. **Discrete Gaussian**, one cell moving by at most Δ: its probabilities
are log-concave, so threshold tests are best and their power grows with the shift.

All these pairs are symmetric (x ↦ Δ − x swaps them), so δ(ε) is the same in both directions.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from dpdesk.core.budget import Draws, Noise
from dpdesk.engine.accounting.privacy_losses import (
    UNIT,
    Losses,
    Vector,
    point_masses,
    repeated,
    rounded_step,
)

_LONGEST_WALK = 4096
_CELLS = 2048
_DEVIATIONS = 9.5
_WIDEST_GAUSSIAN = 1 << 14
_LARGEST_VARIANCE = 10**10
# Moving every loss by t changes δ by at most t; places of cells are off by less than this times
# their size.
_OFF = 64.0 * UNIT


def grouped(draws: Draws, size: int) -> Draws:
    """The same draws for a group of ``size`` neighbouring steps (group privacy).

    Laplace: a walk ``size`` times as long. Gaussian: the L2 norm at most ``size`` times as large.
    Discrete Gaussian: several cells may move then, of which only ρ·size² is known.
    """
    if size == 1:
        return draws
    if draws.noise is Noise.PURE:
        step = draws.sensitivity / draws.spread
        return Draws(Noise.DISCRETE_LAPLACE, Fraction(size), 1 / step, draws.count)
    if draws.noise in (Noise.DISCRETE_GAUSSIAN, Noise.CONCENTRATED):
        rho = draws.rho / draws.count * size**2
        return Draws(Noise.CONCENTRATED, rho, Fraction(1), draws.count)
    return replace(draws, sensitivity=draws.sensitivity * size)


def is_tellable(draws: Draws) -> bool:
    """Whether :func:`losses_of` knows the losses (and has the memory for them)."""
    if draws.noise is Noise.DISCRETE_GAUSSIAN:
        return draws.spread <= _LARGEST_VARIANCE
    return draws.noise is not Noise.CONCENTRATED


def one_draw(draws: Draws) -> Losses:
    """The privacy losses of one of these draws."""
    return losses_of(replace(draws, count=1))


def losses_of(draws: Draws) -> Losses:
    """The privacy losses of all these draws together. Raises ValueError for ``CONCENTRATED``."""
    if draws.noise is Noise.LAPLACE:
        return repeated(_laplace(float(draws.sensitivity / draws.spread)), draws.count)
    if draws.noise is Noise.GAUSSIAN:
        return _gaussian(draws.rho)
    if draws.noise is Noise.DISCRETE_GAUSSIAN:
        return repeated(_discrete_gaussian(int(draws.sensitivity), draws.spread), draws.count)
    if draws.noise is Noise.PURE:
        step = draws.sensitivity / draws.spread
        return repeated(_walk(1, step), draws.count)
    if draws.noise is Noise.DISCRETE_LAPLACE:
        return repeated(_walk(int(draws.sensitivity), 1 / draws.spread), draws.count)
    raise ValueError("only ρ is known of these draws")


def merged(draws: Iterable[Draws]) -> tuple[Draws, ...]:
    """Equal draws together; those that change nothing are left out."""
    counts: dict[tuple[Noise, Fraction, Fraction], int] = {}
    for one in draws:
        if one.sensitivity:
            key = (one.noise, one.sensitivity, one.spread)
            counts[key] = counts.get(key, 0) + one.count
    return tuple(Draws(*key, count) for key, count in counts.items())


def _walk(steps: int, loss: Fraction) -> Losses:
    """The two-sided geometric noise, moved by ``steps`` of privacy loss ``loss`` each.

    From the top: loss (steps − 2j)·loss with P-mass 1/(1+q), (1−q)q^j/(1+q) for 0 < j < steps, and
    q^steps/(1+q), where q = e^{−loss}.
    """
    if steps > _LONGEST_WALK:
        stride = -(-steps // _LONGEST_WALK)
        steps, loss = -(-steps // stride), loss * stride
    rate = float(loss)
    fall = math.exp(-rate)
    masses = -math.expm1(-rate) * np.exp(-rate * np.arange(steps + 1))
    masses[0], masses[-1] = 1.0, math.exp(-rate * steps)
    masses /= 1.0 + fall
    # exp and the product in it are off by u·(1 + rate·steps), relative; e^{-745} is 0 in floats.
    relative = (8.0 + 4.0 * min(rate * steps, 745.0)) * UNIT
    return Losses(-steps * loss, 2 * loss, masses[::-1].copy(), relative=relative, slack=1e-290)


def _laplace(ratio: float) -> Losses:
    """Continuous Laplace noise whose privacy loss lies in [−ratio, ratio].

    Under P, L = ratio with mass 1/2, L = −ratio with mass e^{−ratio}/2, and the mass of (l₁, l₂)
    between is (e^{−(ratio − l₂)/2} − e^{−(ratio − l₁)/2})/2; the Q-mass of a cell is e^{−(l₁+l₂)/2}
    times its P-mass, so a cell is split like a point in its middle.
    """
    ratio *= 1.0 + 4 * UNIT
    edges = ratio * np.linspace(-1.0, 1.0, 2 * _CELLS + 1)
    width = ratio / _CELLS
    inner = -0.5 * math.expm1(-width / 2.0) * np.exp((edges[1:] - ratio) / 2.0)
    middles = (edges[1:] + edges[:-1]) / 2.0
    places = np.concatenate([[-ratio], middles, [ratio]])
    masses = np.concatenate([[0.5 * math.exp(-ratio)], inner, [0.5]])
    found = point_masses(places, masses, rounded_step(width))
    relative = found.relative + (16.0 + 4.0 * min(ratio, 745.0)) * UNIT
    return replace(found, relative=relative, slack=_OFF * ratio)


def _gaussian(rho: Fraction) -> Losses:
    """L ~ N(ρ, 2ρ) under P and N(−ρ, 2ρ) under Q; each cell is split by its P- and Q-mass."""
    mean = float(rho) * (1.0 + 4 * UNIT)
    deviation = math.sqrt(2.0 * mean)
    step = rounded_step(deviation / 400.0)
    width = float(step)
    first = math.floor((mean - _DEVIATIONS * deviation) / width)
    last = math.ceil((mean + _DEVIATIONS * deviation) / width)
    places = width * np.arange(first, last + 1, dtype=np.float64)
    under_p, below, above = _normal_cells((places - mean) / deviation)
    under_q, _, _ = _normal_cells((places + mean) / deviation)
    with np.errstate(divide="ignore", invalid="ignore"):
        kept = np.exp(np.log(under_q) - np.log(under_p) + places[:-1])
    # erfc is off by a few u of itself, a cell by that of its tail: some 2000 u, divided by the
    # width here. A larger share above is the safe side.
    share = (1.0 - np.nan_to_num(kept, nan=0.0)) / -math.expm1(-width) + 4096.0 * UNIT / width
    share = np.clip(share, 0.0, 1.0)
    masses = np.zeros(len(places))
    masses[:-1] += under_p * (1.0 - share)
    masses[1:] += under_p * share
    masses[0] += below
    slack = 16.0 * UNIT * len(places) + _OFF * (mean + _DEVIATIONS * deviation)
    return Losses(first * step, step, masses, above * 1.0001, slack=slack)


def _normal_cells(edges: Vector) -> tuple[Vector, float, float]:
    """Masses of the standard normal distribution between edges, below them and above them."""
    tails = np.array([0.5 * math.erfc(abs(edge) / math.sqrt(2.0)) for edge in edges.tolist()])
    right = edges >= 0.0
    cells = np.abs(np.diff(tails))
    across = right[1:] & ~right[:-1]
    cells[across] = 1.0 - tails[:-1][across] - tails[1:][across]
    return cells, float(tails[0]), float(tails[-1])


def _discrete_gaussian(shift: int, variance: Fraction) -> Losses:
    """exp(−z²/2σ²) on the integers, moved by ``shift``: L = (2z·shift + shift²)/(2σ²)."""
    reach = math.ceil(_DEVIATIONS * math.sqrt(float(variance))) + 2
    low = Fraction(shift * (shift - 2 * reach), 2) / variance
    step = Fraction(shift) / variance
    offsets = np.arange(-reach, reach + 1, dtype=np.float64)
    weights = np.exp(-(offsets**2) / (2.0 * float(variance)))
    # Beyond the reach the weights fall faster than a geometric series of this ratio.
    ratio = math.exp(-reach / float(variance))
    tail = float(weights[-1]) * ratio / (1.0 - ratio)
    total = float(weights.sum())
    masses = weights / total
    masses[0] += tail / total
    relative = (len(weights) + 8.0 + 4.0 * _DEVIATIONS**2) * UNIT
    found = Losses(low, step, masses, tail / total * 1.0001, relative)
    if len(masses) > _WIDEST_GAUSSIAN:
        coarse = point_masses(found.values, masses, rounded_step(found.deviation / 400.0))
        return replace(coarse, infinite=found.infinite, relative=relative + coarse.relative)
    return found
