"""What a method says of itself, so that no other place has to know its name.

Checklists, policies, pages and checks ask these fields. A field that a method leaves empty is not
known, and what is not known never passes: it fails until a person decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Content(Enum):
    """What the public part of a release holds."""

    ROWS = "rows"
    TABLES = "tables"
    GRAPH = "graph"


class RowOrder(Enum):
    """In which order released rows stand."""

    SORTED = "sorted by all columns"
    SHUFFLED = "shuffled"


class Spending(Enum):
    """What a release takes from a privacy budget, by what the loss is counted in."""

    NOTHING = "nothing"
    PERSONS = "persons"
    EDGES = "edges"


class Protection(Enum):
    """By what people are protected, and so which risks remain to be asked about."""

    CLASSES = "classes of rows that are alike"
    DRAWN = "values that are drawn"
    NOISE = "noise"


@dataclass(frozen=True)
class Capabilities:
    """What a method does, as data; None where it does not say.

    ``order`` is of rows alone; methods that release tables leave it empty.
    """

    content: Content | None = None
    protection: Protection | None = None
    spending: Spending | None = None
    order: RowOrder | None = None

    @property
    def unsaid(self) -> tuple[str, ...]:
        """What the method does not say, in words."""
        stated = {
            "what it releases": self.content,
            "how it protects": self.protection,
            "what it spends": self.spending,
        }
        missing = [words for words, value in stated.items() if value is None]
        if self.content is Content.ROWS and self.order is None:
            missing.append("in which order its rows stand")
        return tuple(missing)


UNKNOWN = Capabilities()
"""A method that says nothing, or that this program does not know."""
