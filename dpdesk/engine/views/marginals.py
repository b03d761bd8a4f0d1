"""Marginals of any attributes from views that agree; nothing but the views is reached.

A marginal that lies in a view is summed up from it. Any other is the table of largest entropy among
those that have the sums that the views tell (iterative scaling), or the one nearest to a uniform
table without negative cells (least squares, Dykstra's rule). Views also tell of attributes that
connect those asked for: the table of largest entropy is fitted over the marginal and the attributes
that lie with most of its own in views (its closure, by names alone), summed up, and fitted once
more to what the views tell of the marginal itself.

Views that agree pairwise need not be sums of one table; where none exists, scaling goes in circles.
It then ends with steps towards all views at once. What is left, the largest difference of a sum
from what a view says (``gap``), is given with each marginal: the certificate of convergence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.compiled import kernel
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.views.consistency import Places, cell_index

Floats = NDArray[np.float64]
Array = Any
CLOSURE_CELLS = 2048
_NEAR, _NEARLY = 1e-9, 1e-5
_SWEEPS, _POLISHING, _TOGETHER, _EVENING = 100, 400, 60, 1000


@dataclass(frozen=True, eq=False)
class Marginal:
    """A table over some attributes in ascending order.

    ``gap`` is the largest difference, over the total, of its sums from what the views say.
    """

    places: Places
    values: Floats = field(repr=False)
    gap: float
    covered: bool


@dataclass(frozen=True, eq=False)
class AgreeingViews:
    """Views that agree, over dimensions of this shape; ``tables`` have the shapes of the views."""

    shape: tuple[int, ...]
    tables: Mapping[Places, Floats] = field(repr=False)

    @property
    def total(self) -> float:
        """The sum of all cells, the same in each view."""
        return float(next(iter(self.tables.values())).sum())

    def marginal(self, places: Places, token: CancelToken, *, entropy: bool) -> Marginal:
        """The marginal of these attributes, ascending: by largest entropy, or by least squares.

        Raises Cancelled.
        """
        token.check()
        sizes, views = [self.shape[i] for i in places], tuple(self.tables)
        if not places or places in parts_of(views, places):
            return Marginal(places, self._sums(places).reshape(sizes), 0.0, True)
        total, cells = self.total, prod(sizes)
        table = np.full(cells, max(total, 0.0) / cells)
        if total <= 0:
            return Marginal(places, table.reshape(sizes), 0.0, False)
        if not entropy:
            gap = self._fit(table, places, _nearest, _EVENING, _NEAR)
            table *= total / table.sum()
            return Marginal(places, table.reshape(sizes), gap, False)
        wide = closure(views, places, self.shape)
        if len(wide) > len(places):
            shape = [self.shape[i] for i in wide]
            around = np.full(prod(shape), total / prod(shape))
            self._fit(around, wide, _scale, _SWEEPS, _NEARLY)
            gone = tuple(axis for axis, i in enumerate(wide) if i not in places)
            summed = around.reshape(shape).sum(axis=gone).reshape(-1)
            table = np.array(summed * (total / summed.sum()))
        gap = self._fit(table, places, _scale, _POLISHING, _NEAR)
        if gap > _NEAR:
            gap = self._fit(table, places, _together, _TOGETHER, _NEAR)
        return Marginal(places, table.reshape(sizes), gap, False)

    def _sums(self, places: Places) -> Floats:
        """What the smallest view that has these attributes says of them, in one axis."""
        holding = [view for view in self.tables if set(places) <= set(view)]
        view = min(holding, key=lambda each: (self.tables[each].size, each))
        gone = tuple(axis for axis, i in enumerate(view) if i not in places)
        return np.asarray(self.tables[view].sum(axis=gone)).reshape(-1)

    def _fit(self, table: Floats, places: Places, rule: Array, sweeps: int, near: float) -> float:
        """Fit a table in place to what the views say of its parts; the largest gap, in shares."""
        parts = parts_of(tuple(self.tables), places)
        targets = [self._sums(part) for part in parts]
        starts = np.cumsum([0, *(len(each) for each in targets)])
        index = np.stack([cell_index(places, part, self.shape) for part in parts])
        wanted, total = np.concatenate(targets), self.total
        sums = np.empty(len(wanted))
        return float(rule(table, index, wanted, starts, sums, sweeps, near * total)) / total


def parts_of(views: Sequence[Places], places: Places) -> tuple[Places, ...]:
    """What views tell of these attributes: the largest sets of them that lie in a view, sorted."""
    found = {tuple(i for i in view if i in places) for view in views}
    largest = [each for each in found if not any(set(each) < set(other) for other in found)]
    return tuple(sorted(largest))


def closure(views: Sequence[Places], places: Places, shape: Sequence[int]) -> Places:
    """The attributes with those that connect them best, while the cells are few.

    An attribute counts the square of the number of the attributes asked for in each view that it
    lies in; of equal ones the first is taken.
    """
    held = [(view, len(set(view) & set(places)) ** 2) for view in views]
    scores = {i: sum(count for view, count in held if i in view) for i in range(len(shape))}
    found, cells = list(places), prod(shape[i] for i in places)
    for i in sorted(set(scores) - set(places), key=lambda each: (-scores[each], each)):
        if scores[i] and cells * shape[i] <= CLOSURE_CELLS:
            found.append(i)
            cells *= shape[i]
    return tuple(sorted(found))


@kernel
def _project(table: Array, row: Array, sums: Array, first: int, size: int) -> None:
    """The sums of one part, into their place."""
    sums[first : first + size] = 0
    for cell in range(len(table)):
        sums[first + row[cell]] += table[cell]


@kernel
def _scale(
    table: Array, index: Array, targets: Array, starts: Array, sums: Array, sweeps: int, near: float
) -> float:  # fmt: skip
    """Scale a table to each of its parts in turn, until no sum misses its target by ``near``.

    ``index`` (parts, cells) names the cell of a part to which each cell belongs; ``targets`` holds
    all parts, one after the other from ``starts`` on. Returns the largest gap of the last sweep.
    """
    gap = 0.0
    for _ in range(sweeps):
        gap = 0.0
        for part in range(len(index)):
            first, row = starts[part], index[part]
            size = starts[part + 1] - first
            _project(table, row, sums, first, size)
            for cell in range(first, first + size):
                gap = max(gap, abs(targets[cell] - sums[cell]))
                sums[cell] = targets[cell] / sums[cell] if sums[cell] > 0 else 0.0
            for cell in range(len(table)):
                table[cell] *= sums[first + row[cell]]
        if gap <= near:
            break
    return gap


@kernel
def _together(
    table: Array, index: Array, targets: Array, starts: Array, sums: Array, sweeps: int, near: float
) -> float:  # fmt: skip
    """Scale a table by the geometric mean of what each part asks; the largest gap at the end.

    All sweeps are made, for the parts contradict each other: ``near`` has no say.
    """
    many, total = len(index), targets[: starts[1]].sum()
    for _ in range(sweeps):
        for part in range(many):
            first = starts[part]
            _project(table, index[part], sums, first, starts[part + 1] - first)
        for cell in range(starts[many]):
            ratio = targets[cell] / sums[cell] if sums[cell] > 0 else 0.0
            sums[cell] = ratio ** (1 / many)
        whole = 0.0
        for cell in range(len(table)):
            for part in range(many):
                table[cell] *= sums[starts[part] + index[part][cell]]
            whole += table[cell]
        if whole > 0:
            table *= total / whole
    gap = 0.0
    for part in range(many):
        first = starts[part]
        size = starts[part + 1] - first
        _project(table, index[part], sums, first, size)
        for cell in range(first, first + size):
            gap = max(gap, abs(targets[cell] - sums[cell]))
    return gap


@kernel
def _nearest(
    table: Array, index: Array, targets: Array, starts: Array, sums: Array, sweeps: int, near: float
) -> float:  # fmt: skip
    """The table nearest to the given one with all sums and no negative cell (Dykstra's rule).

    The sums are affine, so that their projections need no correction; the cut at 0 has one.
    """
    below, gap = np.zeros(len(table)), 0.0
    for _ in range(sweeps):
        gap = 0.0
        for part in range(len(index)):
            first, row = starts[part], index[part]
            size = starts[part + 1] - first
            _project(table, row, sums, first, size)
            share = size / len(table)
            for cell in range(first, first + size):
                sums[cell] = (targets[cell] - sums[cell]) * share
                gap = max(gap, abs(sums[cell]) / share)
            for cell in range(len(table)):
                table[cell] += sums[first + row[cell]]
        least = 0.0
        for cell in range(len(table)):
            moved = table[cell] + below[cell]
            least = min(least, table[cell])
            table[cell] = max(moved, 0.0)
            below[cell] = min(moved, 0.0)
        if gap <= near and least >= -near:
            break
    return gap
