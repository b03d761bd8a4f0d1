"""Answers from released graphs against sums over all edges, one by one."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.app.context import AppContext
from dpdesk.app.querying import open_release
from dpdesk.app.running import run_plan
from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.query import Chosen, Grouping, Query
from dpdesk.engine.methods.dp_graph.querying import pair_sums
from tests.helpers.pinned import pin
from tests.reference.graphs import kept, pairs, sums

NODES = [f"n{i}" for i in range(6)]


def inside(pair: tuple[int, int], first: set[int], second: set[int], directed: bool) -> bool:
    a, b = pair
    return (a in first and b in second) or (not directed and b in first and a in second)


@settings(deadline=None)
@given(st.sets(st.integers(0, 5)), st.sets(st.integers(0, 5)), st.booleans())
def test_edges_between_groups_are_those_that_a_pencil_counts(
    first: set[int], second: set[int], directed: bool
) -> None:
    flags = [np.array([node in side for node in range(6)]) for side in (first, second)]
    found = pair_sums(flags[0], flags[1], directed=directed)
    counted = [p for p in pairs(6, directed=directed) if inside(p, first, second, directed)]
    assert found.total == len(counted)
    for node in range(6):
        own = sum(node == a if directed else node in (a, b) for a, b in counted)
        assert found.first[node] == own
        if directed:
            assert found.second[node] == sum(node == b for _, b in counted)


@pytest.mark.parametrize("directed", [False, True])
def test_answers_are_sums_over_the_released_edges_with_their_own_error(
    tmp_path: Path, directed: bool
) -> None:
    kind = "directed" if directed else "undirected"
    text = "from,to\nn0,n1\nn2,n1\nn4,n5\nn0,n3\n"
    (tmp_path / "edges.csv").write_text(text, "utf-8")
    (tmp_path / "plan.toml").write_text(
        f"""version = 1
[source]
path = "edges.csv"
[protection]
method = "dp-graph"
graph = "{kind}"
ends = ["from", "to"]
nodes = {NODES}
exact = "degrees"
exact_nodes = ["n0", "n1", "n2"]
epsilon = 1
""".replace("'", '"'),
        "utf-8",
    )
    pin(tmp_path / "plan.toml")
    with AppContext.open(tmp_path / "home") as context:
        out = run_plan(context, tmp_path / "plan.toml", tmp_path / "r", CancelToken(), silent).out
        release = open_release(context, out / "public", CancelToken(), silent)

        def ask(query: Query) -> Any:
            return release.ask(query, CancelToken(), silent)

        with (out / "public/graph/edges.csv").open(encoding="utf-8", newline="") as stream:
            rows = list(csv.reader(stream))[1:]
        values = np.array([float(row[2]) for row in rows])
        listed = pairs(6, directed=directed)
        known = range(3)
        matrix = sums(6, known, known if directed else (), directed=directed, total=False)
        query = Query(
            by=(Grouping("to"),),
            where=(Chosen("from", ("n0", "n3", "n4")), Chosen("to", ("n1", "n4"))),
            margins=True,
        )
        answer = ask(query)
        scale = release.content.manifest.result["scales"][0]  # type: ignore[index]
        p = np.exp(-1 / scale)
        for row in answer.rows:
            second = {1, 4} if row.labels == (None,) else {NODES.index(row.labels[0])}
            weights = np.array([inside(p, {0, 3, 4}, second, directed) for p in listed], float)
            assert row.value == pytest.approx(weights @ values)
            variance = kept(matrix, weights) * 2 * p / (1 - p) ** 2
            assert row.standard_error == pytest.approx(variance**0.5)
            assert row.low < row.value < row.high
        both = ask(Query(by=(Grouping("to"), Grouping("from"))))
        assert both.columns == ("to", "from")
        assert len(both.rows) == 36
        assert next(r for r in both.rows if r.labels == ("n1", "n1")).value == 0
        with pytest.raises(InputError, match="no category"):
            ask(Query(where=(Chosen("from", ("q",)),)))
