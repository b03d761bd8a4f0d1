"""Compiled loops that look for smaller covering designs.

``blocks`` holds a block per row, ``member[point, block]`` whether the point is in it. Sets of
``strength`` points have a place in flat arrays: ``counts`` says how many blocks cover the set.
Sets that no block covers are listed in ``missing``, and ``where`` says where. All draws come from
a generator with a fixed start, so that the same input gives the same design.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpdesk.core.compiled import kernel

Array = Any
"""A numpy array; inside compiled code element types come from the caller."""

CANCELLED = -1

_POLL = 0x3FF
_HOPE = 0x7FFF
_HOPELESS = 8
"""Kinds of pairs that are apart after 32,768 exchanges, beyond which a search hardly ever ends."""


@kernel
def place(first: int, second: int, third: int, points: int) -> int:
    """Where a set of two points (``third`` negative) or three has its place."""
    if first > second:
        first, second = second, first
    if third < 0:
        return first * points + second
    if third < first:
        return (third * points + first) * points + second
    if third < second:
        return (first * points + third) * points + second
    return (first * points + second) * points + third


@kernel
def drawn(state: Array, below: int) -> int:
    """A number from 0 to ``below`` - 1, by a shift-register generator of 64 bits."""
    number = state[0]
    number ^= number << np.uint64(13)
    number ^= number >> np.uint64(7)
    number ^= number << np.uint64(17)
    state[0] = number
    return int(np.int64((number >> np.uint64(11)) % np.uint64(below)))


@kernel
def count_sets(blocks: Array, counts: Array, points: int, strength: int) -> None:
    """Add every set that a block covers to ``counts``."""
    for block in range(len(blocks)):
        add_block(blocks[block], counts, points, strength, 1)


@kernel
def add_block(block: Array, counts: Array, points: int, strength: int, amount: int) -> None:
    """Add ``amount`` to the count of every set of one block."""
    size = len(block)
    for i in range(size):
        for j in range(i + 1, size):
            if strength == 2:
                counts[place(block[i], block[j], -1, points)] += amount
            else:
                for k in range(j + 1, size):
                    counts[place(block[i], block[j], block[k], points)] += amount


@kernel
def alone(block: Array, counts: Array, points: int, strength: int) -> int:
    """How many sets of the block no other block covers."""
    size, found = len(block), 0
    for i in range(size):
        for j in range(i + 1, size):
            if strength == 2:
                found += counts[place(block[i], block[j], -1, points)] == 1
            else:
                for k in range(j + 1, size):
                    found += counts[place(block[i], block[j], block[k], points)] == 1
    return found


@kernel
def thinned(blocks: Array, counts: Array, points: int, strength: int, keep: Array) -> None:
    """Unmark blocks, from the last to the first, all of whose sets other blocks cover."""
    for block in range(len(blocks) - 1, -1, -1):
        if alone(blocks[block], counts, points, strength) == 0:
            keep[block] = 0
            add_block(blocks[block], counts, points, strength, -1)


@kernel
def greedy(
    points: int, size: int, strength: int, counts: Array, blocks: Array, state: Array, stop: Array
) -> int:
    """Blocks that cover what is missing, each grown point by point; their number."""
    chosen = np.zeros(size, np.int64)
    gains = np.zeros(points, np.int64)
    inside = np.zeros(points, np.uint8)
    made, start = 0, 0
    while True:
        if stop[0] != 0:
            return CANCELLED
        while start < len(counts) and counts[start] != 0:
            start += 1
        if start == len(counts):
            return made
        inside[:] = 0
        gains[:] = 0
        rest = start
        for slot in range(strength):
            point = rest % points
            rest //= points
            _join(point, slot, chosen, gains, inside, counts, points, strength)
        for slot in range(strength, size):
            best, ties, pick = -1, 0, -1
            for point in range(points):
                if inside[point]:
                    continue
                if gains[point] > best:
                    best, ties, pick = gains[point], 1, point
                elif gains[point] == best:
                    ties += 1
                    if drawn(state, ties) == 0:
                        pick = point
            _join(pick, slot, chosen, gains, inside, counts, points, strength)
        blocks[made] = chosen
        add_block(blocks[made], counts, points, strength, 1)
        made += 1


@kernel
def _join(
    point: int,
    slot: int,
    chosen: Array,
    gains: Array,
    inside: Array,
    counts: Array,
    points: int,
    strength: int,
) -> None:
    """Put a point into a block that grows, and count what each other point would cover."""
    for other in range(points):
        if inside[other] or other == point:
            continue
        if strength == 2:
            gains[other] += counts[place(point, other, -1, points)] == 0
        else:
            for earlier in range(slot):
                gains[other] += counts[place(point, chosen[earlier], other, points)] == 0
    chosen[slot] = point
    inside[point] = 1


@kernel
def _around(
    block: Array, slot: int, point: int, counts: Array, points: int, strength: int, level: int
) -> int:
    """How many sets of ``point`` and the block's other points are counted ``level`` times."""
    size, found = len(block), 0
    for i in range(size):
        if i == slot:
            continue
        if strength == 2:
            found += counts[place(block[i], point, -1, points)] == level
        else:
            for j in range(i + 1, size):
                if j != slot:
                    found += counts[place(block[i], block[j], point, points)] == level
    return found


