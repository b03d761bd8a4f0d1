"""What a published table shows, from the definitions, row by row: slow, and obvious."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

Row = tuple[str, ...]


class Spread(NamedTuple):
    fewest: int
    homogeneous_classes: int
    homogeneous_rows: int
    dominated_classes: int
    dominated_rows: int
    distance: Fraction
    exposed: int
    alone: int
    common: str
    common_classes: int


def spread(keys: Sequence[Row], values: Sequence[str], k: int) -> Spread:
    """How ``values`` are spread over the classes of equal ``keys``."""
    classes: dict[Row, list[str]] = defaultdict(list)
    for key, value in zip(keys, values, strict=True):
        classes[key].append(value)
    counts = [Counter(members) for members in classes.values()]
    pairs = Counter(zip(keys, values, strict=True))
    homogeneous = [count for count in counts if len(count) == 1]
    dominated = [
        count
        for count in counts
        if len(count) > 1 and Fraction(max(count.values()), count.total()) >= Fraction(9, 10)
    ]
    held = Counter(next(iter(count)) for count in homogeneous)
    common, times = min(held.items(), key=lambda item: (-item[1], item[0]), default=("", 0))
    return Spread(
        fewest=min(len(count) for count in counts),
        homogeneous_classes=len(homogeneous),
        homogeneous_rows=sum(count.total() for count in homogeneous),
        dominated_classes=len(dominated),
        dominated_rows=sum(count.total() for count in dominated),
        distance=max(_distance(count, Counter(values)) for count in counts),
        exposed=sum(rows for rows in pairs.values() if rows < k),
        alone=sum(1 for rows in pairs.values() if rows == 1),
        common=common,
        common_classes=times,
    )


def _distance(here: Counter[str], everywhere: Counter[str]) -> Fraction:
    return (
        sum(
            abs(
                Fraction(here[value], here.total())
                - Fraction(everywhere[value], everywhere.total())
            )
            for value in everywhere
        )
        / 2
    )
