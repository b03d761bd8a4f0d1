"""From ρ and Rényi bounds to (ε, δ), always rounded to the safe side.

The conversion is the tight one for a single Rényi order: a mechanism whose Rényi divergence of
order α is at most τ is (ε, δ)-differentially private with

    δ = exp((α − 1)(τ − ε)) / (α − 1) · (1 − 1/α)^α                                      (1)

(Canonne, Kamath and Steinke, *The Discrete Gaussian for Differential Privacy*, 2020, Proposition
12; also Balle, Barthe, Gaboardi, Hsu and Sato 2020). Why: with L the privacy loss, δ(ε) =
E[(1 − e^{ε−L})₊]. For every l, (1 − e^{ε−l})₊ ≤ c·e^{(α−1)l} where c makes the curve on the right
touch that on the left; setting values and slopes equal gives e^{ε−l} = (α−1)/α and
c = e^{−(α−1)ε}(1 − 1/α)^α/(α − 1), and E[e^{(α−1)L}] ≤ e^{(α−1)τ} by the definition of the Rényi
divergence. Solved for ε:

    ε = τ + ln(1 − 1/α) + (ln(1/δ) − ln α)/(α − 1)                                       (2)

Every order α > 1 gives a valid bound, so an inexact minimum over α is only a little loose. For
zCDP τ = αρ at every α.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction

_STEPS = 100
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
_LOWEST, _HIGHEST = -14.0, 45.0  # of ln(α − 1); α − 1 is exact in floats there


def zcdp_epsilon(rho: Fraction, delta: Fraction) -> float:
    """The least ε that (2) gives for ρ-zCDP at ``delta`` > 0, rounded up. 0 for ρ = 0."""
    if rho == 0:
        return 0.0
    above = up(float(rho))
    return renyi_epsilon(lambda order: order * above, delta)


def renyi_epsilon(curve: Callable[[float], float], delta: Fraction) -> float:
    """The least ε that (2) gives for a Rényi curve τ(α), each value of which is an upper bound.

    Searched by golden section over log(α − 1); rounded up. Raises ValueError for δ ≤ 0.
    """
    if delta <= 0:
        raise ValueError("δ must be above 0: no finite ε holds for δ = 0")
    log_delta = _log(delta)

    def at(place: float) -> float:
        order = 1.0 + math.exp(place)
        return _epsilon(curve(order), order, log_delta)

    return max(0.0, _least(at))


def _least(value: Callable[[float], float]) -> float:
    """A small value of a function of ln(α − 1), by golden section; the least if it has one dip."""
    low, high = _LOWEST, _HIGHEST
    for _ in range(_STEPS):
        first, second = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        if value(first) <= value(second):
            high = second
        else:
            low = first
    return value((low + high) / 2.0)


def _epsilon(divergence: float, order: float, log_delta: float) -> float:
    """(2) for one order, rounded up by more than the floating point can lose."""
    above = order - 1.0
    parts = (
        divergence,
        math.log(above) - math.log(order),
        -log_delta / above,
        -math.log(order) / above,
    )
    return math.fsum(parts) + _ROUNDING * math.fsum(map(abs, parts))


def _log(value: Fraction) -> float:
    """The natural logarithm of a fraction that a float may be too small for."""
    return math.log(value.numerator) - math.log(value.denominator)


def up(value: float, steps: int = 2) -> float:
    """The float so many steps above: at least the exact value of a result that is so far off."""
    for _ in range(steps):
        value = math.nextafter(value, math.inf)
    return value


# Advanced composition: the closed form that everybody knows, beside which the tight one is shown.
#
# k mechanisms with pure ε_i are (ε, δ)-differentially private together, for every δ > 0, with
#
#     ε = Σ ε_i·(e^{ε_i} − 1)/(e^{ε_i} + 1) + √(2 ln(1/δ)·Σ ε_i²)
#
# (Kairouz, Oh and Viswanath 2015, Theorem 3.5; Dwork and Roth 2014, Theorem 3.20 has the larger
# drift ε_i(e^{ε_i} − 1)). Why: each privacy loss lies in [−ε_i, ε_i] and has a mean of at most
# ε_i·tanh(ε_i/2), that of randomised response; by Azuma and Hoeffding the sum exceeds the sum of
# the means by t with probability at most exp(−t²/(2Σε_i²)), and P(L > ε) ≤ δ is enough for (ε, δ).


_ROUNDING = 1e-12


def advanced_epsilon(parts: Iterable[tuple[Fraction, int]], delta: Fraction) -> float:
    """ε at ``delta`` > 0 for pairs of a pure ε and how many mechanisms have it, rounded up.

    Never more than Σε. Raises ValueError for δ ≤ 0.
    """
    if delta <= 0:
        raise ValueError("advanced composition needs δ above 0")
    found = list(parts)
    total = sum((epsilon * count for epsilon, count in found), Fraction(0))
    drift = math.fsum(
        count * float(epsilon) * math.tanh(float(epsilon) / 2.0) for epsilon, count in found
    )
    squares = math.fsum(count * float(epsilon) ** 2 for epsilon, count in found)
    log_delta = math.log(delta.denominator) - math.log(delta.numerator)
    wanted = (drift + math.sqrt(2.0 * log_delta * squares)) * (1.0 + _ROUNDING)
    return min(up(float(total)), wanted)


# One (ε, δ) for spending of several kinds: what can be composed with what, simply.
#
# - pure ε: sums, Σε (sequential composition; adaptively too);
# - ρ: sums, Σρ, and is converted at the end (``conversion``);
# - (ε, δ): both sum (Dwork and Roth 2014, Theorem 3.16).
#
# So for a wanted δ
#
#     ε = Σε + ε(Σρ, δ − Σδ) + Σε'
#
# which only grows with every debit, whatever its kind. Taking pure parts into ρ (Bun and Steinke
# 2016, Proposition 1.4) can give less; the tight figure does that and better.


def joint_epsilon(
    pure: Fraction, rho: Fraction, approximate: tuple[Fraction, Fraction], delta: Fraction
) -> Fraction | None:
    """An ε that holds at ``delta``, as the module says; None where no ε holds at this δ.

    ``pure``: Σε of the pure parts; ``rho``: Σρ; ``approximate``: Σε' and Σδ of the parts that are
    (ε, δ). Exact where no ρ is in it, rounded up otherwise.
    """
    epsilon, spent = approximate
    rest = delta - spent
    if rest < 0 or (rho and not rest):
        return None
    return pure + epsilon + (Fraction(zcdp_epsilon(rho, rest)) if rho else 0)


def group_delta(epsilon: Fraction, delta: Fraction, size: int) -> Fraction:
    """δ for a group of ``size``, whose ε is size·ε, rounded up; may be 1 or more (no guarantee).

    (ε, δ) for neighbours gives δ·(1 + e^ε + … + e^{(size−1)ε}) for the group: apply the definition
    ``size`` times along a path of neighbours. Bounded here by size·e^{(size−1)ε}·δ.
    """
    if size == 1 or delta == 0:
        return delta
    exponent = up(float((size - 1) * epsilon))
    if exponent > 700.0:
        return Fraction(1)
    return min(Fraction(1), size * delta * Fraction(up(math.exp(exponent))))
