"""What a JSON value must be where something is read from it; anything else raises TypeError."""

from __future__ import annotations

from collections.abc import Mapping


def as_table(value: object) -> Mapping[str, object]:
    """The value, which must be a table."""
    if not isinstance(value, Mapping):
        raise TypeError("expected a table")
    return value


def as_list(value: object) -> list[object]:
    """The items of the value, which must be a list."""
    if not isinstance(value, list | tuple):
        raise TypeError("expected a list")
    return list(value)


def as_float(value: object) -> float:
    """The value, which must be a number."""
    if not isinstance(value, int | float):
        raise TypeError("expected a number")
    return float(value)
