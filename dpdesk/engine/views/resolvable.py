"""Points parted again and again until every two of them have been together.

A parting puts every point into one of the fewest parts of a given size (some points into several,
where places are left). Two sets of points parted equally often give a covering of strength 3: each
part of one set is joined with each part of the other that was made at the same time. Every two
points of one set are together in some parting, and the third point, of the other set, is in some
part of that one. Known as resolvable coverings; perfect ones are one-factorisations (size 2),
Kirkman's systems (size 3) and the parallel lines of a plane (size a power of a prime).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from functools import lru_cache
from itertools import product
from math import comb

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import Cancelled
from dpdesk.engine.views.fields import field, field_orders

Parting = tuple[tuple[int, ...], ...]
Partings = tuple[Parting, ...]
Pair = tuple[Parting, Parting]

STOP: ContextVar[NDArray[np.int64]] = ContextVar("stop")
"""What compiled loops poll for a cancel, where somebody may cancel; no part of what is kept."""

_START = 88_172_645_463_325_252
_HEATS = (0.3, 0.5, 0.35)
_MOVES = 200_000
_SMALL = 150
_NEVER = np.zeros(1, np.int64)


def least_partings(points: int, size: int) -> int:
    """How often at least: a point meets at most ``size`` - 1 others each time."""
    return -(-(points - 1) // (size - 1))


def joined_partings(points: int, size: int, others: int, other_size: int) -> tuple[Pair, ...]:
    """Parts of two sets of points that are made at the same time, time after time.

    Those partings that give the fewest blocks when each part is joined with each. Those of one
    point more, without that point, are tried as well: there may be fewer.
    """

    def often(pair: tuple[Partings, Partings]) -> int:
        return max(map(len, pair))

    ways = product(_ways(points, size), _ways(others, other_size))
    best = min(ways, key=lambda pair: often(pair) * len(pair[0][0]) * len(pair[1][0]))
    one, other = best
    return tuple((one[turn % len(one)], other[turn % len(other)]) for turn in range(often(best)))


def _ways(points: int, size: int) -> tuple[Partings, Partings]:
    wider = partings(points + 1, size)
    return partings(points, size), tuple(_of_points(parting, points) for parting in wider)


@lru_cache(maxsize=512)
def partings(points: int, size: int) -> Partings:
    """Partings of the points 0, 1, … into the fewest parts of at most ``size``.

    The same for the same input. The least number of them and those above it are tried, one after
    the other, until a short search succeeds; turns of one or a few partings first. Raises
    Cancelled.
    """
    parts = -(-points // size)
    if parts == 1:
        return (((*range(points),),),)
    many = least_partings(points, size)
    while True:
        if many == size + 1 and parts == size and size in field_orders():
            return tuple(_of_points(parting, points) for parting in _parallel_lines(size))
        for order in range(many, 0, -1):
            if many % order == 0 and (order == 1 or points % order <= size):
                found = _turned(points, size, order, many // order)
                if found is not None:
                    return found
        many += 1


def _of_points(parting: Sequence[Sequence[int]], points: int) -> Parting:
    kept = (tuple(point for point in part if point < points) for part in parting)
    return tuple(part for part in kept if part)


def _parallel_lines(order: int) -> list[list[list[int]]]:
    """The lines of the affine plane over a field of that order, by their slopes."""
    add, times = field(order)
    upright = [[order * x + y for y in range(order)] for x in range(order)]
    sloped = [
        [
            [order * x + int(add[times[slope, x], start]) for x in range(order)]
            for start in range(order)
        ]
        for slope in range(order)
    ]
    return [upright, *sloped]


def _turned(points: int, size: int, order: int, base: int) -> Partings | None:
    """Partings that a cyclic group of that order makes of ``base`` of them; None if not found.

    The group turns the points in cycles of its order and leaves what remains in place. So pairs
    of points are together if any of those that they turn into are, and far fewer need be looked at.
    """
    from dpdesk.engine.views import design_kernels

    parts, turns = -(-points // size), _turns(points, order)
    kind, first, second = _pairs_by_turn(points, turns)
    if base * parts * comb(size, 2) <= kind.max():
        return None
    state = np.array([_START], np.uint64)
    stop = STOP.get(_NEVER)
    for heat in _HEATS if base * points <= _SMALL else _HEATS[:1]:
        slots, times = np.zeros((base, parts * size), np.int64), np.zeros((base, points), np.int64)
        counts = np.zeros(int(kind.max()) + 1, np.int64)
        design_kernels.deal(slots, times, size, state)
        apart = design_kernels.meet(slots, kind, counts, size)
        left = design_kernels.unite(
            slots, times, kind, counts, first, second, size, apart, _MOVES, heat, state, stop
        )
        if left == design_kernels.CANCELLED:
            raise Cancelled
        if left == 0:
            break
    else:
        return None
    shape = (base, parts, size)
    return tuple(
        tuple(tuple(sorted({int(turn[point]) for point in part})) for part in parting)
        for turn in turns
        for parting in slots.reshape(shape)
    )


def _turns(points: int, order: int) -> NDArray[np.int64]:
    """What each element of the group makes of each point: elements by points."""
    place = np.arange(points)
    cycle, at = np.divmod(place, order)
    turned = cycle * order + (at + np.arange(order)[:, None]) % order
    moved: NDArray[np.int64] = np.where(place < points - points % order, turned, place)
    return moved


def _pairs_by_turn(
    points: int, turns: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Points by points, which pairs turn into each other (numbers); and all pairs."""
    kind = np.full((points, points), -1, np.int64)
    first, second = np.triu_indices(points, 1)
    many = 0
    for low, high in zip(first, second, strict=True):
        if kind[low, high] < 0:
            kind[turns[:, low], turns[:, high]] = kind[turns[:, high], turns[:, low]] = many
            many += 1
    return kind, first.astype(np.int64), second.astype(np.int64)
