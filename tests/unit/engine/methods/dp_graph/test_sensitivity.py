"""Sensitivities of graphs with known degrees against an enumeration of all moves."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from dpdesk.core.errors import Cancelled
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.parameters import parse_parameters
from dpdesk.core.schema import Role
from dpdesk.engine.methods.dp_cube.method import DpCube
from dpdesk.engine.methods.dp_graph.known import directed_sensitivity, undirected_sensitivity
from dpdesk.engine.private.method import PrivateInput
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
    assert undirected_sensitivity(7, 2, edge_count=True) == 6
    assert undirected_sensitivity(7, 6, edge_count=True) == 14


@pytest.mark.parametrize("edge_count", [False, True])
def test_directed_graphs_of_three_nodes_equal_the_enumeration_of_all_changes(
    edge_count: bool,
) -> None:
    nodes = 3
    loops = [i * nodes + i for i in range(nodes)]
    for known_out, known_in in product(range(nodes + 1), repeat=2):
        cells = {(0,): [(i,) for i in range(known_out)], (1,): [(i,) for i in range(known_in)]}
        known = cells | ({(): [()]} if edge_count else {})
        matrix = np.delete(constraints((nodes, nodes), known), loops, axis=1)
        ends = frozenset(range(known_out)), frozenset(range(known_in))
        found = directed_sensitivity(nodes, *ends, edge_count=edge_count)
        assert found == longest_minimal(matrix)


def test_larger_directed_graphs_take_the_formula_of_tables() -> None:
    some, every = frozenset({1, 4}), frozenset(range(7))
    assert directed_sensitivity(7, some, frozenset()) == 2
    assert directed_sensitivity(7, some, some) == 5
    assert directed_sensitivity(7, some, some, edge_count=True) == 6
    assert directed_sensitivity(7, every, every) == 14


def test_impossible_graphs_are_an_error() -> None:
    with pytest.raises(ValueError, match="degrees"):
        undirected_sensitivity(3, 4)
    with pytest.raises(ValueError, match="degrees"):
        directed_sensitivity(2, frozenset({2}), frozenset())


def test_enumerating_a_graph_ends_when_it_is_cancelled() -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        undirected_sensitivity(6, 4, token=token)


def test_an_edge_table_with_known_degrees_is_a_cube_with_exact_cells() -> None:
    nodes = ["u", "v", "w", "x", "y", "z"]
    for known_out, known_in in ((6, 6), (6, 2), (2, 1), (0, 3)):
        degrees = [("from", known_out), ("to", known_in)]
        exact: list[object] = [
            [name] if known == 6 else {"cuboid": [name], "cells": [[n] for n in nodes[:known]]}
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
        ends = frozenset(range(known_out)), frozenset(range(known_in))
        assert design.result["sensitivity"] == directed_sensitivity(6, *ends)
