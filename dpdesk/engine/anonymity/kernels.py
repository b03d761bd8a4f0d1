"""Compiled loops over group tables.

A group table is an int64 array of shape (groups, words + 3), sorted by key: the packed key of the
group in ``words`` columns, then its rows, and for each of its rows the loss cost and the logarithm
cost, both summed over the attributes (see :class:`~dpdesk.engine.anonymity.packing.PackedLattice`).

A roll-up raises one attribute by replacing its bits in the keys and merging groups that became
equal. Codes are numbered so that siblings are neighbours at every level. So raising keeps the order
of everything up to the raised attribute, and what follows it is a few sorted lists to be merged:
memory is only ever read and written in sequence, and no hash table is needed.

Loops poll ``stop[0]``, so they end soon after a cancel.
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
FINISHED = 1

_POLL = 0xFFFF


@kernel
def roll_up(
    source: Array, first: int, size: int, target: Array, begin: int, step: Array, maps: Array,
    scratch: Array, cuts: Array, stop: Array,
) -> int:  # fmt: skip
    """Raise one attribute of ``size`` groups from row ``first`` of ``source``.

    Writes the merged groups, sorted, from row ``begin`` of ``target`` and returns how many there
    are, or −1 when stopped. ``step`` holds (word, shift, mask, offset); row ``offset + code`` of
    ``maps`` holds the new code and the changes of the loss and logarithm cost. ``scratch`` is a
    table and ``cuts`` an array of at least ``size`` rows that are overwritten.
    """
    word, shift, mask, offset = step[0], step[1], step[2], step[3]
    words = source.shape[1] - 3
    out = start = begin
    lists, region, part = 0, -1, -1
    if stop[0] != 0:
        return -1
    for row in range(first, first + size):
        if row & _POLL == 0 and stop[0] != 0:
            return -1
        key = source[row, word]
        at = offset + ((key >> shift) & mask)
        raised = key ^ ((at - offset ^ maps[at, 0]) << shift)
        if raised >> shift != region or not _same_before(source, row, first, word):
            if lists > 1:
                merging = out - start
                out = start + _merge_lists(target, start, merging, scratch, cuts, lists, word, stop)
            start, lists, region, part = out, 0, raised >> shift, -1
        elif shift == 0 and word == words - 1:
            # Nothing follows this attribute: the whole region is one group.
            target[out - 1, words] += source[row, words]
            continue
        if key >> shift != part:
            part = key >> shift
            cuts[lists] = out - start
            lists += 1
        _copy(source, row, target, out)
        target[out, word] = raised
        target[out, words + 1] += maps[at, 1]
        target[out, words + 2] += maps[at, 2]
        out += 1
    if lists > 1:
        out = start + _merge_lists(target, start, out - start, scratch, cuts, lists, word, stop)
    return out - begin if stop[0] == 0 else -1


@kernel
def _same_before(table: Array, row: int, first: int, word: int) -> bool:
    """Whether a row agrees with the one before it in all words before ``word``."""
    if row == first:
        return False
    for before in range(word):  # noqa: SIM110 - kernels compile no generators
        if table[row, before] != table[row - 1, before]:
            return False
    return True


@kernel
def _merge_lists(
    table: Array, start: int, size: int, scratch: Array, cuts: Array, lists: int, word: int,
    stop: Array,
) -> int:  # fmt: skip
    """Merge ``lists`` sorted lists that begin at ``start + cuts[i]`` pairwise; the new size.

    When stopped, the table is left in disorder.
    """
    read, read_at, write, write_at = table, start, scratch, 0
    in_scratch = False
    while lists > 1:
        merged, out, place = 0, 0, 0
        while place < lists:
            if stop[0] != 0:
                return size
            first = cuts[place]
            second = cuts[place + 1] if place + 1 < lists else size
            end = cuts[place + 2] if place + 2 < lists else size
            cuts[merged] = out
            out = _merge(read, read_at, first, second, end, write, write_at, out, word)
            merged += 1
            place += 2
        lists, size = merged, out
        in_scratch = not in_scratch
        read, write = write, read
        read_at, write_at = write_at, read_at
    if in_scratch:
        for row in range(size):
            _copy(read, read_at + row, table, start + row)
    return size


@kernel
def _merge(
    read: Array, read_at: int, first: int, second: int, end: int, write: Array, write_at: int,
    out: int, word: int,
) -> int:  # fmt: skip
    """Merge rows [first, second) and [second, end), adding up rows of equal keys."""
    words = read.shape[1] - 3
    left, right = first, second
    while left < second and right < end:
        order = _compare(read, read_at + left, read_at + right, word, words)
        if order <= 0:
            _copy(read, read_at + left, write, write_at + out)
            left += 1
            if order == 0:
                write[write_at + out, words] += read[read_at + right, words]
                right += 1
        else:
            _copy(read, read_at + right, write, write_at + out)
            right += 1
        out += 1
    if left == second:
        left, second = right, end
    for row in range(left, second):
        _copy(read, read_at + row, write, write_at + out)
        out += 1
    return out


@kernel
def _compare(table: Array, left: int, right: int, word: int, words: int) -> int:
    for place in range(word, words):
        if table[left, place] < table[right, place]:
            return -1
        if table[left, place] > table[right, place]:
            return 1
    return 0


@kernel
def _copy(source: Array, row: int, target: Array, place: int) -> None:
    for column in range(source.shape[1]):
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
    steps: Array, maps: Array, scratch: Array, cuts: Array, bins: Array, ks: Array, sums: Array,
    answers: Array, stop: Array,
) -> int:  # fmt: skip
    """Visit all nodes below the root that lies in ``arena``, depth first; resumable.

    Children of a node raise, by one level, the attribute that was raised last or a later one, so
    each node has one parent. Row d of ``path`` holds (first row in the arena, groups, attribute
    raised last, attribute to raise next) at depth d; the root's are set by the caller, as is
    ``state[DEPTH]`` = 0. Returns DONE, CANCELLED, or FULL when the arena must grow first.
    ``state[FINISHED]`` counts the nodes visited.
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
        groups = roll_up(
            arena, first, size, arena, begin, steps[position, level], maps, scratch, cuts, stop
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
