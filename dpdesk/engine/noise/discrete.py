"""What both distributions of integer noise have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.noise.levels import checked_level, smallest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dpdesk.engine.noise.randomness import RandomSource


class Sampler(Protocol):
    """Tables that values are drawn with."""

    def draw(
        self,
        n: int,
        source: RandomSource,
        token: CancelToken,
        advance: Callable[[int], None] | None = None,
    ) -> NDArray[np.int64]:
        """``n`` independent values; ``advance`` is told how many more there are."""
        ...


class DiscreteNoise(ABC):
    """Noise in whole numbers, symmetric about 0 and drawn exactly."""

    @property
    @abstractmethod
    def sampler(self) -> Sampler:
        """The tables that values are drawn with; made at the first draw."""

    @property
    @abstractmethod
    def variance(self) -> float:
        """The variance of the discrete distribution."""

    def draw(
        self,
        n: int,
        source: RandomSource,
        token: CancelToken,
        advance: Callable[[int], None] | None = None,
    ) -> NDArray[np.int64]:
        """``n`` independent values; see the sampler's own ``draw``."""
        return self.sampler.draw(n, source, token, advance)

    def half_width(self, level: Fraction | float) -> int:
        """The smallest whole h with P(|X| ≤ h) ≥ level, decided as :meth:`_covers` says.

        Raises
        ------
        InputError
            ``noise.level`` for a level that is not above 0 and below 1.
        """
        missing = 1 - checked_level(level)
        return smallest(lambda h: self._covers(h, missing))

    @abstractmethod
    def _covers(self, h: int, missing: Fraction) -> bool:
        """Whether P(|X| > h) ≤ missing."""
