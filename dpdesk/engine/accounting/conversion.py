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
from collections.abc import Callable
from fractions import Fraction

_ROUNDING = 1e-12
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
