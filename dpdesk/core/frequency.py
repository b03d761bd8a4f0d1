"""The frequency table: the engine's natural food.

Distinct tuples of coded attributes with their counts, made once by a data store. The engine knows
nothing of files or databases; it takes a :class:`FrequencySource`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.jobs import CancelToken

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
    domains: tuple[tuple[str, ...], ...]
    codes: NDArray[np.int32] = field(repr=False)
    counts: NDArray[np.int64] = field(repr=False)
    missing: tuple[frozenset[int], ...] = ()

    @property
    def rows(self) -> int:
        """Number of rows of the source, N."""
        return int(self.counts.sum())


@dataclass(frozen=True, eq=False)
class Population:
    """The rows of a file of the population, counted by some columns: its ``name`` and hash."""

    name: str
    sha256: str
    table: FrequencyTable = field(repr=False)


@dataclass(frozen=True)
class RowRule:
    """Which rows of a source count.

    ``lost`` holds texts by column: rows with one of them are left out. With ``person``, so are rows
    whose value there is missing, and of the others of each person at most ``most`` stay (None:
    all): the first ones by the codes of the columns in ``order``. So whether a row counts depends
    on nothing but the rows of its own person.
    """

    lost: Mapping[str, Sequence[str]] = field(repr=False)
    person: str | None = None
    order: tuple[str, ...] = ()
    most: int | None = None


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
