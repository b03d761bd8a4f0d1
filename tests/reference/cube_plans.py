"""Equal noise in data cubes, straight from the definitions: every set of noise sources is tried."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import chain, combinations
from math import inf, prod

from dpdesk.engine.private.kinds import Noise

Cuboid = frozenset[int]


def cuboids(dimensions: int) -> list[Cuboid]:
    return [
        frozenset(chosen)
        for count in range(dimensions + 1)
        for chosen in combinations(range(dimensions), count)
    ]


def cuboid(mask: int) -> Cuboid:
    return frozenset(i for i in range(mask.bit_length()) if mask >> i & 1)


def magnification(coarse: Cuboid, fine: Cuboid, shape: Sequence[int]) -> float:
    return prod(shape[i] for i in fine - coarse) if coarse <= fine else inf


def noise_of(
    coarse: Cuboid, sources: Iterable[Cuboid], shape: Sequence[int], noise: Noise
) -> float:
    """Variance of a cell of ``coarse``, where a source with the whole budget has variance 1."""
    chosen = list(sources)
    growth = len(chosen) ** 2 if noise is Noise.LAPLACE else len(chosen)
    return min(magnification(coarse, fine, shape) for fine in chosen) * growth


def source_sets(dimensions: int) -> Iterable[tuple[Cuboid, ...]]:
    every = cuboids(dimensions)
    return chain.from_iterable(combinations(every, s) for s in range(1, len(every) + 1))


def worst(
    sources: Iterable[Cuboid], published: Iterable[Cuboid], shape: Sequence[int], noise: Noise
) -> float:
    chosen = list(sources)
    return max(noise_of(coarse, chosen, shape, noise) for coarse in published)


def smallest_worst(published: Sequence[Cuboid], shape: Sequence[int], noise: Noise) -> float:
    return min(worst(chosen, published, shape, noise) for chosen in source_sets(len(shape)))


def precise_weight(
    sources: Iterable[Cuboid], weights: Mapping[Cuboid, Fraction], shape: Sequence[int],
    noise: Noise, threshold: Fraction,
) -> Fraction:  # fmt: skip
    chosen = list(sources)
    return sum(
        (
            weight
            for coarse, weight in weights.items()
            if noise_of(coarse, chosen, shape, noise) <= threshold
        ),
        Fraction(0),
    )


def most_precise_weight(
    weights: Mapping[Cuboid, Fraction], shape: Sequence[int], noise: Noise, threshold: Fraction
) -> Fraction:
    """The largest weight of precise cuboids among sources that give all published cuboids."""
    return max(
        precise_weight(chosen, weights, shape, noise, threshold)
        for chosen in source_sets(len(shape))
        if all(any(coarse <= fine for fine in chosen) for coarse in weights)
    )
