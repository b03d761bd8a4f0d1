"""What a microdata method decides about a table, in a form that any writer can carry out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Recoding:
    """Recode some columns value by value, then drop the rows of some recoded tuples.

    ``mapping[a]`` gives, for every raw value (text) of attribute ``a`` that occurs, the released
    text. ``labels[j]`` are the released values of ``attributes[j]`` to which ``suppressed`` refers:
    an int32 array of shape (dropped tuples, attributes). Columns in ``dropped_columns`` are not
    released at all; every other column is released as it is. ``left_out`` names a column and values
    of it whose rows leave as well: whole households.
    """

    attributes: tuple[str, ...]
    mapping: Mapping[str, Mapping[str, str]] = field(repr=False)
    labels: tuple[tuple[str, ...], ...] = field(repr=False)
    suppressed: NDArray[np.int32] = field(repr=False)
    dropped_columns: tuple[str, ...]
    rows_out: int
    rows_suppressed: int
    left_out: tuple[str, tuple[str, ...]] = field(default=("", ()), repr=False)

    def pairs(self, name: str) -> Iterator[tuple[str, str]]:
        """Each raw value of a column with what it becomes; none for one that is not recoded."""
        yield from self.mapping.get(name, {}).items()


@dataclass(frozen=True, eq=False)
class TupleRecoding:
    """Recode some columns together: each distinct tuple of theirs by itself, some not at all.

    ``codes`` has shape (tuples, attributes), int32, and indexes ``domains``: every tuple of raw
    values that occurs, once. ``targets`` has shape (released tuples, attributes), int32, and
    indexes ``labels``, the released texts. Entry ``e`` says that ``rows[e]`` of the rows with the
    values of tuple ``source[e]`` get those of released tuple ``target[e]``, or are left out where
    that is −1. The entries of one tuple stand together, tuples in their order, and take its rows in
    the order of the source. Columns in ``dropped_columns`` are not released at all; every other
    column is released as it is, and so are those of the attributes that are ``told_apart``: rows
    that differ in these alone are different tuples.
    """

    attributes: tuple[str, ...]
    domains: tuple[tuple[str, ...], ...] = field(repr=False)
    codes: NDArray[np.int32] = field(repr=False)
    labels: tuple[tuple[str, ...], ...] = field(repr=False)
    targets: NDArray[np.int32] = field(repr=False)
    source: NDArray[np.int64] = field(repr=False)
    target: NDArray[np.int64] = field(repr=False)
    rows: NDArray[np.int64] = field(repr=False)
    dropped_columns: tuple[str, ...] = ()
    told_apart: tuple[str, ...] = ()

    @property
    def rows_out(self) -> int:
        """Rows that are released."""
        return int(self.rows[self.target >= 0].sum())

    @property
    def rows_suppressed(self) -> int:
        """Rows that are left out."""
        return int(self.rows[self.target < 0].sum())

    def pairs(self, name: str) -> Iterator[tuple[str, str]]:
        """Each raw value of a column with each text that it becomes in some row."""
        if name not in self.attributes:
            return
        place = self.attributes.index(name)
        kept = self.target >= 0
        raw = self.codes[self.source[kept], place].astype(np.int64)
        width = max(len(self.labels[place]), 1)
        keys = np.unique(raw * width + self.targets[self.target[kept], place])
        domain, labels = self.domains[place], self.labels[place]
        for key in keys.tolist():
            yield domain[key // width], labels[key % width]


AnyRecoding = Recoding | TupleRecoding