@kernel
def _shift(
    block: Array,
    slot: int,
    point: int,
    amount: int,
    counts: Array,
    points: int,
    strength: int,
    missing: Array,
    where: Array,
    open_sets: int,
) -> int:
    """Count the sets of ``point`` in the block by ``amount`` more; how many are missing now."""
    size = len(block)
    for i in range(size):
        if i == slot:
            continue
        inner = i + 1 if strength == 3 else size - 1
        for j in range(inner, size):
            if strength == 3 and j == slot:
                continue
            third = block[j] if strength == 3 else -1
            spot = place(block[i], point, third, points)
            counts[spot] += amount
            if amount > 0 and counts[spot] == 1:
                open_sets -= 1
                last = missing[open_sets]
                missing[where[spot]] = last
                where[last] = where[spot]
            elif amount < 0 and counts[spot] == 0:
                missing[open_sets] = spot
                where[spot] = open_sets
                open_sets += 1
    return open_sets


@kernel
def repair(
    blocks: Array,
    member: Array,
    counts: Array,
    missing: Array,
    where: Array,
    open_sets: int,
    points: int,
    strength: int,
    moves: int,
    heat: float,
    state: Array,
    stop: Array,
) -> tuple[int, int]:
    """Exchange points of blocks until every set is covered; how many are missing, and the moves.

    A move takes a set that is missing and a block that has all of its points but one, and puts that
    one in place of another. It is done when no more sets are missing afterwards, and otherwise
    with a probability that falls with what it costs.
    """
    size, many = blocks.shape[1], len(blocks)
    trio = np.zeros(3, np.int64)
    for move in range(moves):
        if open_sets == 0:
            return 0, move
        if move & _POLL == 0 and stop[0] != 0:
            return CANCELLED, move
        rest = missing[drawn(state, open_sets)]
        for i in range(strength):
            trio[i] = rest % points
            rest //= points
        turn = drawn(state, strength)
        new, near = trio[turn], trio[(turn + 1) % strength]
        far = trio[(turn + 2) % strength] if strength == 3 else near
        start, block = drawn(state, many), -1
        for step in range(many):
            at = start + step if start + step < many else start + step - many
            if member[near, at] and member[far, at]:
                block = at
                break
        if block < 0:
            block = start
        slot = drawn(state, size)
        while blocks[block, slot] == near or blocks[block, slot] == far:
            slot = slot + 1 if slot + 1 < size else 0
        old = blocks[block, slot]
        if member[new, block]:
            continue
        cost = _around(blocks[block], slot, old, counts, points, strength, 1) - _around(
            blocks[block], slot, new, counts, points, strength, 0
        )
        if cost > 0 and drawn(state, 1 << 30) >= math.exp(-cost / heat) * (1 << 30):
            continue
        open_sets = _shift(
            blocks[block], slot, old, -1, counts, points, strength, missing, where, open_sets
        )
        blocks[block, slot] = new
        open_sets = _shift(
            blocks[block], slot, new, 1, counts, points, strength, missing, where, open_sets
        )
        member[old, block] = 0
        member[new, block] = 1
    return open_sets, moves


