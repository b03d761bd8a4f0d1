"""Covering designs, checked set by set."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations


def uncovered(
    points: int, strength: int, blocks: Iterable[tuple[int, ...]]
) -> set[tuple[int, ...]]:
    """The sets of ``strength`` points that no block holds."""
    held = {each for block in blocks for each in combinations(sorted(block), strength)}
    return set(combinations(range(points), strength)) - held
