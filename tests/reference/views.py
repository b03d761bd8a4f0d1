"""Views and marginals by dense linear algebra and plain loops: slow, and easy to believe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, product
from math import prod

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Axes = tuple[int, ...]


def cells_of(axes: Axes, shape: Sequence[int]) -> list[tuple[int, ...]]:
    """All cells, in domain order."""
    return list(product(*(range(shape[i]) for i in axes)))


def rows_of(view: Axes, part: Axes, shape: Sequence[int]) -> Floats:
    """The matrix that sums a view to a part of it."""
    fine, coarse = cells_of(view, shape), cells_of(part, shape)
    matrix = np.zeros((len(coarse), len(fine)))
    for column, cell in enumerate(fine):
        key = tuple(cell[view.index(i)] for i in part)
        matrix[coarse.index(key), column] = 1
    return matrix


def least_squares(
    views: Sequence[Axes],
    tables: Sequence[Floats],
    variances: Sequence[float],
    shape: Sequence[int],
) -> list[Floats]:
    """The nearest views that agree on every pair's intersection, each cell by 1/variance.

    Lagrange's equations, solved by a pseudo-inverse.
    """
    sizes = [prod(shape[i] for i in view) for view in views]
    starts = np.cumsum([0, *sizes])
    noisy = np.concatenate([table.reshape(-1) for table in tables])
    constraints = []
    for one, other in combinations(range(len(views)), 2):
        common = tuple(i for i in views[one] if i in views[other])
        row = np.zeros((prod(shape[i] for i in common), starts[-1]))
        row[:, starts[one] : starts[one + 1]] = rows_of(views[one], common, shape)
        row[:, starts[other] : starts[other + 1]] -= rows_of(views[other], common, shape)
        constraints.append(row)
    matrix = np.concatenate(constraints) if constraints else np.zeros((0, starts[-1]))
    spread = np.repeat(variances, sizes)[:, None] * matrix.T
    found = noisy - spread @ np.linalg.pinv(matrix @ spread) @ (matrix @ noisy)
    return [found[starts[i] : starts[i + 1]].reshape(tables[i].shape) for i in range(len(views))]


def estimated_variance(
    views: Sequence[Axes], variances: Sequence[float], shape: Sequence[int], asked: Axes
) -> float:
    """Variance of a cell of a table that lies in a view, when noise alone is made to agree."""
    sizes = [prod(shape[i] for i in view) for view in views]
    place = next(i for i, view in enumerate(views) if set(asked) <= set(view))
    total = 0.0
    for number, size in enumerate(sizes):
        for cell in range(size):
            tables = [np.zeros([shape[i] for i in view]) for view in views]
            tables[number].reshape(-1)[cell] = 1
            found = least_squares(views, tables, variances, shape)[place]
            effect = rows_of(views[place], asked, shape)[0] @ found.reshape(-1)
            total += variances[number] * float(effect) ** 2
    return total


def contrasts(shape: Sequence[int], mask: int) -> list[Floats]:
    """Orthogonal tables that sum to 0 over each axis of a mask and are even over all others.

    Each has length 1 as a table over the axes of the mask alone.
    """
    lines: list[list[Floats]] = []
    for axis, size in enumerate(shape):
        even = [np.ones(size)]
        own = np.linalg.qr(np.column_stack([np.ones(size), np.eye(size)[:, 1:]]))[0][:, 1:].T
        lines.append(list(own) if mask >> axis & 1 else even)
    found = []
    for chosen in product(*lines):
        table = np.ones(())
        for each in chosen:
            table = np.multiply.outer(table, each)
        found.append(table)
    return found


def entropy(table: Floats) -> float:
    """The entropy of a table that is scaled to 1."""
    shares = table.reshape(-1) / table.sum()
    return -float(sum(share * np.log(share) for share in shares if share > 0))


def sums_of(tables: Mapping[Axes, Floats], part: Axes, shape: Sequence[int]) -> Floats:
    """What some view says of a part, by the slow matrix."""
    view = next(each for each in tables if set(part) <= set(each))
    return np.asarray(rows_of(view, part, shape) @ tables[view].reshape(-1))
