"""How often the ± of answers from graphs holds the truth: noise made to agree by plain algebra."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpdesk.core.cuboid import ORDERED, UNORDERED, CuboidTable, Domain
from dpdesk.core.jobs import CancelToken
from dpdesk.core.query import Chosen, Grouping, Query
from dpdesk.engine.methods.dp_graph.querying import answer_graph
from tests.helpers.released_cubes import MemoryRelease
from tests.helpers.stated import stated
from tests.reference.graphs import pairs, sums

NODES = tuple(f"n{place}" for place in range(7))
ENDS = ("from", "to")
EDGES = "graph/edges.csv"
QUERIES = (
    Query(),
    Query((Grouping("from"),), margins=True),
    Query((Grouping("from"), Grouping("to"))),
    Query((), (Chosen("from", NODES[:3]), Chosen("to", NODES[2:6]))),
)


def coverage(directed: bool, known: int, change: int, draws: int, epsilon: float = 2.0) -> float:
    """The least share of draws in which the ± of a number held the truth.

    ``known`` nodes have exact degrees, for which a minimal change has the size ``change``.
    """
    generator = np.random.default_rng(11)
    listed = pairs(len(NODES), directed=directed)
    truth = generator.integers(0, 2, len(listed)).astype(float)
    places = range(known)
    matrix = np.array(
        sums(len(NODES), places, places if directed else (), directed=directed, total=False), float
    ).reshape(-1, len(listed))
    projector = np.eye(len(listed)) - np.linalg.pinv(matrix) @ matrix
    chance = -np.expm1(-epsilon / change)
    right = _answers(_released(directed, known, change, epsilon, truth))
    held = np.zeros(len(right))
    for _ in range(draws):
        first, second = (generator.geometric(chance, len(listed)) for _ in range(2))
        noisy = truth + projector @ (first - second)
        found = _answers(_released(directed, known, change, epsilon, noisy))
        slack = found[:, 2] - found[:, 1]
        held += np.abs(found[:, 0] - right[:, 0]) <= slack / 2 + 1e-9
    return float(held.min() / draws)


def _answers(release: MemoryRelease) -> np.ndarray:
    """Value, low and high of every number of all queries, in order."""
    return np.array(
        [
            (row.value, row.low, row.high)
            for query in QUERIES
            for row in answer_graph(query, release, CancelToken()).rows
        ],
        dtype=float,
    )


def _released(
    directed: bool, known: int, change: int, epsilon: float, values: np.ndarray
) -> MemoryRelease:
    parameters: dict[str, Any] = {
        "graph": "directed" if directed else "undirected",
        "ends": list(ENDS),
        "nodes": list(NODES),
        "epsilon": epsilon,
    }
    if known:
        parameters |= {"exact": "degrees", "exact_nodes": list(NODES[:known])}
    result = {
        "sensitivity": change,
        "domains": [{"dimension": end, "categories": list(NODES)} for end in ENDS],
    }
    manifest = stated(parameters=parameters, result=result)
    domain = Domain(ENDS, (NODES, NODES), ORDERED if directed else UNORDERED)
    return MemoryRelease(manifest, {EDGES: CuboidTable(domain, values, EDGES)})
