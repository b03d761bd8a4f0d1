"""A table at a node, counted plainly: classes, their sizes, and the class of every tuple.

This is the independent count behind risk and utility figures and the check after a search; it uses
none of the search's kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dpdesk.engine.hierarchies.alignment import AlignedTable

_WIDEST_KEY = 2**62


@dataclass(frozen=True, eq=False)
class GeneralisedTable:
    """The equivalence classes of ``table`` with each attribute at its level.

    ``codes`` has shape (classes, attributes) and indexes ``labels``; ``sizes`` are the rows of each
    class; ``of_tuple`` gives, for each tuple of the table, its class.
    """

    table: AlignedTable
    levels: tuple[int, ...]
    codes: NDArray[np.int32] = field(repr=False)
    sizes: NDArray[np.int64] = field(repr=False)
    of_tuple: NDArray[np.int64] = field(repr=False)

    @property
    def labels(self) -> tuple[tuple[str, ...], ...]:
        """The values of each attribute at its level."""
        return tuple(
            hierarchy.labels[level]
            for hierarchy, level in zip(self.table.hierarchies, self.levels, strict=True)
        )

    def kept(self, k: int) -> NDArray[np.bool_]:
        """Which classes have at least ``k`` rows, shape (classes,)."""
        return self.sizes >= k

    def kept_tuples(self, k: int) -> NDArray[np.bool_]:
        """Which tuples of the table stand in a class of at least ``k`` rows, shape (tuples,)."""
        return self.kept(k)[self.of_tuple]


def generalise(table: AlignedTable, levels: Sequence[int]) -> GeneralisedTable:
    """Count the classes of ``table`` at ``levels``, one level per attribute."""
    columns = [
        hierarchy.ancestors(level)[table.codes[:, position]]
        for position, (hierarchy, level) in enumerate(zip(table.hierarchies, levels, strict=True))
    ]
    widths = [
        len(hierarchy.labels[level])
        for hierarchy, level in zip(table.hierarchies, levels, strict=True)
    ]
    _, first, inverse = np.unique(
        _keys(columns, widths, len(table.counts)), return_index=True, return_inverse=True
    )
    of_tuple = inverse.reshape(-1).astype(np.int64)
    sizes = np.bincount(of_tuple, weights=table.counts, minlength=len(first)).astype(np.int64)
    codes = np.stack([column[first] for column in columns], axis=1).astype(np.int32)
    return GeneralisedTable(table, tuple(int(level) for level in levels), codes, sizes, of_tuple)


def _keys(
    columns: Sequence[NDArray[np.int32]], widths: Sequence[int], tuples: int
) -> NDArray[np.int64]:
    """One integer per tuple, equal just where the tuples are equal."""
    keys = np.zeros(tuples, dtype=np.int64)
    room = 1
    for column, width in zip(columns, widths, strict=True):
        if room * width > _WIDEST_KEY:
            # Renumbering leaves at most as many keys as there are tuples.
            keys = np.unique(keys, return_inverse=True)[1].reshape(-1).astype(np.int64)
            room = tuples
        keys = keys * width + column
        room *= width
    return keys
