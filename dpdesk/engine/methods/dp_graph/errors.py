"""The errors of a graph's tables after they agree with what is exact: in closed form, exactly."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from dpdesk.engine.methods.dp_graph.known import KnownDegrees, Sums, kept_share
from dpdesk.engine.methods.dp_graph.tables import COUNT, EDGES, IN, GraphTable, TableError
from dpdesk.engine.private.kinds import Noise

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
    if table.kind == COUNT:
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
