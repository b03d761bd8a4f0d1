"""Branch and bound: the proven optimum of a large lattice from a small part of its nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.jobs import CancelToken, Report, StepProgress
from dpdesk.engine.anonymity.bounds import Bounds
from dpdesk.engine.anonymity.lattice import LatticeProblem, Node
from dpdesk.engine.anonymity.metrics import evaluate_node
from dpdesk.engine.anonymity.search import SearchResult
from dpdesk.engine.anonymity.statistics import EvaluatedNodes

if TYPE_CHECKING:
    from dpdesk.engine.anonymity.counting import NodeCounter

STEP = "Searching a large lattice"

MAX_BOUNDED_NODES = 5_000_000
"""Largest lattice whose nodes all have a bound in memory (about 40 bytes a node in all)."""

MAX_BOUNDED_WORK = 4_000_000_000
"""Most groups read before the search ends without a proof: two to six minutes of one processor.

Measured: 25,161 tuples and 1,166,400 nodes took 86 ns a group, since ruling out nodes takes more
than counting them there; a walk of 499,998 tuples 34 ns a group.
"""

_MOST_COUNTED = 30_000
_SAMPLE = 20_000
_HIGH = 0.7


def bounded_search(
    problem: LatticeProblem,
    objective: str,
    k: int,
    max_suppressed: int,
    token: CancelToken,
    report: Report,
    max_nodes: int = _MOST_COUNTED,
    max_work: int = MAX_BOUNDED_WORK,
) -> SearchResult:
    """The feasible node with the lowest objective, proven by bounds instead of a count of all.

    What was counted rules out other nodes, see :mod:`~dpdesk.engine.anonymity.bounds`. First a
    greedy descent from the top, one level of one attribute at a time, gives a good value to compare
    with. Then, again and again, the node that could be best is looked for, and a node is counted
    that lies well above it among those not ruled out: if it is infeasible or suppresses much, it
    rules out many at once, else it is often a better one. When nothing is left, the result is the
    optimum of the whole lattice, ties decided as in the walk. The search is deterministic. It ends
    without a proof after ``max_nodes`` nodes or ``max_work`` groups read, never by the clock.

    Raises
    ------
    Cancelled
        When the token is cancelled.
    KeyError
        For an unknown objective.
    ValueError
        For more than MAX_BOUNDED_NODES nodes.
    """
    from dpdesk.engine.anonymity.counting import node_counter

    if problem.node_count > MAX_BOUNDED_NODES:
        raise ValueError(f"{problem.node_count} nodes are too many to keep a bound of each")
    with node_counter(problem, k, token, pooled=True) as counter:
        search = _Bounded(counter, objective, max_suppressed, token, report)
        return search.run(max_nodes, max_work)


class _Bounded:
    """The nodes counted and the numbers of those that may still be best."""

    def __init__(
        self,
        counter: NodeCounter,
        objective: str,
        max_suppressed: int,
        token: CancelToken,
        report: Report,
    ) -> None:
        self._counter = counter
        self._problem = counter.problem
        self._objective = objective
        self._max_suppressed = max_suppressed
        self._token = token
        self._report = report
        self._bounds = Bounds(self._problem, objective, counter.k, max_suppressed)
        self._values: dict[Node, float] = {}
        self._best = np.inf
        self._slack = 0.0
        self._settled = 0

    def run(self, max_nodes: int, max_work: int) -> SearchResult:
        """See :func:`bounded_search`."""
        problem, top = self._problem, self._problem.heights
        least = (top, 0 if problem.rows >= self._counter.k else problem.rows)
        self._count([top])
        if not self._values:
            return SearchResult(None, None, False, self._counter.counted, least)
        self._descend(top, max_nodes)
        left = self._open_nodes(np.arange(problem.node_count, dtype=np.int64))
        self._settled = problem.node_count - len(left)
        while len(left) and self._counter.counted < max_nodes and self._counter.work < max_work:
            self._count([problem.levels(self._pick(left))])
            left = self._open_nodes(left)
            self._settled = problem.node_count - len(left)
        node = self._choice()
        return SearchResult(
            node=node,
            statistics=evaluate_node(problem, node, self._counter.k),
            proven_optimal=not len(left),
            nodes_checked=self._counter.counted,
            least_suppressed=least,
        )

    def _count(self, nodes: list[Node]) -> EvaluatedNodes:
        found = self._counter.evaluated(nodes)
        self._token.check()
        self._report(StepProgress(STEP, self._settled, self._problem.node_count, "nodes"))
        self._bounds.learn(found)
        values = found.objective(self._objective, self._counter.k)
        feasible = found.feasible(self._counter.k, self._max_suppressed)
        for place in np.flatnonzero(feasible).tolist():
            value = float(values[place])
            self._values[nodes[place]] = value
            if value < self._best:
                self._best = value
                # Twice: both the value reached and the bound may be off by rounding.
                self._slack = 2 * found.slack(self._objective, value)
        return found

    def _descend(self, node: Node, max_nodes: int) -> None:
        """From ``node`` to the best of the nodes one level down, as long as that is better."""
        while self._counter.counted + len(node) <= max_nodes:
            down = [
                (*node[:place], level - 1, *node[place + 1 :])
                for place, level in enumerate(node)
                if level
            ]
            value = self._values[node]
            if down:
                self._count(down)
            better = [low for low in down if self._values.get(low, np.inf) < value]
            if not better:
                return
            node = min(better, key=lambda low: (self._values[low], low))

    def _open_nodes(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Those of ``nodes`` that are neither counted nor ruled out."""
        return nodes[self._bounds.of(nodes) <= self._best + self._slack]

    def _pick(self, left: NDArray[np.int64]) -> int:
        """A node well above the one with the lowest bound (an even sample of a long list)."""
        every = len(left) // _SAMPLE + 1
        sample = left[self._counter.counted % every :: every]
        shape = tuple(height + 1 for height in self._problem.heights)
        levels = np.stack(np.unravel_index(sample, shape), axis=1)
        lowest = levels[int(np.argmin(self._bounds.of(sample)))]
        above = np.flatnonzero((levels >= lowest).all(axis=1))
        ranked = above[np.argsort(levels[above].sum(axis=1), kind="stable")]
        return int(sample[ranked[int(_HIGH * (len(ranked) - 1))]])

    def _choice(self) -> Node:
        """The best counted node, compared exactly where rounding might decide."""
        close = [n for n, value in self._values.items() if value <= self._best + self._slack]
        found = self._counter.evaluated(close)
        return close[found.best(self._objective, self._counter.k, self._max_suppressed) or 0]
