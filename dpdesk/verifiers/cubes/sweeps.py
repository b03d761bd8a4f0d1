"""Variances of all cuboids of a large cube, which the verifier computes again.

By the definitions that the verifier follows subset by subset in small cubes, here one
dimension at a time; nothing is shared with the planners and their lattice.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_FEW = 8


def residual_move(sizes: Sequence[int], *, replace: bool) -> float:
    """Square of what one row can move in a residual, by trying which dimensions change.

    In many dimensions only changes of a single one are tried: others move less.
    """
    kept = prod(1 - 1 / n for n in sizes)
    if not replace or not sizes:
        return kept
    few = range(1, 1 << len(sizes)) if len(sizes) <= _FEW else (1 << i for i in range(len(sizes)))
    inner = (
        prod(-1 / n if pattern >> i & 1 else 1 - 1 / n for i, n in enumerate(sizes))
        for pattern in few
    )
    return max(kept, 2 * (kept - min(inner)))


def swept_best(sizes: Sequence[int], sources: Sequence[int], variances: Sequence[float]) -> Floats:
    """Smallest variance of a cell when it is summed up from one source; by mask, shape (2^d,)."""
    best = np.full(1 << len(sizes), np.inf)
    np.minimum.at(best, np.asarray(sources, np.int64), np.asarray(variances, np.float64))
    for i, size in enumerate(sizes):
        pairs = best.reshape(-1, 2, 1 << i)
        np.minimum(pairs[:, 0], pairs[:, 1] * size, out=pairs[:, 0])
    return best


def swept_after(
    sizes: Sequence[int],
    sources: Sequence[int],
    variances: Sequence[float],
    *,
    residuals: bool,
    exact: Sequence[int] = (),
) -> Floats:
    """Variance of a cell after consistency, infinite where it is not determined; by mask.

    Residuals below ``exact`` cuboids are known.
    """
    known = np.zeros(1 << len(sizes))
    np.add.at(known, np.asarray(sources, np.int64), 1 / np.asarray(variances, np.float64))
    for i, size in enumerate(sizes if not residuals else ()):
        pairs = known.reshape(-1, 2, 1 << i)
        pairs[:, 0] += pairs[:, 1] / size
    for mask in exact:
        known[(np.arange(len(known)) & ~mask) == 0] = np.inf
    share = np.ones(1)
    for size in sizes:
        share = np.concatenate([share, share * (1 - 1 / size)])
    with np.errstate(divide="ignore"):
        after = np.where(share > 0, share, 0.0) / np.where(share > 0, known, 1.0)
    for i, size in enumerate(sizes):
        pairs = after.reshape(-1, 2, 1 << i)
        pairs[:, 1] += pairs[:, 0] / size**2
    return after
