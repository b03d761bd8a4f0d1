"""Counting single nodes of a lattice that is not walked as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from dpdesk.core.errors import Cancelled
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.anonymity.lattice import Ints, LatticeProblem, Node
from dpdesk.engine.anonymity.packing import PackedLattice
from dpdesk.engine.anonymity.statistics import FIELDS, EvaluatedNodes, level_array
from dpdesk.engine.anonymity.worker import Roller, Stopped, TablePool, Tally


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
        self._tally = self._tally_at(np.unique(np.array([1, k], np.int64)))
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
            known = self._counted(node, self._tally)
            self._known[node] = known
        at_k: Ints = known[-1]
        return at_k

    def count_at(self, nodes: Sequence[Node], ks: Ints) -> EvaluatedNodes:
        """Some nodes at all of ``ks`` (ascending), each table made once; raises Cancelled."""
        tally = self._tally_at(ks)
        found = {node: self._counted(node, tally) for node in sorted(nodes, key=self.walk_order)}
        levels = level_array(self.problem, np.array(nodes, np.int64))
        return EvaluatedNodes(self.problem, ks, np.stack([found[node] for node in nodes]), levels)

    def _tally_at(self, ks: Ints) -> Tally:
        tables = self._tables
        roller = tables if isinstance(tables, Roller) else tables.roller
        return Tally(self._packed, roller.room, ks)

    def _counted(self, node: Node, tally: Tally) -> Ints:
        self._token.check()
        levels = self.walk_order(node)
        try:
            table = self._tables.table(levels)
        except Stopped:
            raise Cancelled from None
        answer = np.zeros((1, len(tally.ks), FIELDS), np.int64)
        tally.count(table, levels[-1], levels[-1], answer, 0, 0)
        found: Ints = answer[0]
        return found

    def evaluated(self, nodes: Sequence[Node]) -> EvaluatedNodes:
        """The nodes at 1 and k, counting those that were not yet; raises Cancelled."""
        for node in sorted(nodes, key=self.walk_order):
            self.count(node)
        data = np.stack([self._known[node] for node in nodes])
        levels = level_array(self.problem, np.array(nodes, np.int64))
        return EvaluatedNodes(self.problem, self._tally.ks, data, levels)


def counted_at(
    problem: LatticeProblem, nodes: Sequence[Node], ks: Ints, token: CancelToken
) -> EvaluatedNodes:
    """Some nodes at all of ``ks`` (ascending), each table made once; raises Cancelled."""
    with node_counter(problem, 1, token, pooled=True) as counter:
        return counter.count_at(nodes, ks)


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
