"""Rows with codes: what a method reads that works row by row, and what it decides about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from numpy.typing import NDArray

from dpdesk.core.frequency import FrequencySource
from dpdesk.core.jobs import CancelToken


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
