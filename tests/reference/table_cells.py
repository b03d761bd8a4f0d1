"""Cells of tables counted the slow and obvious way, row by row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product

Row = Mapping[str, str]


def nodes_of(value: str, paths: Mapping[str, Sequence[str]], total: str) -> list[str]:
    """The labels of all nodes that a value counts in."""
    return list(dict.fromkeys([value, *paths.get(value, ()), total]))


def cells(
    rows: Sequence[Row],
    dimensions: Sequence[str],
    paths: Mapping[str, Mapping[str, Sequence[str]]],
    value: str = "",
    weight: str = "",
    contributor: str = "",
    total: str = "Total",
) -> dict[tuple[str, ...], dict[str, Fraction]]:
    """What each contributor gives to each cell, by the labels of the cell."""
    found: dict[tuple[str, ...], dict[str, Fraction]] = {}
    for number, row in enumerate(rows):
        if (value and not row[value]) or (weight and not row[weight]):
            continue
        amount = Fraction(row[value]) if value else Fraction(1)
        amount *= Fraction(row[weight]) if weight else 1
        who = row[contributor] if contributor else str(number)
        sides = [nodes_of(row[name], paths.get(name, {}), total) for name in dimensions]
        for place in product(*sides):
            cell = found.setdefault(place, {})
            cell[who] = cell.get(who, Fraction(0)) + amount
    return found


def unsafe(
    cell: Mapping[str, Fraction], rule: Mapping[str, object], wide: Fraction, unit: Fraction
) -> Fraction | None:
    """The protection that a rule asks for on either side; None where the cell is safe."""
    given = sorted((abs(one) for one in cell.values()), reverse=True)
    size, amount = sum(given, Fraction(0)), sum(cell.values(), Fraction(0))
    if rule["rule"] == "threshold":
        return max(abs(amount) * wide, unit) if 0 < len(given) < int(str(rule["n"])) else None
    if rule["rule"] == "dominance":
        k, largest = Fraction(str(rule["k"])), sum(given[: int(str(rule["n"]))], Fraction(0))
        return 100 / k * largest - size if largest > k / 100 * size else None
    share = Fraction(str(rule["p"])) / Fraction(str(rule.get("q", 100)))
    first, second = [*given, Fraction(0), Fraction(0)][:2]
    rest = size - first - second
    return share * first - rest if rest < share * first else None