@kernel
def deal(slots: Array, times: Array, size: int, state: Array) -> None:
    """Deal all points to the parts of each parting, and drawn ones to the places that are left.

    ``slots`` holds the point in each place, partings by places, ``size`` of them a part;
    ``times[parting, point]`` says how many places a point has.
    """
    points, places = times.shape[1], slots.shape[1]
    parts = places // size
    for parting in range(len(slots)):
        order = np.arange(points)
        for last in range(points - 1, 0, -1):
            other = drawn(state, last + 1)
            order[last], order[other] = order[other], order[last]
        for turn in range(places):
            point = order[turn] if turn < points else drawn(state, points)
            slots[parting, turn % parts * size + turn // parts] = point
            times[parting, point] += 1


@kernel
def meet(slots: Array, kind: Array, counts: Array, size: int) -> int:
    """Count the pairs that are together, by kind of pair; how many kinds are not."""
    for parting in range(len(slots)):
        for place in range(slots.shape[1]):
            for other in range(place + 1, place - place % size + size):
                one, two = slots[parting, place], slots[parting, other]
                if one != two:
                    counts[kind[one, two]] += 1
    apart = 0
    for count in counts:
        apart += count == 0
    return apart


@kernel
def _replace(
    slots: Array, parting: int, spot: int, point: int, size: int, kind: Array, counts: Array
) -> int:
    """Put a point into a place; how many more kinds of pairs are apart now."""
    apart, old = 0, slots[parting, spot]
    start = spot - spot % size
    for other in range(start, start + size):
        near = slots[parting, other]
        if other != spot and near != old:
            counts[kind[old, near]] -= 1
            apart += counts[kind[old, near]] == 0
    slots[parting, spot] = point
    for other in range(start, start + size):
        near = slots[parting, other]
        if other != spot and near != point:
            apart -= counts[kind[point, near]] == 0
            counts[kind[point, near]] += 1
    return apart


@kernel
def _found(slots: Array, parting: int, point: int, start: int) -> int:
    """The first place from ``start`` on, and round again, that holds the point."""
    places = slots.shape[1]
    while slots[parting, start] != point:
        start = start + 1 if start + 1 < places else 0
    return start


@kernel
def unite(
    slots: Array,
    times: Array,
    kind: Array,
    counts: Array,
    first: Array,
    second: Array,
    size: int,
    apart: int,
    moves: int,
    heat: float,
    state: Array,
    stop: Array,
) -> int:
    """Exchange points until pairs of every kind are together; how many kinds are still apart.

    A move takes a pair that is apart and puts one point next to the other, in place of a third,
    which goes to where that point was unless it has a further place. It is done when no more kinds
    are apart afterwards, and otherwise with a probability that falls with what it costs.
    """
    many, places = slots.shape
    for move in range(moves):
        if apart == 0:
            return 0
        if move & _POLL == 0 and stop[0] != 0:
            return CANCELLED
        if move & _HOPE == _HOPE and apart > _HOPELESS:
            return apart
        pair = drawn(state, len(first))
        while counts[kind[first[pair], second[pair]]] > 0:
            pair = pair + 1 if pair + 1 < len(first) else 0
        stays, comes = first[pair], second[pair]
        if drawn(state, 2) == 1:
            stays, comes = comes, stays
        parting = drawn(state, many)
        at = _found(slots, parting, stays, drawn(state, places))
        spot = at - at % size + drawn(state, size)
        goes = slots[parting, spot]
        if goes in (stays, comes):
            continue
        spare = times[parting, goes] > 1
        cost = _replace(slots, parting, spot, comes, size, kind, counts)
        back = -1
        if not spare:
            back = _found(slots, parting, comes, (spot + 1) % places)
            cost += _replace(slots, parting, back, goes, size, kind, counts)
        if cost > 0 and drawn(state, 1 << 30) >= math.exp(-cost / heat) * (1 << 30):
            if not spare:
                _replace(slots, parting, back, comes, size, kind, counts)
            _replace(slots, parting, spot, goes, size, kind, counts)
            continue
        apart += cost
        if spare:
            times[parting, goes] -= 1
            times[parting, comes] += 1
    return apart
