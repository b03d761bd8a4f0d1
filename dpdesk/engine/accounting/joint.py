"""One (ε, δ) for spending of several kinds: what can be composed with what, simply.

- pure ε: sums, Σε (sequential composition; adaptively too);
- ρ: sums, Σρ, and is converted at the end (``conversion``);
- (ε, δ): both sum (Dwork and Roth 2014, Theorem 3.16).

So for a wanted δ

    ε = Σε + ε(Σρ, δ − Σδ) + Σε'

which only grows with every debit, whatever its kind. Taking pure parts into ρ (Bun and Steinke
2016, Proposition 1.4) can give less; the tight figure does that and better.
"""

from __future__ import annotations

import math
from fractions import Fraction

from dpdesk.engine.accounting.conversion import up, zcdp_epsilon


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
