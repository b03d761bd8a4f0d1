"""L2 consistency: the least-squares fit to all noisy cuboids at once, in linear time.

The problem is diagonal in the residual (ANOVA) basis: the S-residual of the cube is seen by every
noisy cuboid C above S, with a variance proportional to variance(C) * mag(S, C), and the best linear
unbiased estimate is the mean weighted by inverse variance. In terms of blocks (cuboids):

1. block of C = noisy(C)/variance(C), 0 without noise; W alike with 1/variance(C);
2. along each axis i the block without i adds the mean along i of the block with i, W alike;
3. each block is divided by its W;
4. along each axis i the block with i loses its mean along i;
   (a block below an exact cuboid is that cuboid's residual instead);
5. along each axis i the block with i gains the block without i, divided by n_i.

Steps along different axes commute, so 4 and 5 are one pass per axis, and passes may run slab by
slab. The cost is cells times dimensions, whatever the number of noisy cuboids and their variances.
Source: resources/docs/cubes.md, Consistency; it replaces the two-stage algorithm of the data cubes
paper, section 5.2, and covers its weighted extension, section 7.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import count, pairwise
from math import prod

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken, Report, StepProgress, silent
from dpdesk.core.messages import msg
from dpdesk.engine.cubes.lattice import (
    Floats,
    cell_variances,
    down_closure,
    information,
    lattice_sizes,
    members,
)
from dpdesk.engine.cubes.solver import Ints, stop_flag

# Where the cuboids of a down-closure lie in one flat buffer, and how passes walk over them.
#
# Each cuboid of the down-closure is one contiguous block, its axes ascending. The last axes are
# the inner ones: all blocks restricted to one index of the outer axes (a slab) fit in the
# processor's cache, so that all passes along inner axes cost one trip through memory.


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


Numbers = NDArray[np.float64] | NDArray[np.int64]

_THREADS = 2
_PIECES = 8
_SHORT = 200_000


@dataclass(frozen=True, eq=False)
class Measured:
    """Noisy values of one cuboid, axes ascending, and 1/variance of the noise in one cell.

    As a residual source the values count only as far as they say something about the residual:
    whatever smaller cuboids say about them is taken out.
    """

    values: Numbers
    information: float


@dataclass(frozen=True, eq=False)
class ConsistentCube:
    """Values that add up, for every cuboid that the noise determines.

    ``known`` is W of every residual, shape (2^d,), 0 where nothing is known. Variances are known
    of the least-squares estimate alone.
    """

    shape: tuple[int, ...]
    known: Floats
    places: Layout = field(repr=False)
    cells: Floats = field(repr=False)
    least_squares: bool = True

    def determines(self, cuboid: int) -> bool:
        """Whether the noisy cuboids determine this one: the residual of every part is known."""
        return bool(self._determined[self._plain(cuboid)])

    def _plain(self, cuboid: int) -> int:
        """The cuboid without dimensions of one value: the same cells, and these have no residual
        that a source could tell.
        """
        return sum(1 << i for i in members(cuboid) if self.shape[i] > 1)

    @cached_property
    def _determined(self) -> NDArray[np.bool_]:
        """Of every cuboid whether all residuals below it are known, shape (2^d,)."""
        whole = self.known > 0
        for axis in range(len(self.shape)):
            pairs = whole.reshape(-1, 2, 1 << axis)
            pairs[:, 1] &= pairs[:, 0]
        return whole

    def cuboid(self, mask: int) -> Floats:
        """Values of a cuboid, axes ascending: a read-only view, so nothing is copied.

        Raises RefusedError for a cuboid that the noise does not determine.
        """
        if not self.determines(mask):
            raise RefusedError(
                "cube.not-determined", "No noisy cuboid determines one that is to be published."
            )
        plain = self._plain(mask)
        start = self.places.starts[plain]
        values = self.cells[start : start + self.places.sizes[plain]]
        values = values.reshape([self.shape[i] for i in members(mask)])
        values.flags.writeable = False
        return values

    def variances(self) -> Floats:
        """Variance of one cell of every cuboid, shape (2^d,), infinite where not determined.

        Raises ValueError unless this is the least-squares estimate.
        """
        if not self.least_squares:
            raise ValueError("only the least-squares estimate has a variance in closed form")
        return cell_variances(self.known, self.shape)


def consistent_cube(
    shape: tuple[int, ...], noisy: Mapping[int, Measured],
    residuals: Mapping[int, Measured] | None = None, *,
    exact: Mapping[int, Numbers] | None = None,
    token: CancelToken | None = None, report: Report = silent,
) -> ConsistentCube:  # fmt: skip
    """The least-squares estimate from noisy cuboids and residual sources, by mask.

    A mask may be in both. ``exact`` are cuboids without noise that agree with each other: residuals
    below them are theirs, and known without end. Memory: 8 bytes for each cell of each cuboid that
    the noise determines, beside the input (twice that with exact cuboids). The estimate is
    unbiased, linear, and of least variance for every cell and every sum of cells.

    Raises RefusedError beyond :data:`~dpdesk.engine.cubes.consistency.residual.MOST_CELLS` cells;
    Cancelled.
    """
    token = token or CancelToken()
    extra = residuals or {}
    known_exactly = exact or {}
    places = layout([*noisy, *extra, *known_exactly], shape)
    own, known = np.zeros((2, 1 << len(shape)))
    for mask, source in noisy.items():
        own[mask] = source.information
    known[:] = information(own, shape)
    for mask, source in extra.items():
        known[mask] += source.information
    token.check()
    cells = _loaded(places, noisy, extra, token)
    with stop_flag(token) as stop:
        if known_exactly:
            known[down_closure(known_exactly, len(shape))] = np.inf
        inverse = np.divide(1.0, known, out=np.zeros_like(known), where=known > 0)
        run_passes(places, cells, inverse, stop, report)
        if known_exactly:
            cells += _exact_cells(places, known_exactly, known, stop)
    token.check()
    return ConsistentCube(tuple(shape), known, places, cells)


def _exact_cells(places: Layout, exact: Mapping[int, Numbers], known: Floats, stop: Ints) -> Floats:
    """The buffer of a cube with the residuals of the exact cuboids and no others.

    Residuals of the estimate do not mix, so this is what the noisy part lacks.
    """
    own = np.zeros_like(known)
    own[list(exact)] = 1.0
    weights = np.where(np.isinf(known), information(own, places.shape), 0.0)
    inverse = np.divide(1.0, weights, out=np.zeros_like(weights), where=weights > 0)
    cells = np.zeros(places.total)
    for mask, values in exact.items():
        _scaled(Measured(values, 1.0), _block(places, cells, mask))
    run_passes(places, cells, inverse, stop)
    return cells


def _loaded(
    places: Layout, noisy: Mapping[int, Measured], residuals: Mapping[int, Measured],
    token: CancelToken,
) -> Floats:  # fmt: skip
    """The buffer after step 1; residual sources are projected, so they lower to nothing."""
    cells = np.zeros(places.total)
    for mask, source in noisy.items():
        token.check()
        _scaled(source, _block(places, cells, mask))
    for mask, source in residuals.items():
        token.check()
        projected = np.empty(places.sizes[mask])
        _scaled(source, projected)
        _project(projected, [places.shape[i] for i in members(mask)])
        _block(places, cells, mask)[:] += projected
    return cells


def _block(places: Layout, cells: Floats, mask: int) -> Floats:
    return cells[places.starts[mask] : places.starts[mask] + places.sizes[mask]]


def _scaled(source: Measured, target: Floats) -> None:
    np.multiply(source.values.reshape(-1), source.information, out=target)


def _project(values: Floats, shape: list[int]) -> None:
    """Take out of flat ``values`` all means along axes."""
    from dpdesk.engine.cubes.consistency import kernels

    before, after = 1, values.size
    for n in shape:
        after //= n
        kernels.center(values, before, n, after)
        before *= n


def run_passes(
    places: Layout, cells: Floats, inverse: Floats, stop: Ints, report: Report = silent
) -> None:
    """Steps 2 to 5 on the buffer, ``inverse`` being 1/W by mask; ends early when stopped."""
    from dpdesk.engine.cubes.consistency import kernels

    steps = 2 * len(places.outer) + 1
    with ThreadPoolExecutor(_THREADS) as pool:
        # Threads cost more than they save on a small cube.
        each = pool.map if len(cells) > _SHORT else map
        done = count(1)
        for moves in places.outer:
            list(each(lambda part: kernels.lower_axis(cells, part, stop), _parts(moves)))
            report(StepProgress("consistency", next(done), steps, "passes"))
        pieces = [
            partial(
                kernels.solve_slabs, cells, slabs.moves, slabs.blocks, inverse[slabs.masks],
                first, last, stop,
            )
            for slabs in places.inner
            for first, last in _ranges(slabs.count)
        ]  # fmt: skip
        list(each(lambda piece: piece(), pieces))
        report(StepProgress("consistency", next(done), steps, "passes"))
        for moves in places.outer:
            list(each(lambda part: kernels.settle_axis(cells, part, stop), _parts(moves)))
            report(StepProgress("consistency", next(done), steps, "passes"))


def _parts(moves: Ints) -> list[Ints]:
    """Moves dealt out evenly: blocks of a kind have neighbouring masks."""
    return [np.ascontiguousarray(moves[part::_THREADS]) for part in range(_THREADS)]


def _ranges(slabs: int) -> list[tuple[int, int]]:
    edges = np.linspace(0, slabs, min(slabs, _PIECES) + 1).astype(int).tolist()
    return list(pairwise(edges))
