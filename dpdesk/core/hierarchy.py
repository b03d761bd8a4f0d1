"""Value generalisation hierarchies: a tree of values whose levels are domains.

Level 0 holds the raw values (leaves), the top level one single root. A hierarchy is stored as
codes: ``parents[l][c]`` is the code, at level ``l + 1``, of value ``c`` of level ``l``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import InputError
from dpdesk.core.messages import counted, msg
from dpdesk.core.parameters import Parameter
from dpdesk.core.plain import quoted

# What a form needs to know of a hierarchy builder.


@dataclass(frozen=True)
class BuilderForm:
    """Title, one sentence, and the typed options of a builder."""

    title: str
    summary: str
    parameters: tuple[Parameter, ...]


Codes = NDArray[np.int32]
_ROOT = "*"


_LONGEST_NAME = 24


def level_words(names: Sequence[str], level: int) -> str:
    """A level by its number and, where it has one, its name: ``1 (20–29 …)``.

    ``names`` are :attr:`Hierarchy.level_names`, or nothing where they are not known.
    """
    name = names[level] if level < len(names) else ""
    if not name:
        return str(level)
    shown = name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"
    return f"{level} ({shown}{'' if level == len(names) - 1 else ' …'})"


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """A checked hierarchy of one attribute.

    ``labels[l]`` are the distinct values of level ``l``, in order of first appearance among the
    leaves. The constructor does not check; use :meth:`from_rows`.
    """

    attribute: str
    labels: tuple[tuple[str, ...], ...]
    parents: tuple[Codes, ...] = field(repr=False)
    ranged: frozenset[str] = field(default=frozenset(), repr=False, compare=False)
    """Leaves that stand in their group because a range covers them, not by name."""

    @classmethod
    def from_rows(cls, attribute: str, rows: Sequence[Sequence[str]], where: str = "") -> Hierarchy:
        """Build and check a hierarchy from one row per leaf, columns from leaf to top.

        Raises
        ------
        InputError
            ``hierarchy.empty``, ``hierarchy.ragged``, ``hierarchy.duplicate-leaf``,
            ``hierarchy.empty-label`` (a value has no label above it), ``hierarchy.not-nested`` (a
            value of a level has two different parents) or ``hierarchy.no-root`` (the last column
            holds more than one value). The sentence names ``where`` (a file, or the builder), the
            row and the values.
        """
        place = where or msg("hierarchy of `{attribute}`", attribute=attribute)
        width = _checked_width(attribute, rows, place)
        labels, codes = _code_levels(rows, width)
        if len(labels[0]) != len(rows):
            _raise_duplicate(attribute, rows, place)
        _check_labels(attribute, rows, labels, place)
        parents = tuple(
            _parents_of_level(attribute, rows, labels, codes, level, place)
            for level in range(width - 1)
        )
        if len(labels[-1]) != 1:
            shown = ", ".join(quoted(value) for value in labels[-1][:3])
            raise InputError(
                "hierarchy.no-root",
                msg(
                    "{place}: the last level has {labels} values ({shown}{labels2}), "
                    "expected one single root such as `*`.",
                    place=place,
                    labels=len(labels[-1]),
                    shown=shown,
                    labels2=", …" if len(labels[-1]) > 3 else "",
                ),
                hint="Add a last column that holds the same value in every row.",
                details={"attribute": attribute},
            )
        return cls(attribute, labels, parents)

    @property
    def height(self) -> int:
        """Number of generalisation steps from the raw values to the root."""
        return len(self.parents)

    @property
    def leaves(self) -> tuple[str, ...]:
        """The raw values, in hierarchy order."""
        return self.labels[0]

    @cached_property
    def level_names(self) -> tuple[str, ...]:
        """For each level one of its groups, by which people know it; empty for the raw values.

        It stands in the middle, as groups at the ends may be open, and is none that stays itself.
        """
        names = [""]
        for below, labels in pairwise(self.labels):
            known = set(below)
            groups = [one for one in labels if one not in known] or labels
            names.append(groups[len(groups) // 2])
        return tuple(names)

    @cached_property
    def leaf_codes(self) -> dict[str, int]:
        """Code of each leaf, by its text."""
        return {value: code for code, value in enumerate(self.labels[0])}

    def ancestors(self, level: int) -> Codes:
        """Code at ``level`` of every leaf, shape (number of leaves,)."""
        codes: Codes = np.arange(len(self.labels[0]), dtype=np.int32)
        for step in range(level):
            codes = self.parents[step][codes]
        return codes

    def leaves_covered(self, level: int) -> NDArray[np.int64]:
        """Number of leaves below each value of ``level``, shape (number of values,)."""
        return np.bincount(self.ancestors(level), minlength=len(self.labels[level])).astype(
            np.int64
        )

    def rows(self) -> list[list[str]]:
        """One row per leaf, columns from leaf to top: the inverse of :meth:`from_rows`."""
        columns = [
            [self.labels[level][code] for code in self.ancestors(level)]
            for level in range(self.height + 1)
        ]
        return [list(row) for row in zip(*columns, strict=True)]

    def without_ranged(self, values: Collection[str]) -> Hierarchy:
        """The same hierarchy without those of ``values`` that only a range covers.

        A code for missing values such as 99 is no number of an open range ``61-``. A hierarchy of
        nothing else stays as it is.
        """
        gone = self.ranged.intersection(values)
        rows = [row for row in self.rows() if row[0] not in gone] if gone else []
        if not rows:
            return self
        return replace(Hierarchy.from_rows(self.attribute, rows), ranged=self.ranged - gone)

    def with_untouched_leaves(self, values: Sequence[str]) -> Hierarchy:
        """The same hierarchy with further leaves that stay themselves below the top.

        This is how a missing value without a leaf is treated: a category of its own, unless a
        level has a group of the same label, which it then joins. Values that are leaves already
        are ignored. A hierarchy of one single value gains the top ``*``.
        """
        extra = [value for value in dict.fromkeys(values) if value not in self.leaf_codes]
        if not extra:
            return self
        if self.height == 0:
            grown = [[leaf, _ROOT] for leaf in (*self.leaves, *extra)]
            return Hierarchy.from_rows(self.attribute, grown)
        labels = [self.labels[0] + tuple(extra)]
        parents: list[Codes] = []
        for level, steps in enumerate(self.parents):
            index = {label: code for code, label in enumerate(self.labels[level + 1])}
            added = labels[level][len(steps) :]
            if level + 1 == self.height:
                targets = [0] * len(added)
            else:
                # A label that the level has already is the same published value: it is joined.
                targets = [index.setdefault(value, len(index)) for value in added]
            parents.append(np.concatenate([steps, np.array(targets, dtype=np.int32)]))
            labels.append(tuple(index))
        return Hierarchy(self.attribute, tuple(labels), tuple(parents))


def _checked_width(attribute: str, rows: Sequence[Sequence[str]], place: str) -> int:
    if not rows or not rows[0]:
        raise InputError(
            "hierarchy.empty",
            msg("{place}: the hierarchy is empty, expected one row per value.", place=place),
            hint="Give one row per value, from the value itself up to `*`.",
            details={"attribute": attribute},
        )
    width = len(rows[0])
    for number, row in enumerate(rows, start=1):
        if len(row) != width:
            raise InputError(
                "hierarchy.ragged",
                counted(
                    "{place}, row {number} ({row}): found {n} level, expected {width} as in row 1.",
                    "{place}, row {number} ({row}): found {n} levels, expected {width} as in "
                    "row 1.",
                    n=len(row),
                    place=place,
                    number=number,
                    row=quoted(row[0] if row else ""),
                    width=width,
                ),
                hint="Give every value the same number of levels.",
                details={"attribute": attribute, "row": number},
            )
    return width


def _check_labels(
    attribute: str,
    rows: Sequence[Sequence[str]],
    labels: tuple[tuple[str, ...], ...],
    place: str,
) -> None:
    """An empty label is an empty value that stays itself, never the name of a group."""
    for level in range(1, len(labels)):
        if "" not in labels[level]:
            continue
        for number, row in enumerate(rows, start=1):
            if row[level] == "" and (row[level - 1] != "" or level == len(labels) - 1):
                raise InputError(
                    "hierarchy.empty-label",
                    msg(
                        "{place}, row {row}, level {level}: found nothing above {value}, "
                        "expected a label.",
                        place=place,
                        row=number,
                        level=level,
                        value=quoted(row[level - 1]),
                    ),
                    hint="Fill the field, or remove the delimiter at the end of every line.",
                    details={"attribute": attribute, "row": number, "level": level},
                )


def _code_levels(
    rows: Sequence[Sequence[str]], width: int
) -> tuple[tuple[tuple[str, ...], ...], list[Codes]]:
    labels: list[tuple[str, ...]] = []
    codes: list[Codes] = []
    for level in range(width):
        index: dict[str, int] = {}
        column = np.fromiter(
            (index.setdefault(row[level], len(index)) for row in rows), np.int32, len(rows)
        )
        labels.append(tuple(index))
        codes.append(column)
    return tuple(labels), codes


def _raise_duplicate(attribute: str, rows: Sequence[Sequence[str]], place: str) -> None:
    first: dict[str, int] = {}
    for number, row in enumerate(rows, start=1):
        if row[0] in first:
            raise InputError(
                "hierarchy.duplicate-leaf",
                msg(
                    "{place}, row {row}: the value {value} was already given in row {first}, "
                    "expected each value once.",
                    place=place,
                    row=number,
                    value=quoted(row[0]),
                    first=first[row[0]],
                ),
                hint="Remove one of the two rows.",
                details={"attribute": attribute, "row": number, "value": row[0]},
            )
        first[row[0]] = number


def _parents_of_level(
    attribute: str,
    rows: Sequence[Sequence[str]],
    labels: tuple[tuple[str, ...], ...],
    codes: list[Codes],
    level: int,
    place: str,
) -> Codes:
    lower, upper = codes[level], codes[level + 1]
    parent = np.full(len(labels[level]), -1, dtype=np.int32)
    # Later rows overwrite earlier ones, so any disagreement shows when compared back.
    parent[lower] = upper
    wrong = np.flatnonzero(parent[lower] != upper)
    if wrong.size:
        row = int(wrong[0])
        value = labels[level][lower[row]]
        found, other = labels[level + 1][upper[row]], labels[level + 1][parent[lower[row]]]
        same = (lower == lower[row]) & (upper == parent[lower[row]])
        there = int(np.flatnonzero(same)[0]) + 1
        raise InputError(
            "hierarchy.not-nested",
            msg(
                "{place}, row {row}, level {level}: {value} belongs to {found} here and to "
                "{other} in row {there}, expected one parent.",
                place=place,
                row=row + 1,
                level=level + 1,
                value=quoted(value),
                found=quoted(found),
                other=quoted(other),
                there=there,
            ),
            hint="Make each level a function of the level below.",
            details={"attribute": attribute, "row": row + 1, "level": level + 1, "value": value},
        )
    return parent


# What a hierarchy does to a column: values with row counts per level, before and after.


@dataclass(frozen=True)
class LevelValue:
    """A value of a level: rows that get it, and leaves below it."""

    value: str
    rows: int
    leaves: int


@dataclass(frozen=True)
class LevelSummary:
    """One level in figures.

    ``values`` counts the values that occur in the data, ``smallest`` is the number of rows of the
    rarest one (0 when there is no row), ``rarest`` its text, ``unused`` counts values without rows.
    """

    level: int
    values: int
    smallest: int
    rarest: str
    unused: int


@dataclass(frozen=True, eq=False)
class HierarchyPreview:
    """All levels of a hierarchy over a column.

    ``hierarchy`` includes missing tokens as leaves. ``rows[l]`` has one entry for each value of
    level ``l``, in the order of ``hierarchy.labels[l]``: its number of rows, int64.
    """

    hierarchy: Hierarchy
    rows: tuple[NDArray[np.int64], ...] = field(repr=False)
    levels: tuple[LevelSummary, ...]
    missing: frozenset[int] = frozenset()

    def values(self, level: int, limit: int | None = None) -> tuple[LevelValue, ...]:
        """Values of a level in hierarchy order, the first ``limit`` of them."""
        leaves = self.hierarchy.leaves_covered(level)
        labels = self.hierarchy.labels[level][:limit]
        return tuple(
            LevelValue(label, int(self.rows[level][code]), int(leaves[code]))
            for code, label in enumerate(labels)
        )


@dataclass(frozen=True)
class ValueChange:
    """One row's value before and after generalising to a level."""

    before: str
    after: str


@dataclass(frozen=True)
class LevelEffect:
    """What a level does to the column.

    ``sample`` has one entry per sampled row, in row order. ``distinct_before`` and
    ``distinct_after`` count values that occur; ``merged`` counts occurring values that share their
    label with another one; ``rows_changed`` counts rows whose text changes; ``smallest_before`` and
    ``smallest_after`` are the rows of the rarest value.
    """

    attribute: str
    level: int
    sample: tuple[ValueChange, ...]
    distinct_before: int
    distinct_after: int
    merged: int
    rows_changed: int
    smallest_before: int
    smallest_after: int
