"""Compiled iterative Bayes on 2^(w+1) states: matches or not, has the value or not, w times."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpdesk.core.compiled import kernel

Array = Any
"""A numpy array; inside compiled code element types come from the caller."""


@kernel
def decoy_chances(found: Array, size: int, as_in_paper: bool, chances: Array) -> None:
    """The paper's a for each attribute, from the counts f of the current states.

    Bit i of a state says whether it has the value of attribute i; f is kept at N/ℓ′ or below.
    """
    total = found.sum()
    for i in range(len(chances)):
        count = 0.0
        for state in range(len(found)):
            if state >> i & 1:
                count += found[state]
        count = min(count, total / size)
        if as_in_paper:
            chances[i] = count / total
        else:
            chances[i] = count * (size - 1) / (size * (total - count))


@kernel
def _chance(true: int, published: int, size: int, chances: Array) -> Any:
    """The entry of the Kronecker product; the bit above the attributes never changes."""
    if true >> len(chances) != published >> len(chances):
        return 0.0
    product = 1.0
    for i in range(len(chances)):
        up = 1.0 / size if true >> i & 1 else chances[i]
        product *= up if published >> i & 1 else 1.0 - up
    return product


@kernel
def bayes(
    published: Array, found: Array, size: int, as_in_paper: bool, chances: Array, after: Array
) -> None:
    """One step of the paper's equation 13, with the matrix of the current counts."""
    decoy_chances(found, size, as_in_paper, chances)
    after[:] = 0.0
    for j in range(len(found)):
        expected = 0.0
        for i in range(len(found)):
            expected += found[i] * _chance(i, j, size, chances)
        if expected > 0.0:
            for i in range(len(found)):
                after[i] += published[j] / expected * found[i] * _chance(i, j, size, chances)


@kernel
def iterate(
    published: Array, size: int, attributes: int, as_in_paper: bool, found: Array, tolerance: float
) -> int:
    """Move ``found`` to the fixed point, by SQUAREM; the number of steps taken.

    Ends when no state moves by more than ``tolerance`` rows, with regard to how slowly the steps
    shrink, or after 3,000 steps.
    """
    chances = np.zeros(attributes)
    first, second, jumped = np.empty_like(found), np.empty_like(found), np.empty_like(found)
    taken = 0
    while taken < 3_000:
        bayes(published, found, size, as_in_paper, chances, first)
        bayes(published, first, size, as_in_paper, chances, second)
        taken += 2
        change, bend, last = 0.0, 0.0, 0.0
        for i in range(len(found)):
            change += (first[i] - found[i]) ** 2
            bend += (second[i] - 2 * first[i] + found[i]) ** 2
            last = max(last, abs(second[i] - first[i]))
        length = np.sqrt(change / bend) if bend > 0 else 1.0
        if last * max(1.0, length) <= tolerance:
            found[:] = second
            return taken
        jumped[:] = found + 2 * length * (first - found)
        jumped += length**2 * (second - 2 * first + found)
        if length <= 1.0 or jumped.min() < 0.0:
            found[:] = second
        else:
            bayes(published, jumped, size, as_in_paper, chances, found)
            taken += 1
    return taken
