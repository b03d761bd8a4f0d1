"""Minimal moves by enumeration: how far apart two tables that agree with all constraints can be.

A move is a difference of two tables that keeps every constraint; it is minimal when no part of it,
with the same signs, does so. (These are the elements of the Graver basis; the largest L1 norm of
one is the generic sensitivity.) Some constraints have no cell in common, such as all cells of one
margin; what keeps them is a sum of pairs, a unit more and a unit less under one of them. So minimal
moves are grown pair by pair, always towards the other constraints: that reaches each of them and
ends (Contejean and Devie, An efficient incremental algorithm for solving systems of linear
Diophantine equations, 1994, with the pairs as unknowns). Moves that differ by a symmetry of the
constraints are grown once. Source: resources/docs/exact.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, permutations, product
from math import factorial, prod

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.engine.cubes.solver import Ints, stop_flag

Matrix = NDArray[np.int8]

MOST_CELLS = 128
"""Cells of a table (after reduction) beyond which its minimal moves are not enumerated."""

MOST_MOVES = 40_000
"""Partial moves of one length, up to symmetry, beyond which the enumeration is given up."""

_MOST_EXPECTED = 3 * MOST_MOVES
_MOST_IN_ALL = 4 * MOST_MOVES

_MOST_IMAGES = 300
_UNBOUNDED = 100
_ROOM = 1 << 19
_CHUNK = 1 << 12
_FEW = 500


@dataclass(frozen=True)
class Moves:
    """Minimal moves: the longest length, and how many of each length up to symmetry.

    ``steps`` is the largest number of pairs (or single units) of a partial move that was tried.
    """

    longest: int
    lengths: dict[int, int]
    steps: int = 0


@dataclass(frozen=True)
class Symmetry:
    """What may be exchanged in a table without changing its constraints.

    The cells are ``blocks`` equal blocks in a row, in any order; ``images`` are permutations of the
    cells of a block, the same in all blocks, shape (n, cells of a block), the identity first.
    ``disjoint`` are constraints that have no cell in common and are mapped to each other.
    """

    images: Ints
    blocks: int
    disjoint: Sequence[int]


def minimal_moves(
    matrix: Matrix,
    token: CancelToken,
    *,
    symmetry: Symmetry | None = None,
    bound: int = _UNBOUNDED,
) -> Moves:
    """All lengths of minimal moves of a matrix of 0 and 1, shape (constraints, cells).

    ``bound`` is the largest change of one cell (1 where tables hold only 0 and 1). Without any
    constraint the only minimal moves are single units.

    Raises RefusedError ``cube.exact-too-large`` beyond :data:`MOST_CELLS` cells or
    :data:`MOST_MOVES` partial moves of one length, there or to be expected; Cancelled.
    """
    cells = matrix.shape[1]
    if cells > MOST_CELLS:
        raise too_large(
            msg(
                "{cells:,} cells, expected at most {most_cells}", cells=cells, most_cells=MOST_CELLS
            )
        )
    matrix = np.ascontiguousarray(matrix, np.int8)
    lengths: dict[int, int] = {}
    free = cells - int(matrix.any(axis=0).sum())
    if free:
        lengths[1] = free
    if symmetry is None:
        symmetry = Symmetry(np.arange(cells, dtype=np.int64)[None], 1, _disjoint(matrix))
    search = _Search(matrix, symmetry, bound, _steps(matrix, symmetry.disjoint))
    moves, taken = np.zeros((1, cells), np.int8), 0
    sizes: list[int] = []
    while len(moves):
        taken += 1
        moves, minimal = search.longer(moves, taken, token)
        for length in np.abs(minimal, dtype=np.int64).sum(axis=1).tolist():
            lengths[length] = lengths.get(length, 0) + 1
        sizes.append(len(moves))
        _check_growth(sizes, max(lengths, default=0))
    return Moves(max(lengths, default=0), lengths, taken)


class _Search:
    """Grows moves of one matrix."""

    def __init__(self, matrix: Matrix, symmetry: Symmetry, bound: int, steps: Ints) -> None:
        self._fixed = (matrix, *_touching(matrix), steps, symmetry.images, symmetry.blocks, bound)
        self._room = max(_ROOM, len(steps))

    def longer(self, moves: Matrix, taken: int, token: CancelToken) -> tuple[Matrix, Matrix]:
        """All partial moves that are a step longer, and all minimal moves among the longer ones."""
        found: list[Matrix] = [moves[:0]]
        minimal: list[Matrix] = [moves[:0]]
        start, size = 0, _CHUNK
        with stop_flag(token) as stop:
            while start < len(moves):
                part = moves[start : start + size]
                grown = self._grown(part, taken, stop)
                token.check()
                if grown is None:
                    size = max(1, size // 2)
                    continue
                start += len(part)
                found.append(_distinct(grown[0]))
                minimal.append(_distinct(grown[1]))
        return _distinct(np.concatenate(found)), _distinct(np.concatenate(minimal))

    def _grown(self, moves: Matrix, taken: int, stop: Ints) -> tuple[Matrix, Matrix] | None:
        """As :meth:`longer`, for a few; None where room is short, or when stopped."""
        from dpdesk.engine.cubes.exact import kernels

        matrix, touching, degrees, steps, images, blocks, bound = self._fixed
        longer, minimal = (np.empty((self._room, moves.shape[1]), np.int8) for _ in range(2))
        count, closed = kernels.grow(
            moves, matrix, touching, degrees, steps, images, blocks, bound, 2 * taken,
            longer, minimal, stop,
        )  # fmt: skip
        return None if count < 0 else (longer[:count], minimal[:closed])


def symmetries(shape: Sequence[int], masks: Sequence[int]) -> Symmetry:
    """What may be exchanged where whole cuboids ``masks`` of a table are known.

    The constraints are the cells of the cuboids in their order; those of the first one are the
    disjoint ones. Categories of the first dimension are the blocks; those of the others may be
    renamed, and dimensions other than the first exchanged where that maps the first cuboid to
    itself and the others to each other. Where there are too many ways, dimensions with most
    categories are left alone.
    """
    rest = tuple(shape[1:])
    index = np.arange(prod(rest), dtype=np.int64).reshape(rest)
    room, choices = _MOST_IMAGES, []
    for size in sorted(rest):
        kept = factorial(size) <= room
        room = room // factorial(size) if kept else room
        choices.append((size, kept))
    renamed = []
    for size in rest:
        kept = (size, True) in choices
        choices.remove((size, kept))
        renamed.append(list(islice(permutations(range(size)), None if kept else 1)))
    found = []
    for axes in islice(_exchanges(rest, masks), room or 1):
        for names in product(*renamed):
            image = index
            for axis, order in enumerate(names):
                image = np.take(image, order, axis=axis)
            found.append(image.transpose(axes).reshape(-1))
    lead = prod(size for axis, size in enumerate(shape) if masks[0] >> axis & 1)
    return Symmetry(np.array(found, dtype=np.int64), shape[0], range(lead))


def _exchanges(rest: tuple[int, ...], masks: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Orders of all dimensions but the first that keep the shape and the cuboids."""
    for axes in permutations(range(len(rest))):
        moved = [
            (mask & 1) | sum(1 << to + 1 for to, axis in enumerate(axes) if mask >> axis + 1 & 1)
            for mask in masks
        ]
        alike = all(rest[axis] == rest[to] for to, axis in enumerate(axes))
        if alike and moved[0] == masks[0] and set(moved) == set(masks):
            yield axes


