"""Advanced composition: the closed form that everybody knows, beside which the tight one is shown.

k mechanisms with pure ε_i are (ε, δ)-differentially private together, for every δ > 0, with

    ε = Σ ε_i·(e^{ε_i} − 1)/(e^{ε_i} + 1) + √(2 ln(1/δ)·Σ ε_i²)

(Kairouz, Oh and Viswanath 2015, Theorem 3.5; Dwork and Roth 2014, Theorem 3.20 has the larger drift
ε_i(e^{ε_i} − 1)). Why: each privacy loss lies in [−ε_i, ε_i] and has a mean of at most
ε_i·tanh(ε_i/2), that of randomised response; by Azuma and Hoeffding the sum exceeds the sum of the
means by t with probability at most exp(−t²/(2Σε_i²)), and P(L > ε) ≤ δ is enough for (ε, δ).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from dpdesk.engine.accounting.conversion import up

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
