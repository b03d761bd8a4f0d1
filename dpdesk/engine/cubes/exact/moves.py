"""Minimal moves by enumeration: how far apart two tables that agree with all constraints can be.

A move is a difference of two tables that keeps every constraint; it is minimal when no part of it,
with the same signs, does so. (These are the elements of the Graver basis; the largest L1 norm of
one is the generic sensitivity.) Minimal moves are grown one unit at a time, always towards the
constraints; that reaches each of them (Contejean and Devie, An efficient incremental algorithm for
solving systems of linear Diophantine equations, 1994) and ends. Moves that differ by a symmetry of
the constraints are grown once. Source: resources/docs/exact.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, permutations, product
from math import factorial, prod

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.cubes.stopping import Ints, stop_flag

Matrix = NDArray[np.int8]

MOST_CELLS = 40
"""Cells of a table (after reduction) beyond which its minimal moves are not enumerated."""

MOST_MOVES = 400_000
"""Moves of one length, up to symmetry, beyond which the enumeration is given up."""

_MOST_IMAGES = 2_000
_UNBOUNDED = 100


@dataclass(frozen=True)
class Moves:
    """Minimal moves: the longest length, and how many of each length up to symmetry."""

    longest: int
    lengths: dict[int, int]


def minimal_moves(
    matrix: Matrix,
    token: CancelToken,
    *,
    images: Ints | None = None,
    bound: int = _UNBOUNDED,
) -> Moves:
    """All lengths of minimal moves of a matrix of 0 and 1, shape (constraints, cells).

    ``images`` are permutations of the cells that map the set of constraints to itself, the identity
    first; ``bound`` is the largest change of one cell (1 where tables hold only 0 and 1). Without
    any constraint the only minimal moves are single units.

    Raises RefusedError ``cube.exact-too-large`` beyond :data:`MOST_CELLS` cells or
    :data:`MOST_MOVES` moves of one length, Cancelled.
    """
    from dpdesk.engine.cubes.exact import kernels

    cells = matrix.shape[1]
    if cells > MOST_CELLS:
        raise _too_large(f"{cells:,} cells, expected at most {MOST_CELLS}")
    matrix = np.ascontiguousarray(matrix[matrix.any(axis=1)], np.int8)
    lengths: dict[int, int] = {}
    free = ~matrix.any(axis=0)
    if free.any():
        lengths[1] = int(free.sum())
    moves = np.eye(cells, dtype=np.int8)[~free]
    touching, degrees = _touching(matrix)
    inner = matrix.astype(np.int64).T @ matrix
    if images is None:
        images = np.arange(cells, dtype=np.int64)[None]
    length = 1
    with stop_flag(token) as stop:
        while len(moves):
            length += 1
            longer = np.empty((min(2 * cells * len(moves), 4 * MOST_MOVES), cells), np.int8)
            count, minimal = kernels.grow(
                moves, matrix, touching, degrees, inner, images, length, bound, longer, stop
            )
            token.check()
            if minimal:
                lengths[length] = minimal
            moves = _distinct(longer[:count]) if count <= len(longer) else longer
            if len(moves) > MOST_MOVES:
                raise _too_large(f"over {MOST_MOVES:,} partial moves of length {length}")
    return Moves(max(lengths, default=0), lengths)


def symmetries(shape: Sequence[int]) -> Ints:
    """Permutations of the cells of a table that only rename categories, the identity first.

    Where there are too many, dimensions with most categories are left alone.
    """
    index = np.arange(prod(shape), dtype=np.int64).reshape(tuple(shape))
    room, choices = _MOST_IMAGES, []
    for size in sorted(shape):
        kept = factorial(size) <= room
        room = room // factorial(size) if kept else room
        choices.append((size, kept))
    renamed = []
    for size in shape:
        kept = (size, True) in choices
        choices.remove((size, kept))
        renamed.append(list(islice(permutations(range(size)), None if kept else 1)))
    found = []
    for names in product(*renamed):
        image = index
        for axis, order in enumerate(names):
            image = np.take(image, order, axis=axis)
        found.append(image.reshape(-1))
    return np.array(found, dtype=np.int64)


def _distinct(moves: Matrix) -> Matrix:
    if not len(moves):
        return moves
    cells = moves.shape[1]
    rows = np.ascontiguousarray(moves).view(f"V{cells}").reshape(-1)
    return np.unique(rows).view(np.int8).reshape(-1, cells)


def _touching(matrix: Matrix) -> tuple[Ints, Ints]:
    """The cells of each constraint, in rows filled up with 0, and how many there are."""
    degrees = matrix.sum(axis=1, dtype=np.int64)
    touching = np.zeros((len(matrix), int(degrees.max(initial=0))), np.int64)
    for row, line in enumerate(matrix):
        touching[row, : degrees[row]] = np.flatnonzero(line)
    return touching, degrees


def _too_large(what: str) -> RefusedError:
    return RefusedError(
        "cube.exact-too-large",
        "How much the noise must hide beside three or more exact tables (or cells of them) is "
        f"known only by enumeration, and this one has {what}.",
        hint="Release at most two tables exactly, or tables of fewer categories.",
        details={"key": "exact"},
    )
