"""Sensitivities and scales: how much noise a share of the budget buys.

One row changes one cell of a cuboid by at most ``largest`` (1 for a count, the largest absolute
value in grid steps for a sum). A person with m rows changes a cuboid by at most m * largest in L1
and in L2. When a person is replaced, two cells may change: twice that in L1; in L2 the square is at
most the larger of twice the square (two cells) and the square of the range (one cell).
Source: resources/docs/cubes.md, with the correction on sums (data cubes paper, 7.3).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpdesk.engine.cubes.exact.sensitivity import GenericSensitivity
from dpdesk.engine.cubes.lattice import NoiseSource, cells, members
from dpdesk.engine.private.kinds import Noise

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Sensitivity:
    """What one person can change in one whole cuboid, in grid steps: L1 and the square of L2."""

    l1: Fraction
    l2_squared: Fraction


@dataclass(frozen=True)
class RowEffect:
    """The values in grid steps that a row can add to a cell, and how many rows a person has.

    ``generic`` takes the place of a person's own change where tables are released exactly (counts
    alone): as many minimal moves as a person has rows.
    """

    lowest: int
    highest: int
    rows: int
    replace: bool
    generic: GenericSensitivity | None = None

    @property
    def largest(self) -> int:
        """The largest absolute value of a row."""
        return max(abs(self.lowest), abs(self.highest))

    def of_cuboid(self) -> Sensitivity:
        """The sensitivity of a whole cuboid."""
        if self.generic is not None:
            l1, rows = Fraction(self.generic.l1), self.rows
            return Sensitivity(l1 * rows, self.generic.l2_squared * rows**2)
        most = Fraction(self.largest * self.rows)
        if not self.replace:
            return Sensitivity(most, most**2)
        span = Fraction((self.highest - self.lowest) * self.rows)
        return Sensitivity(2 * most, max(2 * most**2, span**2))

    def of_residual(self, cuboid: int, shape: tuple[int, ...]) -> Fraction:
        """The square of L2 of a cuboid's residual, times prod n_i^2 (the scaled, integer vector).

        A unit in one cell leaves prod(1 - 1/n_i) after projection. Moving it to another cell
        leaves most when exactly one dimension changes. A row that is replaced by one outside the
        domain is a row removed, so the grand total is not fixed even then.

        Beside exact tables that fix the number of rows, a minimal move is so many rows moved from
        one cell to another as it takes away; else at most each of its units counts by itself.

        Raises ValueError for sums when a person is replaced: there values of both signs meet.
        """
        if self.replace and (self.lowest, self.highest) != (1, 1):
            raise ValueError("residuals of sums are not offered when a person is replaced")
        sizes = [shape[i] for i in members(cuboid)]
        kept = _product([1 - Fraction(1, n) for n in sizes])
        unit = Fraction(self.largest * self.rows * cells(cuboid, shape)) ** 2
        moves = self.replace
        if self.generic is not None:
            moves = self.generic.total_fixed
            unit *= Fraction(self.generic.l1, 2 if moves else 1) ** 2
        if not moves or not sizes:
            return unit * kept
        moved = max(
            _product([1 - Fraction(1, n) for j, n in enumerate(sizes) if j != i]) / sizes[i]
            for i in range(len(sizes))
        )
        return unit * 2 * (kept + moved)


def _product(factors: list[Fraction]) -> Fraction:
    total = Fraction(1)
    for factor in factors:
        total *= factor
    return total


def spread(
    source: NoiseSource, noise: Noise, budget: Fraction, effect: RowEffect, shape: tuple[int, ...]
) -> Fraction:
    """Scale b of discrete Laplace, or variance parameter of discrete Gaussian noise, exactly.

    In grid steps; for a residual in units of the scaled integer vector, prod n_i to the step.
    """
    part = source.share * budget
    if noise is Noise.LAPLACE:
        return effect.of_cuboid().l1 / part
    if source.residual:
        return effect.of_residual(source.cuboid, shape) / (2 * part)
    return effect.of_cuboid().l2_squared / (2 * part)


def scaled_residual(totals: Integers) -> Integers:
    """The residual of a cuboid times the product of its cardinalities: a vector of integers.

    Along each axis of n categories, n times each value less the sum along the axis.
    """
    scaled: Integers = totals
    for axis, size in enumerate(totals.shape):
        scaled = size * scaled - scaled.sum(axis=axis, keepdims=True)
    return scaled
