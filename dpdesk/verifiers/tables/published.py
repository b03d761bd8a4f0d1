"""Published tables as equations: what a reader of the files alone can know of their cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.messages import msg
from dpdesk.core.shapes import as_list, as_table
from dpdesk.core.tabulation import INTERVAL, PRIMARY, WIDTH, CellAxis, CellTable, cell_words
from dpdesk.verifiers.reading import number

Equation = tuple[int, tuple[int, ...]]
"""A total and its parts, by the numbers of cells."""
Place = tuple[int, int]
"""A table and a cell of it."""
CommonSum = Sequence[tuple[Place, float]]
"""Cells of several tables with factors by which their values sum to 0, whatever rows give: 1 for
those of one table and -1 for those of another one that hold the same rows together, for instance.
"""


@dataclass(frozen=True)
class ReadTable:
    """A table with numbers: None where a cell is suppressed.

    ``exact`` says that a value stands in the file as it is, and was not rounded to the nearest
    number that a program reads: whole numbers, and short ones.
    """

    table: CellTable
    values: tuple[Fraction | None, ...]

    @classmethod
    def of(cls, table: CellTable) -> ReadTable:
        """Read the texts of a table. Raises ValueError or TypeError for what is not a number."""
        return cls(table, tuple(number(text) if text else None for text in table.values))


def axis_parts(axis: CellAxis) -> dict[int, tuple[int, ...]]:
    """The nodes directly below each total of a dimension."""
    found: dict[int, list[int]] = {}
    for node, above in enumerate(axis.parents):
        if above >= 0:
            found.setdefault(above, []).append(node)
    return {total: tuple(parts) for total, parts in found.items()}


def equations(axes: Sequence[CellAxis]) -> Iterator[Equation]:
    """Every total of a table with its parts, along each dimension."""
    shape = [len(axis.labels) for axis in axes]
    steps = [1] * len(shape)
    for j in range(len(shape) - 2, -1, -1):
        steps[j] = steps[j + 1] * shape[j + 1]
    for j, axis in enumerate(axes):
        others = [range(size) if i != j else (0,) for i, size in enumerate(shape)]
        starts = [
            sum(p * s for p, s in zip(place, steps, strict=True)) for place in product(*others)
        ]
        for total, parts in axis_parts(axis).items():
            for start in starts:
                yield start + total * steps[j], tuple(start + p * steps[j] for p in parts)


def covered(axis: CellAxis) -> list[frozenset[str] | None]:
    """The values that each node of a dimension covers; None: all of them."""
    parts = axis_parts(axis)
    found: list[frozenset[str]] = []
    for node, label in enumerate(axis.labels):
        below = parts.get(node)
        inside = frozenset((label,))
        if below is not None:
            inside = frozenset().union(*(found[part] for part in below))
        found.append(inside)
    whole = found[-1]
    return [None if inside == whole else inside for inside in found]


def numbered(
    tables: Sequence[tuple[CellTable, str]],
    rows: Sequence[Sequence[object | None]] | None = None,
) -> list[NDArray[np.int64]]:
    """A number for each cell of all tables, equal where cells of one measure cover the same values.

    The measure is the second of each pair. ``rows`` are the rows in each cell of each table (None:
    nothing is known of them): cells with the same ones have the same number too.
    """
    known: dict[object, int] = {}
    found = []
    for table, measure in tables:
        sides = [[(axis.name, inside) for inside in covered(axis)] for axis in table.axes]
        numbers = []
        for place in product(*sides):
            key = (measure, frozenset(each for each in place if each[1] is not None))
            numbers.append(known.setdefault(key, len(known)))
        found.append(np.array(numbers, dtype=np.int64))
    if rows is None:
        return found
    above = list(range(len(known)))

    def first(number: int) -> int:
        while above[number] != number:
            number = above[number]
        return number

    holder: dict[object, int] = {}
    for (_, measure), own, held in zip(tables, found, rows, strict=True):
        for cell, each in zip(own.tolist(), held, strict=True):
            if each is not None:
                one, other = first(cell), first(holder.setdefault((measure, each), cell))
                above[max(one, other)] = min(one, other)
    same = np.array([first(number) for number in above], dtype=np.int64)
    return [same[own] for own in found]


def unsummed(read: ReadTable) -> str:
    """The first total that is not the sum of its parts, in words; empty where all are.

    Numbers with many digits stand in the file as the nearest ones that a program reads, so sums of
    them are compared with as much tolerance as that takes.
    """
    for total, parts in equations(read.table.axes):
        whole = read.values[total]
        summands = [read.values[part] for part in parts]
        if whole is None or any(part is None for part in summands):
            continue
        exact = [part for part in summands if part is not None]
        slack = sum((_slack(each) for each in (whole, *exact)), Fraction(0))
        if abs(sum(exact, Fraction(0)) - whole) > slack:
            return place_of(read.table, total)
    return ""


_ONE_CELL = "lower_required", "upper_required", "lower", "upper", WIDTH, INTERVAL


def other_twins(
    tables: Sequence[CellTable], numbers: Sequence[Sequence[int]], measures: Sequence[object]
) -> str:
    """The first cell that the agency's ``tables`` describe otherwise in another place; empty: none.

    ``numbers`` are those of :func:`numbered`; sums and means of one cell have numbers of their own.
    """
    found: dict[tuple[int, object], tuple[str, ...]] = {}
    for table, own, measure in zip(tables, numbers, measures, strict=True):
        columns = [table.internal[key] for key in _ONE_CELL if key in table.internal]
        for cell, (same, *texts) in enumerate(zip(own, *columns, strict=True)):
            if found.setdefault((same, measure), tuple(texts)) != tuple(texts):
                return msg(
                    "cell {cell}: the agency's table has another interval or protection for it in "
                    "another place",
                    cell=place_of(table, cell),
                )
    return ""


def _slack(value: Fraction) -> Fraction:
    """How far a number in a file can be from the one it stands for: whole ones are exact."""
    if value.denominator == 1:
        return Fraction(0)
    return Fraction(float(np.spacing(abs(float(value)))))


def place_of(table: CellTable, cell: int) -> str:
    """The labels of a cell."""
    where = np.unravel_index(cell, table.shape)
    return cell_words(axis.labels[int(i)] for axis, i in zip(table.axes, where, strict=True))


def innermost(table: CellTable) -> set[tuple[str, frozenset[str]]]:
    """The columns of a table with their innermost values."""
    return {
        (
            axis.name,
            frozenset(axis.labels[i] for i in set(range(len(axis.labels))) - {*axis.parents}),
        )
        for axis in table.axes
    }


def added_up(measure: object) -> str:
    """What a measure adds up: sums and means of one column with one weight share cells."""
    plain = measure if isinstance(measure, Mapping) else {}
    return str((plain.get("sum", plain.get("mean")), plain.get("weight")))


def small_cell(tables: Sequence[CellTable], settings: Mapping[str, object]) -> str:
    """The first cell of fewer contributors than a threshold that the agency's table does not call
    unsafe; empty: none.

    Nothing is said where the plan, or a ready table, gives cells a status by hand.
    """
    if settings.get("cells") is not None or settings.get("marks"):
        return ""
    rules = [as_table(rule) for rule in as_list(settings.get("rule") or [])]
    least = max((number(one["n"]) for one in rules if one["rule"] == "threshold"), default=0)
    for table in tables:
        every = zip(table.internal["frequency"], table.internal["status"], strict=True)
        for cell, (frequency, status) in enumerate(every):
            if frequency and 0 < number(frequency) < least and status != PRIMARY:
                text = msg("cell {cell}: the rules say otherwise", cell=place_of(table, cell))
                return msg("{file}: {note}", file=table.file, note=text)
    return ""
