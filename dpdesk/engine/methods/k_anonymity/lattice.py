"""The full-domain generalisation lattice over a frequency table.

A node is a distance vector: one hierarchy level per attribute (course text on k-anonymity, full
domain generalisation). A node's table is the frequency table with every value replaced by its
ancestor at that level; its groups of equal tuples are the equivalence classes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken

if TYPE_CHECKING:
    from dpdesk.engine.methods.k_anonymity.requirements import Constraints

Ints = NDArray[np.int64]
Node = tuple[int, ...]

MAX_WALK_NODES = 2_000_000
"""Largest lattice that can be walked node by node: what the statistics have room for.

2,000,000 nodes × 3 values of k × 40 bytes fit the memory that ``recommended_ks`` allows. Whether a
walk is worth its time is a question of nodes and tuples, see
:func:`~dpdesk.engine.methods.k_anonymity.search.worth_walking`.
"""

LARGEST_SUM = 2**62
_LARGEST_UNIT = 2**40
_LARGEST_ROWS = 2**31
_DENSE = 4


class CodedTable(Protocol):
    """What the lattice needs of an aligned table: leaf codes with counts, and the hierarchies."""

    @property
    def attributes(self) -> tuple[str, ...]:
        """Names of the quasi-identifiers."""
        ...

    @property
    def hierarchies(self) -> tuple[Hierarchy, ...]:
        """One hierarchy per attribute."""
        ...

    @property
    def codes(self) -> NDArray[np.int32]:
        """Leaf codes, shape (tuples, attributes)."""
        ...

    @property
    def counts(self) -> Ints:
        """Rows per tuple, shape (tuples,)."""
        ...


@dataclass(frozen=True, eq=False)
class LatticeProblem:
    """A frequency table in leaf codes and the lattice that its hierarchies span.

    ``codes`` has shape (tuples, attributes), ``counts`` (tuples,) in rows; ``constraints`` are what
    classes must pass besides k, ``weights`` how much the cells of each attribute count in an
    objective (none: all alike), ``bounds`` the least and the greatest levels of feasible nodes
    (None: any). Nodes are numbered in
    lexicographic order of their levels, the first attribute being the most significant.
    """

    attributes: tuple[str, ...]
    hierarchies: tuple[Hierarchy, ...]
    codes: NDArray[np.int32]
    counts: Ints
    constraints: Constraints | None = None
    weights: tuple[int, ...] = ()
    bounds: tuple[Node, Node] | None = None

    @classmethod
    def from_aligned(
        cls, table: CodedTable, constraints: Constraints | None = None
    ) -> LatticeProblem:
        """The lattice over an aligned table.

        ValueError without attributes or with 2**31 rows or more (sums of squares would overflow).
        """
        if not table.attributes:
            raise ValueError("a lattice needs at least one attribute")
        problem = cls(table.attributes, table.hierarchies, table.codes, table.counts, constraints)
        if problem.rows >= _LARGEST_ROWS:
            raise ValueError(f"{problem.rows} rows are more than the lattice search can count")
        return problem

    def monotone(self, max_suppressed: int) -> bool:
        """Whether nothing below an infeasible node is feasible.

        It is so under k alone, and when no row may be suppressed, by convexity: classes that pass
        each pass as one. Else what is required besides must be monotone itself.
        """
        asked = self.constraints
        return asked is None or not max_suppressed or asked.monotone

    @cached_property
    def rows(self) -> int:
        """Number of rows of the source, N."""
        return int(self.counts.sum())

    @cached_property
    def heights(self) -> Node:
        """Height of each attribute's hierarchy: the top node."""
        return tuple(hierarchy.height for hierarchy in self.hierarchies)

    @property
    def bottom(self) -> Node:
        """The least levels that a feasible node may have."""
        return (0,) * len(self.attributes) if self.bounds is None else self.bounds[0]

    @property
    def top(self) -> Node:
        """The greatest levels that a feasible node may have."""
        return self.heights if self.bounds is None else self.bounds[1]

    def within(self, levels: NDArray[np.signedinteger]) -> NDArray[np.bool_]:
        """Which nodes, shape (nodes, attributes), lie within the bounds."""
        inside: NDArray[np.bool_] = np.all(levels >= np.array(self.bottom), axis=1)
        below: NDArray[np.bool_] = np.all(levels <= np.array(self.top), axis=1)
        return inside & below

    @cached_property
    def each_weight(self) -> tuple[int, ...]:
        """The weight of each attribute."""
        return self.weights or (1,) * len(self.attributes)

    @cached_property
    def node_count(self) -> int:
        """Number of nodes of the lattice; an exact int, however large."""
        return math.prod(height + 1 for height in self.heights)

    @property
    def cells(self) -> int:
        """Cells by weight, rows × Σ weights: what loss, precision and entropy range over."""
        return self.rows * sum(self.each_weight)

    @cached_property
    def strides(self) -> Node:
        """Difference of node numbers per step of each attribute."""
        shape = [height + 1 for height in self.heights]
        return tuple(math.prod(shape[position + 1 :]) for position in range(len(shape)))

    def index(self, levels: Sequence[int]) -> int:
        """Number of the node with these levels."""
        return sum(level * stride for level, stride in zip(levels, self.strides, strict=True))

    def levels(self, index: int) -> Node:
        """Levels of the node with this number."""
        return tuple(
            index // stride % (height + 1)
            for stride, height in zip(self.strides, self.heights, strict=True)
        )

    @cached_property
    def ancestors(self) -> tuple[tuple[NDArray[np.int32], ...], ...]:
        """``ancestors[j][l]``: code at level ``l`` of every leaf of attribute ``j``."""
        return tuple(
            tuple(hierarchy.ancestors(level) for level in range(hierarchy.height + 1))
            for hierarchy in self.hierarchies
        )

    @cached_property
    def leaves_covered(self) -> tuple[tuple[Ints, ...], ...]:
        """``leaves_covered[j][l]``: leaves below each value of level ``l`` of attribute ``j``."""
        return tuple(
            tuple(hierarchy.leaves_covered(level) for level in range(hierarchy.height + 1))
            for hierarchy in self.hierarchies
        )

    @cached_property
    def value_rows(self) -> tuple[tuple[Ints, ...], ...]:
        """``value_rows[j][l]``: rows of the whole source below each value of a level."""
        return tuple(self._rows_below(position) for position in range(len(self.hierarchies)))

    def prepare(self, token: CancelToken) -> None:
        """Make :attr:`value_rows` now, attribute by attribute; raises Cancelled."""
        found = []
        for position in range(len(self.hierarchies)):
            token.check()
            found.append(self._rows_below(position))
        self.__dict__.setdefault("value_rows", tuple(found))

    def _rows_below(self, position: int) -> tuple[Ints, ...]:
        labels = self.hierarchies[position].labels
        leaves = weighted_bincount(self.codes[:, position], self.counts, len(labels[0]))
        return tuple(
            weighted_bincount(codes, leaves, len(names))
            for codes, names in zip(self.ancestors[position], labels, strict=True)
        )

    @cached_property
    def loss_unit(self) -> int:
        """Integer that stands for a cell loss of 1 in the walk's sums.

        The least common multiple of all (leaves − 1), so that sums are exact, unless N·q times it
        could exceed 62 bits; then a fixed-point unit, see :attr:`loss_is_exact`.
        """
        if self.loss_is_exact:
            return self._common_leaves
        return min(_LARGEST_UNIT, LARGEST_SUM // max(self.cells, 1))

    @cached_property
    def loss_is_exact(self) -> bool:
        """Whether the walk's loss sums are exact rather than fixed-point."""
        return self._common_leaves * max(self.cells, 1) <= LARGEST_SUM

    @cached_property
    def _common_leaves(self) -> int:
        return math.lcm(*(max(len(hierarchy.leaves) - 1, 1) for hierarchy in self.hierarchies))

    @cached_property
    def log_unit(self) -> int:
        """Integer that stands for one bit of entropy in the walk's fixed-point sums."""
        largest = max(self.cells, 1) * (math.log2(max(self.rows, 2)) + 1)
        return 1 << min(40, int(math.log2(LARGEST_SUM / largest)))

    def loss_cost(self, position: int, level: int) -> Ints:
        """Loss of one cell per value of a level, in :attr:`loss_unit`: (covered−1)/(leaves−1).

        It is multiplied by the attribute's weight, as every cost is.
        """
        covered = self.leaves_covered[position][level] - 1
        whole = len(self.hierarchies[position].leaves) - 1
        if whole == 0:
            return np.zeros(len(covered), np.int64)
        unit = self.loss_unit * self.each_weight[position]
        if self.loss_is_exact:
            return covered * (unit // whole)
        # Python integers: the product does not fit 64 bits.
        return np.array([(unit * int(c) * 2 + whole) // (2 * whole) for c in covered], np.int64)

    def log_cost(self, position: int, level: int) -> Ints:
        """log₂ of the rows below each value of a level, in :attr:`log_unit` (unobserved: 0)."""
        return self.log_cost_of(self.value_rows[position][level]) * self.each_weight[position]

    def log_cost_of(self, rows: Ints | int) -> Ints:
        """log₂ of numbers of rows in :attr:`log_unit`."""
        costs: Ints = np.rint(np.log2(np.maximum(rows, 1)) * self.log_unit).astype(np.int64)
        return costs

    @cached_property
    def canonical_levels(self) -> tuple[Node, ...]:
        """``canonical_levels[j][l]``: the lowest level that splits the leaves exactly as ``l``.

        Nodes that agree on canonical levels have the same classes. Where missing cells are no
        category, what counts as missing differs by level, and each level is its own; so do the
        values that only a population has.
        """
        asked = self.constraints
        if asked is not None and (asked.missing is not None or asked.population is not None):
            return tuple(tuple(range(height + 1)) for height in self.heights)
        return tuple(
            tuple(
                next(m for m in range(level + 1) if len(labels[m]) == len(labels[level]))
                for level in range(len(labels))
            )
            for labels in (hierarchy.labels for hierarchy in self.hierarchies)
        )


def weighted_bincount(codes: NDArray[np.int32], weights: Ints, length: int) -> Ints:
    """Sum integer ``weights`` per code; exact, since sums of rows stay below 2**53."""
    return np.bincount(codes, weights=weights, minlength=length).astype(np.int64)


def generalised_classes(
    problem: LatticeProblem, levels: Sequence[int]
) -> tuple[NDArray[np.int32], Ints]:
    """The codes and rows of the equivalence classes of a node, see :func:`numbered_classes`."""
    return numbered_classes(problem, levels)[:2]


def kept_classes(
    problem: LatticeProblem, levels: Sequence[int], k: int
) -> tuple[NDArray[np.int32], Ints, NDArray[np.bool_]]:
    """The codes of the classes of a node, the rows of those that stay at ``k``, and which do."""
    codes, sizes, of_tuple = numbered_classes(problem, levels)
    if problem.constraints is None:
        return codes, sizes, sizes >= k
    left = problem.constraints.staying(of_tuple, sizes, k, levels).classes
    return codes, left, left > 0


def numbered_classes(
    problem: LatticeProblem, levels: Sequence[int]
) -> tuple[NDArray[np.int32], Ints, Ints]:
    """The equivalence classes of a node.

    Returns the codes at the node's levels, shape (classes, attributes), sorted by code, the rows of
    each class, and the class of each tuple. Made by sorting, or by a count per possible combination
    where these are few; independently of the walk's kernels.
    """
    columns = [
        problem.ancestors[position][level][problem.codes[:, position]]
        for position, level in enumerate(levels)
    ]
    if not len(problem.counts):
        return np.empty((0, len(columns)), np.int32), np.empty(0, np.int64), np.empty(0, np.int64)
    sizes = [len(h.labels[v]) for h, v in zip(problem.hierarchies, levels, strict=True)]
    words = _pack(columns, sizes)
    if math.prod(sizes) <= _DENSE * len(problem.counts):
        return _counted_cells(words[0], sizes, problem.counts)
    order = np.argsort(words[0], kind="stable") if len(words) == 1 else np.lexsort(words[::-1])
    fresh = np.zeros(len(order), dtype=bool)
    fresh[0] = True
    for word in words:
        ranked = word[order]
        fresh[1:] |= ranked[1:] != ranked[:-1]
    starts = np.flatnonzero(fresh)
    firsts = order[starts]
    codes = np.stack([column[firsts] for column in columns], axis=1)
    of_tuple = np.empty(len(order), np.int64)
    of_tuple[order] = np.cumsum(fresh) - 1
    return codes, np.add.reduceat(problem.counts[order], starts), of_tuple


def _counted_cells(
    keys: Ints, sizes: Sequence[int], counts: Ints
) -> tuple[NDArray[np.int32], Ints, Ints]:
    """The combinations that occur, by a count of every possible one; keys are mixed-radix."""
    cells = math.prod(sizes)
    occurs = np.zeros(cells, dtype=np.bool_)
    occurs[keys] = True
    found = np.flatnonzero(occurs)
    rows = np.bincount(keys, weights=counts, minlength=cells)[found].astype(np.int64)
    codes = np.stack(np.unravel_index(found, tuple(sizes)), axis=1).astype(np.int32)
    return codes, rows, (np.cumsum(occurs) - 1)[keys]


def _pack(columns: Sequence[NDArray[np.int32]], sizes: Sequence[int]) -> list[Ints]:
    """Mixed-radix words that order tuples as their codes do, as many words as 62 bits ask for."""
    words: list[Ints] = []
    room = 0
    for column, size in zip(columns, sizes, strict=True):
        if room < size:
            words.append(column.astype(np.int64))
            room = LARGEST_SUM // size
        else:
            words[-1] *= size
            words[-1] += column
            room //= size
    return words
