"""How discrete Laplace noise is drawn: the parts of a value, each by exact inversion.

Write X = Y for X ≥ 0 and X = −1 − Y for X < 0. Then Y is a plain geometric number with ratio
p = exp(−1/scale), P(Y = y) = (1 − p)·p^y, and independent of the sign, which is negative with
probability p/(1 + p): zero is counted once without anything being rejected. With Y = m·Q + R and
0 ≤ R < m, the quotient Q is geometric with ratio p^m, R is a geometric number cut off at m, and the
two are independent; R falls apart into independent digits in the same way. So X is drawn as

- Q and the sign together, by one table. Its tail Q ≥ L has no sign yet: Q − L and the sign are then
  distributed as Q and the sign, so L is added and both are drawn again;
- one further table for each digit of R, where the scale is so large that there are any.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.noise.intervals import (
    Interval,
    exp_negative,
    inside_unit,
    minus,
    over,
    plus,
    powers,
    times,
)
from dpdesk.engine.noise.inversion import WORD_BITS, InversionTable, Thresholds, single_words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dpdesk.engine.noise.randomness import RandomSource

LIMIT = 1 << 62
"""Noise of this size is never returned, so that adding it to a count below 2^62 cannot overflow."""

CHUNK = 16_384
"""So many values are drawn between two looks at the cancel token."""

_DIRECT = 64  # up to this scale one table holds all
_COVER = 16  # tables reach this many scales far; behind that lies a share of e^(−16)
_DIGIT_BITS = 10


@dataclass(frozen=True)
class QuotientThresholds:
    """Quotient Q and sign, in the order (0, +), (0, −), (1, +), (1, −) and so on.

    With P = p^m: F_(2q+1) = P(Q ≤ q) = 1 − P^(q+1), and F_(2q) = 1 − P^q·(p + P)/(1 + p). All are
    non-constant rational functions of a transcendental number, so none is rational.
    """

    scale: Fraction
    divisor: int
    levels: int
    endless: bool = False

    @property
    def count(self) -> int:
        """Two for each quotient in the table."""
        return 2 * self.levels

    @property
    def last(self) -> int:
        """The index behind it is the tail."""
        return self.count - 1

    def all(self, bits: int) -> list[Interval]:
        """Enclosures of F_0 … F_(count−1)."""
        ratio = exp_negative(self.divisor / self.scale, bits)
        kept, found = self._kept(ratio, bits), []
        tails = powers(ratio, self.levels + 1, bits)
        for q in range(self.levels):
            found += [self._rest(times(tails[q], kept, bits), bits), self._rest(tails[q + 1], bits)]
        return found

    def one(self, index: int, bits: int) -> Interval:
        """An enclosure of F_index, from an exponential of its own."""
        q, negative = index >> 1, index & 1
        tail = exp_negative((q + negative) * self.divisor / self.scale, bits)
        if not negative:
            kept = self._kept(exp_negative(self.divisor / self.scale, bits), bits)
            tail = times(tail, kept, bits)
        return self._rest(tail, bits)

    def _kept(self, ratio: Interval, bits: int) -> Interval:
        p, one = exp_negative(1 / self.scale, bits), 1 << bits
        return over(plus(p, ratio), plus((one, one), p), bits)

    @staticmethod
    def _rest(tail: Interval, bits: int) -> Interval:
        return inside_unit(minus((1 << bits, 1 << bits), tail), bits)


@dataclass(frozen=True)
class DigitThresholds:
    """A digit of the remainder: P(D = d) ∝ exp(−d·weight/scale) for 0 ≤ d < base.

    F_d = (1 − z^(d+1))/(1 − z^base) with z = exp(−weight/scale), for d < base − 1: the last digit
    needs no threshold. Never rational, like the quotient's.
    """

    scale: Fraction
    weight: int
    base: int
    endless: bool = False

    @property
    def count(self) -> int:
        """One less than there are digits."""
        return self.base - 1

    @property
    def last(self) -> int:
        """Every index is a digit."""
        return self.count

    def all(self, bits: int) -> list[Interval]:
        """Enclosures of F_0 … F_(base−2)."""
        z = powers(exp_negative(self.weight / self.scale, bits), self.base + 1, bits)
        return [self._share(z[d + 1], z[self.base], bits) for d in range(self.count)]

    def one(self, index: int, bits: int) -> Interval:
        """An enclosure of F_index, from an exponential of its own."""
        tail = exp_negative((index + 1) * self.weight / self.scale, bits)
        return self._share(tail, exp_negative(self.base * self.weight / self.scale, bits), bits)

    @staticmethod
    def _share(tail: Interval, end: Interval, bits: int) -> Interval:
        one = (1 << bits, 1 << bits)
        return inside_unit(over(minus(one, tail), minus(one, end), bits), bits)


@dataclass(frozen=True)
class LaplaceLayout:
    """How a value is taken apart: the quotient's divisor and the remainder's digits.

    ``digits`` are (weight, base), the most significant first; ``levels`` is how many quotients the
    first table holds.
    """

    divisor: int
    levels: int
    digits: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, scale: Fraction) -> LaplaceLayout:
        """The layout for a scale: tables of a few thousand thresholds, whatever it is."""
        bits = 0
        while scale > _DIRECT << bits:
            bits += 1
        levels = max(1, -(-_COVER * scale.numerator // (scale.denominator << bits)))
        digits, left = [], bits
        for parts in range(-(-bits // _DIGIT_BITS), 0, -1):
            size = -(-left // parts)
            left -= size
            digits.append((1 << left, 1 << size))
        return cls(1 << bits, levels, tuple(digits))


@dataclass(frozen=True)
class LaplaceSampler:
    """Draws discrete Laplace noise; ``word_bits`` is 64 but in tests, which enumerate all words."""

    scale: Fraction
    layout: LaplaceLayout
    word_bits: int = WORD_BITS

    @cached_property
    def tables(self) -> tuple[InversionTable, ...]:
        """The table of quotient and sign, then those of the digits."""
        layout = self.layout
        first = QuotientThresholds(self.scale, layout.divisor, layout.levels)
        digits = [DigitThresholds(self.scale, *digit) for digit in layout.digits]
        parts: list[Thresholds] = [first, *digits]
        return tuple(InversionTable(part, self.word_bits) for part in parts)

    def draw(
        self,
        n: int,
        source: RandomSource,
        token: CancelToken,
        advance: Callable[[int], None] | None = None,
    ) -> NDArray[np.int64]:
        """``n`` independent values.

        ``advance`` is told after each chunk how many values it brought. The words of a chunk come
        table by table; after each table's, those that its undecided values need further.

        Raises
        ------
        Cancelled
            When the token is cancelled, at the next chunk.
        RefusedError
            ``noise.limit`` should a value reach :data:`LIMIT`.
        """
        import numpy as np

        values = np.empty(n, np.int64)
        size = min(n, CHUNK)
        found, open_ = np.empty(size, np.int16), np.empty(size, np.int64)
        for start in range(0, n, CHUNK):
            token.check()
            part = values[start : start + CHUNK]
            self._fill(part, source, token, found[: len(part)], open_)
            if advance is not None:
                advance(len(part))
        return values

    def _fill(
        self,
        folded: NDArray[np.int64],
        source: RandomSource,
        token: CancelToken,
        found: NDArray[np.int16],
        open_: NDArray[np.int64],
    ) -> None:
        """Draw one chunk; until the end magnitudes are doubled, with the sign as lowest bit."""
        from dpdesk.engine.noise.kernels import fold_in, start_folded, unfold

        more = single_words(source, self.word_bits)
        words = source.words(len(folded))
        first, *digits = self.tables
        undecided = first.look_up(words, found, open_)
        start_folded(found, self.layout.divisor, folded)
        for place in undecided.tolist():
            folded[place] = self._quotient(int(words[place]), more, token)
        for table, (weight, _) in zip(digits, self.layout.digits, strict=True):
            words = source.words(len(folded))
            for place in table.look_up(words, found, open_).tolist():
                found[place] = table.decide(int(words[place]), more)
            fold_in(found, weight, folded)
        unfold(folded)

    def _quotient(self, word: int, more: Callable[[], int], token: CancelToken) -> int:
        """Quotient and sign of a draw whose first word did not decide them, as a folded value."""
        table, behind = self.tables[0], 0
        while (index := table.decide(word, more)) > table.thresholds.last:
            token.check()
            behind += self.layout.levels
            self._check_size(behind)
            word = more()
        quotient = behind + (index >> 1)
        self._check_size(quotient)
        return 2 * quotient * self.layout.divisor + (index & 1)

    def _check_size(self, quotient: int) -> None:
        """Refuse a quotient with which a value could reach the limit."""
        if (quotient + 1) * self.layout.divisor >= LIMIT:
            raise RefusedError(
                "noise.limit",
                "The noise drawn is too large for a 64-bit number; nothing was released.",
                hint="Use a smaller scale.",
            )
