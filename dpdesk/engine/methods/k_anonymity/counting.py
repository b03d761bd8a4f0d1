"""Counting single nodes of a lattice that is not walked as a whole."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import Cancelled
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.methods.k_anonymity import class_kernels
from dpdesk.engine.methods.k_anonymity.lattice import (
    LARGEST_SUM,
    Ints,
    LatticeProblem,
    Node,
    numbered_classes,
)
from dpdesk.engine.methods.k_anonymity.packing import Flag, PackedLattice
from dpdesk.engine.methods.k_anonymity.requirements import Constraints, least_removed
from dpdesk.engine.methods.k_anonymity.statistics import FIELDS, EvaluatedNodes, level_array
from dpdesk.engine.methods.k_anonymity.worker import GoalWorker, Roller, Stopped, Tally

# Counting nodes whose classes must pass more than k.
#
# What is required needs the sensitive values of every class, so a node costs more than under k
# alone. Searches count nodes under k first, which bounds from below what is asked (see
# :mod:`~dpdesk.engine.methods.k_anonymity.bounds`), and ask here about those that may still be the
# best.


_FEWEST, _KEPT = 8, 8


@dataclass(frozen=True, eq=False)
class _Table:
    """The classes of a node, or the tuples: leaf codes of one tuple of each, and what is asked."""

    codes: NDArray[np.int32]
    counts: Ints
    asked: Constraints


class ConstrainedCounter:
    """Counts nodes at one k under a problem's constraints; results do not depend on threads.

    Nodes that are asked for together are counted from the classes of the highest node below all of
    them, which are far fewer than the tuples.
    """

    def __init__(
        self, problem: LatticeProblem, constraints: Constraints, k: int, allowed: int
    ) -> None:
        self._allowed = allowed
        self._problem = problem
        self._constraints = constraints
        self._k = k
        codes = np.ascontiguousarray(problem.codes)
        self._raw = _Table(codes, problem.counts, constraints)
        self._tables = lru_cache(maxsize=_KEPT)(self._table_at)
        self._offsets = np.cumsum([0, *(len(h.leaves) for h in problem.hierarchies)])[:-1]
        self._costs = lru_cache(maxsize=None)(self._leaf_costs)

    @property
    def widening(self) -> bool:
        """Whether rows may stay that k alone would remove."""
        return self._constraints.widening

    def count(self, nodes: NDArray[np.int64], token: CancelToken, *, below: bool = False) -> Ints:
        """The FIELDS numbers at k of nodes by levels, shape (nodes, FIELDS); raises Cancelled.

        With ``below`` nodes may be counted no further than that more rows go than are allowed, and
        there are four more numbers: the rows that every feasible node below removes at least, and
        what they cost in loss, in logarithms and in discernibility more than rows that are kept.
        """
        found = np.zeros((len(nodes), FIELDS + 4 if below else FIELDS), np.int64)
        whole = self._raw
        shared = self._constraints.of_classes and len(nodes) >= _FEWEST
        if shared:
            whole = self._tables(tuple(nodes.min(axis=0).tolist()))
        order = np.lexsort(nodes.T[::-1])  # nodes that are near each other
        parts = [order[first : first + _FEWEST] for first in range(0, len(order), _FEWEST)]
        threads = max(1, min(os.cpu_count() or 1, len(parts)))

        def work(first: int) -> None:
            for some in parts[first::threads]:
                table = self._joined(whole, nodes[some].min(axis=0).tolist()) if shared else whole
                for place in some.tolist():
                    token.check()
                    found[place] = self._node(table, nodes[place].tolist(), below=below)

        if threads == 1:
            work(0)
            return found
        with ThreadPoolExecutor(threads, thread_name_prefix="constrained") as pool:
            for done in [pool.submit(work, first) for first in range(threads)]:
                done.result()
        return found

    def _node(self, table: _Table, levels: Sequence[int], *, below: bool) -> Sequence[int]:
        problem, k, asked = self._problem, self._k, table.asked
        sizes, firsts, of_tuple = self._classes(table, levels)
        large = asked.large(of_tuple, sizes, k, levels)
        held = asked.held(of_tuple, large)
        if asked.households is None:
            most = self._allowed if below else None
            left = np.where(asked.settled(held, of_tuple, sizes, large, levels, most), sizes, 0)
        else:
            left = asked.staying(of_tuple, sizes, k, levels).classes
        lost = np.zeros((len(sizes), 2), np.int64)
        costs = np.concatenate([self._costs(j, level) for j, level in enumerate(levels)])
        class_kernels.cell_costs(table.codes, firsts, costs, self._offsets, lost)
        loss, log = (left @ lost).tolist()
        gone = problem.rows - int(left.sum())
        found = gone, int((left > 0).sum()), int(left @ left), loss, log
        if not below:
            return found
        if asked.households is None:
            cut, total = least_removed(asked, held, sizes, large, self._allowed)
        else:  # what leaves here leaves below as well
            cut, total = sizes - left, gone
        weight, rows = sum(problem.each_weight), problem.rows
        whole = weight * problem.loss_unit, weight * int(problem.log_cost_of(rows))
        shorts = [np.maximum(whole[at] - lost[:, at], 0) for at in range(2)]
        shorts.append(np.maximum(rows - np.maximum(sizes, k), 0))
        return *found, total, *(max(int((cut * s).sum()), total * int(s.min())) for s in shorts)

    def _leaf_costs(self, position: int, level: int) -> Ints:
        """Loss and logarithm cost of one cell for every leaf at a level."""
        problem = self._problem
        costs = problem.loss_cost(position, level), problem.log_cost(position, level)
        return np.stack(costs, axis=1)[problem.ancestors[position][level]]

    def _table_at(self, node: Node) -> _Table:
        """The classes of a node as a table; kept, for searches come back to the same few."""
        return self._joined(self._raw, node)

    def _joined(self, table: _Table, node: Sequence[int]) -> _Table:
        """The classes of a node as a table, from those of a node below it."""
        sizes, firsts, of_tuple = self._classes(table, node)
        return _Table(table.codes[firsts], sizes, table.asked.joined(of_tuple, len(sizes)))

    def _classes(self, table: _Table, levels: Sequence[int]) -> tuple[Ints, Ints, Ints]:
        """Rows of each class, a tuple of it, and the class of each tuple of a table."""
        problem = self._problem
        ancestors = [problem.ancestors[j][level] for j, level in enumerate(levels)]
        widths = [len(h.labels[v]) for h, v in zip(problem.hierarchies, levels, strict=True)]
        tuples = len(table.counts)
        if math.prod(widths) > LARGEST_SUM:
            part = replace(problem, codes=table.codes, counts=table.counts)
            _, sizes, of_tuple = numbered_classes(part, levels)
            firsts = np.zeros(len(sizes), np.int64)
            firsts[of_tuple[::-1]] = np.arange(tuples - 1, -1, -1)
            return sizes, firsts, of_tuple
        steps = [math.prod(widths[j + 1 :]) for j in range(len(widths))]
        parts = np.concatenate(
            [each.astype(np.int64) * step for each, step in zip(ancestors, steps, strict=True)]
        )
        of_tuple, sizes = np.empty(tuples, np.int64), np.zeros(tuples, np.int64)
        firsts, keys = np.empty(tuples, np.int64), np.empty(tuples, np.int64)
        slots = np.full(max(8, 1 << (2 * tuples - 1).bit_length()), -1, np.int64)
        classes = class_kernels.number_tuples(
            table.codes, parts, self._offsets, table.counts, slots, keys, of_tuple, firsts, sizes
        )
        return sizes[:classes], firsts[:classes], of_tuple


def constrained_counter(
    problem: LatticeProblem, k: int, allowed: int = 0
) -> ConstrainedCounter | None:
    """A counter for a problem with constraints, None for one without."""
    if problem.constraints is None:
        return None
    return ConstrainedCounter(problem, problem.constraints, k, allowed)


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
