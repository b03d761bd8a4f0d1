"""How a true sensitive value becomes a published one: transition matrices, and what inverts them.

Three models of one attribute. :class:`FullTransition` tells all values apart, with probabilities
that follow from the value counts alone. :class:`TwoStates` knows only "s" and "not s": with the
corrected probability f_s(ℓ′−1)/(ℓ′(N−f_s)) that a tuple without s publishes s (the one printed in
the l-diverted paper, figure 3, is f_s/N, which is not right: the expected count of s would not be
f_s), or with the paper's own, for comparison alone. Both two-state models assume that the predicate
does not depend on which other value a tuple has.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpdesk.engine.methods.l_diverted.estimation.counts import Floats
from dpdesk.engine.methods.l_diverted.estimation.groups import GroupModel

Mask = NDArray[np.bool_]
WORST_CONDITION = 1e7
"""Above this condition number a matrix is singular for every practical purpose."""


@dataclass(frozen=True, eq=False)
class FullTransition:
    """All values of an attribute: M[v, s] = E(groups with both v and s) / (ℓ′ f_v).

    Source: ours; the co-occurrence matrix is a sum of outer products, so M is similar to a
    symmetric positive semi-definite matrix whose largest eigenvalue is 1.
    """

    groups: GroupModel

    @cached_property
    def matrix(self) -> Floats:
        """Shape (V, V): row true value, column published value, rows sum to 1."""
        return self.groups.pairs / (self.groups.size * self.groups.counts[:, None])

    @cached_property
    def condition(self) -> float:
        """Largest over smallest eigenvalue of the matrix; infinity when it is singular."""
        root = np.sqrt(self.groups.counts.astype(np.float64))
        alike = self.groups.pairs / (self.groups.size * root[:, None] * root[None, :])
        values = np.linalg.eigvalsh(alike)
        smallest = float(values[0])
        return float(values[-1]) / smallest if smallest > 1e-12 else np.inf

    @property
    def estimable(self) -> bool:
        """Whether published counts determine true ones."""
        return self.condition <= WORST_CONDITION

    def weights(self, chosen: Mask) -> Floats:
        """The weights w with M w = 1 on the chosen values, 0 elsewhere: Σ w_s y_s is unbiased."""
        return np.asarray(np.linalg.solve(self.matrix, chosen.astype(np.float64)))

    def drift(self, found: Floats, weights: Floats, chosen: Mask) -> Floats:
        """How the estimate moves for each further row that publishes a value, through the matrix.

        ``found`` are the estimated counts x, shape (V,). The derivative of wᵀMᵀx by f: the groups'
        composition changes as the regression on their members says (exact for maximum entropy
        sampling), and a value's rows are spread over more groups.
        """
        share = shares(found, self.groups)
        products = weights[self.groups.sample].sum(1) * share[self.groups.sample].sum(1)
        slopes = self.slopes(products / self.groups.size)
        return np.asarray(slopes - share * chosen)

    def slopes(self, of_groups: Floats) -> Floats:
        """Least-squares coefficients of a quantity of the sampled groups on their members."""
        flat = self.groups.sample.ravel()
        moments = np.bincount(
            flat, np.repeat(of_groups, self.groups.size), minlength=len(self.groups.counts)
        )
        return np.asarray(self._gram_inverse @ moments)

    @cached_property
    def _gram_inverse(self) -> Floats:
        size = len(self.groups.counts)
        sample = self.groups.sample.astype(np.int64)
        gram = np.zeros((size, size))
        for column in sample.T:
            places = column[:, None] * size + sample
            gram += np.bincount(places.ravel(), minlength=size * size).reshape(size, size)
        ridge = 1e-9 * float(np.trace(gram)) / size
        return np.asarray(np.linalg.inv(gram + ridge * np.eye(size)))


def shares(found: Floats, groups: GroupModel) -> Floats:
    """The share of each value's tuples that match: x/f, between 0 and 1."""
    return np.clip(found / groups.counts, 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class TwoStates:
    """A value s against all others; state 0 is "not s", state 1 is "s".

    ``count`` is f_s, or what stands for it; ``as_in_paper`` takes the paper's a = f_s/N.
    """

    rows: int
    size: int
    count: float
    as_in_paper: bool = False

    @property
    def decoy(self) -> float:
        """a: the probability that a tuple without s publishes s."""
        others = self.rows - self.count
        if self.as_in_paper:
            return self.count / self.rows
        return min(1.0, self.count * (self.size - 1) / (self.size * others)) if others > 0 else 1.0

    @property
    def matrix(self) -> Floats:
        """Shape (2, 2), rows sum to 1."""
        return np.array([[1 - self.decoy, self.decoy], [1 - 1 / self.size, 1 / self.size]])

    @property
    def estimable(self) -> bool:
        """Whether s is published more often by tuples that have it: f_s < N/ℓ′."""
        return self.count * self.size < self.rows and self.decoy < 1 / self.size

    @property
    def condition(self) -> float:
        """Largest over smallest singular value."""
        return float(np.linalg.cond(self.matrix)) if self.estimable else np.inf

    def weights(self, chosen: Mask) -> Floats:
        """The weights w with M w = 1 on the chosen state."""
        gap = 1 / self.size - self.decoy
        of_s = np.array([-self.decoy, 1 - self.decoy]) / gap
        return of_s if chosen[1] else 1 - of_s

    def drift(self, found: Floats, weights: Floats, chosen: Mask) -> Floats:
        """The derivative of wᵀMᵀx by f_s, for a row that publishes s."""
        rise = (self.size - 1) / self.size * self.rows / (self.rows - self.count) ** 2
        return np.array([0.0, float(found[0]) * rise * float(weights[1] - weights[0])])
