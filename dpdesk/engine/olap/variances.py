"""The exact variance of any sum over a product set of cells of a consistent cube.

In the residual basis the estimate of a cell of the cuboid C is the sum over S of C of
r_S / prod over C without S of n_i, where the residuals r_S of different S are uncorrelated and r_S
has the covariance (1/W_S) * kron over S of (I - J/n_i). Summing over a product set A_1 x ... x A_d
with a_i = |A_i| of n_i categories takes each factor for itself:

    Var = sum over S of (1/W_S) * prod over S of a_i (1 - a_i/n_i) * prod outside S of (a_i/n_i)^2

A dimension that is summed up altogether (a_i = n_i) brings only the factor 1, and S never holds it,
so the value does not depend on the cuboid from which the sum is taken: one more proof that
consistent tables agree. With a_i = 1 on C it is the variance of one cell.
Source: resources/docs/olap.md; the residual basis is that of resources/docs/cubes.md.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def sum_variances(unknown: Floats, shape: Sequence[int], sizes: Sequence[Floats]) -> Floats:
    """Variances of all sums over A_1 x ... x A_d, shape (groups_1, ..., groups_d).

    ``unknown`` is 1/W by residual, shape (2^d,) (0 where a residual is exact, infinite where it is
    not known); ``sizes`` holds for each dimension the numbers a_i of its groups. The result is
    infinite where the sum needs a residual that is not known.
    """
    rest = np.asarray(unknown, dtype=np.float64).reshape(-1)
    kept: list[int] = []
    for axis in reversed(range(len(shape))):  # first what is summed up altogether, as it only cuts
        if np.all(np.asarray(sizes[axis]) == shape[axis]):
            rest = rest.reshape(-1, 2, 1 << axis)[:, 0].reshape(-1)
        else:
            kept.insert(0, axis)
    found = _over(rest, [shape[axis] for axis in kept], [sizes[axis] for axis in kept])
    places = [len(each) if axis in kept else 1 for axis, each in enumerate(sizes)]
    whole = found.reshape(places)
    return np.array(np.broadcast_to(whole, [len(each) for each in sizes]))


def _over(rest: Floats, shape: Sequence[int], sizes: Sequence[Floats]) -> Floats:
    for axis in reversed(range(len(shape))):
        share = np.asarray(sizes[axis], dtype=np.float64) / shape[axis]
        inner = np.asarray(sizes[axis], dtype=np.float64) * (1 - share)
        pairs = rest.reshape(2, 1 << axis, -1)
        rest = _times(pairs[0], share**2) + _times(pairs[1], inner)
    return rest.reshape([len(each) for each in sizes])


def _times(part: Floats, factors: Floats) -> Floats:
    """Each entry with each factor, the factors before what was done already; 0 * inf is 0.

    ``part`` has shape (masks of the dimensions still to do, groups done); the result
    (masks, factors * groups).
    """
    masks, done = part.shape
    with np.errstate(invalid="ignore"):
        each = part[:, None, :] * factors[None, :, None]
    each[:, factors == 0, :] = 0.0
    return np.asarray(each.reshape(masks, len(factors) * done))
