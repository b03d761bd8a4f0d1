"""A published table as a verifier sees it: values as text, counted by columns, nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

from dpdesk.core.jobs import CancelToken
from dpdesk.core.schema import ColumnType, Role, RoleSuggestion, ValueCount

if TYPE_CHECKING:
    from dpdesk.core.release import CountedRows


# What a published table of persons shows, counted from its file alone: facts for checklists.


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


FIGURES_CLAIM = "figures of the evidence are those of the source"
"""The claim that is confirmed when risk, utility and charts were counted again."""

MADE_AGAIN = "microdata.csv is what the source gives"
"""The claim that is confirmed when the table was made again from its source, byte for byte."""

OTHER_WORDS = (
    "model and parameters are as they must be; the sentences were written with other texts than "
    "this program's, so they were not compared"
)
"""What is found of sentences of a guarantee that nothing could be compared with."""

MINIMAL_CHANGE = "minimal change"
"""The claim on the size of a minimal change beside what is exact, which 4ti2 can settle."""

ROWS_COMPARED = "rows are those of the source, but for what was drawn"
"""The claim that is confirmed when the columns that were not drawn were compared row by row."""


CELLS_COUNTED = "the agency's tables are those of the source"
"""The claim that is confirmed when all cells of protected tables were counted again."""


class CheckStatus(Enum):
    """How far a claim could be checked from the files at hand."""

    CONFIRMED = "re-checked from the public files"
    FAILED = "failed"
    NEEDS_SOURCE = "needs the source or a population file"
    NOT_CHECKABLE = "not checkable by nature"
    NOT_CHECKED = "not checked"


@dataclass(frozen=True)
class ClaimCheck:
    """One claim of a release and what checking it showed; ``path`` is the file concerned.

    ``label`` says the claim in plain words, where ``claim`` is a key of the manifest. ``words``
    marks a failure that lies in the wording of sentences alone.
    """

    claim: str
    status: CheckStatus
    found: str
    path: str = ""
    label: str = ""
    words: bool = False


@dataclass(frozen=True)
class GroupSizes:
    """Sizes of the groups of equal rows on some columns: groups, rows, smallest, Σ size²."""

    groups: int
    rows: int
    smallest: int
    sum_of_squares: int


@dataclass(frozen=True)
class RowDifference:
    """Rows of a release that its source lacks, and of the source that the release lacks.

    Rows are compared as a whole on the columns whose values were not drawn, each as often as it
    occurs. ``unplaced`` are rows of the source without a row of the release that could be theirs by
    a value that stands apart; None where none does.
    """

    extra: int
    missing: int
    unplaced: int | None = None


@dataclass(frozen=True)
class Separated:
    """A column of the source whose values stand in a further public table.

    ``file`` is that table: ``value`` holds the values, and ``key`` joins them with rows, by a
    column of that name in both tables.
    """

    column: str
    file: str
    key: str
    value: str


class PublishedTable(Protocol):
    """The microdata of a release, read from its CSV alone."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names in file order."""
        ...

    @property
    def rows(self) -> int:
        """Number of data rows."""
        ...

    def group_sizes(self, columns: Sequence[str], token: CancelToken) -> GroupSizes:
        """Group the rows by the exact text of ``columns``."""
        ...

    def value_counts(self, column: str, token: CancelToken) -> Mapping[str, int]:
        """Rows per distinct text of one column."""
        ...

    def beside(self, file: str, token: CancelToken) -> PublishedTable:
        """A further public table of the release."""
        ...

    def fewest_values(self, columns: Sequence[str], counted: str, token: CancelToken) -> int:
        """Group the rows by ``columns``; the fewest different texts of ``counted`` in a group."""
        ...

    def combinations(self, columns: Sequence[str], token: CancelToken) -> CountedRows:
        """The rows by the exact texts of ``columns``."""
        ...
