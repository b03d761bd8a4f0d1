"""Views that agree and hold no negative number, made of noisy ones; no source is reached.

Two views agree when they give the same sums over what they share. The tables nearest to the noisy
ones (least squares, each cell by its inverse variance) that do so follow in closed form: for every
set A that is the intersection of some views, those that hold A get the weighted mean of their
sums over everything else, and each cell takes an equal part of the difference. Done in an order in
which every A comes after its subsets, a step undoes none before it: the mean of tables that agree
on B, a subset of A, agrees with them on B.

The weights are exact for views of unequal size and noise. Let view C have noise of variance s² in
a cell, and mag(B, C) cells for each cell of B. Of its sums over B, the part that no subset of B
tells (the residual) has the variance s² mag(B, C) but for a factor that all views share. Where B
is the intersection of all views that hold it, the mean by 1/(s² mag(B, C)) is the best estimate of
it. Any other B has the same holders as the intersection A of them; mag(B, C) = mag(B, A) mag(A, C)
has the same ratios, so the step at A does it right as well.

Negative cells become 0 and their deficit is taken from the cells that differ in one attribute
("ripple"), which keeps the total, and views are made to agree again, in turns. The first turn looks
at cells below minus the noise's standard deviation, each further one at half of that: most small
negative cells are gone by then, and their neighbours keep what they have. What is still negative
at the end is removed by mixing all views with the uniform table of the same total, by the least
share that does it: uniform tables agree, so mixtures of tables that agree do. Where the total is 0
or less, all cells are 0.

Source: PriView slides; inverse variances, the order of turns and the last step are our own
(resources/docs/views.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.compiled import kernel
from dpdesk.core.jobs import CancelToken, Report, StepProgress

Floats = NDArray[np.float64]
Places = tuple[int, ...]
Array = Any
_TURNS = 400
_NEARLY = 1e-3
_STEP = "Make the views agree"


def shared_sets(views: Sequence[Places], most: int) -> tuple[Places, ...] | None:
    """Intersections of two or more views, each after its subsets; None for more than ``most``."""
    masks = [sum(1 << place for place in view) for view in views]
    closed: set[int] = set()
    for mask in masks:
        closed |= {mask} | {mask & each for each in closed}
        if len(closed) > most:
            return None
    shared = [each for each in closed if sum(not each & ~mask for mask in masks) > 1]
    found = [tuple(i for i in range(each.bit_length()) if each >> i & 1) for each in shared]
    return tuple(sorted(found, key=lambda each: (len(each), each)))


def cell_index(view: Places, part: Places, shape: Sequence[int]) -> NDArray[np.int32]:
    """For each cell of a view, in domain order, the cell of one of its parts."""
    sizes = [shape[i] if i in part else 1 for i in view]
    found = np.arange(prod(sizes), dtype=np.int32).reshape(sizes)
    return np.broadcast_to(found, [shape[i] for i in view]).reshape(-1)


@dataclass(frozen=True, eq=False)
class Overlaps:
    """Where views meet: for each shared set its cells, and of each view that holds it the cell of
    the set to which each of its own belongs. ``starts`` are the places of views in one array.
    """

    starts: NDArray[np.int64]
    groups: NDArray[np.int64]
    sizes: NDArray[np.int64]
    holders: NDArray[np.int64]
    places: NDArray[np.int64]
    index: NDArray[np.int32]

    @classmethod
    def of(
        cls, views: Sequence[Places], shape: Sequence[int], shared: Sequence[Places]
    ) -> Overlaps:
        """The overlaps of views over dimensions of this shape."""
        cells = [prod(shape[i] for i in view) for view in views]
        groups, holders, places, index = [0], [], [0], []
        for part in shared:
            for number, view in enumerate(views):
                if set(part) <= set(view):
                    holders.append(number)
                    index.append(cell_index(view, part, shape))
                    places.append(places[-1] + cells[number])
            groups.append(len(holders))
        sizes = [prod(shape[i] for i in part) for part in shared]
        return cls(
            np.cumsum([0, *cells]),
            np.array(groups, np.int64),
            np.array(sizes, np.int64),
            np.array(holders, np.int64),
            np.array(places, np.int64),
            np.concatenate([np.zeros(0, np.int32), *index]),
        )

    def weights(self, variances: Sequence[float]) -> Floats:
        """1/(s² mag(A, C)) of each pair of a shared set and a view that holds it."""
        least = min(variances)
        cells, many = np.diff(self.starts)[self.holders], np.diff(self.groups)
        size = np.repeat(self.sizes, many)
        return np.asarray(least / np.asarray(variances)[self.holders] * size / cells)


def agreeing(
    views: Sequence[Places],
    shape: Sequence[int],
    shared: Sequence[Places],
    tables: Sequence[NDArray[Any]],
    variances: Sequence[float],
    token: CancelToken,
    report: Report,
) -> tuple[Floats, ...]:
    """Views that agree, without a negative cell, from noisy ``tables`` of these ``variances``.

    Raises Cancelled.
    """
    over = Overlaps.of(views, shape, shared)
    weights = over.weights(variances)
    values = np.concatenate([np.asarray(each, np.float64).reshape(-1) for each in tables])
    shapes = [np.array([shape[i] for i in view], np.int64) for view in views]
    sums, deviation = _room(over), sqrt(max(variances))
    _agree(values, over.starts, over.groups, over.sizes, over.holders, over.places, over.index,
           weights, *sums)  # fmt: skip
    for turn in range(_TURNS):
        token.check()
        report(StepProgress(_STEP, turn, _TURNS, "turns"))
        bound = _NEARLY * uniform_cell(values, over)
        if bound <= 0 or values.min() >= -bound:
            break
        least = max(deviation * 0.5**turn, bound / 4)
        for number, sizes in enumerate(shapes):
            part = values[over.starts[number] : over.starts[number + 1]]
            _ripple(part, sizes, least)
        _agree(values, over.starts, over.groups, over.sizes, over.holders, over.places,
               over.index, weights, *sums)  # fmt: skip
    mixed(values, over)
    pieces = np.split(values, over.starts[1:-1])
    return tuple(
        piece.reshape([shape[i] for i in view]) for piece, view in zip(pieces, views, strict=True)
    )


def _room(over: Overlaps) -> tuple[Floats, Floats]:
    many = int(np.diff(over.groups).max(initial=0))
    largest = int(over.sizes.max(initial=0))
    return np.empty((many, largest)), np.empty(largest)


def uniform_cell(values: Floats, over: Overlaps) -> float:
    """What a cell of the largest view would hold if all were equal."""
    total = float(values[: over.starts[1]].sum())
    return total / float(np.diff(over.starts).max())


def mixed(values: Floats, over: Overlaps) -> float:
    """Mix with uniform tables by the least share that leaves no negative cell; that share."""
    total = float(values[: over.starts[1]].sum())
    if total <= 0:
        values[:] = 0
        return 1.0
    cells = np.diff(over.starts)
    even = np.repeat(total / cells, cells)
    below = values < 0
    if not below.any():
        return 0.0
    share = float((-values[below] / (even[below] - values[below])).max())
    values += share * (even - values)
    np.maximum(values, 0, out=values)  # what rounding leaves below 0 is smaller than 1e-15 of it
    return share


@kernel
def _agree(
    values: Array, starts: Array, groups: Array, sizes: Array, holders: Array, places: Array,
    index: Array, weights: Array, sums: Array, mean: Array,
) -> None:  # fmt: skip
    """Make views agree on every shared set, in place."""
    for group in range(len(sizes)):
        size, first, end = sizes[group], groups[group], groups[group + 1]
        mean[:size] = 0
        whole = 0.0
        for pair in range(first, end):
            row, start = sums[pair - first], starts[holders[pair]]
            row[:size] = 0
            base = places[pair]
            for cell in range(starts[holders[pair] + 1] - start):
                row[index[base + cell]] += values[start + cell]
            weight = weights[pair]
            whole += weight
            for cell in range(size):
                mean[cell] += weight * row[cell]
        for cell in range(size):
            mean[cell] /= whole
        for pair in range(first, end):
            row, start = sums[pair - first], starts[holders[pair]]
            many = starts[holders[pair] + 1] - start
            base, part = places[pair], size / many
            for cell in range(size):
                row[cell] = (mean[cell] - row[cell]) * part
            for cell in range(many):
                values[start + cell] += row[index[base + cell]]


@kernel
def _ripple(values: Array, shape: Array, least: float) -> None:
    """Cells below ``-least`` become 0; those that differ in one attribute bear the deficit."""
    many, neighbours = len(values), 0
    for size in shape:
        neighbours += size - 1
    if neighbours == 0 or values.sum() <= 0:
        return
    for _ in range(10_000):
        found = False
        for cell in range(many):
            if values[cell] >= -least:
                continue
            found = True
            deficit = values[cell] / neighbours
            values[cell] = 0
            stride = many
            for axis in range(len(shape)):
                stride //= shape[axis]
                own = cell // stride % shape[axis]
                for other in range(shape[axis]):
                    if other != own:
                        values[cell + (other - own) * stride] += deficit
        if not found:
            return
