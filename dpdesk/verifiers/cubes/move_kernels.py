"""Compiled loops that lift minimal vectors by one coordinate; see :mod:`.moves`."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpdesk.core.compiled import kernel

Array = Any
"""A numpy array; inside compiled code element types come from the caller."""


@kernel
def _masks(vectors: Array, order: Array, known: int, plus: Array, minus: Array) -> None:
    """Which of the first ``known`` coordinates of each vector are above, and below, 0: as bits."""
    for i in range(len(vectors)):
        above, below = np.uint64(0), np.uint64(0)
        for place in range(known):
            value = vectors[i, order[place]]
            if value > 0:
                above |= np.uint64(1) << np.uint64(place)
            elif value < 0:
                below |= np.uint64(1) << np.uint64(place)
        plus[i], minus[i] = above, below


@kernel
def _holds(
    whole: Array, above: int, below: int, vectors: Array, plus: Array, minus: Array,
    until: int, order: Array, known: int,
) -> int:  # fmt: skip
    """How many of the first ``until`` vectors were tried until a part of ``whole`` was found.

    0 when none of them is one, on the first ``known`` coordinates and the next.
    """
    for h in range(until):
        for sign in (1, -1):
            up, down = (plus[h], minus[h]) if sign > 0 else (minus[h], plus[h])
            if up & ~above or down & ~below:
                continue
            inside = True
            for place in range(known + 1):
                part, all_ = sign * vectors[h, order[place]], whole[order[place]]
                if (part > 0 and part > all_) or (part < 0 and part < all_):
                    inside = False
                    break
            if inside:
                return h + 1
    return 0


@kernel
def sums_of_degree(
    vectors: Array, plus: Array, minus: Array, starts: Array, degree: int, order: Array,
    known: int, found: Array, work: Array,
) -> int:  # fmt: skip
    """Sums of two vectors of this degree that no smaller vector is part of; how many are there.

    ``starts[d]`` is where vectors of degree d begin. Sums are of vectors that agree in sign on the
    first ``known`` coordinates and differ on the next. -1 when ``found`` is full, or ``work[0]``
    comparisons have been made; -2 when a number grew too large, or ``work[1]`` says to stop.
    """
    count, last = 0, order[known]
    total = np.zeros(vectors.shape[1], np.int64)
    for low in range(1, degree // 2 + 1):
        high = degree - low
        for i in range(starts[low], starts[low + 1]):
            if work[1] != 0:
                return -2
            if vectors[i, last] == 0:
                continue
            begin = starts[high] if high > low else i + 1
            for j in range(begin, starts[high + 1]):
                product = vectors[i, last] * vectors[j, last]
                if product == 0:
                    continue
                sign = -1 if product > 0 else 1
                up, down = (plus[j], minus[j]) if sign > 0 else (minus[j], plus[j])
                if plus[i] & down or minus[i] & up:
                    continue
                for place in range(len(total)):
                    total[place] = vectors[i, place] + sign * vectors[j, place]
                    if abs(total[place]) > 100:
                        return -2
                above, below = plus[i] | up, minus[i] | down
                tried = _holds(
                    total, above, below, vectors, plus, minus, starts[degree], order, known
                )
                work[0] -= tried if tried else starts[degree]
                if work[0] < 0:
                    return -1
                if tried == 0:
                    if count == len(found):
                        return -1
                    for place in range(len(total)):
                        found[count, place] = total[place]
                    count += 1
    return count


@kernel
def masks_of(vectors: Array, order: Array, known: int) -> tuple[Array, Array]:
    """Signs of the first ``known`` coordinates of vectors, as bits of two numbers each."""
    plus, minus = np.zeros(len(vectors), np.uint64), np.zeros(len(vectors), np.uint64)
    _masks(vectors, order, known, plus, minus)
    return plus, minus
