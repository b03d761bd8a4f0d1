"""Compiled simulation of decoy groups from value counts: no rows, no data.

The public rule of partition sees only which value a tuple has, so what it does to a table follows
from the counts. The random numbers are those of a fixed stream: nothing here protects anything, and
the same release always gets the same matrix.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpdesk.core.compiled import kernel

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
