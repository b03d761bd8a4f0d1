"""The two kinds of integer noise that budgets buy, and the samplers that make them."""

from __future__ import annotations

from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpdesk.engine.noise.discrete import DiscreteNoise

_LEAST_VARIANCE = 1e-200
"""What is stated of noise that is 0 in practice, because its budget is a hundred and more."""


class Noise(Enum):
    """Kind of noise; the budget is in epsilon for the first and in rho (zCDP) for the second."""

    LAPLACE = "discrete-laplace"
    GAUSSIAN = "discrete-gaussian"


def sampler(noise: Noise, spread: Fraction) -> DiscreteNoise:
    """The distribution with scale b (Laplace) or variance parameter sigma^2 (Gaussian)."""
    if noise is Noise.LAPLACE:
        from dpdesk.engine.noise.laplace import DiscreteLaplace

        return DiscreteLaplace(spread)
    from dpdesk.engine.noise.gaussian import DiscreteGaussian

    return DiscreteGaussian(spread)


def stated_variance(noise: Noise, spread: Fraction) -> float:
    """The true variance of such noise; never 0, for nothing is said to be exact that is not."""
    return max(_LEAST_VARIANCE, sampler(noise, spread).variance)
