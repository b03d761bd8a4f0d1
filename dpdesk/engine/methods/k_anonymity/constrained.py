"""Counting nodes whose classes must pass more than k.

What is required needs the sensitive values of every class, so a node costs more than under k alone.
Searches count nodes under k first, which bounds from below what is asked (see
:mod:`~dpdesk.engine.methods.k_anonymity.bounds`), and ask here about those that may still be the
best.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.methods.k_anonymity import class_kernels
from dpdesk.engine.methods.k_anonymity.lattice import (
    LARGEST_SUM,
    Ints,
    LatticeProblem,
    Node,
    numbered_classes,
)
from dpdesk.engine.methods.k_anonymity.requirements import Constraints, least_removed
from dpdesk.engine.methods.k_anonymity.statistics import FIELDS

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
