"""Rényi divergences of draws of noise: curves that add up under composition.

A curve τ(α) bounds the Rényi divergence D_α = ln E[e^{(α−1)L}]/(α−1) of a mechanism, L being the
privacy loss; under composition curves add up at every α (Mironov 2017, Proposition 1).

- randomised response, the worst mechanism with pure ε: with p = e^ε/(1+e^ε),
  τ = ln(p^α(1−p)^{1−α} + (1−p)^α p^{1−α})/(α−1) (Mironov 2017, Proposition 5); as
  p/(1−p) = e^ε this is E over L = ±ε with masses p and 1−p;
- Laplace with sensitivity/scale r: τ = ln(α/(2α−1)·e^{(α−1)r} + (α−1)/(2α−1)·e^{−αr})/(α−1)
  (Mironov 2017, Proposition 6);
- Gaussian, and everything of which ρ is known: τ = αρ (Bun and Steinke 2016);
- discrete Laplace in several steps: the sum over its losses, all of which are known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

import numpy as np

from dpdesk.core.budget import Draws, Noise
from dpdesk.engine.accounting.conversion import renyi_epsilon, up
from dpdesk.engine.accounting.noise import merged, one_draw

Curve = Callable[[float], float]
_ROUNDING = 1e-12


def curve(draws: Draws) -> Curve:
    """An upper bound on the Rényi divergence of all these draws, for orders α > 1."""
    count = draws.count
    if draws.noise is Noise.LAPLACE:
        ratio = up(float(draws.sensitivity / draws.spread))
        return lambda order: count * _laplace(ratio, order)
    one_step = draws.noise is Noise.DISCRETE_LAPLACE and draws.sensitivity == 1
    if draws.noise is Noise.PURE or one_step:
        epsilon = up(float(draws.sensitivity / draws.spread))
        return lambda order: count * _response(epsilon, order)
    if draws.noise is Noise.DISCRETE_LAPLACE:
        return _by_losses(draws)
    rho = up(float(draws.rho))
    return lambda order: order * rho


def _laplace(ratio: float, order: float) -> float:
    first = math.log(order / (2 * order - 1)) + (order - 1) * ratio
    second = math.log((order - 1) / (2 * order - 1)) - order * ratio
    return _divergence(first, second, order, ratio)


def _response(epsilon: float, order: float) -> float:
    # p^α(1−p)^{1−α} = p·e^{(α−1)ε}: with masses p and 1−p, losses ±ε
    likely = -math.log1p(math.exp(-epsilon))
    return _divergence(
        likely + (order - 1) * epsilon, likely - epsilon - (order - 1) * epsilon, order, epsilon
    )


def _divergence(first: float, second: float, order: float, most: float) -> float:
    """ln(e^first + e^second)/(α−1), rounded up, and never more than the largest loss."""
    high, low = max(first, second), min(first, second)
    total = high + math.log1p(math.exp(low - high))
    lost = _ROUNDING * (abs(first) + abs(second) + 1.0)
    return min(most, max(0.0, total + lost) / (order - 1))


def _by_losses(draws: Draws) -> Curve:
    losses, count = one_draw(draws), draws.count
    values = losses.values
    with np.errstate(divide="ignore"):
        logs = np.log(losses.masses)
    most = up(float(values[-1]))

    def at(order: float) -> float:
        exponents = logs + (order - 1) * values
        high = float(exponents.max())
        total = high + math.log(float(np.exp(exponents - high).sum()))
        lost = _ROUNDING * (abs(high) + 1.0) + 2.0 * losses.relative
        return count * min(most, max(0.0, total + lost) / (order - 1))

    return at


def renyi_bound(draws: Iterable[Draws], delta: Fraction) -> float:
    """An ε that holds at ``delta`` > 0 for all draws together, by their Rényi curves."""
    curves: Sequence[Curve] = [curve(one) for one in merged(draws)]
    if not curves:
        return 0.0
    return renyi_epsilon(lambda order: math.fsum(one(order) for one in curves), delta)
