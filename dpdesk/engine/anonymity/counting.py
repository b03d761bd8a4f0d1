"""Counting single nodes of a lattice that is not walked as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from dpdesk.core.errors import Cancelled
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.anonymity import kernels
from dpdesk.engine.anonymity.lattice import Ints, LatticeProblem, Node
from dpdesk.engine.anonymity.packing import PackedLattice
from dpdesk.engine.anonymity.statistics import FIELDS, LONGEST_BINS, EvaluatedNodes, level_array
from dpdesk.engine.anonymity.worker import Roller, Stopped, TablePool


class NodeCounter:
    """Counts nodes at one k (and at 1), each once.

    Nodes asked for together, in ascending order, share their work; with ``pooled`` nodes in any
    order do. Use :func:`node_counter` to make one.
    """

    def __init__(
        self, problem: LatticeProblem, k: int, token: CancelToken, *, pooled: bool = False
    ) -> None:
        self.problem = problem
        self.k = k
        self.stop = np.zeros(1, np.uint8)
        self._token = token
        self._packed = PackedLattice.of(problem, token)
        maker = TablePool if pooled else Roller
        self._tables: Roller | TablePool = maker(self._packed, self.stop)
        self._ks = np.unique(np.array([1, k], np.int64))
        self._bins = np.zeros(1, np.int64)
        self._sums = np.zeros((len(self._ks) + 1, FIELDS), np.int64)
        self._known: dict[Node, Ints] = {}

    @property
    def counted(self) -> int:
        """How many nodes were counted so far."""
        return len(self._known)

    @property
    def work(self) -> int:
        """Groups read so far by a pooled counter, the same on every machine; else 0."""
        return self._tables.work if isinstance(self._tables, TablePool) else 0

    def walk_order(self, node: Node) -> Node:
        """The levels of a node by walk position: ascending order of these is cheapest."""
        return tuple(node[attribute] for attribute in self._packed.order)

    def from_walk_order(self, levels: Sequence[int]) -> Node:
        """The node with these levels by walk position."""
        node = [0] * len(levels)
        for attribute, level in zip(self._packed.order, levels, strict=True):
            node[attribute] = level
        return tuple(node)

    @property
    def heights(self) -> Node:
        """Heights of the hierarchies by walk position."""
        return self.walk_order(self.problem.heights)

    def count(self, node: Node) -> Ints:
        """The FIELDS numbers of a node at k (see the kernel ``tally``); raises Cancelled."""
        known = self._known.get(node)
        if known is None:
            known = np.zeros((len(self._ks), FIELDS), np.int64)
            self.tally(node, self._bins, self._ks, self._sums, known)
            self._known[node] = known
        at_k: Ints = known[-1]
        return at_k

    def tally(self, node: Node, bins: Ints, ks: Ints, sums: Ints, answer: Ints) -> None:
        """Count a node at ``ks`` into ``answer`` (see the kernel ``tally``); raises Cancelled."""
        self._token.check()
        try:
            table = self._tables.table(self.walk_order(node))
        except Stopped:
            raise Cancelled from None
        kernels.tally(table, 0, len(table), bins, ks, sums, answer)

    def evaluated(self, nodes: Sequence[Node]) -> EvaluatedNodes:
        """The nodes at 1 and k, counting those that were not yet; raises Cancelled."""
        for node in sorted(nodes, key=self.walk_order):
            self.count(node)
        data = np.stack([self._known[node] for node in nodes])
        levels = level_array(self.problem, np.array(nodes, np.int64))
        return EvaluatedNodes(self.problem, self._ks, data, levels)


def counted_at(
    problem: LatticeProblem, nodes: Sequence[Node], ks: Ints, token: CancelToken
) -> EvaluatedNodes:
    """Some nodes at all of ``ks`` (ascending), each table made once; raises Cancelled."""
    data = np.zeros((len(nodes), len(ks), FIELDS), np.int64)
    bins = np.searchsorted(ks, np.arange(min(int(ks[-1]) + 1, LONGEST_BINS)), side="right")
    sums = np.zeros((len(ks) + 1, FIELDS), np.int64)
    places = {node: place for place, node in enumerate(nodes)}
    with node_counter(problem, 1, token, pooled=True) as counter:
        for node in sorted(places, key=counter.walk_order):
            counter.tally(node, bins.astype(np.int64), ks, sums, data[places[node]])
    levels = level_array(problem, np.array(nodes, np.int64))
    return EvaluatedNodes(problem, ks, data, levels)


@contextmanager
def node_counter(
    problem: LatticeProblem, k: int, token: CancelToken, *, pooled: bool = False
) -> Iterator[NodeCounter]:
    """A counter whose compiled loops end when the token is cancelled."""
    token.check()
    counter = NodeCounter(problem, k, token, pooled=pooled)

    def stop() -> None:
        counter.stop[0] = 1

    with token.on_cancel(stop):
        yield counter
