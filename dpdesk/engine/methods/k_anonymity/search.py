"""The walk over the whole lattice, and the globally optimal search on top of it."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.jobs import CancelToken, Report, StepProgress
from dpdesk.engine.methods.k_anonymity.lattice import MAX_WALK_NODES, Ints, LatticeProblem, Node
from dpdesk.engine.methods.k_anonymity.metrics import NodeStatistics, evaluate_node
from dpdesk.engine.methods.k_anonymity.packing import Flag, PackedLattice
from dpdesk.engine.methods.k_anonymity.statistics import FIELDS, LatticeStatistics

# How much work the walk over a whole lattice is: the one rule that decides walk or not.
#
# A run and an exploration ask :func:`worth_walking`, so the window and the command line always
# agree. A run that does not need all nodes counts them for a chart where :func:`worth_charting`.


MAX_WALK_WORK = 10_000_000_000
"""Largest :func:`walk_work` that is walked: one to three minutes on two free cores.

Measured in processor time per unit, for both threads together: 19,502 tuples × 12,960 nodes (1.6e8
units) 14 ns; 22,540 × 19,440 (2.8e8) 11 ns; 25,017 × 233,280 (5.1e9) 10 ns; tables beyond the
processor's cache cost more, 499,998 × 15,552 (4.3e9) 30 ns. So the limit stands for 100 seconds of
processor time with small tables and 300 with large ones, half of that on two cores.
"""


def walk_work(problem: LatticeProblem) -> float:
    """An upper bound on the groups that a walk makes: Σ over nodes of min(tuples, combinations).

    The combinations of a node are the product of the numbers of values at its levels. Milliseconds
    for a million nodes; infinite for more than MAX_WALK_NODES nodes.
    """
    if problem.node_count > MAX_WALK_NODES:
        return float("inf")
    return float(_most_groups(problem, range(len(problem.hierarchies))).sum())


def most_held(problem: LatticeProblem, order: Sequence[int]) -> float:
    """An upper bound on the groups that one thread of a walk holds at a time.

    It holds the tables along a path that raises one attribute by one level at a time, attributes in
    ``order`` (the walk order): the heaviest such path from the raw node counts. Milliseconds for a
    million nodes.
    """
    groups = _most_groups(problem, order)
    held = groups.copy()
    for position in reversed(range(len(order))):
        here, below = np.moveaxis(held, position, 0), np.moveaxis(groups, position, 0)
        for level in reversed(range(len(here) - 1)):
            here[level] = np.maximum(here[level], below[level] + here[level + 1])
    return float(held.reshape(-1)[0])


def _most_groups(problem: LatticeProblem, order: Sequence[int]) -> NDArray[np.float64]:
    """Per node, at most so many groups; one axis of levels per attribute, in ``order``."""
    combinations = np.ones(())
    for attribute in order:
        labels = problem.hierarchies[attribute].labels
        values = np.array([len(each) for each in labels], np.float64)
        combinations = np.multiply.outer(combinations, values)
    most: NDArray[np.float64] = np.minimum(combinations, float(len(problem.counts)))
    return most


def worth_walking(problem: LatticeProblem) -> bool:
    """Whether every node of the lattice is counted: neither nodes nor work are too many."""
    return problem.node_count <= MAX_WALK_NODES and walk_work(problem) <= MAX_WALK_WORK


MAX_CHARTED_WORK = 1_000_000_000
"""Largest :func:`walk_work` of a walk that only a chart needs: up to 30 seconds of processor time.

