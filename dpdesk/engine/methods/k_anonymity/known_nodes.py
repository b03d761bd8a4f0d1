"""Nodes of a lattice whose numbers are at hand, exactly, for whatever k is asked."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from threading import Lock
from typing import Generic, Protocol, TypeVar

import numpy as np

from dpdesk.core.jobs import CancelToken, silent
from dpdesk.engine.methods.k_anonymity.charts import NodeCloud
from dpdesk.engine.methods.k_anonymity.lattice import LatticeProblem, Node
from dpdesk.engine.methods.k_anonymity.metrics import OBJECTIVES
from dpdesk.engine.methods.k_anonymity.search import walk_work
from dpdesk.engine.methods.k_anonymity.settings import Settings
from dpdesk.engine.methods.k_anonymity.statistics import EvaluatedNodes, LatticeStatistics

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")

Search = Callable[[Settings], tuple[Node | None, bool]]
"""Finds the node of some settings, and says whether it is proven to be the best of all."""

_KEPT_VIEWS = 64
_KEPT_WALKS = 4

QUICK_WALK_WORK = 50_000_000
"""Largest walk that a view makes for a k that was left out at first (about half a second)."""


class Recent(Generic[_Key, _Value]):
    """The latest few results of a costly function, by key; safe from any thread."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: OrderedDict[_Key, _Value] = OrderedDict()
        self._lock = Lock()

    def get(self, key: _Key, make: Callable[[], _Value]) -> _Value:
        """The result for ``key``, made now when it is not at hand."""
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
        value = make()
        with self._lock:
            self._known[key] = value
            while len(self._known) > self._most:
                self._known.popitem(last=False)
        return value


class KnownNodes(Protocol):
    """Nodes of a lattice, counted exactly at any k; ``first_id`` + position is a node's id."""

    @property
    def problem(self) -> LatticeProblem:
        """The lattice."""
        ...

    @property
    def whole(self) -> bool:
        """Whether all nodes of the lattice are known."""
        ...

    @property
    def first_id(self) -> int:
        """Id of the node at position 0."""
        ...

    def proves(self, objective: str, k: int, max_suppressed: int) -> bool:
        """Whether the best known node is the best of the whole lattice."""
        ...

    def at(self, k: int) -> EvaluatedNodes:
        """Every known node at ``k``."""
        ...

    def place(self, levels: Node) -> int:
        """Position of the node with these levels, which becomes known if it was not."""
        ...

    def levels(self, place: int) -> Node:
        """Levels of the node at a position; IndexError when there is none."""
        ...


class WalkedNodes:
    """All nodes of a lattice that was walked; a k that the walk left out is walked when asked."""

    whole = True
    first_id = 0

    def __init__(self, statistics: LatticeStatistics) -> None:
        self.problem = statistics.problem
        self._statistics = statistics
        self._walked = frozenset(statistics.ks.tolist())
        self._others: Recent[int, LatticeStatistics] = Recent(_KEPT_WALKS)

    def covers(self, k: int) -> bool:
        """Whether :meth:`at` answers in moments: walking again may take minutes."""
        return k in self._walked or walk_work(self.problem) <= QUICK_WALK_WORK

    def proves(self, objective: str, k: int, max_suppressed: int) -> bool:
        """Always: every node was counted."""
        return True

    def best_nodes(self) -> tuple[Node, ...]:
        """The top, and nodes that are best at some walked k: fronts, and optima without limit."""
        places = {self.problem.index(self.problem.top): None}
        for k in sorted(self._walked):
            front = cloud_of(self._statistics, k, whole=True).pareto
            places |= dict.fromkeys(front.tolist())
            for objective in OBJECTIVES:
                best = self._statistics.best(objective, k, self.problem.rows)
                if best is not None:
                    places[best] = None
        return tuple(self.problem.levels(place) for place in places)

    def at(self, k: int) -> EvaluatedNodes:
        """See :meth:`KnownNodes.at`; as long as a walk for a k that was left out."""
        if k in self._walked:
            return self._statistics
        return self._others.get(k, lambda: self._walk(k))

    def _walk(self, k: int) -> LatticeStatistics:
        from dpdesk.engine.methods.k_anonymity.search import walk_lattice

        return walk_lattice(self.problem, [k], CancelToken(), silent)

    def place(self, levels: Node) -> int:
        """See :meth:`KnownNodes.place`."""
        return self.problem.index(levels)

    def levels(self, place: int) -> Node:
        """See :meth:`KnownNodes.levels`."""
        if not 0 <= place < self.problem.node_count:
            raise IndexError(place)
        return self.problem.levels(place)


