"""Names of columns that statistical programs accept."""

from __future__ import annotations

import re
from collections.abc import Sequence

_RESERVED = frozenset(
    (
        *("ALL", "AND", "BY", "EQ", "GE", "GT", "LE", "LT", "NE", "NOT", "OR", "TO", "WITH"),
        *("BYTE", "INT", "LONG", "FLOAT", "DOUBLE", "STRL", "IF", "IN", "USING"),
    )
)


def accepted_names(names: Sequence[str], most: int, ascii_only: bool = False) -> list[str]:
    """Names of at most ``most`` bytes of letters, digits and ``_``, each different but for case.

    A name that is accepted as it is stays; others are changed as little as possible.
    """
    found: list[str] = []
    taken: set[str] = set()
    for name in names:
        plain = _plain(name, ascii_only)
        made, number = _cut(plain, most), 1
        while made.upper() in taken:
            number += 1
            ending = f"_{number}"
            made = _cut(plain, most - len(ending)) + ending
        taken.add(made.upper())
        found.append(made)
    return found


def _plain(name: str, ascii_only: bool) -> str:
    flags = re.ASCII if ascii_only else 0
    text = re.sub(r"\W", "_", name, flags=flags).rstrip("_") or "v"
    if not text[0].isalpha() or text.upper() in _RESERVED:
        text = f"v_{text}"
    return text


def _cut(text: str, most: int) -> str:
    return text.encode("utf-8")[:most].decode("utf-8", "ignore")


def cut_text(text: str, most: int) -> str:
    """A label of at most ``most`` bytes of UTF-8."""
    return _cut(text, most)
