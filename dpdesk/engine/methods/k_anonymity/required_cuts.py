"""Cuts of Mondrian whose both sides meet more than k: what is required of sensitive values.

Parts are cut as :mod:`.mondrian` cuts them, with the sensitive values of each row beside its
places: compiled loops go through the attributes of a part by spread, count the sensitive values on
either side of each place, and take the best cut of which both sides pass. A side that is within
rounding of a limit is decided in integers: at once where its numbers are small, else its part is
put aside and asked again. Relaxed, parts are cut a level at a time; of the rows at the median as
many of each sensitive value go to either side; where that leaves too little, a strict cut of the
attribute is looked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from os import cpu_count
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.methods.k_anonymity import class_kernels
from dpdesk.engine.methods.k_anonymity.cut_kernels import (
    ABOVE,
    BELOW,
    LOGS,
    MOST_EXACT,
    Asked,
    cut_through,
    find_cuts,
)
from dpdesk.engine.methods.k_anonymity.matched_cells import (
    people_beside,
    shown_by_all,
)
from dpdesk.engine.methods.k_anonymity.mondrian import (
    LEAST_PART,
    Array,
    Parts,
    tables,
)
from dpdesk.engine.methods.k_anonymity.required import CLOSENESS
from dpdesk.engine.methods.k_anonymity.requirements import (
    ClassCounts,
    Constraints,
    measure_of,
)
from dpdesk.engine.methods.k_anonymity.scales import Scale

_MOST_COUNTS, _SPLIT, _SHARES = 4_000_000, 32, 4


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

    Unless ``strict``, all rows of a tuple have the same sensitive values, and nothing is asked of
    the rows of a population that cells match.
    Parts are measured against all rows. None where all rows together do not pass: then no parts do,
    for parts that pass together pass as one (see :func:`~.requirements.least_removed`). Raises
    Cancelled.
    """
    for one in asked.required:
        held = asked.counts[one.attribute]
        together = ClassCounts.dense(held.of, held.whole[None])
        if not together.passing(one, np.ones(1, np.bool_), asked.whole[one.attribute]).all():
            return None
    if strict:
        if asked.matched is not None and not asked.matched.passing(shown_by_all(scales, codes))[0]:
            return None
        return _Cutter(scales, codes, _points(asked), k, asked, along=along).strictly(
            np.asarray(counts, np.int64), token
        )
    tuples = np.repeat(np.arange(len(counts)), counts)
    asked = asked.divided(tuples, np.ones(len(tuples), np.int64))
    cutter = _Cutter(scales, codes[tuples], _points(asked), k, asked, along=along)
    parts = cutter.relaxed(token)
    return replace(parts, tuples=tuples[parts.tuples])


class _Points(NamedTuple):
    """The rows of tuples, divided so that each point has one value of every sensitive column.

    Points ascend by tuple; ``values`` has a column for each sensitive one, in the order of
    ``names``, with codes of which column a means ``meant[a]``.
    """

    names: tuple[str, ...]
    tuples: Array
    rows: Array
    values: NDArray[np.int32]
    meant: tuple[Array, ...]


def _points(asked: Constraints) -> _Points:
    """Which rows of a tuple have which two values together is all the same: none are parted."""
    columns, ends, meant = [], [], []
    for name, each in asked.counts.items():
        order = np.argsort(each.tuples, kind="stable")
        order = order[each.rows[order] > 0]
        meant.append(_rarest_first(asked, name))
        rank = np.argsort(meant[-1]).astype(np.int32)
        columns.append((each.tuples[order], rank[each.values[order]]))
        ends.append(np.cumsum(each.rows[order]))
    every = ends[0] if len(ends) == 1 else np.unique(np.concatenate(ends))
    at = [np.searchsorted(own, every) if len(ends) > 1 else slice(None) for own in ends]
    values = np.stack([column[1][some] for column, some in zip(columns, at, strict=True)], axis=1)
    rows = np.diff(every, prepend=0).astype(np.int64)
    return _Points(tuple(asked.counts), columns[0][0][at[0]], rows, values, tuple(meant))


def _rarest_first(asked: Constraints, name: str) -> Array:
    """The values of a column in the order in which kernels look at them, so that they soon find a
    share too large; where measures of classes are needed, as they are.
    """
    whole = asked.whole[name]
    if any(
        each.attribute == name and each.model == CLOSENESS and each.variant != "equal"
        for each in asked.required
    ):
        return np.arange(len(whole))
    return np.argsort(whole, kind="stable")


def _ranges(lows: Array, highs: Array) -> tuple[Array, Array]:
    """All numbers from each low to its high, and the range of each."""
    sizes = highs - lows
    which = np.repeat(np.arange(len(lows)), sizes)
    first = np.concatenate([[0], np.cumsum(sizes)])[:-1]
    return np.arange(len(which)) - first[which] + lows[which], which


