"""Which two bases to unite, compiled: all pairs of bases are looked at, step after step."""

from __future__ import annotations

from typing import Any

from dpdesk.core.compiled import kernel

Array = Any


@kernel
def _ones(bits: int) -> int:
    found = 0
    while bits:
        bits &= bits - 1
        found += 1
    return found


@kernel
def best_union(bases: Array, targets: Array, known: Array, largest: int) -> tuple[int, int]:
    """The two bases (items are bits) whose union of at most ``largest`` items lowers most the mean
    variance of the counts of the targets, and with it the others inside it; (0, 0) when none does.

    ``known`` is one over each target's variance, up to the square of the number of bases: see
    :func:`~dpdesk.engine.methods.itemsets.bases.precision_weights`.
    """
    many, best, first, second = len(bases), 1 - 1e-12, 0, 0
    whole = (1 / known).sum()
    gone = bases.copy()
    for one in range(many):
        for other in range(one + 1, many):
            union = bases[one] | bases[other]
            size = _ones(union)
            if size > largest:
                continue
            lost = 0
            for basis in bases:
                if basis & ~union == 0:
                    gone[lost] = basis
                    lost += 1
            left = whole
            for place in range(len(targets)):
                target = targets[place]
                if target & ~union == 0:
                    weight = known[place] + 2.0 ** (_ones(target) - size)
                    for basis in gone[:lost]:
                        if target & ~basis == 0:
                            weight -= 2.0 ** (_ones(target) - _ones(basis))
                    left += 1 / weight - 1 / known[place]
            mean = (many - lost + 1) ** 2 * left / (many**2 * whole)
            if mean < best:
                best, first, second = mean, one, other
    return first, second
