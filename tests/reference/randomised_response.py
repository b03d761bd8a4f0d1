"""Randomised response, slow and obvious: chances as fractions, every outcome written down."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product

Chances = Sequence[Sequence[Fraction]]
Row = tuple[int, ...]


def releases(
    table: Sequence[Row], chances: Sequence[Chances]
) -> Iterator[tuple[tuple[Row, ...], Fraction]]:
    """Every table that can be drawn, with its chance; ``chances`` are those of each column."""
    cells = [(column, value) for row in table for column, value in enumerate(row)]
    width = len(chances)
    for drawn in product(*(range(len(chances[column])) for column, _ in cells)):
        chance = Fraction(1)
        for (column, value), seen in zip(cells, drawn, strict=True):
            chance *= chances[column][value][seen]
        rows = [tuple(drawn[place : place + width]) for place in range(0, len(drawn), width)]
        yield tuple(rows), chance


def published(
    table: Sequence[Row], chances: Sequence[Chances]
) -> Mapping[tuple[Row, ...], Fraction]:
    """The chance of every sorted table: the order of rows is not released."""
    found: dict[tuple[Row, ...], Fraction] = {}
    for rows, chance in releases(table, chances):
        key = tuple(sorted(rows))
        found[key] = found.get(key, Fraction(0)) + chance
    return found


def solved(chances: Chances, seen: Sequence[Fraction]) -> list[Fraction]:
    """The true counts whose expected released ones are those seen: Cramer's rule."""
    size = len(chances)
    columns = [[chances[value][place] for value in range(size)] for place in range(size)]
    whole = determinant(columns)
    found = []
    for value in range(size):
        changed = [
            [seen[place] if other == value else columns[place][other] for other in range(size)]
            for place in range(size)
        ]
        found.append(determinant(changed) / whole)
    return found


def determinant(rows: Sequence[Sequence[Fraction]]) -> Fraction:
    """By the first row."""
    if not rows:
        return Fraction(1)
    total = Fraction(0)
    for place, first in enumerate(rows[0]):
        rest = [[*row[:place], *row[place + 1 :]] for row in rows[1:]]
        total += (-1) ** place * first * determinant(rest)
    return total
