"""A heuristic search for lattices that are too large to look at every node."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from random import Random
from typing import TYPE_CHECKING

from dpdesk.core.jobs import CancelToken, EarlyEnd, Note, Report, StepProgress
from dpdesk.core.messages import counted, msg
from dpdesk.engine.methods.k_anonymity.bounded import (
    MAX_BOUNDED_NODES,
    MAX_BOUNDED_WORK,
    MOST_COUNTED,
    bounded_search,
)
from dpdesk.engine.methods.k_anonymity.bounds import plain_bounds
from dpdesk.engine.methods.k_anonymity.lattice import LatticeProblem, Node
from dpdesk.engine.methods.k_anonymity.metrics import INFINITE, evaluate_node
from dpdesk.engine.methods.k_anonymity.search import SearchResult
from dpdesk.engine.methods.k_anonymity.statistics import EvaluatedNodes, Floats

if TYPE_CHECKING:
    from dpdesk.engine.methods.k_anonymity.counting import NodeCounter


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

    A deterministic best-first search. Half of the nodes go to greedy descents: from a node to the
    best feasible one a level below, or one down and another up, as long as that is better. They
    start at the top (feasible whenever any node is), then at the lowest feasible nodes of chains
    from the raw node to the top that raise the attributes in a shuffled order, fixed by the
    chain's number; feasibility being monotone, halving a chain finds it. Then two queues take
    turns: feasible nodes, best objective first; and infeasible nodes, starting at the raw node,
    ranked by what feasible nodes above them may reach at best, relative to the top's objective,
    plus the share of rows suppressed beyond the limit. A node taken from a queue puts its
    neighbours one level up and down into the queues; below an infeasible node nothing is feasible,
    so from there the search only goes up. It ends after ``max_nodes`` nodes (default:
    :func:`node_budget`), or when the first queue is empty: from the top every feasible node is
    reached through feasible nodes, so all were seen then and the optimum is proven. Among the
    feasible nodes seen, the result is chosen exactly and with the ties of the optimal search.
    Notes say the best so far, and it is the result where the search is to end.

    Raises
    ------
    Cancelled
        When the token is cancelled.
    KeyError
        For an unknown objective.
    """
    from dpdesk.engine.methods.k_anonymity.counting import node_counter

    with node_counter(problem, k, token) as counter:
        search = _BestFirst(counter, objective, max_suppressed, report)
        with token.early_end() as search.end:
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
        self.end = EarlyEnd(None)

    @property
    def _ended(self) -> bool:
        return self.end.reached(len(self._seen))

    def run(self, max_nodes: int) -> SearchResult:
        problem, top = self._problem, self._problem.top
        least = (top, 0 if problem.rows >= self._counter.k else problem.rows)
        self._look_at([top])
        if not self._feasible:
            return SearchResult(None, None, False, self._counter.counted, least)
        self._scale = max(abs(self._feasible[top]), 1e-300)
        self._descend(top, max_nodes // 2)
        for number in range(max_nodes):
            enough = len(self._seen) >= max_nodes // 2 or number > len(self._seen)
            if enough or self._ended:
                break
            self._descend(self._lowest_feasible(number), max_nodes // 2)
        if len(self._seen) < max_nodes:
            self._look_at([problem.bottom])
        turn = 0
        while len(self._seen) < max_nodes and self._queues[0] and not self._ended:
            queue = self._queues[turn % 2] or self._queues[1 - turn % 2]
            turn += 1
            _, node = heapq.heappop(queue)
            self._look_at(self._neighbours(node)[: max_nodes - len(self._seen)])
            self._tell(max_nodes)
        proven = not self._queues[0] and len(self._seen) < max_nodes
        proven &= problem.monotone(self._max_suppressed) and not self._ended
        node = self._choice()
        return SearchResult(
            node=node,
            statistics=evaluate_node(problem, node, self._counter.k),
            proven_optimal=proven,
            nodes_checked=self._counter.counted,
            least_suppressed=least,
        )

    def _lowest_feasible(self, number: int) -> Node:
        """The lowest feasible node of a chain from the raw node to the top."""
        bottom, top = self._problem.bottom, self._problem.top
        steps = [place for place in range(len(top)) for _ in range(bottom[place], top[place])]
        Random(number).shuffle(steps)
        low, high = 0, len(steps)
        while low < high:
            middle = (low + high) // 2
            node = _raised(steps[:middle], bottom)
            self._look_at([node] if node not in self._seen else [])
            if node in self._feasible:
                high = middle
            else:
                low = middle + 1
        return _raised(steps[:high], bottom)

    def _descend(self, node: Node, max_nodes: int) -> None:
        """To better nodes one level down, or one down and another up, until there is none."""
        self._look_at([node] if node not in self._seen else [])
        while node in self._feasible and len(self._seen) < max_nodes and not self._ended:
            better: list[Node] = []
            down = [low for _, low in self._stepped(node, -1)]
            swapped = [
                other
                for place, low in self._stepped(node, -1)
                for raised, other in self._stepped(low, 1)
                if raised != place
            ]
            for near in (down, swapped):
                fresh = [other for other in near if other not in self._seen]
                self._look_at(fresh[: max_nodes - len(self._seen)])
                better = [n for n in near if self._feasible.get(n, INFINITE) < self._feasible[node]]
                if better:
                    break
            self._tell(2 * max_nodes)
            if not better:
                return
            node = min(better, key=lambda near: (self._feasible[near], near))

    def _stepped(self, node: Node, step: int) -> list[tuple[int, Node]]:
        """(attribute, node) for each attribute that one step up (1) or down (−1) changes."""
        return [
            (place, (*node[:place], node[place] + step, *node[place + 1 :]))
            for place, ends in enumerate(zip(self._problem.bottom, self._problem.top, strict=True))
            if ends[0] <= node[place] + step <= ends[1]
        ]

    def _neighbours(self, node: Node) -> list[Node]:
        """Nodes one step away that were not seen: upwards, and downwards if there is hope."""
        steps = (1, -1) if node in self._feasible else (1,)
        near = [other for step in steps for _, other in self._stepped(node, step)]
        return [other for other in near if other not in self._seen]

    def _look_at(self, nodes: Sequence[Node]) -> None:
        if not nodes:
            return
        k = self._counter.k
        found = self._counter.evaluated(nodes)
        values = found.objective(self._objective, k)
        feasible = found.feasible(k, self._max_suppressed)
        hopes = self._hopes(found)
        excess = (found.suppressed(k) - self._max_suppressed) / self._problem.rows
        self._seen.update(nodes)
        for place, node in enumerate(nodes):
            value = float(values[place])
            if feasible[place]:
                self._feasible[node] = value
                self._best = min(self._best, value)
                heapq.heappush(self._queues[0], (value, node))
            else:
                rank = float(hopes[place]) / self._scale + max(float(excess[place]), 0.0)
                heapq.heappush(self._queues[1], (rank, node))

    def _hopes(self, found: EvaluatedNodes) -> Floats:
        """What nodes above may reach at best: exact bounds, see the module ``bounds``."""
        if self._objective == "discernibility":
            return found.objective(self._objective, 1)
        return plain_bounds(found, self._objective, self._counter.k, self._max_suppressed)

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
                    counted(
                        "Best so far, after {seen:,} of at most {max_nodes:,} nodes: {objective} "
                        "{figure}, {n:,} row suppressed.",
                        "Best so far, after {seen:,} of at most {max_nodes:,} nodes: {objective} "
                        "{figure}, {n:,} rows suppressed.",
                        n=rows,
                        seen=seen,
                        max_nodes=max_nodes,
                        objective=self._objective,
                        figure=_figure(self._objective, self._best),
                    ),
                )
            )


