"""What planners with equal noise have in common: the lattice they cover and what a choice costs.

With s noise sources of equal share the variance of a cell of C is unit * spread(s) * mag(C, C'),
where C' is the best source above C, ``unit`` the variance of a source that had the whole budget,
and spread(s) is s^2 for Laplace and s for Gaussian noise. Source: data cubes paper, sections 3 and
4 (Laplace); for Gaussian noise rho is divided, so the variance of each source grows by s.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from math import isqrt
from operator import or_

import numpy as np

from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.engine.cubes.lattice import (
    MOST_DIMENSIONS,
    cell_variances,
    information,
    lattice_sizes,
    mask_of,
    members,
)
from dpdesk.engine.cubes.plans import CubePlan, equal_shares
from dpdesk.engine.cubes.stopping import Ints
from dpdesk.engine.private.kinds import Noise

HUGE = 1 << 53
"""Stands for every magnification from here on: no plan that is worth having gets near it."""

NEVER = -(1 << 60)
"""A gain that no further gain brings above 0: what must not be chosen."""


def unit_variance(noise: Noise, budget: Fraction, sensitivity: Fraction = Fraction(1)) -> Fraction:
    """Variance of the noise of one cell when one noise source gets the whole budget.

    Laplace: 2 * (sensitivity/epsilon)^2 (an upper bound for discrete Laplace noise); Gaussian:
    sensitivity^2 / (2 rho), with the L2 sensitivity.
    """
    if noise is Noise.LAPLACE:
        return 2 * (sensitivity / budget) ** 2
    return sensitivity**2 / (2 * budget)


def spread(noise: Noise, sources: int) -> int:
    """How much the variance of a source grows when ``sources`` share the budget equally."""
    return sources * sources if noise is Noise.LAPLACE else sources


def most_sources(noise: Noise, growth: int) -> int:
    """The largest number of sources whose :func:`spread` is at most ``growth``."""
    return isqrt(growth) if noise is Noise.LAPLACE else growth


@dataclass(frozen=True, eq=False)
class CoverProblem:
    """Published cuboids on the dimensions that occur in them, renumbered from 0.

    ``dimensions`` names the original dimensions, ``whole_forbidden`` cuboids (in the numbers of the
    whole shape) that must not be sources.
    """

    whole_shape: tuple[int, ...]
    whole_published: tuple[int, ...]
    noise: Noise
    dimensions: tuple[int, ...]
    whole_forbidden: frozenset[int] = frozenset()

    @cached_property
    def forbidden(self) -> Ints:
        """The renumbered masks of cuboids that must not be sources."""
        within = mask_of(self.dimensions)
        found = sorted(self.renumbered(one) for one in self.whole_forbidden if not one & ~within)
        return np.array(found, np.int64)

    @cached_property
    def baselines(self) -> tuple[Ints, ...]:
        """Sources of K_all, and of K_base where the base may be one."""
        if self.base in self.forbidden:
            return (self.published,)
        return self.published, np.array([self.base], np.int64)

    @cached_property
    def published(self) -> Ints:
        """The renumbered masks of the published cuboids, ascending."""
        return np.array(sorted(map(self.renumbered, self.whole_published)), np.int64)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Cardinalities of the dimensions that occur."""
        return tuple(self.whole_shape[i] for i in self.dimensions)

    @cached_property
    def sizes(self) -> Ints:
        """Cells of every cuboid, at most HUGE, shape (2^d,)."""
        return np.minimum(lattice_sizes(self.shape), float(HUGE)).astype(np.int64)

    @cached_property
    def by_size(self) -> Ints:
        """All masks, ascending by size."""
        return np.argsort(self.sizes, kind="stable").astype(np.int64)

    @cached_property
    def base(self) -> int:
        """The cuboid of all dimensions that occur."""
        return (1 << len(self.dimensions)) - 1

    def small(self, most: int) -> int:
        """How many cuboids have at most ``most`` cells: the first ones of ``by_size``."""
        return int(np.searchsorted(self._ascending, most, side="right"))

    @cached_property
    def _ascending(self) -> Ints:
        return np.asarray(self.sizes[self.by_size])

    def magnifications(self, sources: Ints) -> Ints:
        """Magnification of each published cuboid from its best source; HUGE where there is none."""
        from dpdesk.engine.cubes.planners.kernels import nearest

        best = np.full(len(self.sizes), HUGE, np.int64)
        nearest(sources, self.sizes, best)
        return np.asarray(best[self.published])

    def worst(self, sources: Ints) -> int:
        """Largest variance of a published cell, in units, before consistency."""
        return spread(self.noise, len(sources)) * int(self.magnifications(sources).max())

    def worst_consistent(self, sources: Ints) -> float:
        """Largest variance of a published cell, in units, after L2 consistency."""
        own = np.zeros(len(self.sizes))
        own[sources] = 1.0 / spread(self.noise, len(sources))
        variances = cell_variances(information(own, self.shape), self.shape)
        return float(variances[self.published].max())

    def renumbered(self, cuboid: int) -> int:
        """The mask of a published cuboid in the new numbers."""
        return mask_of(place for place, i in enumerate(self.dimensions) if cuboid >> i & 1)

    def original(self, cuboid: int) -> int:
        """The mask of a renumbered cuboid in the numbers of the whole shape."""
        return mask_of(self.dimensions[i] for i in members(cuboid))

    def plan(self, sources: Ints, note: str, *, proven: bool = False) -> CubePlan:
        """Equal noise in these (renumbered) cuboids as a plan."""
        cuboids = sorted(self.original(int(source)) for source in sources)
        return CubePlan(
            self.whole_shape, self.whole_published, self.noise, equal_shares(cuboids), proven, note
        )


def cover_problem(
    shape: Sequence[int],
    published: Sequence[int],
    noise: Noise,
    forbidden: Collection[int] = (),
) -> CoverProblem:
    """Check the request and leave out dimensions that no published cuboid has.

    ``forbidden`` cuboids get no noise; none of them is published, so each published cuboid can
    still be its own source. Raises InputError when nothing is published, a cuboid has an unknown
    dimension, occurs twice or is forbidden, a cardinality is below 1, or more than MOST_DIMENSIONS
    dimensions occur.
    """
    whole = tuple(int(cuboid) for cuboid in published)
    if not whole:
        raise InputError("cube.nothing-published", "The plan publishes no cuboid.")
    if min(shape, default=1) < 1:
        raise InputError("cube.empty-domain", "A dimension of the cube has no category.")
    if min(whole) < 0 or max(whole) >> len(shape):
        raise InputError(
            "cube.unknown-dimension",
            ("A published cuboid has a dimension that the cube does not have."),
        )
    if len(set(whole)) < len(whole):
        raise InputError("cube.cuboid-twice", "A cuboid is published twice.")
    if not set(whole).isdisjoint(forbidden):
        raise InputError("cube.forbid", "A cuboid is both published and forbidden.")
    dimensions = members(reduce(or_, whole))
    if len(dimensions) > MOST_DIMENSIONS:
        raise InputError(
            "cube.too-many-dimensions",
            msg(
                "The published cuboids have {len} dimensions together, and at most {most} can "
                "be planned at once.",
                len=len(dimensions),
                most=MOST_DIMENSIONS,
            ),
            hint="Publish fewer dimensions, or make two releases.",
        )
    return CoverProblem(
        tuple(int(n) for n in shape), whole, noise, dimensions, frozenset(forbidden)
    )
