"""All minimal integer vectors that a matrix maps to 0, for the verifier: coordinate by coordinate.

The planner grows moves pair by pair until they keep what is exact. Here every vector keeps it from
the start, and what is minimal is found for one coordinate more at a time: the vectors that are
minimal on the coordinates so far, and sums of two of them that agree in sign there and differ on
the next one. Source: Hemmecke, On the computation of Hilbert bases of cones, 2002.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.jobs import CancelToken

Integers = NDArray[np.int64]
MOST_COLUMNS = 64
MOST_WORK = 500_000_000
_MOST_FOUND = 60_000
_MOST_ENTRY = 100


class TooLargeError(Exception):
    """There are more vectors than are looked for here."""


def minimal_vectors(matrix: Integers, token: CancelToken, work: int = MOST_WORK) -> Integers:
    """The minimal vectors of the kernel of ``matrix``, one of each pair v, -v; shape (n, columns).

    A vector is minimal when no other one but 0 lies between 0 and it in every coordinate. At most
    ``work`` comparisons are made. Raises TooLargeError, Cancelled.
    """
    if matrix.shape[1] > MOST_COLUMNS:
        raise TooLargeError
    basis, order = kernel_basis(matrix)
    if not len(basis):
        return np.zeros((0, matrix.shape[1]), np.int64)
    found = basis.astype(np.int8)
    left = np.array([work, 0], np.int64)
    with token.on_cancel(lambda: left.__setitem__(1, 1)):
        for known in range(len(basis), matrix.shape[1]):
            token.check()
            order = _least_first(found, order, known)
            found = _lifted(found, np.array(order, np.int64), known, left)
    token.check()
    return found.astype(np.int64)


def kernel_basis(matrix: Integers) -> tuple[Integers, list[int]]:
    """Vectors of which all kernel vectors are whole multiples and sums, and an order of columns.

    On the first columns of that order they are the unit vectors. Raises TooLargeError where whole
    numbers do not bring them there.
    """
    rows = [list(map(int, row)) for row in matrix]
    columns = matrix.shape[1]
    pivots: dict[int, list[int]] = {}
    for row in rows:
        for column, other in pivots.items():
            row = _less(row, other, row[column])
        if not any(row):
            continue
        pivot = next((i for i in reversed(range(columns)) if abs(row[i]) == 1), None)
        if pivot is None:
            raise TooLargeError
        row = [value * row[pivot] for value in row]
        pivots = {at: _less(other, row, other[pivot]) for at, other in pivots.items()}
        pivots[pivot] = row
    free = [column for column in range(columns) if column not in pivots]
    basis = np.zeros((len(free), columns), np.int64)
    for place, column in enumerate(free):
        basis[place, column] = 1
        for at, row in pivots.items():
            basis[place, at] = -row[column]
    if len(basis) and np.abs(basis).max() > _MOST_ENTRY:
        raise TooLargeError
    return basis, [*free, *pivots]


def _less(row: Sequence[int], other: Sequence[int], times: int) -> list[int]:
    return [value - times * there for value, there in zip(row, other, strict=True)]


def _least_first(vectors: NDArray[np.int8], order: list[int], known: int) -> list[int]:
    """The order with that column next on which fewest pairs of vectors differ in sign."""
    rest = order[known:]
    nonzero = (vectors[:, rest] != 0).sum(axis=0)
    chosen = rest[int(nonzero.argmin())]
    return [*order[:known], chosen, *(column for column in rest if column != chosen)]


def _lifted(
    vectors: NDArray[np.int8], order: Integers, known: int, work: Integers
) -> NDArray[np.int8]:
    """The minimal vectors on one coordinate more; degree by degree on those before."""
    from dpdesk.verifiers.cubes.move_kernels import masks_of, sums_of_degree

    degrees = np.abs(vectors[:, order[:known]].astype(np.int64)).sum(axis=1)
    given = {int(degree): vectors[degrees == degree] for degree in np.unique(degrees)}
    highest, degree = max(given), 1
    found = np.zeros((0, vectors.shape[1]), np.int8)
    starts, space = [0], np.zeros((_MOST_FOUND, vectors.shape[1]), np.int8)
    while degree <= 2 * highest:
        plus, minus = masks_of(found, order, known)
        ends = np.array([*starts, len(found)], np.int64)
        count = sums_of_degree(found, plus, minus, ends, degree, order, known, space, work)
        if count < 0:
            raise TooLargeError
        new = np.unique(_one_sign(space[:count]), axis=0)
        parts = [found, given.get(degree, new[:0]), new]
        highest = max(highest, degree if len(new) else 0)
        starts.append(len(found))
        found = np.concatenate(parts)
        degree += 1
    return found


def _one_sign(vectors: NDArray[np.int8]) -> NDArray[np.int8]:
    """Each vector or its negative, so that the first number that is not 0 is above 0."""
    first = vectors[np.arange(len(vectors)), (vectors != 0).argmax(axis=1)]
    return np.where(first[:, None] < 0, -vectors, vectors).astype(np.int8)
