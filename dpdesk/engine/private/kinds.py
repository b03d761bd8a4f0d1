"""The two kinds of integer noise that budgets buy, and the samplers that make them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import lru_cache
from math import floor
from typing import TYPE_CHECKING

from dpdesk.core.cube_parameters import COUNT
from dpdesk.core.messages import msg

if TYPE_CHECKING:
    from dpdesk.engine.noise.discrete import DiscreteNoise


# What a cell of a noisy table holds: rows, or a sum in steps of a grid.


@dataclass(frozen=True)
class Measure:
    """What a cell holds.

    ``kind`` is ``"count"``, ``"sum"`` or ``"average"``. Values of ``column``, less ``offset``, are
    clipped to [``lower``, ``upper``] and rounded to multiples of ``step`` before they are summed;
    texts that are no numbers count as 0. ``column`` is empty for a count.
    """

    kind: str
    column: str = ""
    lower: Fraction = Fraction(0)
    upper: Fraction = Fraction(1)
    step: Fraction = Fraction(1)
    offset: Fraction = Fraction(0)

    @property
    def name(self) -> str:
        """A short name, such as ``"sum of income"``."""
        return (
            self.kind
            if self.kind == COUNT
            else msg("{kind} of {column}", kind=self.kind, column=self.column)
        )


def grid_steps(text: str, measure: Measure) -> int | None:
    """A value clipped to its bounds, in steps of the grid (half a step upwards); None: no number.

    Rounding goes inwards at the bounds, so that no value exceeds what the noise covers.
    """
    from dpdesk.engine.hierarchies.intervals import parse_number

    number = parse_number(text)
    if number is None:
        return None
    lowest, highest = bounds_in_steps(measure)
    nearest = floor((number - measure.offset) / measure.step + Fraction(1, 2))
    return max(lowest, min(highest, nearest))


def bounds_in_steps(measure: Measure) -> tuple[int, int]:
    """Smallest and largest value in grid steps: the bounds, rounded inwards."""
    lowest = -floor(-measure.lower / measure.step)
    return lowest, max(lowest, floor(measure.upper / measure.step))


_LEAST_VARIANCE = 1e-200
"""What is stated of noise that is 0 in practice, because its budget is a hundred and more."""


class Noise(Enum):
    """Kind of noise; the budget is in epsilon for the first and in rho (zCDP) for the second."""

    LAPLACE = "discrete-laplace"
    GAUSSIAN = "discrete-gaussian"


@lru_cache(maxsize=64)
def sampler(noise: Noise, spread: Fraction) -> DiscreteNoise:
    """The distribution with scale b (Laplace) or variance parameter sigma^2 (Gaussian).

    The last ones are kept: their tables take longer to make than a small table of noise to draw,
    and a release has many tables with the same noise.
    """
    if noise is Noise.LAPLACE:
        from dpdesk.engine.noise.laplace import DiscreteLaplace

        return DiscreteLaplace(spread)
    from dpdesk.engine.noise.gaussian import DiscreteGaussian

    return DiscreteGaussian(spread)


def stated_variance(noise: Noise, spread: Fraction) -> float:
    """The true variance of such noise; never 0, for nothing is said to be exact that is not."""
    return max(_LEAST_VARIANCE, sampler(noise, spread).variance)
