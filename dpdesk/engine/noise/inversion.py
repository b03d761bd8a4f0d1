"""Exact inversion of a distribution function with a uniform number that is extended on demand.

Let U be uniform on [0, 1), an endless sequence of fair bits, and F_0 < F_1 < … cumulative
probabilities. The number J of thresholds F_j ≤ U has exactly the distribution that they describe.
The first w bits of U, a word u, place U in [u, u + 1)/2^w. With t_j the whole part of F_j·2^w:

- u < t_j means U < F_j, and u > t_j means U > F_j: the word alone decides;
- u = t_j leaves it open. Only then are further bits of U drawn and compared with as many further
  bits of F_j, until they differ.

So nothing is rounded: bits that no comparison has needed are not drawn, and the result is the same
as if all of them had been.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from dpdesk.core.errors import RefusedError
from dpdesk.engine.noise.intervals import Interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dpdesk.engine.noise.randomness import RandomSource

BITS = 256
"""Thresholds are enclosed to at least so many bits before they are cut to words."""
WORD_BITS = 64
GUIDE_BITS = 14

# A threshold that needs more bits than this to be cut would have to be a fraction with a power of
# two below the line: none of ours is known or expected to be.
_MOST_BITS = 1 << 24


class Thresholds(Protocol):
    """Cumulative probabilities F_0 < F_1 < …, each strictly between 0 and 1.

    ``count`` of them stand in the table. ``endless`` says that they go on behind it; otherwise
    whoever lies above the last one gets the index ``count``. Indices up to ``last`` are final; what
    means more is handed to the caller one by one.
    """

    @property
    def count(self) -> int:
        """How many thresholds the table holds."""
        ...

    @property
    def endless(self) -> bool:
        """Whether there are thresholds behind the table."""
        ...

    @property
    def last(self) -> int:
        """The greatest index that the table alone may give."""
        ...

    def all(self, bits: int) -> list[Interval]:
        """Enclosures of F_0 … F_(count−1)."""
        ...

    def one(self, index: int, bits: int) -> Interval:
        """An enclosure of F_index, which ``bits`` makes as narrow as wanted."""
        ...


class Uniform:
    """A uniform number of which some leading bits are known, and which can be asked for more."""

    def __init__(self, word: int, bits: int, more: Callable[[], int]) -> None:
        self.value = word
        self.bits = bits
        self._word_bits = bits
        self._more = more

    def extend(self) -> None:
        """Draw one more word."""
        self.value = (self.value << self._word_bits) | self._more()
        self.bits += self._word_bits

    def below(self, enclosure: Callable[[int], Interval]) -> bool:
        """Whether the number is below a threshold; draws words until that is certain."""
        while True:
            cut = whole_part(enclosure, self.bits)
            if self.value != cut:
                return self.value < cut
            self.extend()


def whole_part(enclosure: Callable[[int], Interval], bits: int) -> int:
    """The whole part of F·2^bits, from enclosures of F that are narrowed until both ends agree.

    Raises
    ------
    RefusedError
        ``noise.threshold`` when they never do; a wrong number is never returned.
    """
    work = max(BITS, bits + WORD_BITS)
    while work <= _MOST_BITS:
        low, high = enclosure(work)
        if low >> (work - bits) == high >> (work - bits):
            return low >> (work - bits)
        work *= 2
    raise RefusedError(
        "noise.threshold",
        "A probability of the noise could not be distinguished from a fraction with a power of "
        "two as its denominator.",
        hint="No noise was drawn; choose a slightly different scale.",
    )


class InversionTable:
    """Thresholds cut to words, with their guide, and the exact decision behind them.

    ``word_bits`` is 64 in the program; tests take few, so that they can enumerate every word.
    """

    def __init__(self, thresholds: Thresholds, word_bits: int = WORD_BITS) -> None:
        self.thresholds = thresholds
        self.word_bits = word_bits
        self.guide_bits = min(GUIDE_BITS, max(1, word_bits - 2))

    @cached_property
    def cuts(self) -> list[int]:
        """The whole parts of F_j·2^word_bits."""
        found = []
        for index, (low, high) in enumerate(self.thresholds.all(BITS)):
            cut = low >> (BITS - self.word_bits)
            if cut != high >> (BITS - self.word_bits):
                cut = self._cut(index, self.word_bits)
            found.append(cut)
        return found

    @cached_property
    def arrays(self) -> tuple[NDArray[np.int16], NDArray[np.uint64]]:
        """Guide and thresholds as the kernels take them."""
        import numpy as np

        cuts = np.array(self.cuts, np.uint64)
        shift = self.word_bits - self.guide_bits
        first = np.arange(1 << self.guide_bits, dtype=np.uint64) << np.uint64(shift)
        below = np.searchsorted(cuts, first, side="left")
        up_to = np.searchsorted(cuts, first + np.uint64((1 << shift) - 1), side="right")
        direct = (below == up_to) & (below <= self.thresholds.last)
        return np.where(direct, below, -1 - below).astype(np.int16), cuts

    def look_up(
        self,
        words: NDArray[np.uint64],
        found: NDArray[np.int16] | NDArray[np.int32],
        undecided: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Write what the words mean to ``found``; the places of those that need more bits."""
        import numpy as np

        from dpdesk.engine.noise.kernels import look_up

        guide, cuts = self.arrays
        shift: Any = np.uint64(self.word_bits - self.guide_bits)
        count = look_up(words, guide, cuts, shift, self.thresholds.last, found, undecided)
        return undecided[:count]

    def decide(self, word: int, more: Callable[[], int]) -> int:
        """The index that a uniform number beginning with ``word`` means, whatever it takes."""
        uniform = Uniform(word, self.word_bits, more)
        index, equal_up_to = bisect_left(self.cuts, word), bisect_right(self.cuts, word)
        while index < equal_up_to:
            if uniform.below(lambda bits, at=index: self.thresholds.one(at, bits)):  # type: ignore[misc]
                return index
            index += 1
        if index < self.thresholds.count or not self.thresholds.endless:
            return index
        while not uniform.below(lambda bits, at=index: self.thresholds.one(at, bits)):  # type: ignore[misc]
            index += 1
        return index

    def _cut(self, index: int, bits: int) -> int:
        return whole_part(lambda work: self.thresholds.one(index, work), bits)


def single_words(source: RandomSource, word_bits: int = WORD_BITS) -> Callable[[], int]:
    """Words of a source one at a time, for the rare draws that need more bits."""
    return lambda: int(source.words(1)[0]) & ((1 << word_bits) - 1)
