"""Levels of confidence, bounds of probabilities, and numbers as messages of samplers show them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg

Probability = tuple[Fraction, Fraction]
"""A lower and an upper bound of a probability."""


def shown(value: Fraction) -> str:
    """A number as messages show it, whatever its size."""
    try:
        return f"{float(value):.6g}"
    except OverflowError:
        return "a number of more than 300 digits"


def checked_level(level: Fraction | float) -> Fraction:
    """A level of confidence as an exact fraction.

    Raises
    ------
    InputError
        ``noise.level`` for a level that is not above 0 and below 1.
    """
    if not 0 < level < 1:
        raise InputError(
            "noise.level",
            msg("A level must be above 0 and below 1, not {level}.", level=level),
            hint="Try 0.95.",
        )
    return Fraction(level)


def smallest(covers: Callable[[int], bool]) -> int:
    """The smallest whole number from 0 on that ``covers``; all greater ones must, too."""
    high = 1
    while not covers(high):
        high *= 2
    low = -1
    while high - low > 1:
        middle = (low + high) // 2
        if covers(middle):
            high = middle
        else:
            low = middle
    return high
