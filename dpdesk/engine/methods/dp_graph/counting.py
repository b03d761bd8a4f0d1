"""The true edges of a graph, from counted rows: each pair once, no loops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CountedGraph:
    """Edges as 0 and 1 in a row and column for each node; an undirected graph is symmetric.

    ``facts`` tell what was left out: internal.
    """

    matrix: Integers = field(repr=False)
    directed: bool
    facts: Mapping[str, object]

    @property
    def edges(self) -> Integers:
        """The edges in domain order, shape (pairs,)."""
        size = len(self.matrix)
        if not self.directed:
            return self.matrix[np.triu_indices(size, 1)]
        return self.matrix[~np.eye(size, dtype=bool)]


def counted_graph(rows: Integers, directed: bool) -> CountedGraph:
    """The graph of so many rows from each node to each other, shape (nodes, nodes)."""
    loops = int(np.trace(rows))
    both = rows if directed else rows + rows.T
    matrix = (both > 0).astype(np.int64)
    np.fill_diagonal(matrix, 0)
    distinct = int(matrix.sum()) // (1 if directed else 2)
    facts = {
        "rows_from_a_node_to_itself": loops,
        "rows_that_repeat_an_edge": int(rows.sum()) - loops - distinct,
    }
    return CountedGraph(matrix, directed, facts)
