"""Degrees that a graph has, against all graphs of few nodes."""

from __future__ import annotations

from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from dpdesk.verifiers.graphs import has_both_degrees, has_degrees
from tests.reference.graphs import sums


def every(nodes: int, *, directed: bool) -> set[tuple[int, ...]]:
    """The degrees (of directed graphs: out-degrees, then in-degrees) of all graphs."""
    places = range(nodes)
    matrix = sums(nodes, places, places if directed else (), directed=directed, total=False)
    graphs = np.array(list(product((0, 1), repeat=matrix.shape[1])), dtype=np.int64)
    return set(map(tuple, (graphs @ matrix.T).tolist()))


@pytest.mark.parametrize("nodes", [3, 4, 5])
def test_degrees_are_possible_where_one_of_all_graphs_has_them(nodes: int) -> None:
    there = every(nodes, directed=False)
    for degrees in product(range(nodes), repeat=nodes):
        assert has_degrees(np.array(degrees)) is (degrees in there)


@pytest.mark.parametrize("nodes", [3, 4])
def test_out_and_in_degrees_are_possible_where_one_of_all_graphs_has_them(nodes: int) -> None:
    there = every(nodes, directed=True)
    for out in combinations_with_replacement(range(nodes), nodes):
        for into in product(range(nodes), repeat=nodes):
            found = has_both_degrees(np.array(out), np.array(into))
            assert found is ((*out, *into) in there)
