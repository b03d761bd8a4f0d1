"""Groups of rows with different values: drawn at random, for methods that hide values so."""

from __future__ import annotations

MIXED, LARGEST_FIRST = "mixed", "largest-first"
RULES = (MIXED, LARGEST_FIRST)
"""How groups are made of the counts of values."""
