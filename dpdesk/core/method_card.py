"""What a reader has to know of a method before choosing it, as data.

The guide of the window, ``resources/docs/methods.md`` and the chooser are made from it. A part that
a method leaves empty is shown as missing, and a chooser never proposes a method that does not say
against whom it protects.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Reader(Enum):
    """Who gets a release."""

    RESEARCHERS = "researchers"
    PUBLIC = "public"


class Attacker(Enum):
    """What someone who wants to learn about a person knows already."""

    ACQUAINTANCE = "acquaintance"
    INSIDER = "insider"
    CONTRIBUTOR = "contributor"


@dataclass(frozen=True)
class MethodCard:
    """What a method is good for and what it is not, in whole sentences.

    ``protects`` says against what, ``leaves`` what it does not protect against, ``suits`` when to
    use it and ``unfit`` when not. ``sources`` are publications, by their names; ``corrections``
    where the program departs from them, and why. ``readers`` and ``attackers`` answer the
    questions of the chooser.
    """

    protects: tuple[str, ...] = ()
    leaves: tuple[str, ...] = ()
    suits: tuple[str, ...] = ()
    unfit: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    corrections: tuple[str, ...] = ()
    readers: frozenset[Reader] = frozenset()
    attackers: frozenset[Attacker] = frozenset()

    @property
    def unsaid(self) -> tuple[str, ...]:
        """Names of the parts that are empty; corrections may be, where there are none."""
        parts = ("protects", "leaves", "suits", "unfit", "sources", "readers", "attackers")
        return tuple(part for part in parts if not getattr(self, part))


BLANK = MethodCard()
"""The card of a method that says nothing of itself."""
EVERYONE = frozenset(Reader)
"""Releases for the public, which are for researchers as well."""
ANYONE = frozenset(Attacker)
"""All that others may know: who protects against someone who knows everyone else, protects against
those who know less."""
