"""Counting single nodes of a lattice that is not walked as a whole."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import Cancelled
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.methods.k_anonymity.constrained import constrained_counter
from dpdesk.engine.methods.k_anonymity.lattice import Ints, LatticeProblem, Node
from dpdesk.engine.methods.k_anonymity.packing import Flag, PackedLattice
from dpdesk.engine.methods.k_anonymity.statistics import FIELDS, EvaluatedNodes, level_array
from dpdesk.engine.methods.k_anonymity.worker import GoalWorker, Roller, Stopped, Tally

_FEWEST_GOALS = 16
_THREAD_MEMORY = 4_000_000_000


class NodeCounter:
    """Counts nodes at one k (and at 1), each once; at k under a problem's constraints.

    Nodes asked for together, in ascending order, share their work. Use :func:`node_counter` to make
    one.
    """

    def __init__(self, problem: LatticeProblem, k: int, token: CancelToken) -> None:
        self.problem = problem
        self.k = k
        self.stop: Flag = np.zeros(1, np.uint8)
        self._token = token
        self._packed = PackedLattice.of(problem, token)
        self._roller = Roller(self._packed, self.stop)
        ks = np.unique(np.array([1, k], np.int64))
        self._tally = Tally(self._packed, self._roller.room, ks)
        self._constrained = constrained_counter(problem, k)
        self._known: dict[Node, Ints] = {}

    @property
    def counted(self) -> int:
        """How many nodes were counted so far."""
        return len(self._known)

    def walk_order(self, node: Node) -> Node:
        """The levels of a node by walk position: ascending order of these is cheapest."""
        return tuple(node[attribute] for attribute in self._packed.order)

    def from_walk_order(self, levels: Sequence[int]) -> Node:
        """The node with these levels by walk position."""
        node = [0] * len(levels)
        for attribute, level in zip(self._packed.order, levels, strict=True):
            node[attribute] = level
        return tuple(node)

    def count(self, node: Node) -> Ints:
        """The FIELDS numbers of a node at k (see the kernel ``tally``); raises Cancelled."""
        known = self._known.get(node)
        if known is None:
            known = self._counted(node)
            self._known[node] = known
        at_k: Ints = known[-1]
        return at_k

    def _counted(self, node: Node) -> Ints:
        self._token.check()
        levels = self.walk_order(node)
        try:
            table = self._roller.table(levels)
        except Stopped:
            raise Cancelled from None
        answer = np.zeros((1, len(self._tally.ks), FIELDS), np.int64)
        self._tally.count(table, levels[-1], levels[-1], answer, 0, 0)
        found: Ints = answer[0]
        if self._constrained is not None and (found[-1, 1] or self._constrained.widening):
            found[-1] = self._constrained.count(np.array([node], np.int64), self._token)[0]
        return found

    def plain(self, nodes: Sequence[Node]) -> EvaluatedNodes:
        """The nodes at 1 and k, under k alone; raises Cancelled."""
        kept, self._constrained = self._constrained, None
        try:
            data = np.stack([self._counted(node) for node in nodes])
        finally:
            self._constrained = kept
        levels = level_array(self.problem, np.array(nodes, np.int64))
        return EvaluatedNodes(self.problem, self._tally.ks, data, levels)

    def evaluated(self, nodes: Sequence[Node]) -> EvaluatedNodes:
        """The nodes at 1 and k, counting those that were not yet; raises Cancelled."""
        for node in sorted(nodes, key=self.walk_order):
            self.count(node)
        data = np.stack([self._known[node] for node in nodes])
        levels = level_array(self.problem, np.array(nodes, np.int64))
        return EvaluatedNodes(self.problem, self._tally.ks, data, levels)


class GoalCounter:
    """Counts sets of nodes at some ``ks`` (ascending), by as many threads as there is memory for.

    Use :func:`goal_counter` to make one. Results do not depend on threads.
    """

    def __init__(self, problem: LatticeProblem, ks: Ints, token: CancelToken) -> None:
        self.problem = problem
        self.ks = ks
        self.stop: Flag = np.zeros(1, np.uint8)
        self._token = token
        self._packed = PackedLattice.of(problem, token)
        # At most one table for each attribute that goals were split by, and two being made.
        most = (len(self._packed.order) + 3) * max(self._packed.base.nbytes, 1)
        self.threads = max(1, min(os.cpu_count() or 1, _THREAD_MEMORY // most))
        self._workers: list[GoalWorker] = []

    def count(self, nodes: NDArray[np.int64]) -> EvaluatedNodes:
        """Distinct nodes, shape (nodes, attributes); raises Cancelled."""
        self._token.check()
        order = self._packed.order
        goals = np.column_stack([nodes[:, order], np.arange(len(nodes))])
        # Sorted, so that each thread gets nodes that are near each other.
        goals = goals[np.lexsort((*goals.T[-3::-1], goals[:, -2]))]
        answers = np.zeros((len(nodes), len(self.ks), FIELDS), np.int64)
        threads = max(1, min(self.threads, len(nodes) // _FEWEST_GOALS))
        while len(self._workers) < threads:
            self._workers.append(GoalWorker(self._packed, self.ks, self.stop))
        cuts = [len(nodes) * place // threads for place in range(threads + 1)]
        try:
            self._run([goals[low:high] for low, high in pairwise(cuts)], answers)
        except Stopped:
            raise Cancelled from None
        self._token.check()
        return EvaluatedNodes(self.problem, self.ks, answers, level_array(self.problem, nodes))

    def _run(self, parts: Sequence[Ints], answers: Ints) -> None:
        if len(parts) == 1:
            self._workers[0].count(parts[0], answers)
            return
        with ThreadPoolExecutor(len(parts), thread_name_prefix="goals") as pool:
            futures = [
                pool.submit(worker.count, part, answers)
                for worker, part in zip(self._workers, parts, strict=False)
            ]
        for future in futures:
            future.result()


def counted_at(
    problem: LatticeProblem, nodes: Sequence[Node], ks: Ints, token: CancelToken
) -> EvaluatedNodes:
    """Some distinct nodes at all of ``ks`` (ascending); raises Cancelled."""
    with goal_counter(problem, ks, token) as counter:
        return counter.count(np.array(nodes, np.int64).reshape(len(nodes), len(problem.heights)))


@contextmanager
def goal_counter(problem: LatticeProblem, ks: Ints, token: CancelToken) -> Iterator[GoalCounter]:
    """A counter whose compiled loops end when the token is cancelled."""
    token.check()
    counter = GoalCounter(problem, ks, token)

    def stop() -> None:
        counter.stop[0] = 1

    with token.on_cancel(stop):
        yield counter


@contextmanager
def node_counter(problem: LatticeProblem, k: int, token: CancelToken) -> Iterator[NodeCounter]:
    """A counter whose compiled loops end when the token is cancelled."""
    token.check()
    counter = NodeCounter(problem, k, token)

    def stop() -> None:
        counter.stop[0] = 1

    with token.on_cancel(stop):
        yield counter
