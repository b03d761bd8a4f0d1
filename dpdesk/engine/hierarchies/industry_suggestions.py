"""Divisions of the classification of economic activities, put into its sections.

NACE Rev. 2 (Regulation (EC) No 1893/2006) and ISIC Rev. 4 have the same divisions (two digits) and
sections (letters).
"""

from __future__ import annotations

from collections.abc import Sequence

from dpdesk.core.plan import HierarchyBuilder
from dpdesk.core.suggested import SuggestedHierarchy, Why
from dpdesk.engine.hierarchies.name_hints import words_of

_NAMES = frozenset(["nace", "isic", "noga", "naf", "ateco", "wz"])
_FEWEST, _MOST_APART = 5, 3
_SECTIONS = (
    ("A", 1, 3), ("B", 5, 9), ("C", 10, 33), ("D", 35, 35), ("E", 36, 39), ("F", 41, 43),
    ("G", 45, 47), ("H", 49, 53), ("I", 55, 56), ("J", 58, 63), ("K", 64, 66), ("L", 68, 68),
    ("M", 69, 75), ("N", 77, 82), ("O", 84, 84), ("P", 85, 85), ("Q", 86, 88), ("R", 90, 93),
    ("S", 94, 96), ("T", 97, 98), ("U", 99, 99),
)  # fmt: skip
_SECTION_OF = {number: letter for letter, low, high in _SECTIONS for number in range(low, high + 1)}


def suggest_sections(values: Sequence[str], name: str) -> SuggestedHierarchy | None:
    """Sections, where the name speaks of the classification and all codes are its divisions.

    A few words among them (for missing) stay apart.
    """
    if _NAMES.isdisjoint(words_of(name)):
        return None
    distinct = list(dict.fromkeys(values))
    codes = [value for value in distinct if value.isascii() and value.isdigit()]
    apart = [value for value in distinct if not any(sign.isdigit() for sign in value)]
    known = all(len(code) <= 2 and int(code) in _SECTION_OF for code in codes)
    if not known or len(codes) < _FEWEST or len(apart) > _MOST_APART:
        return None
    if len(codes) + len(apart) < len(distinct) or len({int(code) for code in codes}) < len(codes):
        return None
    groups: dict[str, list[str]] = {}
    for code in sorted(codes, key=int):
        groups.setdefault(_SECTION_OF[int(code)], []).append(code)
    options: dict[str, object] = {"order": sorted(codes, key=int), "groups": [groups]}
    if apart:
        options["apart"] = apart
    facts = {"n": f"{len(codes)}", "groups": f"{len(groups)}"}
    return SuggestedHierarchy(HierarchyBuilder("order", options), Why.SECTIONS, facts, tuple(apart))
