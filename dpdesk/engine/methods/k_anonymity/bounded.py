"""Branch and bound: the proven optimum of a large lattice from a small part of its nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.jobs import CancelToken, Report, StepProgress
from dpdesk.engine.methods.k_anonymity.bounds import Bounds, highest, plain_bounds
from dpdesk.engine.methods.k_anonymity.counting import ConstrainedCounter, constrained_counter
from dpdesk.engine.methods.k_anonymity.lattice import Ints, LatticeProblem, Node
from dpdesk.engine.methods.k_anonymity.metrics import evaluate_node
from dpdesk.engine.methods.k_anonymity.search import SearchResult
from dpdesk.engine.methods.k_anonymity.statistics import FIELDS, EvaluatedNodes, Floats, level_array

if TYPE_CHECKING:
    from dpdesk.engine.methods.k_anonymity.counting import GoalCounter

STEP = "Searching a large lattice"

MAX_BOUNDED_NODES = 5_000_000
"""Largest lattice whose nodes all have a bound in memory (about 40 bytes a node in all)."""

MAX_BOUNDED_WORK = 4_000_000_000
"""Most groups counted before the search ends without a proof: minutes of one processor."""

MOST_COUNTED = 30_000
"""Most nodes counted before the search ends without a proof, unless more are asked for."""

_CONSTRAINED_AT_ONCE = 32
_FINITE = np.finfo(np.float64).max
_AT_ONCE = 1024
_DEEPEST = 4


def bounded_search(
    problem: LatticeProblem,
    objective: str,
    k: int,
    max_suppressed: int,
    token: CancelToken,
    report: Report,
    max_nodes: int = MOST_COUNTED,
    max_work: int = MAX_BOUNDED_WORK,
) -> SearchResult:
    """The feasible node with the lowest objective, proven by bounds instead of a count of all.

    What was counted rules out other nodes, see :mod:`~.bounds`. First a
    greedy descent from the top, one level of one attribute at a time, gives a good value to compare
    with. Then, in rounds, the highest of the nodes not ruled out are counted, many at once by all
    processors: one that is infeasible or suppresses much rules out all below it, else it is often a
    better one. When nothing is left, every node was counted or cannot be better, so the result is
    the optimum of the whole lattice, ties decided as in the walk. Where classes must pass more than
    k, a node that may be the best under k is counted under all that is required. The search is
    deterministic. It ends without a proof after ``max_nodes`` nodes or ``max_work`` groups counted,
    never by the clock.

    Raises
    ------
    Cancelled
        When the token is cancelled.
    KeyError
        For an unknown objective.
    ValueError
        For more than MAX_BOUNDED_NODES nodes.
    """
    from dpdesk.engine.methods.k_anonymity.counting import goal_counter

    if problem.node_count > MAX_BOUNDED_NODES:
        raise ValueError(f"{problem.node_count} nodes are too many to keep a bound of each")
    with goal_counter(problem, np.unique(np.array([1, k], np.int64)), token) as counter:
        search = _Bounded(counter, objective, k, max_suppressed, token, report)
        return search.run(max_nodes, max_work)


@dataclass(frozen=True, eq=False)
class _Feasible:
    """Feasible nodes that were counted together: levels, objective, and what was counted."""

    levels: NDArray[np.int64]
    values: Floats
    data: Ints


class _Bounded:
    """The nodes counted and what they prove about the others."""

    def __init__(
        self,
        counter: GoalCounter,
        objective: str,
        k: int,
        max_suppressed: int,
        token: CancelToken,
        report: Report,
    ) -> None:
        self._counter = counter
        self._token = token
        self._problem = counter.problem
        self._objective = objective
        self._k = k
        self._max_suppressed = max_suppressed
        self._report = report
        self._bounds = Bounds(self._problem, objective, k, max_suppressed)
        self._feasible: list[_Feasible] = []
        self._best = np.inf
        self._slack = 0.0
        self._counted = 0
        self._settled = 0
        self._work = 0
        self._constrained = constrained_counter(self._problem, k, max_suppressed)

    def run(self, max_nodes: int, max_work: int) -> SearchResult:
        """See :func:`bounded_search`."""
        problem, top = self._problem, self._problem.top
        least = (top, 0 if problem.rows >= self._k else problem.rows)
        self._count(np.array([top], np.int64))
        if self._bounds.none_feasible:
            return SearchResult(None, None, False, self._counted, least)
        self._descend(np.array(top, np.int64), max_nodes)
        deep = 1
        left = self._open(deep)
        while len(left) and self._counted < max_nodes and self._work < max_work:
            every = -(-len(left) // min(_AT_ONCE, max_nodes - self._counted))
            values = self._count(left[::every])
            # Where most are feasible, little below them is ruled out: look further down at once.
            feasible = np.count_nonzero(np.isfinite(values))
            deep = min(2 * deep, _DEEPEST) if 2 * feasible > len(values) else 1
            left = self._open(deep)
        self._report(StepProgress(STEP, self._settled, problem.node_count, "nodes"))
        if not self._feasible:
            return SearchResult(None, None, False, self._counted, least)
        node = self._choice()
        return SearchResult(
            node=node,
            statistics=evaluate_node(problem, node, self._k),
            proven_optimal=not len(left),
            nodes_checked=self._counted,
            least_suppressed=least,
        )

    def _count(self, nodes: NDArray[np.int64]) -> Floats:
        """The objective of each of some nodes not counted before, infinite where infeasible."""
        found = self._counter.count(nodes)
        self._counted += len(nodes)
        self._work += int(found.classes(1).sum())
        self._report(StepProgress(STEP, self._settled, self._problem.node_count, "nodes"))
        self._bounds.learn(found)
        feasible = found.feasible(self._k, self._max_suppressed)
        values = np.where(feasible, found.objective(self._objective, self._k), np.inf)
        if self._constrained is not None:
            if self._objective == "average-class-size":
                # Fewer large classes may be smaller on average: the bound is not the value.
                bounds = plain_bounds(found, self._objective, self._k, self._max_suppressed)
                values = np.where(feasible, bounds, np.inf)
            return self._constrained_values(self._constrained, found, values)
        self._keep(found, values)
        return values

    def _keep(self, found: EvaluatedNodes, values: Floats) -> None:
        """Remember the feasible nodes among those counted."""
        places = np.flatnonzero(np.isfinite(values))
        if not len(places):
            return
        levels = found.levels[places].astype(np.int64)
        self._feasible.append(_Feasible(levels, values[places], found.data[places]))
        if values[places].min() < self._best:
            self._best = float(values[places].min())
            # Twice: both the value reached and the bound may be off by rounding.
            self._slack = 2 * found.slack(self._objective, self._best)

    def _constrained_values(
        self, counter: ConstrainedCounter, plain: EvaluatedNodes, bounds: Floats
    ) -> Floats:
        """As the values of :meth:`_count`, where classes must pass more than k.

        ``bounds`` are the values under k alone. Nodes that cannot be the best by them are not
        looked at and count as infeasible, which is all that a search needs to know.
        """
        values: Floats = np.full(len(bounds), np.inf)
        order = np.argsort(bounds, kind="stable")
        for first in range(0, len(order), _CONSTRAINED_AT_ONCE):
            places = order[first : first + _CONSTRAINED_AT_ONCE]
            places = places[bounds[places] <= min(self._best + self._slack, _FINITE)]
            if not len(places):
                break
            levels = plain.levels[places].astype(np.int64)
            # What was counted just before may have ruled these out.
            hope = self._bounds.least(levels) <= min(self._best + self._slack, _FINITE)
            places, levels = places[hope], levels[hope]
            if not len(places):
                continue
            data = plain.data[places].copy()
            counted = counter.count(levels, self._token, below=True)
            data[:, -1] = counted[:, :FIELDS]
            self._bounds.learn_removed(levels, counted[:, FIELDS:])
            self._work += len(places) * len(self._problem.counts)
            found = EvaluatedNodes(self._problem, plain.ks, data, plain.levels[places])
            feasible = found.feasible(self._k, self._max_suppressed)
            known = np.where(feasible, found.objective(self._objective, self._k), np.inf)
            values[places] = known
            self._keep(found, known)
            if not feasible.all() and self._problem.monotone(self._max_suppressed):
                self._bounds.rule_out(levels[~feasible])
        return values

    def _descend(self, node: NDArray[np.int64], max_nodes: int) -> None:
        """From ``node`` to the best of the nodes one level down, as long as that is better."""
        value = self._best
        while self._counted + len(node) <= max_nodes:
            down = (node - np.eye(len(node), dtype=np.int64))[node > self._problem.bottom]
            if not len(down):
                return
            values = self._count(down)
            best = min(range(len(down)), key=lambda place: (values[place], down[place].tolist()))
            if values[best] >= value:
                return
            node, value = down[best], values[best]

    def _open(self, deep: int) -> NDArray[np.int64]:
        """Nodes neither counted nor ruled out, by levels: ``deep`` layers from the highest."""
        unsettled = self._bounds.open(self._best + self._slack)
        self._settled = self._problem.node_count - int(np.count_nonzero(unsettled))
        found = np.zeros(unsettled.shape, np.bool_)
        for _ in range(deep):
            layer = highest(unsettled)
            found |= layer
            unsettled &= ~layer
        return np.argwhere(found)

    def _choice(self) -> Node:
        """The best counted node, compared exactly where rounding might decide."""
        close = [
            (known.levels[near], known.data[near])
            for known in self._feasible
            if (near := known.values <= self._best + self._slack).any()
        ]
        levels, data = (np.concatenate(parts) for parts in zip(*close, strict=True))
        small = level_array(self._problem, levels)
        found = EvaluatedNodes(self._problem, self._counter.ks, data, small)
        best = found.best(self._objective, self._k, self._max_suppressed) or 0
        return tuple(levels[best].tolist())
