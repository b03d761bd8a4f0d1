"""Value counts that a table can have, nearest to those that a release shows.

In a release with ℓ′ the published counts f′ are noisy: they often break the rule of
eligibility that the true counts f keep (no value more than N/ℓ′ times).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def admissible_counts(published: Ints, size: int) -> Ints:
    """The counts with entries from 1 to N/ℓ′ and sum N that are nearest to the published ones.

    Nearest in the sense of least squares with weights 1/f′, the variance of f′ being f(1−1/ℓ′):
    what a capped value has too much goes to the others in proportion. ``published`` has shape
    (values,), every entry at least 1; the result is of the same shape. Raises InputError
    ``diverted.rows`` or ``diverted.values`` when no table can have had them.
    """
    total = int(published.sum())
    if size < 2 or total == 0 or total % size:
        raise InputError(
            "diverted.rows",
            msg(
                "The release has {total:,} rows, expected a multiple of ℓ′ = {size}.",
                total=total,
                size=size,
            ),
        )
    if len(published) < size:
        raise InputError(
            "diverted.values",
            msg(
                "The release shows {n} different sensitive values, expected at least ℓ′ = {size}.",
                n=len(published),
                size=size,
            ),
            hint="Nothing can be estimated from so few rows.",
        )
    return _whole(_capped(published.astype(np.float64), total // size, total), total // size, total)


def _capped(counts: Floats, cap: int, total: int) -> Floats:
    """Counts in proportion, none above the cap."""
    full = np.zeros(len(counts), bool)
    while True:
        rest = total - cap * int(full.sum())
        scaled = np.where(full, cap, counts * (rest / max(counts[~full].sum(), 1.0)))
        over = scaled > cap * (1 + 1e-12)
        if not over.any():
            return np.asarray(scaled)
        full |= over


def _whole(counts: Floats, cap: int, total: int) -> Ints:
    """Whole numbers from 1 to the cap with the right sum, by largest remainders."""
    whole = np.clip(np.floor(counts + 1e-9), 1, cap).astype(np.int64)
    while (missing := total - int(whole.sum())) != 0:
        step = 1 if missing > 0 else -1
        room = whole < cap if missing > 0 else whole > 1
        order = np.argsort(-step * (counts - whole), kind="stable")
        order = order[room[order]]
        whole[order[: abs(missing)]] += step
    return whole
