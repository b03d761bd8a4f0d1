"""A published table as a verifier sees it: values as text, counted by columns, nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Protocol

from dpdesk.core.jobs import CancelToken

if TYPE_CHECKING:
    from dpdesk.core.released import CountedRows

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
