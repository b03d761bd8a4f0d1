"""Compiled loops that cut parts of rows where both sides meet what is required.

See :mod:`.required_cuts`. Points are rows of ``places``: the place of each attribute, and after
these a code of each sensitive column.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dpdesk.core.compiled import kernel
from dpdesk.engine.methods.k_anonymity import class_kernels
from dpdesk.engine.methods.k_anonymity.matched_cells import both_match
from dpdesk.engine.methods.k_anonymity.mondrian import (
    SPARSE,
    Array,
    cut_at,
    divide,
    joined,
    spread_of,
)

_FAILED, _PASSED, _NEAR, _UNMEASURED = 0, 1, 2, 3
_NO_ROWS = 1 << 62
_SMALL, LOGS, MOST_EXACT = 32, 4096, 1 << 30
_TOTAL, _LEFT, _TOUCHED, _CODES, _COUNTS = range(5)
_KIND, _LIMIT, _COLUMN, _BOUND, ABOVE, BELOW = range(6)


class Asked(NamedTuple):
    """What is required of sensitive values, for kernels; codes of column a begin at ``offsets[a]``.

    Line r of the other arrays belongs to requirement r: ``table`` has its kind, limit, column and
    bound, and its limit as a fraction, 0 over 0 where that is none of small numbers. ``shares`` are
    those of each value in all rows, or the largest that a class may have. The rest is what
    :func:`.class_kernels.measure` compares with. ``logs[n]`` is n·log n.
    """

    offsets: Array
    table: Array
    shares: Array
    logs: Array
    lengths: Array
    levels: Array
    whole: Array
    places: Array
    below: Array
    sums: Array
    nodes: Array
    sizes: Array
    caps: Array


@kernel
def cut_through(
    places: Array, rows: Array, tuples: Array, lows: Array, highs: Array, k: int, sizes: Array,
    weights: Array, heights: Array, bounds: Array, nodes: Array, along: bool, asked: Any,
    people: Any, until: int, exact: Array, exact_at: Array, starts: Array, open_: Array,
    stop: Array,
) -> tuple[int, int]:  # fmt: skip
    """Cut parts of more than ``until`` points, in place; how many parts, and how many not decided.

    ``starts`` gets where each begins. A line of ``open_`` is a part whose cut passes but for
    rounding: from where to where, its attribute and its place; it is left as it is.
    ``exact[exact_at[p]:exact_at[p + 1]]`` says of cuts of part p, attribute and place, whether they
    pass.
    """
    most = _largest(lows, highs)
    room = _room(most, len(sizes), asked.offsets)
    low_of, high_of = np.empty(most + 1, np.int64), np.empty(most + 1, np.int64)
    found, undecided = 0, 0
    for part in range(len(lows)):
        low_of[0], high_of[0] = lows[part], highs[part]
        waiting, known = 1, exact[exact_at[part] : exact_at[part + 1]]
        while waiting:
            waiting -= 1
            low, high = low_of[waiting], high_of[waiting]
            j, place, near = -1, 0, False
            if high - low > until:
                j, place, near = _cut_of(
                    places, rows, low, high, -1, k, sizes, weights, heights, bounds, nodes, along,
                    asked, people, room, known, stop,
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
                middle = divide(places, rows, tuples, low, high, j, place, 0)
                low_of[waiting], high_of[waiting] = middle, high
                low_of[waiting + 1], high_of[waiting + 1] = low, middle
                waiting += 2
    return found, undecided


@kernel
def find_cuts(
    places: Array, rows: Array, lows: Array, highs: Array, only: Array, k: int, sizes: Array,
    weights: Array, heights: Array, bounds: Array, nodes: Array, along: bool, asked: Any,
    people: Any, exact: Array, exact_at: Array, column: Array, place: Array, near: Array,
    stop: Array,
) -> None:  # fmt: skip
    """The cut of each part at its attribute ``only``, if its sides meet what is required.

    ``column`` gets the attribute, −1 without a cut, and ``place`` the last place on its left; where
    ``near``, that cut passes but for rounding. For ``exact`` see :func:`cut_through`.
    """
    room = _room(_largest(lows, highs), len(sizes), asked.offsets)
    for part in range(len(lows)):
        known = exact[exact_at[part] : exact_at[part + 1]]
        column[part], place[part], near[part] = _cut_of(
            places, rows, lows[part], highs[part], only[part], k, sizes, weights, heights, bounds,
            nodes, along, asked, people, room, known, stop,
        )  # fmt: skip


@kernel
def _largest(lows: Array, highs: Array) -> int:
    most = 1
    for part in range(len(lows)):
        most = max(most, highs[part] - lows[part])
    return most


class _Room(NamedTuple):
    """Room to work in: lines of ``held`` are the rows of each value in the part and on the left of
    a cut, the values of column a that occur, ascending, ``used[a]`` of them, and a class.
    """

    held: Array
    used: Array
    least: Array
    most: Array
    ranked: Array
    line: Array
    keys: Array
    joins: Array
    evens: Array
    tally: Array
    starts: Array
    wanted: Array
    measure: Array


@kernel
def _room(most: int, d: int, offsets: Array) -> _Room:
    """Room for parts of so many points."""
    return _Room(
        np.zeros((5, offsets[-1]), np.int64), np.zeros(len(offsets) - 1, np.int64),
        np.empty(d, np.int64), np.empty(d, np.int64), np.empty(d, np.int64),
        np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64),
        np.empty(most, np.int64), np.zeros(SPARSE * most + 2, np.int64),
        np.zeros(2, np.int64), np.ones(1, np.bool_), np.empty(1),
    )  # fmt: skip


@kernel
def _cut_of(
    places: Array, rows: Array, low: int, high: int, only: int, k: int, sizes: Array,
    weights: Array, heights: Array, bounds: Array, nodes: Array, along: bool, asked: Any,
    people: Any, room: Any, known: Array, stop: Array,
) -> tuple[int, int, bool]:  # fmt: skip
    """The attribute of the cut of a part, −1 without one, the last place on its left, and whether
    only rounding lets it pass.
    """
    all_rows = 0
    for at in range(low, high):
        all_rows += rows[at]
    if all_rows < 2 * k:
        return -1, 0, False
    spread_of(places, low, high, sizes, weights, room.least, room.most, room.ranked)
    _take_in(places, rows, low, high, len(sizes), asked.offsets, room.held, room.used)
    found, best, doubtful = -1, -1, False
    for j in room.ranked:
        if stop[0] != 0:
            break
        if room.least[j] == room.most[j] or (only >= 0 and only != j):
            continue
        best, doubtful = _best_place(
            places, rows, low, high, j, all_rows, k, sizes, heights, bounds, nodes, along, asked,
            people, room, known,
        )  # fmt: skip
        if best >= 0:
            found = j
            break
    _clear(room.held[_TOTAL], asked.offsets, room.held[_TOUCHED], room.used)
    return found, best, doubtful


@kernel
def _take_in(
    places: Array, rows: Array, low: int, high: int, d: int, offsets: Array, held: Array,
    used: Array,
) -> None:  # fmt: skip
    """Add up the rows of each sensitive value of a part, and list the values."""
    total, touched = held[_TOTAL], held[_TOUCHED]
    for a in range(len(used)):
        first, count = offsets[a], 0
        width = offsets[a + 1] - first
        if width <= SPARSE * (high - low):
            for at in range(low, high):
                total[first + places[at, d + a]] += rows[at]
            for value in range(width):
                if total[first + value] > 0:
                    touched[first + count] = value
                    count += 1
        else:
            for at in range(low, high):
                code: Any = np.int64(places[at, d + a])
                if total[first + code] == 0:
                    touched[first + count] = code
                    count += 1
                total[first + code] += rows[at]
            touched[first : first + count].sort()
        used[a] = count


@kernel
def _clear(sums: Array, offsets: Array, touched: Array, used: Array) -> None:
    for a in range(len(used)):
        first = offsets[a]
        for at in range(first, first + used[a]):
            sums[first + touched[at]] = 0


@kernel
def _line_up(
    places: Array, low: int, high: int, j: Any, least: int, most: int, line: Array, keys: Array,
    tally: Array,
) -> None:  # fmt: skip
    """Points of a part in the order of their places, and these."""
    width, size = most - least + 1, high - low
    if size <= _SMALL:
        for at in range(size):
            value, free = np.int64(places[low + at, j]) * _SMALL + at, at
            while free > 0 and keys[free - 1] > value:
                keys[free] = keys[free - 1]
                free -= 1
            keys[free] = value
        for at in range(size):
            line[at] = low + keys[at] % _SMALL
            keys[at] //= _SMALL
        return
    if width > SPARSE * size:
        line[:size] = np.argsort(places[low:high, j]) + low
    else:
        tally[: width + 1] = 0
        for at in range(low, high):
            tally[places[at, j] - least + 1] += 1
        for at in range(width):
            tally[at + 1] += tally[at]
        for at in range(low, high):
            free = places[at, j] - least
            line[tally[free]] = at
            tally[free] += 1
    for at in range(size):
        keys[at] = places[line[at], j]


@kernel
def _ranked(
    line: Array, keys: Array, size: int, rows: Array, j: Any, all_rows: int, k: int, sizes: Array,
    heights: Array, bounds: Array, nodes: Array, along: bool, joins: Array, evens: Array,
) -> int:  # fmt: skip
    """How good the cut after each point of a line is for k alone, −1 where there is none: how high
    it is in its hierarchy, and how even. The place of the best, as :func:`.mondrian.cut_at` has it.
    """
    best, join, even, before = -1, -1, -1, 0
    for at in range(size - 1):
        before += rows[line[at]]
        joins[at], evens[at] = -1, min(before, all_rows - before)
        if keys[at] == keys[at + 1] or evens[at] < k:
            continue
        joins[at] = 0
        if along and heights[j] > 1:
            joins[at] = joined(nodes, bounds[j], sizes[j], keys[at], keys[at + 1])
        if joins[at] > join or (joins[at] == join and evens[at] > even):
            best, join, even = keys[at], joins[at], evens[at]
    return best


@kernel
def _best_place(
    places: Array, rows: Array, low: int, high: int, j: Any, all_rows: int, k: int, sizes: Array,
    heights: Array, bounds: Array, nodes: Array, along: bool, asked: Any, people: Any, room: Any,
    known: Array,
) -> tuple[int, bool]:  # fmt: skip
    """The last place on the left of the best cut at an attribute, −1 without one, and whether only
    rounding lets it pass.

    The best one for k alone is tried first; where it does not pass, all that may be.
    """
    least, most, size, d = room.least[j], room.most[j], high - low, len(sizes)
    offsets, held, used, line, keys = asked.offsets, room.held, room.used, room.line, room.keys
    joins, evens = room.joins, room.evens
    table, shares, logs = asked.table, asked.shares, asked.logs
    left, touched, before = held[_LEFT], held[_TOUCHED], 0
    if size <= _SMALL:
        _line_up(places, low, high, j, least, most, line, keys, room.tally)
        top = _ranked(
            line, keys, size, rows, j, all_rows, k, sizes, heights, bounds, nodes, along, joins,
            evens,
        )  # fmt: skip
    else:
        top, _ = cut_at(
            places, rows, low, high, j, all_rows, k, least, most, room.tally, sizes, heights,
            bounds, nodes, True, along,
        )  # fmt: skip
    if top < 0:
        return -1, False
    for at in range(low, high):
        if places[at, j] <= top:
            before += rows[at]
            for a in range(len(used)):
                left[offsets[a] + places[at, d + a]] += rows[at]
    passed = _both_pass(table, shares, logs, offsets, held, used, before, all_rows - before)
    if passed != _FAILED and (passed != _PASSED or people.least > 0):
        passed = _decided(places, low, high, j, top, passed, asked, people, room, known)
    _clear(left, offsets, touched, used)
    if passed != _FAILED:
        return top, passed == _NEAR
    if size > _SMALL:
        _line_up(places, low, high, j, least, most, line, keys, room.tally)
        _ranked(
            line, keys, size, rows, j, all_rows, k, sizes, heights, bounds, nodes, along, joins,
            evens,
        )  # fmt: skip
    best, join, even, before, doubtful = -1, -1, _NO_ROWS, 0, False
    for at in range(size - 1):
        point = line[at]
        before += rows[point]
        for a in range(len(used)):
            left[offsets[a] + places[point, d + a]] += rows[point]
        if joins[at] < join or (joins[at] == join and evens[at] <= even) or keys[at] == top:
            continue
        passed = _both_pass(table, shares, logs, offsets, held, used, before, all_rows - before)
        if passed != _FAILED and (passed != _PASSED or people.least > 0):
            passed = _decided(places, low, high, j, keys[at], passed, asked, people, room, known)
        if passed != _FAILED:
            best, join, even, doubtful = keys[at], joins[at], evens[at], passed == _NEAR
    _clear(left, offsets, touched, used)
    return best, doubtful


@kernel
def _decided(
    places: Array, low: int, high: int, j: Any, place: int, passed: int, asked: Any, people: Any,
    room: Any, known: Array,
) -> int:  # fmt: skip
    """Whether both sides of a cut meet what is asked, or nearly do, with what is known exactly.

    ``passed`` is what was found quickly.
    """
    if passed == _UNMEASURED:
        passed = _measured(asked, room)
    if passed == _NEAR:
        for one in range(len(known)):
            if known[one, 1] == j and known[one, 2] == place:
                passed = _PASSED if known[one, 3] == 1 else _FAILED
    if passed == _FAILED or people.least == 0:
        return passed
    return passed if both_match(places, low, high, j, place, people) else _FAILED


@kernel
def _both_pass(
    table: Array, shares: Array, logs: Array, offsets: Array, held: Array, used: Array, left: int,
    right: int,
) -> int:  # fmt: skip
    """Whether both sides meet what is required, the smaller one first; or that it takes measures
    that are not quick.
    """
    found, turned = _PASSED, left > right
    for r in range(len(table)):
        column, kind = int(table[r, _COLUMN]), int(table[r, _KIND])
        first, last = offsets[column], offsets[column + 1]
        on_left, total = held[_LEFT, first:last], held[_TOTAL, first:last]
        touched = held[_TOUCHED, first : first + used[column]]
        for turn in range(2):
            side = int((turn == 1) != turned)
            rows = right if side == 1 else left
            if kind == class_kernels.EQUAL:
                limit = table[r, _LIMIT]
                passed = _apart(limit, shares[r], touched, on_left, total, side, rows)
            elif kind == class_kernels.GAIN or kind == class_kernels.SHARE:
                passed = _below(table[r], shares[r], touched, on_left, total, side, rows)
            else:
                size = _one_side(held, first, used[column], side)
                passed = _alone(table[r], logs, held[_COUNTS, :size], rows)
            if passed == _FAILED:
                return _FAILED
            if passed == _UNMEASURED or (passed == _NEAR and found == _PASSED):
                found = passed
    return found


@kernel
def _one_side(held: Array, first: int, used: int, side: int) -> int:
    """Copy the values of one side and the rows of each; how many there are."""
    size = 0
    for at in range(first, first + used):
        value = held[_TOUCHED, at]
        amount = held[_LEFT, first + value]
        if side == 1:
            amount = held[_TOTAL, first + value] - amount
        if amount > 0:
            held[_CODES, size], held[_COUNTS, size] = value, amount
            size += 1
    return size


@kernel
def _apart(
    limit: float, share: Array, touched: Array, left: Array, total: Array, side: int, rows: int
) -> int:  # fmt: skip
    """Whether Σ max(n_v/n − share, 0) is at most a limit, on one side."""
    apart, beyond = 0.0, (limit + class_kernels.CLOSE * max(1.0, limit)) * rows
    for each in touched:
        value = np.uint64(each)
        amount = left[value]
        if side == 1:
            amount = total[value] - amount
        over = amount - rows * share[value]
        if over > 0.0:
            apart += over
            if apart > beyond:
                return _FAILED
    return _compared(apart / rows, limit)


@kernel
def _below(
    asked: Array, most: Array, touched: Array, left: Array, total: Array, side: int, rows: int
) -> int:  # fmt: skip
    """Whether no n_v/n is more than ``most`` of the value, on one side."""
    worst, largest, beyond = -float(rows), 0, class_kernels.CLOSE * rows
    for each in touched:
        value = np.uint64(each)
        amount = left[value]
        if side == 1:
            amount = total[value] - amount
        over = amount - rows * most[value]
        if over > beyond:
            return _FAILED
        worst, largest = max(worst, over), max(largest, amount)
    passed = _compared(worst / rows, 0.0)
    above, below = int(asked[ABOVE]), int(asked[BELOW])
    if passed == _NEAR and asked[_KIND] == class_kernels.SHARE and below > 0 and rows < MOST_EXACT:
        return _PASSED if largest * below <= above * rows else _FAILED
    return passed


@kernel
def _alone(asked: Array, logs: Array, counts: Array, rows: int) -> int:
    """Whether a class of so many rows meets what it must by itself; see :class:`Asked`."""
    kind, limit = int(asked[_KIND]), asked[_LIMIT]
    above, below = int(asked[ABOVE]), int(asked[BELOW])
    if kind == class_kernels.DISTINCT:
        return _PASSED if -len(counts) <= limit else _FAILED
    if kind == class_kernels.ENTROPY:
        return _diverse(limit, above, below, logs, counts, rows)
    if kind == class_kernels.RECURSIVE:
        return _recursive(limit, int(asked[_BOUND]), above, below, counts, rows)
    return _UNMEASURED


@kernel
def _compared(value: float, limit: float) -> int:
    if abs(value - limit) <= class_kernels.CLOSE * max(1.0, abs(limit)):
        return _NEAR
    return _PASSED if value < limit else _FAILED


@kernel
def _diverse(
    limit: float, above: int, below: int, logs: Array, counts: Array, rows: int
) -> int:  # fmt: skip
    """Whether the entropy is large enough; exactly where all values are equally frequent."""
    total, alike = 0.0, True
    for count in counts:
        total += logs[count] if count < LOGS else count * np.log(count)
        alike &= count == counts[0]
    passed = _compared(total / rows - np.log(rows), limit)
    if passed == _NEAR and alike and below > 0:
        return _PASSED if len(counts) * below >= above else _FAILED
    return passed


@kernel
def _recursive(
    limit: float, bound: int, above: int, below: int, counts: Array, rows: int
) -> int:  # fmt: skip
    """Whether r_1 < c·(r_l + …), from the sum of all but the l − 1 largest."""
    size = len(counts)
    if size < bound:
        return _FAILED
    ordered = np.sort(counts)
    most, tail = ordered[size - 1], 0
    for at in range(size - bound + 1):
        tail += ordered[at]
    if below > 0 and rows < MOST_EXACT:
        return _PASSED if most * below < above * tail else _FAILED
    return _compared(most / tail, limit)


@kernel
def _measured(asked: Any, room: Any) -> int:
    """As :func:`_both_pass`, by the measures of classes."""
    found, held, out = _PASSED, room.held, room.measure
    for r in range(len(asked.table)):
        column, kind = int(asked.table[r, _COLUMN]), int(asked.table[r, _KIND])
        first, limit = asked.offsets[column], asked.table[r, _LIMIT]
        length, width, levels = asked.lengths[r], asked.offsets[column + 1] - first, asked.levels[r]
        for side in range(2):
            size = _one_side(held, first, room.used[column], side)
            room.starts[1] = size
            class_kernels.measure(
                kind, int(asked.table[r, _BOUND]), room.starts, held[_CODES, :size],
                held[_COUNTS, :size], room.wanted, asked.whole[r, :width], asked.places[r],
                asked.below[r, :length], asked.sums[r, : length + 1], asked.nodes[r, :levels],
                asked.sizes[r, :levels], asked.caps[r], out,
            )  # fmt: skip
            near = abs(out[0] - limit) <= class_kernels.CLOSE * max(1.0, abs(limit))
            if near and kind != class_kernels.DISTINCT:
                found = _NEAR
            elif out[0] > limit:
                return _FAILED
    return found
