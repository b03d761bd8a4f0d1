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

from dpdesk.core.budget import Draws, Noise
from dpdesk.engine.accounting.conversion import up, zcdp_epsilon
from dpdesk.engine.accounting.losses import Losses, convolved, on_grid, rounded_step
from dpdesk.engine.accounting.noise import is_tellable, losses_of, merged
from dpdesk.engine.accounting.renyi import renyi_bound

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
