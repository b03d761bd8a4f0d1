"""Compiled passes over the blocks of a cube, all of which lie in one flat buffer.

A move is a row (start, target, before, n, after, stride, target_stride): the block (or the slab of
a block) at ``start`` has the shape (before, n, after), and ``target`` has (before, after), the same
without that axis. In slab k both are shifted by k times their stride. Loops poll ``stop[0]``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpdesk.core.compiled import kernel

Array = Any
"""A numpy array; inside compiled code element types come from the caller."""

_CHUNK = 1024


@kernel
def _lower(
    cells: Array, start: int, target: int, before: int, n: int, after: int, change: Array
) -> None:
    """Add to the target the mean along the axis."""
    share = 1.0 / n
    if after == 1:
        for i in range(before):
            total = 0.0
            for k in range(start + i * n, start + (i + 1) * n):
                total += cells[k]
            cells[target + i] += total * share
        return
    for i in range(before):
        for first in range(0, after, _CHUNK):
            count = min(_CHUNK, after - first)
            change[:count] = 0.0
            for k in range(n):
                row = cells[start + (i * n + k) * after + first :]
                for j in range(count):
                    change[j] += row[j]
            goal = cells[target + i * after + first :]
            for j in range(count):
                goal[j] += change[j] * share


@kernel
def _settle(
    cells: Array, start: int, target: int, before: int, n: int, after: int, change: Array
) -> None:
    """Replace the mean along the axis by the target's value, spread evenly."""
    share = 1.0 / n
    if after == 1:
        for i in range(before):
            total = cells[target + i]
            for k in range(start + i * n, start + (i + 1) * n):
                total -= cells[k]
            for k in range(start + i * n, start + (i + 1) * n):
                cells[k] += total * share
        return
    for i in range(before):
        for first in range(0, after, _CHUNK):
            count = min(_CHUNK, after - first)
            goal = target + i * after + first
            for j in range(count):
                change[j] = cells[goal + j]
            for k in range(n):
                row = cells[start + (i * n + k) * after + first :]
                for j in range(count):
                    change[j] -= row[j]
            for j in range(count):
                change[j] *= share
            for k in range(n):
                row = cells[start + (i * n + k) * after + first :]
                for j in range(count):
                    row[j] += change[j]


@kernel
def lower_axis(cells: Array, moves: Array, stop: Array) -> None:
    """Step 2 along one axis: each block adds its mean to the block without the axis."""
    change = np.empty(_CHUNK)
    for move in moves:
        if stop[0] != 0:
            return
        _lower(cells, move[0], move[1], move[2], move[3], move[4], change)


@kernel
def settle_axis(cells: Array, moves: Array, stop: Array) -> None:
    """Steps 4 and 5 along one axis: each block takes its mean from the block without the axis."""
    change = np.empty(_CHUNK)
    for move in moves:
        if stop[0] != 0:
            return
        _settle(cells, move[0], move[1], move[2], move[3], move[4], change)


@kernel
def solve_slabs(
    cells: Array, moves: Array, blocks: Array, inverse: Array, first: int, last: int, stop: Array
) -> None:
    """Steps 2 to 5 along the inner axes, in slabs ``first`` to ``last`` (exclusive).

    ``blocks`` holds (start, cells of a slab) of every block, ``inverse`` its 1/W (0 where W is 0).
    """
    change = np.empty(_CHUNK)
    for slab in range(first, last):
        if stop[0] != 0:
            return
        for move in moves:
            start, target = move[0] + slab * move[5], move[1] + slab * move[6]
            _lower(cells, start, target, move[2], move[3], move[4], change)
        for place in range(len(blocks)):
            start = blocks[place, 0] + slab * blocks[place, 1]
            for cell in range(start, start + blocks[place, 1]):
                cells[cell] *= inverse[place]
        for move in moves:
            start, target = move[0] + slab * move[5], move[1] + slab * move[6]
            _settle(cells, start, target, move[2], move[3], move[4], change)


@kernel
def center(cells: Array, before: int, n: int, after: int) -> None:
    """Subtract the mean along the middle axis of an array of shape (before, n, after)."""
    for i in range(before):
        for j in range(after):
            total = 0.0
            for k in range(n):
                total += cells[(i * n + k) * after + j]
            total /= n
            for k in range(n):
                cells[(i * n + k) * after + j] -= total
