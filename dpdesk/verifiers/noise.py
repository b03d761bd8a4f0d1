"""Variances of the noise that verifiers compute again: nothing is shared with the samplers."""

from __future__ import annotations

from math import cosh, exp

_SMALL_SIGMA = 400.0


def laplace_variance(scale: float) -> float:
    """Variance of P(x) proportional to exp(-|x|/b): 1 / (cosh(1/b) - 1)."""
    if scale > 1e4:  # the difference would be lost; the next term of its series is known
        return 2 * scale**2 - 1 / 6
    return 1 / (cosh(1 / scale) - 1) if scale > 1 / 700 else 2 * exp(-1 / scale)


def gaussian_variance(sigma: float) -> float:
    """Variance of P(x) proportional to exp(-x^2/2 sigma^2), summed up where it differs."""
    if sigma > _SMALL_SIGMA:
        return sigma**2
    weights = [exp(-(x**2) / (2 * sigma**2)) for x in range(1, int(40 * sigma) + 3)]
    total = 1 + 2 * sum(weights)
    return 2 * sum(x**2 * weight for x, weight in enumerate(weights, 1)) / total