class PooledNodes:
    """Some nodes of a lattice that is too large to walk: those that searches or walks found."""

    whole = False

    def __init__(
        self,
        problem: LatticeProblem,
        nodes: tuple[Node, ...],
        first_id: int = 0,
        proven: frozenset[tuple[str, int, int]] = frozenset(),
        counted: EvaluatedNodes | None = None,
    ) -> None:
        """``counted`` holds the first nodes at many k, so that views at those are instant.

        ``proven`` names the (objective, k, rows suppressed at most) whose optimum is among the
        nodes.
        """
        self.problem = problem
        self._proven = proven
        self.first_id = first_id
        self._nodes = list(dict.fromkeys(nodes))
        self._places = {node: place for place, node in enumerate(self._nodes)}
        self._lock = Lock()
        self._given = counted
        self._counted: Recent[tuple[int, int], EvaluatedNodes] = Recent(_KEPT_VIEWS)

    def at(self, k: int) -> EvaluatedNodes:
        """See :meth:`KnownNodes.at`."""
        known = len(self._nodes)
        return self._counted.get((k, known), lambda: self._count(k, known))

    def _count(self, k: int, known: int) -> EvaluatedNodes:
        from dpdesk.engine.methods.k_anonymity.counting import counted_at

        ks = np.array([k], np.int64)
        given = self._given
        if given is None or k not in given.ks:
            return counted_at(self.problem, self._nodes[:known], ks, CancelToken())
        place = int(np.searchsorted(given.ks, k))
        data, levels = given.data[:, place : place + 1], given.levels
        if known > given.node_count:
            others = self._nodes[given.node_count : known]
            more = counted_at(self.problem, others, ks, CancelToken())
            data = np.concatenate([data, more.data])
            levels = np.concatenate([levels, more.levels])
        return EvaluatedNodes(self.problem, ks, data, levels)

    def proves(self, objective: str, k: int, max_suppressed: int) -> bool:
        """Whether a search proved its result, which is among the nodes, for just this."""
        return (objective, k, max_suppressed) in self._proven

    def place(self, levels: Node) -> int:
        """See :meth:`KnownNodes.place`."""
        with self._lock:
            if levels not in self._places:
                self._places[levels] = len(self._nodes)
                self._nodes.append(levels)
            return self._places[levels]

    def levels(self, place: int) -> Node:
        """See :meth:`KnownNodes.levels`."""
        if not 0 <= place < len(self._nodes):
            raise IndexError(place)
        return self._nodes[place]


class ConstrainedNodes(PooledNodes):
    """Nodes that were asked for, where classes must pass more than k.

    ``follows_k`` says that classes must match k rows of a population, whatever k is.
    """

    def __init__(self, problem: LatticeProblem, *, follows_k: bool = False) -> None:
        super().__init__(problem, (problem.top,))
        self._follows_k = follows_k

    def _count(self, k: int, known: int) -> EvaluatedNodes:
        from dpdesk.engine.methods.k_anonymity.counting import node_counter

        problem = matching(self.problem, k) if self._follows_k else self.problem
        with node_counter(problem, k, CancelToken()) as counter:
            return counter.evaluated(self._nodes[:known])


def matching(problem: LatticeProblem, k_map: int) -> LatticeProblem:
    """The lattice where classes must match so many rows of its population, if it has one."""
    asked = problem.constraints
    if asked is None or asked.population is None or asked.population.k_map == k_map:
        return problem
    people = replace(asked.population, k_map=k_map)
    return replace(problem, constraints=replace(asked, population=people))


def pooled_nodes(
    problem: LatticeProblem,
    nodes: Sequence[Node],
    proven: frozenset[tuple[str, int, int]],
    token: CancelToken,
) -> PooledNodes:
    """A pool whose nodes are counted now at every k that is likely to be asked; may be cancelled.

    Making the tables again for another k takes seconds with millions of tuples.
    """
    from dpdesk.engine.methods.k_anonymity.counting import counted_at

    distinct = tuple(dict.fromkeys(nodes))
    steps = [first * 10**power for power in range(3, 10) for first in (1, 2, 5)]
    ks = [*range(2, 1000), *(step for step in steps if step <= problem.rows)]
    counted = counted_at(problem, distinct, np.array(ks, np.int64), token)
    return PooledNodes(problem, distinct, proven=proven, counted=counted)


def cloud_of(nodes: EvaluatedNodes, k: int, *, whole: bool, first_id: int = 0) -> NodeCloud:
    """The scatter of counted nodes at ``k``."""
    return NodeCloud(
        k=k,
        attributes=nodes.problem.attributes,
        levels=nodes.levels,
        loss=nodes.objective("loss", k),
        suppressed=nodes.suppressed(k).astype(np.float64) / max(nodes.problem.rows, 1),
        whole=whole,
        first_id=first_id,
        names=tuple(one.level_names for one in nodes.problem.hierarchies),
    )
