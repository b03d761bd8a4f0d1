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
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.methods.k_anonymity import class_kernels
from dpdesk.engine.methods.k_anonymity.lattice import (
    LARGEST_SUM,
    Ints,
    LatticeProblem,
    numbered_classes,
)
from dpdesk.engine.methods.k_anonymity.requirements import Constraints, least_removed
from dpdesk.engine.methods.k_anonymity.statistics import FIELDS

_FEWEST = 8


class ConstrainedCounter:
    """Counts nodes at one k under a problem's constraints; results do not depend on threads."""

    def __init__(
        self, problem: LatticeProblem, constraints: Constraints, k: int, allowed: int
    ) -> None:
        self._allowed = allowed
        self._problem = problem
        self._constraints = constraints
        self._k = k
        self._codes = np.ascontiguousarray(problem.codes)
        self._offsets = np.cumsum([0, *(len(h.leaves) for h in problem.hierarchies)])[:-1]
        self._costs = lru_cache(maxsize=None)(self._leaf_costs)

    @property
    def widening(self) -> bool:
        """Whether rows may stay that k alone would remove."""
        return self._constraints.widening

    def count(self, nodes: NDArray[np.int64], token: CancelToken, *, below: bool = False) -> Ints:
        """The FIELDS numbers at k of nodes by levels, shape (nodes, FIELDS); raises Cancelled.

        With ``below`` four more: the rows that every feasible node below removes at least, and what
        they cost in loss, in logarithms and in discernibility more than rows that are kept.
        """
        found = np.zeros((len(nodes), FIELDS + 4 if below else FIELDS), np.int64)
        threads = max(1, min(os.cpu_count() or 1, len(nodes) // _FEWEST))

        def work(first: int) -> None:
            for place in range(first, len(nodes), threads):
                token.check()
                found[place] = self._node(nodes[place].tolist(), below=below)

        if threads == 1:
            work(0)
            return found
        with ThreadPoolExecutor(threads, thread_name_prefix="constrained") as pool:
            for done in [pool.submit(work, first) for first in range(threads)]:
                done.result()
        return found

    def _node(self, levels: Sequence[int], *, below: bool) -> Sequence[int]:
        problem, k = self._problem, self._k
        sizes, firsts, of_tuple = self._classes(levels)
        large = self._constraints.large(of_tuple, sizes, k, levels)
        held = self._constraints.held(of_tuple, large)
        kept = self._constraints.kept_of(held, sizes, large)
        left, shown = sizes[kept], self._codes[firsts[kept]]
        loss = log = 0
        for position, level in enumerate(levels):
            costs = self._costs(position, level)[shown[:, position]]
            loss += int((costs[:, 0] * left).sum())
            log += int((costs[:, 1] * left).sum())
        gone = problem.rows - int(left.sum())
        found = gone, len(left), int((left * left).sum()), loss, log
        if not below:
            return found
        cut, total = least_removed(self._constraints, held, sizes, large, self._allowed)
        lost = np.zeros((len(sizes), 2), np.int64)
        for position, level in enumerate(levels):
            lost += self._costs(position, level)[self._codes[firsts, position]]
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

    def _classes(self, levels: Sequence[int]) -> tuple[Ints, Ints, Ints]:
        """Rows of each class, a tuple of it, and the class of each tuple."""
        problem = self._problem
        ancestors = [problem.ancestors[j][level] for j, level in enumerate(levels)]
        widths = [len(h.labels[v]) for h, v in zip(problem.hierarchies, levels, strict=True)]
        tuples = len(problem.counts)
        if math.prod(widths) > LARGEST_SUM:
            _, sizes, of_tuple = numbered_classes(problem, levels)
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
            self._codes, parts, self._offsets, problem.counts, slots, keys, of_tuple, firsts, sizes
        )
        return sizes[:classes], firsts[:classes], of_tuple


def constrained_counter(
    problem: LatticeProblem, k: int, allowed: int = 0
) -> ConstrainedCounter | None:
    """A counter for a problem with constraints, None for one without."""
    if problem.constraints is None:
        return None
    return ConstrainedCounter(problem, problem.constraints, k, allowed)
