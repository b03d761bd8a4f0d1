"""Cuts of Mondrian whose both sides meet more than k: what is required of sensitive values.

Parts are cut as :mod:`.mondrian` cuts them, all parts of a level at a time: compiled loops go
through the attributes of each part by spread, count the sensitive values on either side of each
place, and take the best cut of which both sides pass. A side that is within rounding of a limit is
decided in integers, and its part is asked again. Relaxed, of the rows at the median as many of each
sensitive value go to either side; where that leaves too little, a strict cut of the attribute is
looked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.compiled import kernel
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.methods.k_anonymity import class_kernels
from dpdesk.engine.methods.k_anonymity.mondrian import (
    LEAST_PART,
    SPARSE,
    Array,
    Parts,
    cut_at,
    joined,
    spread_of,
    tables,
)
from dpdesk.engine.methods.k_anonymity.requirements import (
    ClassCounts,
    Constraints,
    SensitiveCounts,
    measure_of,
)
from dpdesk.engine.methods.k_anonymity.scales import Scale

_MOST_COUNTS, _SPLIT, _SHARES = 4_000_000, 32, 4
_FAILED, _PASSED, _NEAR = 0, 1, 2


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
    apart = 0 if not strict else max(len(rows) // _SPLIT, LEAST_PART)
    while len(lows):
        token.check()
        if strict and (highs - lows).max() <= apart:
            starts.append(cutter.ends(order, lows, highs, token))
            break
        middle = cutter.divided(order, lows, highs, token)
        cut = middle >= 0
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


class _Held(NamedTuple):
    """Sensitive values of all columns side by side, and what is required of them, for kernels.

    Those of tuple t in column a are the entries from ``begins[a, t]`` to ``begins[a, t + 1]``; the
    codes of column a begin at ``offsets[a]``. Line r of the other arrays is what requirement r
    compares with, of column ``columns[r]``; lines are as long as the longest.
    """

    begins: Array
    values: Array
    amounts: Array
    offsets: Array
    columns: Array
    kinds: Array
    bounds: Array
    limits: Array
    lengths: Array
    levels: Array
    whole: Array
    places: Array
    below: Array
    sums: Array
    nodes: Array
    sizes: Array
    caps: Array


def _held(
    asked: Constraints, by_tuple: Mapping[str, tuple[SensitiveCounts, Array, Array, Array]]
) -> _Held:
    names, columns = [*by_tuple], [*by_tuple.values()]
    firsts = np.cumsum([0, *(len(codes) for _, _, codes, _ in columns)])
    begins = np.stack([each[1] + first for each, first in zip(columns, firsts, strict=False)])
    found = [
        (names.index(one.attribute), measure_of(one, by_tuple[one.attribute][0].of, whole), whole)
        for one in asked.required
        for whole in [asked.whole[one.attribute]]
    ]

    def lines(arrays: Sequence[Array], kind: type[Any]) -> Array:
        shape = tuple(np.max([array.shape for array in arrays], axis=0).tolist())
        held = np.zeros((len(arrays), *shape), kind)
        for line, array in zip(held, arrays, strict=True):
            line[tuple(map(slice, array.shape))] = array
        return held

    how = [measure for _, measure, _ in found]
    return _Held(
        begins.astype(np.int64),
        np.concatenate([codes for _, _, codes, _ in columns]).astype(np.int64),
        np.concatenate([rows for *_, rows in columns]).astype(np.int64),
        np.cumsum([0, *(len(each.of.texts) for each, *_ in columns)]),
        np.array([column for column, *_ in found]),
        np.array([each.kind for each in how]),
        np.array([each.bound for each in how]),
        np.array([each.limit for each in how]),
        np.array([len(each.below) for each in how]),
        np.array([len(each.nodes) for each in how]),
        lines([whole for *_, whole in found], np.int64),
        lines([each.places for each in how], np.int64),
        lines([each.below for each in how], np.int64),
        lines([each.sums for each in how], np.float64),
        lines([each.nodes for each in how], np.int64),
        lines([each.sizes for each in how], np.int64),
        lines([each.limits for each in how], np.float64),
    )


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
        self.counts, self._strict, self._k = counts, strict, k
        self._asked, self._whole = asked, asked.whole
        self._by_tuple = {name: _by_tuple(each) for name, each in asked.counts.items()}
        self._fixed = *tables(scales), along, _held(asked, self._by_tuple)
        self._sizes, self._weights = self._fixed[0], self._fixed[1]

    def divided(self, order: Array, lows: Array, highs: Array, token: CancelToken) -> Array:
        """Bring what is left of the cut of each part to its front, where it has one.

        Where the right sides begin, −1 without a cut. Parts are ranges of ``order``.
        """
        if self._strict:
            anywhere = np.full(len(lows), -1, np.int64)
            column, place = self._best(order, lows, highs, anywhere, token)
            return _divided(order, lows, highs, self.places, column, place)
        entries, part = _ranges(lows, highs)
        cut, right = self._cuts(order[entries], part, token)
        inside = cut[part]
        entries, which, right = entries[inside], part[inside], right[inside]
        order[entries] = order[entries][np.lexsort((right, which))]
        middle = lows + np.bincount(which[~right], minlength=len(lows))
        return np.where(cut, middle, -1)

    def _cuts(self, tuples: Array, part: Array, token: CancelToken) -> tuple[Array, Array]:
        """Which parts have a relaxed cut, and which of the tuples, single rows, go to its right."""
        starts = np.flatnonzero(np.diff(part, prepend=-1))
        values = self.places[tuples]
        spread = np.maximum.reduceat(values, starts) - np.minimum.reduceat(values, starts)
        shares = spread / np.maximum(self._sizes - 1, 1) * self._weights
        ranked = np.argsort(-shares, axis=1, kind="stable")
        cut, right = np.zeros(len(starts), np.bool_), np.zeros(len(part), np.bool_)
        ends = np.append(starts, len(part))
        large = np.diff(ends) >= 2 * self._k
        for rank in range(ranked.shape[1]):
            tried = ranked[:, rank]
            for halving in (True, False):
                open_ = large & ~cut & (spread[np.arange(len(starts)), tried] > 0)
                some = np.flatnonzero(open_)
                if not len(some):
                    continue
                if halving:
                    for few in self._batches(some):
                        token.check()
                        entries, which = _ranges(ends[few], ends[few + 1])
                        cut[few], right[entries] = self._half(tuples[entries], which, tried[few])
                    continue
                column, place = self._best(tuples, ends[some], ends[some + 1], tried[some], token)
                cut[some] = column >= 0
                entries, which = _ranges(ends[some], ends[some + 1])
                right[entries] = self.places[tuples[entries], tried[some][which]] > place[which]
        return cut, right

    def _batches(self, parts: Array) -> Iterator[Array]:
        """Parts of which the counts of all values take little room, some at a time."""
        widest = max(len(each.of.texts) for each in self._asked.counts.values())
        step = max(1, _MOST_COUNTS // widest)
        for first in range(0, len(parts), step):
            yield parts[first : first + step]

    def _half(self, tuples: Array, part: Array, tried: Array) -> tuple[Array, Array]:
        """As :meth:`_cuts`, half of the rows of each part to the left; tuples are single rows.

        Of the rows at the median as many of each sensitive value as can be go to either side.
        """
        value = self.places[tuples, tried[part]]
        kinds: list[Array] = [each.values[tuples] for each, *_ in self._by_tuple.values()]
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
        return self._both_pass(tuples, part, right), right

    def _both_pass(self, tuples: Array, part: Array, right: Array) -> Array:
        """Of which parts both sides pass, decided exactly."""
        parts = int(part[-1]) + 1
        passed = np.ones(2 * parts, np.bool_)
        for name, (each, starts, codes, rows) in self._by_tuple.items():
            width = len(each.of.texts)
            entries, entry = _ranges(starts[tuples], starts[tuples + 1])
            keys = (2 * part[entry] + right[entry]) * width + codes[entries]
            counts = np.bincount(keys, rows[entries], 2 * parts * width).astype(np.int64)
            sides = ClassCounts.dense(each.of, counts.reshape(-1, width))
            for required in self._asked.required:
                if required.attribute == name:
                    passed &= sides.passing(required, passed, self._whole[name])
        return passed[::2] & passed[1::2]

    def _best(
        self, order: Array, lows: Array, highs: Array, only: Array, token: CancelToken
    ) -> tuple[Array, Array]:
        """The attribute of the cut of each part, −1 without one, and the last place on its left.

        Only at an attribute of each part where ``only`` names one. What compiled loops find too
        near to a limit is decided exactly, and those parts are asked again.
        """
        column, place = np.full(len(lows), -1, np.int64), np.zeros(len(lows), np.int64)
        open_, exact = np.arange(len(lows)), _NOTHING_EXACT
        while len(open_):
            given = order, lows[open_], highs[open_]
            found, at, near = self._cuts_at(*given, only[open_], exact, token)
            column[open_], place[open_] = found, at
            numbers = np.where(near, np.cumsum(near) - 1, -1)
            open_ = open_[near]
            asked = lows[open_], highs[open_], found[near], at[near]
            exact = self._answer(order, asked, _renumbered(exact, numbers), token)
        return column, place

    def _cuts_at(
        self,
        order: Array,
        lows: Array,
        highs: Array,
        only: Array,
        exact: Array,
        token: CancelToken,
    ) -> tuple[Array, Array, Array]:
        """What :func:`_find_cuts` finds."""
        column, place = np.empty(len(lows), np.int64), np.empty(len(lows), np.int64)
        near = np.zeros(len(lows), np.bool_)

        def work(some: slice, exact_at: Array, stop: Array) -> None:
            _find_cuts(
                order, lows[some], highs[some], only[some], self.places, self.counts, self._k,
                *self._fixed, exact, exact_at, column[some], place[some], near[some], stop,
            )  # fmt: skip

        _in_threads(work, highs - lows, exact, token)
        return column, place, near

    def ends(self, order: Array, lows: Array, highs: Array, token: CancelToken) -> Array:
        """Cut strict parts until none has a cut, in place; where those begin that are cut off."""
        first, by_place = lows, np.argsort(lows)
        lows, highs = lows[by_place], highs[by_place]
        found, exact = [], _NOTHING_EXACT
        while len(lows):
            some = self._cut_to_ends(order, lows, highs, exact, token)
            found += [starts for starts, _ in some]
            open_ = np.concatenate([lines for _, lines in some])
            open_ = open_[np.argsort(open_[:, 0])]
            at = np.minimum(np.searchsorted(lows, open_[:, 0]), len(lows) - 1)
            same = (lows[at] == open_[:, 0]) & (highs[at] == open_[:, 1])
            numbers = np.full(len(lows), -1)
            numbers[at[same]] = np.flatnonzero(same)
            lows, highs, *cut = open_.T
            exact = self._answer(order, (lows, highs, *cut), _renumbered(exact, numbers), token)
        return np.setdiff1d(np.concatenate(found), first, assume_unique=True)

    def _cut_to_ends(
        self, order: Array, lows: Array, highs: Array, exact: Array, token: CancelToken
    ) -> list[tuple[Array, Array]]:
        """What :func:`_cut_deep` finds, by some parts each."""

        def work(some: slice, exact_at: Array, stop: Array) -> tuple[Array, Array]:
            size = int((highs[some] - lows[some]).sum())
            starts, open_ = np.empty(size, np.int64), np.empty((size, 4), np.int64)
            found, left = _cut_deep(
                order, lows[some], highs[some], self.places, self.counts, self._k, *self._fixed,
                exact, exact_at, starts, open_, stop,
            )  # fmt: skip
            return starts[:found].copy(), open_[:left].copy()

        return _in_threads(work, highs - lows, exact, token)

    def _answer(
        self, order: Array, asked: tuple[Array, ...], exact: Array, token: CancelToken
    ) -> Array:
        """The earlier answers, and whether the cut of each part passes, decided exactly."""
        lows, highs, column, place = asked
        for few in self._batches(np.arange(len(lows))):
            token.check()
            entries, which = _ranges(lows[few], highs[few])
            tuples = order[entries]
            right = self.places[tuples, column[few][which]] > place[few][which]
            passed = self._both_pass(tuples, which, right)
            exact = np.concatenate(
                [exact, np.stack([few, column[few], place[few], passed], axis=1)]
            )
        return exact[np.argsort(exact[:, 0], kind="stable")]


_NOTHING_EXACT = np.zeros((0, 4), np.int64)
_Found = TypeVar("_Found")


def _renumbered(exact: Array, numbers: Array) -> Array:
    """The answers on parts that get a new number; −1 for others."""
    new = numbers[exact[:, 0]]
    return np.column_stack([new, exact[:, 1:]])[new >= 0]


def _in_threads(
    work: Callable[[slice, Array, Array], _Found], sizes: Array, exact: Array, token: CancelToken
) -> list[_Found]:
    """Do something with all parts, by as many threads as there are cores where they are large.

    Each gets some parts, where the answers on each begin, and a flag that stops it.
    """
    exact_at, after = (
        np.searchsorted(exact[:, 0], np.arange(len(sizes) + 1)),
        np.cumsum(sizes),
    )
    threads = cpu_count() or 1 if after[-1] > LEAST_PART else 1
    pieces = 1 if threads == 1 else _SHARES * threads
    shares = after[-1] * np.arange(1, pieces) // pieces
    ends = np.unique([0, *np.searchsorted(after, shares, "right").tolist(), len(sizes)])
    stop = np.zeros(1, np.uint8)

    def stopping() -> None:
        stop[0] = 1

    def share(number: int) -> _Found:
        low, high = int(ends[number]), int(ends[number + 1])
        return work(slice(low, high), exact_at[low : high + 1], stop)

    with token.on_cancel(stopping):
        if threads == 1:
            found = [share(number) for number in range(len(ends) - 1)]
        else:
            with ThreadPoolExecutor(threads) as pool:
                found = list(pool.map(share, range(len(ends) - 1)))
    token.check()
    return found


def _by_tuple(each: SensitiveCounts) -> tuple[SensitiveCounts, Array, Array, Array]:
    """The counts with where those of each tuple begin, their values and their rows."""
    order = np.argsort(each.tuples, kind="stable")
    tuples = each.tuples[order]
    starts = np.searchsorted(tuples, np.arange(int(tuples[-1]) + 2))
    return each, starts, each.values[order], each.rows[order]


@kernel
def _find_cuts(
    order: Array, lows: Array, highs: Array, only: Array, places: Array, rows: Array, k: int,
    sizes: Array, weights: Array, heights: Array, bounds: Array, nodes: Array, along: bool,
    held: Any, exact: Array, exact_at: Array, column: Array, place: Array, near: Array, stop: Array,
) -> None:  # fmt: skip
    """The cut of each part whose sides have k rows and meet what is required.

    ``column`` gets its attribute, −1 without a cut, and ``place`` the last place on its left; where
    ``near``, that cut passes but for rounding. ``exact[exact_at[p]:exact_at[p + 1]]`` says of cuts
    of part p, attribute and place, whether they do.
    """
    most, entries = _largest(order, lows, highs, held)
    inside = _room(most, entries, places, held)
    for part in range(len(lows)):
        some, known = (
            order[lows[part] : highs[part]],
            exact[exact_at[part] : exact_at[part + 1]],
        )
        column[part], place[part], near[part] = _cut_of(
            some, only[part], places, rows, k, sizes, weights, heights, bounds, nodes, along, held,
            inside, known, stop,
        )  # fmt: skip


@kernel
def _cut_deep(
    order: Array, lows: Array, highs: Array, places: Array, rows: Array, k: int, sizes: Array,
    weights: Array, heights: Array, bounds: Array, nodes: Array, along: bool, held: Any,
    exact: Array, exact_at: Array, starts: Array, open_: Array, stop: Array,
) -> tuple[int, int]:  # fmt: skip
    """Cut parts to their ends, in place; how many parts there are, and how many are not decided.

    ``starts`` gets where each begins. A line of ``open_`` is a part whose cut passes but for
    rounding: from where to where, its attribute and its place; it is left as it is.
    """
    most, entries = _largest(order, lows, highs, held)
    inside, kept = _room(most, entries, places, held), np.empty(most, np.int64)
    low_of, high_of = np.empty(most + 1, np.int64), np.empty(most + 1, np.int64)
    found, undecided = 0, 0
    for part in range(len(lows)):
        low_of[0], high_of[0] = lows[part], highs[part]
        waiting, known = 1, exact[exact_at[part] : exact_at[part + 1]]
        while waiting:
            waiting -= 1
            low, high = low_of[waiting], high_of[waiting]
            j, place, near = _cut_of(
                order[low:high], -1, places, rows, k, sizes, weights, heights, bounds, nodes, along,
                held, inside, known, stop,
            )  # fmt: skip
            if stop[0] != 0:
                return 0, 0
            known = exact[:0]
            if near:
                open_[undecided, 0], open_[undecided, 1] = low, high
                open_[undecided, 2], open_[undecided, 3] = j, place
                undecided += 1
            elif j < 0:
                starts[found] = low
                found += 1
            else:
                middle = _part(order, low, high, places, j, place, kept)
                low_of[waiting], high_of[waiting] = middle, high
                low_of[waiting + 1], high_of[waiting + 1] = low, middle
                waiting += 2
    return found, undecided


@kernel
def _cut_of(
    some: Array, only: int, places: Array, rows: Array, k: int, sizes: Array, weights: Array,
    heights: Array, bounds: Array, nodes: Array, along: bool, held: Any, inside: Any, known: Array,
    stop: Array,
) -> tuple[int, int, bool]:  # fmt: skip
    """The cut of the part of ``some`` entries, as :func:`_find_cuts` says of each."""
    size, all_rows = len(some), 0
    for at in range(size):
        inside.rows[at] = rows[some[at]]
        all_rows += inside.rows[at]
    if all_rows < 2 * k:
        return -1, 0, False
    for at in range(size):
        inside.places[at] = places[some[at]]
    place = inside.least, inside.most, inside.ranked
    spread_of(inside.places, 0, size, sizes, weights, *place)
    _take_in(some, held, inside)
    found, best, doubtful = -1, -1, False
    for j in inside.ranked:
        if stop[0] != 0:
            break
        if inside.least[j] == inside.most[j] or (only >= 0 and only != j):
            continue
        best, doubtful = _best_place(
            size, j, all_rows, k, sizes, heights, bounds, nodes, along, held, inside, known
        )
        if best >= 0:
            found = j
            break
    _clear(held, inside, inside.total)
    return found, best, doubtful


class _Inside(NamedTuple):
    """The sensitive values of the entries of one part, as in :class:`_Held`, one after the other.

    By value, ``total`` are their rows and ``left`` those on the left of a cut; ``touched`` lists
    the values of column a that occur, ascending, ``used[a]`` of them. ``places`` and ``rows`` are
    those of the entries; the rest is room to work in.
    """

    begins: Array
    values: Array
    amounts: Array
    total: Array
    left: Array
    touched: Array
    used: Array
    places: Array
    rows: Array
    least: Array
    most: Array
    ranked: Array
    line: Array
    tally: Array
    codes: Array
    counts: Array
    starts: Array
    wanted: Array
    measure: Array


@kernel
def _room(most: int, entries: int, places: Array, held: Any) -> _Inside:
    """Room for parts of so many entries and sensitive values."""
    d, columns, width = places.shape[1], len(held.offsets) - 1, held.offsets[-1]
    return _Inside(
        np.empty((columns, most + 1), np.int64), np.empty(entries, np.int64),
        np.empty(entries, np.int64), np.zeros(width, np.int64), np.zeros(width, np.int64),
        np.zeros(width, np.int64), np.zeros(columns, np.int64),
        np.empty((most, d), places.dtype), np.empty(most, np.int64), np.empty(d, np.int64),
        np.empty(d, np.int64), np.empty(d, np.int64), np.empty(most, np.int64),
        np.zeros(SPARSE * most + 2, np.int64), np.empty(width, np.int64),
        np.empty(width, np.int64), np.zeros(2, np.int64), np.ones(1, np.bool_), np.empty(1),
    )  # fmt: skip


@kernel
def _largest(order: Array, lows: Array, highs: Array, held: Any) -> tuple[int, int]:
    """The most entries of a part, and the most sensitive values of one."""
    most, values = 1, 1
    for part in range(len(lows)):
        most = max(most, highs[part] - lows[part])
        count = 0
        for a in range(len(held.begins)):
            for at in range(lows[part], highs[part]):
                count += held.begins[a, order[at] + 1] - held.begins[a, order[at]]
        values = max(values, count)
    return most, values


@kernel
def _take_in(some: Array, held: Any, inside: Any) -> None:
    """Copy the sensitive values of a part, and add them up."""
    free, total, touched = 0, inside.total, inside.touched
    begins, values, amounts = held.begins, held.values, held.amounts
    to_begins, to_values, to_amounts = inside.begins, inside.values, inside.amounts
    for a in range(len(begins)):
        first, count = held.offsets[a], 0
        for at in range(len(some)):
            to_begins[a, at] = free
            for entry in range(begins[a, some[at]], begins[a, some[at] + 1]):
                value, amount = values[entry], amounts[entry]
                if total[first + value] == 0 and amount > 0:
                    touched[first + count] = value
                    count += 1
                total[first + value] += amount
                to_values[free], to_amounts[free] = value, amount
                free += 1
        to_begins[a, len(some)] = free
        touched[first : first + count].sort()
        inside.used[a] = count


@kernel
def _clear(held: Any, inside: Any, sums: Array) -> None:
    for a in range(len(inside.used)):
        first = held.offsets[a]
        for at in range(first, first + inside.used[a]):
            sums[first + inside.touched[at]] = 0


@kernel
def _add_left(
    line: Array, begins: Array, values: Array, amounts: Array, offsets: Array, left: Array
) -> None:
    """Add the sensitive values of some entries to the left."""
    for a in range(len(begins)):
        first = offsets[a]
        for at in line:
            for entry in range(begins[a, at], begins[a, at + 1]):
                left[first + values[entry]] += amounts[entry]


@kernel
def _line_up(values: Array, least: int, most: int, line: Array, tally: Array) -> None:
    """Numbers of entries in the order of their places."""
    width, size = most - least + 1, len(values)
    if width > SPARSE * size:
        line[:size] = np.argsort(values)
        return
    tally[: width + 1] = 0
    for value in values:
        tally[value - least + 1] += 1
    for at in range(width):
        tally[at + 1] += tally[at]
    for at in range(size):
        free = values[at] - least
        line[tally[free]] = at
        tally[free] += 1


@kernel
def _best_place(
    size: int, j: Any, all_rows: int, k: int, sizes: Array, heights: Array, bounds: Array,
    nodes: Array, along: bool, held: Any, inside: Any, known: Array,
) -> tuple[int, bool]:  # fmt: skip
    """The last place on the left of the best cut at an attribute, −1 without one, and whether only
    rounding lets it pass.

    The best one for k alone is tried first; where it does not pass, all that may be.
    """
    least, most = inside.least[j], inside.most[j]
    top, _ = cut_at(
        inside.places, inside.rows, 0, size, j, all_rows, k, least, most, inside.tally, sizes,
        heights, bounds, nodes, True, along,
    )  # fmt: skip
    if top < 0:
        return -1, False
    values, line, rows_of = inside.places[:size, j], inside.line, inside.rows
    count = 0
    for at in range(size):
        line[count] = at
        count += values[at] <= top
    own = inside.begins, inside.values, inside.amounts, held.offsets, inside.left
    _add_left(line[:count], *own)
    passed = _decided(held, inside, known, j, top)
    _clear(held, inside, inside.left)
    if passed != _FAILED:
        return top, passed == _NEAR
    failed = top
    _line_up(values, least, most, line, inside.tally)
    best, join, even, before, at, doubtful = -1, -1, -1, 0, 0, False
    while True:
        value: Any = np.int64(values[line[at]])
        first = at
        while at < size and values[line[at]] == value:
            before += rows_of[line[at]]
            at += 1
        _add_left(line[first:at], *own)
        if at == size:
            break
        rows, level = min(before, all_rows - before), 0
        if rows < k or value == failed:
            continue
        if along and heights[j] > 1:
            after: Any = np.int64(values[line[at]])
            level = joined(nodes, bounds[j], sizes[j], value, after)
        if level < join or (level == join and rows <= even):
            continue
        passed = _decided(held, inside, known, j, value)
        if passed != _FAILED:
            best, join, even, doubtful = value, level, rows, passed == _NEAR
    _clear(held, inside, inside.left)
    return best, doubtful


@kernel
def _decided(held: Any, inside: Any, known: Array, j: Any, place: int) -> int:
    """As :func:`_both_pass`, with what was decided exactly."""
    passed = _both_pass(held, inside)
    if passed == _NEAR:
        for one in range(len(known)):
            if known[one, 1] == j and known[one, 2] == place:
                return _PASSED if known[one, 3] == 1 else _FAILED
    return passed


@kernel
def _both_pass(held: Any, inside: Any) -> int:
    """Whether both sides of a cut meet what is required, or nearly do."""
    found, codes, counts, out = _PASSED, inside.codes, inside.counts, inside.measure
    total, left, touched = inside.total, inside.left, inside.touched
    for r in range(len(held.kinds)):
        a, kind, limit = held.columns[r], held.kinds[r], held.limits[r]
        first = held.offsets[a]
        length, width, levels = held.lengths[r], held.offsets[a + 1] - first, held.levels[r]
        for side in range(2):
            size = 0
            for at in range(first, first + inside.used[a]):
                value = touched[at]
                amount = left[first + value]
                if side == 1:
                    amount = total[first + value] - amount
                if amount > 0:
                    codes[size], counts[size] = value, amount
                    size += 1
            inside.starts[1] = size
            class_kernels.measure(
                kind, held.bounds[r], inside.starts, codes[:size], counts[:size], inside.wanted,
                held.whole[r, :width], held.places[r], held.below[r, :length],
                held.sums[r, : length + 1], held.nodes[r, :levels], held.sizes[r, :levels],
                held.caps[r], out,
            )  # fmt: skip
            near = abs(out[0] - limit) <= class_kernels.CLOSE * max(1.0, abs(limit))
            if near and kind != class_kernels.DISTINCT:
                found = _NEAR
            elif out[0] > limit:
                return _FAILED
    return found


@kernel
def _divided(
    order: Array, lows: Array, highs: Array, places: Array, column: Array, place: Array
) -> Array:
    """Bring the left sides of the cuts of parts to the front; where right ones begin, else −1."""
    middle, most = np.full(len(lows), -1, np.int64), 1
    for part in range(len(lows)):
        most = max(most, highs[part] - lows[part])
    kept = np.empty(most, np.int64)
    for part in range(len(lows)):
        if column[part] >= 0:
            low, high, j = lows[part], highs[part], column[part]
            middle[part] = _part(order, low, high, places, j, place[part], kept)
    return middle


@kernel
def _part(order: Array, low: int, high: int, places: Array, j: Any, place: int, kept: Array) -> int:
    """Entries up to a place first, all in their order; where the others begin."""
    free, later = low, 0
    for at in range(low, high):
        entry = order[at]
        if places[entry, j] <= place:
            order[free] = entry
            free += 1
        else:
            kept[later] = entry
            later += 1
    order[free:high] = kept[:later]
    return free