Bounds prove the optimum of such a lattice from a small part of its nodes, so a run would wait for
its chart alone.
"""


def worth_charting(problem: LatticeProblem) -> bool:
    """Whether every node is counted for a chart where the choice does not need it."""
    return walk_work(problem) <= MAX_CHARTED_WORK


STEP = "Checking every generalisation"

_TASKS = 32
_TICK = 0.1
_THREAD_MEMORY = 4_000_000_000


@dataclass(frozen=True)
class SearchResult:
    """The node that a search chose, or None when none is feasible.

    ``proven_optimal`` says whether no feasible node has a lower objective, by a count of all nodes
    or by bounds (for Samarati: whether no feasible node has a lower height, and none of that height
    is preferred). Levels chosen by hand prove nothing. ``nodes_checked`` counts the nodes whose
    classes were counted. ``least_suppressed`` is a node that suppresses fewest rows at this k, and
    those rows. ``bound`` is a value of the objective that no node is better than, where that is
    known without a proof of the optimum.
    """

    node: Node | None
    statistics: NodeStatistics | None
    proven_optimal: bool
    nodes_checked: int
    least_suppressed: tuple[Node, int]
    bound: float | None = None


def optimal_search(
    problem: LatticeProblem,
    objective: str,
    k: int,
    max_suppressed: int,
    token: CancelToken,
    report: Report,
) -> SearchResult:
    """The feasible node with the lowest objective of all nodes of the lattice.

    Every node is looked at: with suppression no objective need be monotone along the lattice, so
    the optimum need not be a minimal node. ValueError for more than MAX_WALK_NODES nodes.
    """
    if problem.node_count > MAX_WALK_NODES:
        raise ValueError(f"{problem.node_count} nodes are too many to look at every one")
    return best_of(walk_lattice(problem, [k], token, report), objective, k, max_suppressed)


def best_of(
    statistics: LatticeStatistics, objective: str, k: int, max_suppressed: int
) -> SearchResult:
    """The optimum from a walk that was made already, see :func:`optimal_search`."""
    problem = statistics.problem
    least = statistics.least_suppressed(k)
    found = statistics.best(objective, k, max_suppressed)
    node = None if found is None else problem.levels(found)
    return SearchResult(
        node=node,
        statistics=None if node is None else evaluate_node(problem, node, k),
        proven_optimal=node is not None,
        nodes_checked=statistics.node_count,
        least_suppressed=(problem.levels(least), int(statistics.suppressed(k)[least])),
    )


def walk_lattice(
    problem: LatticeProblem,
    ks: Sequence[int] | Ints,
    token: CancelToken,
    report: Report,
    threads: int | None = None,
    *,
    spare: bool = False,
) -> LatticeStatistics:
    """Count the classes of every node, for all ``ks`` at once.

    Each node's table is rolled up from a neighbour's; sub-lattices are shared among ``threads``
    (default: one per processor, fewer where memory would not suffice, and one less with ``spare``,
    for work that goes on meanwhile). Results do not depend on threads. Reports nodes done; a cancel
    is noticed within a fraction of a second.

    Raises
    ------
    Cancelled
        When the token is cancelled.
    ValueError
        For no k, a k below 1, or more than MAX_WALK_NODES nodes.
    """
    asked = np.unique(np.asarray(ks, np.int64))
    if not len(asked) or asked[0] < 1:
        raise ValueError("a walk needs one k or more, each at least 1")
    if problem.node_count > MAX_WALK_NODES:
        raise ValueError(f"{problem.node_count} nodes are too many to look at every one")
    token.check()
    report(StepProgress(STEP, 0, problem.node_count, "nodes"))
    packed = PackedLattice.of(problem, token)
    walk = _Walk(packed, asked, token, report)
    walk.run(threads or max(1, _threads(packed) - spare))
    return LatticeStatistics(problem, asked, walk.answers)


def _threads(packed: PackedLattice) -> int:
    """Threads for a walk: as many as there is memory for the tables along a path of each."""
    worst = bytes_of_a_group(packed) * most_held(packed.problem, packed.order)
    return max(1, min(os.cpu_count() or 1, int(_THREAD_MEMORY // max(worst, 1))))


def bytes_of_a_group(packed: PackedLattice) -> int:
    """Most memory that a group takes: its entry, and a rest if no two groups share one."""
    return 8 * (packed.words + 4)


class _Walk:
    """One walk: sub-lattices as tasks, workers that take them, progress and cancel."""

    def __init__(self, packed: PackedLattice, ks: Ints, token: CancelToken, report: Report) -> None:
        self.packed = packed
        self.ks = ks
        self.token = token
        self.report = report
        self.stop: Flag = np.zeros(1, np.uint8)
        self.answers = np.zeros((packed.problem.node_count, len(ks), FIELDS), np.int64)
        self.fixed = 0
        self.tasks = 1
        while self.fixed < len(packed.heights) - 1 and self.tasks < _TASKS:
            self.tasks *= int(packed.heights[self.fixed]) + 1
            self.fixed += 1

    def run(self, threads: int) -> None:
        """Do all tasks; raises Cancelled."""
        from dpdesk.engine.methods.k_anonymity.worker import SubtreeWorker

        threads = min(threads, self.tasks)
        ranges = TaskRanges(self.tasks, threads)
        workers = [SubtreeWorker(self.packed, self.ks, self.stop) for _ in range(threads)]
        with ThreadPoolExecutor(threads, thread_name_prefix="lattice") as pool:
            futures = [
                pool.submit(worker.run, ranges, place, self.fixed, self.answers)
                for place, worker in enumerate(workers)
            ]
            try:
                while wait(futures, timeout=_TICK).not_done:
                    self.token.check()
                    self._tell(sum(worker.finished for worker in workers))
            finally:
                # Also when a listener raises: the pool must not wait for the whole walk.
                self.stop[0] = 1
        for future in futures:
            future.result()
        self.token.check()
        self._tell(self.packed.problem.node_count)

    def _tell(self, done: int) -> None:
        self.report(StepProgress(STEP, done, self.packed.problem.node_count, "nodes"))


class TaskRanges:
    """Task numbers, handed out so that each worker gets neighbours; idle workers steal halves."""

    def __init__(self, tasks: int, workers: int) -> None:
        bounds = [tasks * worker // workers for worker in range(workers + 1)]
        self._ranges = [[bounds[w], bounds[w + 1]] for w in range(workers)]
        self._lock = threading.Lock()

    def take(self, worker: int) -> int | None:
        """The next task of this worker, or None when all tasks are taken."""
        with self._lock:
            own = self._ranges[worker]
            if own[0] == own[1]:
                richest = max(self._ranges, key=lambda bounds: bounds[1] - bounds[0])
                if richest[0] == richest[1]:
                    return None
                middle = (richest[0] + richest[1]) // 2
                own[0], own[1] = middle, richest[1]
                richest[1] = middle
            own[0] += 1
            return own[0] - 1
