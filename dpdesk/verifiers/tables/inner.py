"""Points inside what the published cells leave open, by projections instead of linear programs.

A point with all unknowns above their bounds, that has all sums, can be moved a little along every
direction that keeps the sums: of the cells that such a random direction moves none is told. Points
come from turns of projecting on the sums and on the bounds, which suits tables that are too large
for linear programs in a moment.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import lsmr

from dpdesk.core.jobs import CancelToken

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
_TURNS, _AGAIN = 60, 4
_FLOOR, _INSIDE = 0.05, 1e-3
_EXACT, _CLOSE = 1e-12, 1e-9
_SEED = 11


def both_sides(
    matrix: csr_array, sums: Floats, low: Floats, token: CancelToken
) -> tuple[Floats, Floats] | None:
    """Two points with these sums, not below ``low`` (0 or -inf), that differ where they can.

    None where no such point was found in a moment, which says nothing. Raises Cancelled.
    """
    unit = _units(matrix, sums)
    scaled = csr_array(matrix * unit)
    norms = np.sqrt(np.asarray(scaled.multiply(scaled).sum(axis=1)).ravel())
    rows = csr_array(diags_array(1 / np.maximum(norms, 1e-300)) @ scaled)
    goal, bounded = sums / np.maximum(norms, 1e-300), np.isfinite(low)
    free = np.ones(len(unit), dtype=bool)
    for _ in range(_AGAIN):
        point, inside = _projected(rows, goal, free, bounded, token)
        if inside:
            direction = _direction(rows, free)
            return _ends(rows, goal, point, direction, bounded, unit)
        # Some can only be 0: a point in which they are serves the others all the same.
        gone = free & bounded & (point < _INSIDE)
        if not gone.any() or gone.all():
            return None
        free &= ~gone
    return None


def _units(matrix: csr_array, sums: Floats) -> Floats:
    """About how large each unknown is: its share of the smallest sum of which it is a part."""
    count = np.maximum(np.diff(matrix.indptr), 1)
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    sign = np.sign(matrix.data)
    one_way = np.abs(np.bincount(row, sign, minlength=matrix.shape[0])) == np.diff(matrix.indptr)
    shares = np.where(one_way & (sums != 0), np.abs(sums) / count, np.inf)
    unit = np.full(matrix.shape[1], np.inf)
    np.minimum.at(unit, matrix.indices, shares[row])
    return np.where(np.isfinite(unit), unit, float(np.abs(sums).max(initial=0.0)) or 1.0)


def _projected(
    rows: csr_array, goal: Floats, free: Flags, bounded: Flags, token: CancelToken
) -> tuple[Floats, bool]:
    """A point with the sums, and whether all free unknowns of it are above their bounds."""
    inner = csr_array(rows * free)
    point = np.where(free, 1.0, 0.0)
    held = free & bounded
    for _ in range(_TURNS):
        token.check()
        point = point + _solved(inner, goal - inner @ point)
        if (point[held] > _INSIDE).all():
            return point + _solved(inner, goal - inner @ point), True
        point = np.where(held, np.maximum(point, _FLOOR), point)
    return point, False


def _solved(rows: csr_array, goal: Floats) -> Floats:
    """The shortest change with these sums."""
    found = lsmr(rows, goal, atol=_EXACT, btol=_EXACT, maxiter=4 * min(rows.shape) + 100)[0]
    return np.asarray(found, dtype=np.float64)


def _direction(rows: csr_array, free: Flags) -> Floats:
    """A random direction of the free unknowns that keeps all sums."""
    inner = csr_array(rows * free)
    drawn = np.where(free, np.random.default_rng(_SEED).uniform(-1, 1, len(free)), 0.0)
    for _ in range(2):  # twice, for the last digits
        drawn = drawn - _solved(inner, inner @ drawn)
    return np.where(np.abs(drawn) > _CLOSE * 1e3 * np.abs(drawn).max(initial=0.0), drawn, 0.0)


def _ends(
    rows: csr_array,
    goal: Floats,
    point: Floats,
    direction: Floats,
    bounded: Flags,
    unit: Floats,
) -> tuple[Floats, Floats] | None:
    """The points at both ends of the direction, if they have the sums."""
    moved = bounded & (direction != 0)
    far = float((point[moved] / np.abs(direction[moved])).min(initial=1.0))
    ends = point - far * direction, point + far * direction
    size = abs(rows) @ np.abs(point)
    if any((np.abs(rows @ end - goal) > _CLOSE * np.maximum(size, 1e-300)).any() for end in ends):
        return None
    low, high = np.minimum(*ends) * unit, np.maximum(*ends) * unit
    return np.where(bounded, np.maximum(low, 0.0), low), high
