"""Compiled loops that grow integer moves pair by pair; see :mod:`.moves`.

A move is a row of int8 counts; ``matrix`` (constraints, cells) of int8 says which cells a
constraint adds up. Loops poll ``stop[0]``, so they end soon after a cancel.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpdesk.core.compiled import kernel

Array = Any
"""A numpy array; inside compiled code element types come from the caller."""

_MINIMAL, _HOLDS_SMALLER = 1, 2


# Loops instead of whole arrays: each assignment of these takes the compiler a second.


@kernel
def _copy(target: Array, row: Array) -> None:
    for i in range(len(row)):
        target[i] = row[i]


@kernel
def _any(row: Array, first: int, end: int) -> bool:
    """Whether some cell between two places is not empty."""
    at = first
    while at < end and row[at] == 0:
        at += 1
    return at < end


@kernel
def _fixing(
    part: Array, room: Array, left: Array, matrix: Array, touching: Array, degrees: Array
) -> int:
    """The constraint that is off with the fewest cells that could fix it.

    -1: none is off; -2: one is off by more than what is left of the move. ``room`` (cells,) is
    what a part may have of each cell at most.
    """
    chosen, fewest = -1, len(part) + 1
    for k in range(len(left)):
        if left[k] == 0:
            continue
        options, amount = 0, 0
        for t in range(degrees[k]):
            i = touching[k, t]
            more = room[i] - part[i]
            if more != 0 and (more > 0) != (left[k] > 0):
                options += 1
                amount += abs(more)
        if amount < abs(left[k]):
            return -2
        if options < fewest:
            chosen, fewest = k, options
    return chosen


@kernel
def _closes(
    move: Array, cell: int, matrix: Array, touching: Array, degrees: Array,
    part: Array, room: Array, left: Array, rows: Array,
) -> bool:  # fmt: skip
    """Whether a part of ``move`` that has all its units of ``cell`` keeps every constraint.

    Grown from that cell: a constraint that is off must be fixed by some unit of the move, and a
    cell that was tried in vain is not tried again beside its successors. The last four arguments
    are scratch space, one line for each unit.
    """
    constraints, cells = matrix.shape
    for i in range(cells):
        part[0, i] = 0
        room[0, i] = move[i]
    part[0, cell] = move[cell]
    for k in range(constraints):
        left[0, k] = matrix[k, cell] * move[cell]
    depth = 0
    rows[0] = _fixing(part[0], room[0], left[0], matrix, touching, degrees)
    while depth >= 0:
        row = rows[depth]
        if row == -1:
            return True
        found = -1
        if row >= 0:
            for t in range(degrees[row]):
                i = touching[row, t]
                more = room[depth, i] - part[depth, i]
                if more != 0 and (more > 0) != (left[depth, row] > 0):
                    found = i
                    break
        if found < 0:
            depth -= 1
            continue
        sign = 1 if move[found] > 0 else -1
        _copy(part[depth + 1], part[depth])
        _copy(room[depth + 1], room[depth])
        part[depth + 1, found] += sign
        room[depth, found] = part[depth, found]
        for k in range(constraints):
            left[depth + 1, k] = left[depth, k] + sign * matrix[k, found]
        depth += 1
        rows[depth] = _fixing(part[depth], room[depth], left[depth], matrix, touching, degrees)
    return False


@kernel
def _least_image(
    move: Array, images: Array, slices: int, best: Array, other: Array, order: Array
) -> None:
    """The smallest of all images of a move, into ``best``.

    The cells are ``slices`` equal blocks in a row, which may stand in any order; ``images`` are
    permutations of the cells of a block, all blocks alike; and signs may be turned.
    """
    width = len(move) // slices
    first = True
    for g in range(images.shape[0]):
        for sign in (1, -1):
            for b in range(slices):
                for i in range(width):
                    other[b * width + i] = sign * move[b * width + images[g, i]]
            _sort_blocks(other, slices, width, order)
            smaller, decided = first, first
            for b in range(slices):
                for i in range(width):
                    if not decided and other[order[b] * width + i] != best[b * width + i]:
                        decided = True
                        smaller = other[order[b] * width + i] < best[b * width + i]
                if decided:
                    break
            if smaller:
                first = False
                for b in range(slices):
                    for i in range(width):
                        best[b * width + i] = other[order[b] * width + i]


@kernel
def _sort_blocks(line: Array, slices: int, width: int, order: Array) -> None:
    """The order of the blocks of a line, the one with the smallest first number first."""
    for b in range(slices):
        place = b
        while place > 0:
            before = order[place - 1]
            smaller = False
            for i in range(width):
                if line[b * width + i] != line[before * width + i]:
                    smaller = line[b * width + i] < line[before * width + i]
                    break
            if not smaller:
                break
            order[place] = before
            place -= 1
        order[place] = b


@kernel
def _keeps(move: Array, touching: Array, degrees: Array) -> bool:
    """Whether a move keeps every constraint."""
    for k in range(len(degrees)):
        total = 0
        for t in range(degrees[k]):
            total += move[touching[k, t]]
        if total != 0:
            return False
    return True


@kernel
def _pulls(move: Array, touching: Array, degrees: Array, pulls: Array) -> None:
    """How far a unit of each cell leads away: the scalar product with what is off."""
    for i in range(len(pulls)):
        pulls[i] = 0
    for k in range(len(degrees)):
        off = 0
        for t in range(degrees[k]):
            off += move[touching[k, t]]
        if off != 0:
            for t in range(degrees[k]):
                pulls[touching[k, t]] += off


@kernel
def _new_block(move: Array, cell: int, slices: int) -> bool:
    """Whether a cell is in an empty block that has an empty one before it, which is its like."""
    width = len(move) // slices
    start = (cell // width) * width
    if start == 0:
        return False
    return not _any(move, start - width, start + width)


@kernel
def _may(move: Array, add: int, take: int, pulls: Array, slices: int, bound: int) -> bool:
    """Whether a step leads nearer, keeps the signs and the bound, and opens no second new block."""
    pull = (pulls[add] if add >= 0 else 0) - (pulls[take] if take >= 0 else 0)
    if pull >= 0 and _any(move, 0, len(move)):
        return False
    if add >= 0 and (move[add] < 0 or move[add] == bound):
        return False
    if take >= 0 and (move[take] > 0 or move[take] == -bound):
        return False
    return not _new_block(move, add if add >= 0 else take, slices)


@kernel
def _stepped(
    new: Array, add: int, take: int, matrix: Array, touching: Array, degrees: Array,
    part: Array, room: Array, left: Array, rows: Array,
) -> int:  # fmt: skip
    """Take a step: 0 for a partial move, 1 for a minimal move, 2 for one that holds a smaller one.

    ``new`` held no part that keeps all constraints. What closes only with the last unit of the step
    is minimal if it closes as a whole: of two parts, one would lack that unit.
    """
    if add >= 0:
        new[add] += 1
        if _closes(new, add, matrix, touching, degrees, part, room, left, rows):
            return 1 if take < 0 and _keeps(new, touching, degrees) else 2
    if take >= 0:
        new[take] -= 1
        if _closes(new, take, matrix, touching, degrees, part, room, left, rows):
            return 1 if _keeps(new, touching, degrees) else 2
    return 0


@kernel
def grow(
    moves: Array, matrix: Array, touching: Array, degrees: Array, steps: Array, images: Array,
    slices: int, bound: int, most: int, longer: Array, minimal: Array, stop: Array,
) -> tuple[int, int]:  # fmt: skip
    """All moves that are one step longer, each as the smallest of its images, into ``longer``.

    ``steps`` (n, 2) are pairs of cells, one to add a unit to and one to take a unit from, or -1 for
    none. A step is taken only where it brings the constraints nearer (or from an empty move), and
    where no cell gets more than ``bound`` units. What keeps all constraints and has no part that
    does goes into ``minimal``; what has such a part is left out. Returns how many there are of
    both, -1 for the first when stopped or when there is no room. ``most`` is the largest L1 norm.
    """
    constraints, cells = matrix.shape
    part = np.zeros((most + 2, cells), np.int8)
    room = np.zeros((most + 2, cells), np.int8)
    rows = np.zeros(most + 2, np.int64)
    left = np.zeros((most + 2, constraints), np.int64)
    best, other, new = np.zeros(cells, np.int8), np.zeros(cells, np.int8), np.zeros(cells, np.int8)
    order, pulls = np.zeros(slices, np.int64), np.zeros(cells, np.int64)
    count, closed = 0, 0
    for m in range(len(moves)):
        if stop[0] != 0:
            return -1, 0
        _pulls(moves[m], touching, degrees, pulls)
        for n in range(len(steps)):
            add, take = steps[n, 0], steps[n, 1]
            if not _may(moves[m], add, take, pulls, slices, bound):
                continue
            _copy(new, moves[m])
            kind = _stepped(
                new, add, take, matrix, touching, degrees, part, room, left, rows
            )  # fmt: skip
            if kind == _HOLDS_SMALLER:
                continue
            if count == len(longer) or closed == len(minimal):
                return -1, 0
            _least_image(new, images, slices, best, other, order)
            if kind == _MINIMAL:
                _copy(minimal[closed], best)
                closed += 1
            else:
                _copy(longer[count], best)
                count += 1
    return count, closed
