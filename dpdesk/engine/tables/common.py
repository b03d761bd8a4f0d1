"""What cells of several tables have to do with each other, because of the rows that are in them.

The innermost cells of a table divide the rows; those of two tables are joined where a row is in
both. Each connected part gives one equation, and two tables have no others: in any equation, all
innermost cells of a part have the same factor. Towns and the districts in which they lie
are such parts, whatever columns say it.

Three and more tables can have equations that no two of them have, where some combinations of their
columns do not occur: factors of their innermost cells that sum to 0 for every group of like rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from math import lcm

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.tables.model import CommonSum, Exact, Floats, Ints, Table

MOST_ENTRIES = 1_000_000
"""Innermost cells times groups of rows up to which equations of three tables are looked for."""
_NEAR = 1e-9
_FINEST = 1000


def common_sums(
    tables: Sequence[Table], places: Sequence[Ints], prints: Sequence[Exact], token: CancelToken
) -> list[CommonSum]:
    """The equations that tables of one measure have in common.

    ``places[t]`` is the innermost cell of table ``t`` in which each group of like rows is (-1:
    none); ``prints[t]`` are whole numbers that add up, equal where cells hold the same rows, by
    which a group of cells is known to be one further up.

    Raises Cancelled.
    """
    found: list[CommonSum] = []
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
            found += _further(tables, own, places, innermost, token)
    return found


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
) -> Iterator[CommonSum]:
    """The equations of all these tables that those of two do not give."""
    groups = _held(tables, own, places)
    leaves = [np.unique(column) for column in groups.T]
    starts = np.cumsum([0, *(len(each) for each in leaves)])
    if (len(groups) + len(known)) * starts[-1] > MOST_ENTRIES:
        return
    within = np.zeros((len(groups), int(starts[-1])))
    for number, column in enumerate(groups.T):
        at = starts[number] + np.searchsorted(leaves[number], column)
        within[np.arange(len(groups)), at] = 1
    other = np.zeros((len(known), within.shape[1]))
    for row, each in zip(other, known, strict=True):
        for t, cell, factor in zip(each.tables, each.cells, each.factors, strict=True):
            number = own.index(int(t))
            row[starts[number] + np.searchsorted(leaves[number], cell)] = factor
    table = np.repeat(own, np.diff(starts))
    cells = np.concatenate(leaves)
    # Those of two tables first, so that of the others only what they do not give is taken.
    every = np.concatenate([other, _vanishing(within, token)])
    for row in every[[x for x in _reduced(every.T, token)[1] if x >= len(known)]]:
        whole = [Fraction(factor).limit_denominator(_FINEST) for factor in row.tolist()]
        unit = lcm(*(factor.denominator for factor in whole))
        exact = np.array([int(factor * unit) for factor in whole], dtype=object)
        if not (within.astype(np.int64).astype(object) @ exact).any():
            used = np.flatnonzero(exact)
            yield CommonSum(table[used], cells[used], exact[used].astype(np.int64))


def _vanishing(matrix: Floats, token: CancelToken) -> Floats:
    """Vectors that span all that the rows map to 0; each has an entry 1 alone."""
    reduced, pivots = _reduced(matrix, token)
    free = np.setdiff1d(np.arange(matrix.shape[1]), pivots)
    found = np.zeros((len(free), matrix.shape[1]))
    found[np.arange(len(free)), free] = 1
    found[:, pivots] = -reduced[: len(pivots)][:, free].T
    return found


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
