"""A table at a node, counted plainly: classes, their sizes, and the class of every tuple.

This is the independent count behind risk and utility figures and the check after a search; it uses
none of the search's kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpdesk.engine.hierarchies.preview import AlignedTable

if TYPE_CHECKING:
    from dpdesk.engine.methods.k_anonymity.requirements import Constraints, Staying

_WIDEST_KEY = 2**62
_DENSE_KEYS = 2**18


@dataclass(frozen=True, eq=False)
class CountedTable:
    """A table with what every count over it needs again and again."""

    table: AlignedTable
    constraints: Constraints | None = None

    @cached_property
    def columns(self) -> tuple[NDArray[np.intp], ...]:
        """Leaf codes, one contiguous array of shape (tuples,) per attribute."""
        return tuple(np.ascontiguousarray(column, dtype=np.intp) for column in self.table.codes.T)

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """Rows per tuple as floats, exact below 2⁵³."""
        return self.table.counts.astype(np.float64)

    @cached_property
    def leaf_rows(self) -> tuple[NDArray[np.float64], ...]:
        """Rows of the table per leaf, for each attribute."""
        return self.leaf_rows_of(self.table.counts)

    def leaf_rows_of(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.float64], ...]:
        """So many rows of each tuple, per leaf, for each attribute."""
        weights = rows.astype(np.float64)
        return tuple(
            np.bincount(column, weights=weights, minlength=len(hierarchy.leaves)).astype(float)
            for column, hierarchy in zip(self.columns, self.table.hierarchies, strict=True)
        )


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
    constraints: Constraints | None = None

    @property
    def labels(self) -> tuple[tuple[str, ...], ...]:
        """The values of each attribute at its level."""
        return tuple(
            hierarchy.labels[level]
            for hierarchy, level in zip(self.table.hierarchies, self.levels, strict=True)
        )

    def kept(self, k: int) -> NDArray[np.bool_]:
        """Which classes have at least ``k`` rows and pass what is required, shape (classes,)."""
        found: NDArray[np.bool_] = self.kept_sizes(k) > 0
        return found

    def kept_sizes(self, k: int) -> NDArray[np.int64]:
        """The rows of each class that stay at ``k``, shape (classes,)."""
        if self.constraints is None:
            return np.where(self.sizes >= k, self.sizes, 0)
        return self.staying(k).classes

    def staying(self, k: int) -> Staying:
        """What stays of a table that has constraints."""
        if self.constraints is None:
            raise TypeError("nothing is required besides k")
        if k not in self._staying:
            place = self.of_tuple, self.sizes, k, self.levels
            self._staying[k] = self.constraints.staying(*place)
        return self._staying[k]

    @cached_property
    def _staying(self) -> dict[int, Staying]:
        return {}

    def kept_rows(self, k: int) -> NDArray[np.int64]:
        """The rows of each tuple of the table that stay, shape (tuples,)."""
        if self.constraints is not None:
            found = self.staying(k).tuples
            if found is not None:
                return found
        return np.where(self.kept_tuples(k), self.table.counts, 0)

    def kept_tuples(self, k: int) -> NDArray[np.bool_]:
        """Which tuples of the table stand in a class that is kept, shape (tuples,)."""
        return self.kept(k)[self.of_tuple]


def generalise(counted: CountedTable, levels: Sequence[int]) -> GeneralisedTable:
    """Count the classes of a table at ``levels``, one level per attribute."""
    table = counted.table
    columns = [
        hierarchy.ancestors(level)[column]
        for column, hierarchy, level in zip(counted.columns, table.hierarchies, levels, strict=True)
    ]
    widths = [
        len(hierarchy.labels[level])
        for hierarchy, level in zip(table.hierarchies, levels, strict=True)
    ]
    first, of_tuple = numbered(*tuple_keys(columns, widths, len(table.counts)))
    sizes = np.bincount(of_tuple, weights=counted.weights, minlength=len(first))
    return GeneralisedTable(
        table=table,
        levels=tuple(int(level) for level in levels),
        codes=np.stack([column[first] for column in columns], axis=1).astype(np.int32),
        sizes=sizes.astype(np.int64),
        of_tuple=of_tuple,
        constraints=counted.constraints,
    )


def tuple_keys(
    columns: Sequence[NDArray[np.int32]], widths: Sequence[int], tuples: int
) -> tuple[NDArray[np.int64], int]:
    """One integer per tuple, equal just where the tuples are equal, and a bound above them all."""
    keys = np.zeros(tuples, dtype=np.int64)
    room = 1
    for column, width in zip(columns, widths, strict=True):
        if room * width > _WIDEST_KEY:
            # Renumbering leaves at most as many keys as there are tuples.
            keys = np.unique(keys, return_inverse=True)[1].reshape(-1).astype(np.int64)
            room = tuples
        keys = keys * width + column
        room *= width
    return keys, room


def numbered(keys: NDArray[np.int64], room: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each distinct key, in order, a tuple that has it; and for each tuple its key's number."""
    if room > max(_DENSE_KEYS, 8 * len(keys)):
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        return first.astype(np.int64), inverse.reshape(-1).astype(np.int64)
    holder = np.full(room, -1, dtype=np.int64)
    holder[keys] = np.arange(len(keys))
    distinct = np.flatnonzero(holder >= 0)
    first = holder[distinct]
    holder[distinct] = np.arange(len(distinct))
    return first, holder[keys]
