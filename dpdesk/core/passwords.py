"""Passwords in addresses: found whatever else is wrong with the address, and never repeated."""

from __future__ import annotations

import re

_SIGNED = re.compile(
    r"((?:[a-z][a-z0-9+.-]{1,30}:/{0,2}|^\s*(?://|\\\\))[^\s:@/?]{0,300}:)"
    r"(?:(?!\?\w+=).){1,5000}(?=@)",
    re.IGNORECASE | re.DOTALL,
)
"""``scheme://user:`` and all up to the last `@` before the settings of an address.

Each part has an end: what is tried at each letter would else take the square of the time.
"""
_SET = re.compile(
    r"((?:^|[?&;\s])(?:ssl)?(?:pass(?!file\b)\w*|pwd|secret)\s*=\s*)[^&;\s]+", re.IGNORECASE
)
"""A setting ``password=`` of an address, or of a row of settings."""

_LONGEST = 10_000


def without_password(text: str) -> str:
    """A text in which `…` stands for every password of an address in it.

    It need be no address that anything can read: a password with a slash in it makes of its
    beginning a port, and a missing bracket spoils the whole. What stands behind the first 10,000
    characters is left out, and what may be a password whose end is there.
    """
    if len(text) > _LONGEST:
        beginning = without_password(f"{text[: _LONGEST - 1]}@")
        return f"{beginning.removesuffix('@').removesuffix('…')}…"
    return _SET.sub(r"\1…", _SIGNED.sub(r"\1…", text))


def holds_password(text: str) -> bool:
    """Whether a text is, or has in it, an address with a password."""
    text = text[:_LONGEST]
    return without_password(text) != text
