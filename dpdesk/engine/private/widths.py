"""How far noise reaches: the ± that people read."""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from dpdesk.engine.private.kinds import Noise

Floats = NDArray[np.float64]

_COVERING_95 = {Noise.LAPLACE: 2.12, Noise.GAUSSIAN: 1.96}
"""Standard deviations to either side that hold a continuous error in 95 of 100 cases, or more.

A single Laplace error needs ln(20)/sqrt(2) = 2.118; sums of several need less, down to the 1.96 of
normal errors for very many.
"""
_WHOLE = 0.6
"""What whole numbers need more, in steps: 1/2, and a little where the noise is narrow."""


def half_width(noise: Noise, variance: float, step: float) -> float:
    """The ± that holds the error of a cell in 95 of 100 cases or more; ``step`` is the grid's.

    For narrow noise, where few whole numbers have all the weight, the bound that holds for every
    distribution is smaller in the end (Chebyshev: sqrt(20) standard deviations).
    """
    deviation = sqrt(variance)
    return min(_COVERING_95[noise] * deviation + _WHOLE * step, sqrt(20) * deviation)


def half_widths(noise: Noise, variances: Floats, step: float) -> Floats:
    """:func:`half_width` of many variances; infinite and NaN ones stay what they are."""
    deviations = np.sqrt(variances)
    usual = _COVERING_95[noise] * deviations + _WHOLE * step
    return np.asarray(np.minimum(usual, sqrt(20) * deviations))
