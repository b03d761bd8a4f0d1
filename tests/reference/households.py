"""Households that are suppressed together, row by row: slow, and obvious."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.reference.k_anonymity import Release

Row = tuple[str, ...]


def staying(
    released: Sequence[Row], houses: Sequence[str], k: int, fails: Callable[[Row], bool]
) -> list[bool]:
    """Which rows stay: a household leaves while one of its rows is in a class that fails.

    A class fails when fewer than ``k`` households are left in it, or by itself. A row whose
    household is empty is a household of its own.
    """
    who = [house or f"alone {at}" for at, house in enumerate(houses)]
    left = set(who)
    while True:
        there = [at for at, house in enumerate(who) if house in left]
        held: dict[Row, set[str]] = {}
        for at in there:
            held.setdefault(released[at], set()).add(who[at])
        gone = {who[at] for at in there if fails(released[at]) or len(held[released[at]]) < k}
        if not gone:
            return [house in left for house in who]
        left -= gone


def measured(released: Sequence[Row], houses: Sequence[str], k: int) -> dict[str, int]:
    """What the households give away that stay: how many there are, and with which make-ups."""
    stay = staying(released, houses, k, lambda row: False)
    members: dict[str, list[Row]] = {}
    held: dict[Row, set[str]] = {}
    for at, (row, house) in enumerate(zip(released, houses, strict=True)):
        if stay[at]:
            members.setdefault(house or f"alone {at}", []).append(row)
            held.setdefault(row, set()).add(house or f"alone {at}")
    makeups = [tuple(sorted(rows)) for rows in members.values()]
    return {
        "households": len({house or f"alone {at}" for at, house in enumerate(houses)}),
        "rows_without_one": houses.count(""),
        "kept": len(members),
        "fewest_in_a_class": min(map(len, held.values()), default=0),
        "unique_makeup": sum(makeups.count(one) == 1 for one in makeups),
        "makeup_below_k": sum(makeups.count(one) < k for one in makeups),
    }


def release_of(houses: Sequence[str]) -> type[Release]:
    """Nodes of a table whose rows are of these households."""

    class Whole(Release):
        def kept(self) -> list[bool]:
            return staying(self.new, houses, self.k, lambda row: False)

        @property
        def discernibility(self) -> int:
            return self.sum_of_squares + self.suppressed * len(self.rows)

    return Whole
