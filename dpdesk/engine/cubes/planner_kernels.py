"""Compiled loops over the lattice of cuboids: greedy covers and nearest noise sources.

Arrays over the lattice are indexed by the mask of a cuboid. ``sizes`` holds the cells of each
cuboid, so mag(C, C') is ``sizes[C' ^ C]``; ``by_size`` holds all masks in ascending order of size,
of which the first ``small`` are no larger than the magnification that a cover allows. Loops poll
``stop[0]``, so they end soon after a cancel.
"""

from __future__ import annotations

from heapq import heapify, heappop, heapreplace
from typing import Any

from dpdesk.core.compiled import kernel

Array = Any
"""A numpy array; inside compiled code element types come from the caller."""

CANCELLED = -1
TOO_MANY = -2

_POLL = 0xFF


@kernel
def spread(
    gains: Array, cuboid: int, amount: int, sizes: Array, by_size: Array, small: int, most: int
) -> None:
    """Add ``amount`` to every cuboid that covers ``cuboid``: above it, magnifying at most ``most``.

    Walks either the sets of further dimensions or the small sets, whichever are fewer.
    """
    missing = (len(sizes) - 1) & ~cuboid
    above = 1
    rest = missing
    while rest:
        above *= 2
        rest &= rest - 1
    if above <= small:
        extra = missing
        while True:
            if sizes[extra] <= most:
                gains[cuboid | extra] += amount
            if extra == 0:
                return
            extra = (extra - 1) & missing
    for place in range(small):
        if by_size[place] & cuboid == 0:
            gains[cuboid | by_size[place]] += amount


@kernel
def coverage(
    gains: Array, weights: Array, sizes: Array, by_size: Array, small: int, most: int, stop: Array
) -> int:
    """Weight that every cuboid covers, into ``gains``; CANCELLED when stopped, else 0."""
    for cuboid in range(len(weights)):
        if cuboid & _POLL == 0 and stop[0] != 0:
            return CANCELLED
        if weights[cuboid] > 0:
            spread(gains, cuboid, weights[cuboid], sizes, by_size, small, most)
    return 0


@kernel
def _take(
    chosen: int, gains: Array, weights: Array, sizes: Array, by_size: Array, small: int, most: int
) -> int:
    """Cover what ``chosen`` covers: its weights become 0 and leave the gains; the weight taken."""
    taken = 0
    for place in range(small):
        less = by_size[place]
        covered = chosen ^ less
        if less & ~chosen or weights[covered] == 0:
            continue
        amount = weights[covered]
        weights[covered] = 0
        taken += amount
        spread(gains, covered, -amount, sizes, by_size, small, most)
    return taken


@kernel
def greedy_cover(
    gains: Array, weights: Array, sizes: Array, by_size: Array, small: int, most: int,
    ranks: Array, masks: Array, picks: Array, whole: bool, stop: Array,
) -> int:  # fmt: skip
    """Pick cuboids that cover the most weight not yet covered; how many were picked.

    ``gains`` comes from :func:`coverage`; it and ``weights`` are overwritten. Ties go to the cuboid
    of lowest rank; ``masks`` is the inverse of ``ranks``. At most ``len(picks)`` cuboids are
    picked; with ``whole`` the result is TOO_MANY as soon as so few cannot cover everything.
    """
    count = len(sizes)
    heap = [count * -gains[mask] + ranks[mask] for mask in range(count) if gains[mask] > 0]
    heapify(heap)
    left = weights.sum()
    picked = 0
    while left > 0 and len(heap) > 0:
        if stop[0] != 0:
            return CANCELLED
        chosen = masks[heap[0] & (count - 1)]
        now = count * -gains[chosen] + ranks[chosen]
        if gains[chosen] == 0:
            heappop(heap)
        elif now != heap[0]:
            heapreplace(heap, now)
        else:
            room = len(picks) - picked
            if room == 0 or (whole and gains[chosen] * room < left):
                return TOO_MANY if whole else picked
            picks[picked] = chosen
            picked += 1
            left -= _take(chosen, gains, weights, sizes, by_size, small, most)
    return picked


@kernel
def nearest(sources: Array, sizes: Array, best: Array) -> None:
    """Lower ``best`` of every cuboid to its magnification from the best of these sources."""
    for source in sources:
        less = source
        while True:
            best[source ^ less] = min(best[source ^ less], sizes[less])
            if less == 0:
                break
            less = (less - 1) & source


@kernel
def without_spare(
    picks: Array, weights: Array, sizes: Array, most: int, kept: Array, stop: Array
) -> int:
    """Mark in ``kept`` the picks that a cover needs, looking at the latest pick first.

    Returns how many are kept, or CANCELLED.
    """
    times = weights * 0
    for source in picks:
        less = source
        while True:
            if sizes[less] <= most:
                times[source ^ less] += 1
            if less == 0:
                break
            less = (less - 1) & source
    count = len(picks)
    for place in range(len(picks) - 1, -1, -1):
        if stop[0] != 0:
            return CANCELLED
        kept[place] = True
        if _spare(picks[place], times, weights, sizes, most):
            kept[place] = False
            count -= 1
    return count


@kernel
def _spare(source: int, times: Array, weights: Array, sizes: Array, most: int) -> bool:
    """Whether all that ``source`` covers is covered twice; then it is taken out of ``times``."""
    less = source
    while True:
        covered = source ^ less
        if sizes[less] <= most and weights[covered] > 0 and times[covered] < 2:
            return False
        if less == 0:
            break
        less = (less - 1) & source
    less = source
    while True:
        if sizes[less] <= most:
            times[source ^ less] -= 1
        if less == 0:
            return True
        less = (less - 1) & source