def _steps(matrix: Matrix, rows: Sequence[int]) -> Ints:
    """Pairs of cells to add to and to take from under one of disjoint constraints, else units."""
    rows = list(rows)
    under = matrix[rows].any(axis=0)
    found = [
        (int(add), int(take))
        for row in rows
        for add, take in permutations(np.flatnonzero(matrix[row]), 2)
    ]
    for cell in np.flatnonzero(matrix.any(axis=0) & ~under).tolist():
        found += [(cell, -1), (-1, cell)]
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def _disjoint(matrix: Matrix) -> list[int]:
    """Constraints without a common cell: as many as one finds from any first one."""
    best: list[int] = []
    for first in range(len(matrix)):
        taken, rows = matrix[first] != 0, [first]
        for row in range(len(matrix)):
            if row != first and not (taken & (matrix[row] != 0)).any():
                rows.append(row)
                taken |= matrix[row] != 0
        best = rows if len(rows) > len(best) else best
    return best


def _check_growth(sizes: Sequence[int], at_least: int) -> None:
    """Refuse where a length has too many moves, or where longer ones must be expected to.

    Growth falls from one length to the next, in what was tried mostly to less than 0.6 of it; while
    there are few moves a faster fall is hoped for.
    """
    size = expected = float(sizes[-1])
    growth = size / max(1, sizes[-2]) if len(sizes) > 1 and size > _FEW else 0.0
    fall = 0.6 if size > _CHUNK else 0.45
    while growth > 1 and expected <= _MOST_EXPECTED:
        growth *= fall
        expected *= max(growth, 1.0)
    if size > MOST_MOVES or expected > _MOST_EXPECTED:
        told = "over" if size > MOST_MOVES else "probably over"
        raise too_large(
            msg(
                "{told} {most_moves:,} partial moves of one length",
                told=told,
                most_moves=MOST_MOVES,
            ),
            at_least,
        )
    if sum(sizes) > _MOST_IN_ALL:
        raise too_large(
            msg("over {most_in_all:,} partial moves", most_in_all=_MOST_IN_ALL), at_least
        )


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


def too_large(what: str, at_least: int = 0) -> RefusedError:
    """The refusal of an enumeration that would take too long; a move of ``at_least`` was found."""
    return RefusedError(
        "cube.exact-too-large",
        msg(
            "How much the noise must hide alongside three or more exact tables (or cells of "
            "them) is known only by enumeration, and this one has {what}.",
            what=what,
        ),
        hint="Release at most two tables exactly, or tables of fewer categories. The program 4ti2, "
        "where it is installed, can compute some more.",
        details={"key": "exact", "at_least": at_least},
    )
