"""A heuristic search for lattices that are too large to look at every node."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dpdesk.core.jobs import CancelToken, Note, Report, StepProgress
from dpdesk.engine.anonymity.lattice import LatticeProblem, Node
from dpdesk.engine.anonymity.metrics import evaluate_node
from dpdesk.engine.anonymity.search import SearchResult

if TYPE_CHECKING:
    from dpdesk.engine.anonymity.counting import NodeCounter

STEP = "Searching a large lattice"

_MOST_NODES = 20_000
_FEWEST_NODES = 500
_WORK = 1_000_000_000


def node_budget(problem: LatticeProblem) -> int:
    """How many nodes to look at when nobody says: fewer for larger tables, never by the clock.

    A budget in nodes makes results repeatable on any machine.
    """
    return max(_FEWEST_NODES, min(_MOST_NODES, _WORK // max(len(problem.counts), 1)))


def anytime_search(
    problem: LatticeProblem,
    objective: str,
    k: int,
    max_suppressed: int,
    token: CancelToken,
    report: Report,
    max_nodes: int | None = None,
) -> SearchResult:
    """A good feasible node, without a proof that it is the best.

    A deterministic best-first search from both ends. Two queues take turns: feasible nodes, best
    objective first, starting at the top (which is feasible whenever any node is); and infeasible
    nodes, starting at the raw node, ranked by their objective relative to the top's plus the share
    of rows suppressed beyond the limit. A node taken from a queue puts its neighbours one level up
    and down into the queues; below an infeasible node nothing is feasible, so from there the search
    only goes up. It ends after ``max_nodes`` nodes (default: :func:`node_budget`), or when the
    first queue is empty: from the top every feasible node is reached through feasible nodes, so all
    were seen then and the optimum is proven. Among the feasible nodes seen, the result is chosen
    exactly and with the ties of the optimal search. Notes say the best so far.

    Raises
    ------
    Cancelled
        When the token is cancelled.
    KeyError
        For an unknown objective.
    """
    from dpdesk.engine.anonymity.counting import node_counter

    with node_counter(problem, k, token) as counter:
        search = _BestFirst(counter, objective, max_suppressed, report)
        return search.run(max_nodes or node_budget(problem))


class _BestFirst:
    """The two queues of the search, and the nodes seen."""

    def __init__(
        self, counter: NodeCounter, objective: str, max_suppressed: int, report: Report
    ) -> None:
        self._counter = counter
        self._problem = counter.problem
        self._objective = objective
        self._max_suppressed = max_suppressed
        self._report = report
        self._seen: set[Node] = set()
        self._feasible: dict[Node, float] = {}
        self._queues: tuple[list[tuple[float, Node]], list[tuple[float, Node]]] = ([], [])
        self._scale = 1.0
        self._next_note = 64
        self._best = float("inf")
        self._told = float("inf")

    def run(self, max_nodes: int) -> SearchResult:
        problem, top = self._problem, self._problem.heights
        least = (top, 0 if problem.rows >= self._counter.k else problem.rows)
        self._look_at([top])
        if not self._feasible:
            return SearchResult(None, None, False, self._counter.counted, least)
        self._scale = max(abs(self._feasible[top]), 1e-300)
        self._look_at([(0,) * len(top)])
        turn = 0
        while len(self._seen) < max_nodes and self._queues[0]:
            queue = self._queues[turn % 2] or self._queues[1 - turn % 2]
            turn += 1
            _, node = heapq.heappop(queue)
            self._look_at(self._neighbours(node)[: max_nodes - len(self._seen)])
            self._tell(max_nodes)
        proven = not self._queues[0] and len(self._seen) < max_nodes
        node = self._choice()
        return SearchResult(
            node=node,
            statistics=evaluate_node(problem, node, self._counter.k),
            proven_optimal=proven,
            nodes_checked=self._counter.counted,
            least_suppressed=least,
        )

    def _neighbours(self, node: Node) -> list[Node]:
        """Nodes one step away that were not seen: upwards, and downwards if there is hope."""
        steps = (1, -1) if node in self._feasible else (1,)
        near = [
            (*node[:position], node[position] + step, *node[position + 1 :])
            for position, height in enumerate(self._problem.heights)
            for step in steps
            if 0 <= node[position] + step <= height
        ]
        return [other for other in near if other not in self._seen]

    def _look_at(self, nodes: Sequence[Node]) -> None:
        if not nodes:
            return
        k = self._counter.k
        found = self._counter.evaluated(nodes)
        values = found.objective(self._objective, k)
        feasible = found.feasible(k, self._max_suppressed)
        excess = (found.suppressed(k) - self._max_suppressed) / self._problem.rows
        self._seen.update(nodes)
        for place, node in enumerate(nodes):
            value = float(values[place])
            if feasible[place]:
                self._feasible[node] = value
                self._best = min(self._best, value)
                heapq.heappush(self._queues[0], (value, node))
            else:
                rank = value / self._scale + max(float(excess[place]), 0.0)
                heapq.heappush(self._queues[1], (rank, node))

    def _choice(self) -> Node:
        limit = self._best + 1e-9 * abs(self._best)
        close = [node for node, value in self._feasible.items() if value <= limit]
        found = self._counter.evaluated(close)
        best = found.best(self._objective, self._counter.k, self._max_suppressed)
        return close[best or 0]

    def _tell(self, max_nodes: int) -> None:
        seen = len(self._seen)
        self._report(StepProgress(STEP, seen, max_nodes, "nodes"))
        if seen >= self._next_note and self._best < self._told:
            self._next_note, self._told = 2 * seen, self._best
            node = self._choice()
            rows = int(self._counter.count(node)[0])
            self._report(
                Note(
                    "search.best-so-far",
                    f"Best so far, after {seen:,} of at most {max_nodes:,} nodes: "
                    f"{self._objective} {_figure(self._objective, self._best)}, "
                    f"{rows:,} {'row' if rows == 1 else 'rows'} suppressed.",
                )
            )


def _figure(objective: str, value: float) -> str:
    shown = 1 - value if objective == "precision" else value
    return f"{shown:,.0f}" if shown >= 1000 else f"{shown:.4g}"
