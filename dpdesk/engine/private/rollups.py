"""What the categories of a declared dimension can be rolled up to: the levels above, as labels.

They come from the declared hierarchy alone, so they may be published; a level that joins nothing,
or everything, is left out.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from fractions import Fraction

from dpdesk.core.hierarchy import Hierarchy

Levels = tuple[tuple[str, ...], ...]


def levels_above(hierarchy: Hierarchy, level: int) -> Levels:
    """Labels of the values of ``level`` at each level above it."""
    codes = list(range(len(hierarchy.labels[level])))
    found: list[tuple[str, ...]] = []
    for step in range(level, len(hierarchy.labels) - 1):
        codes = [int(hierarchy.parents[step][code]) for code in codes]
        found.append(tuple(hierarchy.labels[step + 1][code] for code in codes))
    return _joining(hierarchy.labels[level], found)


def intervals_above(
    levels: Sequence[tuple[tuple[Fraction, ...], tuple[str, ...]]], level: int
) -> Levels:
    """The same for intervals by cut points; ``level`` counts from 1."""
    cuts, labels = levels[level - 1]
    found = [
        tuple(wide[0 if place == 0 else bisect_right(ends, cuts[place - 1])] for place in range(n))
        for ends, wide in levels[level:]
        for n in (len(labels),)
    ]
    return _joining(labels, found)


def restricted(levels: Levels, categories: Sequence[str], listed: Sequence[str]) -> Levels:
    """The levels of some categories in another order; a category of its own stays itself."""
    found = [
        tuple(level[categories.index(text)] if text in categories else text for text in listed)
        for level in levels
    ]
    return _joining(listed, found)


def nested_fault(stated: object, domains: Mapping[str, tuple[str, ...]]) -> str:
    """Why what a result lists as levels cannot be levels of these domains; empty when it can."""
    if not isinstance(stated, Mapping):
        return "is no table"
    for name, levels in stated.items():
        if name not in domains or not isinstance(levels, list) or not levels:
            return f"gives no levels of a dimension at `{str(name)[:60]}`"
        below: Sequence[str] = domains[name]
        for level in levels:
            if not isinstance(level, list) or len(level) != len(below):
                return f"gives `{name}` a level that has not one label for each category"
            if not all(isinstance(label, str) for label in level):
                return f"gives `{name}` a label that is no text"
            if not 1 < len(set(level)) < len(set(below)):
                return f"gives `{name}` a level that joins nothing, or everything"
            if len(set(zip(below, level, strict=True))) != len(set(below)):
                return f"gives `{name}` a level that tears what the one below joins"
            below = level
    return ""


def _joining(base: Sequence[str], levels: Sequence[tuple[str, ...]]) -> Levels:
    found: list[tuple[str, ...]] = []
    for level in levels:
        below = found[-1] if found else base
        if 1 < len(set(level)) < len(set(below)) and len(
            set(zip(below, level, strict=True))
        ) == len(set(below)):
            found.append(level)
    return tuple(found)
