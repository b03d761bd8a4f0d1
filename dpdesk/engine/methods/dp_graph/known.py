"""Known degrees of a graph: how much noise they ask for, and the estimate that agrees with them.

The graph is complete but for loops, so all sums have closed forms in the numbers of known nodes.
Least squares with known sums add to each edge a multiplier for either end that is known, and one
for the number of edges; the multipliers solve a linear system that comes down to their own sums.
Source: resources/docs/graphs.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.cubes.exact.moves import minimal_moves
from dpdesk.engine.cubes.exact.sensitivity import generic_sensitivity, knowledge

MOST_ENUMERATED_NODES = 6
"""Nodes up to which the value for an undirected graph is the enumerated one."""

MOST_ENUMERATED_DIRECTED = 5
"""Nodes up to which the value for a directed graph is the enumerated one."""


def undirected_sensitivity(
    nodes: int, known: int, *, edge_count: bool = False, token: CancelToken | None = None
) -> int:
    """L1 sensitivity of the edges of a graph without loops when ``known`` degrees are known.

    Each edge counts once. ``edge_count``: the number of edges is known too. Up to
    :data:`MOST_ENUMERATED_NODES` nodes the value is enumerated; beyond, a minimal alternating walk
    meets a known node at most twice, so it has at most 2n + 1 edges (2n when all degrees are
    known; 2n + 2 for two walks that meet different known nodes, where the number of edges is), and
    never more than there are pairs. Raises ValueError for impossible numbers.
    """
    if not 0 <= known <= nodes or nodes < 1:
        raise ValueError("a graph has at least one node and no more degrees than nodes")
    if nodes <= MOST_ENUMERATED_NODES:
        return _enumerated(nodes, known, edge_count, token)
    pairs = nodes * (nodes - 1) // 2
    if known == nodes:
        return min(2 * known, pairs)
    return min(2 * known + (2 if edge_count else 1), pairs)


def directed_sensitivity(
    nodes: int,
    out: frozenset[int],
    into: frozenset[int],
    *,
    edge_count: bool = False,
    token: CancelToken | None = None,
) -> int:
    """L1 sensitivity of the edges of a directed graph without loops beside known degrees.

    ``out`` and ``into`` are the places of nodes whose out- and in-degrees are known. Up to
    :data:`MOST_ENUMERATED_DIRECTED` nodes the value is enumerated. Beyond, the table has a row and
    a column for each node, and degrees are single cells of its two margins; pairs that cannot be
    edges (loops) only take moves away. Raises ValueError for places that there are not, Cancelled.
    """
    if nodes < 1 or any(not 0 <= place < nodes for place in out | into):
        raise ValueError("a graph has at least one node, and degrees of its own nodes alone")
    token = token or CancelToken()
    if nodes <= MOST_ENUMERATED_DIRECTED:
        return _enumerated_directed(nodes, out, into, edge_count, token)
    single = {1: [(place,) for place in out], 2: [(place,) for place in into]}
    known = knowledge((nodes, nodes), (0,) if edge_count else (), single)
    return min(generic_sensitivity(known, token).l1, nodes * (nodes - 1))


def _enumerated_directed(
    nodes: int, out: frozenset[int], into: frozenset[int], edge_count: bool, token: CancelToken
) -> int:
    edges = list(permutations(range(nodes), 2))
    rows = [[edge[0] == place for edge in edges] for place in sorted(out)]
    rows += [[edge[1] == place for edge in edges] for place in sorted(into)]
    rows += [[True] * len(edges)] if edge_count else []
    matrix = np.array(rows, np.int8).reshape(len(rows), len(edges))
    return minimal_moves(matrix, token, bound=1).longest


def _enumerated(nodes: int, known: int, edge_count: bool, token: CancelToken | None) -> int:
    if token is None:
        return _remembered(nodes, known, edge_count)
    edges = list(combinations(range(nodes), 2))
    rows = [[node in edge for edge in edges] for node in range(known)]
    rows += [[True] * len(edges)] if edge_count else []
    matrix = np.array(rows, np.int8).reshape(len(rows), len(edges))
    return minimal_moves(matrix, token, bound=1).longest


@cache
def _remembered(nodes: int, known: int, edge_count: bool) -> int:
    return _enumerated(nodes, known, edge_count, CancelToken())


Floats = NDArray[np.float64]
_CHANGES: dict[tuple[int, int, bool], int] = {}


@dataclass(frozen=True)
class KnownDegrees:
    """What is known of a graph with so many ``nodes`` and without loops.

    ``first`` are places of nodes whose degree is known; of directed graphs it is the out-degree,
    and ``second`` those whose in-degree is. ``total``: the number of edges is known.
    """

    nodes: int
    directed: bool
    first: frozenset[int] = frozenset()
    second: frozenset[int] = frozenset()
    total: bool = False

    def closed(self) -> KnownDegrees:
        """With all that follows: all degrees give the number of edges, and with that number the
        last degree follows from all others.
        """
        every = frozenset(range(self.nodes))
        found = self
        for _ in range(3):
            full = every in (found.first, found.second)
            found = replace(found, total=found.total or full)
            if found.total:
                first, second = (
                    every if len(known) >= self.nodes - 1 else known
                    for known in (found.first, found.second)
                )
                found = replace(found, first=first, second=second)
        return found if self.directed else replace(found, second=frozenset())

    @property
    def anything(self) -> bool:
        """Whether something is known."""
        return bool(self.first or self.second or self.total)

    @property
    def pairs(self) -> int:
        """How many edges there can be."""
        return self.nodes * (self.nodes - 1) // (1 if self.directed else 2)

    def change(self, token: CancelToken) -> int:
        """The size of a minimal change that keeps what is known, or a safe bound of it.

        0 where everything follows. Raises Cancelled.
        """
        if self.directed:
            return directed_sensitivity(
                self.nodes, self.first, self.second, edge_count=self.total, token=token
            )
        known = len(self.first)
        count = self.total and known < self.nodes
        key = (self.nodes, known, count)
        if key not in _CHANGES:
            _CHANGES[key] = undirected_sensitivity(*key[:2], edge_count=count, token=token)
        return _CHANGES[key]


@dataclass(frozen=True)
class Sums:
    """Sums over the edges of each node, shape (nodes,), and over all edges.

    ``second`` is empty for undirected graphs.
    """

    first: Floats
    second: Floats
    total: float


def sums_of(matrix: Floats, directed: bool) -> Sums:
    """The sums of an array with a row and a column for each node; an undirected one is symmetric
    and its edges count once.
    """
    rows = matrix.sum(axis=1)
    if directed:
        return Sums(rows, matrix.sum(axis=0), float(rows.sum()))
    return Sums(rows, np.zeros(0), float(rows.sum()) / 2)


def multipliers(known: KnownDegrees, missing: Sums) -> Sums:
    """What to add to the edges of each node, and to all edges, so that known sums grow by what is
    ``missing`` with the least squares; 0 for what is not known.
    """
    return _directed(known, missing) if known.directed else _undirected(known, missing)


def _undirected(known: KnownDegrees, missing: Sums) -> Sums:
    """(V-2) x_i + X + (V-1) y = r_i for known nodes, (V-1) X + pairs y = r, with X the sum."""
    places, size = sorted(known.first), known.nodes
    own = missing.first[places]
    count = len(places)
    system = np.array([[size - 2 + count, count * (size - 1)], [size - 1, known.pairs]], float)
    wanted = np.array([own.sum(), missing.total])
    together, every = _solved(system, wanted, total=known.total)
    found = np.zeros(size)
    found[places] = (own - together - (size - 1) * every) / (size - 2)
    return Sums(found, np.zeros(0), every)


def _directed(known: KnownDegrees, missing: Sums) -> Sums:
    """For known out-degrees (V-1) x_i + Y - y_i + (V-1) z = r_i, with y_i the multiplier of the
    node's own in-degree, where that is known; in-degrees likewise; (V-1)(X + Y) + V(V-1) z = r.

    Nodes of which both are known give two equations in x_i and y_i; X and Y follow from their sums.
    """
    size, wide = known.nodes, known.nodes - 1
    out, into = (np.array([i in side for i in range(size)]) for side in (known.first, known.second))
    both = out & into
    det = float(wide * wide - 1)
    own, other = np.where(both, wide / det, 1 / wide), np.where(both, 1 / det, 0.0)
    sums = []
    for here, mine, theirs in (
        (out, missing.first, missing.second),
        (into, missing.second, missing.first),
    ):
        given = (own[here] * mine[here] + other[here] * theirs[here]).sum()
        by_there, by_here = own[here].sum(), other[here].sum()
        sums.append((given, by_there, by_here, wide * (by_there + by_here)))
    (r_out, a, b, c), (r_in, d, e, f) = sums
    system = np.array([[1 + b, a, c], [d, 1 + e, f], [wide, wide, size * wide]])
    wanted = np.array([r_out, r_in, missing.total])
    x_sum, y_sum, every = _solved(system, wanted, total=known.total)
    left = missing.first - y_sum - wide * every
    right = missing.second - x_sum - wide * every
    first = np.where(out, own * left + other * right, 0.0)
    second = np.where(into, own * right + other * left, 0.0)
    return Sums(first, second, every)


def _solved(system: Floats, wanted: Floats, *, total: bool) -> list[float]:
    """The solution, of least norm where equations follow from others; without ``total`` the last
    unknown is 0.
    """
    if not total:
        system, wanted = system[:-1, :-1], wanted[:-1]
    found = [float(each) for each in np.linalg.lstsq(system, wanted, rcond=1e-12)[0]]
    return found if total else [*found, 0.0]


def agreeing(known: KnownDegrees, matrix: Floats, exact: Sums) -> Floats:
    """The array nearest to ``matrix`` (see :func:`sums_of`) whose known sums are ``exact``."""
    if not known.anything:
        return matrix
    found = sums_of(matrix, known.directed)
    missing = Sums(
        exact.first - found.first,
        exact.second - found.second if known.directed else found.second,
        exact.total - found.total,
    )
    add = multipliers(known, missing)
    ends = add.second if known.directed else add.first
    moved: Floats = matrix + add.first[:, None] + ends[None, :] + add.total
    np.fill_diagonal(moved, 0.0)
    return moved


def kept_share(known: KnownDegrees, functional: Sums, squares: float) -> float:
    """By how much the variance of one noisy edge is multiplied in a sum of edges, after the
    estimate agrees with what is known.

    ``functional`` are the sums of the sum's own coefficients, ``squares`` that of their squares.
    """
    if not known.anything:
        return squares
    gone = multipliers(known, functional)
    taken = float(functional.first @ gone.first) + functional.total * gone.total
    if known.directed:
        taken += float(functional.second @ gone.second)
    left = squares - taken
    return left if left > 1e-9 * squares else 0.0
