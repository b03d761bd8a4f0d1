"""For which counts a diverted release is reliable, and for which it protects: exact tails.

A value with f rows is published by f′ ~ Binomial(ℓ′f, 1/ℓ′) rows. Source: l-diverted paper, section
6, whose bound 1/(ℓ′ε²f²) squares the number of trials by mistake; it is shown for comparison alone.
The valid bound of Chebyshev is (1−1/ℓ′)/(ε²f); neither decides anything here.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from math import ceil, exp, inf, log

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpdesk.core.errors import InputError

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_CHUNK = 50_000
_MOST = 2_000_000


def error_chances(counts: ArrayLike, size: int, share: Fraction, *, beyond: bool = False) -> Floats:
    """Pr(|f′ − f| ≥ share·f) for each count f, or Pr(|f′ − f| > share·f) with ``beyond``.

    ``counts`` are whole numbers of 1 or more, ``size`` is ℓ′, ``share`` ε > 0. The ends of the
    tails are found in whole numbers; the tails are regularised incomplete beta functions, exact to
    about 12 digits for any count.
    """
    from scipy.special import betainc

    f = np.asarray(counts, np.int64)
    trials, p = f * size, 1.0 / size
    low, high = _ends(f, share, beyond)
    # Pr(X ≥ k) = I_p(k, n − k + 1), Pr(X ≤ k) = I_{1−p}(n − k, k + 1).
    above = np.where(high > trials, 0.0, betainc(high, np.maximum(trials - high + 1, 1), p))
    below = np.where(low < 0, 0.0, betainc(trials - np.maximum(low, 0), low.clip(0) + 1, 1 - p))
    return np.asarray(above + below, np.float64)


def _ends(f: Ints, share: Fraction, beyond: bool) -> tuple[Ints, Ints]:
    """The largest x below and the smallest above that are wrong by the share (by more)."""
    top, bottom = share.numerator, share.denominator
    gap = f * top // bottom + 1 if beyond else -(-f * top // bottom)
    return f - gap, f + gap


def chebyshev(counts: ArrayLike, size: int, share: Fraction) -> Floats:
    """The valid bound (1−1/ℓ′)/(ε²f) of the chance of a relative error of ε or more; at most 1."""
    f = np.asarray(counts, np.float64)
    return np.asarray(np.minimum(1.0, (1 - 1 / size) / (float(share) ** 2 * f)))


def paper_bound(counts: ArrayLike, size: int, share: Fraction) -> Floats:
    """The paper's bound 1/(ℓ′ε²f²), at most 1: it is no bound, and here for comparison alone."""
    f = np.asarray(counts, np.float64)
    return np.asarray(np.minimum(1.0, 1 / (size * float(share) ** 2 * f**2)))


@lru_cache(maxsize=64)
def utility_threshold(size: int, share: Fraction, most: Fraction) -> int:
    """T_f of the (ε, T_E, T_f) guarantee: Pr(|f′−f| ≥ εf) ≤ T_E for every f from it on.

    The least such number: one less does not have the property. Above Chernoff's bound nothing need
    be looked at. Raises InputError ``threshold.range`` for shares out of range or a search of more
    than 2 million counts.
    """
    _check(size, share, most)
    for first, last in _chunks_down(_surely_reliable(size, share, most)):
        counts = np.arange(first, last + 1)
        failing = np.flatnonzero(error_chances(counts, size, share) > float(most))
        if len(failing):
            return int(counts[failing[-1]]) + 1
    return 1


@lru_cache(maxsize=64)
def privacy_threshold(size: int, share: Fraction, least: Fraction) -> int:
    """The largest F with Pr(|f′−f| > εf) ≥ T_P for every f from 1 to F; 0 if there is none.

    These are the counts with the (ε, T_P) privacy guarantee. Raises InputError
    ``threshold.range``.
    """
    _check(size, share, least)
    last = _surely_reliable(size, share, least)
    for first in range(1, last + 1, _CHUNK):
        counts = np.arange(first, min(first + _CHUNK, last + 1))
        failing = np.flatnonzero(error_chances(counts, size, share, beyond=True) < float(least))
        if len(failing):
            return int(counts[failing[0]]) - 1
    return last


def _surely_reliable(size: int, share: Fraction, most: Fraction) -> int:
    """A count from which on Chernoff's bound keeps the chance of an error below ``most``."""
    rates = [size * _divergence(1 / size * (1 + side * float(share)), 1 / size) for side in (1, -1)]
    slow = min(rates)
    bound = inf if slow <= 0 else log(2 / float(most)) / slow
    if bound > _MOST:
        raise InputError(
            "threshold.range",
            f"With a relative error of {float(share):g} the threshold lies among more than "
            f"{_MOST:,} counts, expected a larger error or chance.",
        )
    found = max(1, ceil(bound))
    while sum(exp(-rate * found) for rate in rates) > float(most):
        found += 1
    return found


def _divergence(q: float, p: float) -> float:
    """Kullback–Leibler divergence of coins; infinite where q is impossible."""
    if q > 1 or q < 0:
        return inf
    first = q * log(q / p) if q > 0 else 0.0
    return first + ((1 - q) * log((1 - q) / (1 - p)) if q < 1 else 0.0)


def _chunks_down(last: int) -> Iterator[tuple[int, int]]:
    while last >= 1:
        first = max(1, last - _CHUNK + 1)
        yield first, last
        last = first - 1


def _check(size: int, share: Fraction, chance: Fraction) -> None:
    if size < 2 or share <= 0 or not 0 < chance < 1:
        raise InputError(
            "threshold.range",
            f"A threshold was asked for ℓ′ = {size}, a relative error of {float(share):g} and a "
            f"chance of {float(chance):g}, expected ℓ′ ≥ 2, an error above 0 and a chance between "
            "0 and 1.",
        )
