"""k-map where tuples have cells of their own: rows of the population that a class covers.

A cell shows a label, which stands for all values below its node; a row of the population matches a
class when each of its values is below what the class shows. A class that shows higher nodes matches
all these rows and more, so classes that pass still do when they are joined.

The tuples of the population are sorted by each attribute, those of a node next to each other. For a
class the tuples below its rarest node are gone through.

Source: Sweeney, k-anonymity: a model for protecting privacy (k-map), for cells instead of levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.compiled import kernel
from dpdesk.engine.methods.k_anonymity.population import PopulationRows
from dpdesk.engine.methods.k_anonymity.scales import Scale

Array = NDArray[Any]


class Index(NamedTuple):
    """The tuples of a population for kernels, with ``d`` attributes; see :class:`MatchedCells`.

    ``above[j, l, v]`` is the node at level l of value v of attribute j, −1 for one that the table
    does not have; ``order[j, begins[j, n]:ends[j, n]]`` are the tuples below node n, and
    ``levels[j, n]`` is its level.
    """

    codes: Array
    rows: Array
    above: Array
    order: Array
    begins: Array
    ends: Array
    levels: Array


@kernel
def covered(shown: Array, index: Any, enough: int) -> int:
    """Rows of the population below the nodes ``shown``, one of each attribute.

    Counting ends once there are ``enough``.
    """
    best, fewest = 0, len(index.rows) + 1
    for j in range(len(shown)):
        there = index.ends[j, shown[j]] - index.begins[j, shown[j]]
        if there < fewest:
            best, fewest = j, there
    found = 0
    for at in range(index.begins[best, shown[best]], index.ends[best, shown[best]]):
        one = index.order[best, at]
        inside = True
        for j in range(len(shown)):
            level = index.levels[j, shown[j]]
            if index.above[j, level, index.codes[one, j]] != shown[j]:
                inside = False
                break
        if inside:
            found += index.rows[one]
            if found >= enough:
                break
    return found


@kernel
def _count(shown: Array, index: Any, enough: int, found: Array) -> None:
    for one in range(len(shown)):
        found[one] = covered(shown[one], index, enough)


class People(NamedTuple):
    """What the sides of a cut must match, for kernels: ``least`` rows of ``held``; 0: nothing.

    Of each attribute ``leaves`` has the leaf at each place of the scale, ``parents`` the parent of
    each node, ``last`` its last place, and ``meaning`` the node that its cell stands for.
    """

    held: Index
    least: int
    leaves: Array
    parents: Array
    last: Array
    meaning: Array


def people_beside(scales: Sequence[Scale], matched: MatchedCells | None) -> People:
    """What cuts along these scales must match."""
    if matched is None:
        nothing, flat = np.zeros((0, 0), np.int64), np.zeros((0, 0), np.int32)
        index = Index(flat, nothing[0:0].reshape(-1), flat[None], flat, *(nothing,) * 3)
        return People(index, 0, *(nothing,) * 4)
    width = max(len(scale.parents) for scale in scales)
    leaves, parents, last, shown = (np.zeros((len(scales), width), np.int64) for _ in range(4))
    for j, scale in enumerate(scales):
        size = len(scale.parents)
        leaves[j, : scale.leaves], parents[j, :size] = scale.order, scale.parents
        last[j, :size], shown[j, :size] = scale.high, meaning(scale)
    return People(matched.index, matched.k_map, leaves, parents, last, shown)


@kernel
def both_match(places: Array, low: int, high: int, j: Any, cut: int, people: Any) -> bool:
    """Whether the cells of both sides of a cut match enough rows; the left one ends at ``cut``."""
    d = people.leaves.shape[0]
    first, last, shown = np.empty(d, np.int64), np.empty(d, np.int64), np.empty(d, np.int64)
    for side in range(2):
        empty = True
        for row in range(low, high):
            if (places[row, j] > cut) != (side == 1):
                continue
            for a in range(d):
                value = places[row, a]
                if empty or value < first[a]:
                    first[a] = value
                if empty or value > last[a]:
                    last[a] = value
            empty = False
        for a in range(d):
            node = people.leaves[a, first[a]]
            while people.last[a, node] < last[a]:
                node = people.parents[a, node]
            shown[a] = people.meaning[a, node]
        if covered(shown, people.held, people.least) < people.least:
            return False
    return True


@dataclass(frozen=True, eq=False)
class MatchedCells:
    """The rows of a population by tuples, and that each class must match ``k_map`` of them."""

    index: Index = field(repr=False)
    k_map: int

    @classmethod
    def of(cls, people: PopulationRows, scales: Sequence[Scale]) -> MatchedCells:
        """From the rows of a population, for scales of the same table."""
        d, tuples = len(scales), len(people.rows)
        heights = [len(scale.nodes) for scale in scales]
        widest = max(len(levels[0]) for levels in people.above)
        most = max(len(scale.parents) for scale in scales)
        above = np.full((d, max(heights), widest), -1, np.int32)
        order = np.empty((d, tuples), np.int32)
        begins, ends = np.zeros((d, most), np.int64), np.zeros((d, most), np.int64)
        levels = np.zeros((d, most), np.int64)
        for j, scale in enumerate(scales):
            levels[j, : len(scale.levels)] = scale.levels
            for level, codes in enumerate(people.above[j]):
                known = codes < len(scale.hierarchy.labels[level])
                above[j, level, : len(codes)] = np.where(known, scale.offsets[level] + codes, -1)
            own = above[j, : heights[j], : len(people.above[j][0])]
            rank = np.empty(own.shape[1], np.int64)
            rank[np.lexsort(own)] = np.arange(own.shape[1])
            places = rank[people.codes[:, j]]
            order[j] = np.argsort(places, kind="stable")
            sums = np.concatenate([[0], np.cumsum(np.bincount(places, minlength=own.shape[1]))])
            for nodes in own:
                there = np.flatnonzero(nodes >= 0)
                first = np.full(most, own.shape[1], np.int64)
                last = np.full(most, -1, np.int64)
                np.minimum.at(first, nodes[there], rank[there])
                np.maximum.at(last, nodes[there], rank[there])
                held = np.flatnonzero(last >= 0)
                begins[j, held], ends[j, held] = sums[first[held]], sums[last[held] + 1]
        index = Index(people.codes, people.rows, above, order, begins, ends, levels)
        return cls(index, people.k_map)

    def counted(self, shown: Array) -> Array:
        """The rows that each class matches; ``shown`` (classes, attributes) are its nodes."""
        found = np.zeros(len(shown), np.int64)
        _count(shown.astype(np.int64), self.index, np.iinfo(np.int64).max, found)
        return found

    def passing(self, shown: Array) -> NDArray[np.bool_]:
        """Which classes match enough rows."""
        found = np.zeros(len(shown), np.int64)
        _count(shown.astype(np.int64), self.index, self.k_map, found)
        return found >= self.k_map


def meaning(scale: Scale) -> Array:
    """For each node the one that its cell stands for, as it is released."""
    found: Array = scale.widest[scale.released]
    return found


def shown_over(scales: Sequence[Scale], low: Array, high: Array) -> Array:
    """The nodes that classes show whose values lie from ``low`` to ``high`` (classes, attributes).

    These are places on the scales.
    """
    columns = [meaning(s)[s.common(low[:, j], high[:, j])] for j, s in enumerate(scales)]
    return np.stack(columns, axis=1)


def shown_by_all(scales: Sequence[Scale], codes: Array) -> Array:
    """The nodes that all tuples together show, as one class; ``codes`` are leaf codes."""
    columns = [scale.places[codes[:, j]] for j, scale in enumerate(scales)]
    low, high = (np.array([[pick(each) for each in columns]]) for pick in (np.min, np.max))
    return shown_over(scales, low, high)
