"""Choosing one of several candidates by their scores, with a bounded privacy loss, exactly.

There are two ways, and both are bounded by the same ``width``, the most by which one person changes
the difference of two scores.

The exponential mechanism (McSherry and Talwar 2007) chooses each candidate with a probability in
proportion to exp(rate * q). Between neighbours the scores differ by c_r, and all c_r lie within
``width`` of each other, so that exp(rate * q_r) / sum of exp(rate * q_s) changes by at most
exp(rate * (largest c - smallest c)) <= exp(rate * width): with rate = epsilon / width the loss is
epsilon. A sensitivity D of the scores gives a width of 2 D at most, the usual exp(epsilon q / 2 D);
scores that a person can only raise, by 0 to D, have width D.

Permute-and-flip (McKenna and Sheldon 2020): the candidates are taken in random order, and one with
score q is chosen with probability exp(-rate * (highest - q)), so that the first of the highest is
always chosen when it comes. Whole numbers and coins alone decide; no probability is ever rounded.

Why the loss is bounded. The choice has the distribution of the candidate whose score plus
exponential noise of this rate is largest (Ding and others 2021, "The permute-and-flip mechanism is
identical to report-noisy-max with exponential noise"). Fix the noise of all candidates but r. Then
r wins where its own noise exceeds t = max over s of (q_s + noise_s) - q_r, with the probability
min(1, exp(-rate * t)). Let ``width`` be the most by which one person changes the difference of two
scores. Then t changes by at most ``width``, so the probability by a factor of at most exp(rate *
width): with rate = epsilon / width the choice is epsilon-differentially private. For counts, which
one person with m rows raises by 0 to m, the width is m; where a person is replaced by another it is
2m; for any other score it is twice its sensitivity.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.noise.intervals import Interval, exp_negative

if TYPE_CHECKING:
    from dpdesk.engine.noise.randomness import RandomSource

_WORD = 1 << 64
_BATCH = 256
_FIRST_BITS = 128


class Coins:
    """Exact draws, one at a time, from a stream of random words."""

    def __init__(self, source: RandomSource) -> None:
        self._source = source
        self._words: list[int] = []

    def below(self, bound: int) -> int:
        """A number from 0 to ``bound`` - 1, all equally likely."""
        count = max(1, -(-(bound - 1).bit_length() // 64))
        span = _WORD**count
        while True:
            number = 0
            for _ in range(count):
                number = number * _WORD + self._word()
            if number < span - span % bound:
                return number % bound

    def _word(self) -> int:
        if not self._words:
            self._words = self._source.words(_BATCH).tolist()
        return self._words.pop()

    def heads(self, chance: Fraction) -> bool:
        """True with exactly this chance, 0 to 1."""
        return self.below(chance.denominator) < chance.numerator

    def heads_exp(self, exponent: Fraction) -> bool:
        """True with probability exp(-exponent), for an exponent of 0 or more.

        For one of at most 1: coins with the chances exponent/1, exponent/2, … until one fails; the
        number of successes is even with this probability, the alternating series of exp. Larger
        ones are a product. Source: Canonne, Kamath and Steinke 2020, Algorithm 1.
        """
        one = Fraction(1)
        while exponent > 1:
            if not self.heads_exp(one):
                return False
            exponent -= 1
        turn = 1
        while self.heads(exponent / turn):
            turn += 1
        return turn % 2 == 1


class Weights:
    """exp(-rate * gap) for whole gaps, enclosed as narrowly as asked; ``rate`` is exact."""

    def __init__(self, rate: Fraction) -> None:
        self._rate = rate
        self._known: dict[tuple[int, int], Interval] = {}

    def of(self, gap: int, bits: int) -> Interval:
        """An enclosure with so many bits."""
        found = self._known.get((gap, bits))
        if found is None:
            found = self._known[gap, bits] = exp_negative(self._rate * gap, bits)
        return found


def choose_run(
    gaps: Sequence[int], sizes: Sequence[int], weights: Weights, coins: Coins, token: CancelToken
) -> int:
    """Of runs of equally good candidates, the place of the one that the exponential mechanism
    chooses from: with probability ∝ size * exp(-rate * gap), exactly. Raises Cancelled.

    ``gaps`` are how far the scores lie below the highest one, 0 or more; ``sizes`` how many
    candidates a run has, 1 or more. A uniform number U is drawn bit by bit. The sums of the weights
    are enclosed to as many bits, and where it is not certain between which of them U times their
    total lies, more bits of both decide: nothing is rounded.
    """
    bits = _FIRST_BITS
    drawn = coins.below(1 << bits)
    while True:
        lows, highs, low, high = [], [], 0, 0
        for number, (gap, size) in enumerate(zip(gaps, sizes, strict=True)):
            if number % _BATCH == 0:
                token.check()
            least, most = weights.of(gap, bits)
            low, high = low + size * least, high + size * most
            lows.append(low)
            highs.append(high)
        place = bisect_right(highs, drawn * low >> bits)
        if -(-(drawn + 1) * high >> bits) <= lows[place]:
            return place
        drawn, bits = drawn * _WORD + coins.below(_WORD), bits + 64


def choose(scores: Sequence[int], rate: Fraction, coins: Coins, token: CancelToken) -> int:
    """The place of the candidate that permute-and-flip chooses; Cancelled.

    ``rate`` is epsilon by the width of the scores; see the module.
    """
    highest = max(scores)
    left = list(range(len(scores)))
    while True:
        token.check()
        turn = coins.below(len(left))
        left[turn], left[-1] = left[-1], left[turn]
        place = left.pop()
        if coins.heads_exp(rate * (highest - scores[place])):
            return place
