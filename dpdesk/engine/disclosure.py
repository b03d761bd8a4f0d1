"""How the values of a column are spread over the classes of a published table.

What a reader learns of somebody whose class is known does not follow from the size of the class:
where all its rows hold one value, that value is learnt of everybody in it (homogeneity,
Machanavajjhala et al.); where its values are distributed otherwise than in the whole table,
something is learnt (t-closeness, Li et al.). Everything is counted exactly, in whole numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.compiled import kernel
from dpdesk.core.jobs import CancelToken

DOMINATED = Fraction(9, 10)
_MOST_ROWS = 2**31
_NEAR = 1e-12
_PIECE = 1 << 20
_DISTINCT, _LARGEST, _PRESENT, _TERMS = range(4)
_EXPOSED, _ALONE = range(2)


@dataclass(frozen=True, eq=False)
class Pairs:
    """The rows of a table by class and value of one column.

    ``classes``, ``values`` and ``counts`` have shape (pairs,): codes of class and value, and the
    rows that hold both, at least 1; no pair comes twice. ``sizes`` are the rows per class, at least
    1, and ``totals`` the rows per value. All int64; all three counts sum to the rows of the table.
    """

    classes: NDArray[np.int64]
    values: NDArray[np.int64]
    counts: NDArray[np.int64]
    sizes: NDArray[np.int64]
    totals: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Spread:
    """See :class:`dpdesk.core.release.SpreadFacts`.

    ``held`` are the homogeneous classes per value, int64 of shape (values,).
    """

    fewest: int
    homogeneous_classes: int
    homogeneous_rows: int
    dominated_classes: int
    dominated_rows: int
    distance: Fraction
    exposed: int
    alone: int
    held: NDArray[np.int64]


def spread(pairs: Pairs, k: int, token: CancelToken) -> Spread:
    """How the values are spread over the classes; groups of fewer than ``k`` rows are exposed.

    ValueError for a table without rows, or with 2³¹ rows or more; Cancelled.
    """
    rows, sizes = int(pairs.sizes.sum()), pairs.sizes
    if not 0 < rows < _MOST_ROWS:
        raise ValueError(f"{rows} rows cannot be counted here")
    held = np.zeros(len(pairs.totals), np.int64)
    by_class = np.zeros((len(sizes), 4), np.int64)
    small = np.zeros(2, np.int64)
    for piece in _pieces(pairs, token):
        given = pairs.classes[piece], pairs.values[piece], pairs.counts[piece]
        _add_pairs(*given, sizes, pairs.totals, rows, k, by_class, small)
    for piece in _pieces(pairs, token):
        _add_held(pairs.classes[piece], pairs.values[piece], by_class, held)
    homogeneous = by_class[:, _DISTINCT] == 1
    dominated = ~homogeneous & (
        by_class[:, _LARGEST] * DOMINATED.denominator >= sizes * DOMINATED.numerator
    )
    return Spread(
        fewest=int(by_class[:, _DISTINCT].min()),
        homogeneous_classes=int(homogeneous.sum()),
        homogeneous_rows=int(sizes[homogeneous].sum()),
        dominated_classes=int(dominated.sum()),
        dominated_rows=int(sizes[dominated].sum()),
        distance=_distance(by_class, sizes, rows),
        exposed=int(small[_EXPOSED]),
        alone=int(small[_ALONE]),
        held=held,
    )


def _pieces(pairs: Pairs, token: CancelToken) -> Iterator[slice]:
    for start in range(0, len(pairs.counts), _PIECE):
        token.check()
        yield slice(start, start + _PIECE)


@kernel
def _add_pairs(
    classes: Any, values: Any, counts: Any, sizes: Any, totals: Any, rows: int, k: int,
    by_class: Any, small: Any,
) -> None:  # fmt: skip
    """Per class: its values, its largest count, ΣN_v and Σ|n_cv·N − N_v·n_c| of its values v."""
    for pair in range(len(values)):
        each, count = classes[pair], counts[pair]
        total = totals[values[pair]]
        by_class[each, _DISTINCT] += 1
        by_class[each, _LARGEST] = max(by_class[each, _LARGEST], count)
        by_class[each, _PRESENT] += total
        by_class[each, _TERMS] += abs(count * rows - total * sizes[each])
        if count < k:
            small[_EXPOSED] += count
        if count == 1:
            small[_ALONE] += 1


@kernel
def _add_held(classes: Any, values: Any, by_class: Any, held: Any) -> None:
    for pair in range(len(values)):
        if by_class[classes[pair], _DISTINCT] == 1:
            held[values[pair]] += 1


def _distance(by_class: NDArray[np.int64], sizes: NDArray[np.int64], rows: int) -> Fraction:
    """The largest ½·Σ_v |n_cv/n_c − N_v/N| of a class c, as an exact fraction.

    With n_c·N as the common denominator all terms are whole numbers below 2⁶³; the values that a
    class lacks add n_c·(N − Σ N_v of its own values).
    """
    sums = by_class[:, _TERMS] + sizes * (rows - by_class[:, _PRESENT])
    shares = sums / sizes
    near = np.flatnonzero(shares >= shares.max() * (1 - _NEAR))
    candidates = np.unique(np.column_stack([sums[near], sizes[near]]), axis=0)
    return max(Fraction(int(total), 2 * int(size) * rows) for total, size in candidates)
