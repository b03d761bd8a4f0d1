"""Least squares over noisy cuboids by dense matrices, straight from the definition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def axes(mask: int) -> tuple[int, ...]:
    return tuple(i for i in range(mask.bit_length()) if mask >> i & 1)


def cells(mask: int, shape: Sequence[int]) -> list[tuple[int, ...]]:
    return list(product(*(range(shape[i]) for i in axes(mask))))


def sums(mask: int, shape: Sequence[int]) -> Floats:
    """The matrix that takes base cells to the cells of a cuboid."""
    place = {cell: row for row, cell in enumerate(cells(mask, shape))}
    matrix = np.zeros((len(place), prod(shape)))
    for column, cell in enumerate(product(*(range(n) for n in shape))):
        matrix[place[tuple(cell[i] for i in axes(mask))], column] = 1
    return matrix


def residual_part(mask: int, shape: Sequence[int]) -> Floats:
    """The projection of a cuboid's cells on its residual: all means along axes taken out."""
    matrix = np.ones((1, 1))
    for i in axes(mask):
        matrix = np.kron(matrix, np.eye(shape[i]) - 1 / shape[i])
    return matrix


def system(shape: Sequence[int], own: Mapping[int, float], residual: Mapping[int, float]) -> Floats:
    """Rows of the weighted problem, whole cuboids first."""
    rows = [np.sqrt(weight) * sums(mask, shape) for mask, weight in own.items()]
    rows += [
        np.sqrt(weight) * residual_part(mask, shape) @ sums(mask, shape)
        for mask, weight in residual.items()
    ]
    return np.vstack(rows)


def least_squares(
    shape: Sequence[int],
    noisy: Mapping[int, tuple[Floats, float]],
    residuals: Mapping[int, tuple[Floats, float]],
    wanted: Sequence[int],
) -> dict[int, Floats]:
    """Values of the wanted cuboids; sources are (values, information) by mask."""
    matrix = system(
        shape,
        {mask: weight for mask, (_, weight) in noisy.items()},
        {mask: weight for mask, (_, weight) in residuals.items()},
    )
    right = [np.sqrt(weight) * values.ravel() for values, weight in noisy.values()]
    right += [
        np.sqrt(weight) * residual_part(mask, shape) @ values.ravel()
        for mask, (values, weight) in residuals.items()
    ]
    base = np.linalg.lstsq(matrix, np.concatenate(right))[0]
    return {
        mask: (sums(mask, shape) @ base).reshape([shape[i] for i in axes(mask)]) for mask in wanted
    }


def variances(
    shape: Sequence[int], own: Mapping[int, float], residual: Mapping[int, float], mask: int
) -> Floats:
    """Variance of every cell of a cuboid after least squares, for noise of these weights."""
    matrix = system(shape, own, residual)
    # What no source sees has singular values of rounding size; weights differ by 10^4 at most.
    estimator = sums(mask, shape) @ np.linalg.pinv(matrix, rcond=1e-9)
    return np.asarray((estimator**2).sum(axis=1))
