"""What cells of several tables have to do with each other, because of the rows that are in them.

The innermost cells of a table divide the rows; those of two tables are joined where a row is in
both. Each connected part gives one equation, and two tables have no others: in any equation, all
innermost cells of a part have the same factor. Towns and the districts in which they lie
are such parts, whatever columns say it.

Three and more tables can have equations that no two of them have, where some combinations of their
columns do not occur: factors of their innermost cells that sum to 0 for every group of like rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import lcm

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.tables.model import CommonSum, Exact, Floats, Ints, Table

MOST_LEAVES = 3_000
"""Innermost cells of all tables up to which equations of three and more of them are looked for."""
_NEAR = 1e-9
_STILL = 1e-10
_FINEST = 1000
_LARGEST = 2**31


def common_sums(
    tables: Sequence[Table], places: Sequence[Ints], prints: Sequence[Exact], token: CancelToken
) -> tuple[list[CommonSum], bool]:
    """The equations that tables of one measure have in common, and whether these are all.

    Those of three and more tables are not looked for beyond :data:`MOST_LEAVES`.

    ``places[t]`` is the innermost cell of table ``t`` in which each group of like rows is (-1:
    none); ``prints[t]`` are whole numbers that add up, equal where cells hold the same rows, by
    which a group of cells is known to be one further up.

    Raises Cancelled.
    """
    found: list[CommonSum] = []
    complete = True
    for measure in dict.fromkeys(table.measure for table in tables):
        own = [t for t, table in enumerate(tables) if table.measure == measure]
        innermost: list[CommonSum] = []
        for pair in combinations(own, 2):
            token.check()
            first, second = _joined(tables, pair, places)
            for here, there in zip(first, second, strict=True):
                innermost.append(_between(pair, here, there))
                one, other = (
                    _upwards(cells, tables[t], prints[t])
                    for t, cells in zip(pair, (here, there), strict=True)
                )
                if len(one) > 1 or len(other) > 1:  # two single ones are one cell
                    found.append(_between(pair, one, other))
        if len(own) > 2:
            further = _further(tables, own, places, innermost, token)
            found += further or []
            complete &= further is not None
    return found, complete


def _between(pair: tuple[int, int], cells: Ints, others: Ints) -> CommonSum:
    sizes = len(cells), len(others)
    return CommonSum(
        np.repeat(pair, sizes), np.concatenate([cells, others]), np.repeat([1, -1], sizes)
    )


def _held(tables: Sequence[Table], own: Sequence[int], places: Sequence[Ints]) -> Ints:
    """The innermost cells of groups of rows that count in all of these tables, each once."""
    cells = np.stack([places[t] for t in own], axis=1)
    held = (cells >= 0).all(axis=1)
    for column, t in enumerate(own):
        held &= tables[t].cells.frequency[cells[:, column]] > 0
    return np.unique(cells[held], axis=0)


def _joined(
    tables: Sequence[Table], pair: tuple[int, int], places: Sequence[Ints]
) -> tuple[list[Ints], list[Ints]]:
    """The innermost cells of both tables in each connected part."""
    both = _held(tables, pair, places)
    size = len(tables[pair[0]].cells), len(tables[pair[1]].cells)
    joints = (np.ones(len(both), np.int8), (both[:, 0], size[0] + both[:, 1]))
    part = connected_components(coo_array(joints, shape=(sum(size),) * 2), directed=False)[1]
    label = part[both[:, 0]]
    first, second = (_grouped(np.unique(np.stack([label, c], axis=1), axis=0)) for c in both.T)
    return first, second


def _grouped(pairs: Ints) -> list[Ints]:
    """The second entries of rows with the same first one, which are next to each other."""
    cuts = np.flatnonzero(np.diff(pairs[:, 0])) + 1
    return list(np.split(pairs[:, 1], cuts)) if len(pairs) else []


def _upwards(group: Ints, table: Table, prints: Exact) -> Ints:
    """A group of innermost cells, or the one cell that holds the same rows."""
    same = prints == sum(prints[group].tolist())
    whole = np.flatnonzero(same & (table.cells.frequency > 0))
    return whole[:1] if len(whole) else group


def _further(
    tables: Sequence[Table],
    own: Sequence[int],
    places: Sequence[Ints],
    known: Sequence[CommonSum],
    token: CancelToken,
) -> list[CommonSum] | None:
    """The equations of all these tables that those of two do not give; None: not all were found."""
    groups = _held(tables, own, places)
    leaves = [np.unique(column) for column in groups.T]
    starts = np.cumsum([0, *(len(each) for each in leaves)])
    size = int(starts[-1])
    if size > MOST_LEAVES:
        return None

    def place(t: int, cells: Ints) -> Ints:
        number = own.index(t)
        found: Ints = starts[number] + np.searchsorted(leaves[number], cells)
        return found

    columns = np.stack([place(t, column) for t, column in zip(own, groups.T, strict=True)], axis=1)
    rows = np.repeat(np.arange(len(groups)), len(own))
    held = (np.ones(columns.size, np.int64), (rows, columns.ravel()))
    within = csr_array(coo_array(held, shape=(len(groups), size)))
    other = np.zeros((len(known), size))
    for row, each in zip(other, known, strict=True):
        for t, cell, factor in zip(each.tables, each.cells, each.factors, strict=True):
            row[place(int(t), cell)] = factor
    table, cells, found = np.repeat(own, np.diff(starts)), np.concatenate(leaves), []
    further = _vanishing(within, other, token)
    for row in further:
        shares = [Fraction(factor).limit_denominator(_FINEST) for factor in row.tolist()]
        unit = lcm(*(factor.denominator for factor in shares))
        exact = [int(factor * unit) for factor in shares]
        if max(map(abs, exact)) < _LARGEST and not (within @ np.array(exact, np.int64)).any():
            factors = np.array(exact, np.int64)
            used = np.flatnonzero(factors)
            found.append(CommonSum(table[used], cells[used], factors[used]))
    return found if len(found) == len(further) else None


def _vanishing(within: csr_array, known: Floats, token: CancelToken) -> Floats:
    """Vectors that the rows of ``within`` map to 0, and that with the known ones span all such."""
    squares = (within.T @ within).toarray().astype(np.float64)
    width = np.sqrt(np.diagonal(squares))
    squares /= np.outer(width, width)
    alike = known * width
    alike /= np.linalg.norm(alike, axis=1, keepdims=True)
    token.check()
    try:
        # Nothing but the known ones, as mostly: that takes a small part of the time.
        np.linalg.cholesky(squares + alike.T @ alike - _STILL * np.eye(len(squares)))
    except np.linalg.LinAlgError:
        sizes, vectors = np.linalg.eigh(squares)
        token.check()
        still = vectors[:, sizes < _STILL].T / width
        # The known ones first, so that of the others only what they do not give is taken.
        every = np.concatenate([known, _reduced(still, token)[0]])
        chosen = _reduced(every.T, token)[1]
        return every[[row for row in chosen if row >= len(known)]]
    return np.zeros((0, len(squares)))


def _reduced(matrix: Floats, token: CancelToken) -> tuple[Floats, list[int]]:
    """The reduced row echelon form, and the columns that those before them do not give."""
    matrix = matrix.copy()
    pivots: list[int] = []
    for column in range(matrix.shape[1]):
        token.check()
        top = len(pivots)
        if top == len(matrix):
            break
        row = top + int(np.argmax(np.abs(matrix[top:, column])))
        if abs(matrix[row, column]) < _NEAR:
            continue
        matrix[[top, row]] = matrix[[row, top]]
        matrix[top] /= matrix[top, column]
        others = np.flatnonzero(matrix[:, column])
        others = others[others != top]
        matrix[others] -= np.outer(matrix[others, column], matrix[top])
        matrix[np.abs(matrix) < _NEAR] = 0.0
        pivots.append(column)
    return matrix, pivots
