"""Estimation from diverted releases the slow, obvious way: enumeration, fractions, plain loops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import permutations, product
from math import comb

Matrix = Sequence[Sequence[float]]


def systematic(counts: Sequence[int], size: int) -> Iterator[tuple[int, ...]]:
    """Every group that one draw of the mixed rule can make, each as often as it is likely."""
    left = sum(counts) // size
    values = [v for v, count in enumerate(counts) if count]
    for order in permutations(values):
        line = [v for v in order for _ in range(counts[v])]
        for start in range(left):
            yield tuple(line[start + k * left] for k in range(size))


@lru_cache(maxsize=10_000)
def expected_pairs(counts: tuple[int, ...], size: int) -> tuple[tuple[Fraction, ...], ...]:
    """How many groups hold both values, on average over all mixed partitions."""
    zero = Fraction(0)
    total = [[zero] * len(counts) for _ in counts]
    groups = list(systematic(counts, size)) if sum(counts) else []
    for group in groups:
        rest = expected_pairs(tuple(count - (v in group) for v, count in enumerate(counts)), size)
        for v, w in product(range(len(counts)), repeat=2):
            total[v][w] += ((v in group and w in group) + rest[v][w]) / Fraction(len(groups))
    return tuple(tuple(row) for row in total)


def bayes(matrix: Matrix, published: Sequence[float], steps: int) -> list[float]:
    """Iterative Bayes, one plain step after the other."""
    size = len(published)
    found = [sum(published) / size] * size
    for _ in range(steps):
        expected = [sum(found[r] * matrix[r][j] for r in range(size)) for j in range(size)]
        found = [
            sum(published[j] * matrix[i][j] * found[i] / expected[j] for j in range(size))
            for i in range(size)
        ]
    return found


def binomial(trials: int, chance: Fraction) -> list[Fraction]:
    """Probabilities of 0, 1, …, ``trials``."""
    return [comb(trials, x) * chance**x * (1 - chance) ** (trials - x) for x in range(trials + 1)]


def error_chance(f: int, size: int, share: Fraction, *, strict: bool) -> Fraction:
    """Pr(|f′ − f| ≥ share·f), or > with ``strict``, for f′ ~ Binomial(ℓ′f, 1/ℓ′)."""
    limit = share * f
    return sum(
        (
            p
            for x, p in enumerate(binomial(size * f, Fraction(1, size)))
            if (abs(x - f) > limit if strict else abs(x - f) >= limit)
        ),
        Fraction(0),
    )
