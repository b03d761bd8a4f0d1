"""Graphs with known degrees, slowly and obviously: all changes, and least squares on all edges.

A change takes edges away and adds others; it is minimal when no part of it keeps what is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, permutations, product

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
_FAR = 64


def pairs(nodes: int, *, directed: bool) -> list[tuple[int, int]]:
    """Every possible edge, in domain order; no loops."""
    return sorted((permutations if directed else combinations)(range(nodes), 2))


def sums(
    nodes: int, first: Sequence[int], second: Sequence[int], *, directed: bool, total: bool
) -> Integers:
    """One row of 0 and 1 for each known number, over all possible edges."""
    edges = pairs(nodes, directed=directed)
    rows = [[node == a if directed else node in (a, b) for a, b in edges] for node in first]
    rows += [[node == b for _, b in edges] for node in second]
    rows += [[True] * len(edges)] if total else []
    return np.array(rows, dtype=np.int64).reshape(-1, len(edges))


def longest_change(matrix: Integers) -> int:
    """The size of the longest minimal change between graphs, each edge there or not.

    All vectors of -1, 0 and 1 that keep the sums are put together from two halves; then, from the
    smallest on, those that have a smaller one as a part are struck out.
    """
    edges = matrix.shape[1]
    cut = edges // 2
    halves = [
        np.array(list(product((-1, 0, 1), repeat=n)), dtype=np.int64) for n in (cut, edges - cut)
    ]
    weights = np.array([_FAR**row for row in range(len(matrix))], dtype=np.int64)
    left = halves[0] @ matrix[:, :cut].T @ weights
    right = -(halves[1] @ matrix[:, cut:].T) @ weights
    order = np.argsort(right, kind="stable")
    low, high = (np.searchsorted(right[order], left, side) for side in ("left", "right"))
    at = np.repeat(np.arange(len(left)), high - low)
    beside = order[np.concatenate([np.arange(a, b) for a, b in zip(low, high, strict=True)])]
    codes = _codes(halves[0], 0, edges)[at] | _codes(halves[1], cut, edges)[beside]
    sizes = np.array(sum((codes >> bit) & 1 for bit in range(2 * edges)))
    longest = 0
    for size in range(1, edges + 1):
        level, rest = codes[sizes == size], sizes > size
        codes, sizes = codes[rest], sizes[rest]
        longest = size if len(level) else longest
        for small in level:
            whole = (codes & small) != small
            codes, sizes = codes[whole], sizes[whole]
    return longest


def _codes(vectors: Integers, start: int, edges: int) -> Integers:
    """A vector as a number: a bit for each edge that comes, and one for each that goes."""
    bits = 1 << (start + np.arange(vectors.shape[1], dtype=np.int64))
    found: Integers = (vectors > 0) @ bits | (((vectors < 0) @ bits) << edges)
    return found


def nearest(
    noisy: NDArray[np.float64], matrix: Integers, exact: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The edges nearest to the noisy ones whose sums are exact: dense least squares."""
    found: NDArray[np.float64] = noisy + np.linalg.pinv(matrix) @ (exact - matrix @ noisy)
    return found


def kept(matrix: Integers, weights: NDArray[np.float64]) -> float:
    """The squares of what is left of a sum's coefficients on all edges."""
    keep = np.eye(matrix.shape[1]) - np.linalg.pinv(matrix) @ matrix
    return float(np.square(keep @ weights).sum())
