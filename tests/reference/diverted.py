"""Diverted privacy the slow, obvious way, with lists and fractions.

Shares no line with the program. Random numbers are given as a list of words; a number below n is
the word modulo n, in the order in which the mechanism says that it draws: the shuffle of the values
from the last place down, then the place on the line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import permutations, product

Groups = list[list[int]]


def shuffled(length: int, draws: Iterator[int]) -> list[int]:
    """Fisher and Yates: place i from the last down gets a value of the places up to i."""
    order = list(range(length))
    for place in range(length - 1, 0, -1):
        other = next(draws) % (place + 1)
        order[place], order[other] = order[other], order[place]
    return order


def mixed(counts: Sequence[int], size: int, draws: Iterator[int]) -> Groups:
    """The values of each group by systematic sampling; the values lie row by row on a line."""
    present = [v for v, count in enumerate(counts) if count]
    left = {v: counts[v] for v in present}
    groups: Groups = []
    for remaining in range(sum(counts) // size, 0, -1):
        order = [present[place] for place in shuffled(len(present), draws)]
        line = [v for v in order for _ in range(left[v])]
        start = next(draws) % remaining
        groups.append([line[start + step * remaining] for step in range(size)])
        for v in groups[-1]:
            left[v] -= 1
    return groups


def largest_first(counts: Sequence[int], size: int) -> Groups:
    """One row of each of the values with the most rows left, ties by order of the values."""
    left, groups = list(counts), []
    for _ in range(sum(counts) // size):
        ranked = sorted(range(len(left)), key=lambda v: (-left[v], v))
        groups.append(ranked[:size])
        for v in ranked[:size]:
            left[v] -= 1
    return groups


def members(values: Sequence[int], ids: Sequence[int], groups: Groups) -> Groups:
    """The rows of each group: of each value the row with the smallest id that is left.

    ``ids[row]`` is the id of a row.
    """
    waiting = {
        v: sorted((row for row in range(len(values)) if values[row] == v), key=lambda row: ids[row])
        for v in set(values)
    }
    return [[waiting[v].pop(0) for v in group] for group in groups]


def coins(counts: Sequence[int], size: int) -> Iterator[tuple[int, ...]]:
    """Every list of draws that the mixed rule can make, all equally likely."""
    values = sum(1 for count in counts if count)
    bounds: list[int] = []
    for remaining in range(sum(counts) // size, 0, -1):
        bounds += [*range(values, 1, -1), remaining]
    return product(*(range(bound) for bound in bounds))


Law = dict[tuple[int, ...], Fraction]
"""The chance of each list of published values, row by row; the shuffle hides no more than that."""


def law_given(
    values: Sequence[int], groups: Groups, rows: Groups, keep: Fraction | None = None
) -> Law:
    """What is published with which chance when the partition is known.

    ``keep`` is the chance of the row's own value (the paper's p); None: the same for all.
    """
    size = len(groups[0])
    p = Fraction(1, size) if keep is None else keep
    other = (1 - p) / (size - 1)
    choices: dict[int, dict[int, Fraction]] = {}
    for group, held in zip(groups, rows, strict=True):
        for row in held:
            choices[row] = {v: p if v == values[row] else other for v in group}
    law: Law = {}
    for published in product(*(choices[row] for row in range(len(values)))):
        chance = Fraction(1)
        for row, v in enumerate(published):
            chance *= choices[row][v]
        law[published] = chance
    return law


def law_over_ids(
    values: Sequence[int], size: int, partition: Callable[[Sequence[int]], list[Groups]]
) -> Law:
    """What is published with which chance, over all ids and all of the partitions' coins.

    ``partition`` lists the outcomes of the rule for counts, all equally likely.
    """
    counts = [list(values).count(v) for v in range(max(values) + 1)]
    outcomes, orders = partition(counts), list(permutations(range(len(values))))
    share = Fraction(1, len(outcomes) * len(orders))
    law: Law = {}
    for ids in orders:
        for groups in outcomes:
            for published, chance in law_given(
                values, groups, members(values, ids, groups)
            ).items():
                law[published] = law.get(published, Fraction(0)) + share * chance
    return law
