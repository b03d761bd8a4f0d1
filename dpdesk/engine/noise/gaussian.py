"""The discrete Gaussian distribution: P(x) ∝ exp(−x²/2σ²) on the whole numbers.

Added to a count of sensitivity 1 it satisfies 1/(2σ²)-concentrated differential privacy, as the
continuous one does (Canonne, Kamath and Steinke, 2020, "The Discrete Gaussian for Differential
Privacy"). ``resources/docs/noise.md`` gives the whole argument.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from dpdesk.core.errors import InputError, RefusedError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.engine.noise.discrete import DiscreteNoise
from dpdesk.engine.noise.intervals import (
    Interval,
    enclose,
    exp_negative,
    inside_unit,
    minus,
    over,
    pi,
    plus,
    square_root,
    times,
)
from dpdesk.engine.noise.inversion import BITS, WORD_BITS, InversionTable, Uniform, single_words
from dpdesk.engine.noise.laplace_sampler import CHUNK, LIMIT
from dpdesk.engine.noise.levels import Probability, shown

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
        not kept is drawn again in later chunks.

        Raises
        ------
        Cancelled
            When the token is cancelled, at the next chunk.
        RefusedError
            ``noise.limit`` should a value reach 2^62.
        """
        import numpy as np

        values, filled = np.empty(n, np.int64), 0
        while filled < n:
            token.check()
            part = values[filled : filled + CHUNK]
            brought = (self._propose if self.layout.block_bits else self._fill)(part, source)
            filled += brought
            if advance is not None:
                advance(brought)
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

    def _fill(self, room: NDArray[np.int64], source: RandomSource) -> int:
        """Draw a value for each place; how many these are."""
        from dpdesk.engine.noise.kernels import unfold

        room[:] = self._indices(len(room), source)
        unfold(room)
        return len(room)

    def _propose(self, room: NDArray[np.int64], source: RandomSource) -> int:
        """Propose a value for each place, and put those that are kept at the front; their number.

        They stay in order, so that where one lies tells nothing of it.
        """
        import numpy as np

        from dpdesk.engine.noise.kernels import keep

        n = len(room)
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
        kept = values[verdicts == 1]
        room[: len(kept)] = kept
        return len(kept)

    @cached_property
    def _half_rate(self) -> float:
        """1/2σ², rounded: only used where the rounding cannot matter."""
        return float(1 / (2 * self.variance))

    def _keeps(self, start: int, place: int, word: int, more: Callable[[], int]) -> bool:
        """Whether a uniform number lies below exp(−place·(2·start + place)/2σ²), exactly."""
        exponent = place * (2 * start + place) / (2 * self.variance)
        uniform = Uniform(word, self.word_bits, more)
        return uniform.below(lambda bits: exp_negative(exponent, bits))


MAX_VARIANCE = 1 << 96
"""The greatest variance: noise reaches 2^62 with a probability below e^(−10^8) then."""


