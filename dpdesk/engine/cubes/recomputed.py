"""Variances that the verifier computes again: of the noise, and of all cuboids of a large cube.

The cuboids by the definitions that the verifier follows subset by subset in small cubes, here one
dimension at a time; nothing is shared with the planners and their lattice.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import cosh, exp, prod

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_SMALL_SIGMA = 400.0
_FEW = 8


def laplace_variance(scale: float) -> float:
    """Variance of P(x) proportional to exp(-|x|/b): 1 / (cosh(1/b) - 1)."""
    if scale > 1e4:  # the difference would be lost; the next term of its series is known
        return 2 * scale**2 - 1 / 6
    return 1 / (cosh(1 / scale) - 1) if scale > 1 / 700 else 2 * exp(-1 / scale)


def gaussian_variance(sigma: float) -> float:
    """Variance of P(x) proportional to exp(-x^2/2 sigma^2), summed up where it differs."""
    if sigma > _SMALL_SIGMA:
        return sigma**2
    weights = [exp(-(x**2) / (2 * sigma**2)) for x in range(1, int(40 * sigma) + 3)]
    total = 1 + 2 * sum(weights)
    return 2 * sum(x**2 * weight for x, weight in enumerate(weights, 1)) / total


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
