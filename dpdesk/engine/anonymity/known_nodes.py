"""Nodes of a lattice whose numbers are at hand, exactly, for whatever k is asked."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, Protocol, TypeVar

import numpy as np

from dpdesk.core.jobs import CancelToken, silent
from dpdesk.engine.anonymity.charts import NodeCloud
from dpdesk.engine.anonymity.lattice import LatticeProblem, Node
from dpdesk.engine.anonymity.metrics import OBJECTIVES
from dpdesk.engine.anonymity.statistics import EvaluatedNodes, LatticeStatistics

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")

_KEPT_VIEWS = 64
_KEPT_WALKS = 4

QUICK_WALK_NODES = 100_000
"""Largest lattice that is walked again for a k that was not asked for at first (some seconds)."""


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
        """Whether :meth:`at` answers in moments: a lattice of a million nodes takes a minute."""
        return k in self._walked or self.problem.node_count <= QUICK_WALK_NODES

    def best_nodes(self) -> tuple[Node, ...]:
        """The top, and nodes that are best at some walked k: fronts, and optima without limit."""
        places = {self.problem.index(self.problem.heights): None}
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
        from dpdesk.engine.anonymity.search import walk_lattice

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

    def __init__(self, problem: LatticeProblem, nodes: tuple[Node, ...], first_id: int = 0) -> None:
        self.problem = problem
        self.first_id = first_id
        self._nodes = list(dict.fromkeys(nodes))
        self._places = {node: place for place, node in enumerate(self._nodes)}
        self._lock = Lock()
        self._counted: Recent[tuple[int, int], EvaluatedNodes] = Recent(_KEPT_VIEWS)

    def at(self, k: int) -> EvaluatedNodes:
        """See :meth:`KnownNodes.at`."""
        known = len(self._nodes)
        return self._counted.get((k, known), lambda: self._count(k, known))

    def _count(self, k: int, known: int) -> EvaluatedNodes:
        from dpdesk.engine.anonymity.counting import node_counter

        with node_counter(self.problem, k, CancelToken()) as counter:
            return counter.evaluated(self._nodes[:known])

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
    )
