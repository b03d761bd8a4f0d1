"""A released table of numbers: one value for each cell of a declared domain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

UNORDERED, ORDERED = "unordered", "ordered"
TABLES = ("cuboids", "views", "marginals", "itemsets", "choices")
"""The lists of tables that a result may have."""


LISTS = ("itemsets.csv", "bases.csv")
"""The files of a release of itemsets: a set of items and a number in each row."""


def listed_tables(result: Mapping[str, object]) -> list[Mapping[str, Any]]:
    """The lines of all tables that a result lists, in order; none for a release of rows.

    What has another form is left out: verifiers refuse it.
    """
    lists = [each for key in TABLES if isinstance(each := result.get(key), list | tuple)]
    return [item for each in lists for item in each if isinstance(item, Mapping)]


@dataclass(frozen=True)
class Domain:
    """Dimensions with their declared categories, in the order of the plan; never from data.

    Every combination of categories is a cell, unless two dimensions of the same categories are the
    ends of edges: then ``pairs`` is ``"ordered"`` (the two ends differ) or ``"unordered"`` (the
    first end also stands before the second).
    """

    dimensions: tuple[str, ...]
    categories: tuple[tuple[str, ...], ...]
    pairs: str = ""

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of categories of each dimension."""
        return tuple(len(values) for values in self.categories)

    @property
    def cells(self) -> int:
        """Number of cells; 1 for the apex."""
        if not self.pairs:
            return prod(self.shape)
        size = len(self.categories[0])
        return size * (size - 1) // (2 if self.pairs == UNORDERED else 1)

    def codes(self, start: int, count: int) -> list[NDArray[np.int32]]:
        """Places along each dimension of ``count`` cells from ``start`` on, in domain order."""
        cells = np.arange(start, start + count, dtype=np.int64)
        if self.pairs:
            return [each.astype(np.int32) for each in self._ends(cells)]
        codes: list[NDArray[np.int32]] = []
        for size in reversed(self.shape):
            codes.append((cells % size).astype(np.int32))
            cells //= size
        return codes[::-1]

    def _ends(self, cells: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Places of both ends of edges, which lie in the order of the first end."""
        size = len(self.categories[0])
        if self.pairs == ORDERED:
            first, other = cells // (size - 1), cells % (size - 1)
            return first, other + (other >= first)
        rows = np.arange(size, dtype=np.int64)
        starts = rows * (size - 1) - rows * (rows - 1) // 2
        first = np.searchsorted(starts[:-1], cells, side="right") - 1
        return first, cells - starts[first] + first + 1

    def table(self, item: Mapping[str, object]) -> Domain:
        """The domain of a table of a manifest, from its line there: its dimensions, and whether
        it holds pairs. Raises TypeError or ValueError for a line of another form.
        """
        names, pairs = item["dimensions"], item.get("pairs", "")
        if not isinstance(names, list | tuple) or pairs not in ("", ORDERED, UNORDERED):
            raise TypeError("a table has a list of dimensions, and perhaps a kind of pairs")
        found = self.part([self.dimensions.index(str(name)) for name in names])
        if not pairs:
            return found
        sides = found.categories
        if len(sides) != 2 or sides[0] != sides[1] or not sides[0]:
            raise ValueError("pairs have two ends of the same categories")
        return replace(found, pairs=str(pairs))

    def part(self, places: Sequence[int]) -> Domain:
        """The domain of some of the dimensions, by their places."""
        return Domain(
            tuple(self.dimensions[i] for i in places), tuple(self.categories[i] for i in places)
        )

    def as_json(self) -> list[dict[str, object]]:
        """A list, for the order matters: each dimension with its categories."""
        return [
            {"dimension": name, "categories": list(values)}
            for name, values in zip(self.dimensions, self.categories, strict=True)
        ]

    @classmethod
    def from_json(cls, raw: object) -> Domain:
        """The inverse of :meth:`as_json`; TypeError, KeyError or ValueError for anything else."""
        if not isinstance(raw, list | tuple):
            raise TypeError("a domain is a list")
        names: list[str] = []
        categories: list[tuple[str, ...]] = []
        for item in raw:
            name, values = item["dimension"], item["categories"]
            texts = (name, *values)
            if not isinstance(values, list) or not all(isinstance(text, str) for text in texts):
                raise TypeError("dimensions and categories are texts")
            names.append(name)
            categories.append(tuple(values))
        if len(set(names)) < len(names) or any(len(set(c)) < len(c) for c in categories):
            raise ValueError("a dimension or category comes twice")
        return cls(tuple(names), tuple(categories))


@dataclass(frozen=True, eq=False)
class CuboidTable:
    """One cuboid: ``values`` has the shape of its ``domain`` (one axis for pairs), float64 (or
    int64), any sign.

    ``file`` is its path relative to the public part, with ``/`` between folders. With ``labels``
    the values are places among these texts, and the file has the texts.
    """

    domain: Domain
    values: NDArray[np.generic] = field(repr=False)
    file: str = ""
    labels: tuple[str, ...] = field(default=(), repr=False)

    @property
    def cells(self) -> int:
        """Number of cells; 1 for the apex."""
        return self.domain.cells
