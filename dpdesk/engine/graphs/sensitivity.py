"""Graphs released with known degrees: how much the noise of an edge table must hide.

A graph is a table of its edges, and degrees are sums of its rows and columns. Source: exact cuboids
paper, section 5, with both parts of its Lemma 5.1 corrected: resources/docs/exact.md.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations, permutations

import numpy as np

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.cubes.exact.knowledge import knowledge
from dpdesk.engine.cubes.exact.moves import minimal_moves
from dpdesk.engine.cubes.exact.sensitivity import generic_sensitivity

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
