"""Compiled steps of the mechanism; every random number comes in from outside.

So each of them is a function of its arguments: given the same draws it does the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpdesk.core.compiled import kernel

Array = Any
"""A numpy array; inside compiled code element types come from the caller."""

_LAST = np.uint64(0xFFFFFFFFFFFFFFFF)
_ONE = np.uint64(1)


@kernel
def reduce_words(words: Array, bounds: Array, found: Array, open_: Array) -> int:
    """Write word mod bound to ``found``; the number of words to be drawn again, in ``open_``.

    A word of the last, incomplete run of ``bound`` numbers below 2^64 is drawn again, so every
    remainder comes from equally many words.
    """
    again = 0
    for i in range(len(words)):
        rest = words[i] % bounds[i]
        found[i] = rest
        if words[i] - rest > _LAST - (bounds[i] - _ONE):
            open_[again] = i
            again += 1
    return again


@kernel
def swap_down(order: Array, top: int, draws: Array) -> None:
    """Steps of Fisher and Yates' shuffle from place ``top`` down: draw i is at most top − i."""
    for i in range(len(draws)):
        place, other = top - i, int(draws[i])
        order[place], order[other] = order[other], order[place]


@kernel
def mixed_groups(
    counts: Array, size: int, left: int, batch: int, draws: Array, groups: Array, first: int
) -> int:
    """Fill decoy groups from ``first`` on by systematic sampling; the number of groups left.

    ``counts`` are the rows left of each value, ``left`` the groups left: the counts add up to
    left·size and none is above left. Each line of ``draws`` makes ``batch`` groups: its first
    numbers shuffle the values, its last one, u, is below ``left``. The values lie in that order on
    a line of segments as long as their counts, and a group takes the values hit by r, r + left,
    r + 2·left, …; r = u for the first group of a batch, and the others are spread evenly from
    there on. A segment is at most ``left`` long, so no value is hit twice; and one that has a row
    for each of the ``left`` places r loses one to every group, so none is above what is left.
    """
    values = len(counts)
    order = np.empty(values, np.int64)
    for line in range(len(draws)):
        take = min(batch, left)
        for v in range(values):
            order[v] = v
        for i in range(values - 1):
            place, other = values - 1 - i, int(draws[line, i])
            order[place], order[other] = order[other], order[place]
        start = int(draws[line, values - 1])
        lowest = 0
        while lowest < take and start + lowest * left // take < left:
            lowest += 1
        at, end = 0, counts[order[0]]
        for j in range(size):
            for step in range(take):
                i = (lowest + step) % take
                spot = start + i * left // take
                if spot >= left:
                    spot -= left
                spot += j * left
                while spot >= end:
                    at += 1
                    end += counts[order[at]]
                groups[first + i, j] = order[at]
        for i in range(first, first + take):
            for j in range(size):
                counts[groups[i, j]] -= 1
        first += take
        left -= take
    return left


@kernel
def _above(counts: Array, one: int, other: int) -> bool:
    """Whether a value stands above another: more rows, or as many and earlier in order."""
    if counts[one] != counts[other]:
        return bool(counts[one] > counts[other])
    return one < other


@kernel
def _sink(heap: Array, filled: int, place: int, counts: Array) -> None:
    while True:
        child = 2 * place + 1
        if child >= filled:
            return
        if child + 1 < filled and _above(counts, heap[child + 1], heap[child]):
            child += 1
        if _above(counts, heap[place], heap[child]):
            return
        heap[place], heap[child] = heap[child], heap[place]
        place = child


@kernel
def heap_of(counts: Array, heap: Array) -> None:
    """Order values as a heap with the one that has the most rows on top."""
    for v in range(len(heap)):
        heap[v] = v
    for place in range(len(heap) // 2 - 1, -1, -1):
        _sink(heap, len(heap), place, counts)


@kernel
def largest_first_groups(
    counts: Array, heap: Array, size: int, groups: Array, first: int, last: int
) -> None:
    """Fill the groups from ``first`` to before ``last``: one row of each of the largest values.

    Ties go to the value that is earlier in order. ``heap`` is that of :func:`heap_of`.
    """
    filled = len(heap)
    for group in range(first, last):
        for j in range(size):
            groups[group, j] = heap[0]
            filled -= 1
            heap[0] = heap[filled]
            _sink(heap, filled, 0, counts)
        for j in range(size):
            counts[groups[group, j]] -= 1
        for j in range(size):
            place, value = filled, groups[group, j]
            filled += 1
            while place > 0 and _above(counts, value, heap[(place - 1) // 2]):
                heap[place] = heap[(place - 1) // 2]
                place = (place - 1) // 2
            heap[place] = value


@kernel
def count_values(codes: Array, counts: Array) -> None:
    """Add the rows of each value to ``counts``."""
    for i in range(len(codes)):
        counts[codes[i]] += 1


@kernel
def number_runs(keys: Array, order: Array, numbers: Array) -> int:
    """Give equal keys the same number, from 0 on in the order of the keys; how many there are.

    ``order`` sorts the keys.
    """
    last = 0
    for i in range(len(order)):
        if i and keys[order[i]] != keys[order[i - 1]]:
            last += 1
        numbers[order[i]] = last
    return last + 1 if len(order) else 0


@kernel
def number_kept(removed: Array, kept: Array) -> None:
    """Fill ``kept`` with the numbers from 0 on that are not in ``removed``, which ascends."""
    number, gone = 0, 0
    for i in range(len(kept)):
        while gone < len(removed) and removed[gone] == number:
            number += 1
            gone += 1
        kept[i] = number
        number += 1


@kernel
def rows_by_value(codes: Array, ids: Array, begins: Array, rows: Array) -> None:
    """List the rows of each value in the order of their ids: ``ids[i]`` is the row with id i.

    ``begins[v]`` is where the rows of value v begin; it is moved to their end.
    """
    for i in range(len(ids)):
        row = ids[i]
        value = codes[row]
        rows[begins[value]] = row
        begins[value] += 1


@kernel
def members_of(groups: Array, rows: Array, begins: Array, members: Array) -> None:
    """Give each place of a group the next row of its value; ``begins`` is moved along."""
    for group in range(len(groups)):
        for j in range(groups.shape[1]):
            value = groups[group, j]
            members[group, j] = rows[begins[value]]
            begins[value] += 1


@kernel
def publish(members: Array, groups: Array, picks: Array, released: Array) -> None:
    """Write to every row's place in ``released`` the value at its pick in its group."""
    n = 0
    for group in range(len(groups)):
        for j in range(groups.shape[1]):
            released[members[group, j]] = groups[group, int(picks[n])]
            n += 1
