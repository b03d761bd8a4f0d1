"""Trying settings of k-anonymity live: the nodes are counted once, each view only chooses."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from threading import Lock
from typing import Generic, Protocol, TypeVar

import numpy as np

from dpdesk.core.charts import Chart
from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.parameters import ParameterValue
from dpdesk.engine.anonymity.assessment import Assessment, assess
from dpdesk.engine.anonymity.charts import (
    NodeChoice,
    NodeCloud,
    node_chart,
    risk_chart,
    rows_text,
    share_text,
)
from dpdesk.engine.anonymity.choosing import (
    Shortfall,
    choose,
    node_by_hand,
    table_too_small,
)
from dpdesk.engine.anonymity.grouping import CountedTable, generalise
from dpdesk.engine.anonymity.guarantee import k_guarantee
from dpdesk.engine.anonymity.lattice import LatticeProblem, Node
from dpdesk.engine.anonymity.metrics import evaluate_node
from dpdesk.engine.anonymity.risk import summarise_risk
from dpdesk.engine.anonymity.settings import OPTIMAL, Settings
from dpdesk.engine.anonymity.statistics import EvaluatedNodes, LatticeStatistics
from dpdesk.engine.hierarchies.alignment import AlignedTable
from dpdesk.engine.method import ExplorationView, MethodInput

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")

_KEPT_VIEWS = 64
_KEPT_WALKS = 4


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
    """Nodes of a lattice, counted exactly at any k; a node's position is its id."""

    @property
    def problem(self) -> LatticeProblem:
        """The lattice."""
        ...

    @property
    def whole(self) -> bool:
        """Whether all nodes of the lattice are known."""
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

    def __init__(self, statistics: LatticeStatistics) -> None:
        self.problem = statistics.problem
        self._statistics = statistics
        self._walked = frozenset(statistics.ks.tolist())
        self._others: Recent[int, LatticeStatistics] = Recent(_KEPT_WALKS)

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
    """Some nodes of a lattice that is too large to walk, such as those that searches found."""

    whole = False

    def __init__(self, problem: LatticeProblem, nodes: tuple[Node, ...]) -> None:
        self.problem = problem
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


class KAnonymityExploration:
    """An :class:`~dpdesk.engine.method.Exploration` of k-anonymity: see there."""

    def __init__(self, table: AlignedTable, nodes: KnownNodes, given: MethodInput) -> None:
        self._table = table
        self._counted = CountedTable(table)
        self._nodes = nodes
        self._roles = dict(given.roles)
        self._source = given.source.name
        self._where = given.where
        self._clouds: Recent[tuple[int, int], NodeCloud] = Recent(_KEPT_VIEWS)
        self._assessments: Recent[tuple[Node, int], Assessment] = Recent(_KEPT_VIEWS)

    def view(self, parameters: Mapping[str, ParameterValue]) -> ExplorationView:
        """Charts, figures and guarantee of the node that these parameters choose.

        Everything is counted for exactly these parameters, nothing is interpolated. Raises
        InputError for levels by hand that the hierarchies do not have.
        """
        settings = Settings.from_parameters(parameters)
        too_small = table_too_small(settings, self._table.rows, self._source)
        if too_small is not None:
            return self._without_nodes(settings, too_small.sentence)
        levels = node_by_hand(
            settings, self._table.attributes, self._table.hierarchies, self._where
        )
        by_hand = None if levels is None else self._nodes.place(levels)
        nodes = self._nodes.at(settings.k)
        allowed = settings.allowed(self._table.rows)
        feasible = nodes.feasible(settings.k, allowed)
        chosen = choose(nodes, settings, allowed) if by_hand is None else by_hand
        searched = by_hand is None and settings.algorithm == OPTIMAL
        optimal = searched and self._nodes.whole
        choice = NodeChoice(
            feasible, float(settings.max_suppression), chosen, optimal, settings.objective
        )
        if chosen is None or not feasible[chosen]:
            return self._infeasible(settings, nodes, choice)
        return self._feasible(settings, nodes, choice)

    def pick(self, point: int) -> Mapping[str, object]:
        """The levels of a node of the scatter; InputError for an id that no point has."""
        try:
            levels = self._nodes.levels(point)
        except IndexError as error:
            raise InputError(
                "exploration.no-point", f"There is no point with the number {point}."
            ) from error
        return {"levels": dict(zip(self._table.attributes, levels, strict=True))}

    def _feasible(
        self, settings: Settings, nodes: EvaluatedNodes, choice: NodeChoice
    ) -> ExplorationView:
        levels = tuple(int(level) for level in nodes.levels[choice.chosen])
        found = self._assessments.get(
            (levels, settings.k),
            lambda: assess(self._counted, evaluate_node(self._nodes.problem, levels, settings.k)),
        )
        known = found.statistics
        risk, *others = found.charts()
        return ExplorationView(
            feasible=True,
            sentence=_feasible_sentence(found, settings, whole=self._nodes.whole),
            charts=(risk, self._node_chart(settings.k, nodes, choice), *others),
            figures=found.figures(),
            guarantee=k_guarantee(settings.k, known.smallest, known.suppressed, self._roles),
        )

    def _infeasible(
        self, settings: Settings, nodes: EvaluatedNodes, choice: NodeChoice
    ) -> ExplorationView:
        place = nodes.least_suppressed(settings.k) if choice.chosen is None else choice.chosen
        levels = tuple(int(level) for level in nodes.levels[place])
        sizes = generalise(self._counted, levels).sizes
        short = Shortfall.of(settings, self._table.attributes, levels, sizes)
        return ExplorationView(
            feasible=False,
            sentence=short.sentence,
            charts=(
                risk_chart(summarise_risk(self._table.counts, settings.k)),
                self._node_chart(settings.k, nodes, choice),
            ),
            figures=(),
            remedy=short.remedy,
            remedy_label=short.remedy_label,
        )

    def _without_nodes(self, settings: Settings, sentence: str) -> ExplorationView:
        rows = self._table.rows
        possible = rows >= 2
        return ExplorationView(
            feasible=False,
            sentence=sentence,
            charts=(risk_chart(summarise_risk(self._table.counts, settings.k)),),
            figures=(),
            remedy={"k": rows} if possible else None,
            remedy_label=f"Set k to {rows:,}" if possible else "",
        )

    def _node_chart(self, k: int, nodes: EvaluatedNodes, choice: NodeChoice) -> Chart:
        cloud = self._clouds.get(
            (k, nodes.node_count), lambda: cloud_of(nodes, k, whole=self._nodes.whole)
        )
        return node_chart(cloud, choice)


def cloud_of(nodes: EvaluatedNodes, k: int, *, whole: bool) -> NodeCloud:
    """The scatter of counted nodes at ``k``."""
    return NodeCloud(
        k=k,
        attributes=nodes.problem.attributes,
        levels=nodes.levels,
        loss=nodes.objective("loss", k),
        suppressed=nodes.suppressed(k).astype(np.float64) / max(nodes.problem.rows, 1),
        whole=whole,
    )


def _feasible_sentence(found: Assessment, settings: Settings, *, whole: bool) -> str:
    known = found.statistics
    text = (
        f"{rows_text(known.kept)} of {known.rows:,} ({share_text(known.kept / known.rows)}) are "
        f"kept in {known.classes:,} classes of at least {known.smallest:,} rows; "
        f"{share_text(found.loss)} of the detail is lost."
    )
    if settings.levels is not None:
        return f"{text} The levels were chosen by hand."
    if not whole:
        return f"{text} Other levels may be better: there are too many to look at them all."
    return text
