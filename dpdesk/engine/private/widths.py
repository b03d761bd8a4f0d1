"""How far noise reaches: the ± that people read."""

from __future__ import annotations

from collections.abc import Sequence
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


def step_of_average(lower: float, upper: float, step: float) -> float:
    """The step of the error of an average, times the number of people: for its :func:`half_width`.

    With E_s the error of the centred sum and E_n that of the count n, the error of the average is
    (E_s - a E_n) / (n + E_n) at a distance a from the middle of the bounds, which is half the range
    at most. So it comes in steps of the grid from the sum, and of up to half the range from the
    count; the ± of the average is the half width of E_s - a E_n by the released count.
    """
    return step + (upper - lower) / 2


def rounding_of_cell(inside: Sequence[bool], shape: Sequence[int]) -> float:
    """What making numbers whole adds to the variance of a cell of a table, in squared steps.

    ``inside`` says of each dimension whether the table has it. See :func:`rounding_of_runs`: from
    the last dimension on, a cell is one run until the first dimension that it has; each category of
    those before it that it sums up begins another.
    """
    runs, going_on = 1, True
    for own, count in zip(reversed(inside), reversed(shape), strict=True):
        if not own and not going_on:
            runs *= count
        going_on = going_on and not own
    return rounding_of_runs(runs)


def rounding_does_nothing(sources: int, *, nonnegative: bool) -> bool:
    """Whether numbers are whole before they are made so: noise is, and so are sums of one table.

    One noisy table that gives all others agrees with itself, so nothing is averaged.
    ``nonnegative`` says that negative numbers are removed first, which leaves fractions.
    """
    return sources == 1 and not nonnegative


def rounding_of_runs(runs: int) -> float:
    """The variance, in squared steps, that rounding running sums adds to so many runs of cells.

    The sum of a run changes by the difference of two roundings, at either end of it, of 1/12 each.
    """
    return runs / 6


def half_widths(noise: Noise, variances: Floats, step: float) -> Floats:
    """:func:`half_width` of many variances; infinite and NaN ones stay what they are."""
    deviations = np.sqrt(variances)
    usual = _COVERING_95[noise] * deviations + _WHOLE * step
    return np.asarray(np.minimum(usual, sqrt(20) * deviations))
