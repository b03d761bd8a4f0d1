"""Answers from a released graph: edges between groups of nodes, each with its error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.pivot import CubeGrid
from dpdesk.core.query import Answer, Askable, AskableColumn, Match, Query, matching
from dpdesk.core.release import Manifest, ReleasedContent
from dpdesk.core.shapes import as_float, as_list, as_table
from dpdesk.engine.methods.dp_graph.design import GraphNoise
from dpdesk.engine.methods.dp_graph.known import KnownDegrees, Sums, kept_share
from dpdesk.engine.methods.dp_graph.settings import GraphSettings
from dpdesk.engine.methods.dp_graph.words import settings_of
from dpdesk.engine.private.widths import half_width

MOST_NUMBERS = 20_000
MEASURE = "edges"
_EDGES = "graph/edges.csv"
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ReleasedGraph:
    """What a manifest says, for questions, and the released edges: a row and a column per node."""

    settings: GraphSettings
    nodes: tuple[str, ...]
    released: KnownDegrees
    variance: float
    edges: Floats = field(repr=False)


def askable_graph(content: ReleasedContent, token: CancelToken) -> Askable:
    """The two ends, each with all nodes."""
    ends, nodes = settings_of(content.manifest).ends, _nodes(content.manifest)
    return Askable(tuple(AskableColumn(name, (nodes,)) for name in ends), (MEASURE,))


def answer_graph(query: Query, content: ReleasedContent, token: CancelToken) -> Answer:
    """The number of edges between nodes that fulfil the conditions on either end.

    Without direction an edge counts, once, where its ends fulfil the conditions in one of the two
    orders. Raises InputError ``query.*``, RefusedError ``query.too-large``, Cancelled.
    """
    askable_graph(content, token).check(query)
    graph = _read(content, token)
    axes = [_groups(graph, query, column) for column in graph.settings.ends]
    count = len(axes[0].labels) * len(axes[1].labels)
    if count > MOST_NUMBERS:
        raise RefusedError(
            "query.too-large",
            msg(
                "The answer would have {count:,} numbers, expected at most {most:,}.",
                count=count,
                most=MOST_NUMBERS,
            ),
            hint=(
                "Distinguish only one end, or name fewer nodes; all pairs are in graph/edges.csv."
            ),
        )
    values, variances = _numbers(graph, axes[0].members, axes[1].members, token)
    return _answer(graph, query, axes, values, variances)


@dataclass(frozen=True, eq=False)
class _Axis:
    """The groups of nodes at one end: labels (None for all), and who is in, (groups, nodes)."""

    labels: tuple[str | None, ...]
    members: NDArray[np.bool_] = field(repr=False)
    shown: bool


def _nodes(manifest: Manifest) -> tuple[str, ...]:
    first = as_table(as_list(manifest.result["domains"])[0])
    return tuple(map(str, as_list(first["categories"])))


def _read(content: ReleasedContent, token: CancelToken) -> ReleasedGraph:
    manifest = content.manifest
    settings, nodes = settings_of(manifest), _nodes(manifest)
    change = as_float(manifest.result["sensitivity"])
    noise = GraphNoise(settings.noise, settings.budget, int(change), 0)
    table = content.cuboid(_EDGES, token)
    first, second = table.domain.codes(0, table.cells)
    edges = np.zeros((len(nodes), len(nodes)))
    edges[first, second] = table.values
    if not settings.directed:
        edges += edges.T
    released = settings.released(nodes, "the manifest")
    return ReleasedGraph(settings, nodes, released, noise.variance, edges)


def _groups(graph: ReleasedGraph, query: Query, column: str) -> _Axis:
    found = matching(query.conditions_on(column), column, graph.nodes)
    inside = np.array([match is Match.YES for match in found])
    if not any(each.column == column for each in query.by):
        return _Axis((None,), inside[None], shown=False)
    places = np.flatnonzero(inside)
    members = np.zeros((len(places), len(inside)), dtype=bool)
    members[np.arange(len(places)), places] = True
    labels: tuple[str | None, ...] = tuple(graph.nodes[place] for place in places)
    if query.margins:
        members, labels = np.vstack([members, inside]), (*labels, None)
    return _Axis(labels, members, shown=True)


def _numbers(
    graph: ReleasedGraph,
    first: NDArray[np.bool_],
    second: NDArray[np.bool_],
    token: CancelToken,
) -> tuple[Floats, Floats]:
    """Values and variances, shape (groups of the first end, groups of the second)."""
    values = first.astype(np.float64) @ graph.edges @ second.T.astype(np.float64)
    variances = np.zeros(values.shape)
    for place in product(range(len(first)), range(len(second))):
        token.check()
        one, other = first[place[0]], second[place[1]]
        both = one & other
        if not graph.settings.directed and both.sum() > 1:
            values[place] -= both @ graph.edges @ both / 2
        sums = pair_sums(one, other, directed=graph.settings.directed)
        variances[place] = graph.variance * kept_share(graph.released, sums, sums.total)
    return values, variances


def pair_sums(one: NDArray[np.bool_], other: NDArray[np.bool_], *, directed: bool) -> Sums:
    """How many edges between two groups each node has; an edge without direction counts once."""
    both = one & other
    here, there, shared = float(one.sum()), float(other.sum()), float(both.sum())
    rows, columns = one * (there - other), other * (here - one)
    if directed:
        return Sums(rows, columns, float(rows.sum()))
    ends = rows + columns - both * (shared - both)
    return Sums(ends, np.zeros(0), float(ends.sum()) / 2)


def _answer(
    graph: ReleasedGraph,
    query: Query,
    axes: Sequence[_Axis],
    values: Floats,
    variances: Floats,
) -> Answer:
    hidden = tuple(place for place, axis in enumerate(axes) if not axis.shown)
    names = [name for name, axis in zip(graph.settings.ends, axes, strict=True) if axis.shown]
    labels = [axis.labels for axis in axes if axis.shown]
    asked = [each.column for each in query.by]
    turn = [names.index(name) for name in asked]
    kind = graph.settings.noise
    halves = np.array([half_width(kind, each, 1.0) for each in variances.reshape(-1)])

    def view(found: Floats) -> Floats:
        return np.array(found.reshape(values.shape).squeeze(axis=hidden).transpose(turn), order="C")

    grid = CubeGrid(
        tuple(asked),
        tuple(labels[place] for place in turn),
        MEASURE,
        view(np.where(variances > 0, values, np.rint(values))),
        view(np.sqrt(variances)),
        view(halves),
        (_EDGES,),
        _sentence(graph, query),
    )
    return grid.answer()


def _sentence(graph: ReleasedGraph, query: Query) -> str:
    by = " × ".join(each.column for each in query.by)
    said = msg("The number of edges") + (msg(" by {by}", by=by) if by else "")
    where = " and ".join(condition.words() for condition in query.where)
    said += msg(" where {where}", where=where) if where else ""
    said += (
        ", from the release alone: the ± holds the error of the noise in 95 of 100 cases or more. "
        "Summed up from the edges, which agree with what is exact."
    )
    if not graph.settings.directed:
        first, second = graph.settings.ends
        said += msg(
            " Edges have no direction: one counts, once, where one end fulfils what "
            "is asked of {first} and the other what is asked of {second}.",
            first=first,
            second=second,
        )
    return said
