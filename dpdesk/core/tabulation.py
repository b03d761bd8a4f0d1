"""Cells of tables as a source counts them: contributors, exact sums, the largest contributions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.frequency import FrequencySource
from dpdesk.core.jobs import CancelToken


@dataclass(frozen=True)
class Tabulation:
    """Which cells are counted, and what is added up in them.

    ``members[j]`` names for each value of column ``j`` the nodes (places along axis ``j``) that it
    counts in; rows with another value are left out. Without ``value`` rows are counted; with it
    the numbers of that column are added up, times ``weight`` where there is one, and rows where
    one of the two is missing are left out. Each row is a contributor of its own, unless
    ``contributor`` names the column that tells them apart. ``top`` is how many of the largest
    contributions of each cell are wanted.
    """

    columns: tuple[str, ...]
    members: tuple[Mapping[str, Sequence[int]], ...] = field(repr=False)
    shape: tuple[int, ...]
    value: str | None = None
    weight: str | None = None
    contributor: str | None = None
    top: int = 0

    @property
    def cells(self) -> int:
        """Number of cells."""
        return prod(self.shape)


@dataclass(frozen=True, eq=False)
class Tabulated:
    """Counted cells, flat in the order of the axes (the last one fastest).

    Amounts are Python integers in object arrays: ``totals``, ``sizes`` (sums of the sizes of
    contributions: other numbers only where some are negative) and ``top`` in units of
    10^-``scale``, ``weights`` (sums of weights; rows, without a weight) of 10^-``weight_scale``.
    ``frequency`` counts contributors. ``top`` has the shape (cells, n), largest sizes first, 0
    where there are fewer; ``who`` the contributors' numbers (-1: none). ``prints`` are equal where
    cells hold the same rows. ``left_out`` rows had no value.
    """

    frequency: NDArray[np.int64]
    totals: NDArray[np.object_]
    sizes: NDArray[np.object_]
    weights: NDArray[np.object_]
    top: NDArray[np.object_]
    who: NDArray[np.int64]
    prints: NDArray[np.object_]
    scale: int = 0
    weight_scale: int = 0
    left_out: int = 0


class CellSource(FrequencySource, Protocol):
    """A source that adds up cells."""

    def tabulate(self, asked: Tabulation, token: CancelToken) -> Tabulated:
        """Count the cells.

        Raises InputError ``source.not-a-number`` for a value that cannot be read as a number,
        ``source.too-fine`` for numbers with more digits than can be added up exactly, Cancelled.
        """
        ...


@dataclass(frozen=True, eq=False)
class CellAxis:
    """A dimension of a table: its nodes, children before their total, and the node above each
    (-1: none).
    """

    name: str
    labels: tuple[str, ...]
    parents: tuple[int, ...] = field(repr=False)

    def as_json(self) -> dict[str, object]:
        """Plain values; :meth:`from_json` reads them back."""
        return {
            "dimension": self.name,
            "categories": list(self.labels),
            "parents": list(self.parents),
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, object]) -> CellAxis:
        """The inverse of :meth:`as_json`; TypeError, KeyError or ValueError for anything else."""
        name, labels, parents = raw["dimension"], raw["categories"], raw["parents"]
        if not isinstance(name, str) or not isinstance(labels, list | tuple):
            raise TypeError("a dimension has a name and categories")
        if not isinstance(parents, list | tuple) or len(parents) != len(labels) or not labels:
            raise ValueError("every category has a place above it")
        if not all(isinstance(each, str) for each in labels) or len(set(labels)) < len(labels):
            raise ValueError("categories are different texts")
        for place, above in enumerate(parents):
            whole = isinstance(above, int) and not isinstance(above, bool)
            last = place == len(labels) - 1
            if not whole or not (above == -1 if last else place < above < len(labels)):
                raise ValueError("categories stand before their total")
        return cls(name, tuple(labels), tuple(parents))


@dataclass(frozen=True, eq=False)
class CellTable:
    """A table to write, or one that was read: texts of its cells in the order of the axes.

    ``values`` are empty where suppressed; ``status`` are SDMX confidentiality codes. ``internal``
    are further columns for the agency, ``value`` and ``status`` among them.
    """

    name: str
    file: str
    axes: tuple[CellAxis, ...]
    values: tuple[str, ...] = field(repr=False)
    status: tuple[str, ...] = field(repr=False)
    internal: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False)

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of nodes of each dimension."""
        return tuple(len(axis.labels) for axis in self.axes)

    @property
    def suppressed(self) -> int:
        """Number of cells without a value."""
        return sum(not value for value in self.values)


INTERNAL_COLUMNS = (
    *("value", "status", "frequency"),
    *("lower_required", "upper_required", "lower", "upper"),
)
"""The columns of an internal table after its dimensions."""
PUBLISHED, SUPPRESSED, PRIMARY, SECONDARY = "F", "N", "C", "D"
"""SDMX codes of confidentiality: free, not for publication, by a rule, to protect others."""
