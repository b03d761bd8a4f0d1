"""What the verifier finds out by itself about the exact part of a cube, from the settings alone.

Nothing of the formulas and the enumeration of the design is used: two cuboids are taken as a graph
whose walks are tried length by length, more than two by comparing small tables with each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement, product
from math import comb, prod

import numpy as np
from numpy.typing import NDArray

Names = frozenset[str]
Cell = frozenset[tuple[str, str]]
"""A cell as pairs of dimension and category."""

_MOST_PARTS = 300_000
_CUBOID, _CELLS = "cuboid", "cells"


@dataclass(frozen=True)
class ExactClaim:
    """What a manifest says is exact, with the categories of every dimension.

    ``whole`` are cuboids, ``cells`` single cells by cuboid, both without what follows from the
    rest; ``total`` is True when the number of rows is known and does not follow. ``everything`` are
    the exact cuboids from which all others follow, ``asked`` the single cells as they are listed.
    """

    categories: Mapping[str, tuple[str, ...]]
    whole: tuple[Names, ...]
    cells: Mapping[Names, frozenset[Cell]]
    total: bool
    everything: tuple[Names, ...]
    asked: Mapping[Names, tuple[Cell, ...]]

    def size(self, names: Iterable[str]) -> int:
        """Cells of a cuboid."""
        return prod(len(self.categories[name]) for name in names)

    def gives(self, names: Names) -> bool:
        """Whether a cuboid is exact."""
        kept = frozenset(name for name in names if len(self.categories[name]) > 1)
        return any(kept <= each for each in self.everything)

    @property
    def fixed(self) -> bool:
        """Whether no change that keeps all this changes the number of rows."""
        if self.whole or self.total:
            return True
        rows = constraints(self)
        ones = np.ones(rows.shape[1])
        found = np.linalg.lstsq(rows.T, ones, rcond=None)[0]
        return bool(np.allclose(rows.T @ found, ones))


def exact_claim(
    raw: object, categories: Mapping[str, tuple[str, ...]], *, replace: bool
) -> ExactClaim | None:
    """The key `exact` of public parameters; None when nothing is exact.

    Raises ValueError, TypeError or KeyError when it is malformed.
    """
    if not isinstance(raw, list) or not raw:
        return None
    whole: set[Names] = set()
    cells: dict[Names, set[Cell]] = {}
    asked: dict[Names, tuple[Cell, ...]] = {}
    single = {name for name, listed in categories.items() if len(listed) == 1}
    for item in raw:
        if isinstance(item, Mapping):
            asked[frozenset(item[_CUBOID])] = tuple(
                frozenset(zip(item[_CUBOID], cell, strict=True)) for cell in item[_CELLS]
            )
            for cell in item[_CELLS]:
                pairs = dict(zip(item[_CUBOID], cell, strict=True))
                if any(text not in categories[name] for name, text in pairs.items()):
                    raise ValueError("an exact cell has no declared category")
                named = frozenset(pairs) - single
                cells.setdefault(named, set()).add(
                    frozenset((name, text) for name, text in pairs.items() if name in named)
                )
        else:
            whole.add(frozenset(_known(name, categories) for name in item) - single)
    for names, listed in cells.items():
        if len(listed) == prod(len(categories[name]) for name in names):
            whole.add(names)
    largest = tuple(each for each in whole if each and not any(each < other for other in whole))
    total = (replace or frozenset() in whole) and not largest
    everything = largest or ((frozenset(),) if frozenset() in whole else ())
    left = _left(cells, largest, categories)
    return ExactClaim(categories, largest, left, total, everything, asked)


def _known(name: object, categories: Mapping[str, tuple[str, ...]]) -> str:
    if name not in categories:
        raise ValueError("an exact cuboid has an unknown dimension")
    return str(name)


def _left(
    cells: Mapping[Names, set[Cell]],
    whole: tuple[Names, ...],
    categories: Mapping[str, tuple[str, ...]],
) -> dict[Names, frozenset[Cell]]:
    """Single cells that are no sums of others that are known."""
    found = {
        names: listed
        for names, listed in cells.items()
        if names and not any(names <= each for each in whole)
    }
    left: dict[Names, frozenset[Cell]] = {}
    for names, listed in found.items():
        new = frozenset(
            cell
            for cell in listed
            if not any(
                names < finer and _parts(cell, finer, categories) <= known
                for finer, known in found.items()
            )
        )
        if new:
            left[names] = new
    return left


def _parts(cell: Cell, finer: Names, categories: Mapping[str, tuple[str, ...]]) -> set[Cell]:
    """The cells of a finer cuboid that one is the sum of."""
    given = dict(cell)
    options = [
        [(name, given[name])] if name in given else [(name, text) for text in categories[name]]
        for name in finer
    ]
    return {frozenset(choice) for choice in product(*options)}


def minimal_change(claim: ExactClaim) -> int | None:
    """The size of the largest minimal change that keeps what is exact; None beyond two cuboids.

    0 when everything follows from what is exact.
    """
    sides = [*claim.whole, *claim.cells]
    if len(sides) > 2:
        return None
    if not sides:
        return 2 if claim.total else 1
    rest = claim.size(frozenset(claim.categories) - frozenset().union(*sides))
    published = frozenset() in claim.everything
    if len(sides) == 1:
        if rest == 1 and claim.whole:
            return 0
        free = claim.size(sides[0]) - len(claim.cells.get(sides[0], ()))
        if rest == 1 and published:
            return 2 if free > 1 else 0
        return 2 if claim.whole or claim.total or rest > 1 else 1
    return max(2 if rest > 1 else 0, _of_walks(claim, sides[0], sides[1], published))


def _of_walks(claim: ExactClaim, one: Names, other: Names, published: bool) -> int:
    """The longest walk, or pair of walks where the number of rows must stay as it is.

    Two walks in one place pass different known cells; so they share out the smaller number of them.
    """
    places = list(_shared(claim, one, other))
    single = [longest_walks(*place) for place, _ in places]
    even, odd = max(each[0] for each in single), max(each[1] for each in single)
    if not claim.total or odd == 0:
        return max(even, odd)
    longest = even if published else max(even, odd + 1)
    for (known1, all1, known2, all2), count in places:
        least = min(known1, known2)
        if all1 == known1 or all2 == known2:
            continue
        if least > 0 or (all1 - known1) * (all2 - known2) > 1:
            longest = max(longest, 2 * least + 2)
        if count > 1:
            longest = max(longest, 2 * (2 * least + 1))
    for (_, odd1), (_, odd2) in combinations(single, 2):
        longest = max(longest, odd1 + odd2 if odd1 and odd2 else 0)
    return longest


def longest_walks(known1: int, all1: int, known2: int, all2: int) -> tuple[int, int]:
    """The longest walks between cells of two sides that pass each known cell at most once.

    First those that add as many rows as they take away, then those that add or take one more; 0
    where there is none. They end where they began, or in cells that are not known; and no walk goes
    back in the cell of the base cuboid in which it came.
    """
    even = odd = 0
    free1, free2 = all1 - known1, all2 - known2
    for passed1, passed2 in product(range(known1 + 1), range(known2 + 1)):
        if passed1 == passed2:
            even = max(even, 2 * passed1 if passed1 > 1 else 0)
            odd = max(odd, 2 * passed1 + 1 if free1 and free2 else 0)
        elif passed2 == passed1 + 1 and free1 > (1 if passed1 == 0 else 0):
            even = max(even, 2 * passed2)
        elif passed1 == passed2 + 1 and free2 > (1 if passed2 == 0 else 0):
            even = max(even, 2 * passed1)
    return even, odd


def _shared(
    claim: ExactClaim, one: Names, other: Names
) -> Iterator[tuple[tuple[int, int, int, int], int]]:
    """Known and all cells of both sides, and for how many values of what they share."""
    shared, all1, all2 = one & other, claim.size(one - other), claim.size(other - one)
    known = [_by_value(claim, names, shared) for names in (one, other)]
    values: set[Cell] = set().union(*(each for each in known if each is not None))
    found = Counter(
        (
            all1 if known[0] is None else known[0].get(value, 0),
            all2 if known[1] is None else known[1].get(value, 0),
        )
        for value in values
    )
    others = claim.size(shared) - len(values)
    if others:
        found[all1 if known[0] is None else 0, all2 if known[1] is None else 0] += others
    for (known1, known2), count in found.items():
        yield (known1, all1, known2, all2), count


def _by_value(claim: ExactClaim, names: Names, shared: Names) -> dict[Cell, int] | None:
    if names in claim.whole:
        return None
    found: dict[Cell, int] = {}
    for cell in claim.cells[names]:
        value = frozenset(pair for pair in cell if pair[0] in shared)
        found[value] = found.get(value, 0) + 1
    return found


def larger_change(claim: ExactClaim, stated: int) -> bool:
    """Whether two small tables differ by a minimal change larger than ``stated``.

    Pairs of tables with one row more than it takes are tried, then with more rows, as long as the
    tables are few. False says that none of these does, not that there is none; False at once when
    the number of rows is not fixed.
    """
    if not claim.whole:
        return False
    matrix, rows = constraints(claim), stated // 2 + 1
    while comb(matrix.shape[1] + rows - 1, rows) << rows <= _MOST_PARTS:
        if _differ_minimally(matrix, rows):
            return True
        rows += 1
    return False


def _differ_minimally(matrix: NDArray[np.int64], rows: int) -> bool:
    """Whether two tables of so many rows agree, and no part of one agrees with one of the other."""
    groups: dict[bytes, list[frozenset[bytes]]] = {}
    for table in combinations_with_replacement(range(matrix.shape[1]), rows):
        parts = frozenset(
            matrix[:, list(part)].sum(axis=1).tobytes()
            for size in range(1, rows)
            for part in combinations(table, size)
        )
        groups.setdefault(matrix[:, list(table)].sum(axis=1).tobytes(), []).append(parts)
    return any(
        one.isdisjoint(other) for group in groups.values() for one, other in combinations(group, 2)
    )


def constraints(claim: ExactClaim) -> NDArray[np.int64]:
    """One row for each exact cell: which cells of the table of all their dimensions it adds up."""
    used = sorted(frozenset().union(*claim.whole, *claim.cells))
    table = [
        frozenset(zip(used, texts, strict=True))
        for texts in product(*(claim.categories[name] for name in used))
    ]
    known: list[Cell] = [cell for listed in claim.cells.values() for cell in listed]
    for names in claim.whole:
        ordered = sorted(names)
        known += [
            frozenset(zip(ordered, texts, strict=True))
            for texts in product(*(claim.categories[name] for name in ordered))
        ]
    rows = [[wanted <= cell for cell in table] for wanted in known]
    return np.array(rows, dtype=np.int64).reshape(-1, len(table))
