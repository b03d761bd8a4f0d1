"""Models of classes from their definitions: slow, obvious, and exact but for transported earth.

A class is the list of its rows' values, ``everything`` that of all rows that count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import log, prod

from scipy.optimize import linprog

from tests.reference.k_anonymity import generalise

Require = Mapping[str, object]
Paths = Mapping[str, Sequence[str]]
TIE = 1e-7


def diverse(rows: Sequence[str], variant: str, least: Fraction, c: Fraction = Fraction(1)) -> bool:
    sizes = sorted(Counter(rows).values(), reverse=True)
    if variant == "distinct":
        return len(sizes) >= least
    if variant == "recursive":
        return sizes[0] < c * sum(sizes[i] for i in range(int(least) - 1, len(sizes)))
    # The geometric mean of 1/share is at least l.
    return prod(Fraction(len(rows), n) ** n for n in sizes) >= least ** len(rows)


def moved(rows: Sequence[str], everything: Sequence[str], far: Mapping[tuple[str, str], float]):
    """The least work that turns one distribution into the other, as a linear program."""
    values = sorted({value for pair in far for value in pair} | set(everything))
    size = len(values)
    costs = [far[a, b] if a != b else 0.0 for a in values for b in values]
    sums = [[float(i == place) for i in range(size) for _ in range(size)] for place in range(size)]
    sums += [[float(j == place) for _ in range(size) for j in range(size)] for place in range(size)]
    shares = [
        each.count(value) / len(each) for each in (list(rows), list(everything)) for value in values
    ]
    return linprog(costs, A_eq=sums, b_eq=shares).fun


def distances(variant: str, values: Sequence[str], paths: Paths) -> dict[tuple[str, str], float]:
    """How far values are apart; ``values`` in their order."""
    if variant == "equal":
        return {(a, b): float(a != b) for a in values for b in values}
    if variant == "ordered":
        steps = max(len(values) - 1, 1)
        return {
            (a, b): abs(i - j) / steps for i, a in enumerate(values) for j, b in enumerate(values)
        }
    height = len(next(iter(paths.values()))) - 1
    return {
        (a, b): next(level for level in range(height + 1) if paths[a][level] == paths[b][level])
        / max(height, 1)
        for a in values
        for b in values
    }


def like(rows: Sequence[str], everything: Sequence[str], beta: float, *, enhanced: bool) -> bool:
    for value in set(rows):
        q = Fraction(everything.count(value), len(everything))
        gain = Fraction(rows.count(value), len(rows)) / q - 1
        if gain > beta or (enhanced and gain > 0 and float(gain) > -log(q)):
            return False
    return True


def fits(
    required: Require, rows: Sequence[str], everything: Sequence[str], paths: Paths | None
) -> bool | None:
    """Whether a class passes; None where a linear program comes too near to the limit to tell."""
    variant = str(required.get("variant", ""))
    if required["model"] == "l-diversity":
        return diverse(rows, variant, required["l"], required.get("c", Fraction(1)))
    if required["model"] == "alpha-k":
        return max(Counter(rows).values()) <= required["alpha"] * len(rows)
    if required["model"] == "beta-likeness":
        return like(rows, everything, required["beta"], enhanced=variant == "enhanced")
    values = list(paths) if paths else sorted(set(everything))
    work = moved(rows, everything, distances(variant, values, paths or {}))
    return None if abs(work - required["t"]) < TIE else work <= required["t"]


def kept(
    rows: Sequence[tuple[str, ...]],
    classes: Sequence[object],
    requires: Sequence[tuple[int, Require, Paths | None]],
    k: int,
) -> list[bool] | None:
    """Which rows stay: all classes that fail leave at once, again and again.

    ``requires`` name the column of ``rows`` by its number; None where a tie cannot be told.
    """
    left = [True] * len(rows)
    while any(left):
        gone: set[object] = set()
        for name in {c for c, here in zip(classes, left, strict=True) if here}:
            inside = [i for i, c in enumerate(classes) if c == name and left[i]]
            if len(inside) < k:
                gone.add(name)
            for column, required, paths in requires:
                everything = [row[column] for row, here in zip(rows, left, strict=True) if here]
                found = fits(required, [rows[i][column] for i in inside], everything, paths)
                if found is None:
                    return None
                if not found:
                    gone.add(name)
        if not gone:
            break
        left = [here and c not in gone for c, here in zip(classes, left, strict=True)]
    return left


def kept_at(rows, paths, node, requires, k):
    """As :func:`kept`, the classes being those of a node: quasi-identifiers come first in rows."""
    quasi = [row[: len(node)] for row in rows]
    return kept(rows, generalise(quasi, paths, node), requires, k)
