"""Compiled measures of classes by the rows of each sensitive value in them.

The counts of class i are ``counts[starts[i]:starts[i + 1]]``, in ascending order of ``codes``.
Measures are written to ``out``, for the classes that are marked in ``wanted`` alone.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpdesk.core.compiled import kernel

Array = Any
"""A numpy array; inside compiled code element types come from the caller."""

DISTINCT, ENTROPY, RECURSIVE, SHARE, EQUAL, ORDERED, HIERARCHICAL, GAIN = range(8)
CLOSE = 1e-9
"""How near to its limit a measure may be and not decide, times the limit where that exceeds 1."""
_NEAR = 1e-9
_SPREAD = -7046029254386353131  # 2**64 divided by the golden ratio, as a signed word


@kernel
def gather(
    tuples: Array, of_tuple: Array, wanted: Array, values: Array, rows: Array, starts: Array,
    codes: Array, counts: Array,
) -> int:  # fmt: skip
    """Add up the rows of each value in each wanted class; how many counts there are.

    ``of_tuple`` is the class of each tuple, ``tuples`` that of each entry; entries ascend by value.
    """
    for entry in range(len(tuples)):
        place = of_tuple[tuples[entry]]
        if wanted[place]:
            starts[place + 1] += 1
    for place in range(1, len(starts)):
        starts[place] += starts[place - 1]
    free = starts[:-1].copy()
    for entry in range(len(tuples)):
        place = of_tuple[tuples[entry]]
        if not wanted[place]:
            continue
        at = free[place]
        if at > starts[place] and codes[at - 1] == values[entry]:
            counts[at - 1] += rows[entry]
        else:
            codes[at], counts[at] = values[entry], rows[entry]
            free[place] += 1
    used = 0
    for place in range(len(starts) - 1):
        first, starts[place] = starts[place], used
        for at in range(first, free[place]):
            codes[used], counts[used] = codes[at], counts[at]
            used += 1
    starts[-1] = used
    return used


@kernel
def add_marked(
    starts: Array, codes: Array, counts: Array, marked: Array, sums: Array
) -> None:  # fmt: skip
    """Add the counts of the marked classes to the sum of each code."""
    for place in range(len(marked)):
        if marked[place]:
            for at in range(starts[place], starts[place + 1]):
                sums[codes[at]] += counts[at]


@kernel
def cell_costs(tuples: Array, firsts: Array, costs: Array, offsets: Array, found: Array) -> None:
    """Add up two costs over the cells of a tuple of each class: ``costs[offset + code]``."""
    for place in range(len(found)):
        for column in range(len(offsets)):
            at = offsets[column] + tuples[firsts[place], column]
            found[place, 0] += costs[at, 0]
            found[place, 1] += costs[at, 1]


@kernel
def measure(
    kind: int, bound: int, starts: Array, codes: Array, counts: Array, wanted: Array, whole: Array,
    places: Array, below: Array, sums: Array, nodes: Array, sizes: Array, limits: Array, out: Array,
) -> None:  # fmt: skip
    """The measure of a kind; see each. What a kind does not use may be empty."""
    if kind <= SHARE:
        measure_alone(kind, bound, starts, counts, wanted, out)
    elif kind == EQUAL:
        measure_equal(starts, codes, counts, wanted, whole, out)
    elif kind == ORDERED:
        measure_ordered(starts, codes, counts, wanted, places, below, sums, out)
    elif kind == HIERARCHICAL:
        out[:] = 0.0
        dense, total = np.zeros(len(whole), np.int64), whole.sum()
        for level in range(len(nodes)):
            add_level(starts, codes, nodes[level], counts, wanted, sizes[level], total, dense, out)
        for place in range(len(out)):
            out[place] /= max(len(nodes), 1)
    else:
        measure_gain(starts, codes, counts, wanted, whole, limits, out)


@kernel
def measure_alone(
    kind: int, bound: int, starts: Array, counts: Array, wanted: Array, out: Array
) -> None:
    """−(values), −entropy in nats, r_1/(r_bound + …), or the largest share, by ``kind``."""
    for place in range(len(wanted)):
        if not wanted[place]:
            continue
        held = counts[starts[place] : starts[place + 1]]
        if kind == DISTINCT:
            out[place] = -len(held)
            continue
        rows, most = 0, 0
        for count in held:
            rows += count
            most = max(most, count)
        if kind == ENTROPY:
            bits = 0.0
            for count in held:
                bits += count / rows * math.log(count / rows)
            out[place] = bits
        elif kind == RECURSIVE:
            tail = 0
            if len(held) >= bound:
                ordered = np.sort(held)
                for at in range(len(held) - bound + 1):
                    tail += ordered[at]
            out[place] = most / tail if tail > 0 else np.inf
        else:
            out[place] = most / rows


@kernel
def measure_equal(
    starts: Array, codes: Array, counts: Array, wanted: Array, whole: Array, out: Array
) -> None:
    """½ Σ |n_v/n − N_v/N|."""
    total = whole.sum()
    for place in range(len(wanted)):
        if not wanted[place]:
            continue
        rows, seen, apart = 0, 0, 0.0
        for at in range(starts[place], starts[place + 1]):
            rows += counts[at]
            seen += whole[codes[at]]
        for at in range(starts[place], starts[place + 1]):
            apart += float(abs(counts[at] * total - whole[codes[at]] * rows))
        apart += float(rows) * float(total - seen)
        out[place] = apart / (2.0 * rows * total)


@kernel
def measure_ordered(
    starts: Array, codes: Array, counts: Array, wanted: Array, places: Array, below: Array,
    sums: Array, out: Array,
) -> None:  # fmt: skip
    """Σ_i |Σ_{j≤i} (n_j/n − N_j/N)| over places i, divided by the places less 1.

    ``below[i]`` are the rows kept up to place i, ``sums[i]`` the sum of ``below`` before i. Between
    two places where the class has rows its share stays and that of all rows grows, so the sign
    changes once at most, at a place that halving finds.
    """
    length = len(below)
    total = below[length - 1]
    for place in range(len(wanted)):
        if not wanted[place]:
            continue
        rows = 0
        for at in range(starts[place], starts[place + 1]):
            rows += counts[at]
        moved, so_far, first = 0.0, 0, 0
        for at in range(starts[place], starts[place + 1] + 1):
            end = places[codes[at]] if at < starts[place + 1] else length
            if end > first:
                here = float(so_far) / rows
                low, high = first, end
                while low < high:
                    middle = (low + high) // 2
                    if below[middle] / total > here:
                        high = middle
                    else:
                        low = middle + 1
                moved += here * (low - first) - (sums[low] - sums[first]) / total
                moved += (sums[end] - sums[low]) / total - here * (end - low)
            if at < starts[place + 1]:
                so_far += counts[at]
            first = end
        out[place] = moved / max(length - 1, 1)


@kernel
def add_level(
    starts: Array, codes: Array, node_of: Array, counts: Array, wanted: Array, sizes: Array,
    total: int, dense: Array, out: Array,
) -> None:  # fmt: skip
    """Add ½ Σ |n_node/n − N_node/N| over the nodes of a level; ``node_of`` is that of each code.

    ``sizes`` are the N_node and ``total`` is N; ``dense`` is zero before and after.
    """
    for place in range(len(wanted)):
        if not wanted[place]:
            continue
        rows = 0
        for at in range(starts[place], starts[place + 1]):
            rows += counts[at]
            dense[node_of[codes[at]]] += counts[at]
        seen, apart = 0, 0.0
        for at in range(starts[place], starts[place + 1]):
            node = node_of[codes[at]]
            if dense[node] > 0:
                apart += float(abs(dense[node] * total - sizes[node] * rows))
                seen += sizes[node]
                dense[node] = 0
        apart += float(rows) * float(total - seen)
        out[place] += apart / (2.0 * rows * total)


@kernel
def measure_gain(
    starts: Array, codes: Array, counts: Array, wanted: Array, whole: Array, limits: Array,
    out: Array,
) -> None:  # fmt: skip
    """The greatest of (gain − limit)/(1 + gain), where gain is (n_v/n)/(N_v/N) − 1."""
    total = whole.sum()
    for place in range(len(wanted)):
        if not wanted[place]:
            continue
        rows = 0
        for at in range(starts[place], starts[place + 1]):
            rows += counts[at]
        worst = -np.inf
        for at in range(starts[place], starts[place + 1]):
            value = codes[at]
            ratio = (counts[at] / rows) / (whole[value] / total)
            worst = max(worst, (ratio - 1.0 - limits[value]) / ratio)
        out[place] = worst


@kernel
def number_tuples(
    tuples: Array, parts: Array, offsets: Array, counts: Array, slots: Array, keys: Array,
    of_tuple: Array, firsts: Array, sizes: Array,
) -> int:  # fmt: skip
    """Number tuples with equal keys alike, in order of appearance; how many numbers there are.

    The key of a tuple is the sum of ``parts[offsets[j] + code]`` over its codes. ``slots``, of a
    power of two and larger than the tuples, is −1 everywhere before; ``sizes`` is zero.
    """
    mask, classes = len(slots) - 1, 0
    for place in range(len(tuples)):
        key = 0
        for column in range(len(offsets)):
            key += parts[offsets[column] + tuples[place, column]]
        slot = ((key * _SPREAD) >> 20) & mask
        while slots[slot] >= 0 and keys[slots[slot]] != key:
            slot = (slot + 1) & mask
        number = slots[slot]
        if number < 0:
            number = classes
            slots[slot] = number
            keys[number] = key
            firsts[number] = place
            classes += 1
        of_tuple[place] = number
        sizes[number] += counts[place]
    return classes


@kernel
def least_cut(
    kind: int, bound: float, c: float, starts: Array, counts: Array, wanted: Array, gone: Array
) -> None:
    """Raise ``gone`` to the rows that a class must lose to pass, at least; kinds as above."""
    for place in range(len(wanted)):
        if not wanted[place]:
            continue
        held = np.sort(counts[starts[place] : starts[place + 1]])
        if _passes_capped(kind, bound, c, held, held[-1]):
            continue
        rows = held.sum()
        if not _passes_capped(kind, bound, c, held, 1) and kind != SHARE:
            gone[place] = max(gone[place], float(rows))
            continue
        if kind == SHARE:
            if bound < 1.0:
                gone[place] = max(gone[place], (held[-1] - bound * rows) / (1.0 - bound))
            continue
        low, high = 1, held[-1]  # the first passes, the last does not
        while high - low > 1:
            middle = (low + high) // 2
            if _passes_capped(kind, bound, c, held, middle):
                low = middle
            else:
                high = middle
        lost = 1
        for count in held:
            lost += max(count - high, 0)
        gone[place] = max(gone[place], float(lost))


@kernel
def _passes_capped(kind: int, bound: float, c: float, held: Array, cap: int) -> bool:
    """Whether ascending counts, none taken for more than ``cap``, pass or nearly do."""
    size = len(held)
    if kind == DISTINCT:
        return size >= bound
    rows, tail = 0, 0
    for at in range(size):
        rows += min(held[at], cap)
        if kind == RECURSIVE and at <= size - int(bound):
            tail += min(held[at], cap)
    most = min(held[-1], cap)
    if kind == SHARE:
        return bool(most <= bound * rows * (1.0 + _NEAR))
    if kind == RECURSIVE:
        return bool(most <= c * tail * (1.0 + _NEAR))
    order = 0.0
    for at in range(size):
        share = min(held[at], cap) / rows
        order -= share * math.log(share)
    return order >= math.log(bound) - _NEAR


@kernel
def least_total(sizes: Array, large: Array, apart: Array, limit: float, rows: int) -> int:
    """The least s that is no less than the rows that a distance asks for when s rows are removed.

    Those are what is not ``large``, and n · (distance − limit − s / rows) of the other classes.
    """
    small = 0
    for place in range(len(sizes)):
        small += 0 if large[place] else sizes[place]
    low, high = small, rows
    while low < high:
        middle, short = (low + high) // 2, 0.0
        for place in range(len(sizes)):
            if large[place]:
                short += sizes[place] * max(apart[place] - limit - middle / rows, 0.0)
        if middle >= small + short - 1.0:
            high = middle
        else:
            low = middle + 1
    return low


@kernel
def least_gain_cut(
    starts: Array, codes: Array, counts: Array, wanted: Array, most: Array, gone: Array
) -> None:
    """As :func:`least_cut`, where a value may have the share ``most`` of a class."""
    for place in range(len(wanted)):
        if not wanted[place]:
            continue
        rows = 0
        for at in range(starts[place], starts[place + 1]):
            rows += counts[at]
        for at in range(starts[place], starts[place + 1]):
            share = most[codes[at]] * (1.0 + _NEAR)
            if share < 1.0 and counts[at] > share * rows:
                gone[place] = max(gone[place], (counts[at] - share * rows) / (1.0 - share))
