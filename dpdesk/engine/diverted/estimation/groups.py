"""Which values meet in decoy groups: the public rule of partition, run on value counts."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.diverted.estimation.counts import Floats, Ints, admissible_counts

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
    from dpdesk.engine.diverted.estimation.simulation import partition_counts

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
