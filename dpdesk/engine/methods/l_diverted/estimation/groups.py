"""Which values meet in decoy groups: the public rule of partition, run on value counts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.compiled import kernel
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.methods.l_diverted.estimation.counts import Floats, Ints, admissible_counts

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
