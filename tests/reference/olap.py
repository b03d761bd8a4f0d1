"""Sums of cells of a cube and their variances, by the whole covariance matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod

import numpy as np

from tests.reference.cube_consistency import Floats, axes, cells, sums, system


def covariance(
    shape: Sequence[int], own: Mapping[int, float], residual: Mapping[int, float], mask: int
) -> Floats:
    """Covariances of all cells of a cuboid after least squares, for noise of these weights."""
    matrix = system(shape, own, residual)
    estimator = sums(mask, shape) @ np.linalg.pinv(matrix, rcond=1e-9)
    return np.asarray(estimator @ estimator.T)


def chosen(mask: int, shape: Sequence[int], sets: Sequence[Sequence[int]]) -> Floats:
    """1 for each cell of a cuboid that lies in the product of the sets, else 0."""
    places = axes(mask)
    return np.array(
        [
            float(all(cell[at] in sets[axis] for at, axis in enumerate(places)))
            for cell in cells(mask, shape)
        ]
    )


def sum_of_cells(
    values: Floats, mask: int, shape: Sequence[int], sets: Sequence[Sequence[int]]
) -> float:
    """The sum of the cells of a cuboid in the product of the sets, one by one."""
    total, places = 0.0, axes(mask)
    for cell in product(*(range(shape[i]) for i in places)):
        if all(cell[at] in sets[axis] for at, axis in enumerate(places)):
            total += float(values[cell])
    return total


def independent_variance(
    mask: int,
    shape: Sequence[int],
    sets: Sequence[Sequence[int]],
    sources: Mapping[int, float],
) -> float:
    """Variance of a sum of cells that were each summed up from the best noisy cuboid, by listing
    the noisy cells that it holds."""
    best = min(
        (source for source in sources if not mask & ~source),
        key=lambda source: sources[source] * prod(shape[i] for i in axes(source & ~mask)),
    )
    inside = [
        cell
        for cell in cells(best, shape)
        if all(cell[at] in sets[axis] for at, axis in enumerate(axes(best)) if mask >> axis & 1)
    ]
    return sources[best] * len(inside)
