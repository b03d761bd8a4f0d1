"""Generic sensitivity: how much noise is needed beside cuboids that are released exactly.

Tables that agree with the exact cuboids Q differ by moves that keep Q. The sensitivity S_Q is the
largest L1 norm of a minimal move. Source: exact cuboids paper, section 4, with its formula for
single cells (Lemma 4.3) corrected: resources/docs/exact.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import RefusedError
from dpdesk.core.graver import GraverTool, installed_tool
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.cubes.exact.knowledge import Cell, Knowledge
from dpdesk.engine.cubes.exact.moves import (
    MOST_CELLS,
    minimal_moves,
    symmetries,
    too_large,
)
from dpdesk.engine.cubes.exact.outside import longest_by
from dpdesk.engine.cubes.lattice import cells, members

_TWO, _FOUR = 2, 4
_LONG = 12
_MOST_ASKED = 256
_FOUND: dict[str, GenericSensitivity | RefusedError] = {}


class Origin(Enum):
    """Where a generic sensitivity comes from."""

    NONE = "nothing is exact"
    EVERYTHING = "everything is exact"
    FORMULA = "formula"
    ENUMERATED = "enumeration"
    TOOL = "4ti2"


@dataclass(frozen=True)
class GenericSensitivity:
    """S_Q of the base cuboid; an upper bound for every other cuboid.

    ``l1`` is the largest L1 norm of a minimal move; ``total_fixed`` says that moves keep the
    number of rows, so that they add as many as they take away. ``tool`` names the program that
    computed it, where that is not this one, and its version.
    """

    l1: int
    total_fixed: bool
    origin: Origin
    tool: str = ""

    @property
    def l2_squared(self) -> Fraction:
        """A bound of the squared L2 norm of a minimal move in any cuboid.

        Projections can stack all that a move adds in one cell, and all that it takes in another.
        """
        return Fraction(self.l1**2, 2 if self.total_fixed else 1)


def generic_sensitivity(known: Knowledge, token: CancelToken) -> GenericSensitivity:
    """S_Q of what is known.

    One or two cuboids by formula, whole or in single cells; more by enumeration where that is
    possible, else by the program that is installed for it. Raises RefusedError
    ``cube.exact-too-large``, Cancelled.
    """
    everything = (1 << len(known.shape)) - 1
    if known.gives(everything):
        return GenericSensitivity(0, True, Origin.EVERYTHING)
    if known.total and not known.cells:
        return GenericSensitivity(_TWO, True, Origin.FORMULA)
    if not known.cuboids:
        return GenericSensitivity(1, False, Origin.NONE)
    if len(known.cuboids) > _TWO:
        return _remembered(known, token)
    fixed = bool(known.whole) or _fixes_total(known)
    value = _of_two(known) if len(known.cuboids) == _TWO else _of_one(known)
    if known.total and not fixed:
        doubled = _TWO if len(known.cuboids) == 1 else 2 * value
        return GenericSensitivity(doubled, True, Origin.FORMULA)
    return GenericSensitivity(value, fixed, Origin.FORMULA)


def _remembered(known: Knowledge, token: CancelToken) -> GenericSensitivity:
    """An enumeration, or that it is too large, found once."""
    tool = installed_tool()
    key = repr(known)
    if key not in _FOUND:
        _FOUND[key] = _tried(lambda: _enumerated(known, token))
    found = _FOUND[key]
    if isinstance(found, RefusedError) and tool is not None:
        refusal, key = found, f"{tool.name()} {key}"
        if key not in _FOUND:
            _FOUND[key] = _tried(lambda: _by_tool(known, tool, refusal, token))
        found = _FOUND[key]
    if isinstance(found, RefusedError):
        raise found
    return found


def _tried(compute: Callable[[], GenericSensitivity]) -> GenericSensitivity | RefusedError:
    try:
        return compute()
    except RefusedError as error:
        return error


def _by_tool(
    known: Knowledge, tool: GraverTool, refusal: RefusedError, token: CancelToken
) -> GenericSensitivity:
    """What another program finds where the enumeration was refused."""
    matrix, fixed = _matrix(known, _smallest(known, shorten=False))
    if matrix.shape[1] > _MOST_ASKED:
        raise refusal
    found = longest_by(tool, matrix, int(str(refusal.details["at_least"])), token)
    return GenericSensitivity(max(found, _beside(known)), fixed, Origin.TOOL, tool.name())


def _of_one(known: Knowledge) -> int:
    """2 where rows can be exchanged within a known cell; 1 where known cells are base cells."""
    mask = known.cuboids[0]
    return _TWO if cells(~mask & (1 << len(known.shape)) - 1, known.shape) > 1 else 1


def _of_two(known: Knowledge) -> int:
    """Two cuboids: the largest value of any component, of which each value they share is one."""
    one, other = known.cuboids
    shape, shared = known.shape, one & other
    first, second = cells(one & ~other, shape), cells(other & ~one, shape)
    rest = cells(~(one | other) & (1 << len(shape)) - 1, shape)
    value = _TWO if rest > 1 else 0
    for known_first, known_second in _components(known, one, other, shared, first, second):
        value = max(value, _of_component(known_first, first, known_second, second))
    return value


def _of_component(n1: int, all1: int, n2: int, all2: int) -> int:
    """The longest minimal move among ``all1`` and ``all2`` cells, n1 and n2 of them known.

    Rows are edges between the cells of the two cuboids. A minimal move is a closed walk that meets
    each known cell at most twice, or one between two cells that are not known.
    """
    longest = [2 * min(n1, n2)]
    if n1 < all1 and n2 >= 1:
        longest.append(2 * min(n2, n1 + 1))
    if n2 < all2 and n1 >= 1:
        longest.append(2 * min(n1, n2 + 1))
    if n1 < all1 and n2 < all2:
        longest.append(2 * min(n1, n2) + 1)
    return max(longest)


def _components(
    known: Knowledge, one: int, other: int, shared: int, first: int, second: int
) -> set[tuple[int, int]]:
    """How many cells of both cuboids are known, for every value of what they share."""
    counts = [
        None if mask in known.whole else _by_shared(mask, shared, known.cells[mask])
        for mask in (one, other)
    ]
    sizes = (range(known.shape[i]) for i in members(shared))
    if all(count is None for count in counts):
        return {(first, second)}
    named: set[Cell] = {place for count in counts if count for place in count}
    found = {
        tuple(
            every if count is None else count.get(place, 0)
            for count, every in zip(counts, (first, second), strict=True)
        )
        for place in named
    }
    if len(named) < np.prod([len(size) for size in sizes], dtype=np.int64):
        found.add(
            tuple(
                every if count is None else 0
                for count, every in zip(counts, (first, second), strict=True)
            )
        )
    return {(a, b) for a, b in found}


def _by_shared(mask: int, shared: int, known: frozenset[Cell]) -> Counter[Cell]:
    kept = [place for place, i in enumerate(members(mask)) if shared >> i & 1]
    return Counter(tuple(cell[place] for place in kept) for cell in known)


def _fixes_total(known: Knowledge) -> bool:
    """Whether the known cells of two cuboids fix the number of rows: one side of each component."""
    if len(known.cuboids) < _TWO:
        return False
    one, other = known.cuboids
    shape = known.shape
    first, second = cells(one & ~other, shape), cells(other & ~one, shape)
    pairs = _components(known, one, other, one & other, first, second)
    return all(a == first or b == second for a, b in pairs)


def _enumerated(known: Knowledge, token: CancelToken) -> GenericSensitivity:
    """Three or more: the longest minimal move of the smallest table that has them all."""
    table = _smallest(known, shorten=True)
    matrix, fixed = _matrix(known, table)
    symmetry = None if known.cells else symmetries(table.shape, table.masks)
    moves = minimal_moves(matrix, token, symmetry=symmetry)
    if table.shortened and moves.steps > table.shape[0]:
        raise too_large(f"moves of over {table.shape[0]} pairs of rows", moves.longest)
    return GenericSensitivity(max(moves.longest, _beside(known)), fixed, Origin.ENUMERATED)


def _matrix(known: Knowledge, table: _Small) -> tuple[NDArray[np.int8], bool]:
    """The constraints, and whether they fix the number of rows."""
    matrix = table.matrix
    fixed = bool(known.whole) or _in_row_space(matrix)
    if known.total and not fixed:
        # Where the number of rows is known, one that leaves the domain is in a cell of its own.
        matrix = np.pad(matrix, ((0, 1), (0, 1)))
        matrix[-1] = 1
    return matrix, fixed or known.total


def _beside(known: Knowledge) -> int:
    """2 where rows can be exchanged in dimensions that no exact table has."""
    rest = cells(~known.dimensions & (1 << len(known.shape)) - 1, known.shape)
    return _TWO if rest > 1 else 0


@dataclass(frozen=True)
class _Small:
    """A table without the dimensions that change nothing, with the cuboids known of it.

    ``matrix`` holds a row for each known cell, those of ``masks`` in their order. Where only whole
    cuboids are known, the first of them is the one with most cells, and has the first dimension; a
    long one is ``shortened``: moves have all their pairs under cells of that cuboid, so a move of n
    pairs is in at most n of its categories, and more of them bring nothing new.
    """

    shape: tuple[int, ...]
    masks: tuple[int, ...]
    matrix: NDArray[np.int8]
    shortened: bool


def _smallest(known: Knowledge, *, shorten: bool) -> _Small:
    sizes, common = known.shape, _common(known)
    kept = [i for i in members(known.dimensions) if not common >> i & 1]
    if known.cells:
        small = tuple(sizes[i] for i in kept)
        rows = [_constraints(small, kept, mask) for mask in known.whole]
        rows += [_single_constraints(small, kept, mask, known.cells[mask]) for mask in known.cells]
        return _Small(small, (), np.concatenate(rows), shortened=False)
    lead = max(known.whole, key=lambda mask: cells(mask, sizes) * _inside(mask, kept))
    kept.sort(key=lambda i: (lead >> i & 1, sizes[i]), reverse=True)
    width = int(np.prod([sizes[i] for i in kept[1:]], dtype=np.int64))
    most = max(_FOUR, min(_LONG, MOST_CELLS // width)) if shorten else sizes[kept[0]]
    small = (min(sizes[kept[0]], most), *(sizes[i] for i in kept[1:]))
    ordered = (lead, *(mask for mask in known.whole if mask != lead))
    masks = tuple(
        sum(1 << axis for axis, i in enumerate(kept) if mask >> i & 1) for mask in ordered
    )
    matrix = np.concatenate([_constraints(small, kept, mask) for mask in ordered])
    return _Small(small, masks, matrix, shortened=small[0] < sizes[kept[0]])


def _inside(mask: int, kept: Sequence[int]) -> bool:
    return any(mask >> i & 1 for i in kept)


def _common(known: Knowledge) -> int:
    """Dimensions that all exact cuboids have: each of their values is a table by itself."""
    if known.cells:
        return 0
    common = known.dimensions
    for mask in known.whole:
        common &= mask
    return common


def _constraints(small: Sequence[int], kept: Sequence[int], mask: int) -> NDArray[np.int8]:
    """A row for every cell of a cuboid: which cells of the small table it adds up."""
    axes = [axis for axis, i in enumerate(kept) if mask >> i & 1]
    return _rows(small, axes, list(product(*(range(small[axis]) for axis in axes))))


def _single_constraints(
    small: Sequence[int], kept: Sequence[int], mask: int, known: frozenset[Cell]
) -> NDArray[np.int8]:
    return _rows(small, [axis for axis, i in enumerate(kept) if mask >> i & 1], sorted(known))


def _rows(small: Sequence[int], axes: Sequence[int], wanted: Sequence[Cell]) -> NDArray[np.int8]:
    grid = np.indices(tuple(small)).reshape(len(small), -1)
    lines = np.ones((len(wanted), grid.shape[1]), np.int8)
    for line, cell in zip(lines, wanted, strict=True):
        for axis, place in zip(axes, cell, strict=True):
            line &= grid[axis] == place
    return lines


def _in_row_space(matrix: NDArray[np.int8]) -> bool:
    """Whether the constraints fix the number of rows."""
    ones = np.ones((1, matrix.shape[1]))
    rank = np.linalg.matrix_rank
    return bool(rank(np.concatenate([matrix, ones])) == rank(matrix))
