"""Risk and loss from their definitions, row by row: slow, and obvious."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import log2

Rows = Sequence[tuple[str, ...]]
Paths = Sequence[dict[str, list[str]]]
"""Per attribute: the path of each leaf from itself to the root."""


def classes(rows: Rows) -> Counter[tuple[str, ...]]:
    """Rows per combination."""
    return Counter(rows)


def generalised(rows: Rows, paths: Paths, levels: Sequence[int]) -> list[tuple[str, ...]]:
    """Every value replaced by its ancestor."""
    return [
        tuple(path[value][level] for value, path, level in zip(row, paths, levels, strict=True))
        for row in rows
    ]


def kept(rows: Rows, k: int) -> list[tuple[str, ...]]:
    """Rows whose combination k rows or more share."""
    sizes = classes(rows)
    return [row for row in rows if sizes[row] >= k]


def violations(rows: Rows, k: int) -> int:
    """Rows that fewer than k rows share their combination with, themselves included."""
    sizes = classes(rows)
    return sum(1 for row in rows if sizes[row] < k)


def risks(rows: Rows) -> list[float]:
    """Prosecutor risk of every row."""
    sizes = classes(rows)
    return [1 / sizes[row] for row in rows]


def rows_with_size(rows: Rows, lowest: int, highest: float) -> int:
    """Rows whose class size is from lowest to highest."""
    sizes = classes(rows)
    return sum(1 for row in rows if lowest <= sizes[row] <= highest)


def covered(path: dict[str, list[str]], value: str, level: int) -> int:
    """Leaves below the ancestor of value at level."""
    return sum(1 for leaf in path.values() if leaf[level] == path[value][level])


def attribute_loss(rows: Rows, paths: Paths, levels: Sequence[int], k: int, column: int) -> float:
    """Mean over the cells of one column of (covered-1)/(leaves-1); suppressed cells 1."""
    recoded = generalised(rows, paths, levels)
    sizes = classes(recoded)
    leaves = len(paths[column])
    total = 0.0
    for row, new in zip(rows, recoded, strict=True):
        if sizes[new] < k:
            total += 1
        elif leaves > 1:
            total += (covered(paths[column], row[column], levels[column]) - 1) / (leaves - 1)
    return total / len(rows)


def attribute_distance(
    rows: Rows, paths: Paths, levels: Sequence[int], k: int, column: int
) -> float:
    """Total variation distance between the column and its release, spread evenly over leaves."""
    recoded = generalised(rows, paths, levels)
    sizes = classes(recoded)
    before = Counter(row[column] for row in rows)
    released = Counter(new[column] for new in recoded if sizes[new] >= k)
    left = sum(released.values())
    if not left:
        return 1.0
    path, level = paths[column], levels[column]
    distance = 0.0
    for leaf in path:
        spread = released[path[leaf][level]] / covered(path, leaf, level)
        distance += abs(before[leaf] / len(rows) - spread / left)
    return distance / 2


def entropy(rows: Rows, paths: Paths, levels: Sequence[int], k: int) -> float:
    """-sum over the cells of log2(n_raw/n_generalised), suppressed cells at the top."""
    recoded = generalised(rows, paths, levels)
    sizes = classes(recoded)
    total = 0.0
    for column in range(len(paths)):
        raw = Counter(row[column] for row in rows)
        general = Counter(new[column] for new in recoded)
        for row, new in zip(rows, recoded, strict=True):
            below = general[new[column]] if sizes[new] >= k else len(rows)
            total -= log2(raw[row[column]] / below)
    return total
