"""Which sets are combinations of others, by elimination with fractions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


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
