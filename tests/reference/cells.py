"""Cell-wise k-anonymity by its definitions, for a handful of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, permutations

Paths = Sequence[Mapping[str, Sequence[str]]]


def partitions(rows: Sequence[int], k: int) -> Iterator[list[tuple[int, ...]]]:
    """All ways to divide rows into groups of at least ``k``."""
    if not rows:
        yield []
        return
    first, others = rows[0], rows[1:]
    for size in range(k - 1, len(others) + 1):
        for chosen in combinations(others, size):
            rest = [row for row in others if row not in chosen]
            for found in partitions(rest, k):
                yield [(first, *chosen), *found]


def least_loss(
    rows: Sequence[Sequence[str]],
    paths: Paths,
    k: int,
    meets: Callable[[Sequence[int]], bool] = lambda group: True,
) -> Fraction | None:
    """The least mean loss of a cell of any division, each group showing its lowest nodes.

    Every group meets what else is asked, by the numbers of its rows.
    """
    losses = [
        sum(
            (_loss([rows[row] for row in group], paths) * len(group) for group in found), Fraction()
        )
        for found in partitions(range(len(rows)), k)
        if all(map(meets, found))
    ]
    return min(losses) / len(rows) / len(paths) if losses else None


def _loss(group: Sequence[Sequence[str]], paths: Paths) -> Fraction:
    total = Fraction()
    for j, path in enumerate(paths):
        level = next(
            level
            for level in range(len(next(iter(path.values()))))
            if len({path[row[j]][level] for row in group}) == 1
        )
        label = path[group[0][j]][level]
        covered = sum(each[level] == label for each in path.values())
        total += Fraction(covered - 1, len(path) - 1) if len(path) > 1 else 0
    return total


def largest_share(fits: Sequence[Sequence[bool]]) -> Fraction:
    """The largest share of perfect matchings in which one original meets one released row."""
    size = len(fits)
    ways = [
        way for way in permutations(range(size)) if all(fits[row][to] for row, to in enumerate(way))
    ]
    times = [sum(way[row] == to for way in ways) for row in range(size) for to in range(size)]
    return Fraction(max(times), len(ways))


def covers(fits: Sequence[Sequence[bool]]) -> tuple[int, int, int]:
    """Fewest of the other kind per original, per released row, and in some perfect matching."""
    size = len(fits)
    used = [[False] * size for _ in range(size)]
    for way in permutations(range(size)):
        if all(fits[row][to] for row, to in enumerate(way)):
            for row, to in enumerate(way):
                used[row][to] = True
    return (
        min(sum(row) for row in fits),
        min(sum(fits[row][to] for row in range(size)) for to in range(size)),
        min(sum(row) for row in used),
    )


@dataclass(frozen=True)
class Wishes:
    """What is preferred, by column: weights, least and greatest levels, and limits of ``*``.

    ``whole`` are shares of the cells of a column, ``each`` of those with each of its values.
    """

    weights: Sequence[int]
    least: Sequence[int]
    most: Sequence[int]
    whole: Mapping[int, Fraction]
    each: Mapping[int, Fraction]


def least_wished_loss(
    rows: Sequence[Sequence[str]], paths: Paths, k: int, wishes: Wishes
) -> Fraction | None:
    """The least weighted mean loss of a cell of any division that keeps what is wished."""
    found = []
    for groups in partitions(range(len(rows)), k):
        shown = [_shown([rows[row] for row in group], paths, wishes) for group in groups]
        labels = {row: own for group, own in zip(groups, shown, strict=True) for row in group}
        if all(own is not None for own in shown) and _in_limits(rows, labels, wishes):
            found.append(sum((_weighed(own or (), paths, wishes) for own in labels.values()), 0))
    return Fraction(min(found)) / len(rows) if found else None


def _shown(
    group: Sequence[Sequence[str]], paths: Paths, wishes: Wishes
) -> tuple[tuple[int, str], ...] | None:
    found = []
    for j, path in enumerate(paths):
        for level in range(wishes.least[j], wishes.most[j] + 1):
            if len({path[row[j]][level] for row in group}) == 1:
                found.append((level, path[group[0][j]][level]))
                break
        else:
            return None
    return tuple(found)


def _in_limits(
    rows: Sequence[Sequence[str]],
    labels: Mapping[int, tuple[tuple[int, str], ...] | None],
    wishes: Wishes,
) -> bool:
    for j in {*wishes.whole, *wishes.each}:
        gone = [rows[row][j] for row, own in labels.items() if own and own[j][1] == "*"]
        if j in wishes.whole and len(gone) > wishes.whole[j] * len(rows):
            return False
        column = [row[j] for row in rows]
        if j in wishes.each and any(
            gone.count(value) > wishes.each[j] * column.count(value) for value in gone
        ):
            return False
    return True


def _weighed(own: Sequence[tuple[int, str]], paths: Paths, wishes: Wishes) -> Fraction:
    total = Fraction()
    for (level, label), path, weight in zip(own, paths, wishes.weights, strict=True):
        covered = sum(each[level] == label for each in path.values())
        total += weight * Fraction(covered - 1, len(path) - 1) if len(path) > 1 else 0
    return total / sum(wishes.weights)
