"""How many examples hypothesis tries in tests that take seconds for them."""

from __future__ import annotations

import os

ORDINARY, LEAST, LONG = 3, 10, 5
PROFILES = ("ci", "quick")
"""The profiles of runs that try the same examples each time, or few."""


def examples(whole: int) -> int:
    """A third of ``whole`` in an ordinary run, though at least ten.

    An ordinary run tries the same examples each time, so that most of them never find anything.
    The long runs (``tests/soak/test_searches.py``) try five times as many, new ones each time.
    """
    profile = os.environ.get("DPDESK_HYPOTHESIS")
    if profile in PROFILES:
        return max(min(LEAST, whole), whole // ORDINARY)
    return LONG * whole if profile == "fuzz" else whole
