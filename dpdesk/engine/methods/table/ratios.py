"""Tables of ratios, made of two tables of sums as they are published.

A ratio is published where both of its sums are, and nowhere else: then it is computed from numbers
that readers have, and tells them nothing. Next to a suppressed sum it would: two of the three
tell the third, to within the rounding of the ratio.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf

import numpy as np

from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.core.table_parameters import RATIO
from dpdesk.core.tabulation import (
    CAN_MOVE,
    INTERVAL,
    IS_LEAST,
    PRIMARY,
    PUBLISHED,
    SECONDARY,
    SUPPRESSED,
    WIDTH,
    CellTable,
    cell_words,
)
from dpdesk.engine.methods.table.ratio_settings import RatioSpec
from dpdesk.engine.tables.model import System


def refuse_undivided(ratios: Sequence[RatioSpec], system: System, source: str, where: str) -> None:
    """Raise InputError ``table.ratio`` where the sums of a ratio have different cells, or a cell
    that is divided by 0; a cell to which no one contributes has the ratio 0.
    """
    for ratio in ratios:
        above, below = system.tables[ratio.above], system.tables[ratio.below]
        for one, other in zip(above.dimensions, below.dimensions, strict=True):
            if one.labels != other.labels or (one.parents != other.parents).any():
                raise InputError(
                    "table.ratio",
                    msg(
                        "{where}: the tables that `{table}` divides have different values of "
                        "`{column}`, because some have rows in one of them alone.",
                        where=where,
                        table=ratio.name,
                        column=one.name,
                    ),
                    hint="Give the column a hierarchy with all of its values.",
                    details={"key": "tables"},
                )
        own, by = (system.variables[place] for place in (ratio.above, ratio.below))
        cells = system.cells
        none = (cells.values[by] == 0).astype(bool)
        held = (cells.values[own] != 0).astype(bool)
        held |= (cells.frequency[own] != 0) | (cells.frequency[by] != 0)
        wrong = np.flatnonzero(none & held)
        if wrong.size:
            raise InputError(
                "table.ratio",
                msg(
                    "{source}: table `{table}` divides by 0 in the cell {cell}.",
                    source=source,
                    table=ratio.name,
                    cell=cell_words(below.place(int(wrong[0]))),
                ),
                hint="Leave rows without it out by a query, or merge categories.",
                details={"key": "tables"},
            )


@dataclass(frozen=True, eq=False)
class _Sums:
    """Two tables of sums of the same cells: ``above`` is divided by ``below``."""

    above: CellTable
    below: CellTable
    decimals: int | None

    def values(self, above: Sequence[str], below: Sequence[str]) -> tuple[str, ...]:
        """The quotients of these texts; none where one of the two is missing."""
        pairs = zip(above, below, strict=True)
        return tuple(self._quotient(x, y) if x and y else "" for x, y in pairs)

    def _quotient(self, above: str, below: str) -> str:
        divisor = Fraction(below)
        value = Fraction(above) / divisor if divisor else Fraction(0)
        if self.decimals is not None:
            value = round(value, self.decimals)
        return str(value.numerator) if value.denominator == 1 else repr(float(value))

    def internal(self) -> dict[str, tuple[str, ...]]:
        """What the agency knows of the ratios, by column."""
        one, other = self.above.internal, self.below.internal
        values = self.values(one["value"], other["value"])
        held = zip(one["frequency"], other["frequency"], strict=True)
        status = zip(one["status"], other["status"], strict=True)
        ends = [self._ends(cell, text) for cell, text in enumerate(values)]
        nothing = ("0",) * len(values)
        return {
            "value": values,
            "status": tuple(map(_worse, status)),
            "frequency": tuple(str(min(map(int, pair))) if all(pair) else "" for pair in held),
            "lower_required": nothing,
            "upper_required": nothing,
            **({WIDTH: nothing} if WIDTH in one else {}),
            "lower": tuple(low for low, _ in ends),
            "upper": tuple(high for _, high in ends),
            **_moved(one, other),
        }

    def _ends(self, cell: int, value: str) -> tuple[str, str]:
        """Between what readers can tell the ratio to be: nothing ties its two sums together."""
        one, other = (table.internal for table in (self.above, self.below))
        low, high = _ends_of(one, cell)
        least, most = _ends_of(other, cell)
        if low == high and least == most:
            return value, value
        if most <= 0:
            low, high, least, most = -high, -low, -most, -least
        if least < 0:
            return "", ""
        furthest = most if low >= 0 else least, least if high >= 0 else most
        return _text(_over(low, furthest[0])), _text(_over(high, furthest[1]))


def _ends_of(columns: Mapping[str, Sequence[str]], cell: int) -> tuple[Fraction | float, ...]:
    low, high = columns["lower"][cell], columns["upper"][cell]
    return Fraction(low) if low else -inf, Fraction(high) if high else inf


def _over(end: Fraction | float, by: Fraction | float) -> Fraction | float:
    """An end of the sum above, divided by an end of the one below, which is not negative."""
    if not end:
        return Fraction(0)
    return end / by if by else inf if end > 0 else -inf


def _text(end: Fraction | float) -> str:
    if end in (inf, -inf):
        return ""
    value = Fraction(end)
    return str(value.numerator) if value.denominator == 1 else repr(float(value))


def _worse(pair: tuple[str, str]) -> str:
    """The status of a ratio: unsafe where a sum of it is, suppressed where one of them is."""
    return next((each for each in (PRIMARY, SECONDARY) if each in pair), PUBLISHED)


def _moved(
    one: Mapping[str, Sequence[str]], other: Mapping[str, Sequence[str]]
) -> dict[str, tuple[str, ...]]:
    """Of large tables, which ends may be further away."""
    if INTERVAL not in one and INTERVAL not in other:
        return {}
    nothing = ("",) * len(one["value"])
    pairs = zip(one.get(INTERVAL, nothing), other.get(INTERVAL, nothing), strict=True)
    told = (IS_LEAST if IS_LEAST in pair else next(filter(None, pair), "") for pair in pairs)
    return {INTERVAL: tuple(told), CAN_MOVE: nothing}


def with_ratios(
    ratios: Sequence[RatioSpec], tables: Sequence[CellTable], *, apart: bool
) -> tuple[CellTable, ...]:
    """All tables of a plan in its order: those that were counted, and those of their ratios.

    ``apart``: published statuses tell unsafe cells from those that protect them.
    """
    found = list(tables)
    for ratio in ratios:
        sums = _Sums(tables[ratio.above], tables[ratio.below], ratio.decimals)
        values, inside = sums.values(sums.above.values, sums.below.values), sums.internal()
        status = tuple(
            PUBLISHED if text else told if apart else SUPPRESSED
            for text, told in zip(values, inside["status"], strict=True)
        )
        made = CellTable(ratio.name, ratio.file, sums.above.axes, values, status, inside)
        found.insert(ratio.place, made)
    return tuple(found)


def in_plan_order(ratios: Sequence[RatioSpec], measures: Sequence[str]) -> tuple[str, ...]:
    """What all tables of a plan hold; ``measures`` are those of the tables that were counted."""
    found = list(measures)
    for ratio in ratios:
        found.insert(ratio.place, RATIO)
    return tuple(found)
