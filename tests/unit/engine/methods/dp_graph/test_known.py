"""Edges that agree with known degrees, and their errors, against dense least squares."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.engine.methods.dp_graph.known import KnownDegrees, Sums, agreeing, kept_share
from dpdesk.verifiers.graphs import Claim, left_over
from tests.reference.graphs import kept, nearest, pairs, sums


@st.composite
def knowledge(draw: st.DrawFn) -> KnownDegrees:
    nodes = draw(st.integers(3, 7))
    side = st.frozensets(st.integers(0, nodes - 1))
    directed = draw(st.booleans())
    second: frozenset[int] = draw(side) if directed else frozenset()
    return KnownDegrees(nodes, directed, draw(side), second, draw(st.booleans())).closed()


def matrix_of(known: KnownDegrees) -> np.ndarray:
    return sums(
        known.nodes,
        sorted(known.first),
        sorted(known.second),
        directed=known.directed,
        total=known.total,
    )


def square(known: KnownDegrees, values: np.ndarray) -> np.ndarray:
    """Values of the edges in a row and a column for each node."""
    found = np.zeros((known.nodes, known.nodes))
    for value, (a, b) in zip(values, pairs(known.nodes, directed=known.directed), strict=True):
        found[a, b] = value
        if not known.directed:
            found[b, a] = value
    return found


def sums_over(known: KnownDegrees, weights: np.ndarray) -> Sums:
    """Sums of coefficients by a loop over the edges."""
    first, second = np.zeros(known.nodes), np.zeros(known.nodes)
    for weight, (a, b) in zip(weights, pairs(known.nodes, directed=known.directed), strict=True):
        first[a] += weight
        (second if known.directed else first)[b] += weight
    return Sums(first, second if known.directed else second[:0], float(weights.sum()))


@settings(deadline=None, max_examples=150)
@given(knowledge(), st.integers(0, 2**32 - 1))
def test_edges_that_agree_are_those_of_dense_least_squares(known: KnownDegrees, seed: int) -> None:
    draw = np.random.default_rng(seed)
    matrix, edges = matrix_of(known), len(pairs(known.nodes, directed=known.directed))
    noisy, truth = draw.normal(0, 9, edges), draw.integers(0, 2, edges).astype(float)
    wanted = nearest(noisy, matrix, matrix @ truth)
    found = agreeing(known, square(known, noisy), sums_over(known, truth))
    assert np.allclose(found, square(known, wanted), atol=1e-9)
    assert not np.diag(found).any()


@settings(deadline=None, max_examples=150)
@given(knowledge(), st.integers(0, 2**32 - 1))
def test_errors_are_those_of_dense_least_squares_and_of_the_verifier(
    known: KnownDegrees, seed: int
) -> None:
    draw = np.random.default_rng(seed)
    weights = draw.integers(-1, 3, len(pairs(known.nodes, directed=known.directed))).astype(float)
    truth, functional = kept(matrix_of(known), weights), sums_over(known, weights)
    squares = float(weights @ weights)
    assert kept_share(known, functional, squares) == pytest.approx(
        truth, abs=1e-8 * max(1, squares)
    )
    out, into = (
        np.array([node in side for node in range(known.nodes)])
        for side in (known.first, known.second)
    )
    claim = Claim(known.directed, out, into, known.total)
    second = functional.second if known.directed else np.zeros(known.nodes)
    wanted = np.concatenate((functional.first, second, [functional.total]))
    assert left_over(claim, wanted, squares) == pytest.approx(truth, abs=1e-8 * max(1, squares))


def test_with_all_degrees_known_an_edge_keeps_all_but_two_in_its_nodes_less_one() -> None:
    known = KnownDegrees(6, False, frozenset(range(6))).closed()
    weights = np.zeros(15)
    weights[0] = 1
    assert kept_share(known, sums_over(known, weights), 1.0) == pytest.approx(1 - 2 / 5)
