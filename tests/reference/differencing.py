"""Which sets are combinations of others, by elimination with fractions; and what an attacker finds
who tries every number of persons of each kind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product

Person = tuple[str, ...]
Cell = Callable[[Person], bool]
"""Whether a person counts in a cell."""


def is_combination(wanted: Sequence[int], known: Sequence[Sequence[int]]) -> bool:
    """Whether a row is a linear combination of the known rows."""
    rest = [Fraction(value) for value in wanted]
    for row in _echelon(known):
        lead = next(place for place, value in enumerate(row) if value)
        factor = rest[lead] / row[lead]
        rest = [a - factor * b for a, b in zip(rest, row, strict=True)]
    return not any(rest)


def _echelon(rows: Sequence[Sequence[int]]) -> list[list[Fraction]]:
    left = [[Fraction(value) for value in row] for row in rows]
    found: list[list[Fraction]] = []
    width = len(rows[0]) if rows else 0
    for place in range(width):
        pivot = next((row for row in left if row[place]), None)
        if pivot is None:
            continue
        left.remove(pivot)
        left = [
            [a - row[place] / pivot[place] * b for a, b in zip(row, pivot, strict=True)]
            for row in left
        ]
        found.append(pivot)
    return found


def told(wanted: Cell, published: Sequence[Cell], kinds: Sequence[Person], most: int) -> bool:
    """Whether published counts leave one value for a wanted one, whatever the others are.

    The attacker knows which kinds of persons there are. He tries all numbers of each up to ``most``
    away from the true ones, and keeps those that give the published counts.
    """
    for change in product(range(-most, most + 1), repeat=len(kinds)):

        def moved(cell: Cell, change: tuple[int, ...] = change) -> int:
            return sum(n for n, kind in zip(change, kinds, strict=True) if cell(kind))

        if all(moved(cell) == 0 for cell in published) and moved(wanted):
            return False
    return any(map(wanted, kinds))
