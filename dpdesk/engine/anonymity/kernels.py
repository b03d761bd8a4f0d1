"""Compiled loops over group tables.

A group table is an int64 array of shape (groups, words + 3): the packed key of the group in
``words`` columns, then its rows, and for each of its rows the loss cost and the logarithm cost,
both summed over the attributes (see :class:`~dpdesk.engine.anonymity.packing.PackedLattice`). A
roll-up raises one attribute by replacing its bits in the keys and merging groups that became equal.

The hash table ``slots`` is never cleared: an entry is ``stamp << 32 | group`` and counts only while
its stamp is that of the running roll-up. Loops poll ``stop[0]``, so they end soon after a cancel.
"""

from __future__ import annotations

from typing import Any

from dpdesk.core.compiled import kernel

Array = Any
"""A numpy array; inside compiled code element types come from the caller."""

DONE = 0
CANCELLED = 1
FULL = 2

# Positions in the state of a resumable walk.
DEPTH = 0
STAMP = 1
FINISHED = 2

_POLL = 0xFFFF


@kernel
def roll_up(
    source: Array, first: int, size: int, target: Array, begin: int, step: Array, maps: Array,
    slots: Array, stamp: int, stop: Array,
) -> int:  # fmt: skip
    """Raise one attribute of ``size`` groups from row ``first`` of ``source``.

    Writes the merged groups from row ``begin`` of ``target`` and returns how many there are, or −1
    when stopped. ``step`` holds (word, shift, mask, offset); row ``offset + code`` of ``maps``
    holds the new code and the changes of the loss and logarithm cost.
    """
    word, shift, mask, offset = step[0], step[1], step[2], step[3]
    words = source.shape[1] - 3
    slot_mask = 15
    while slot_mask < 2 * size:
        slot_mask = 2 * slot_mask + 1
    mark = stamp << 32
    groups = 0
    if stop[0] != 0:
        return -1
    for row in range(first, first + size):
        if row & _POLL == 0 and stop[0] != 0:
            return -1
        key = source[row, word]
        code = (key >> shift) & mask
        raised = key ^ ((code ^ maps[offset + code, 0]) << shift)
        slot = _hash(source, row, word, raised, words) & slot_mask
        while True:
            entry = slots[slot]
            if entry & -4294967296 != mark:
                slots[slot] = mark | groups
                _start(source, row, target, begin + groups, words)
                target[begin + groups, word] = raised
                target[begin + groups, words + 1] += maps[offset + code, 1]
                target[begin + groups, words + 2] += maps[offset + code, 2]
                groups += 1
                break
            found = begin + (entry & 4294967295)
            if _same(source, row, target, found, word, raised, words):
                target[found, words] += source[row, words]
                break
            slot = (slot + 1) & slot_mask
    return groups


@kernel
def _hash(source: Array, row: int, word: int, raised: int, words: int) -> int:
    mixed = raised * -7046029254386353131
    for other in range(words):
        if other != word:
            mixed = (mixed ^ (mixed >> 29) ^ source[row, other]) * -4417276706812531889
    return mixed ^ (mixed >> 32)


@kernel
def _same(
    source: Array, row: int, target: Array, found: int, word: int, raised: int, words: int
) -> bool:
    if target[found, word] != raised:
        return False
    for other in range(words):
        if other != word and target[found, other] != source[row, other]:
            return False
    return True


@kernel
def _start(source: Array, row: int, target: Array, place: int, words: int) -> None:
    for column in range(words + 3):
        target[place, column] = source[row, column]


@kernel
def tally(
    table: Array, first: int, size: int, bins: Array, ks: Array, sums: Array, answer: Array
) -> None:
    """For each k: rows suppressed, classes kept, and Σ size², Σ size·loss, Σ size·log over them.

    ``bins[s]`` is the number of ks ≤ s for sizes below its length; ``ks`` ascends. ``sums`` is a
    scratch array of shape (len(ks) + 1, 5), ``answer`` the result, shape (len(ks), 5).
    """
    words = table.shape[1] - 3
    sums[:, :] = 0
    for row in range(first, first + size):
        rows = table[row, words]
        place = bins[rows] if rows < len(bins) else _bin(ks, rows)
        sums[place, 0] += rows
        sums[place, 1] += 1
        sums[place, 2] += rows * rows
        sums[place, 3] += rows * table[row, words + 1]
        sums[place, 4] += rows * table[row, words + 2]
    small = 0
    for place in range(len(ks)):
        small += sums[place, 0]
        answer[place, 0] = small
    for field in range(1, 5):
        large = 0
        for place in range(len(ks) - 1, -1, -1):
            large += sums[place + 1, field]
            answer[place, field] = large


@kernel
def _bin(ks: Array, rows: int) -> int:
    low, high = 0, len(ks)
    while low < high:
        middle = (low + high) // 2
        if ks[middle] <= rows:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def walk_subtree(
    arena: Array, state: Array, path: Array, levels: Array, heights: Array, strides: Array,
    steps: Array, maps: Array, slots: Array, bins: Array, ks: Array, sums: Array, answers: Array,
    stop: Array,
) -> int:  # fmt: skip
    """Visit all nodes below the root that lies in ``arena``, depth first; resumable.

    Children of a node raise, by one level, the attribute that was raised last or a later one, so
    each node has one parent. Row d of ``path`` holds (first row in the arena, groups, attribute
    raised last, attribute to raise next) at depth d; the root's are set by the caller, as are
    ``state[DEPTH]`` = 0 and ``state[STAMP]``, the last used stamp. Returns DONE, CANCELLED, or FULL
    when the arena must grow first. ``state[FINISHED]`` counts the nodes visited.
    """
    depth = state[DEPTH]
    while depth >= 0:
        position = path[depth, 3]
        if position >= len(heights):
            if depth > 0:
                levels[path[depth, 2]] -= 1
            depth -= 1
            continue
        level = levels[position]
        if level == heights[position]:
            path[depth, 3] += 1
            continue
        state[DEPTH] = depth
        first, size = path[depth, 0], path[depth, 1]
        begin = first + size
        if begin + size > len(arena):
            return FULL
        state[STAMP] += 1
        groups = roll_up(
            arena,
            first,
            size,
            arena,
            begin,
            steps[position, level],
            maps,
            slots,
            state[STAMP],
            stop,
        )
        if groups < 0:
            return CANCELLED
        path[depth, 3] += 1
        levels[position] += 1
        depth += 1
        path[depth, 0], path[depth, 1] = begin, groups
        path[depth, 2], path[depth, 3] = position, position
        tally(arena, begin, groups, bins, ks, sums, answers[_node(levels, strides)])
        state[FINISHED] += 1
    return DONE


@kernel
def _node(levels: Array, strides: Array) -> int:
    number = 0
    for position in range(len(levels)):
        number += levels[position] * strides[position]
    return number
