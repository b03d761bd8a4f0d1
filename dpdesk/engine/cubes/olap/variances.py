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

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def sum_variances(unknown: Floats, shape: Sequence[int], sizes: Sequence[Floats]) -> Floats:
    """Variances of all sums over A_1 x ... x A_d, shape (groups_1, ..., groups_d).

    ``unknown`` is 1/W by residual, shape (2^d,) (0 where a residual is exact, infinite where it is
    not known); ``sizes`` holds for each dimension the numbers a_i of its groups. The result is
    infinite where the sum needs a residual that is not known.
    """
    factors = []
    for count, size in zip(shape, sizes, strict=True):
        share = np.asarray(size, dtype=np.float64) / count
        factors.append((share**2, np.asarray(size, dtype=np.float64) * (1 - share)))
    return _over(unknown, factors)


def covariances(
    unknown: Floats, shape: Sequence[int], inside: Sequence[Bools], cell: Mapping[int, int]
) -> Floats:
    """Covariances of sums over A_1 x ... x A_d with one cell of a cuboid, shape of the groups.

    ``inside`` says for each dimension which categories each group holds, shape (groups,
    categories); ``cell`` gives the category of each dimension of the cuboid. For a dimension of
    the cell the factors are a_i/n_i^2 outside S, and [A_i holds it] - a_i/n_i in S; for the others,
    that the cell sums up, a_i/n_i and 0.
    """
    factors = []
    for axis, count in enumerate(shape):
        share = inside[axis].sum(axis=1) / count
        if axis in cell:
            factors.append((share / count, inside[axis][:, cell[axis]] - share))
        else:
            factors.append((share, np.zeros_like(share)))
    return _over(unknown, factors)


def explained(among: Floats, shared: Floats) -> Floats:
    """What the variances lose when some cells are known: shape of the sums.

    ``among`` holds the covariances of the known cells with each other, shape (cells, cells);
    ``shared`` theirs with the sums, shape (cells, ...). As regression on known values has it:
    shared' * inverse(among) * shared; cells that follow from others add nothing.
    """
    flat = shared.reshape(len(shared), -1)
    found = np.linalg.pinv(among, rcond=1e-9, hermitian=True) @ flat
    return np.asarray((flat * found).sum(axis=0).reshape(shared.shape[1:]))


def _over(unknown: Floats, factors: Sequence[tuple[Floats, Floats]]) -> Floats:
    """The sum over S of unknown(S) times the second factors in S and the first ones outside.

    First come the dimensions that no S has, for they only cut; the result has an axis for each.
    """
    rest = np.asarray(unknown, dtype=np.float64).reshape(-1)
    kept: list[int] = []
    for axis in reversed(range(len(factors))):
        outer, inner = factors[axis]
        if not inner.any():
            rest = rest.reshape(-1, 2, 1 << axis)[:, 0].reshape(-1)
        else:
            kept.insert(0, axis)
    for place in reversed(range(len(kept))):
        outer, inner = factors[kept[place]]
        pairs = rest.reshape(2, 1 << place, -1)
        rest = _times(pairs[0], outer) + _times(pairs[1], inner)
    lengths = [len(outer) for outer, _ in factors]
    found = rest.reshape([n if axis in kept else 1 for axis, n in enumerate(lengths)])
    for axis, (outer, _) in enumerate(factors):
        if axis not in kept:
            found = found * outer.reshape([-1 if i == axis else 1 for i in range(len(factors))])
    return np.array(np.broadcast_to(found, lengths))


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
