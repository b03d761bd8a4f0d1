"""What ε means for one person: how sure anybody can become that the person is in the data.

For records that are independent of each other, an ε-differentially private release (neighbours by
adding and removing) changes the odds of membership by a factor between e^{−ε} and e^ε, so from a
prior p the posterior is at most

    p·e^ε / (1 − p + p·e^ε)

(Li, Qardaji, Su, Wu and Yang, *Membership Privacy*, 2013: positive membership privacy under
independent priors with γ = e^ε). Odds: posterior/(1 − posterior) ≤ e^ε·p/(1 − p), solved for the
posterior. Two values of somebody known to be in the data are told apart by odds of up to e^{2ε}
(remove the one, add the other).
"""

from __future__ import annotations

import math
from fractions import Fraction


def highest_posterior(prior: float, epsilon: Fraction) -> float:
    """The largest posterior of membership from ``prior``. Raises ValueError outside [0, 1]."""
    return _posterior(prior, float(epsilon))


def lowest_posterior(prior: float, epsilon: Fraction) -> float:
    """The smallest posterior of membership from ``prior``: the odds shrink by e^{−ε} at most."""
    return _posterior(prior, -float(epsilon))


def _posterior(prior: float, log_factor: float) -> float:
    if not 0.0 <= prior <= 1.0:
        raise ValueError("a probability lies between 0 and 1")
    if prior in (0.0, 1.0):
        return prior
    odds = math.log(prior) - math.log1p(-prior) + log_factor
    if odds >= 0.0:
        return 1.0 / (1.0 + math.exp(-odds))
    return math.exp(odds) / (1.0 + math.exp(odds))
