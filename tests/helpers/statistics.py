"""Bounds on luck: how far a fair count may stray before a test may call it unfair."""

from __future__ import annotations

from math import log, sqrt

FALSE_ALARM = 1e-9
"""How likely a test that uses these bounds fails although nothing is wrong, over all its parts."""


def stray(n: int, probability: float, parts: int = 1) -> float:
    """How far a binomial count may lie from n·probability (Bernstein's inequality).

    ``parts`` is how many counts one test compares; the false alarm holds for all together.
    """
    t = log(2 * parts / FALSE_ALARM)
    variance = n * probability * (1 - probability)
    return t / 3 + sqrt(t * t / 9 + 2 * t * variance)


def chi_square_limit(degrees: int) -> float:
    """What a χ² variable of so many degrees of freedom exceeds with less than the false alarm.

    Laurent and Massart (2000), lemma 1. Pearson's statistic follows the distribution in the limit.
    """
    t = log(1 / FALSE_ALARM)
    return degrees + 2 * sqrt(degrees * t) + 2 * t
