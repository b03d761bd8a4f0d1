"""One (ε, δ) for spending of several kinds: what can be composed with what, simply.

- pure ε: sums, ε = Σε (sequential composition; adaptively too);
- ρ: sums, ρ = Σρ; a pure ε-DP part is also (ε²/2)-zCDP (Bun and Steinke 2016, Proposition 1.4), so
  pure parts can join the ρ of the others;
- (ε, δ): both sum (Dwork and Roth 2014, Theorem 3.16).

So for a wanted δ two bounds hold: A leaves the pure parts as they are, B takes them into ρ,

    A: Σε + ε(Σρ, δ − Σδ) + Σε'            B: ε(Σρ + Σρ(pure), δ − Σδ) + Σε'

with ε(ρ, δ) of ``conversion``; the smaller one is told.
"""

from __future__ import annotations

import math
from fractions import Fraction

from dpdesk.engine.accounting.conversion import up, zcdp_epsilon


def joint_epsilon(
    pure: Fraction,
    pure_rho: Fraction,
    rho: Fraction,
    approximate: tuple[Fraction, Fraction],
    delta: Fraction,
) -> Fraction | None:
    """The least ε of the bounds A and B at ``delta``; None where no ε holds at this δ.

    ``pure``: Σε of the pure parts, ``pure_rho`` what they are as ρ; ``rho``: Σρ of the others;
    ``approximate``: Σε' and Σδ of the parts that are (ε, δ). Exact where no ρ is in it.
    """
    epsilon, spent = approximate
    rest = delta - spent
    bounds: list[Fraction] = []
    if rest < 0:
        return None
    if rho == 0:
        bounds.append(pure + epsilon)
    elif rest > 0:
        bounds.append(pure + epsilon + Fraction(zcdp_epsilon(rho, rest)))
    if rest > 0 and pure > 0:
        bounds.append(epsilon + Fraction(zcdp_epsilon(rho + pure_rho, rest)))
    return min(bounds, default=None)


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
