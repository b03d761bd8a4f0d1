"""Mondrian: cut the rows in two, attribute by attribute, as long as both parts keep k rows.

LeFevre, DeWitt and Ramakrishnan's multidimensional partition, over the distinct tuples. Values are
places on their scales. A part is cut at the attribute whose values spread over the largest share of
its scale, times its weight, and that has a cut at all; it stays whole only where no attribute has
one. Strict: equal tuples stay together, and no two parts overlap. Relaxed: rows that are equal at
the median are divided between the parts, so that a class has fewer than 2k rows unless all its rows
are equal.
Where more than k is required of sensitive values, see :mod:`.required_cuts`; where cells must match
rows of a population, a cut counts of which both sides do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from os import cpu_count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.compiled import kernel
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.methods.k_anonymity.matched_cells import (
    MatchedCells,
    People,
    both_match,
    people_beside,
    shown_by_all,
)
from dpdesk.engine.methods.k_anonymity.scales import Scale, node_losses

Array = NDArray[Any]
_Fixed = tuple[int, Array, Array, Array, Array, Array, bool, bool, People]
_SPLIT, LEAST_PART = 32, 100_000
SPARSE = 4


@dataclass(frozen=True, eq=False)
class Parts:
    """Parts of a table: entry ``e`` are ``rows[e]`` of the rows of tuple ``tuples[e]``.

    ``places[e]`` are its values as places on the scales; entries of part ``p`` stand from
    ``starts[p]`` to ``starts[p + 1]``.
    """

    tuples: Array = field(repr=False)
    rows: Array = field(repr=False)
    places: NDArray[np.int32] = field(repr=False)
    starts: Array = field(repr=False)


def loss_of(scales: Sequence[Scale], parts: Parts) -> float:
    """Mean loss of a cell when each part shows the lowest nodes over its entries."""
    first = parts.starts[:-1]
    rows = np.add.reduceat(parts.rows, first)
    total = 0.0
    for j, scale in enumerate(scales):
        low = np.minimum.reduceat(parts.places[:, j], first)
        high = np.maximum.reduceat(parts.places[:, j], first)
        total += float((node_losses(scale)[scale.common(low, high)] * rows).sum())
    return total / float(rows.sum()) / len(scales)


def mondrian(
    scales: Sequence[Scale],
    codes: NDArray[np.int32],
    counts: Array,
    k: int,
    token: CancelToken,
    *,
    strict: bool = True,
    along: bool = True,
    matched: MatchedCells | None = None,
) -> Parts:
    """Parts of at least ``k`` rows that no further cut leaves with k rows on both sides.

    ``codes`` are leaf codes (tuples, attributes) and ``counts`` their rows, k of them at least in
    all. Of the cuts of an attribute the one highest in its hierarchy is taken with ``along``, else
    and among several the most even one; with ``matched``, strictly, the first in this order whose
    sides both match. Raises Cancelled.
    """
    places = np.empty(codes.shape, np.int32)
    for place, scale in enumerate(scales):
        places[:, place] = scale.places[codes[:, place]]
    token.check()
    tuples, rows = np.arange(len(counts)), np.array(counts, np.int64)
    if not strict:
        tuples = np.repeat(tuples, counts)
        places, rows = places[tuples], np.ones(len(tuples), np.int64)
    fixed = k, *tables(scales), strict, along, people_beside(scales, matched)
    whole = places, rows, tuples
    stop = np.zeros(1, np.uint8)

    def stopping() -> None:
        stop[0] = 1

    with token.on_cancel(stopping):
        starts = _cut(whole, fixed, max(len(rows) // _SPLIT, LEAST_PART), stop)
        token.check()
        starts = _cut_each(whole, starts, fixed, stop)
    token.check()
    return Parts(tuples, rows, places, starts)


def matched_mondrian(
    scales: Sequence[Scale],
    codes: NDArray[np.int32],
    counts: Array,
    k: int,
    matched: MatchedCells,
    token: CancelToken,
    *,
    along: bool = True,
) -> Parts | None:
    """As :func:`mondrian`, strictly, where the cells of every part must match a population.

    None where those of all rows together do not. Raises Cancelled.
    """
    if not matched.passing(shown_by_all(scales, codes))[0]:
        return None
    return mondrian(scales, codes, counts, k, token, along=along, matched=matched)


def tables(scales: Sequence[Scale]) -> tuple[Array, Array, Array, Array, Array]:
    """Leaves, weights and heights of the scales, where the nodes of each begin, and their nodes."""
    sizes = np.array([scale.leaves for scale in scales], np.int64)
    heights = np.array([len(scale.nodes) - 1 for scale in scales], np.int64)
    bounds = np.cumsum([0, *(scale.nodes.size for scale in scales)])
    nodes = np.concatenate([scale.nodes.reshape(-1) for scale in scales])
    weights = np.array([float(scale.weight) for scale in scales])
    return sizes, weights, heights, bounds, nodes


def in_groups(groups: Array, cut: Callable[[Array], Parts | None]) -> Parts | None:
    """The parts that ``cut`` makes of each group of tuples, one after the other; None where it
    makes none of some group. ``groups`` numbers the group of each tuple, from 0 without gaps.
    """
    order = np.argsort(groups, kind="stable")
    ends = np.cumsum(np.bincount(groups))
    if len(ends) == 1:
        return cut(order)
    found = []
    for low, high in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True):
        some = order[low:high]
        parts = cut(some)
        if parts is None:
            return None
        found.append(replace(parts, tuples=some[parts.tuples]))
    firsts = np.cumsum([0, *(len(parts.rows) for parts in found)])
    starts = [parts.starts[:-1] + first for parts, first in zip(found, firsts, strict=False)]
    return Parts(
        np.concatenate([parts.tuples for parts in found]),
        np.concatenate([parts.rows for parts in found]),
        np.concatenate([parts.places for parts in found]),
        np.concatenate([*starts, firsts[-1:]]),
    )


def _cut_each(whole: tuple[Array, ...], starts: Array, fixed: _Fixed, stop: Array) -> Array:
    """Cut each part to its end, by as many threads as there are cores; in the order of places."""

    def work(part: int) -> Array:
        low, high = int(starts[part]), int(starts[part + 1])
        inside = tuple(array[low:high] for array in whole)
        return _cut(inside, fixed, 0, stop)[:-1] + low

    with ThreadPoolExecutor(cpu_count() or 1) as pool:
        found = list(pool.map(work, range(len(starts) - 1)))
    return np.concatenate([*found, starts[-1:]])


def _cut(whole: tuple[Array, ...], fixed: _Fixed, until: int, stop: Array) -> Array:
    starts = np.empty(len(whole[1]) + 1, np.int64)
    places, rows, tuples = whole
    found = _cut_up(places, rows, tuples, *fixed, until, starts, stop)
    starts[found] = len(whole[1])
    return starts[: found + 1].copy()


@kernel
def _cut_up(
    places: Array, rows: Array, tuples: Array, k: int, sizes: Array, weights: Array, heights: Array,
    bounds: Array, nodes: Array, strict: bool, along: bool, people: Any, until: int, starts: Array,
    stop: Array,
) -> int:  # fmt: skip
    """Cut parts of more than ``until`` entries, in place; how many parts there are, 0 if stopped.

    ``starts`` gets where each begins.
    """
    d = places.shape[1]
    low_of, high_of = np.empty(len(rows) + 1, np.int64), np.empty(len(rows) + 1, np.int64)
    low_of[0], high_of[0] = 0, len(rows)
    waiting, found = 1, 0
    tally = np.zeros(min(int(sizes.max()), SPARSE * len(rows)) + 1, np.int64)
    least, most, order = np.empty(d, np.int32), np.empty(d, np.int32), np.empty(d, np.int64)
    while waiting:
        if stop[0] != 0:
            return 0
        waiting -= 1
        low, high = low_of[waiting], high_of[waiting]
        middle = -1
        total = rows[low:high].sum()
        if high - low > until and total >= 2 * k:
            spread_of(places, low, high, sizes, weights, least, most, order)
            for j in order:
                if least[j] == most[j]:
                    continue
                cut, left = cut_at(
                    places, rows, low, high, j, total, k, least[j], most[j], tally,
                    sizes, heights, bounds, nodes, strict, along,
                )  # fmt: skip
                if cut >= 0 and people.least > 0:
                    cut = _matching(
                        places, rows, low, high, j, total, k, cut, sizes, heights, bounds, nodes,
                        along, people, stop,
                    )  # fmt: skip
                if cut >= 0:
                    middle = divide(places, rows, tuples, low, high, j, cut, left)
                    break
        if middle < 0:
            starts[found] = low
            found += 1
        else:
            low_of[waiting], high_of[waiting] = middle, high
            low_of[waiting + 1], high_of[waiting + 1] = low, middle
            waiting += 2
    return found


@kernel
def _matching(
    places: Array, rows: Array, low: int, high: int, j: Any, total: int, k: int, top: int,
    sizes: Array, heights: Array, bounds: Array, nodes: Array, along: bool, people: Any,
    stop: Array,
) -> int:  # fmt: skip
    """The last place on the left of the first cut whose sides match, −1 without one.

    ``top`` is the first in the order of :func:`cut_at`.
    """
    if both_match(places, low, high, j, top, people):
        return top
    order = np.argsort(places[low:high, j], kind="mergesort")
    cuts, ranks = np.empty(len(order), np.int64), np.empty(len(order), np.int64)
    count, before = 0, 0
    for at in range(len(order) - 1):
        value, after = places[low + order[at], j], places[low + order[at + 1], j]
        before += rows[low + order[at]]
        even = min(before, total - before)
        if value == after or even < k or value == top:  # noqa: SIM109 - types differ
            continue
        join = 0
        if along and heights[j] > 1:
            join = joined(nodes, bounds[j], sizes[j], value, after)
        cuts[count], ranks[count] = value, -(join * (total + 1) + even)
        count += 1
    for at in np.argsort(ranks[:count], kind="mergesort"):
        if stop[0] != 0:
            break
        if both_match(places, low, high, j, cuts[at], people):
            return int(cuts[at])
    return -1


@kernel
def spread_of(
    places: Array, low: int, high: int, sizes: Array, weights: Array, least: Array, most: Array,
    order: Array,
) -> None:  # fmt: skip
    """The least and the greatest place of each attribute, and attributes by weighted spread."""
    d = len(sizes)
    for j in range(d):
        least[j] = most[j] = places[low, j]
    for row in range(low + 1, high):
        for j in range(d):
            value = places[row, j]
            if value < least[j]:
                least[j] = value
            elif value > most[j]:
                most[j] = value
    for j in range(d):
        share = weights[j] * (most[j] - least[j]) / max(sizes[j] - 1, 1)
        at = j
        while at > 0:
            other = order[at - 1]
            if weights[other] * (most[other] - least[other]) / max(sizes[other] - 1, 1) >= share:
                break
            order[at] = other
            at -= 1
        order[at] = j


@kernel
def cut_at(
    places: Array, rows: Array, low: int, high: int, j: Any, total: int, k: int, least: int,
    most: int, tally: Array, sizes: Array, heights: Array, bounds: Array, nodes: Array,
    strict: bool, along: bool,
) -> tuple[int, int]:  # fmt: skip
    """The last place on the left side, −1 if there is none, and the rows there (relaxed).

    A relaxed cut leaves half of the rows on the left; of those at the last place as many as fit.
    """
    width, size = most - least + 1, high - low
    if width <= SPARSE * size and width < len(tally):
        tally[:width] = 0
        for row in range(low, high):
            tally[places[row, j] - least] += rows[row]
        values = np.flatnonzero(tally[:width])
        weights = tally[values]
        values = values + least
    else:
        order = np.argsort(places[low:high, j])
        values, weights = np.empty(size, np.int64), np.empty(size, np.int64)
        count = 0
        for at in order:
            value = places[low + at, j]
            if count == 0 or values[count - 1] != value:
                values[count], weights[count] = value, 0
                count += 1
            weights[count - 1] += rows[low + at]
        values, weights = values[:count], weights[:count]
    best, best_join, best_even, before = -1, -1, -1, 0
    for at in range(len(values) - 1):
        before += weights[at]
        if not strict:
            if 2 * before >= total:
                return values[at], total // 2
            continue
        even = min(before, total - before)
        if even < k:
            continue
        join = 0
        if along and heights[j] > 1:
            join = joined(nodes, bounds[j], sizes[j], values[at], values[at + 1])
        if join > best_join or (join == best_join and even > best_even):
            best, best_join, best_even = values[at], join, even
    if not strict:
        return values[-1], total // 2
    return best, 0


@kernel
def joined(nodes: Array, first: int, size: int, one: int, other: int) -> int:
    """The lowest level at which two places are in one node."""
    join = 1
    while nodes[first + join * size + one] != nodes[first + join * size + other]:
        join += 1
    return join


@kernel
def divide(
    places: Array, rows: Array, tuples: Array, low: int, high: int, j: Any, cut: int, left: int
) -> int:
    """Bring the left side to the front; where the right one begins. ``left`` rows, 0: all."""
    if left > 0:  # those below the place come first, then as many of the others as fit
        low_end = _move(places, rows, tuples, low, high, j, cut - 1)
        _move(places, rows, tuples, low_end, high, j, cut)
        return low + left
    return _move(places, rows, tuples, low, high, j, cut)


@kernel
def _move(places: Array, rows: Array, tuples: Array, low: int, high: int, j: int, cut: int) -> int:
    """Entries up to place ``cut`` first; where the others begin."""
    first, last = low, high - 1
    while True:
        while first <= last and places[first, j] <= cut:
            first += 1
        while first <= last and places[last, j] > cut:
            last -= 1
        if first > last:
            return first
        for column in range(places.shape[1]):
            held = places[first, column]
            places[first, column] = places[last, column]
            places[last, column] = held
        rows[first], rows[last] = rows[last], rows[first]
        tuples[first], tuples[last] = tuples[last], tuples[first]
