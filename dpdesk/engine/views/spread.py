"""How noise of views moves a table of largest entropy that lies in none of them.

Such a table has the sums that the views tell, and multiplies factors of them: a large cell moves
with all that the noise does to the sums that hold it, much more than a cell of the table nearest to
an even one, whose variance is the same everywhere and known beforehand. To first order, with the
table x > 0, the columns of B the contrasts that views tell of, and D their variances, the
covariances of its cells are X B H^-1 D H^-1 B' X with X = diag(x) and H = B' X B: the equations
B' x = c, differentiated. What is needed of the data is the released table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpdesk.engine.cubes.lattice import mask_of

if TYPE_CHECKING:
    from dpdesk.engine.views.choosing import PlannedNoise
    from dpdesk.engine.views.marginals import Marginal

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_MOST_NUMBERS, _MOST_STEPS = 1 << 24, 1 << 31
_RIDGE = 1e-10


def noise_of(made: Marginal, planned: PlannedNoise, inside: Sequence[Bools]) -> Floats | None:
    """:func:`spread` of a marginal of views with this noise."""
    places, known = made.places, planned.known
    own = {}
    for mask in range(1 << len(places)):
        whole = mask_of(place for axis, place in enumerate(places) if mask >> axis & 1)
        if whole in known:
            own[mask] = known[whole]
    return spread(made.values, own, inside)


def spread(table: Floats, precision: Mapping[int, float], inside: Sequence[Bools]) -> Floats | None:
    """Variances of sums of a table of largest entropy, to first order, shape of the groups.

    ``precision`` holds 1/variance of the contrasts of each set of axes (a mask) that views tell of;
    ``inside`` says for each axis which places a group holds, shape (groups, places). None where the
    table is too large for it.
    """
    shape, total = table.shape, float(table.sum())
    sizes = [prod(shape[i] - 1 for i in range(len(shape)) if mask >> i & 1) for mask in precision]
    if table.size * sum(sizes) > _MOST_NUMBERS or table.size * sum(sizes) ** 2 > _MOST_STEPS:
        return None
    if total <= 0:
        return np.zeros([len(each) for each in inside])
    contrasts = np.column_stack([_contrasts(shape, mask) for mask in precision])
    moved = contrasts * table.reshape(-1, 1)
    curved = contrasts.T @ moved
    curved[np.diag_indices_from(curved)] += _RIDGE * total
    grouped = moved.reshape(*shape, -1)
    for axis, each in enumerate(inside):
        grouped = np.moveaxis(np.tensordot(each.astype(np.float64), grouped, (1, axis)), 0, axis)
    slopes = np.linalg.solve(curved, grouped.reshape(-1, contrasts.shape[1]).T)
    variances = np.repeat([1 / each for each in precision.values()], sizes)
    return np.asarray((slopes**2 * variances[:, None]).sum(axis=0)).reshape(grouped.shape[:-1])


def _contrasts(shape: Sequence[int], mask: int) -> Floats:
    """Orthonormal contrasts of the table over some axes, for each cell of the whole one."""
    found: Floats = np.ones((1, 1))
    for axis, size in enumerate(shape):
        own = _of_axis(size) if mask >> axis & 1 else np.ones((size, 1))
        found = np.asarray(np.kron(found, own), np.float64)
    return found


def _of_axis(size: int) -> Floats:
    """An orthonormal basis of what sums to 0, shape (size, size - 1): Helmert's."""
    found = np.zeros((size, size - 1))
    for j in range(1, size):
        found[:j, j - 1], found[j, j - 1] = 1, -j
        found[:, j - 1] /= np.sqrt(j * (j + 1))
    return found
