"""A hierarchy as a tree of numbered nodes, from arrays: any child is found without a search."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.hierarchy import Codes, Hierarchy

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class TreeShape:
    """Children and places of the nodes of a hierarchy.

    A node is a value ``code`` of a ``level``, numbered ``offsets[level] + code``. ``order[l]`` are
    the codes of level ``l`` in the order in which they are shown, siblings together;
    ``starts[l]`` says where the children of each value of level ``l + 1`` begin in it;
    ``ranks[l][code]`` is the place of a value among its siblings. ``lacking[l][code]`` tells
    whether only values that lack a leaf are below, ``missing[l][code]`` only missing values.
    """

    offsets: tuple[int, ...]
    order: tuple[Codes, ...] = field(repr=False)
    starts: tuple[NDArray[np.int64], ...] = field(repr=False)
    ranks: tuple[Codes, ...] = field(repr=False)
    lacking: tuple[Flags, ...] = field(repr=False)
    missing: tuple[Flags, ...] = field(repr=False)

    @classmethod
    def of(
        cls,
        hierarchy: Hierarchy,
        lacking: frozenset[int] = frozenset(),
        missing: frozenset[int] = frozenset(),
    ) -> TreeShape:
        """The shape of a hierarchy; leaves in ``lacking`` come first among their siblings."""
        flags = _flags(hierarchy, lacking)
        order: list[Codes] = []
        starts: list[NDArray[np.int64]] = []
        ranks: list[Codes] = []
        for level, parents in enumerate(hierarchy.parents):
            by_parent = np.lexsort((np.arange(len(parents)), ~flags[level], parents))
            counts = np.bincount(parents, minlength=len(hierarchy.labels[level + 1]))
            begins = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
            rank = np.empty(len(parents), dtype=np.int32)
            rank[by_parent] = np.arange(len(parents)) - begins[parents[by_parent]]
            order.append(by_parent.astype(np.int32))
            starts.append(begins)
            ranks.append(rank)
        sizes = [len(labels) for labels in hierarchy.labels]
        offsets = tuple(int(total) for total in np.concatenate(([0], np.cumsum(sizes)))[:-1])
        empty = tuple(_flags(hierarchy, missing))
        return cls(offsets, tuple(order), tuple(starts), tuple(ranks), tuple(flags), empty)

    @property
    def height(self) -> int:
        """The level of the top."""
        return len(self.order)

    def number(self, level: int, code: int) -> int:
        """The number of a node."""
        return self.offsets[level] + code

    def node(self, number: int) -> tuple[int, int]:
        """Level and code of a node."""
        level = bisect_right(self.offsets, number) - 1
        return level, number - self.offsets[level]

    def child_count(self, level: int, code: int) -> int:
        """Number of children of a node."""
        if level == 0:
            return 0
        starts = self.starts[level - 1]
        return int(starts[code + 1] - starts[code])

    def child(self, level: int, code: int, row: int) -> int:
        """The code, one level below, of a child of a node."""
        return int(self.order[level - 1][self.starts[level - 1][code] + row])

    def children(self, level: int, code: int, first: int, last: int) -> Codes:
        """The codes of the children ``first`` to ``last`` (inclusive) of a node."""
        start = int(self.starts[level - 1][code])
        return self.order[level - 1][start + first : start + last + 1]

    def row(self, level: int, code: int) -> int:
        """The place of a node among its siblings; 0 for the top."""
        return int(self.ranks[level][code]) if level < self.height else 0


def _flags(hierarchy: Hierarchy, leaves: frozenset[int]) -> list[Flags]:
    """Per level, which values stand above these leaves only."""
    flag = np.zeros(len(hierarchy.leaves), dtype=np.bool_)
    flag[sorted(leaves)] = True
    flags = [flag]
    for level, parents in enumerate(hierarchy.parents):
        above = np.ones(len(hierarchy.labels[level + 1]), dtype=np.bool_)
        above[parents[~flags[-1]]] = False
        flags.append(above)
    return flags
