"""L1 and L-infinity consistency: linear programs for small cubes.

L1 minimises the sum, L-infinity the largest, of |consistent − noisy| / standard deviation over all
cells of all noisy cuboids (with equal noise the programs (7) and (6) of the data cubes paper,
section 5.1). The unknowns are the cells of the maximal noisy cuboids, which must agree on what they
have in common: margins that agree pairwise always come from one (signed) cube, so the base cuboid
is never built. Neither estimate has a variance in closed form, and neither need be unique.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import prod

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.engine.cubes.consistency.residual import (
    ConsistentCube,
    Layout,
    Measured,
    consistent_cube,
    layout,
    run_passes,
)
from dpdesk.engine.cubes.lattice import Floats, cells, members
from dpdesk.engine.cubes.solver import OPTIMAL, Ints, Program, Solver, stop_flag

MOST_LINEAR_CELLS = 20_000
"""Cells of all noisy cuboids together beyond which a linear program is refused."""

SECONDS = 300.0
"""Time for the solver unless the caller says otherwise."""

_Entries = tuple[Ints, Ints, Floats]


def least_absolute_cube(
    shape: tuple[int, ...], noisy: Mapping[int, Measured], token: CancelToken | None = None, *,
    seconds: float = SECONDS,
) -> ConsistentCube:  # fmt: skip
    """The consistent cube with the least sum of scaled absolute differences (L1).

    Raises RefusedError beyond :data:`MOST_LINEAR_CELLS` cells or when the solver does not finish in
    ``seconds``; Cancelled.
    """
    return _solved(shape, noisy, _least_sum, token or CancelToken(), seconds)


def least_maximum_cube(
    shape: tuple[int, ...], noisy: Mapping[int, Measured], token: CancelToken | None = None, *,
    seconds: float = SECONDS,
) -> ConsistentCube:  # fmt: skip
    """The consistent cube with the least largest scaled absolute difference (L-infinity).

    Raises as :func:`least_absolute_cube` does.
    """
    return _solved(shape, noisy, _least_largest, token or CancelToken(), seconds)


class _Unknowns:
    """Numbers of the unknowns: the cells of every maximal noisy cuboid, one after the other."""

    def __init__(self, shape: tuple[int, ...], noisy: Mapping[int, Measured]) -> None:
        self.shape = shape
        self.cuboids = [
            mask
            for mask in noisy
            if not any(mask != other and mask & ~other == 0 for other in noisy)
        ]
        sizes = np.array([cells(mask, shape) for mask in self.cuboids], np.int64)
        self.starts = dict(zip(self.cuboids, np.cumsum(sizes) - sizes, strict=True))
        self.count = int(sizes.sum())

    def sums(self, coarse: int, fine: int) -> tuple[Ints, Ints]:
        """For every cell of the maximal cuboid ``fine``: the cell of ``coarse``, its unknown."""
        axes = members(fine)
        sides = [self.shape[i] for i in axes]
        grid = np.indices(sides).reshape(len(axes), prod(sides))
        place = np.zeros(grid.shape[1], np.int64)
        for axis, index in zip(axes, grid, strict=True):
            if coarse >> axis & 1:
                place = place * self.shape[axis] + index
        return place, self.starts[fine] + np.arange(grid.shape[1], dtype=np.int64)

    def above(self, coarse: int) -> int:
        """A maximal cuboid that gives ``coarse``."""
        return next(mask for mask in self.cuboids if coarse & ~mask == 0)


def _solved(
    shape: tuple[int, ...], noisy: Mapping[int, Measured],
    goal: Callable[[_Unknowns, _Entries, Floats, Floats, _Entries, int], Program],
    token: CancelToken, seconds: float,
) -> ConsistentCube:  # fmt: skip
    total = sum(cells(mask, shape) for mask in noisy)
    if total > MOST_LINEAR_CELLS:
        raise RefusedError(
            "cube.too-large-for-linear",
            msg(
                "The noisy cuboids have {total:,} cells together; L1 and L-infinity consistency "
                "take at most {most:,}.",
                total=total,
                most=MOST_LINEAR_CELLS,
            ),
            hint='Choose the consistency "l2".',
        )
    unknowns = _Unknowns(shape, noisy)
    program = goal(unknowns, *_measurements(unknowns, noisy), *_agreement(unknowns))
    with Solver() as solver:
        answer = solver.solve(program, seconds, token)
    if answer.status != OPTIMAL or answer.x is None:
        raise RefusedError(
            "cube.linear-unfinished",
            msg(
                "The linear program of the consistency was not solved in {seconds:,.0f} seconds.",
                seconds=seconds,
            ),
            hint='Choose the consistency "l2".',
        )
    # The solver meets equations to 1e-7; least squares over its answer makes them hold to rounding.
    agreed = {mask: Measured(_part(unknowns, answer.x, mask), 1.0) for mask in unknowns.cuboids}
    return replace(consistent_cube(shape, agreed, token=token), least_squares=False)


def _part(unknowns: _Unknowns, values: Floats, mask: int) -> Floats:
    sides = [unknowns.shape[i] for i in members(mask)]
    start = unknowns.starts[mask]
    return values[start : start + cells(mask, unknowns.shape)].reshape(sides)


def _measurements(
    unknowns: _Unknowns, noisy: Mapping[int, Measured]
) -> tuple[_Entries, Floats, Floats]:
    """The matrix from unknowns to all noisy cells, the noisy values, and 1/standard deviation."""
    rows, columns, values, weights = [], [], [], []
    first = 0
    for mask, source in noisy.items():
        place, unknown = unknowns.sums(mask, unknowns.above(mask))
        rows.append(first + place)
        columns.append(unknown)
        values.append(source.values.reshape(-1).astype(np.float64))
        weights.append(np.full(source.values.size, np.sqrt(source.information)))
        first += source.values.size
    entries = np.concatenate(rows), np.concatenate(columns), np.ones(sum(map(len, rows)))
    return entries, np.concatenate(values), np.concatenate(weights)


def _agreement(unknowns: _Unknowns) -> tuple[_Entries, int]:
    """Equations: two maximal cuboids have the same margin on their common dimensions."""
    rows, columns, values = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0)]
    count = 0
    for one, other in combinations(unknowns.cuboids, 2):
        common = one & other
        for mask, sign in ((one, 1.0), (other, -1.0)):
            place, unknown = unknowns.sums(common, mask)
            rows.append(count + place)
            columns.append(unknown)
            values.append(np.full(len(place), sign))
        count += cells(common, unknowns.shape)
    return (np.concatenate(rows), np.concatenate(columns), np.concatenate(values)), count


def _least_sum(
    unknowns: _Unknowns, entries: _Entries, noisy: Floats, weights: Floats,
    agreement: _Entries, equations: int,
) -> Program:  # fmt: skip
    """Find x with A x + up − down = noisy, the weighted sum of up and down least."""
    cells_ = np.arange(len(noisy), dtype=np.int64)
    up, down = unknowns.count + cells_, unknowns.count + len(noisy) + cells_
    free = np.full(unknowns.count, -np.inf)
    right = np.append(noisy, np.zeros(equations))
    return Program(
        cost=np.concatenate([np.zeros(unknowns.count), weights, weights]),
        rows=np.concatenate([entries[0], cells_, cells_, len(noisy) + agreement[0]]),
        columns=np.concatenate([entries[1], up, down, agreement[1]]),
        values=np.concatenate(
            [entries[2], np.ones(len(noisy)), -np.ones(len(noisy)), agreement[2]]
        ),
        least=right,
        most=right,
        lower=np.append(free, np.zeros(2 * len(noisy))),
        upper=np.full(unknowns.count + 2 * len(noisy), np.inf),
    )


def _least_largest(
    unknowns: _Unknowns, entries: _Entries, noisy: Floats, weights: Floats,
    agreement: _Entries, equations: int,
) -> Program:  # fmt: skip
    """Find x with −z ≤ weight (A x − noisy) ≤ z, z least; z is the last unknown."""
    count = len(noisy)
    scaled = entries[2] * weights[entries[0]]
    right = noisy * weights
    rows = np.arange(count, dtype=np.int64)
    last = np.full(count, unknowns.count, np.int64)
    infinite = np.full(count, np.inf)
    zero = np.zeros(equations)
    lower: NDArray[np.float64] = np.append(np.full(unknowns.count, -np.inf), 0.0)
    return Program(
        cost=np.append(np.zeros(unknowns.count), 1.0),
        rows=np.concatenate(
            [entries[0], rows, count + entries[0], count + rows, 2 * count + agreement[0]]
        ),
        columns=np.concatenate([entries[1], last, entries[1], last, agreement[1]]),
        values=np.concatenate([scaled, -np.ones(count), scaled, np.ones(count), agreement[2]]),
        least=np.concatenate([-infinite, right, zero]),
        most=np.concatenate([right, infinite, zero]),
        lower=lower,
        upper=np.full(unknowns.count + 1, np.inf),
    )


# Single cells that are known exactly: the least-squares estimate given that they are.
#
# The covariance of a cell with all others is what the passes of the consistency make of a 1 in
# that cell (residual.py). Cells are pinned one after the other: each takes from every other cell
# what it shares with it, as regression on a known value does. Unbiased, and no variance grows.


Pins = Sequence[tuple[int, tuple[int, ...]]]
"""Known cells: a cuboid, and places along its dimensions."""

MOST_PINNED = 40_000_000
"""Known cells times cells of all cuboids together, at most: 8 bytes for each."""

_NOTHING = 1e-9


def pinned_cube(
    cube: ConsistentCube, pins: Pins, values: Sequence[int], token: CancelToken
) -> ConsistentCube:
    """The estimate given these values of these cells. Raises Cancelled."""
    cells = cube.cells.copy()
    for place, direction, spread in _directions(cube.places, cube.known, pins, token):
        at = _place(cube.places, *pins[place])
        cells += direction * ((values[place] - cells[at]) / spread)
    return replace(cube, cells=cells)


def pinned_variances(
    known: Floats, shape: Sequence[int], cuboids: Sequence[int], pins: Pins, token: CancelToken
) -> dict[int, float]:
    """The variance of the least exact cell of each of these cuboids, given the known cells.

    ``known`` is W per residual, infinite where it is exact.
    """
    from dpdesk.engine.cubes.lattice import cell_variances

    places = layout([*cuboids, *(mask for mask, _ in pins)], shape)
    gain = np.zeros(places.total)
    for _, direction, _ in _directions(places, known, pins, token):
        gain += direction**2
    before = cell_variances(known, shape)
    found = {}
    for mask in cuboids:
        start, whole = places.starts[mask], float(before[mask])
        left = whole - float(gain[start : start + places.sizes[mask]].min())
        found[mask] = left if left > _NOTHING * whole else 0.0
    return found


def _directions(
    places: Layout, known: Floats, pins: Pins, token: CancelToken
) -> list[tuple[int, Floats, float]]:
    """Which pin, how all cells move with it, and its own deviation; those before it taken out."""
    found: list[tuple[int, Floats, float]] = []
    inverse = np.divide(1.0, known, out=np.zeros_like(known), where=known > 0)
    with stop_flag(token) as stop:
        for number, (mask, cell) in enumerate(pins):
            at = _place(places, mask, cell)
            moves = np.zeros(places.total)
            moves[at] = 1.0
            run_passes(places, moves, inverse, stop)
            token.check()
            alone = moves[at]
            for _, earlier, _ in found:
                moves -= earlier * earlier[at]
            if moves[at] <= _NOTHING * alone:  # follows from those before
                continue
            spread = float(np.sqrt(moves[at]))
            found.append((number, moves / spread, spread))
    return found


def _place(places: Layout, mask: int, cell: Sequence[int]) -> int:
    """Where a cell lies in the buffer."""
    at = 0
    for place, axis in zip(cell, members(mask), strict=True):
        at = at * places.shape[axis] + place
    return int(places.starts[mask]) + at
