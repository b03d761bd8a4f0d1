"""k-map and delta-presence by their definitions, row by row: slow, and obvious."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from tests.reference.k_anonymity import Release, Rows, generalise


def release_of(
    population: Rows, k_map: int, shares: tuple[Fraction, Fraction] | None
) -> type[Release]:
    """Nodes whose classes must match rows of a population (or have a share of them)."""

    class Matched(Release):
        def kept(self) -> list[bool]:
            there = Counter(generalise(population, self.paths, self.node))
            sizes = Counter(self.new)
            keeps = []
            for row in self.new:
                good = sizes[row] >= self.k and there[row] >= k_map
                if shares is not None:
                    good = good and there[row] > 0
                    good = good and Fraction(sizes[row], there[row]) <= shares[1]
                keeps.append(good)
            if shares is not None and shares[0] > 0:
                released = Counter(r for r, keep in zip(self.new, keeps, strict=True) if keep)
                if not all(Fraction(released[row], n) >= shares[0] for row, n in there.items()):
                    return [False] * len(keeps)
                if not all(keeps):
                    return [False] * len(keeps)
            return keeps

    return Matched
