"""Choosing one of several candidates by their scores, with a bounded privacy loss, exactly.

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

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from dpdesk.core.jobs import CancelToken

if TYPE_CHECKING:
    from dpdesk.engine.noise.randomness import RandomSource

_WORD = 1 << 64
_BATCH = 256


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
