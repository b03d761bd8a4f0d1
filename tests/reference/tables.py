"""Protected tables, slow and obvious: rules cell by cell, attackers and patterns by enumeration."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

Unsafe = Fraction | None
"""The required protection, None: safe."""


def threshold(contributions: Sequence[int], n: int, share: Fraction, least: int) -> Unsafe:
    """Fewer than ``n`` contributors, but some."""
    if not 0 < len(contributions) < n:
        return None
    return max(share * abs(sum(contributions)), Fraction(least))


def dominance(contributions: Sequence[int], n: int, k: Fraction) -> Unsafe:
    """The ``n`` largest have more than ``k`` percent of all."""
    sizes = sorted((abs(x) for x in contributions), reverse=True)
    if sum(sizes[:n]) > k / 100 * sum(sizes):
        return 100 / k * sum(sizes[:n]) - sum(sizes)
    return None


def p_percent(contributions: Sequence[int], share: Fraction) -> Unsafe:
    """The second largest estimates the largest within ``share`` percent."""
    sizes = [*sorted((abs(x) for x in contributions), reverse=True), 0, 0]
    rest = sum(sizes) - sizes[0] - sizes[1]
    if rest < share / 100 * sizes[0]:
        return share / 100 * sizes[0] - rest
    return None
