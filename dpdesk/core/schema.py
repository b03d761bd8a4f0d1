"""Columns of a data source, the roles a user gives them, and what a profile says about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from dpdesk.core.labels import Variable


class Role(Enum):
    """What a column is for the protection (course text, attribute classification).

    A plan gives every role but the last: an identifier becomes a pseudonym by its key.
    """

    IDENTIFIER = "identifier"
    QUASI_IDENTIFIER = "quasi-identifier"
    SENSITIVE = "sensitive"
    INSENSITIVE = "insensitive"
    WEIGHT = "weight"
    CLUSTER = "cluster"
    PSEUDONYM = "pseudonym"


PLAN_ROLES = tuple(role for role in Role if role is not Role.PSEUDONYM)
"""The roles that a plan can give."""


class ColumnType(Enum):
    """The type that all non-missing values of a column can be read as."""

    INTEGER = "integer"
    DECIMAL = "decimal"
    DATE = "date"
    BOOLEAN = "boolean"
    TEXT = "text"
    EMPTY = "empty"


@dataclass(frozen=True)
class ValueCount:
    """A value as text, and the number of rows that hold it."""

    value: str
    rows: int


@dataclass(frozen=True)
class RoleSuggestion:
    """A role that the profile suggests, with the reason in one sentence."""

    role: Role
    reason: str


_SOME_ROWS, _FEW_ROWS = 20, 5


def few_rows_each(rows: int, present: int, distinct: int) -> bool:
    """Whether ``distinct`` values in ``present`` of ``rows`` rows occur in fewer than 5 on average.

    A table of fewer than 20 rows says nothing about that.
    """
    return rows >= _SOME_ROWS and present < _FEW_ROWS * distinct


@dataclass(frozen=True)
class ColumnProfile:
    """What one column holds; all counts are in rows.

    ``distinct`` counts distinct non-missing values; ``unique`` counts values that occur in exactly
    one row; ``minimum`` and ``maximum`` are the ends of a numeric or date column, as text.
    ``top`` lists the most frequent values, most frequent first, ties in code-point order.
    ``variable`` is what the source itself says of the column, where it says anything;
    ``user_missing`` are the missing rows whose value the source declares so, ``date_order`` tells
    how the dates of a column of dates are written (``"ymd"``, ``"dmy"``, ``"mdy"``).
    """

    name: str
    type: ColumnType
    rows: int
    missing: int
    distinct: int
    unique: int
    top: tuple[ValueCount, ...]
    suggestion: RoleSuggestion
    minimum: str | None = None
    maximum: str | None = None
    label: str = ""
    variable: Variable | None = None
    user_missing: int = 0
    date_order: str = ""

    @property
    def unique_share(self) -> float:
        """Share of the rows (0 to 1) whose value nobody else has."""
        return self.unique / self.rows if self.rows else 0.0

    @property
    def points_to_few(self) -> bool:
        """Whether a value belongs to so few rows on average that it points to few people."""
        return few_rows_each(self.rows, self.rows - self.missing, self.distinct)

    @property
    def missing_share(self) -> float:
        """Share of the rows (0 to 1) that are missing."""
        return self.missing / self.rows if self.rows else 0.0


@dataclass(frozen=True)
class DataProfile:
    """Profile of a whole source: size, columns, and how the file was read."""

    name: str
    rows: int
    columns: tuple[ColumnProfile, ...]
    reading: Mapping[str, object]

    def column(self, name: str) -> ColumnProfile:
        """The profile of the column ``name``; KeyError when there is none."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)
