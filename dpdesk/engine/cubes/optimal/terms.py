"""What the compiled objective sums: the whole lattice, or only what published cuboids need.

Where most cuboids are published, sums along the lattice are quickest. Where few are, the residuals
below them are few too, and lists of links (which residuals a noisy cuboid tells, which ones a
published cuboid is made of) cost less and hold for any number of dimensions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import inf

import numpy as np

from dpdesk.engine.cubes.lattice import Floats, lattice_sizes
from dpdesk.engine.cubes.optimal.objectives import Goal, Objective
from dpdesk.engine.cubes.stopping import Ints

Shares = dict[int, float]
"""Parts of the budget by (renumbered) cuboid; cuboids without a share are absent."""

Maps = tuple[Floats, Ints, Ints, Floats, Ints, Ints, Floats]
_NONE, _NOTHING = np.zeros(0, np.int64), np.zeros(0)


@dataclass(eq=False)
class Terms:
    """The arrays that kernels need for one objective; not for use by two threads at once."""

    objective: Objective
    _rows: dict[int, tuple[Ints, Floats]] = field(default_factory=dict, repr=False)

    @cached_property
    def dense(self) -> bool:
        """Whether sums go over the whole lattice."""
        goal = self.objective
        return self._links > len(goal.weights) * max(goal.dimensions, 1)

    @cached_property
    def cost(self) -> int:
        """About how many products one evaluation takes."""
        goal = self.objective
        if self.dense:
            return 2 * len(goal.weights) * max(goal.dimensions, 1)
        return 3 * self._links + 40 * len(self._residuals)

    @property
    def _links(self) -> int:
        return sum(1 << int(mask).bit_count() for mask in self._counted)

    @cached_property
    def _counted(self) -> Ints:
        return np.flatnonzero(self.objective.weights > 0)

    @cached_property
    def _residuals(self) -> Ints:
        return np.flatnonzero(self.objective.needed)

    @cached_property
    def _sizes(self) -> Floats:
        return lattice_sizes(self.objective.domain.shape)

    @cached_property
    def weights(self) -> Floats:
        """Weights of cuboids, as the kernels count them."""
        weights = self.objective.weights
        return weights if self.dense else np.ascontiguousarray(weights[self._counted])

    @cached_property
    def needed(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which residuals must be known, as the kernels count them."""
        return self.objective.needed if self.dense else np.ones(len(self._residuals), np.bool_)

    @cached_property
    def _made_of(self) -> tuple[Ints, Ints, Floats]:
        if self.dense:
            return _NONE, _NONE, _NOTHING
        kept = np.ones(1)
        for n in self.objective.domain.shape:
            kept = np.concatenate([kept, kept * (1.0 - 1.0 / n)])
        rows = [self._row(int(mask)) for mask in self._counted]
        # 1/mag is squared in a cell variance; see lattice.cell_variances.
        parts = [part * part * kept[self._residuals[place]] for place, part in rows]
        return _joined([place for place, _ in rows], parts)

    def maps(self, candidates: Ints) -> Maps:
        """What :func:`kernels.objective` needs of the lattice for these candidates."""
        if self.dense:
            return (self.objective.inverse, _NONE, _NONE, _NOTHING, *self._made_of)
        rows = [self._told(int(mask)) for mask in candidates]
        first, place, part = _joined([row[0] for row in rows], [row[1] for row in rows])
        return (self.objective.inverse, first, place, part, *self._made_of)

    def _row(self, mask: int) -> tuple[Ints, Floats]:
        """Places of the residuals below a cuboid, and 1/mag to each."""
        found = self._rows.get(mask)
        if found is None:
            places = np.flatnonzero((self._residuals & ~mask) == 0)
            found = places, self._sizes[self._residuals[places]] / self._sizes[mask]
            self._rows[mask] = found
        return found

    def _told(self, mask: int) -> tuple[Ints, Floats]:
        """Places of the residuals that noise in a cuboid tells, and how well."""
        costs = self.objective.costs
        if not len(costs):
            return self._row(mask)
        place = np.searchsorted(self._residuals, [mask]).astype(np.int64)
        return place, 1.0 / costs[mask : mask + 1]

    @property
    def costs(self) -> Floats:
        """Costs of residuals, where the kernels need them."""
        return self.objective.costs if self.dense else _NOTHING

    def reaches(self, shares: Shares) -> bool:
        """Whether every published cuboid can be computed from cuboids with a share."""
        known = np.zeros(len(self._residuals), np.bool_)
        for mask in shares:
            known[self._told(mask)[0]] = True
        return bool(known.all())

    def figure(self, shares: Shares) -> float:
        """What the goal minimises, of shares of any sum; infinite if a cuboid is missing."""
        if self.dense:
            return self.objective.figure(self.array(shares))
        if not self.reaches(shares):
            return inf
        known, total = np.zeros(len(self._residuals)), sum(shares.values())
        for mask in sorted(shares):
            place, part = self._told(mask)
            known[place] += (shares[mask] / total) ** self.objective.kappa * part
        first, place, part = self._made_of
        variances = np.add.reduceat(part * (self.objective.unit / known)[place], first[:-1])
        values = self.weights * variances
        return float(values.max() if self.objective.goal is Goal.MAXIMUM else values.sum())

    def array(self, shares: Shares) -> Floats:
        """The shares over the lattice, shape (2^d,), with the sum 1."""
        found = np.zeros(len(self.objective.weights))
        found[list(shares)] = list(shares.values())
        return np.asarray(found / found.sum())


def shares_of(array: Floats) -> Shares:
    """The shares above 0 by cuboid."""
    return {int(mask): float(array[mask]) for mask in np.flatnonzero(array)}


def _joined(places: list[Ints], parts: list[Floats]) -> tuple[Ints, Ints, Floats]:
    first = np.concatenate([[0], np.cumsum([len(place) for place in places])]).astype(np.int64)
    return first, np.concatenate(places).astype(np.int64), np.concatenate(parts)
