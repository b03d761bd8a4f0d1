"""From floating-point shares to exact ones."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dpdesk.engine.cubes.lattice import Floats

DENOMINATOR = 10_000_000
"""Shares are whole multiples of one ten-millionth of the budget, so a plan shows them exactly."""


def exact_shares(shares: Floats) -> dict[int, Fraction]:
    """Shares proportional to these up to rounding, that sum to exactly 1, by place; none is 0.

    Largest remainders: every share is rounded down, then the units that are left go to those that
    lost most (the first ones of equals).
    """
    wanted = shares / shares.sum() * DENOMINATOR
    units = np.floor(wanted).astype(np.int64)
    left = DENOMINATOR - int(units.sum())
    order = np.argsort(units - wanted, kind="stable")
    if left >= 0:
        units[order[:left]] += 1
    else:  # the floating-point sum was a little below 1
        units[np.argmax(units)] += left
    return {int(c): Fraction(int(units[c]), DENOMINATOR) for c in np.flatnonzero(units > 0)}
