"""Where the cuboids of a down-closure lie in one flat buffer, and how passes walk over them.

Each cuboid of the down-closure is one contiguous block, its axes ascending. The last axes are the
inner ones: all blocks restricted to one index of the outer axes (a slab) fit in the processor's
cache, so that all passes along inner axes cost one trip through memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from dpdesk.core.errors import RefusedError
from dpdesk.core.messages import msg
from dpdesk.engine.cubes.lattice import down_closure, lattice_sizes
from dpdesk.engine.cubes.stopping import Ints

MOST_CELLS = 256_000_000
"""Cells of all cuboids together (8 bytes each) beyond which a cube is refused."""

_CACHED_CELLS = 1 << 16
_MOST_MOVES = 1 << 22


@dataclass(frozen=True, eq=False)
class Slabs:
    """Blocks that share their outer axes: moves along inner axes, and (start, cells of a slab)."""

    masks: Ints
    moves: Ints
    blocks: Ints
    count: int


@dataclass(frozen=True, eq=False)
class Layout:
    """Blocks of a down-closure: masks, where each starts (−1 if it has no place), and moves.

    ``outer`` holds the moves along each outer axis, ``inner`` the slabs by outer axes.
    """

    shape: tuple[int, ...]
    masks: Ints
    starts: Ints
    sizes: Ints
    outer: tuple[Ints, ...]
    inner: tuple[Slabs, ...]

    @property
    def total(self) -> int:
        """Cells of all blocks."""
        return int(self.sizes[self.masks].sum())


def cells_below(cuboids: Iterable[int], shape: Sequence[int]) -> int:
    """Cells of all cuboids that can be computed from these, themselves included."""
    return int(lattice_sizes(shape)[down_closure(cuboids, len(shape))].sum())


def layout(cuboids: Iterable[int], shape: Sequence[int]) -> Layout:
    """Places for all cuboids below these; raises RefusedError when they are too many cells."""
    below = down_closure(cuboids, len(shape))
    exact = lattice_sizes(shape)
    masks = np.flatnonzero(below).astype(np.int64)
    total = float(exact[masks].sum())
    if total > MOST_CELLS or len(masks) * len(shape) > _MOST_MOVES:
        raise RefusedError(
            "cube.too-large",
            msg(
                "The cuboids that the noise determines have {total:,.0f} cells together "
                "({gigabytes:,.1f} GB); consistency takes at most {most:,}.",
                total=total,
                gigabytes=total * 8 / 1000000000.0,
                most=MOST_CELLS,
            ),
            hint="Publish fewer or smaller cuboids, or choose a planner of smaller noise sources.",
        )
    sizes = np.where(below, exact, 0).astype(np.int64)
    starts = np.full(len(below), -1, np.int64)
    starts[masks] = np.cumsum(sizes[masks]) - sizes[masks]
    split = _outer_axes(shape)
    outer = tuple(_moves(masks, axis, shape, starts, 0) for axis in range(split))
    return Layout(
        tuple(shape), masks, starts, sizes, outer, tuple(_slabs(masks, split, shape, starts))
    )


def _outer_axes(shape: Sequence[int]) -> int:
    """How many leading axes are outer, so that a slab of all inner blocks is small."""
    split = len(shape)
    while split > 0 and prod(n + 1 for n in shape[split - 1 :]) <= _CACHED_CELLS:
        split -= 1
    return split


def _size_of(masks: Ints, axes: range, shape: Sequence[int]) -> Ints:
    """Product of the cardinalities of those dimensions of each mask that are in ``axes``."""
    sizes = np.ones(len(masks), np.int64)
    for axis in axes:
        sizes[(masks >> axis & 1).astype(bool)] *= shape[axis]
    return sizes


def _moves(masks: Ints, axis: int, shape: Sequence[int], starts: Ints, split: int) -> Ints:
    """Moves along ``axis`` for the masks that have it; strides are slabs of axes from ``split``."""
    masks = masks[(masks >> axis & 1).astype(bool)]
    below = masks ^ (1 << axis)
    inner = range(split, len(shape))
    columns = (
        starts[masks],
        starts[below],
        _size_of(masks, range(split, axis), shape),
        np.full(len(masks), shape[axis]),
        _size_of(masks, range(axis + 1, len(shape)), shape),
        _size_of(masks, inner, shape),
        _size_of(below, inner, shape),
    )
    return np.ascontiguousarray(np.stack(columns, axis=1), np.int64)


def _slabs(masks: Ints, split: int, shape: Sequence[int], starts: Ints) -> Iterable[Slabs]:
    outside = masks & ((1 << split) - 1)
    order = np.argsort(outside, kind="stable")
    cuts = np.flatnonzero(np.diff(outside[order])) + 1
    for group in np.split(masks[order], cuts):
        moves = [_moves(group, axis, shape, starts, split) for axis in range(split, len(shape))]
        blocks = np.stack([starts[group], _size_of(group, range(split, len(shape)), shape)], axis=1)
        count = int(_size_of(group[:1], range(split), shape)[0])
        whole = np.concatenate([np.empty((0, 7), np.int64), *moves])
        yield Slabs(group, whole, np.ascontiguousarray(blocks), count)
