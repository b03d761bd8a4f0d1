"""Which values meet in decoy groups: the public rule of partition, run on value counts."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.compiled import kernel
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.methods.l_diverted.estimation.solving import Floats, Ints, admissible_counts

_GROUPS = 400_000
"""Groups to average over: with them the matrix is exact to a fraction of a row of an answer."""
_KEPT = 4_000
_STEPS = 40_000_000
_STREAM = 0x5DEECE66D


@dataclass(frozen=True, eq=False)
class GroupModel:
    """What the rule of partition makes of the value counts of one sensitive attribute.

    ``counts`` are the counts that it was run on, shape (V,), sum N; ``pairs[v, w]`` is the expected
    number of groups that hold both v and w, shape (V, V), symmetric, ``pairs[v, v]`` = counts[v];
    ``sample`` are some of the groups, shape (G, ℓ′), each standing for ``weight`` of them.
    """

    size: int
    counts: Ints
    pairs: Floats = field(repr=False)
    sample: NDArray[np.int32] = field(repr=False)
    mixed: bool = True

    @property
    def rows(self) -> int:
        """Number of tuples, N."""
        return int(self.counts.sum())

    @property
    def weight(self) -> float:
        """How many of the table's groups one of the sample stands for."""
        return self.rows / self.size / len(self.sample)


def group_model(
    published: Ints,
    size: int,
    mixed: bool,
    token: CancelToken | None = None,
) -> GroupModel:
    """Run the rule of partition on published value counts, many times when it is the mixed one.

    ``published`` are the counts f′ of the release, shape (V,), in the order in which the rule
    takes values. Tables of more groups than can be walked in a moment are scaled down: what meets
    depends on shares alone, up to the inverse of the number of groups. Raises InputError
    ``diverted.*``, Cancelled.
    """
    counts = admissible_counts(published, size)
    small = _scaled(counts, size)
    groups = int(small.sum()) // size
    repeats = -(-_GROUPS // groups) if mixed else 1
    repeats = max(1, min(repeats, _STEPS // (groups * len(small)), 4000))
    every = max(1, -(-groups // _KEPT))
    kept = np.zeros((min(_KEPT, repeats * -(-groups // every)), size), np.int32)
    pairs = np.zeros((len(small), len(small)), np.int64)
    state = np.array([_STREAM], np.uint64)
    filled = 0
    for _ in range(repeats):
        if token is not None:
            token.check()
        filled = partition_counts(small.copy(), mixed, state, pairs, kept, every, filled)
    met = pairs / repeats
    if small is not counts:
        met = _enlarged(met, small, counts, size)
    return GroupModel(size, counts, met, kept[:filled], mixed)


def _enlarged(met: Floats, small: Ints, counts: Ints, size: int) -> Floats:
    """Pairs of a scaled table as those of the whole one: symmetric, rows summing to ℓ′ counts.

    A rare value's count was rounded most, so a pair is scaled as its rarer value is.
    """
    scale = counts / small
    rarer = np.where(counts[:, None] <= counts[None, :], scale[:, None], scale[None, :])
    met = met * rarer
    np.fill_diagonal(met, 0.0)
    wanted = (size - 1) * counts.astype(np.float64)
    for _ in range(60):
        sums = met.sum(axis=1)
        factor = np.sqrt(np.divide(wanted, sums, out=np.ones_like(sums), where=sums > 0))
        met = met * factor[:, None] * factor[None, :]
    np.fill_diagonal(met, counts)
    return np.asarray(met)


def _scaled(counts: Ints, size: int) -> Ints:
    """The counts, or ones in proportion with as many groups as can be walked."""
    groups = int(counts.sum()) // size
    limit = max(20_000, min(_GROUPS, _STEPS // len(counts)))
    if groups <= limit:
        return counts
    few = np.maximum(1, np.round(counts * (limit / groups))).astype(np.int64)
    few[int(np.argmax(few))] += -int(few.sum()) % size
    return admissible_counts(few, size)


Array = Any
"""A numpy array; inside compiled code element types come from the caller."""


@kernel
def below(bound: int, state: Array) -> Any:
    """A number from 0 to ``bound`` − 1 (bound ≤ 2^31) of a splitmix64 stream.

    ``state`` holds one uint64. The bias is below bound/2^32.
    """
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.int64(((z >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32))


@kernel
def mixed_group(counts: Array, left: int, order: Array, state: Array, group: Array) -> None:
    """Draw one group by systematic sampling, values in random order, and take it off ``counts``.

    ``left`` is the number R of groups still to be made: the counts sum to ℓ′R and none is above R.
    """
    for i in range(len(order) - 1, 0, -1):
        j = below(i + 1, state)
        order[i], order[j] = order[j], order[i]
    hit = below(left, state)
    end, found = 0, 0
    for i in range(len(order)):
        end += counts[order[i]]
        if hit < end:
            group[found] = order[i]
            found += 1
            hit += left
    for i in range(found):
        counts[group[i]] -= 1


@kernel
def largest_group(counts: Array, taken: Array, group: Array) -> None:
    """One of each of the currently largest counts, ties by value order; take it off ``counts``."""
    for i in range(len(group)):
        best = -1
        for value in range(len(counts)):
            if not taken[value] and (best < 0 or counts[value] > counts[best]):
                best = value
        group[i] = best
        taken[best] = True
    for i in range(len(group)):
        taken[group[i]] = False
        counts[group[i]] -= 1


@kernel
def partition_counts(
    counts: Array, mixed: bool, state: Array, pairs: Array, kept: Array, every: int, filled: int
) -> int:
    """Make all groups from ``counts`` (which end at 0); add up the pairs of values that meet.

    Every ``every``-th group is written to ``kept`` from row ``filled`` on, as long as there is
    room; the number of rows filled then is returned.
    """
    size = kept.shape[1]
    order = np.arange(len(counts))
    taken = np.zeros(len(counts), np.bool_)
    group = np.zeros(size, np.int64)
    total = np.int64(0)
    for value in range(len(counts)):
        total += counts[value]
    groups = total // size
    for made in range(groups):
        if mixed:
            mixed_group(counts, groups - made, order, state, group)
        else:
            largest_group(counts, taken, group)
        for i in range(size):
            for j in range(size):
                pairs[group[i], group[j]] += 1
        if made % every == 0 and filled < len(kept):
            for i in range(size):
                kept[filled, i] = group[i]
            filled += 1
    return filled


# How a true sensitive value becomes a published one: transition matrices, and what inverts them.
#
# Three models of one attribute. :class:`FullTransition` tells all values apart, with probabilities
# that follow from the value counts alone. :class:`TwoStates` knows only "s" and "not s": with the
# corrected probability f_s(ℓ′−1)/(ℓ′(N−f_s)) that a tuple without s publishes s (the one printed in
# the l-diverted paper, figure 3, is f_s/N, which is not right: the expected count of s would not be
# f_s), or with the paper's own, for comparison alone. Both two-state models assume that the
# predicate does not depend on which other value a tuple has.


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