def _raised(steps: Sequence[int], bottom: Node) -> Node:
    """The node that these steps lead to from the lowest one."""
    return tuple(level + steps.count(place) for place, level in enumerate(bottom))


def _figure(objective: str, value: float) -> str:
    shown = 1 - value if objective == "precision" else value
    return f"{shown:,.0f}" if shown >= 1000 else f"{shown:.4g}"


# The search of lattices that are not worth walking, and what is said about it.


def search_large(
    problem: LatticeProblem,
    objective: str,
    k: int,
    max_suppressed: int,
    token: CancelToken,
    report: Report,
    part: int = 1,
) -> SearchResult:
    """The best node of a lattice without counting every node, proven where bounds suffice.

    Branch and bound up to MAX_BOUNDED_NODES nodes, else a heuristic; ``part`` divides the work that
    may be done. Raises Cancelled, and KeyError for an unknown objective.
    """
    if problem.node_count <= MAX_BOUNDED_NODES:
        most = MAX_BOUNDED_NODES if problem.constraints is not None else MOST_COUNTED
        return bounded_search(
            problem, objective, k, max_suppressed, token, report,
            max_nodes=most, max_work=MAX_BOUNDED_WORK // part,
        )  # fmt: skip
    budget = max(1, node_budget(problem) // part)
    return anytime_search(problem, objective, k, max_suppressed, token, report, budget)


def large_note(problem: LatticeProblem, objective: str, found: SearchResult) -> Note | None:
    """How far a search of a large lattice got, in one sentence; None when nothing is feasible."""
    if found.node is None or found.statistics is None:
        return None
    looked = msg(
        "{nodes_checked:,} of {node_count:,} combinations of levels",
        nodes_checked=found.nodes_checked,
        node_count=problem.node_count,
    )
    if found.proven_optimal:
        return Note(
            "search.proven-by-bounds",
            msg(
                "{looked} were counted; bounds prove that none of the others is better.",
                looked=looked,
            ),
        )
    rows = found.statistics.suppressed
    value = found.statistics.objective(objective)
    shown = 1 - value if objective == "precision" else value
    return Note(
        "search.not-exact",
        msg(
            "Only {looked} were examined, as counting all of them would take too long; the best "
            "of these has {objective} {shown:,.4g} and suppresses {rows}, and a better one may "
            "exist: with fewer quasi-identifiers, or hierarchies that start with coarser levels, "
            "the search is exact.",
            looked=looked,
            objective=objective.replace("-", " "),
            shown=shown,
            rows=counted("{n:,} row", "{n:,} rows", n=rows),
        ),
    )
