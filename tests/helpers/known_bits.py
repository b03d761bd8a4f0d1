"""Sources of random bits that tests know: seeded, listed, or enumerated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Outcome = TypeVar("Outcome")


class SeededBits:
    """The same stream of words for the same seed; remembers what it gave."""

    def __init__(self, seed: int, word_bits: int = 64) -> None:
        self._generator = np.random.Generator(np.random.Philox(seed))
        self._high = (1 << word_bits) - 1
        self.given: list[int] = []
        self.remember = False

    def words(self, n: int) -> NDArray[np.uint64]:
        found = self._generator.integers(0, self._high, n, dtype=np.uint64, endpoint=True)
        if self.remember:
            self.given += found.tolist()
        return found


class RanOutError(Exception):
    """A listed stream has no more words."""


class ListedBits:
    """Exactly these words."""

    def __init__(self, words: Iterable[int]) -> None:
        self._words: Iterator[int] = iter(words)
        self.taken = 0

    def words(self, n: int) -> NDArray[np.uint64]:
        found = []
        for _ in range(n):
            word = next(self._words, None)
            if word is None:
                raise RanOutError
            found.append(word)
        self.taken += n
        return np.array(found, np.uint64)


def enumerate_streams(
    draw: Callable[[ListedBits], Outcome], word_bits: int, depth: int
) -> tuple[dict[Outcome, Fraction], Fraction]:
    """What ``draw`` gives over all streams of up to ``depth`` words.

    Every stream is followed until the draw has what it needs. Returns the exact probability of each
    outcome over those streams, and the probability of the streams that would need more words.
    """
    shares: dict[Outcome, Fraction] = {}
    open_streams: list[tuple[int, ...]] = [()]
    for length in range(depth + 1):
        share = Fraction(1, 1 << (word_bits * length))
        longer = []
        for stream in open_streams:
            source = ListedBits(stream)
            try:
                outcome = draw(source)
            except RanOutError:
                longer.append(stream)
                continue
            assert source.taken == length, "a shorter stream would have done"
            shares[outcome] = shares.get(outcome, Fraction(0)) + share
        if length == depth:
            return shares, share * len(longer)
        open_streams = [(*s, word) for s in longer for word in range(1 << word_bits)]
    raise AssertionError("unreachable")
