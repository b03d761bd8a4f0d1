"""Mondrian: cut the rows in two, attribute by attribute, as long as both parts keep k rows.

LeFevre, DeWitt and Ramakrishnan's multidimensional partition, over the distinct tuples. Values are
places on their scales. A part is cut at the attribute whose values spread over the largest share of
its scale, times its weight, and that has a cut at all; it stays whole only where no attribute has
one. Strict: equal tuples stay together, and no two parts overlap. Relaxed: rows that are equal at
the median are divided between the parts, so that a class has fewer than 2k rows unless all its rows
are equal.
Where more than k is required of classes, only cuts that leave it on both sides are made; relaxed,
of the rows at the median as many of each sensitive value go to either side, and where that leaves
too little, a strict cut of the attribute is looked for.
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
from dpdesk.engine.methods.k_anonymity.requirements import ClassCounts, Constraints, SensitiveCounts
from dpdesk.engine.methods.k_anonymity.scales import Scale, node_losses

Array = NDArray[Any]
_Fixed = tuple[int, Array, Array, Array, Array, Array, bool, bool]
_SPLIT, _LEAST_PART = 32, 100_000
_SPARSE = 4
_MOST_COUNTS = 4_000_000


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
) -> Parts:
    """Parts of at least ``k`` rows that no further cut leaves with k rows on both sides.

    ``codes`` are leaf codes (tuples, attributes) and ``counts`` their rows, k of them at least in
    all. Of the cuts of an attribute the one highest in its hierarchy is taken with ``along``, else
    and among several the most even one. Raises Cancelled.
    """
    places = np.empty(codes.shape, np.int32)
    for place, scale in enumerate(scales):
        places[:, place] = scale.places[codes[:, place]]
    token.check()
    tuples, rows = np.arange(len(counts)), np.array(counts, np.int64)
    if not strict:
        tuples = np.repeat(tuples, counts)
        places, rows = places[tuples], np.ones(len(tuples), np.int64)
    sizes = [scale.leaves for scale in scales]
    heights = np.array([len(scale.nodes) - 1 for scale in scales], np.int64)
    bounds = np.cumsum([0, *(scale.nodes.size for scale in scales)])
    nodes = np.concatenate([scale.nodes.reshape(-1) for scale in scales])
    weights = np.array([float(scale.weight) for scale in scales])
    fixed = (k, np.array(sizes, np.int64), weights, heights, bounds, nodes, strict, along)
    whole = places, rows, tuples
    stop = np.zeros(1, np.uint8)

    def stopping() -> None:
        stop[0] = 1

    with token.on_cancel(stopping):
        starts = _cut(whole, fixed, max(len(rows) // _SPLIT, _LEAST_PART), stop)
        token.check()
        starts = _cut_each(whole, starts, fixed, stop)
    token.check()
    return Parts(tuples, rows, places, starts)


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


def required_mondrian(
    scales: Sequence[Scale],
    codes: NDArray[np.int32],
    counts: Array,
    k: int,
    asked: Constraints,
    token: CancelToken,
    *,
    strict: bool = True,
    along: bool = True,
) -> Parts | None:
    """As :func:`mondrian`, where every part must pass what is ``asked`` too.

    Unless ``strict``, all rows of a tuple have the same sensitive values.
    Parts are measured against all rows. All parts are cut at the same time, attribute by attribute
    in the order of each. None where all rows together do not pass: then no parts do, for parts that
    pass together pass as one (see :func:`~.requirements.least_removed`). Raises Cancelled.
    """
    together = np.zeros(len(counts), np.int64)
    if not asked.passing(together, np.ones(1, np.bool_)).all():
        return None
    tuples, rows = np.arange(len(counts)), np.asarray(counts, np.int64)
    if not strict:
        tuples = np.repeat(tuples, rows)
        rows = np.ones(len(tuples), np.int64)
        asked = asked.divided(tuples, rows)
    cutter = _Cutter(scales, codes[tuples], rows, k, asked, strict=strict, along=along)
    order, starts = np.arange(len(rows)), [np.zeros(1, np.int64)]
    lows, highs = np.zeros(1, np.int64), np.full(1, len(rows), np.int64)
    while len(lows):
        token.check()
        entries, part = _ranges(lows, highs)
        large = np.bincount(part, cutter.counts[order[entries]]) >= 2 * k
        lows, highs = lows[large], highs[large]
        if not len(lows):
            break
        entries, part = _ranges(lows, highs)
        cut, right = cutter.cuts(order[entries], part, token)
        inside = cut[part]
        entries, which, right = entries[inside], part[inside], right[inside]
        order[entries] = order[entries][np.lexsort((right, which))]
        middle = lows + np.bincount(which[~right], minlength=len(lows))
        lows, middle, highs = lows[cut], middle[cut], highs[cut]
        starts.append(middle)
        lows, highs = np.concatenate([lows, middle]), np.concatenate([middle, highs])
    places = cutter.places[order]
    ends = np.append(np.sort(np.concatenate(starts)), len(order))
    return Parts(tuples[order], rows[order], places, ends)


def _ranges(lows: Array, highs: Array) -> tuple[Array, Array]:
    """All numbers from each low to its high, and the range of each."""
    sizes = highs - lows
    which = np.repeat(np.arange(len(lows)), sizes)
    first = np.concatenate([[0], np.cumsum(sizes)])[:-1]
    return np.arange(len(which)) - first[which] + lows[which], which


class _Cutter:
    """Finds a cut of each of many parts that leaves k rows, and what is asked, on both sides."""

    def __init__(
        self,
        scales: Sequence[Scale],
        codes: NDArray[np.int32],
        counts: Array,
        k: int,
        asked: Constraints,
        *,
        strict: bool,
        along: bool,
    ) -> None:
        columns = [scale.places[codes[:, j]] for j, scale in enumerate(scales)]
        self.places = np.stack(columns, axis=1).astype(np.int32)
        self.counts, self._scales, self._k = counts, scales, k
        self._strict, self._along = strict, along
        self._asked, self._whole = asked, asked.whole
        self._held = {name: _by_tuple(each) for name, each in asked.counts.items()}

    def cuts(self, tuples: Array, part: Array, token: CancelToken) -> tuple[Array, Array]:
        """Which parts have a cut, and which of the tuples go to the right of it."""
        starts = np.flatnonzero(np.diff(part, prepend=-1))
        values = self.places[tuples]
        spread = np.maximum.reduceat(values, starts) - np.minimum.reduceat(values, starts)
        sizes = np.array([max(scale.leaves - 1, 1) for scale in self._scales])
        weights = np.array([float(scale.weight) for scale in self._scales])
        ranked = np.argsort(-(spread / sizes * weights), axis=1, kind="stable")
        cut, right = np.zeros(len(starts), np.bool_), np.zeros(len(part), np.bool_)
        widest = max(len(each.of.texts) for each in self._asked.counts.values())
        step = max(1, _MOST_COUNTS // widest)
        ends = np.append(starts, len(part))
        for rank in range(ranked.shape[1]):
            tried = ranked[:, rank]
            for halving in (False,) if self._strict else (True, False):
                open_ = ~cut & (spread[np.arange(len(starts)), tried] > 0)
                waiting = np.flatnonzero(open_)
                for first in range(0, len(waiting), step):
                    token.check()
                    some = waiting[first : first + step]
                    entries, which = _ranges(ends[some], ends[some + 1])
                    place = tuples[entries], which, tried[some]
                    cut[some], right[entries] = self._half(*place) if halving else self._at(*place)
        return cut, right

    def _half(self, tuples: Array, part: Array, tried: Array) -> tuple[Array, Array]:
        """As :meth:`cuts`, half of the rows of each part to the left; tuples are single rows.

        Of the rows at the median as many of each sensitive value as can be go to either side.
        """
        value = self.places[tuples, tried[part]]
        kinds: list[Array] = [each.values[tuples] for each, *_ in self._held.values()]
        order = np.lexsort((*kinds, value, part))
        keys = np.stack([part, value, *kinds])[:, order]
        new = np.concatenate([[True], (keys[:, 1:] != keys[:, :-1]).any(axis=0)])
        kind, first = np.cumsum(new) - 1, np.flatnonzero(new)
        share = np.empty(len(part))
        share[order] = (np.arange(len(part)) - first[kind] + 0.5) / np.bincount(kind)[kind]
        order = np.lexsort((share, value, part))
        sizes = np.bincount(part)
        right = np.empty(len(part), np.bool_)
        begins = np.cumsum(sizes) - sizes
        right[order] = np.arange(len(part)) - begins[part[order]] >= (sizes // 2)[part[order]]
        passed = np.ones(2 * len(sizes), np.bool_)
        for name, (each, *_) in self._held.items():
            width = len(each.of.texts)
            counts = np.bincount((2 * part + right) * width + each.values[tuples],
                                 minlength=2 * len(sizes) * width)  # fmt: skip
            sides = ClassCounts.dense(each.of, counts.reshape(-1, width))
            for required in self._asked.required:
                if required.attribute == name:
                    passed &= sides.passing(required, passed, self._whole[name])
        return passed[::2] & passed[1::2], right

    def _at(self, tuples: Array, part: Array, tried: Array) -> tuple[Array, Array]:
        """As :meth:`cuts`, at the best place of an attribute."""
        found = self._best(tuples, part, tried)
        return found >= 0, self.places[tuples, tried[part]] > found[part]

    def _best(self, tuples: Array, part: Array, tried: Array) -> Array:
        """The last place on the left of the best cut of each part at an attribute, else −1."""
        width = max(scale.leaves for scale in self._scales)
        keys = part * np.int64(width) + self.places[tuples, tried[part]]
        held, group = np.unique(keys, return_inverse=True)
        group = group.reshape(-1)
        of, place = held // width, held % width
        rows = np.bincount(group, self.counts[tuples]).astype(np.int64)
        total = np.bincount(of, rows).astype(np.int64)
        before = np.cumsum(rows) - (np.cumsum(total) - total)[of]
        even = np.minimum(before, total[of] - before)
        fits = even >= self._k
        for name, (of_values, *each) in self._held.items():
            if fits.any():
                self._narrow(fits, name, of_values, each, (tuples, group, of))
        join = self._joins(tried, of, place)
        best = np.flatnonzero(fits)
        best = best[np.lexsort((best, -even[best], -join[best], of[best]))]
        parts, first = np.unique(of[best], return_index=True)
        found = np.full(len(total), -1, np.int64)
        found[parts] = place[best[first]]
        return found

    def _joins(self, tried: Array, of: Array, place: Array) -> Array:
        """The level at which each place and the next one of its part are in one node; 0 where none
        counts.
        """
        join = np.zeros(len(place), np.int64)
        for j, scale in enumerate(self._scales):
            if not self._along or len(scale.nodes) <= 2:
                continue
            at = np.flatnonzero((tried[of[:-1]] == j) & (of[:-1] == of[1:]))
            nodes = scale.nodes
            join[at] = (nodes[:, place[at]] == nodes[:, place[at + 1]]).argmax(axis=0)
        return join

    def _narrow(
        self,
        fits: Array,
        name: str,
        values: SensitiveCounts,
        by_tuple: Sequence[Array],
        where: tuple[Array, Array, Array],
    ) -> None:
        """Take away from ``fits`` the cuts with a side that fails what is asked of a column.

        Sides are counted by sums over the groups of equal places, some groups at a time.
        """
        starts, codes, rows = by_tuple
        tuples, group, of = where
        width, groups = len(values.of.texts), len(of)
        entries, entry = _ranges(starts[tuples], starts[tuples + 1])
        order = np.argsort(group[entry], kind="stable")
        entries, place = entries[order], group[entry][order]
        codes, rows = codes[entries], rows[entries]
        parts = int(of[-1]) + 1
        whole = np.bincount(of[place] * width + codes, rows, parts * width)
        totals = whole.reshape(parts, width).astype(np.int64)
        earlier = np.cumsum(totals, axis=0) - totals
        so_far = np.zeros(width, np.int64)
        step = max(1, _MOST_COUNTS // width)
        for first in range(0, groups, step):
            last = min(first + step, groups)
            low, high = np.searchsorted(place, [first, last])
            keys = (place[low:high] - first) * width + codes[low:high]
            here = np.bincount(keys, rows[low:high], (last - first) * width).astype(np.int64)
            sums = np.cumsum(here.reshape(last - first, width), axis=0) + so_far
            so_far = sums[-1]
            asked = np.flatnonzero(fits[first:last])
            if not len(asked):
                continue
            inside = of[first + asked]
            left = sums[asked] - earlier[inside]
            sides = ClassCounts.dense(values.of, np.concatenate([left, totals[inside] - left]))
            passed = np.ones(2 * len(asked), np.bool_)
            for each in self._asked.required:
                if each.attribute == name:
                    passed &= sides.passing(each, passed, self._whole[name])
            fits[first + asked] = passed[: len(asked)] & passed[len(asked) :]


def _by_tuple(each: SensitiveCounts) -> tuple[SensitiveCounts, Array, Array, Array]:
    """The counts with where those of each tuple begin, their values and their rows."""
    order = np.argsort(each.tuples, kind="stable")
    tuples = each.tuples[order]
    starts = np.searchsorted(tuples, np.arange(int(tuples[-1]) + 2))
    return each, starts, each.values[order], each.rows[order]


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
    bounds: Array, nodes: Array, strict: bool, along: bool, until: int, starts: Array, stop: Array,
) -> int:  # fmt: skip
    """Cut parts of more than ``until`` entries, in place; how many parts there are, 0 if stopped.

    ``starts`` gets where each begins.
    """
    d = places.shape[1]
    low_of, high_of = np.empty(len(rows) + 1, np.int64), np.empty(len(rows) + 1, np.int64)
    low_of[0], high_of[0] = 0, len(rows)
    waiting, found = 1, 0
    tally = np.zeros(min(int(sizes.max()), _SPARSE * len(rows)) + 1, np.int64)
    least, most, order = np.empty(d, np.int32), np.empty(d, np.int32), np.empty(d, np.int64)
    while waiting:
        if stop[0] != 0:
            return 0
        waiting -= 1
        low, high = low_of[waiting], high_of[waiting]
        middle = -1
        total = rows[low:high].sum()
        if high - low > until and total >= 2 * k:
            _spread(places, low, high, sizes, weights, least, most, order)
            for j in order:
                if least[j] == most[j]:
                    continue
                cut, left = _cut_at(
                    places, rows, low, high, j, total, k, least[j], most[j], tally,
                    sizes, heights, bounds, nodes, strict, along,
                )  # fmt: skip
                if cut >= 0:
                    middle = _divide(places, rows, tuples, low, high, j, cut, left)
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
def _spread(
    places: Array, low: int, high: int, sizes: Array, weights: Array, least: Array, most: Array,
    order: Array,
) -> None:  # fmt: skip
    """The least and the greatest place of each attribute, and attributes by weighted spread."""
    d = places.shape[1]
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
def _cut_at(
    places: Array, rows: Array, low: int, high: int, j: Any, total: int, k: int, least: int,
    most: int, tally: Array, sizes: Array, heights: Array, bounds: Array, nodes: Array,
    strict: bool, along: bool,
) -> tuple[int, int]:  # fmt: skip
    """The last place on the left side, −1 if there is none, and the rows there (relaxed).

    A relaxed cut leaves half of the rows on the left; of those at the last place as many as fit.
    """
    width, size = most - least + 1, high - low
    if width <= _SPARSE * size and width < len(tally):
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
            join, first = 1, bounds[j]
            while (
                nodes[first + join * sizes[j] + values[at]]
                != nodes[first + join * sizes[j] + values[at + 1]]
            ):
                join += 1
        if join > best_join or (join == best_join and even > best_even):
            best, best_join, best_even = values[at], join, even
    if not strict:
        return values[-1], total // 2
    return best, 0


@kernel
def _divide(
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
