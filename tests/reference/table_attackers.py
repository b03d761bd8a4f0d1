"""Readers of linked tables, slow and obvious: what rows of one kind add up to is all they look for.

Rows that are alike in the columns of all tables are one kind. A cell is the sum of the kinds in
it, whatever table it is in, so that all that tables have in common follows by itself. No kind has
bounds of its own, cells have: they are what the audit of tables is about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

Floats = NDArray[np.float64]
Row = Mapping[str, str]


@dataclass
class Cell:
    """A cell of one table: what is in it, and what its files say."""

    table: str
    place: tuple[str, ...]
    measure: str
    kinds: Floats
    """Which kinds of rows are in it."""
    who: frozenset[str]
    """Who contributes to it."""
    value: float
    shown: bool
    inside: Mapping[str, str] = field(default_factory=dict)

    @property
    def same(self) -> tuple[str, tuple[float, ...]]:
        """Equal for cells that are one cell."""
        return self.measure, tuple(self.kinds.tolist())

    @property
    def unsafe(self) -> bool:
        return self.inside["status"] == "C"

    def number(self, column: str) -> float:
        return float(self.inside.get(column) or 0)


def cells_of(
    table: str,
    measure: str,
    axes: Sequence[tuple[str, Sequence[str]]],
    paths: Mapping[str, Mapping[str, Sequence[str]]],
    rows: Sequence[Row],
    amounts: Sequence[float],
    who: Sequence[str],
    kinds: Sequence[tuple[str, ...]],
) -> list[Cell]:
    """The cells of a table in the order of its files; ``kinds`` of each row, by its values."""
    every = sorted(set(kinds))
    found = []
    for place in product(*(labels for _, labels in axes)):
        inside = [
            all(
                label in (row[name], *paths.get(name, {}).get(row[name], ()), "Total")
                for (name, _), label in zip(axes, place, strict=True)
            )
            for row in rows
        ]
        there = {kind for kind, held in zip(kinds, inside, strict=True) if held}
        found.append(
            Cell(
                table,
                place,
                measure,
                np.array([float(kind in there) for kind in every]),
                frozenset(one for one, held in zip(who, inside, strict=True) if held),
                sum(x for x, held in zip(amounts, inside, strict=True) if held),
                shown=True,
            )
        )
    return found


@dataclass
class Reader:
    """What someone knows of cells: published ones, and bounds of the others.

    ``lower`` and ``upper`` are shares of its value between which everyone knows a cell to be, but
    where some value of its measure is negative. Who is ``informed`` knows that no suppressed count
    of a cell with contributors is below 1. ``knows`` are cells that this reader knows, and without
    ``tables`` no other one but those without contributors.
    """

    cells: Sequence[Cell]
    lower: float = 0.0
    upper: float = np.inf
    informed: bool = False
    tables: bool = True
    knows: frozenset[int] = frozenset()
    ratios: Sequence[tuple[int, int, float, float]] = ()
    """Published ratios: the cells above and below, the ratio, and half a unit of its rounding."""
    _found: dict[int, tuple[float, float]] = field(default_factory=dict, init=False)

    def ends(self) -> tuple[Floats, Floats]:
        """Between what each cell is known to be beforehand."""
        below = {cell.measure for cell in self.cells if cell.value < 0}
        low, high = np.zeros((2, len(self.cells)))
        for place, cell in enumerate(self.cells):
            known = (cell.shown if self.tables else not cell.who) or place in self.knows
            ends = self.lower * cell.value, self.upper * cell.value if cell.value else np.inf
            if not cell.value and self.upper < np.inf:
                ends = 0.0, 0.0
            if cell.measure in below:
                ends = -np.inf, np.inf
            if self.informed and cell.measure == "count" and cell.value >= 1:
                ends = max(ends[0], 1.0), ends[1]
            low[place], high[place] = (cell.value, cell.value) if known else ends
        return low, high

    def _matrix(self) -> Floats:
        """Cells as sums of kinds, of each measure by itself."""
        measures = sorted({cell.measure for cell in self.cells})
        width = len(self.cells[0].kinds)
        found = np.zeros((len(self.cells), width * len(measures)))
        for row, cell in zip(found, self.cells, strict=True):
            start = width * measures.index(cell.measure)
            row[start : start + width] = cell.kinds
        return found

    def interval(self, place: int) -> tuple[float, float]:
        """Least and largest value that a cell could have."""
        if place not in self._found:
            self._found[place] = self._interval(place)
        return self._found[place]

    def _interval(self, place: int) -> tuple[float, float]:
        matrix, (low, high) = self._matrix(), self.ends()
        same = low == high
        under = [matrix[~same & np.isfinite(high)], -matrix[~same & np.isfinite(low)]]
        limits = [high[~same & np.isfinite(high)], -low[~same & np.isfinite(low)]]
        for above, below, ratio, half in self.ratios:
            for sign in (1.0, -1.0):
                row = sign * (matrix[above] - (ratio + sign * half) * matrix[below])
                under.append(row[None])
                limits.append(np.full(1, 1e-9))
        ends = []
        for sign in (1.0, -1.0):
            solved = linprog(
                sign * matrix[place],
                A_ub=np.concatenate(under),
                b_ub=np.concatenate(limits),
                A_eq=matrix[same],
                b_eq=low[same],
                bounds=(None, None),
            )
            ends.append(sign * solved.fun if solved.status == 0 else -sign * np.inf)
        return ends[0], ends[1]

    def whole(self, place: int) -> tuple[float, float]:
        """The same where all cells are whole numbers."""
        matrix, (low, high) = self._matrix(), self.ends()
        cells, width = matrix.shape
        equal = LinearConstraint(np.hstack([matrix, -np.eye(cells)]), 0, 0)
        limits = Bounds(
            np.concatenate([np.full(width, -np.inf), np.ceil(low - 1e-9)]),
            np.concatenate([np.full(width, np.inf), np.floor(high + 1e-9)]),
        )
        ends = []
        for sign in (1.0, -1.0):
            cost = np.zeros(width + cells)
            cost[width + place] = sign
            kinds = np.concatenate([np.zeros(width), np.ones(cells)])
            solved = milp(cost, constraints=equal, bounds=limits, integrality=kinds)
            ends.append(sign * solved.fun if solved.status == 0 else -sign * np.inf)
        return ends[0], ends[1]

    def ratio(self, above: int, below: int) -> tuple[float, float]:
        """Least and largest quotient of two cells, of which that below is above 0.

        With all numbers multiplied by how often the cell below goes into 1, it is linear.
        """
        matrix, (low, high) = self._matrix(), self.ends()
        rows: list[list[float]] = []
        for row, first, last in zip(matrix, low, high, strict=True):
            if np.isfinite(last):
                rows.append([*row, -last])
            if np.isfinite(first):
                rows.append([*-row, first])
        ends = []
        for sign in (1.0, -1.0):
            solved = linprog(
                sign * np.append(matrix[above], 0.0),
                A_ub=np.array(rows),
                b_ub=np.zeros(len(rows)),
                A_eq=np.append(matrix[below], 0.0)[None],
                b_eq=[1.0],
                bounds=[*[(None, None)] * matrix.shape[1], (0, None)],
            )
            ends.append(sign * solved.fun if solved.status == 0 else -sign * np.inf)
        return ends[0], ends[1]
