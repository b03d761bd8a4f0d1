"""Missing values that match anything, or nothing: counted again, by code that made no release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.frequency import FrequencyTable
from dpdesk.core.hierarchy import Hierarchy

CATEGORY, ANY, NONE = "category", "any", "none"

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def missing_labels(
    table: FrequencyTable,
    position: int,
    texts: Mapping[str, str],
    hierarchy: Hierarchy,
    level: int,
    how: str,
) -> frozenset[str]:
    """The labels of a column at a level that stand for missing values of the source alone.

    ``texts`` gives the label of every value. At the top no value is missing; a label that is the
    top's is no missing value under NONE.
    """
    if how == CATEGORY or level >= hierarchy.height or not table.missing:
        return frozenset()
    domain = table.domains[position]
    lost = {texts[domain[code]] for code in table.missing[position]}
    others = set(range(len(domain))) - table.missing[position]
    held = {texts[domain[code]] for code in others}
    top = set(hierarchy.labels[hierarchy.height]) if how == NONE else set()
    return frozenset(lost - held - top)


def marked(
    codes: NDArray[np.integer], texts: Sequence[Sequence[str]], labels: Sequence[frozenset[str]]
) -> Bools:
    """Which cells, shape (tuples, columns), hold one of the labels of their column."""
    found = np.zeros(codes.shape, np.bool_)
    for place, column in enumerate(texts):
        of_code = np.array([text in labels[place] for text in column], np.bool_)
        if of_code.any():
            found[:, place] = of_code[codes[:, place]]
    return found


def matches(codes: NDArray[np.integer], missing: Bools, rows: Ints) -> Ints:
    """How many rows match each tuple: they agree wherever neither has a missing cell.

    ``rows`` are those of each tuple, shape (tuples,), its own count as well.
    """
    found = np.zeros(len(codes), np.int64)
    kinds = {tuple(kind) for kind in missing.tolist()}
    inside = {kind: np.flatnonzero((missing == kind).all(axis=1)) for kind in sorted(kinds)}
    for mine, here in inside.items():
        for theirs, there in inside.items():
            columns = [at for at, lost in enumerate(mine) if not lost and not theirs[at]]
            if not columns:
                found[here] += int(rows[there].sum())
                continue
            shown = np.ascontiguousarray(codes[there][:, columns].astype(np.int64))
            distinct, number = np.unique(shown, axis=0, return_inverse=True)
            sums = np.bincount(number.reshape(-1), rows[there]).astype(np.int64)
            held = {key.tobytes(): int(n) for key, n in zip(distinct, sums, strict=True)}
            wanted = np.ascontiguousarray(codes[here][:, columns].astype(np.int64))
            asked, back = np.unique(wanted, axis=0, return_inverse=True)
            counts = np.array([held.get(key.tobytes(), 0) for key in asked], np.int64)
            found[here] += counts[back.reshape(-1)]
    return found


def staying(how: str, codes: NDArray[np.integer], missing: Bools, rows: Ints, k: int) -> Bools:
    """Which tuples stay at ``k``, as missing cells count.

    Those with fewer than k matches leave together, and the rest is counted again.
    """
    if how == NONE:
        left: Bools = np.logical_not(missing.any(axis=1))
        bare = np.zeros(missing.shape, np.bool_)
        found: Bools = left & (matches(codes, bare, np.where(left, rows, 0)) >= k)
        return found
    kept = np.ones(len(codes), np.bool_)
    while True:
        held: Bools = np.logical_and(kept, matches(codes, missing, np.where(kept, rows, 0)) >= k)
        if int(held.sum()) == int(kept.sum()):
            return held
        kept = held
