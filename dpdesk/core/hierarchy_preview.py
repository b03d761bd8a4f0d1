"""What a hierarchy does to a column: values with row counts per level, before and after."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.hierarchy import Hierarchy


@dataclass(frozen=True)
class LevelValue:
    """A value of a level: rows that get it, and leaves below it."""

    value: str
    rows: int
    leaves: int


@dataclass(frozen=True)
class LevelSummary:
    """One level in figures.

    ``values`` counts the values that occur in the data, ``smallest`` is the number of rows of the
    rarest one (0 when there is no row), ``rarest`` its text, ``unused`` counts values without rows.
    """

    level: int
    values: int
    smallest: int
    rarest: str
    unused: int


@dataclass(frozen=True, eq=False)
class HierarchyPreview:
    """All levels of a hierarchy over a column.

    ``hierarchy`` includes missing tokens as leaves. ``rows[l]`` has one entry for each value of
    level ``l``, in the order of ``hierarchy.labels[l]``: its number of rows, int64.
    """

    hierarchy: Hierarchy
    rows: tuple[NDArray[np.int64], ...] = field(repr=False)
    levels: tuple[LevelSummary, ...]
    missing: frozenset[int] = frozenset()

    def values(self, level: int, limit: int | None = None) -> tuple[LevelValue, ...]:
        """Values of a level in hierarchy order, the first ``limit`` of them."""
        leaves = self.hierarchy.leaves_covered(level)
        labels = self.hierarchy.labels[level][:limit]
        return tuple(
            LevelValue(label, int(self.rows[level][code]), int(leaves[code]))
            for code, label in enumerate(labels)
        )


@dataclass(frozen=True)
class ValueChange:
    """One row's value before and after generalising to a level."""

    before: str
    after: str


@dataclass(frozen=True)
class LevelEffect:
    """What a level does to the column.

    ``sample`` has one entry per sampled row, in row order. ``distinct_before`` and
    ``distinct_after`` count values that occur; ``merged`` counts occurring values that share their
    label with another one; ``rows_changed`` counts rows whose text changes; ``smallest_before`` and
    ``smallest_after`` are the rows of the rarest value.
    """

    attribute: str
    level: int
    sample: tuple[ValueChange, ...]
    distinct_before: int
    distinct_after: int
    merged: int
    rows_changed: int
    smallest_before: int
    smallest_after: int
