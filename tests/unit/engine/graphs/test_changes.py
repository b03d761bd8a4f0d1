"""How much a minimal change of a graph is, against an enumeration of all changes of all graphs."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.cubes.exact.moves import minimal_moves
from dpdesk.engine.graphs.known import KnownDegrees
from dpdesk.engine.graphs.recomputed import minimal_change, whole_claim
from tests.reference.exact_cuboids import longest_minimal
from tests.reference.graphs import longest_change, sums


def known(nodes: int, first: int, second: int, *, directed: bool, total: bool) -> KnownDegrees:
    sides = frozenset(range(first)), frozenset(range(second))
    return KnownDegrees(nodes, directed, *sides, total=total).closed()


def stated(nodes: int, first: int, second: int, *, directed: bool, total: bool) -> int:
    """What the design says, after the verifier found the same."""
    found = known(nodes, first, second, directed=directed, total=total).change(CancelToken())
    flags = [[node < count for node in range(nodes)] for count in (first, second)]
    assert minimal_change(whole_claim(directed, flags[0], flags[1], total)) == found
    return found


@pytest.mark.parametrize("nodes", [3, 4, 5, 6])
@pytest.mark.parametrize("total", [False, True])
def test_undirected_graphs_up_to_six_nodes_have_the_enumerated_change(
    nodes: int, total: bool
) -> None:
    for first in range(nodes + 1):
        if first == 0 and not total:  # single edges come and go
            assert stated(nodes, 0, 0, directed=False, total=False) == 1
            continue
        matrix = sums(nodes, range(first), (), directed=False, total=total)
        truth = longest_change(matrix)
        assert stated(nodes, first, 0, directed=False, total=total) == truth
        safe = 2 * first + (first < nodes)
        assert truth <= (2 * safe if total and first < nodes else safe)


@pytest.mark.parametrize("nodes", [3, 4])
def test_directed_graphs_never_change_by_more_than_is_stated(nodes: int) -> None:
    tight = 0
    for first, second, total in product(range(nodes + 1), range(nodes + 1), (False, True)):
        if first == second == 0:
            continue
        matrix = sums(nodes, range(first), range(second), directed=True, total=total)
        own = range(nodes - second, nodes)
        apart = sums(nodes, range(first), own, directed=True, total=total)
        found = stated(nodes, first, second, directed=True, total=total)
        truths = longest_change(matrix), longest_change(apart)
        assert max(truths) <= found
        tight += max(truths) == found
    assert tight >= nodes * nodes


@pytest.mark.parametrize(("first", "second"), [(5, 5), (5, 2), (3, 3), (4, 1), (2, 3)])
def test_directed_graphs_of_five_nodes_never_change_by_more_than_is_stated(
    first: int, second: int
) -> None:
    matrix = sums(5, range(first), range(second), directed=True, total=False)
    truth = minimal_moves(matrix.astype(np.int8), CancelToken(), bound=1).longest
    assert truth <= stated(5, first, second, directed=True, total=False)


def test_a_graph_whose_edges_count_several_times_needs_more_than_one_where_they_do_not() -> None:
    """Why repeated rows count once: an edge passed twice lets walks be longer."""
    matrix = sums(5, range(4), (), directed=False, total=False)
    assert longest_minimal(matrix, largest=1) == 6
    walk = [(0, 4), (0, 1), (1, 2), (2, 3), (1, 3), (0, 1), (0, 4)]
    edges = {(0, 1): 0, (0, 2): 1, (0, 3): 2, (0, 4): 3, (1, 2): 4, (1, 3): 5, (2, 3): 7}
    move = np.zeros(10, dtype=np.int64)
    for place, edge in enumerate(walk):
        move[edges[edge]] += 1 if place % 2 == 0 else -1
    assert np.abs(move).sum() == 7
    assert not (matrix @ move).any()
    smaller = product(*(range(min(0, int(v)), max(0, int(v)) + 1) for v in move))
    parts = [part for part in smaller if any(part) and not (matrix @ np.array(part)).any()]
    assert parts == [tuple(int(v) for v in move)]  # minimal: no part of it keeps the degrees


def test_what_follows_from_the_known_numbers_is_known() -> None:
    every = frozenset(range(5))
    assert known(5, 5, 0, directed=False, total=False).total
    assert known(5, 4, 0, directed=False, total=True).first == every
    assert known(5, 4, 0, directed=False, total=False).first != every
    found = known(5, 5, 4, directed=True, total=False)
    assert (found.total, found.second) == (True, every)
    assert known(3, 3, 0, directed=False, total=False).change(CancelToken()) == 0
