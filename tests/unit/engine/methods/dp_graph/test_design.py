"""Graphs from plan to tables: what is counted, what is exact, how large errors are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpdesk.core.cuboid import CuboidTable
from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.parameters import parse_parameters
from dpdesk.core.schema import Role
from dpdesk.engine.methods.dp_graph.design import GraphDesign, design_graph
from dpdesk.engine.methods.dp_graph.method import DpGraph
from dpdesk.engine.methods.dp_graph.settings import PARAMETERS
from dpdesk.engine.private.method import PrivateInput
from tests.helpers.debits import debit_for_tests
from tests.helpers.known_bits import SeededBits
from tests.helpers.memory_tables import MemorySource

NODES = ["a", "b", "c", "d", "e", "f"]
ROWS = [
    ("a", "b"),
    ("b", "a"),
    ("a", "c"),
    ("a", "c"),
    (" d", "c"),
    ("e", "e"),
    ("f", "zz"),
    ("", "a"),
    ("e", "f"),
]


def design(**keys: Any) -> GraphDesign:
    raw = {"ends": ["from", "to"], "nodes": NODES, "epsilon": 1} | keys
    raw = {key: value for key, value in raw.items() if value is not None}
    roles = {"from": Role.INSENSITIVE, "to": Role.INSENSITIVE}
    given = PrivateInput(roles, {}, parse_parameters(PARAMETERS, raw, "plan"), "plan")
    return design_graph(given, CancelToken())


def tables(made: GraphDesign, seed: int = 1, rows: Any = ROWS) -> dict[str, CuboidTable]:
    source = MemorySource.of(("from", "to"), rows)
    debit = debit_for_tests(made.charge.cost, made.charge.draws)
    noisy = made.measure(source, debit, SeededBits(seed), CancelToken(), silent).noisy
    found = made.process(noisy, CancelToken(), silent)
    return {table.file.split("/")[1][:-4]: table for table in found}


def test_an_edge_counts_once_in_whatever_order_and_loops_and_strangers_do_not() -> None:
    found = tables(design(epsilon=10**6))
    edges = found["edges"]
    first, second = edges.domain.codes(0, edges.cells)
    there = {
        (NODES[a], NODES[b])
        for a, b, value in zip(first, second, edges.values, strict=True)
        if value
    }
    assert there == {("a", "b"), ("a", "c"), ("c", "d"), ("e", "f")}
    assert found["degrees"].values.tolist() == [2, 1, 2, 1, 1, 1]
    assert found["edge-count"].values.tolist() == 4


def test_directed_edges_keep_their_direction() -> None:
    found = tables(design(graph="directed", epsilon=10**6))
    assert found["out-degrees"].values.tolist() == [2, 1, 0, 1, 1, 0]
    assert found["in-degrees"].values.tolist() == [1, 1, 2, 0, 0, 1]
    assert found["edges"].cells == 30


def test_what_was_left_out_is_told_inside_alone() -> None:
    made = design()
    source = MemorySource.of(("from", "to"), ROWS)
    debit = debit_for_tests(made.charge.cost, made.charge.draws)
    facts: Any = made.measure(source, debit, SeededBits(1), CancelToken(), silent).internal
    counting = facts["counting"]["edges"]
    assert counting["rows_from_a_node_to_itself"] == 1
    assert counting["rows_that_repeat_an_edge"] == 2
    assert counting["rows_left_out"] == 2


def test_a_node_named_other_takes_all_others() -> None:
    made = design(nodes=["a", "b", "c", "other"], epsilon=10**6)
    assert made.result["outside"] == {"from": "other", "to": "other"}
    assert tables(made)["degrees"].values.tolist() == [3, 1, 2, 2]


@pytest.mark.parametrize(
    "keys",
    [
        {"exact": "degrees"},
        {"exact": "degrees", "exact_nodes": ["b", "c"]},
        {"exact": "degrees", "exact_nodes": ["a", "f"], "exact_edges": True},
        {"graph": "directed", "exact": "degrees"},
        {"graph": "directed", "exact": "out-degrees", "exact_edges": True},
        {"graph": "directed", "exact": "degrees", "exact_nodes": ["a"], "exact_in_nodes": ["c"]},
    ],
)
def test_exact_degrees_come_out_exactly_and_edges_agree(keys: dict[str, Any]) -> None:
    made = design(**keys)
    found, true = tables(made), tables(design(graph=keys.get("graph"), epsilon=10**6))
    edges = found["edges"]
    first, second = edges.domain.codes(0, edges.cells)
    rows, columns = (
        np.bincount(side, weights=edges.values, minlength=6) for side in (first, second)
    )
    sums = {"degrees": rows + columns, "out-degrees": rows, "in-degrees": columns}
    sums["edge-count"] = np.asarray(edges.values.sum())
    for table in made.tables[1:]:
        name = table.file.split("/")[1][:-4]
        assert np.allclose(found[name].values, sums[name])
        places = sorted(table.known)
        assert found[name].values.reshape(-1)[places].tolist() == (
            true[name].values.reshape(-1)[places].tolist()
        )
        if table.exact:
            assert found[name].values.dtype == np.int64


@pytest.mark.parametrize(
    "keys",
    [
        {"exact": "degrees", "exact_nodes": ["b", "c"], "exact_edges": True},
        {"graph": "directed", "exact": "degrees", "exact_nodes": ["a", "b"], "rho": 0.5},
    ],
)
def test_stated_variances_are_those_of_many_releases(keys: dict[str, Any]) -> None:
    made = design(**{"epsilon": None if "rho" in keys else 1} | keys)
    draws, noise = 4000, made.noise.sampler
    edges = made.released.pairs
    from dpdesk.engine.methods.dp_graph.tables import published_tables

    zero = np.zeros(6, dtype=np.int64)
    given = tuple(zero[: len(side)] for side in (made.released.first, made.released.second))
    exact = (
        given[0],
        given[1] if len(given[1]) else None,
        zero[:1] if made.released.total else None,
    )
    drawn = noise.draw(draws * edges, SeededBits(7), CancelToken()).reshape(draws, edges)
    seen: dict[str, list[np.ndarray]] = {}
    for one in drawn:
        for table in published_tables(made.tables, made.released, one, exact):
            seen.setdefault(table.file, []).append(np.asarray(table.values, float).reshape(-1))
    for table, error in zip(made.tables, made.errors, strict=True):
        found = np.sort(np.square(np.array(seen[table.file])).mean(axis=0))[::-1]
        stated = np.concatenate([np.full(n, variance) for n, variance in error.groups])
        # means of the cells that are said to have the same variance, within six standard errors
        assert found.mean() == pytest.approx(stated.mean(), rel=0.05)
        assert found.max() <= stated.max() * 1.35
        assert (found[stated == 0] < 1e-15).all()


def test_noise_is_made_for_the_minimal_change() -> None:
    assert design().result["sensitivity"] == 1
    assert design(neighbours="replace").result["sensitivity"] == 2
    assert design(exact="degrees").result["sensitivity"] == 6
    assert design(exact="degrees", exact_nodes=["a", "b", "c"]).result["sensitivity"] == 5
    assert design(exact="degrees", rows_per_person=3).result["sensitivity"] == 18
    large = [f"n{i}" for i in range(9)]
    assert design(nodes=large, exact="degrees").result["sensitivity"] == 18
    some = design(nodes=large, exact="degrees", exact_nodes=large[:2], neighbours="replace")
    assert some.result["sensitivity"] == 6
    gaussian = design(nodes=large, exact="degrees", epsilon=None, rho=0.5)
    assert gaussian.result["scales"] == [pytest.approx(18**0.5)]


@pytest.mark.parametrize("graph", ["undirected", "directed"])
@pytest.mark.parametrize("known", range(7))
def test_replacement_protects_rows_that_come_or_go_too(graph: str, known: int) -> None:
    """A row can be replaced by a loop, and then the number of edges changes."""
    kept: dict[str, Any] = {"graph": graph}
    if known:
        kept |= {"exact": "degrees" if graph == "undirected" else "out-degrees"}
        kept |= {"exact_nodes": NODES[:known]}
    replaced = design(**kept, neighbours="replace").result["sensitivity"]
    assert replaced >= design(**kept).result["sensitivity"]
    assert replaced >= 2


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"ends": ["from"]}, "different columns"),
        ({"ends": ["from", "from"]}, "different columns"),
        ({"nodes": ["a", "b"]}, "lists 2, expected 3 to 4,096 nodes"),
        ({"nodes": None}, "not declared"),
        ({"nodes": ["a", "b", "c"], "exact": "degrees"}, "every edge follows"),
        ({"exact": "in-degrees"}, "without direction"),
        ({"exact_in_nodes": ["a"]}, "without direction"),
        ({"exact_nodes": ["a"]}, "`exact` is none"),
        ({"exact": "degrees", "exact_nodes": ["q"]}, "not a declared node"),
        ({"exact": "degrees", "exact_nodes": ["a", "a"]}, "twice"),
        ({"exact": "degrees", "exact_nodes": []}, "`exact_nodes` names no node"),
        ({"graph": "directed", "exact": "degrees", "exact_in_nodes": []}, "`exact_in_nodes` names"),
        ({"epsilon": None}, "neither"),
        ({"rho": 1}, "both"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(keys: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        design(**keys)


@pytest.mark.parametrize(
    ("role", "name"), [(Role.IDENTIFIER, "from"), (Role.CLUSTER, "to"), (Role.WEIGHT, "w")]
)
def test_columns_that_cannot_be_ends_are_refused(role: Role, name: str) -> None:
    raw = {"ends": ["from", "to"], "nodes": NODES, "epsilon": 1}
    roles = {"from": Role.INSENSITIVE, "to": Role.INSENSITIVE, "w": Role.INSENSITIVE} | {name: role}
    with pytest.raises(InputError, match=f"`{name}`"):
        DpGraph().check(("from", "to", "w"), roles, parse_parameters(PARAMETERS, raw, "p"), "plan")


def test_views_are_planned_and_say_what_is_missing() -> None:
    values = {"ends": ["from", "to"], "nodes": NODES, "exact": "degrees"}
    roles = {"from": Role.INSENSITIVE, "to": Role.INSENSITIVE}
    parsed = parse_parameters(PARAMETERS, values, "plan")
    exploration = DpGraph().explore(PrivateInput(roles, {}, parsed), CancelToken())
    supposed = exploration.view(parsed)
    assert (supposed.feasible, supposed.supposed) == (False, True)
    wrong = exploration.view(parsed | {"nodes": None})
    assert "not declared" in wrong.sentence
    view = exploration.view(parse_parameters(PARAMETERS, values | {"epsilon": 1}, "plan"))
    assert view.feasible
    assert {chart.id for chart in view.charts} == {"graph-errors", "cube-odds"}
    assert {figure.key for figure in view.figures} >= {"error_edges", "minimal_change"}
