"""Statuses, costs and protection levels of cells that were set by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod

import numpy as np

from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.core.parameters import exact_number
from dpdesk.core.plain import quoted
from dpdesk.core.table_parameters import mark_of
from dpdesk.core.tabulation import cell_words
from dpdesk.engine.tables.model import Cells, Dimension, exact


def marked(
    cells: Cells,
    marks: Sequence[Sequence[str]],
    dimensions: Sequence[Dimension],
    scale: int,
    where: str,
    table: str = "",
) -> Cells:
    """The cells with what the lines set of them; an empty code is the total.

    ``table`` is the name of one of several tables.

    Raises InputError ``table.marks`` for codes that are none of a cell, for two lines that set the
    same of a cell in different ways, and for protection levels of a cell that is not set to be
    unsafe.
    """
    where = msg("{where}, table {name}", where=where, name=quoted(table)) if table else where
    size = prod(len(each.labels) for each in dimensions)
    status = np.full(size, "", dtype="<U1")
    cost, levels = np.full(size, np.nan), np.full((size, 3), -1, dtype=object)
    before: dict[tuple[int, str], int] = {}
    for number, line in enumerate(marks, 1):
        if not line:
            continue
        place = mark_of(line)
        assert place is not None  # the setting fits
        cell = _cell(line[:place], dimensions, number, where)
        amounts = [exact_number(text) or Fraction(0) for text in line[place + 1 :]]
        mark = line[place].upper()
        first = before.setdefault((cell, mark if amounts else ""), number)
        if _set_to(marks[first - 1]) != (mark, amounts):
            raise _otherwise(marks, (first, number), where, _words(cell, dimensions))
        if mark == "C":
            cost[cell] = float(amounts[0])
        elif amounts:
            own = slice(0, 2) if mark == "PL" else slice(2, 3)
            levels[cell, own] = exact([amount * 10**scale for amount in amounts])
        else:
            status[cell] = mark
    alone = np.flatnonzero((levels >= 0).astype(bool).any(axis=1) & (status != "U"))
    if alone.size:
        raise _wrong(
            msg(
                "{where}: `marks` give protection levels of the cell {cell} without the status U, "
                "expected both.",
                where=where,
                cell=_words(int(alone[0]), dimensions),
            )
        )
    return replace(cells, status=status, cost=cost, levels=levels)


def _cell(codes: Sequence[str], dimensions: Sequence[Dimension], number: int, where: str) -> int:
    """The cell of a line, by its codes."""
    if len(codes) != len(dimensions):
        raise _wrong(
            msg(
                "{where}, line {line} of `marks`: found {found} codes, expected one for each of "
                "{expected} dimensions.",
                where=where,
                line=number,
                found=len(codes),
                expected=len(dimensions),
            )
        )
    cell = 0
    for code, dimension in zip(codes, dimensions, strict=True):
        label = code or dimension.labels[-1]
        if label not in dimension.labels:
            raise _wrong(
                msg(
                    "{where}, line {line} of `marks`: found {code}, expected a label of the "
                    "dimension `{column}`.",
                    where=where,
                    line=number,
                    code=quoted(code),
                    column=dimension.name,
                )
            )
        cell = cell * len(dimension.labels) + dimension.labels.index(label)
    return cell


def _words(cell: int, dimensions: Sequence[Dimension]) -> str:
    """The labels of a cell."""
    at = np.unravel_index(cell, [len(each.labels) for each in dimensions])
    return cell_words(each.labels[int(i)] for each, i in zip(dimensions, at, strict=True))


def _set_to(line: Sequence[str]) -> tuple[str, list[Fraction]]:
    """What a line sets of its cell: the mark, and the numbers after it."""
    place = mark_of(line)
    assert place is not None  # the setting fits
    return line[place].upper(), [exact_number(text) or Fraction(0) for text in line[place + 1 :]]


def _otherwise(
    marks: Sequence[Sequence[str]], numbers: tuple[int, int], where: str, cell: str
) -> InputError:
    """That two lines set the same of a cell in different ways."""
    place = mark_of(marks[numbers[0] - 1])
    one, other = (" ".join(marks[number - 1][place:]) for number in numbers)
    return _wrong(
        msg(
            "{where}, lines {first} and {second} of `marks`: found {one} and {other} for the cell "
            "{cell}, expected one of the two.",
            where=where,
            first=numbers[0],
            second=numbers[1],
            one=quoted(one),
            other=quoted(other),
            cell=cell,
        )
    )


def _wrong(sentence: str) -> InputError:
    return InputError("table.marks", sentence, details={"key": "marks"})
