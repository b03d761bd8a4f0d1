"""Mondrian by its definition, over rows as lists of places: slow and obvious."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

Row = tuple[int, ...]


def strict_parts(
    rows: Sequence[Row], trees: Sequence[Sequence[Sequence[int]]], k: int, *, along: bool
) -> list[list[Row]]:
    """The parts of a strict partition.

    ``trees[j][level][place]`` is the node of a place of attribute j at a level. The attribute of
    the largest share of its scale that has a cut is cut, the first one of several.
    """
    if len(rows) < 2 * k:
        return [list(rows)]
    spreads = []
    for j, tree in enumerate(trees):
        values = [row[j] for row in rows]
        spreads.append(((max(values) - min(values)) / max(len(tree[0]) - 1, 1), -j))
    for spread, place in sorted(spreads, reverse=True):
        if not spread:
            break
        cut = _best_cut([row[-place] for row in rows], trees[-place], k, along=along)
        if cut is not None:
            left = [row for row in rows if row[-place] <= cut]
            right = [row for row in rows if row[-place] > cut]
            return strict_parts(left, trees, k, along=along) + strict_parts(
                right, trees, k, along=along
            )
    return [list(rows)]


def _best_cut(
    values: Sequence[int], tree: Sequence[Sequence[int]], k: int, *, along: bool
) -> int | None:
    """The last value on the left: of the highest join, then the most even, then the first."""
    found = []
    held = sorted(set(values))
    for low, high in pairwise(held):
        left = sum(value <= low for value in values)
        even = min(left, len(values) - left)
        if even < k:
            continue
        join = next(level for level, nodes in enumerate(tree) if nodes[low] == nodes[high])
        found.append((join if along and len(tree) > 2 else 0, even, -low))
    return -max(found)[2] if found else None
