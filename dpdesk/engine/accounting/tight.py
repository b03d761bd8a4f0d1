"""The tight (ε, δ) of many draws of noise together: an upper bound close to the truth.

Draws of which the losses are known are composed numerically (``losses`` says why the result is an
upper bound). What only ρ or (ε, δ) is known of is added by basic composition, with δ shared out, or
all is added up as Rényi curves, whichever is less.
The result is never above the simple bound, because the smaller of two valid bounds is told.

The settings of the mechanisms must not depend on earlier noisy results; sums of ε and of ρ, which
limits are checked against, need no such assumption (Rogers, Roth, Ullman and Vadhan 2016; Feldman
and Zrnic 2021).
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpdesk.core.budget import Draws, Noise
from dpdesk.engine.accounting.conversion import renyi_epsilon, up, zcdp_epsilon
from dpdesk.engine.accounting.noise import is_tellable, losses_of, merged, one_draw
from dpdesk.engine.accounting.privacy_losses import Losses, convolved, on_grid, rounded_step

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


_POINTS, _MOST_POINTS = 1 << 14, 1 << 17
_WIDTHS = 18.0
_SHARES: tuple[float, ...] = (0.5, 0.9, 0.99, 0.999, 0.1, 0.01)


def _nothing() -> None:
    """Nobody asks to stop."""


@dataclass(frozen=True)
class Known:
    """Mechanisms to be composed: draws, and what is known only as ε and δ."""

    draws: tuple[Draws, ...]
    approximate: tuple[Fraction, Fraction] = (Fraction(0), Fraction(0))


def tight_epsilon(
    known: Known, delta: Fraction, check: Callable[[], None] = _nothing
) -> float | None:
    """An ε that holds at ``delta`` for all of ``known`` together; None where none was found.

    Never more than the sum of pure ε (but for a rounding up of the last bit). ``check`` is called
    now and then and may raise (to cancel).
    """
    epsilon, spent = known.approximate
    rest = delta - spent
    if rest < 0:
        return None
    tellable = merged(one for one in known.draws if is_tellable(one))
    rho = sum((one.rho for one in known.draws if not is_tellable(one)), Fraction(0))
    found = _composed_bounds(tellable, rho, rest, check)
    pure = [one.epsilon for one in known.draws]
    if None not in pure:
        found.append(float(sum(filter(None, pure), Fraction(0))))
    if rest > 0 and (rho or not found):
        found.append(renyi_bound(known.draws, rest))
    total = min(found) + float(epsilon) if found else None
    return up(total, 4) if total else total


def _composed_bounds(
    draws: Sequence[Draws], rho: Fraction, delta: Fraction, check: Callable[[], None]
) -> list[float]:
    """ε of these draws at a part of ``delta``, plus that of ``rho`` at the rest of it."""
    if not draws:
        return [] if rho else [0.0]
    losses, found = composed(draws, check), []
    for share in _SHARES if rho else (1,):
        part = delta * Fraction(share)
        alone = losses.epsilon(_down(part))
        if alone is not None and (not rho or part < delta):
            found.append(alone + zcdp_epsilon(rho, delta - part) if rho else alone)
    return found


def tight_delta(draws: Iterable[Draws], epsilon: float) -> float:
    """δ at ``epsilon`` for draws of which the losses are known; 0 for none."""
    found = merged(draws)
    return composed(found).delta(epsilon) if found else 0.0


def _down(value: Fraction) -> float:
    return max(0.0, math.nextafter(float(value), 0.0))


def composed(draws: Sequence[Draws], check: Callable[[], None] = _nothing) -> Losses:
    """The losses of all draws (at least one) together."""
    parts: list[Losses] = []
    for one in _with_one_gaussian(draws):
        check()
        parts.append(losses_of(one))
    if len(parts) == 1:
        return parts[0]
    step = _common_step(parts)
    queue = [(len(part.masses), number, part) for number, part in enumerate(_all_on(parts, step))]
    heapq.heapify(queue)
    number = len(queue)
    while len(queue) > 1:
        check()
        first, second = heapq.heappop(queue)[2], heapq.heappop(queue)[2]
        both = convolved(first, second)
        heapq.heappush(queue, (len(both.masses), number, both))
        number += 1
    return queue[0][2]


def _with_one_gaussian(draws: Sequence[Draws]) -> list[Draws]:
    """Continuous Gaussian draws are one draw with the sum of their ρ."""
    found = [one for one in draws if one.noise is not Noise.GAUSSIAN]
    rho = sum((one.rho for one in draws if one.noise is Noise.GAUSSIAN), Fraction(0))
    if rho:
        found.append(Draws(Noise.GAUSSIAN, Fraction(1), 1 / (2 * rho)))
    return found


def _common_step(parts: Sequence[Losses]) -> Fraction:
    """Fine beside the deviation of the sum, and coarse enough for the memory."""
    deviation = math.sqrt(sum(part.deviation**2 for part in parts))
    widest = sum(float(part.step) * len(part.masses) for part in parts)
    return rounded_step(max(_WIDTHS * deviation / _POINTS, widest / _MOST_POINTS, 1e-12))


def _all_on(parts: Sequence[Losses], step: Fraction) -> list[Losses]:
    return [on_grid(part, step) for part in parts]
