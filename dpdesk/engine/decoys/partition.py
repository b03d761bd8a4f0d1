"""The partition into decoy groups: of value counts, and of rows.

Both rules work on the counts alone: they say which values each group holds, and the rows of a value
then take its places in the order of their random ids. So the partition is a function of the pairs
(id, value) and of coins that are drawn independently of them, which is all that the theorem needs,
and a reader can run the rule on published counts.

Source: l-diverted paper, mechanism A' (largest-first is the rule that it suggests). The mixed rule
is ours: systematic sampling with probability proportional to the remaining counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.decoys import LARGEST_FIRST, MIXED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpdesk.engine.noise.randomness import RandomSource


# Uniform integers, permutations and samples, exactly, from a stream of random bits.
#
# Integer arithmetic alone: a word of 64 bits is reduced modulo the bound, and words of the last
# incomplete run are drawn again, so no remainder is more likely than another.


PIECE = 1 << 19
"""Numbers that are drawn at once: few enough for a cancel to be heard between two pieces."""


def below(bounds: NDArray[np.uint64], source: RandomSource) -> NDArray[np.uint64]:
    """One number for each bound, uniform from 0 to the bound less one, independent of the others.

    The first words of the stream stand for the bounds in their order; each one that has to be drawn
    again takes a further word. ValueError for a bound of 0.
    """
    from dpdesk.engine.decoys.kernels import reduce_words

    if len(bounds) and not bounds.all():
        raise ValueError("there is no number below 0")
    found = np.empty(len(bounds), np.uint64)
    open_ = np.empty(len(bounds), np.int64)
    again = reduce_words(source.words(len(bounds)), bounds, found, open_)
    while again:
        places = open_[:again].copy()
        part = np.empty(again, np.uint64)
        again = reduce_words(source.words(again), bounds[places], part, open_)
        found[places] = part
        open_[:again] = places[open_[:again]]
    return found


def uniform(bound: int, count: int, source: RandomSource) -> NDArray[np.uint64]:
    """``count`` numbers, uniform from 0 to ``bound`` less one."""
    return below(np.full(count, bound, np.uint64), source)


def permutation(
    length: int, source: RandomSource, token: CancelToken
) -> NDArray[np.uint32] | NDArray[np.int64]:
    """A permutation of 0, 1, …, ``length`` less one, all of them equally likely.

    Fisher and Yates' shuffle. Raises Cancelled.
    """
    from dpdesk.engine.decoys.kernels import swap_down

    order: NDArray[np.uint32] | NDArray[np.int64] = np.arange(length, dtype=np.int64)
    if length < 1 << 32:
        order = order.astype(np.uint32)
    top = length - 1
    while top > 0:
        token.check()
        last = max(0, top - PIECE)
        bounds = np.arange(top + 1, last + 1, -1, dtype=np.int64).astype(np.uint64)
        draws = below(bounds, source)
        swap_down(order, top, draws)
        draws.fill(0)
        top = last
    return order


def sample(length: int, count: int, source: RandomSource) -> NDArray[np.int64]:
    """``count`` different numbers below ``length``, all sets equally likely; ascending.

    For few numbers: one that was drawn before is drawn again. ValueError when there are not so
    many.
    """
    if count > length:
        raise ValueError(f"there are no {count} different numbers below {length}")
    chosen: set[int] = set()
    while len(chosen) < count:
        chosen.add(int(uniform(length, 1, source)[0]))
    return np.array(sorted(chosen), np.int64)


MOST_DRAWS = 1 << 27
"""Above so many random numbers (and eight for each row) one order of the values serves several
groups, so that the work does not grow with the product of rows and values."""


def value_groups(
    counts: NDArray[np.int64],
    size: int,
    rule: str,
    source: RandomSource,
    token: CancelToken,
    most_draws: int = MOST_DRAWS,
) -> NDArray[np.int32]:
    """The values of each decoy group: places in ``counts``, shape (groups, ``size``).

    ``counts`` must add up to a multiple of ``size``, with none above the number of groups; each
    group then holds ``size`` different values, and every value is in as many groups as it counts.
    ``rule`` is one of :data:`~dpdesk.engine.decoys.RULES`; largest-first takes nothing from
    ``source``.

    Raises ValueError for counts that cannot be divided so, Cancelled.
    """
    total = int(counts.sum())
    groups = total // size
    if size < 1 or total != groups * size or (len(counts) and int(counts.min()) < 0):
        raise ValueError(f"{total} rows do not make groups of {size}")
    if len(counts) and int(counts.max()) > groups:
        raise ValueError(f"a value has {int(counts.max())} rows, but there are {groups} groups")
    found = np.empty((groups, size), np.int32)
    if groups == 0:
        return found
    present = np.flatnonzero(counts)
    left = counts[present].astype(np.int64)
    if rule == MIXED:
        _mixed(left, size, found, source, token, most_draws)
    elif rule == LARGEST_FIRST:
        _largest_first(left, size, found, token)
    else:
        raise ValueError(f"there is no rule {rule!r}")
    if len(present) == len(counts):
        return found
    places = present.astype(np.int32)[found]
    found.fill(0)
    return places


def batch_size(values: int, groups: int, size: int, most_draws: int = MOST_DRAWS) -> int:
    """Groups that share one random order of the values; 1 unless there are very many values."""
    allowed = max(most_draws, 8 * groups * size)
    return max(1, -(-groups * values // allowed))


def _mixed(
    left: NDArray[np.int64],
    size: int,
    found: NDArray[np.int32],
    source: RandomSource,
    token: CancelToken,
    most_draws: int,
) -> None:
    from dpdesk.engine.decoys.kernels import mixed_groups

    values, groups = len(left), len(found)
    batch = batch_size(values, groups, size, most_draws)
    lines, remaining = max(1, PIECE // values), groups
    shuffle = np.arange(values, 1, -1, dtype=np.uint64)
    while remaining:
        token.check()
        starts = np.arange(remaining, 0, -batch, dtype=np.int64)[:lines]
        bounds = np.empty((len(starts), values), np.uint64)
        bounds[:, :-1], bounds[:, -1] = shuffle, starts
        draws = below(bounds.reshape(-1), source).reshape(bounds.shape)
        done = groups - remaining
        remaining = mixed_groups(left, size, remaining, batch, draws, found, done)
        draws.fill(0)


def _largest_first(
    left: NDArray[np.int64], size: int, found: NDArray[np.int32], token: CancelToken
) -> None:
    from dpdesk.engine.decoys.kernels import heap_of, largest_first_groups

    heap = np.empty(len(left), np.int64)
    heap_of(left, heap)
    piece = max(1, PIECE // size)
    for first in range(0, len(found), piece):
        token.check()
        last = min(len(found), first + piece)
        largest_first_groups(left, heap, size, found, first, last)


def counted(codes: NDArray[np.int32], values: int) -> NDArray[np.int64]:
    """Rows of each value below ``values``."""
    from dpdesk.engine.decoys.kernels import count_values

    counts = np.zeros(values, np.int64)
    count_values(codes, counts)
    return counts


def row_groups(
    codes: NDArray[np.int32],
    ids: NDArray[np.uint32] | NDArray[np.int64],
    groups: NDArray[np.int32],
    token: CancelToken,
) -> NDArray[np.uint32] | NDArray[np.int64]:
    """The rows at the places of the groups: each value's rows in the order of their ids.

    ``codes`` are the values of the rows, ``ids[i]`` is the row with id i, ``groups`` the partition
    of the counts of ``codes``. The result has the shape of ``groups``. Raises Cancelled.
    """
    from dpdesk.engine.decoys.kernels import members_of, rows_by_value

    sizes = counted(codes, int(groups.max(initial=-1)) + 1)
    begins = np.zeros(len(sizes), np.int64)
    np.cumsum(sizes[:-1], out=begins[1:])
    rows, members = np.empty_like(ids), np.empty(groups.shape, ids.dtype)
    ends = begins.copy()
    for first in range(0, len(ids), PIECE):
        token.check()
        rows_by_value(codes, ids[first : first + PIECE], ends, rows)
    piece = max(1, PIECE // groups.shape[1])
    for first in range(0, len(groups), piece):
        token.check()
        part = slice(first, first + piece)
        members_of(groups[part], rows, begins, members[part])
    rows.fill(0)
    return members
