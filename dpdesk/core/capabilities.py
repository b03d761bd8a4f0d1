"""What a method says of itself, so that no other place has to know its name.

Checklists, policies, pages and checks ask these fields. A field that a method leaves empty is not
known, and what is not known never passes: it fails until a person decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from dpdesk.core.messages import msg


class Content(Enum):
    """What the public part of a release holds."""

    ROWS = "rows"
    TABLES = "tables"
    GRAPH = "graph"
    CELLS = "protected tables"
    ITEMSETS = "itemsets"
    CHOICES = "choices"


class RowOrder(Enum):
    """In which order released rows stand."""

    SORTED = "sorted by all columns"
    SHUFFLED = "shuffled"


class Spending(Enum):
    """What a release takes from a privacy budget, by what the loss is counted in."""

    NOTHING = "nothing"
    PERSONS = "persons"
    EDGES = "edges"
    VALUES = "values"


class Protection(Enum):
    """By what people are protected, and so which risks remain to be asked about."""

    CLASSES = "classes of rows that are alike"
    DRAWN = "values that are drawn"
    RANDOMISED = "values that each row draws by itself, from a budget"
    GROUPS = "groups of rows, their values apart"
    NOISE = "noise"
    CELLS = "cells that are suppressed or rounded"


ESTIMATED = (Protection.DRAWN, Protection.RANDOMISED, Protection.GROUPS)
"""What makes counts of the rows estimates."""


class Use(Enum):
    """What can be done with the releases of a method, or with its plans."""

    ASKED = "asked for numbers"
    BROWSED = "browsed as a cube"
    BOUGHT = "bought table by table"
    COMPARED = "compared with the truth"


@dataclass(frozen=True)
class ComparisonWords:
    """What ways to release are compared for, and by what: a question and a few sentences."""

    question: str
    about: str


@dataclass(frozen=True)
class Capabilities:
    """What a method does, as data; None where it does not say.

    ``order`` is of rows alone; ``tables`` are the names of public tables that every release has in
    no folder, next to rows or as all that it holds; ``folders`` (those of the public part that its
    tables lie in) of all other releases without rows. ``exports`` are the formats that its releases
    fit, ``uses`` what else can be done with them: empty where nothing can, which is not the same as
    not said. ``comparison`` words the use of that name.
    """

    content: Content | None = None
    protection: Protection | None = None
    spending: Spending | None = None
    order: RowOrder | None = None
    folders: tuple[str, ...] | None = None
    tables: tuple[str, ...] = ()
    exports: frozenset[str] | None = None
    uses: frozenset[Use] | None = None
    comparison: ComparisonWords | None = None

    def allows(self, use: Use) -> bool:
        """Whether the method says that its releases can be used so."""
        return self.uses is not None and use in self.uses

    @property
    def spends(self) -> bool | None:
        """Whether releases take something from a privacy budget; None where it is not said."""
        return None if self.spending is None else self.spending is not Spending.NOTHING

    @property
    def blind(self) -> bool:
        """Whether releases are designed, tried and shown without a look at the rows."""
        return bool(self.spends) and self.content is not Content.ROWS

    @property
    def takes_coarsened(self) -> bool:
        """Whether the source may cut and round numbers first: releases hold rows without noise."""
        return self.content is Content.ROWS and self.spending is Spending.NOTHING

    @staticmethod
    def listed(things: Sequence[str]) -> str:
        """What is not said, after “does not say”."""
        words = things[-1]
        for one in reversed(things[:-1]):
            words = msg("{one}; nor {words}", one=one, words=words)
        return words

    @property
    def unready(self) -> tuple[str, ...]:
        """What the method does not say and nothing can be released without, in words."""
        stated = {"what it releases": self.content, "what it spends": self.spending}
        missing = [words for words, value in stated.items() if value is None]
        if self.content is Content.ROWS and self.order is None:
            missing.append("the order of its rows")
        if self.content in (Content.TABLES, Content.GRAPH, Content.CHOICES) and not self.folders:
            missing.append("in which folder its tables are")
        return tuple(missing)

    @property
    def unsaid(self) -> tuple[str, ...]:
        """What the method does not say, in words."""
        stated = {
            "how it protects": self.protection,
            "which formats its releases fit": self.exports,
            "what its releases can be used for": self.uses,
        }
        missing = [words for words, value in stated.items() if value is None]
        return (*self.unready, *missing)


UNKNOWN = Capabilities()
"""A method that says nothing, or that this program does not know."""
