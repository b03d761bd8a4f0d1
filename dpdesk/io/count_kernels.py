"""Compiled steps of counting rows."""

from __future__ import annotations

from typing import Any

from dpdesk.core.compiled import kernel

Array = Any
"""A numpy array; inside compiled code element types come from the caller."""


@kernel
def add_ones(places: Array, counts: Array) -> None:
    """Count each place once more for each time that it comes."""
    for place in places:
        counts[place] += 1
