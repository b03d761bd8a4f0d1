"""Other ways to release marginals, row by row and cell by cell: slow, and easy to believe."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from math import comb, cos, exp, log2, pi

Row = tuple[int, ...]


def best_outside(k: int, degree: int, z: int) -> float:
    """The polynomial of this degree that is 1 at 0 and least on the interval from 1 to k, at z:
    through its roots, where Chebyshev's polynomial has them.
    """
    middle, half = (k + 1) / 2, (k - 1) / 2
    roots = [middle - half * cos((2 * i + 1) * pi / (2 * degree)) for i in range(degree)]
    found = 1.0
    for root in roots:
        found *= (root - z) / root
    return found


def approximated(rows: Sequence[Row], places: Row, cell: Row, degree: int) -> float:
    """What Chebyshev's polynomials make of a cell without noise: a sum over the rows."""
    total = 0.0
    for row in rows:
        z = sum(row[i] != value for i, value in zip(places, cell, strict=True))
        total += (
            (1.0 if z == 0 else 0.0)
            if degree == len(places)
            else best_outside(len(places), degree, z)
        )
    return total


def chebyshev_coefficients(
    rows: Sequence[Row], columns: int, parts: Sequence[float]
) -> dict[tuple[Row, Row], float]:
    """Every number that is released: for columns and a value of each, times c of their number,
    the rows that have another value in all of them.
    """
    return {
        (places, values): c
        * sum(all(row[i] != v for i, v in zip(places, values, strict=True)) for row in rows)
        for j, c in enumerate(parts)
        for places in combinations(range(columns), j)
        for values in product((0, 1), repeat=j)
    }


def fourier_coefficients(rows: Sequence[Row], columns: int, k: int) -> dict[Row, int]:
    """For each set of up to k columns, the rows by the sign of how many ones they have there."""
    return {
        places: sum((-1) ** sum(row[i] for i in places) for row in rows)
        for size in range(k + 1)
        for places in combinations(range(columns), size)
    }


def from_fourier(found: dict[Row, int], places: Row, cell: Row) -> float:
    """A cell of a marginal from the coefficients of its subsets."""
    total = 0.0
    for size in range(len(places) + 1):
        for axes in combinations(range(len(places)), size):
            sign = (-1) ** sum(cell[i] for i in axes)
            total += sign * found[tuple(places[i] for i in axes)]
    return total / 2 ** len(places)


def coefficients_up_to(columns: int, k: int) -> int:
    """How many there are."""
    return sum(comb(columns, size) for size in range(k + 1))


def reweighted(
    weights: dict[Row, float], measured: Sequence[tuple[Row, Row, float]], times: int
) -> dict[Row, float]:
    """Multiplicative weights, cell by cell: ``measured`` are columns, their values, the count."""
    total = sum(weights.values())
    for _ in range(times):
        for places, values, count in measured:
            inside = [
                cell
                for cell in weights
                if all(cell[i] == v for i, v in zip(places, values, strict=True))
            ]
            gap = count - sum(weights[cell] for cell in inside)
            for cell in inside:
                weights[cell] *= exp(gap / (2 * total))
            whole = sum(weights.values())
            for cell in weights:
                weights[cell] *= total / whole
    return weights


def divergence(one: Sequence[float], other: Sequence[float]) -> float:
    """Jensen–Shannon in bits: the entropy of the mean, less the mean of the entropies."""

    def entropy(shares: Sequence[float]) -> float:
        return -sum(each * log2(each) for each in shares if each > 0)

    first = [each / sum(one) for each in one]
    second = [each / sum(other) for each in other]
    mean = [(a + b) / 2 for a, b in zip(first, second, strict=True)]
    return entropy(mean) - (entropy(first) + entropy(second)) / 2
