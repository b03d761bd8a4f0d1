"""How discrete Gaussian noise is drawn: by exact inversion, and blockwise where it is wide.

Up to a standard deviation of 128 one table holds all values that matter; behind it thresholds are
computed as they are needed, so the tail is inverted as exactly as the rest.

Wider noise is drawn in blocks of m = 2^k values. With a magnitude Y = m·B + R, 0 ≤ R < m,
exp(−Y²/2σ²) = exp(−(m·B)²/2σ²)·exp(−R·(2·m·B + R)/2σ²). So B and a fair sign are drawn by a table
of the first factor, R from k fair bits, and the value is kept with the second factor as
probability; minus zero is never kept, so that zero counts once. Fewer than one value in fifty is
drawn again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.noise.intervals import (
    Interval,
    exp_negative,
    inside_unit,
    minus,
    over,
    plus,
    times,
)
from dpdesk.engine.noise.inversion import WORD_BITS, InversionTable, Uniform, single_words
from dpdesk.engine.noise.laplace_sampler import CHUNK, LIMIT

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dpdesk.engine.noise.randomness import RandomSource

DIRECT_VARIANCE = 1 << 14
"""Up to this variance values are drawn by one table."""

_COVER_SQUARED = 42  # tables reach 6.5 standard deviations; behind that lies a share of 10^(−10)


@lru_cache(maxsize=16)
def weights(variance: Fraction, bits: int) -> tuple[list[Interval], Interval]:
    """Enclosures of e^(−k²/2σ²) for k = 0, 1, … while they matter, and of the sum of the rest.

    Successive weights have the ratios q, q³, q⁵, … with q = e^(−1/2σ²). What is left out falls
    faster than a geometric series with the next ratio.
    """
    ratio = exp_negative(1 / (2 * variance), bits)
    square = times(ratio, ratio, bits)
    found: list[Interval] = [(1 << bits, 1 << bits)]
    while found[-1][1] > 2:
        found.append(times(found[-1], ratio, bits))
        ratio = times(ratio, square, bits)
    rest = -(-found[-1][1] * ratio[1] // ((1 << bits) - ratio[1]))
    return found, (0, rest)


@lru_cache(maxsize=16)
def running_sums(variance: Fraction, bits: int) -> tuple[list[Interval], Interval]:
    """Enclosures of Σ_(j≤k) e^(−j²/2σ²) for k = 0, 1, … and of the sum over all k ≥ 0."""
    found, rest = weights(variance, bits)
    sums = list(accumulate(found, plus))
    return sums, plus(sums[-1], rest)


@dataclass(frozen=True)
class GaussianThresholds:
    """Values in the order 0, −1, 1, −2, 2 and so on, or (0, +), (0, −), (1, +), (1, −) and so on.

    ``two_zeros`` says which. With weights e_k and their sums S_k over 0 … k: without a second zero
    F_(2k) = (2S_k − 1)/Z and F_(2k−1) = (S_k + S_(k−1) − 1)/Z, Z = 2S − 1; with it
    F_(2k+1) = 2S_k/Z and F_(2k) = (S_k + S_(k−1))/Z, Z = 2S.
    """

    variance: Fraction
    count: int
    two_zeros: bool
    endless: bool = True

    @property
    def last(self) -> int:
        """Behind the table the thresholds go on."""
        return self.count - 1

    def all(self, bits: int) -> list[Interval]:
        """Enclosures of F_0 … F_(count−1)."""
        return [self.one(index, bits) for index in range(self.count)]

    def one(self, index: int, bits: int) -> Interval:
        """An enclosure of F_index."""
        sums, total = running_sums(self.variance, bits)
        one = 0 if self.two_zeros else 1 << bits
        place = index if self.two_zeros else index + 1
        upper, lower = place >> 1, (place - 1) >> 1
        share = plus(self._sum(upper, sums, total), self._sum(lower, sums, total))
        whole = plus(total, total)
        return inside_unit(over(minus(share, (one, one)), minus(whole, (one, one)), bits), bits)

    @staticmethod
    def _sum(k: int, sums: list[Interval], total: Interval) -> Interval:
        if k < 0:
            return 0, 0
        return sums[k] if k < len(sums) else (sums[-1][0], total[1])


@dataclass(frozen=True)
class GaussianLayout:
    """How a value is taken apart.

    ``block_bits`` is k, 0 for a single table; ``levels`` is how many magnitudes the table holds.
    """

    block_bits: int
    levels: int

    @classmethod
    def of(cls, variance: Fraction) -> GaussianLayout:
        """The layout for a variance: tables of a few thousand thresholds, whatever it is."""
        from math import isqrt

        bits = 0
        while variance > DIRECT_VARIANCE << (2 * bits):
            bits += 1
        reach = _COVER_SQUARED * variance / (1 << (2 * bits))
        return cls(bits, isqrt(reach.numerator // reach.denominator) + 1)


@dataclass(frozen=True)
class GaussianSampler:
    """Draws discrete Gaussian noise; ``word_bits`` is 64 but in tests that enumerate all words."""

    variance: Fraction
    layout: GaussianLayout
    word_bits: int = WORD_BITS

    @cached_property
    def table(self) -> InversionTable:
        """The table of values, or of blocks and signs."""
        blocks = self.layout.block_bits > 0
        variance = self.variance / (1 << (2 * self.layout.block_bits))
        count = 2 * self.layout.levels + (0 if blocks else 1)
        return InversionTable(GaussianThresholds(variance, count, blocks), self.word_bits)

    def draw(
        self,
        n: int,
        source: RandomSource,
        token: CancelToken,
        advance: Callable[[int], None] | None = None,
    ) -> NDArray[np.int64]:
        """``n`` independent values.

        ``advance`` is told after each chunk how many values it brought. A chunk takes one word a
        value, then those of its undecided values. In blocks it takes a word for the block, one for
        the place in it and one for keeping it, each followed by those of undecided values; what was
        not kept is drawn again in the same way until the chunk is full.

        Raises
        ------
        Cancelled
            When the token is cancelled, at the next chunk.
        RefusedError
            ``noise.limit`` should a value reach 2^62.
        """
        import numpy as np

        values = np.empty(n, np.int64)
        for start in range(0, n, CHUNK):
            part = values[start : start + CHUNK]
            if self.layout.block_bits:
                self._fill_by_blocks(part, source, token)
            else:
                token.check()
                self._fill(part, source)
            if advance is not None:
                advance(len(part))
        return values

    def _indices(self, n: int, source: RandomSource) -> NDArray[np.int32]:
        """``n`` indices by the table."""
        import numpy as np

        found, open_ = np.empty(n, np.int32), np.empty(n, np.int64)
        words, more = source.words(n), single_words(source, self.word_bits)
        for place in self.table.look_up(words, found, open_).tolist():
            found[place] = self._checked(self.table.decide(int(words[place]), more))
        return found

    def _checked(self, index: int) -> int:
        """An index, unless the value could reach the limit."""
        if index > (1 << 30) or ((index >> 1) + 1) << self.layout.block_bits > LIMIT:
            raise RefusedError(
                "noise.limit",
                "The noise drawn is too large for a 64-bit number; nothing was released.",
                hint="Use a smaller variance.",
            )
        return index

    def _fill(self, values: NDArray[np.int64], source: RandomSource) -> None:
        from dpdesk.engine.noise.kernels import unfold

        values[:] = self._indices(len(values), source)
        unfold(values)

    def _fill_by_blocks(
        self, values: NDArray[np.int64], source: RandomSource, token: CancelToken
    ) -> None:
        """Propose and keep until the chunk is full."""
        filled = 0
        while filled < len(values):
            token.check()
            kept = self._propose(len(values) - filled, source)
            values[filled : filled + len(kept)] = kept
            filled += len(kept)

    def _propose(self, n: int, source: RandomSource) -> NDArray[np.int64]:
        """Propose ``n`` values; those that are kept."""
        import numpy as np

        from dpdesk.engine.noise.kernels import keep

        blocks = self._indices(n, source)
        places, words = source.words(n), source.words(n)
        more = single_words(source, self.word_bits)
        values, verdicts = np.empty(n, np.int64), np.empty(n, np.int8)
        shift: Any = np.uint64(self.word_bits - self.layout.block_bits)
        unit = 0.5**self.word_bits
        open_ = np.empty(n, np.int64)
        count = keep(
            blocks, places, words, shift, self.layout.block_bits, unit, self._half_rate, values,
            verdicts, open_,
        )  # fmt: skip
        for at in open_[:count].tolist():
            place = int(places[at]) >> int(shift)
            start = (int(blocks[at]) >> 1) << self.layout.block_bits
            verdicts[at] = self._keeps(start, place, int(words[at]), more)
        kept: NDArray[np.int64] = values[verdicts == 1]
        return kept

    @cached_property
    def _half_rate(self) -> float:
        """1/2σ², rounded: only used where the rounding cannot matter."""
        return float(1 / (2 * self.variance))

    def _keeps(self, start: int, place: int, word: int, more: Callable[[], int]) -> bool:
        """Whether a uniform number lies below exp(−place·(2·start + place)/2σ²), exactly."""
        exponent = place * (2 * start + place) / (2 * self.variance)
        uniform = Uniform(word, self.word_bits, more)
        return uniform.below(lambda bits: exp_negative(exponent, bits))
