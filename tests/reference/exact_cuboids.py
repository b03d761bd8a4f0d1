"""The longest minimal move of small tables and graphs, by looking at all moves there are.

A move keeps every known sum; it is minimal when no other one is part of it with the same signs.
Slow and obvious: every vector with small entries is tried.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, combinations_with_replacement, product

import numpy as np
from numpy.typing import NDArray

Known = Mapping[tuple[int, ...], Iterable[tuple[int, ...]]]
"""Known cells by the axes of their cuboid."""


def constraints(shape: Sequence[int], known: Known) -> NDArray[np.int64]:
    """One row of 0 and 1 for each known cell, over all cells of the table."""
    cells = list(product(*(range(n) for n in shape)))
    return np.array(
        [
            [tuple(cell[i] for i in axes) == wanted for cell in cells]
            for axes, each in known.items()
            for wanted in each
        ],
        dtype=np.int64,
    ).reshape(-1, len(cells))


def all_cells(shape: Sequence[int], axes: Sequence[int]) -> list[tuple[int, ...]]:
    """Every cell of a cuboid."""
    return list(product(*(range(shape[i]) for i in axes)))


def with_a_cell_outside(matrix: NDArray[np.int64], total: int) -> NDArray[np.int64]:
    """One cell more, for rows outside the domain: constraint ``total`` alone counts them."""
    padded = np.pad(matrix, ((0, 0), (0, 1)))
    padded[total, -1] = 1
    return padded


def longest_minimal(matrix: NDArray[np.int64], largest: int = 1) -> int:
    """The largest L1 norm of a minimal move with entries of at most ``largest``."""
    return int(np.abs(all_minimal(matrix, largest)).sum(axis=1).max(initial=0))


def all_minimal(matrix: NDArray[np.int64], largest: int = 1) -> NDArray[np.int8]:
    """All minimal moves with entries of at most ``largest``, shape (moves, cells)."""
    cells = matrix.shape[1]
    values = np.arange(-largest, largest + 1, dtype=np.int8)
    vectors = np.stack(np.meshgrid(*[values] * cells, indexing="ij"), axis=-1).reshape(-1, cells)
    moves = vectors[(vectors @ matrix.T.astype(np.int8) == 0).all(axis=1)]
    norms = np.abs(moves).sum(axis=1)
    minimal: list[NDArray[np.int8]] = []
    for norm in range(1, int(norms.max(initial=0)) + 1):
        level = moves[norms == norm]
        for small in minimal:
            inside = (np.abs(small) <= np.abs(level)).all(axis=1) & (small * level >= 0).all(axis=1)
            level = level[~inside]
        minimal += list(level)
    return np.array(minimal, dtype=np.int8).reshape(-1, cells)


def longest_pair(matrix: NDArray[np.int64], most: int) -> int:
    """The largest size of two tables of up to ``most`` rows each, together, that agree minimally.

    For constraints that fix the number of rows: no part of the rows of one table agrees with a part
    of the rows of the other.
    """
    longest = 0
    for rows in range(1, most + 1):
        groups: dict[bytes, list[frozenset[bytes]]] = {}
        for table in combinations_with_replacement(range(matrix.shape[1]), rows):
            parts = {
                matrix[:, list(part)].sum(axis=1).tobytes()
                for size in range(1, rows)
                for part in combinations(table, size)
            }
            whole = matrix[:, list(table)].sum(axis=1).tobytes()
            groups.setdefault(whole, []).append(frozenset(parts))
        if rows == 1:
            found = any(len(group) > 1 for group in groups.values())
        else:
            found = any(
                one.isdisjoint(other)
                for group in groups.values()
                for one, other in combinations(group, 2)
            )
        if found:
            longest = 2 * rows
    return longest


def edges(nodes: int) -> list[tuple[int, int]]:
    """Every pair of nodes."""
    return list(combinations(range(nodes), 2))


def degree_constraints(nodes: int, known: int, *, edge_count: bool) -> NDArray[np.int64]:
    """The degrees of the first ``known`` nodes, and perhaps the number of edges."""
    rows = [[node in edge for edge in edges(nodes)] for node in range(known)]
    rows += [[True] * len(edges(nodes))] if edge_count else []
    return np.array(rows, dtype=np.int64).reshape(-1, len(edges(nodes)))
