"""The tables of a graph: its edges, the degrees of its nodes, the number of edges."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.cuboid import ORDERED, UNORDERED, CuboidTable, Domain
from dpdesk.engine.methods.dp_graph.known import KnownDegrees, Sums, agreeing

if TYPE_CHECKING:
    from dpdesk.engine.methods.dp_graph.settings import GraphSettings

Integers = NDArray[np.int64]
FOLDER = "graph"
EDGES, DEGREES, OUT, IN, COUNT = "edges", "degrees", "out-degrees", "in-degrees", "number of edges"
_FILES = {
    EDGES: "edges",
    DEGREES: "degrees",
    OUT: "out-degrees",
    IN: "in-degrees",
    COUNT: "edge-count",
}


@dataclass(frozen=True)
class TableError:
    """Variances of the cells of a table: how many cells have which, the largest first."""

    groups: tuple[tuple[int, float], ...]

    @property
    def variance(self) -> float:
        """That of the least exact cell."""
        return self.groups[0][1]


@dataclass(frozen=True)
class GraphTable:
    """One table: what it holds, over which domain, how many edges add up to a cell (``terms``).

    ``known`` are the places of its exact cells.
    """

    kind: str
    domain: Domain = field(repr=False)
    terms: int
    known: frozenset[int]

    @property
    def file(self) -> str:
        """Its path in the public part."""
        return f"{FOLDER}/{_FILES[self.kind]}.csv"

    @property
    def exact(self) -> bool:
        """Whether every cell is exact."""
        return len(self.known) == self.domain.cells

    def entry(self, error: TableError, *, exact: bool) -> dict[str, object]:
        """Its line in the result; ``exact``: something of the graph is released exactly."""
        names = self.domain.categories[0] if self.domain.categories else ()
        cells = [[names[place]] for place in sorted(self.known)] if not self.exact else []
        groups = [[count, variance] for count, variance in error.groups]
        return {
            "table": self.kind,
            "dimensions": list(self.domain.dimensions),
            **({"pairs": self.domain.pairs} if self.domain.pairs else {}),
            "cells": self.domain.cells,
            "variance": error.variance,
            **({"variances": groups} if len(groups) > 1 else {}),
            "file": self.file,
            **({"exact": self.exact} if exact else {}),
            **({"exact_cells": cells} if cells else {}),
        }


def graph_tables(
    domain: Domain, settings: GraphSettings, released: KnownDegrees
) -> tuple[GraphTable, ...]:
    """All tables of a graph, in order."""
    size, pairs = released.nodes, released.pairs
    kinds = ORDERED if settings.directed else UNORDERED
    edges = GraphTable(EDGES, replace(domain, pairs=kinds), 1, frozenset())
    first = GraphTable(
        OUT if settings.directed else DEGREES, domain.part((0,)), size - 1, released.first
    )
    second = GraphTable(IN, domain.part((1,)), size - 1, released.second)
    total = frozenset((0,)) if released.total else frozenset[int]()
    count = GraphTable(COUNT, domain.part(()), pairs, total)
    return (edges, first, *((second,) if settings.directed else ()), count)


def published_tables(
    tables: tuple[GraphTable, ...],
    released: KnownDegrees,
    noisy: Integers,
    exact: tuple[Integers | None, Integers | None, Integers | None],
) -> tuple[CuboidTable, ...]:
    """Noisy edges made to agree with what is ``exact`` ((out-)degrees and in-degrees of the known
    nodes in order, the number of edges), and the sums of them.
    """
    places = tables[0].domain.codes(0, len(noisy))
    size, directed = released.nodes, released.directed
    matrix = np.zeros((size, size))
    matrix[places[0], places[1]] = noisy
    if not directed:
        matrix += matrix.T
    first, second = np.zeros(size), np.zeros(size)
    if exact[0] is not None:
        first[sorted(released.first)] = exact[0]
    if exact[1] is not None:
        second[sorted(released.second)] = exact[1]
    total = 0.0 if exact[2] is None else float(exact[2][0])
    wanted = Sums(first, second if directed else second[:0], total)
    found = agreeing(released, matrix, wanted)
    edges = found[places[0], places[1]]
    values: dict[str, NDArray[Any]] = {EDGES: edges, COUNT: np.asarray(edges.sum())}
    values |= {DEGREES: found.sum(axis=1), OUT: found.sum(axis=1), IN: found.sum(axis=0)}
    if not released.anything:
        values = {kind: np.rint(each).astype(np.int64) for kind, each in values.items()}
    named = {DEGREES: first, OUT: first, IN: second, COUNT: np.asarray([total])}
    made = (_pinned(table, values[table.kind], named.get(table.kind)) for table in tables)
    return tuple(
        CuboidTable(table.domain, each, table.file)
        for table, each in zip(tables, made, strict=True)
    )


def _pinned(
    table: GraphTable, values: NDArray[Any], exact: NDArray[np.float64] | None
) -> NDArray[Any]:
    """The values with exact cells to the last digit; whole numbers where all are exact."""
    if exact is None or not table.known:
        return values
    if table.exact:
        return np.rint(exact).astype(np.int64).reshape(values.shape)
    places = sorted(table.known)
    pinned = np.array(values)
    pinned[places] = exact[places]
    return pinned
