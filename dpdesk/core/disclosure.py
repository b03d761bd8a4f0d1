"""What a published table of persons shows, counted from its file alone: facts for checklists."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from dpdesk.core.schema import ColumnType, Role, RoleSuggestion, ValueCount


class Content(Enum):
    """What the texts of a column look like, beyond their type."""

    PLAIN = "plain values"
    FREE_TEXT = "free text"
    ADDRESSES = "e-mail addresses"


@dataclass(frozen=True)
class SpreadFacts:
    """How the values of one column are spread over the classes of equal quasi-identifiers.

    ``fewest`` is the smallest number of different values in a class. A class is *homogeneous* when
    all its rows hold one value, and *dominated* when one value has nine tenths of its rows or more,
    but not all. ``common`` is the value that most homogeneous classes hold, with their number in
    ``common_classes``. ``distance`` is the largest distance ½·Σ|p−q| between the values of a class
    and those of all rows (t-closeness with the equal distance), exactly. ``exposed`` are the rows
    in groups of fewer than k rows for somebody who knows this column beside the quasi-identifiers,
    ``alone`` those who are alone in such a group.
    """

    fewest: int
    homogeneous_classes: int
    homogeneous_rows: int
    dominated_classes: int
    dominated_rows: int
    distance: Fraction
    exposed: int
    alone: int
    common: str = ""
    common_classes: int = 0


@dataclass(frozen=True)
class ColumnFacts:
    """One published column; counts are in rows but for ``distinct``.

    ``unique`` are rows whose value nobody else has, ``missing`` rows with a declared missing code;
    of these ``user_missing`` have one that the source itself declares (99 for "refused").
    ``top`` is the most frequent value. ``extreme`` is the largest number with its rows, where it
    is more than twice the 99th percentile. ``spread`` is None for quasi-identifiers.
    """

    name: str
    role: Role
    type: ColumnType
    content: Content
    distinct: int
    unique: int
    missing: int
    top: ValueCount
    suggestion: RoleSuggestion
    extreme: ValueCount | None = None
    spread: SpreadFacts | None = None
    user_missing: int = 0


@dataclass(frozen=True)
class TableFacts:
    """A published table, grouped by its quasi-identifiers into classes.

    ``k`` is the claimed smallest class; ``uniques`` are rows alone in their class, ``below`` rows
    in classes of fewer than k rows, ``missing`` rows with a missing value in a quasi-identifier.
    """

    rows: int
    k: int
    classes: int
    smallest: int
    uniques: int
    below: int
    missing: int
    columns: tuple[ColumnFacts, ...]

    def with_role(self, *roles: Role) -> tuple[ColumnFacts, ...]:
        """The columns with one of these roles, in file order."""
        return tuple(column for column in self.columns if column.role in roles)
