"""Mondrian by its definition, over rows as lists of places: slow and obvious."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

Row = tuple[int, ...]


def strict_parts(
    rows: Sequence[Row],
    trees: Sequence[Sequence[Sequence[int]]],
    k: int,
    *,
    along: bool,
    meets: Callable[[Sequence[Row]], bool] = lambda _: True,
) -> list[list[Row]]:
    """The parts of a strict partition; both sides of every cut must have k rows and meet ``meets``.

    ``trees[j][level][place]`` is the node of a place of attribute j at a level; what rows have
    beyond these is not cut. The attribute of the largest share of its scale that has a cut is cut,
    the first one of several.
    """
    spreads = []
    for j, tree in enumerate(trees):
        values = [row[j] for row in rows]
        spreads.append(((max(values) - min(values)) / max(len(tree[0]) - 1, 1), -j))
    for spread, place in sorted(spreads, reverse=True):
        if not spread:
            break
        tree = trees[-place]
        found = []
        for low, high in pairwise(sorted({row[-place] for row in rows})):
            left = [row for row in rows if row[-place] <= low]
            right = [row for row in rows if row[-place] > low]
            even = min(len(left), len(right))
            if even >= k and meets(left) and meets(right):
                join = next(level for level, nodes in enumerate(tree) if nodes[low] == nodes[high])
                found.append((join if along and len(tree) > 2 else 0, even, -low, left, right))
        if found:
            *_, left, right = max(found, key=lambda cut: cut[:3])
            return [
                part
                for side in (left, right)
                for part in strict_parts(side, trees, k, along=along, meets=meets)
            ]
    return [list(rows)]
