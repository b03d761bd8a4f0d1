"""Compiled loops over group tables.

A group table keeps one attribute, the inner one, apart from the rest. Row r of ``rests`` (int64,
shape (rests, words + 3)) is one combination of the values of all other attributes: its packed key
in ``words`` columns, the loss cost and the logarithm cost of its values for each row, and where its
entries end. Its entries follow those of the row before: for each value of the inner attribute that
occurs with it, in ascending order of codes, one int64 ``code << 32 | rows``. So a group takes 8
bytes, and what its combination of other values costs is kept once.

Raising another attribute replaces its bits in the keys; rests whose keys became equal are found by
a small hash table and their entries added up, value by value. Codes of the inner attribute are
numbered so that siblings are neighbours at every level: raising it adds up neighbours, and one pass
over the entries counts the groups of all its levels. So a walk makes tables for one level of the
inner attribute alone. Sums are integers, so no order of work changes them.

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

_POLL = 0xFFF
_ROWS = 0xFFFFFFFF
_SPREAD = -7046029254386353131  # 2**64 divided by the golden ratio, as a signed word
_LOWEST_BIT = 0x077CB531  # a de Bruijn sequence: its product with a bit names the bit


@kernel
def raise_rests(
    rests: Array, first: int, size: int, entries: Array, at: int, to_rests: Array, to_first: int,
    to_entries: Array, to_at: int, step: Array, maps: Array, slots: Array, links: Array,
    dense: Array, marks: Array, bits: Array, stop: Array,
) -> int:  # fmt: skip
    """Raise one of the other attributes of ``size`` rests; how many there are then, −1 if stopped.

    The rests begin at row ``first`` and their entries at ``at``; results go to ``to_rests`` from
    row ``to_first`` and ``to_entries`` from ``to_at``, which must have as much room as was read.
    ``step`` holds (word, shift, mask, offset); row ``offset + code`` of ``maps`` holds the new code
    and the changes of the loss and logarithm cost. Overwritten: ``slots``, of a power of two and at
    least twice ``size``, and ``links``, three columns for each rest. ``dense`` has a place for each
    inner code, ``marks`` for each 32 of these in its first row and for each 1,024 in its second;
    both are zero before and after. ``bits`` names a bit, see :func:`bit_table`.
    """
    groups = _join(
        rests, first, size, to_rests, to_first, step, maps, slots, links, rests.shape[1] - 3
    )
    end_column = rests.shape[1] - 1
    out = to_at
    for group in range(groups):
        if group & _POLL == 0 and stop[0] != 0:
            return -1
        source = links[group, 0]
        if links[source, 2] < 0:
            begin = at + (rests[first + source - 1, end_column] if source > 0 else 0)
            for place in range(begin, at + rests[first + source, end_column]):
                to_entries[out] = entries[place]
                out += 1
        else:
            out = _add_up(
                rests, first, entries, at, source, links, to_entries, out, dense, marks, bits
            )
        to_rests[to_first + group, end_column] = out - to_at
    return groups if stop[0] == 0 else -1


@kernel
def _join(
    rests: Array, first: int, size: int, to_rests: Array, to_first: int, step: Array, maps: Array,
    slots: Array, links: Array, words: int,
) -> int:  # fmt: skip
    """Raise the keys and list, for each key that is new, the rests that have it; how many keys.

    ``links`` holds the first rest of key g in row g, column 0, and the last in column 1; column 2
    of row r the rest that follows r, or −1.
    """
    word, shift, mask, offset = step[0], step[1], step[2], step[3]
    room, shifted = 8, 61
    while room < 2 * size:
        room *= 2
        shifted -= 1
    for slot in range(room):
        slots[slot] = -1
    groups = 0
    for rest in range(size):
        row = first + rest
        key = rests[row, word]
        at = offset + ((key >> shift) & mask)
        raised = key ^ ((at - offset ^ maps[at, 0]) << shift)
        hashed = raised
        for other in range(words):
            if other != word:
                hashed = hashed * _SPREAD + rests[row, other]
        hashed *= _SPREAD
        slot = (hashed >> shifted) & (room - 1)
        links[rest, 2] = -1
        while True:
            group = slots[slot]
            if group < 0:
                slots[slot] = groups
                for column in range(words):
                    to_rests[to_first + groups, column] = rests[row, column]
                to_rests[to_first + groups, word] = raised
                to_rests[to_first + groups, words] = rests[row, words] + maps[at, 1]
                to_rests[to_first + groups, words + 1] = rests[row, words + 1] + maps[at, 2]
                links[groups, 0] = rest
                links[groups, 1] = rest
                groups += 1
                break
            same = to_rests[to_first + group, word] == raised
            for other in range(words):
                if other != word and to_rests[to_first + group, other] != rests[row, other]:
                    same = False
            if same:
                links[links[group, 1], 2] = rest
                links[group, 1] = rest
                break
            slot = (slot + 1) & (room - 1)
    return groups


@kernel
def _add_up(
    rests: Array, first: int, entries: Array, at: int, source: int, links: Array,
    to_entries: Array, out: int, dense: Array, marks: Array, bits: Array,
) -> int:  # fmt: skip
    """Add up the entries of the rests that are linked from ``source`` on; the place after them."""
    end_column = rests.shape[1] - 1
    while source >= 0:
        begin = at + (rests[first + source - 1, end_column] if source > 0 else 0)
        for place in range(begin, at + rests[first + source, end_column]):
            code = entries[place] >> 32
            if dense[code] == 0:
                marks[0, code >> 5] |= 1 << (code & 31)
                marks[1, code >> 10] |= 1 << ((code >> 5) & 31)
            dense[code] += entries[place] & _ROWS
        source = links[source, 2]
    for high in range((len(dense) + 1023) >> 10):
        upper = marks[1, high]
        marks[1, high] = 0
        while upper != 0:
            middle = (high << 5) + bits[(((upper & -upper) * _LOWEST_BIT) & _ROWS) >> 27]
            upper &= upper - 1
            lower = marks[0, middle]
            marks[0, middle] = 0
            while lower != 0:
                code = (middle << 5) + bits[(((lower & -lower) * _LOWEST_BIT) & _ROWS) >> 27]
                lower &= lower - 1
                to_entries[out] = (code << 32) | dense[code]
                dense[code] = 0
                out += 1
    return out


@kernel
def raise_inner(
    rests: Array, first: int, size: int, entries: Array, at: int, to_rests: Array, to_first: int,
    to_entries: Array, to_at: int, level: int, inner: Array,
) -> None:  # fmt: skip
    """Raise the inner attribute of ``size`` rests by one level, from ``level``.

    Where from and where to: as for :func:`raise_rests`; ``inner`` as for :func:`tally_levels`.
    """
    end_column = rests.shape[1] - 1
    out, begin = to_at, at
    for rest in range(size):
        before = -1
        end = at + rests[first + rest, end_column]
        for place in range(begin, end):
            code = inner[level, entries[place] >> 32, 0]
            if code == before:
                to_entries[out - 1] += entries[place] & _ROWS
            else:
                to_entries[out] = (code << 32) | (entries[place] & _ROWS)
                before = code
                out += 1
        begin = end
        for column in range(end_column):
            to_rests[to_first + rest, column] = rests[first + rest, column]
        to_rests[to_first + rest, end_column] = out - to_at


@kernel
def tally_levels(
    rests: Array, first: int, size: int, entries: Array, at: int, low: int, high: int,
    inner: Array, line: Array, bins: Array, ks: Array, sums: Array, answers: Array, node: int,
    stride: int,
) -> None:  # fmt: skip
    """Count the groups of a table with the inner attribute at each level from low to high.

    The entries are at level ``low``. For each k the answer is: rows suppressed, classes kept, and
    Σ size², Σ size·loss, Σ size·log over them; it goes to row ``node`` of ``answers`` for the
    lowest level and ``stride`` rows further for each next one. ``inner[level]`` holds for each code
    the code one level up, and the loss and logarithm cost. ``bins[s]`` is the number of ks ≤ s for
    sizes below its length; ``ks`` ascends. ``line`` (an entry for each inner code) and ``sums``, of
    shape (levels, len(ks) + 1, 5), are overwritten.
    """
    words = rests.shape[1] - 3
    sums[: high - low + 1] = 0
    begin = at
    for row in range(first, first + size):
        loss, log = rests[row, words], rests[row, words + 1]
        end = at + rests[row, words + 2]
        left = end - begin
        for place in range(left):
            line[place] = entries[begin + place]
        begin = end
        for level in range(low, high + 1):
            out, before = 0, -1
            for place in range(left):
                code, rows = line[place] >> 32, line[place] & _ROWS
                where = bins[rows] if rows < len(bins) else _bin(ks, rows)
                sums[level - low, where, 0] += rows
                if where > 0:
                    sums[level - low, where, 1] += 1
                    sums[level - low, where, 2] += rows * rows
                    sums[level - low, where, 3] += rows * (loss + inner[level, code, 1])
                    sums[level - low, where, 4] += rows * (log + inner[level, code, 2])
                up = inner[level, code, 0]
                if up == before:
                    line[out - 1] += rows
                else:
                    line[out] = (up << 32) | rows
                    before = up
                    out += 1
            left = out
    for level in range(high - low + 1):
        _settle(sums[level], len(ks), answers[node + level * stride])


@kernel
def _settle(sums: Array, ks: int, answer: Array) -> None:
    small = 0
    for place in range(ks):
        small += sums[place, 0]
        answer[place, 0] = small
    for field in range(1, sums.shape[1]):
        large = 0
        for place in range(ks - 1, -1, -1):
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
    rests: Array, entries: Array, state: Array, path: Array, levels: Array, heights: Array,
    strides: Array, steps: Array, maps: Array, slots: Array, links: Array, dense: Array,
    marks: Array, bits: Array, inner: Array, line: Array, bins: Array, ks: Array, sums: Array,
    answers: Array, stop: Array,
) -> int:  # fmt: skip
    """Visit all nodes below the root that lies in the arena, depth first; resumable.

    ``rests`` and ``entries`` are the arena; the inner attribute is the last one of ``heights``.
    Children of a table raise, by one level, the attribute that was raised last or a later one, so
    each has one parent. Row d of ``path`` holds (first rest, rests, first entry, attribute raised
    last, attribute to raise next) at depth d; the root's are set by the caller, as is
    ``state[DEPTH]`` = 0. Returns DONE, CANCELLED, or FULL when the arena must grow first.
    ``state[FINISHED]`` counts the nodes visited.
    """
    last, end_column = len(heights) - 1, rests.shape[1] - 1
    depth = state[DEPTH]
    while depth >= 0:
        position = path[depth, 4]
        if position >= last:
            if depth > 0:
                levels[path[depth, 3]] -= 1
            depth -= 1
            continue
        level = levels[position]
        if level == heights[position]:
            path[depth, 4] += 1
            continue
        state[DEPTH] = depth
        first, size, at = path[depth, 0], path[depth, 1], path[depth, 2]
        begin, begin_entry = first + size, at + rests[first + size - 1, end_column]
        if begin + size > len(rests) or 2 * begin_entry - at > len(entries):
            return FULL
        groups = raise_rests(
            rests, first, size, entries, at, rests, begin, entries, begin_entry,
            steps[position, level], maps, slots, links, dense, marks, bits, stop,
        )  # fmt: skip
        if groups < 0:
            return CANCELLED
        path[depth, 4] += 1
        levels[position] += 1
        depth += 1
        path[depth, 0], path[depth, 1], path[depth, 2] = begin, groups, begin_entry
        path[depth, 3], path[depth, 4] = position, position
        node = 0
        for place in range(last):
            node += levels[place] * strides[place]
        tally_levels(
            rests, begin, groups, entries, begin_entry, 0, heights[last], inner, line, bins, ks,
            sums, answers, node, strides[last],
        )  # fmt: skip
        state[FINISHED] += heights[last] + 1
    return DONE


@kernel
def _copy_from(target: Array, row: Array, first: int) -> None:
    """Copy a row from a place on: the compiler takes seconds for assignments of whole arrays."""
    for place in range(first, len(row)):
        target[place] = row[place]


@kernel
def count_goals(
    goals: Array, done: int, rests: Array, entries: Array, frames: Array, levels: Array,
    heights: Array, steps: Array, maps: Array, slots: Array, links: Array, dense: Array,
    marks: Array, bits: Array, inner: Array, line: Array, bins: Array, ks: Array, sums: Array,
    answers: Array, stop: Array,
) -> int:  # fmt: skip
    """Count single nodes, sharing the tables below them; how many are done then, −1 when stopped.

    Rows of ``goals`` are distinct: levels by position, and the row of ``answers`` that takes what
    :func:`tally_levels` counts. They are put in another order; those before ``done`` are done
    already. Less than all are done when the arena must grow first. A set of goals is counted from
    the table at the lowest level that any of them has of each attribute. It is split by the
    attribute that has fewest of them at its lowest level, and both parts go on from that table:
    so a fine table serves few nodes, and most begin with a smaller one. The raw table lies at the
    beginning of the arena; row 0 of ``frames`` is (0, 0, 0, 0, rests, 0, entries) of it, which the
    caller sets.
    """
    last = len(heights) - 1
    frames[1, 0], frames[1, 1], frames[1, 2] = done, len(goals), -1
    _copy_from(frames[1], frames[0], 3)
    for position in range(last + 1):
        levels[1, position] = 0
    depth = 1
    while depth > 0:
        begin, end = frames[depth, 0], frames[depth, 1]
        if frames[depth, 2] >= 0:
            # The first part is done: the second takes the place of the whole set.
            begin = frames[depth, 2]
            frames[depth, 0], frames[depth, 2] = begin, -1
        if begin >= end:
            depth -= 1
            continue
        if stop[0] != 0:
            return -1
        if not _raise_to_lowest(
            goals, rests, entries, frames, depth, levels[depth], steps, maps, slots, links, dense,
            marks, bits, inner, stop,
        ):  # fmt: skip
            return int(begin)
        if begin + 1 == end:
            low = levels[depth, last]
            tally_levels(
                rests, frames[depth, 3], frames[depth, 4], entries, frames[depth, 5], low, low,
                inner, line, bins, ks, sums, answers, goals[begin, last + 1], 0,
            )  # fmt: skip
            depth -= 1
            continue
        frames[depth, 2] = _split(goals, begin, end, levels[depth])
        depth += 1
        frames[depth, 0], frames[depth, 1], frames[depth, 2] = begin, frames[depth - 1, 2], -1
        _copy_from(frames[depth], frames[depth - 1], 3)
        _copy_from(levels[depth], levels[depth - 1], 0)
    return len(goals)


@kernel
def _split(goals: Array, begin: int, end: int, lowest: Array) -> int:
    """Put goals at the lowest level of an attribute that has fewest of them first; how far."""
    chosen, fewest = 0, end - begin
    for position in range(len(lowest)):
        here = 0
        for goal in range(begin, end):
            if goals[goal, position] == lowest[position]:
                here += 1
        if here < fewest:
            chosen, fewest = position, here
    border = begin
    for goal in range(begin, end):
        if goals[goal, chosen] == lowest[chosen]:
            for column in range(goals.shape[1]):
                swapped = goals[goal, column]
                goals[goal, column] = goals[border, column]
                goals[border, column] = swapped
            border += 1
    return border


@kernel
def _raise_to_lowest(
    goals: Array, rests: Array, entries: Array, frames: Array, depth: int, levels: Array,
    steps: Array, maps: Array, slots: Array, links: Array, dense: Array, marks: Array, bits: Array,
    inner: Array, stop: Array,
) -> bool:  # fmt: skip
    """Raise the table of a frame to the lowest levels of its goals; False without room for it.

    What is made lies behind the table of the frame below, in the place of what it was made from.
    """
    frame, below, end_column = frames[depth], frames[depth - 1], rests.shape[1] - 1
    last = len(levels) - 1
    free_rest, free_entry = below[3] + below[4], below[5] + below[6]
    for turn in range(last + 1):
        # The inner attribute first: it makes tables small and costs least.
        position = last if turn == 0 else turn - 1
        lowest = goals[frame[0], position]
        for goal in range(frame[0] + 1, frame[1]):
            if goals[goal, position] < lowest:
                lowest = goals[goal, position]
        while levels[position] < lowest and stop[0] == 0:
            begin, begin_entry = frame[3] + frame[4], frame[5] + frame[6]
            if begin + frame[4] > len(rests) or begin_entry + frame[6] > len(entries):
                return False
            groups = frame[4]
            if position == last:
                raise_inner(
                    rests, frame[3], groups, entries, frame[5], rests, begin, entries, begin_entry,
                    levels[position], inner,
                )  # fmt: skip
            else:
                groups = raise_rests(
                    rests, frame[3], groups, entries, frame[5], rests, begin, entries, begin_entry,
                    steps[position, levels[position]], maps, slots, links, dense, marks, bits, stop,
                )  # fmt: skip
                if groups < 0:
                    return True
            size = rests[begin + groups - 1, end_column]
            if begin > free_rest:
                for row in range(groups):
                    for column in range(end_column + 1):
                        rests[free_rest + row, column] = rests[begin + row, column]
                for place in range(size):
                    entries[free_entry + place] = entries[begin_entry + place]
            frame[3], frame[4], frame[5], frame[6] = free_rest, groups, free_entry, size
            levels[position] += 1
    return True
