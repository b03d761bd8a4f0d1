"""Compiled loops that grow integer moves one unit at a time; see :mod:`.moves`.

A move is a row of int8 counts; ``matrix`` (constraints, cells) of int8 says which cells a
constraint adds up. Loops poll ``stop[0]``, so they end soon after a cancel.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpdesk.core.compiled import kernel

Array = Any
"""A numpy array; inside compiled code element types come from the caller."""

_POLL = 0x3F


@kernel
def _mending(
    part: Array, room: Array, left: Array, matrix: Array, touching: Array, degrees: Array
) -> int:
    """The constraint that is off with the fewest cells that could mend it.

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

    Grown from that cell: a constraint that is off must be mended by some unit of the move, and a
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
    rows[0] = _mending(part[0], room[0], left[0], matrix, touching, degrees)
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
        part[depth + 1] = part[depth]
        room[depth + 1] = room[depth]
        part[depth + 1, found] += sign
        room[depth, found] = part[depth, found]
        for k in range(constraints):
            left[depth + 1, k] = left[depth, k] + sign * matrix[k, found]
        depth += 1
        rows[depth] = _mending(part[depth], room[depth], left[depth], matrix, touching, degrees)
    return False


@kernel
def _least_image(move: Array, images: Array, best: Array, other: Array) -> None:
    """The smallest of all images of a move under ``images`` (permutations of cells) and signs."""
    cells = len(move)
    for g in range(images.shape[0]):
        for sign in (1, -1):
            smaller = g == 0 and sign == 1
            decided = smaller
            for i in range(cells):
                other[i] = sign * move[images[g, i]]
                if not decided and other[i] != best[i]:
                    decided = True
                    smaller = other[i] < best[i]
                    if not smaller:
                        break
            if smaller:
                for i in range(cells):
                    best[i] = other[i]


@kernel
def _keeps(move: Array, matrix: Array) -> bool:
    """Whether a move keeps every constraint."""
    for k in range(matrix.shape[0]):
        total = 0
        for i in range(matrix.shape[1]):
            total += matrix[k, i] * move[i]
        if total != 0:
            return False
    return True


@kernel
def grow(
    moves: Array, matrix: Array, touching: Array, degrees: Array, inner: Array, images: Array,
    most: int, bound: int, longer: Array, stop: Array,
) -> tuple[int, int]:  # fmt: skip
    """All moves that are one unit longer, each as the smallest of its images, into ``longer``.

    A unit is added only where it brings the constraints nearer (the scalar product of what is off
    with the unit's column is negative); ``inner`` is the product of the matrix with itself. Moves
    with a part that keeps all constraints are left out, and so are those with more than ``bound``
    units of a cell. Returns how many there are (above
    ``len(longer)`` when there is no room, -1 when stopped) and how many of the longer moves keep
    all constraints: those are minimal.
    """
    constraints, cells = matrix.shape
    part = np.zeros((most + 2, cells), np.int8)
    room = np.zeros((most + 2, cells), np.int8)
    rows = np.zeros(most + 2, np.int64)
    left = np.zeros((most + 2, constraints), np.int64)
    best, other, new = np.zeros(cells, np.int8), np.zeros(cells, np.int8), np.zeros(cells, np.int8)
    count, minimal = 0, 0
    for m in range(len(moves)):
        if m & _POLL == 0 and stop[0] != 0:
            return -1, 0
        move = moves[m]
        for cell in range(cells):
            towards = 0
            for i in range(cells):
                towards += move[i] * inner[i, cell]
            if towards == 0:
                continue
            sign = -1 if towards > 0 else 1
            if sign * move[cell] < 0 or abs(move[cell]) == bound:
                continue
            new[:] = move
            new[cell] += sign
            if _closes(new, cell, matrix, touching, degrees, part, room, left, rows):
                minimal += _keeps(new, matrix)
                continue
            if count < len(longer):
                _least_image(new, images, best, other)
                longer[count] = best
            count += 1
    return count, minimal
