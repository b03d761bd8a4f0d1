"""The lattice of cuboids: sets of dimensions as bit masks, their sizes, sums along the lattice.

A cuboid is a set of dimensions, written as an integer whose bit i stands for dimension i; 0 is the
apex (the grand total). Arrays over the lattice have shape (2^d,) and are indexed by the mask.
Source: data cubes paper, section 2; the residual basis is our own (resources/docs/cubes.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np
from numpy.typing import NDArray

from dpdesk.engine.private.kinds import Noise

Floats = NDArray[np.float64]

MOST_DIMENSIONS = 20
"""More dimensions than this would make arrays over the lattice too large."""


def members(cuboid: int) -> tuple[int, ...]:
    """The dimensions of a cuboid, ascending."""
    return tuple(i for i in range(cuboid.bit_length()) if cuboid >> i & 1)


def mask_of(dimensions: Iterable[int]) -> int:
    """The cuboid with these dimensions."""
    return sum(1 << i for i in set(dimensions))


def cells(cuboid: int, shape: Sequence[int]) -> int:
    """Number of cells of a cuboid, size(C) = product of its cardinalities; 1 for the apex."""
    return prod(shape[i] for i in members(cuboid))


def magnification(cuboid: int, finer: int, shape: Sequence[int]) -> int:
    """mag(C, C'): cells of ``finer`` that sum to one cell of ``cuboid``, which it must contain."""
    if cuboid & ~finer:
        raise ValueError("the finer cuboid lacks a dimension of the other")
    return cells(finer & ~cuboid, shape)


def by_size(dimensions: int, largest: int) -> Iterator[int]:
    """All cuboids with at most ``largest`` of ``dimensions`` dimensions, in order of the mask."""
    return (mask for mask in range(1 << dimensions) if mask.bit_count() <= largest)


def lattice_sizes(shape: Sequence[int]) -> Floats:
    """Cells of every cuboid, shape (2^d,)."""
    sizes = np.ones(1)
    for cardinality in shape:
        sizes = np.concatenate([sizes, sizes * cardinality])
    return sizes


def down_closure(cuboids: Iterable[int], dimensions: int) -> NDArray[np.bool_]:
    """Which cuboids lie below (or are) one of these, shape (2^d,)."""
    below = np.zeros(1 << dimensions, dtype=bool)
    below[list(cuboids)] = True
    for i in range(dimensions):
        pairs = below.reshape(-1, 2, 1 << i)
        pairs[:, 0] |= pairs[:, 1]
    return below


def information(own: Floats, shape: Sequence[int]) -> Floats:
    """W of every residual: what noisy cuboids say together about each S-residual.

    ``own`` holds 1/variance of the noise in one cell of each noisy cuboid, 0 for cuboids without
    noise, shape (2^d,). The S-residual is seen by every noisy C above S with weight
    1/(variance(C)*mag(S, C)); the result is their sum, shape (2^d,); 0 where nothing is known.
    Source: resources/docs/cubes.md, Consistency.
    """
    known = np.array(own, dtype=np.float64)
    for i, cardinality in enumerate(shape):
        pairs = known.reshape(-1, 2, 1 << i)
        pairs[:, 0] += pairs[:, 1] / cardinality
    return known


def cell_variances(known: Floats, shape: Sequence[int]) -> Floats:
    """Variance of one cell of every cuboid after consistency, shape (2^d,).

    ``known`` is W per residual. A cell of C has the variance
    sum over S of C of (1/W_S) * prod over S (1 - 1/n_i) / prod over C without S n_i^2;
    infinite where a residual below C is not known. Source: resources/docs/cubes.md.
    """
    with np.errstate(divide="ignore"):
        variances = 1.0 / np.asarray(known, dtype=np.float64)
    for i, cardinality in enumerate(shape):
        pairs = variances.reshape(-1, 2, 1 << i)
        if cardinality == 1:  # a dimension of one value has no residual
            pairs[:, 1] = pairs[:, 0]
        else:
            pairs[:, 1] = pairs[:, 1] * (1 - 1 / cardinality) + pairs[:, 0] / cardinality**2
    return variances


# What noise a cube gets: decided from the domain and the budget alone, never from data.


@dataclass(frozen=True)
class NoiseSource:
    """One noisy measurement: a whole cuboid, or only its residual.

    ``share`` is the part of the budget that it costs, as an exact fraction of the whole (the
    shares of a plan sum to at most 1). With ``residual`` the noise goes to the cuboid minus what
    smaller cuboids say, which costs less: a person moves that vector by sqrt(prod(1 - 1/n_i)) in
    L2, where the whole cuboid moves by 1. Residual sources are for Gaussian noise alone.
    """

    cuboid: int
    share: Fraction
    residual: bool = False


@dataclass(frozen=True)
class CubePlan:
    """Noise sources L_pre for published cuboids L on a domain of this shape.

    ``shape`` holds the cardinalities n_i; ``published`` and the sources' ``cuboid`` are bit masks
    (see :mod:`~dpdesk.engine.cubes.lattice`). ``proven`` says whether the planner's goal is
    reached provably (up to the stated tolerance of the planner). ``exact`` are cuboids released
    without noise, whose residuals are known.
    """

    shape: tuple[int, ...]
    published: tuple[int, ...]
    noise: Noise
    sources: tuple[NoiseSource, ...]
    proven: bool = False
    note: str = ""
    exact: tuple[int, ...] = ()

    @property
    def spent(self) -> Fraction:
        """Sum of the shares; never above 1."""
        return sum((source.share for source in self.sources), Fraction(0))


def equal_shares(cuboids: Sequence[int]) -> tuple[NoiseSource, ...]:
    """Each of these cuboids as a noise source with the same share of the budget."""
    share = Fraction(1, len(cuboids))
    return tuple(NoiseSource(cuboid, share) for cuboid in cuboids)