@dataclass(frozen=True, init=False)
class DiscreteGaussian(DiscreteNoise):
    """Integer noise with P(x) ∝ exp(−x²/2σ²), drawn exactly.

    It is made from the variance σ² of the continuous distribution, which is kept as
    ``sigma_squared``. The variance of the discrete one, :attr:`variance`, is never greater.

    Raises
    ------
    InputError
        ``noise.variance`` for a σ² that is not above 0 or exceeds :data:`MAX_VARIANCE`.
    """

    sigma_squared: Fraction

    def __init__(self, variance: Fraction) -> None:
        object.__setattr__(self, "sigma_squared", Fraction(variance))
        if not 0 < self.sigma_squared <= MAX_VARIANCE:
            raise InputError(
                "noise.variance",
                msg(
                    "The noise variance must be above 0 and at most 2^96, not {shown}.",
                    shown=shown(variance),
                ),
                hint="Spend more of the budget, or count in larger units.",
            )

    @cached_property
    def sampler(self) -> GaussianSampler:
        """The table that values are drawn with; made at the first draw."""
        return GaussianSampler(self.sigma_squared, GaussianLayout.of(self.sigma_squared))

    @cached_property
    def variance(self) -> float:
        """Σx²·P(x), the variance of the discrete distribution, to the last digit of a float.

        By Poisson summation it is σ² − 8π²σ⁴·Σk²q_k/(1 + 2Σq_k) with q_k = exp(−2π²σ²k²), summed
        over k ≥ 1: σ² itself from σ² = 9 on, as far as a float can tell. Below, it is summed.
        """
        if self.sigma_squared >= 9:
            return float(self.sigma_squared)
        if self.sigma_squared < Fraction(1, 2000):
            return 0.0  # 2e^(−1000) is below the smallest positive float
        bits = BITS + 3 * int(1 / self.sigma_squared)
        while True:
            terms, rest = weights(self.sigma_squared, bits)
            # Behind the terms, k²e_k falls faster than a geometric series of ratio 1/100.
            low = sum(2 * k * k * term[0] for k, term in enumerate(terms))
            high = sum(2 * k * k * term[1] for k, term in enumerate(terms))
            high += 8 * len(terms) ** 2 * (rest[1] + 2)
            low, high = over((low, high), self._total(bits), bits)
            if float(Fraction(low, 1 << bits)) == float(Fraction(high, 1 << bits)):
                return float(Fraction(low, 1 << bits))
            bits *= 2

    def probability(self, x: int) -> Probability:
        """Rational bounds of P(X = x), which differ by less than a share of 2^−200.

        Values so far out that they are less likely than 2^−100000 may have 0 as lower bound.
        """
        exponent = x * x / (2 * self.sigma_squared)
        bits = BITS + int(self.sigma_squared).bit_length() + min(int(2 * exponent), 100_000)
        low, high = over(exp_negative(exponent, bits), self._total(bits), bits)
        return Fraction(low, 1 << bits), Fraction(high, 1 << bits)

    def _total(self, bits: int) -> Interval:
        """Σexp(−x²/2σ²) over all whole numbers x.

        For wide noise by Poisson summation: √(2πσ²)·(1 + 2Σexp(−2π²σ²k²)), where the sum is below
        2^−400000 for every variance above :data:`DIRECT_VARIANCE`.
        """
        if self.sigma_squared <= DIRECT_VARIANCE:
            _, total = running_sums(self.sigma_squared, bits)
            return 2 * total[0] - (1 << bits), 2 * total[1] - (1 << bits)
        twice = enclose(2 * self.sigma_squared, bits)
        low, high = square_root(times(twice, pi(bits), bits), bits)
        return low, high + 1 + (high >> min(bits, 400_000))

    def _covers(self, h: int, missing: Fraction) -> bool:
        """Whether P(|X| > h) ≤ missing.

        Decided exactly up to σ² = 2^14. Above, sums are enclosed by the integral and a proven
        remainder (see :meth:`_outside`); should these not tell two neighbouring h apart, which
        takes a level within σ^(−3) of a step's width of one, the answer is no: the half-width is
        the greater one.
        """
        if self.sigma_squared > DIRECT_VARIANCE:
            bits = 2 * BITS + 2 * int((h + 1) * (h + 1) / self.sigma_squared)
            return self._outside(h, bits)[1] <= missing * (1 << bits)
        bits = BITS
        while True:
            sums, total = running_sums(self.sigma_squared, bits)
            inside = sums[h] if h < len(sums) else (sums[-1][0], total[1])
            outside = minus((2 * total[0], 2 * total[1]), (2 * inside[0], 2 * inside[1]))
            whole = self._total(bits)
            if outside[1] <= missing * whole[0]:
                return True
            if outside[0] > missing * whole[1]:
                return False
            bits *= 2

    def _outside(self, h: int, bits: int) -> Interval:
        """P(|X| > h) for wide noise, enclosed by the Euler–Maclaurin formula.

        With b = h + 1/2, t = b/σ, e = e^(−t²/2) and Q = ∫_t^∞ e^(−s²/2)ds, the sum over x > h is
        σ·(Q − t·e/(24σ²) ± r), and r ≤ ((t³ + 9t)·e + 12Q)/(384σ⁴): the remainder after the first
        term is the integral of (B₄(1/2) − B₄({x}))/4! times the fourth derivative. The factor is at
        most 1/384, the derivative at x = σs at most (s⁴ + 6s² + 3)·e^(−s²/2)/σ⁴. The sum over all x
        is σ·√(2π).
        """
        square = (h + Fraction(1, 2)) ** 2 / self.sigma_squared
        t = square_root(enclose(square, bits), bits)
        falling = exp_negative(square / 2, bits)
        edge = times(t, falling, bits)
        inside = times(edge, _odd_series(square, bits), bits)
        half = square_root((pi(bits)[0] >> 1, (pi(bits)[1] >> 1) + 1), bits)
        beyond = minus(half, inside)
        correction = over(edge, enclose(24 * self.sigma_squared, bits), bits)
        cubic = times(edge, enclose(square + 9, bits), bits)
        bound = (cubic[1] + 12 * beyond[1]) / (384 * self.sigma_squared**2)
        error = -(-bound.numerator // bound.denominator)
        low, high = minus(beyond, correction)
        return over((max(low - error, 0), high + error), half, bits)


def _odd_series(square: Fraction, bits: int) -> Interval:
    """Σ t^(2n)/(1·3·5···(2n + 1)), which times t·e^(−t²/2) is ∫_0^t e^(−s²/2)ds."""
    factor = enclose(square, bits)
    term = total = (1 << bits, 1 << bits)
    divisor = 1
    while term[1] > 1 or 2 * square > divisor:
        divisor += 2
        low, high = times(term, factor, bits)
        term = low // divisor, -(-high // divisor)
        total = plus(total, term)
    # From here on every term is at most half the one before.
    return total[0], total[1] + term[1]
