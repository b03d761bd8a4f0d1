"""Hierarchies worked out the slow and obvious way, to check the builders against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal


def interval_of(value: Decimal, width: Decimal, origin: Decimal) -> tuple[Decimal, Decimal]:
    """The half-open interval that holds ``value``, found by walking from the origin."""
    low = origin
    while low > value:
        low -= width
    while low + width <= value:
        low += width
    return low, low + width


def coded_interval(
    value: Decimal, width: Decimal, origin: Decimal, bottom: Decimal | None, top: Decimal | None
) -> tuple[Decimal | None, Decimal | None]:
    """The interval after bottom and top coding; None stands for an open end."""
    if bottom is not None and value < bottom:
        return None, bottom
    if top is not None and value >= top:
        return top, None
    low, high = interval_of(value, width, origin)
    if bottom is not None and low < bottom:
        low = bottom
    if top is not None and high > top:
        high = top
    return low, high


def interval_meant_by(label: str) -> tuple[Decimal | None, Decimal | None]:
    """What a reader takes a label to say, as a half-open interval (for whole numbers as well)."""
    if label.startswith("<"):
        return None, Decimal(label[1:])
    if label.startswith("≥"):
        return Decimal(label[1:]), None
    if label.startswith("["):
        low, high = label[1:-1].split(", ")
        return Decimal(low), Decimal(high)
    if " to " in label:
        low, high = label.split(" to ")
    elif "-" in label[1:]:
        low, high = label.split("-")
    else:
        low = high = label
    return Decimal(low), Decimal(high) + 1


def masked(value: str, hidden: int, from_right: bool, mark: str = "*") -> str:
    """Replace characters one at a time."""
    letters = list(value)
    positions = range(len(letters) - 1, -1, -1) if from_right else range(len(letters))
    for done, position in enumerate(positions):
        if done < hidden:
            letters[position] = mark
    return "".join(letters)


def neighbours(order: Sequence[str], sizes: Sequence[int]) -> list[list[frozenset[str]]]:
    """For each level, the groups that putting neighbours together makes."""
    groups = [frozenset([value]) for value in order]
    levels = []
    for size in sizes:
        joined = []
        while groups:
            joined.append(frozenset().union(*groups[:size]))
            groups = groups[size:]
        groups = joined
        levels.append(joined)
    return levels


def period(day: date, unit: str) -> tuple[int, ...]:
    """A key that two days share exactly when they lie in the same period."""
    quarters: Mapping[int, int] = {1: 1, 2: 1, 3: 1, 4: 2, 5: 2, 6: 2, 7: 3, 8: 3, 9: 3}
    quarter = quarters.get(day.month, 4)
    keys: dict[str, tuple[int, ...]] = {
        "day": (day.year, day.month, day.day),
        "month": (day.year, day.month),
        "quarter": (day.year, quarter),
        "half-year": (day.year, 1 if quarter <= 2 else 2),
        "year": (day.year,),
        "decade": (int(str(day.year).zfill(4)[:3]),),
        "century": (int(str(day.year).zfill(4)[:2]),),
    }
    return keys[unit]
