"""How much a minimal change of a graph is, against an enumeration of all changes of all graphs."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.cubes.exact.moves import minimal_moves
from dpdesk.engine.methods.dp_graph.known import KnownDegrees
from dpdesk.verifiers import graphs as verification
from dpdesk.verifiers.graphs import minimal_change, whole_claim
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


def beside_all(nodes: int) -> list[KnownDegrees]:
    """All that can be known of a directed graph, up to renaming nodes, with what follows."""
    found = []
    for both, out, into in product(range(nodes + 1), repeat=3):
        if both + out + into <= nodes:
            first = frozenset(range(both + out))
            second = frozenset([*range(both), *range(both + out, both + out + into)])
            for total in (False, True):
                known = KnownDegrees(nodes, True, first, second, total=total).closed()
                found += [known] if known.anything else []
    return found


def verified(known: KnownDegrees) -> int:
    """What the verifier finds."""
    flags = [[node in side for node in range(known.nodes)] for side in (known.first, known.second)]
    return minimal_change(whole_claim(True, *flags, known.total))


@pytest.mark.parametrize("nodes", [3, 4])
def test_directed_graphs_have_the_change_found_among_all_changes(nodes: int) -> None:
    for known in beside_all(nodes):
        matrix = sums(
            nodes, sorted(known.first), sorted(known.second), directed=True, total=known.total
        )
        assert known.change(CancelToken()) == longest_change(matrix) == verified(known), known


def test_all_directed_graphs_of_five_nodes_have_the_change_that_the_verifier_finds() -> None:
    cases = beside_all(5)
    assert len(cases) == 111
    for known in cases:
        assert known.change(CancelToken()) == verified(known), known


@pytest.mark.parametrize("nodes", [6, 7, 9])
def test_larger_directed_graphs_never_change_by_more_than_is_stated(nodes: int) -> None:
    tight = 0
    for known in beside_all(nodes):
        flags = [[node in side for node in range(nodes)] for side in (known.first, known.second)]
        if sum(map(sum, flags)) > 8:  # all walks of more take long
            continue
        truth = verification.longest_change(flags[0], flags[1], known.total)
        found = known.change(CancelToken())
        assert truth <= found == verified(known), known
        tight += truth == found
    assert tight > 0


@pytest.mark.parametrize("nodes", [7, 8])
def test_two_walks_beside_a_known_number_of_edges_share_out_the_known_nodes(nodes: int) -> None:
    """Grown walk by walk: beside n degrees and the number of edges no change is over 2n + 2."""
    for first in (1, 2):
        matrix = sums(nodes, range(first), (), directed=False, total=True)
        truth = minimal_moves(matrix.astype(np.int8), CancelToken(), bound=1).longest
        assert truth <= stated(nodes, first, 0, directed=False, total=True) == 2 * first + 2


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
