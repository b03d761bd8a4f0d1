"""Single cells that are known exactly: the least-squares estimate given that they are.

The covariance of a cell with all others is what the passes of the consistency make of a 1 in that
cell (residual.py). Cells are pinned one after the other: each takes from every other cell what it
shares with it, as regression on a known value does. Unbiased, and no variance grows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.cubes.consistency.blocks import Layout, layout
from dpdesk.engine.cubes.consistency.residual import ConsistentCube, run_passes
from dpdesk.engine.cubes.lattice import Floats, members
from dpdesk.engine.cubes.stopping import stop_flag

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
