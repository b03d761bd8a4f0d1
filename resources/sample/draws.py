"""Reproducible draws in whole numbers: the same on every machine and every version of numpy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from numpy.random import PCG64

_Item = TypeVar("_Item")
_BATCH = 1 << 16


class Draws:
    """A stream of whole numbers from the raw output of PCG64.

    numpy promises that the raw stream of a bit generator never changes; it does not promise that
    for the distributions built on it, so all draws are made here, without any floating point.
    """

    def __init__(self, seed: int) -> None:
        self._bits = PCG64(seed)
        self._raw: list[int] = []

    def below(self, limit: int) -> int:
        """A whole number from 0 to ``limit`` − 1 (bias below limit / 2³²)."""
        if not self._raw:
            self._raw = self._bits.random_raw(_BATCH).tolist()
        return (self._raw.pop() >> 32) * limit >> 32

    def between(self, low: int, high: int) -> int:
        """A whole number from ``low`` to ``high``, both included."""
        return low + self.below(high - low + 1)

    def percent(self, chance: int) -> bool:
        """True with a chance of ``chance`` percent."""
        return self.below(100) < chance

    def per_mille(self, chance: int) -> bool:
        """True with a chance of ``chance`` per mille."""
        return self.below(1000) < chance

    def index(self, weights: Sequence[int]) -> int:
        """An index, drawn with probability proportional to its weight."""
        left = self.below(sum(weights))
        for index, weight in enumerate(weights):
            left -= weight
            if left < 0:
                return index
        raise ValueError("no weight above zero")

    def choice(self, items: Sequence[_Item], weights: Sequence[int] | None = None) -> _Item:
        """One of the items, equally likely or by weight."""
        return items[self.below(len(items)) if weights is None else self.index(weights)]
