"""Sensitivities of graphs with known degrees against an enumeration of all moves."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from dpdesk.core.errors import Cancelled
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.parameters import parse_parameters
from dpdesk.core.schema import Role
from dpdesk.engine.cubes.exact.graphs import directed_sensitivity, undirected_sensitivity
from dpdesk.engine.cubes.method import DpCube
from dpdesk.engine.private_method import PrivateInput
from tests.reference.exact_cuboids import constraints, degree_constraints, longest_minimal


@pytest.mark.parametrize("nodes", [2, 3, 4, 5])
@pytest.mark.parametrize("edge_count", [False, True])
def test_undirected_graphs_equal_the_enumeration(nodes: int, edge_count: bool) -> None:
    for known in range(nodes + 1):
        matrix = degree_constraints(nodes, known, edge_count=edge_count)
        found = undirected_sensitivity(nodes, known, edge_count=edge_count)
        assert found == longest_minimal(matrix)
        safe = 2 * known if known == nodes else (2 * known + 1) * (2 if edge_count else 1)
        assert found <= safe


def test_undirected_graphs_of_five_and_six_nodes_have_their_known_values() -> None:
    assert [undirected_sensitivity(5, n) for n in (3, 4, 5)] == [5, 6, 6]
    assert [undirected_sensitivity(6, n) for n in (3, 4, 5, 6)] == [5, 6, 7, 6]


def test_larger_undirected_graphs_take_the_safe_bound() -> None:
    assert undirected_sensitivity(7, 2) == 5
    assert undirected_sensitivity(7, 7) == 14
    assert undirected_sensitivity(7, 2, edge_count=True) == 10
    assert undirected_sensitivity(7, 6, edge_count=True) == 21


@pytest.mark.parametrize("edge_count", [False, True])
def test_directed_graphs_cover_the_enumeration_with_and_without_loops(edge_count: bool) -> None:
    nodes = 3
    loops = [i * nodes + i for i in range(nodes)]
    for known_out, known_in in product(range(nodes + 1), repeat=2):
        cells = {(0,): [(i,) for i in range(known_out)], (1,): [(i,) for i in range(known_in)]}
        known = cells | ({(): [()]} if edge_count else {})
        matrix = constraints((nodes, nodes), known)
        found = directed_sensitivity(nodes, known_out, known_in, edge_count=edge_count)
        truth = longest_minimal(matrix)
        assert found >= truth
        assert found == truth or edge_count
        assert found >= longest_minimal(np.delete(matrix, loops, axis=1))


def test_one_known_out_degree_asks_for_two_and_all_degrees_for_twice_the_nodes() -> None:
    assert directed_sensitivity(5, 1, 0) == 2
    assert directed_sensitivity(5, 5, 5) == 10


def test_impossible_graphs_are_an_error() -> None:
    with pytest.raises(ValueError, match="degrees"):
        undirected_sensitivity(3, 4)
    with pytest.raises(ValueError, match="degrees"):
        directed_sensitivity(0, 0, 0)


def test_enumerating_a_graph_ends_when_it_is_cancelled() -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        undirected_sensitivity(6, 4, token=token)


def test_an_edge_table_with_known_degrees_is_a_cube_with_exact_cells() -> None:
    nodes = ["x", "y", "z", "w"]
    for known_out, known_in in ((4, 4), (4, 2), (2, 1), (0, 3)):
        degrees = [("from", known_out), ("to", known_in)]
        exact: list[object] = [
            [name] if known == 4 else {"cuboid": [name], "cells": [[n] for n in nodes[:known]]}
            for name, known in degrees
            if known
        ]
        method = DpCube()
        raw = {
            "dimensions": ["from", "to"],
            "domains": {"from": nodes, "to": nodes},
            "epsilon": 1,
            "publish": [["from", "to"]],
            "exact": exact,
        }
        roles = {"from": Role.INSENSITIVE, "to": Role.INSENSITIVE}
        given = PrivateInput(roles, {}, parse_parameters(method.parameters, raw, "plan"))
        design = method.design(given, CancelToken(), silent)
        assert design.result["sensitivity"] == directed_sensitivity(4, known_out, known_in)
