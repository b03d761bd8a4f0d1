"""Frequent itemsets and private choices, by trying everything."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from itertools import combinations
from math import exp
from statistics import mean, median
from typing import TypeVar

Found = TypeVar("Found", bound=Hashable)
Rows = Sequence[tuple[bool, ...]]


def support(rows: Rows, items: tuple[int, ...]) -> int:
    """How many rows hold all these items."""
    return sum(all(row[item] for item in items) for row in rows)


def frequent(rows: Rows, most: int, longest: int) -> list[tuple[int, tuple[int, ...]]]:
    """The most frequent sets of at most ``longest`` items."""
    items = range(len(rows[0]))
    every = [own for size in range(1, longest + 1) for own in combinations(items, size)]
    return sorted(
        ((support(rows, own), own) for own in every), key=lambda e: (-e[0], len(e[1]), e[1])
    )[:most]


def judged(
    rows: Rows, lists: Sequence[Sequence[tuple[float, tuple[int, ...]]]], top: int, longest: int
) -> tuple[float, float, float]:
    """Precision, recall and median relative error of lists of sets, one set after another."""
    true = frequent(rows, top, longest)
    last = true[-1][0]
    precisions, recalls, errors = [], [], []
    for listed in lists:
        sure = sum(own in [each for _, each in true] for _, own in listed)
        # A set as frequent as the last true one may stand for one that is not listed.
        tied = sum(
            support(rows, own) == last and own not in [each for _, each in true]
            for _, own in listed
        )
        right = min(sure + tied, len(true))
        precisions.append(right / len(listed))
        recalls.append(right / len(true))
        errors += [
            abs(count - support(rows, own)) / max(support(rows, own), 1) for count, own in listed
        ]
    return mean(precisions), mean(recalls), median(errors)


class AllPaths:
    """Coins that fall every way in turn: what comes of a draw, with exactly which probability."""

    def __init__(self) -> None:
        self.path: list[tuple[int, int]] = []
        self.step = 0
        self.chance = 1.0

    def _next(self, ways: int) -> int:
        if self.step == len(self.path):
            self.path.append((0, ways))
        self.step += 1
        return self.path[self.step - 1][0]

    def below(self, bound: int) -> int:
        """Every number from 0 on."""
        self.chance /= bound
        return self._next(bound)

    def heads_exp(self, exponent: Fraction) -> bool:
        """Both sides, the first with probability exp(-exponent)."""
        if exponent == 0:
            return True
        heads = self._next(2) == 0
        self.chance *= exp(-exponent) if heads else 1 - exp(-exponent)
        return heads

    def distribution(self, draw: Callable[[AllPaths], Found]) -> dict[Found, float]:
        """The probability of everything that ``draw`` can give."""
        found: dict[Found, float] = {}
        while True:
            self.step, self.chance = 0, 1.0
            made = draw(self)
            found[made] = found.get(made, 0.0) + self.chance
            while self.path and self.path[-1][0] + 1 == self.path[-1][1]:
                self.path.pop()
            if not self.path:
                return found
            place, ways = self.path[-1]
            self.path[-1] = (place + 1, ways)


def permute_and_flip(scores: Sequence[int], rate: float) -> list[float]:
    """The probability of each candidate, by the closed form over the sets that come before it.

    p_r times the sum over sets S of the others of (-1)^|S| / (|S| + 1) times their p.
    """
    p = [exp(-rate * (max(scores) - score)) for score in scores]
    found = []
    for place, own in enumerate(p):
        others = p[:place] + p[place + 1 :]
        total = 0.0
        for size in range(len(others) + 1):
            for part in combinations(others, size):
                product = 1.0
                for each in part:
                    product *= each
                total += (-1) ** size / (size + 1) * product
        found.append(own * total)
    return found
