"""The frequency table: the engine's natural food.

Distinct tuples of coded attributes with their counts, made once by a data store. The engine knows
nothing of files or databases; it takes a :class:`FrequencySource`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.jobs import CancelToken
from dpdesk.core.schema import ColumnType

# How rows are looked at: in which order, and which of them. Nothing is changed by it.


@dataclass(frozen=True)
class CellFilter:
    """Rows whose cell holds exactly ``text``, or without ``whole`` one that contains it.

    Without a ``column`` any cell may; ``text`` None asks for a missing value. With ``without``,
    all other rows. Letters are alike in both cases where they are searched for.
    """

    column: str
    text: str | None
    whole: bool = True
    without: bool = False


@dataclass(frozen=True)
class RowLook:
    """Rows that all ``filters`` let through, ordered by a column, as in the source without one.

    ``kind`` and ``date_order`` say what its values are (see ``ColumnProfile``): numbers and days
    are ordered as such, texts by their letters. Missing values come last in both directions.
    """

    column: str = ""
    descending: bool = False
    kind: ColumnType = ColumnType.TEXT
    date_order: str = ""
    filters: tuple[CellFilter, ...] = ()


UNREADABLE = "\U0010ffff"
"""What stands for a value that cannot be read: a code point that no text may use.

It belongs to no category, is not a number and names no person, so a domain's `outside` decides.
"""


@dataclass(frozen=True, eq=False)
class FrequencyTable:
    """Distinct tuples of some attributes, with counts.

    ``domains[j]`` are the values of attribute ``j`` as text; ``codes`` has shape (tuples,
    attributes) and dtype int32 and indexes the domains; ``counts`` has shape (tuples,), int64,
    unit rows, each at least 1. No tuple comes twice. ``missing[j]`` are the codes of attribute
    ``j`` that stand for missing values.
    """

    attributes: tuple[str, ...]
    domains: tuple[Sequence[str], ...]
    codes: NDArray[np.int32] = field(repr=False)
    counts: NDArray[np.int64] = field(repr=False)
    missing: tuple[frozenset[int], ...] = ()

    @property
    def rows(self) -> int:
        """Number of rows of the source, N."""
        return int(self.counts.sum())

    def missing_of(self, place: int) -> frozenset[int]:
        """The codes of the attribute at this place that stand for missing values."""
        return self.missing[place] if self.missing else frozenset()


@dataclass(frozen=True, eq=False)
class Population:
    """The rows of a file of the population, counted by some columns; its name, hash and size.

    ``notes`` are sentences on how it was read.
    """

    name: str
    sha256: str
    table: FrequencyTable = field(repr=False)
    size: int | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class RowRule:
    """Which rows of a source count.

    ``lost`` holds texts by column: rows with one of them are left out. With ``person``, so are rows
    whose value there is missing, and of the others of each person at most ``most`` stay (None:
    all): the first ones by the codes of the columns in ``order``. So whether a row counts depends
    on nothing but the rows of its own person. ``every`` asks for a sample: only each n-th row of
    the source is considered. A source without an order of rows may consider all of them.
    """

    lost: Mapping[str, Sequence[str]] = field(repr=False)
    person: str | None = None
    order: tuple[str, ...] = ()
    most: int | None = None
    every: int = 1


class FrequencySource(Protocol):
    """Whatever can count distinct tuples: a data store, or a test's table."""

    @property
    def name(self) -> str:
        """How messages call the source, for instance the file name."""
        ...

    @property
    def rows(self) -> int:
        """Number of rows, N."""
        ...

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names in source order."""
        ...

    def frequency_table(self, attributes: Sequence[str], token: CancelToken) -> FrequencyTable:
        """Count the distinct tuples of ``attributes``; a domain holds the values that occur."""
        ...

    def restricted(self, rule: RowRule, token: CancelToken) -> FrequencySource:
        """The rows that count by a rule; columns that the rule alone names cost no tuples."""
        ...


# Rows with codes: what a method reads that works row by row, and what it decides about them.


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """A column of a source, row by row.

    ``codes``, of any integer type and shape (rows,), index ``domain``: the values that occur,
    sorted by code point. ``missing`` are the codes that stand for missing values.
    """

    name: str
    domain: tuple[str, ...] = field(repr=False)
    codes: NDArray[Any] = field(repr=False)
    missing: frozenset[int] = frozenset()


class RowSource(FrequencySource, Protocol):
    """A source whose columns can be read row by row, as codes."""

    def coded_columns(self, names: Sequence[str], token: CancelToken) -> tuple[CodedColumn, ...]:
        """These columns, all rows in source order.

        Raises InputError ``source.unknown-column``.
        """
        ...


@dataclass(frozen=True, eq=False)
class NewValues:
    """The released values of a column: ``codes``, shape (released rows,), index ``domain``."""

    domain: tuple[str, ...] = field(repr=False)
    codes: NDArray[Any] = field(repr=False)


@dataclass(frozen=True, eq=False)
class RewrittenRows:
    """A table to write: some rows of a source in a new order, with other values in some columns.

    ``order`` holds, for each released row, its place in the source; ``drawn`` the columns whose
    values are new, in that order; ``mapping`` gives for columns that are recoded value by value
    the released text of every raw text. Columns in ``dropped_columns`` are not released, all others
    as they are. ``added`` are columns that the source does not have, in that order, released after
    its own. ``tables`` are further public tables, by the name of their file: their columns. All
    arrays but those of ``tables`` tell what a release hides: :meth:`wipe` when it is written.
    """

    order: NDArray[Any] = field(repr=False)
    drawn: Mapping[str, NewValues] = field(repr=False)
    dropped_columns: tuple[str, ...]
    mapping: Mapping[str, Mapping[str, str]] = field(repr=False, default_factory=dict)
    added: Mapping[str, NewValues] = field(repr=False, default_factory=dict)
    tables: Mapping[str, Mapping[str, NewValues]] = field(repr=False, default_factory=dict)

    @property
    def rows_out(self) -> int:
        """Rows that are released."""
        return len(self.order)

    def wipe(self) -> None:
        """Overwrite the arrays with zeros."""
        self.order.fill(0)
        for values in (*self.drawn.values(), *self.added.values()):
            values.codes.fill(0)