def _asked_for(asked: Constraints, points: _Points) -> Asked:
    names = points.names
    found = [
        (names.index(one.attribute), measure_of(one, asked.counts[one.attribute].of, whole), whole)
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
    table, shares = np.zeros((len(found), 6)), []
    for line, one, (column, measure, whole) in zip(table, asked.required, found, strict=True):
        limit = one.c if measure.kind == class_kernels.RECURSIVE else one.bound
        line[:4] = measure.kind, measure.limit, column, measure.bound
        if max(limit.numerator, limit.denominator) < MOST_EXACT:
            line[ABOVE], line[BELOW] = limit.numerator, limit.denominator
        share = whole / max(int(whole.sum()), 1)
        if measure.kind == class_kernels.GAIN:
            share = share * (1.0 + measure.limits)
        elif measure.kind == class_kernels.SHARE:
            share = np.full(len(whole), measure.limit)
        shares.append(share[points.meant[column]])
    numbers = np.arange(LOGS, dtype=np.float64)
    return Asked(
        np.cumsum([0, *(len(each.of.texts) for each in asked.counts.values())]),
        table,
        lines(shares, np.float64),
        numbers * np.log(np.maximum(numbers, 1.0)),
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
        points: _Points,
        k: int,
        asked: Constraints,
        *,
        along: bool,
    ) -> None:
        d = len(scales)
        self._places = np.empty((len(points.rows), d + points.values.shape[1]), np.int32)
        for j, scale in enumerate(scales):
            self._places[:, j] = scale.places[codes[points.tuples, j]]
        self._places[:, d:] = points.values
        self._rows, self._tuples, self._names = points.rows, points.tuples, points.names
        self._meant = points.meant
        self._k, self._asked, self._whole = k, asked, asked.whole
        matched = people_beside(scales, asked.matched)
        self._fixed = k, *tables(scales), along, _asked_for(asked, points), matched
        self._sizes, self._weights = self._fixed[1], self._fixed[2]

    def strictly(self, counts: Array, token: CancelToken) -> Parts:
        """Cut the points, in place, until no part has a cut."""
        starts, size = np.zeros(1, np.int64), len(self._rows)
        self._order = np.arange(size)
        for until in (max(size // _SPLIT, LEAST_PART), 0):
            starts = self._cut_up(starts, np.append(starts[1:], size), until, token)
        first = (np.diff(self._tuples, prepend=-1) > 0)[self._order]
        tuples = self._tuples[self._order[first]]
        places = np.ascontiguousarray(self._places[first, : len(self._sizes)])
        starts = np.concatenate([[0], np.cumsum(first)])[np.append(starts, size)]
        return Parts(tuples, counts[tuples], places, starts)

    def _cut_up(self, lows: Array, highs: Array, until: int, token: CancelToken) -> Array:
        """Cut parts that have more than ``until`` points, in place; where all of them begin."""
        found, exact = [], _NOTHING_EXACT
        while len(lows):
            some = self._cut_some(lows, highs, until, exact, token)
            found += [starts for starts, _ in some]
            open_ = np.concatenate([lines for _, lines in some])
            open_ = open_[np.argsort(open_[:, 0])]
            at = np.minimum(np.searchsorted(lows, open_[:, 0]), len(lows) - 1)
            same = (lows[at] == open_[:, 0]) & (highs[at] == open_[:, 1])
            numbers = np.full(len(lows), -1)
            numbers[at[same]] = np.flatnonzero(same)
            lows, highs, *cut = open_.T
            everything = np.arange(len(self._rows))
            exact = self._answer(
                everything, (lows, highs, *cut), _renumbered(exact, numbers), token
            )
        return np.sort(np.concatenate(found))

    def _cut_some(
        self, lows: Array, highs: Array, until: int, exact: Array, token: CancelToken
    ) -> list[tuple[Array, Array]]:
        """What :func:`cut_through` finds, by some parts each."""

        def work(some: slice, exact_at: Array, stop: Array) -> tuple[Array, Array]:
            size = int((highs[some] - lows[some]).sum())
            starts, open_ = np.empty(size, np.int64), np.empty((size, 4), np.int64)
            found, left = cut_through(
                self._places, self._rows, self._order, lows[some], highs[some], *self._fixed,
                until, exact, exact_at, starts, open_, stop,
            )  # fmt: skip
            return starts[:found].copy(), open_[:left].copy()

        return _in_threads(work, highs - lows, exact, token)

    def relaxed(self, token: CancelToken) -> Parts:
        """Cut points that are single rows, all parts of a level at a time."""
        order, starts = np.arange(len(self._rows)), [np.zeros(1, np.int64)]
        lows, highs = np.zeros(1, np.int64), np.full(1, len(order), np.int64)
        while len(lows):
            token.check()
            entries, part = _ranges(lows, highs)
            cut, right = self._cuts(order[entries], part, token)
            inside = cut[part]
            entries, which, right = entries[inside], part[inside], right[inside]
            order[entries] = order[entries][np.lexsort((right, which))]
            middle = (lows + np.bincount(which[~right], minlength=len(lows)))[cut]
            lows, highs = lows[cut], highs[cut]
            starts.append(middle)
            lows, highs = np.concatenate([lows, middle]), np.concatenate([middle, highs])
        ends = np.append(np.sort(np.concatenate(starts)), len(order))
        places = self._places[order, : len(self._sizes)]
        return Parts(self._tuples[order], self._rows[order], places, ends)

    def _cuts(self, points: Array, part: Array, token: CancelToken) -> tuple[Array, Array]:
        """Which parts have a relaxed cut, and which of the points go to its right."""
        starts = np.flatnonzero(np.diff(part, prepend=-1))
        values = self._places[points, : len(self._sizes)]
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
                        cut[few], right[entries] = self._half(points[entries], which, tried[few])
                    continue
                column, place = self._best(points, ends[some], ends[some + 1], tried[some], token)
                cut[some] = column >= 0
                entries, which = _ranges(ends[some], ends[some + 1])
                right[entries] = values[entries, tried[some][which]] > place[which]
        return cut, right

    def _batches(self, parts: Array) -> Iterator[Array]:
        """Parts of which the counts of all values take little room, some at a time."""
        widest = max(len(each.of.texts) for each in self._asked.counts.values())
        step = max(1, _MOST_COUNTS // widest)
        for first in range(0, len(parts), step):
            yield parts[first : first + step]

    def _half(self, points: Array, part: Array, tried: Array) -> tuple[Array, Array]:
        """As :meth:`_cuts`, half of the rows of each part to the left.

        Of the rows at the median as many of each sensitive value as can be go to either side.
        """
        value = self._places[points, tried[part]]
        kinds: list[Array] = [*self._places[points, len(self._sizes) :].T]
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
        return self._both_pass(points, part, right), right

    def _both_pass(self, points: Array, part: Array, right: Array) -> Array:
        """Of which parts both sides pass, decided exactly."""
        parts = int(part[-1]) + 1
        passed = np.ones(2 * parts, np.bool_)
        for column, name in enumerate(self._names):
            of, codes = self._asked.counts[name].of, self._places[points, len(self._sizes) + column]
            width = len(of.texts)
            keys = (2 * part + right) * width + self._meant[column][codes]
            counts = np.bincount(keys, self._rows[points], 2 * parts * width).astype(np.int64)
            sides = ClassCounts.dense(of, counts.reshape(-1, width))
            for required in self._asked.required:
                if required.attribute == name:
                    passed &= sides.passing(required, passed, self._whole[name])
        return passed[::2] & passed[1::2]

    def _best(
        self, points: Array, lows: Array, highs: Array, only: Array, token: CancelToken
    ) -> tuple[Array, Array]:
        """Where the cut of each part at the attribute ``only`` is: that, else −1, and the place.

        What compiled loops find too near to a limit is decided exactly, and asked again.
        """
        column, place = np.full(len(lows), -1, np.int64), np.zeros(len(lows), np.int64)
        open_, exact = np.arange(len(lows)), _NOTHING_EXACT
        held = self._places[points], self._rows[points]
        while len(open_):
            given = lows[open_], highs[open_], only[open_]
            found, at, near = self._cuts_at(held, given, exact, token)
            column[open_], place[open_] = found, at
            numbers = np.where(near, np.cumsum(near) - 1, -1)
            open_ = open_[near]
            asked = lows[open_], highs[open_], found[near], at[near]
            exact = self._answer(points, asked, _renumbered(exact, numbers), token)
        return column, place

    def _cuts_at(
        self, held: tuple[Array, Array], given: tuple[Array, ...], exact: Array, token: CancelToken
    ) -> tuple[Array, Array, Array]:
        """What :func:`find_cuts` finds."""
        (places, rows), (lows, highs, only) = held, given
        column, place = np.empty(len(lows), np.int64), np.empty(len(lows), np.int64)
        near = np.zeros(len(lows), np.bool_)

        def work(some: slice, exact_at: Array, stop: Array) -> None:
            find_cuts(
                places, rows, lows[some], highs[some], only[some], *self._fixed, exact, exact_at,
                column[some], place[some], near[some], stop,
            )  # fmt: skip

        _in_threads(work, highs - lows, exact, token)
        return column, place, near

    def _answer(
        self, points: Array, asked: tuple[Array, ...], exact: Array, token: CancelToken
    ) -> Array:
        """The earlier answers, and whether the cut of each part passes, decided exactly."""
        lows, highs, column, place = asked
        for few in self._batches(np.arange(len(lows))):
            token.check()
            entries, which = _ranges(lows[few], highs[few])
            some = points[entries]
            right = self._places[some, column[few][which]] > place[few][which]
            passed = self._both_pass(some, which, right)
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
