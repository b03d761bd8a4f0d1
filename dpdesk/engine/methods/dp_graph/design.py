"""The design of a graph: its noise, errors and guarantee; all from the plan alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.budget import Draws
from dpdesk.core.budget import Noise as LedgerNoise
from dpdesk.core.cube_parameters import COUNT
from dpdesk.core.cuboid import CuboidTable
from dpdesk.core.errors import InputError
from dpdesk.core.frequency import FrequencySource
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.messages import msg
from dpdesk.engine.methods.dp_graph.known import KnownDegrees, Sums, kept_share
from dpdesk.engine.methods.dp_graph.settings import LEAST_NODES, MOST_NODES, GraphSettings
from dpdesk.engine.methods.dp_graph.tables import COUNT as EDGE_COUNT
from dpdesk.engine.methods.dp_graph.tables import (
    EDGES,
    IN,
    GraphTable,
    TableError,
    graph_tables,
    published_tables,
)
from dpdesk.engine.methods.dp_graph.words import graph_guarantee, graph_notes, price_of
from dpdesk.engine.noise.randomness import RandomSource
from dpdesk.engine.private.counting import PlacedRows, place_rows
from dpdesk.engine.private.declared import DeclaredDomain, declare, made_beside_data
from dpdesk.engine.private.kinds import Measure, Noise, sampler, stated_variance
from dpdesk.engine.private.method import (
    Charge,
    Design,
    Drawing,
    ExactTables,
    Measured,
    NoisyTables,
    PrivateInput,
)
from dpdesk.engine.private.settings import cluster_of

if TYPE_CHECKING:
    from dpdesk.engine.noise.discrete import DiscreteNoise

FIRST, SECOND, TOTAL = 1, 2, 0
"""Keys of what is exact: (out-)degrees, in-degrees, the number of edges."""


@dataclass(frozen=True)
class GraphNoise:
    """The noise of one edge: what a protected change does to all edges, and the noise for it.

    ``l1`` edges change by one each, so that the square of their L2 norm is the same number.
    """

    kind: Noise
    budget: Fraction
    l1: int
    single: int

    @property
    def spread(self) -> Fraction:
        """Scale b of discrete Laplace, or variance parameter of discrete Gaussian noise."""
        if self.kind is Noise.LAPLACE:
            return self.l1 / self.budget
        return self.l1 / (2 * self.budget)

    @property
    def sampler(self) -> DiscreteNoise:
        """The distribution of the noise."""
        return sampler(self.kind, self.spread)

    @property
    def scale(self) -> float:
        """b, or sigma."""
        return float(self.spread) if self.kind is Noise.LAPLACE else sqrt(self.spread)

    def draws(self) -> Draws:
        """What the ledger needs to know, to add it up tightly.

        Where a change is one edge, or two (``single``), the very noise is named; 0 for others.
        """
        one, laplace = Fraction(1), self.kind is Noise.LAPLACE
        if self.single:
            kind = LedgerNoise.DISCRETE_LAPLACE if laplace else LedgerNoise.DISCRETE_GAUSSIAN
            return Draws(kind, one, self.spread, self.single)
        if laplace:
            return Draws(LedgerNoise.DISCRETE_LAPLACE, Fraction(self.l1), self.spread)
        return Draws(LedgerNoise.CONCENTRATED, self.budget, one)

    @property
    def variance(self) -> float:
        """The true variance of the noise of one edge."""
        return stated_variance(self.kind, self.spread)


@dataclass(frozen=True, kw_only=True)
class GraphDesign(Design):
    """A graph as its plan decides it: one noisy table of edges, from which all else follows."""

    settings: GraphSettings
    released: KnownDegrees
    noise: GraphNoise
    tables: tuple[GraphTable, ...]
    errors: tuple[TableError, ...]

    def count(self, source: FrequencySource, token: CancelToken) -> Drawing:
        """See :meth:`Design.count`."""
        rows, graph = self._counted(source, token)

        def draw(randomness: RandomSource, report: Report) -> Measured:
            edges = graph.edges
            values = edges + self.noise.sampler.draw(len(edges), randomness, token)
            exact = self._exact(graph.matrix)
            return Measured(NoisyTables((values,), exact), _facts(rows, graph))

        return draw

    def facts(self, source: FrequencySource, token: CancelToken) -> Mapping[str, object]:
        """See :meth:`Design.facts`."""
        return _facts(*self._counted(source, token))

    def _counted(
        self, source: FrequencySource, token: CancelToken
    ) -> tuple[PlacedRows, CountedGraph]:
        most = self.settings.rows_per_person
        rows = place_rows(source, self.declared, Measure(COUNT), self.cluster, most, token)
        return rows, counted_graph(rows.totals((0, 1), token), self.settings.directed)

    def _exact(self, matrix: NDArray[np.int64]) -> ExactTables:
        """The true degrees of the nodes whose degrees are exact, and the number of edges."""
        known, found = self.released, {}
        rows, total = matrix.sum(axis=1), int(matrix.sum())
        if known.first:
            found[FIRST] = rows[sorted(known.first)]
        if known.second:
            found[SECOND] = matrix.sum(axis=0)[sorted(known.second)]
        if known.total:
            found[TOTAL] = np.array([total if known.directed else total // 2])
        return ExactTables(found)

    def process(
        self, noisy: NoisyTables, token: CancelToken, report: Report
    ) -> tuple[CuboidTable, ...]:
        """See :meth:`Design.process`."""
        token.check()
        exact = noisy.exact.values
        given = (exact.get(FIRST), exact.get(SECOND), exact.get(TOTAL))
        return published_tables(self.tables, self.released, noisy.values[0], given)


def _facts(rows: PlacedRows, graph: CountedGraph) -> dict[str, object]:
    return {"counting": {"edges": {**rows.facts, **graph.facts}}}


def design_graph(given: PrivateInput, token: CancelToken) -> GraphDesign:
    """The whole design; InputError ``graph.*``, ``cube.*`` for what the plan gets wrong."""
    settings = GraphSettings.from_parameters(given.parameters, given.where)
    declared = declared_nodes(settings, given)
    nodes = declared.domain.categories[0]
    released = settings.released(nodes, given.where)
    change = _minimal_change(settings, released, given.where, token)
    cluster = cluster_of(given.roles)
    noise = _noise(settings, change)
    tables = graph_tables(declared.domain, settings, released)
    errors = table_errors(tables, released, noise.variance)
    charge = price_of(settings, cluster)
    stated = change if settings.any_exact else None
    from dpdesk.engine.methods.dp_graph.words import graph_charts, graph_figures

    return GraphDesign(
        settings=settings,
        declared=declared,
        released=released,
        noise=noise,
        tables=tables,
        errors=errors,
        cluster=cluster,
        charge=Charge(
            charge.cost, (noise.draws(),), charge.neighbours, charge.unit, charge.outside
        ),
        guarantee=graph_guarantee(settings, cluster, stated),
        result=_result(settings, declared, noise, tables, errors, stated),
        charts=graph_charts(settings, tables, errors),
        figures=graph_figures(settings, tables, errors, stated),
        notes=graph_notes(settings, stated, cluster),
    )


def _minimal_change(
    settings: GraphSettings, released: KnownDegrees, where: str, token: CancelToken
) -> int:
    """The size of a minimal change beside what is released.

    One edge replaced by another keeps the number of edges; a row that is replaced by a loop or by
    an edge that is there already does not, so replacement protects both kinds of change.
    """
    change = released.closed().change(token)
    if settings.replace:
        change = max(change, replace(released, total=True).closed().change(token))
    if change == 0:
        raise InputError(
            "graph.exact",
            msg(
                "{where}: every edge follows from what is exact, so no noise protects anything.",
                where=where,
            ),
            hint="Release the degrees of fewer nodes exactly.",
            details={"key": "exact"},
        )
    return change


def declared_nodes(settings: GraphSettings, given: PrivateInput) -> DeclaredDomain:
    """The nodes as the plan declares them, the same for both ends. Raises InputError."""
    first, where = settings.ends[0], given.where
    hierarchy = given.hierarchy(first) if settings.nodes is None else None
    if settings.nodes is None and hierarchy is None:
        raise InputError(
            "graph.nodes",
            msg(
                "{where}: the nodes are not declared; a differentially private release must not "
                "take them from the data.",
                where=where,
            ),
            hint=msg(
                'List them: nodes = ["…", "…"], or give `{first}` a hierarchy file that was '
                "not made from the data.",
                first=first,
            ),
            details={"key": "nodes"},
        )
    if settings.nodes is None and first in given.hand_made:
        raise made_beside_data(first, where)
    kept = None if settings.nodes is not None else hierarchy
    one = declare(first, settings.nodes, kept, 0, None, where)
    count = len(one.categories)
    if not LEAST_NODES <= count <= MOST_NODES:
        raise InputError(
            "graph.nodes",
            msg(
                "{where}: `nodes` lists {count:,}, expected {least} to {most:,} nodes.",
                where=where,
                count=count,
                least=LEAST_NODES,
                most=MOST_NODES,
            ),
            hint='In a plan, give each node its own quotation marks: nodes = ["a", "b", "c"]; in '
            "the window, write each in a line of its own.",
            details={"key": "nodes"},
        )
    other = declare(settings.ends[1], settings.nodes, kept, 0, None, where)
    return DeclaredDomain((one, other))


def _noise(settings: GraphSettings, change: int) -> GraphNoise:
    """Noise for as many minimal changes as a person has edges."""
    rows = settings.rows_per_person
    plain = rows == 1 and not settings.any_exact
    return GraphNoise(settings.noise, settings.budget, change * rows, change if plain else 0)


def _result(
    settings: GraphSettings,
    declared: DeclaredDomain,
    noise: GraphNoise,
    tables: tuple[GraphTable, ...],
    errors: tuple[TableError, ...],
    change: int | None,
) -> dict[str, object]:
    """The public result: nothing in it depends on the data."""
    nominal = nominal_variance(settings.noise, noise.scale)
    return {
        "noise_sources": [list(settings.ends)],
        "shares": ["1"],
        "residuals": False,
        "sensitivity": noise.l1,
        "scales": [noise.scale],
        "max_variance": max(nominal * table.terms for table in tables if not table.exact),
        "cuboids": [
            table.entry(error, exact=change is not None)
            for table, error in zip(tables, errors, strict=True)
        ],
        "domains": declared.domain.as_json(),
        "outside": declared.elsewhere(),
        "biased": False,
        "proven": False,
        **({} if change is None else {"exact": {"minimal_change": change}}),
    }


def planned_sentence(design: GraphDesign) -> str:
    """What a design comes to, in one sentence."""
    figures = {figure.key: figure for figure in design.figures}
    error = figures["error_edges"]
    return msg(
        "{tables} tables; the error of one edge is ± {width:,.4g} in 95 % of releases.",
        tables=len(design.tables),
        width=error.value,
    )


Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CountedGraph:
    """Edges as 0 and 1 in a row and column for each node; an undirected graph is symmetric.

    ``facts`` tell what was left out: internal.
    """

    matrix: Integers = field(repr=False)
    directed: bool
    facts: Mapping[str, object]

    @property
    def edges(self) -> Integers:
        """The edges in domain order, shape (pairs,)."""
        size = len(self.matrix)
        if not self.directed:
            return self.matrix[np.triu_indices(size, 1)]
        return self.matrix[~np.eye(size, dtype=bool)]


def counted_graph(rows: Integers, directed: bool) -> CountedGraph:
    """The graph of so many rows from each node to each other, shape (nodes, nodes)."""
    loops = int(np.trace(rows))
    both = rows if directed else rows + rows.T
    matrix = (both > 0).astype(np.int64)
    np.fill_diagonal(matrix, 0)
    distinct = int(matrix.sum()) // (1 if directed else 2)
    facts = {
        "rows_from_a_node_to_itself": loops,
        "rows_that_repeat_an_edge": int(rows.sum()) - loops - distinct,
    }
    return CountedGraph(matrix, directed, facts)


# The errors of a graph's tables after they agree with what is exact: in closed form, exactly.

_SAME = 1e-9
_ENDS = 2


def nominal_variance(noise: Noise, scale: float) -> float:
    """The variance of one noisy edge as papers state it: 2b^2, or sigma^2."""
    return 2 * scale**2 if noise is Noise.LAPLACE else scale**2


def table_errors(
    tables: tuple[GraphTable, ...], released: KnownDegrees, variance: float
) -> tuple[TableError, ...]:
    """The error of each table, where one noisy edge has this variance."""
    return tuple(
        TableError(_merged([(n, share * variance) for n, share in _shares(table, released)]))
        for table in tables
    )


def _merged(groups: list[tuple[int, float]]) -> tuple[tuple[int, float], ...]:
    found: list[tuple[int, float]] = []
    for count, variance in sorted(groups, key=lambda group: -group[1]):
        if found and found[-1][1] - variance <= _SAME * found[-1][1]:
            found[-1] = (found[-1][0] + count, found[-1][1])
        else:
            found.append((count, variance))
    return tuple(found)


def _shares(table: GraphTable, released: KnownDegrees) -> Iterator[tuple[int, float]]:
    """How many cells of a table keep which share of the noise of one edge."""
    if table.kind == EDGE_COUNT:
        whole = _whole(released)
        yield 1, 0.0 if table.exact else kept_share(released, whole, float(released.pairs))
    elif table.kind == EDGES:
        yield from _edge_shares(released)
    else:
        for members in _classes(released):
            place, size = members[0], released.nodes
            share = kept_share(released, _degree(table.kind, place, released), float(size - 1))
            yield len(members), 0.0 if place in table.known else share


def _edge_shares(released: KnownDegrees) -> Iterator[tuple[int, float]]:
    """Edges are alike when their ends are: one of each kind tells for all."""
    classes = _classes(released)
    for (a, one), (b, other) in product(enumerate(classes), repeat=_ENDS):
        if a == b:
            count, ends = len(one) * (len(one) - 1), one[:_ENDS]
        else:
            count, ends = len(one) * len(other), [one[0], other[0]]
        if not count or (a > b and not released.directed):
            continue
        if a == b and not released.directed:
            count //= 2
        yield count, kept_share(released, _edge(ends[0], ends[1], released), 1.0)


def _classes(released: KnownDegrees) -> list[list[int]]:
    """The nodes by what is known of them."""
    found: dict[tuple[bool, bool], list[int]] = {}
    for place in range(released.nodes):
        kind = (place in released.first, place in released.second)
        found.setdefault(kind, []).append(place)
    return list(found.values())


def _edge(first: int, second: int, released: KnownDegrees) -> Sums:
    rows, columns = np.zeros(released.nodes), np.zeros(released.nodes if released.directed else 0)
    rows[first] = 1.0
    (columns if released.directed else rows)[second] = 1.0
    return Sums(rows, columns, 1.0)


def _degree(kind: str, place: int, released: KnownDegrees) -> Sums:
    """The sums of all edges of one node."""
    size = released.nodes
    own, others = np.zeros(size), np.ones(size)
    own[place], others[place] = size - 1, 0.0
    if not released.directed:
        return Sums(own + others, np.zeros(0), float(size - 1))
    sides = (others, own) if kind == IN else (own, others)
    return Sums(*sides, float(size - 1))


def _whole(released: KnownDegrees) -> Sums:
    """The sums of all edges."""
    every = np.full(released.nodes, float(released.nodes - 1))
    return Sums(every, every if released.directed else np.zeros(0), float(released.pairs))
