"""Which cells of two tables hold the same contributors together, so that their sums are equal.

The innermost cells of a table divide the rows; those of two tables are joined where a row is in
both. Each connected part is one equation, and there is no other one between two tables: an equation
of the innermost cells has one factor throughout a part. Towns and the districts in which they lie
are such parts, whatever columns say it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.tables.model import CommonSum, Exact, Ints, Table


def common_sums(
    tables: Sequence[Table], places: Sequence[Ints], prints: Sequence[Exact], token: CancelToken
) -> list[CommonSum]:
    """The sums that each two tables of one measure have in common.

    ``places[t]`` is the innermost cell of table ``t`` in which each group of like rows is (-1:
    none); ``prints[t]`` are whole numbers that add up, equal where cells hold the same rows, by
    which a group of cells is known to be one further up.

    Raises Cancelled.
    """
    found: list[CommonSum] = []
    for one, other in combinations(range(len(tables)), 2):
        token.check()
        if tables[one].measure != tables[other].measure:
            continue
        ends = [
            _upwards(groups, tables[t], prints[t])
            for t, groups in zip((one, other), _joined(tables, (one, other), places), strict=True)
        ]
        found += [
            CommonSum(one, cells, other, others)
            for cells, others in zip(*ends, strict=True)
            if len(cells) > 1 or len(others) > 1  # two single ones are one cell
        ]
    return found


def _joined(
    tables: Sequence[Table], pair: tuple[int, int], places: Sequence[Ints]
) -> tuple[list[Ints], list[Ints]]:
    """The innermost cells of both tables in each connected part."""
    both = np.stack([places[t] for t in pair], axis=1)
    held = (both >= 0).all(axis=1)
    for column, t in enumerate(pair):
        held &= tables[t].cells.frequency[both[:, column]] > 0
    both = np.unique(both[held], axis=0)
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


def _upwards(groups: Sequence[Ints], table: Table, prints: Exact) -> list[Ints]:
    """Each group of innermost cells, or the one cell that holds the same rows."""
    held = np.flatnonzero(table.cells.frequency > 0)
    whole = dict(zip(prints[held].tolist(), held.tolist(), strict=True))
    sums = [whole.get(sum(prints[group].tolist())) for group in groups]
    return [
        group if cell is None else np.array([cell], np.int64)
        for group, cell in zip(groups, sums, strict=True)
    ]
