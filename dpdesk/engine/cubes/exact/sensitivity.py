"""Generic sensitivity: how much noise is needed beside cuboids that are released exactly.

Tables that agree with the exact cuboids Q differ by moves that keep Q. The sensitivity S_Q is the
largest L1 norm of a minimal move. Source: exact cuboids paper, section 4, with its formula for
single cells (Lemma 4.3) corrected: resources/docs/exact.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import reduce
from itertools import product
from operator import or_

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import RefusedError
from dpdesk.core.graver import GraverError, GraverTool, installed_tool
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.engine.cubes.exact.moves import MOST_CELLS, Matrix, minimal_moves, symmetries, too_large
from dpdesk.engine.cubes.lattice import cells, members

# What is released exactly, brought to its shortest form.
#
# Background knowledge Q is a set of whole cuboids and of single cells of others. What follows from
# the rest of Q says nothing new: cuboids below others, cells below a whole cuboid, dimensions of
# one category. Source: resources/docs/exact.md.


Cell = tuple[int, ...]


@dataclass(frozen=True)
class Knowledge:
    """What is known exactly of a cube on a domain of ``shape``, nothing of it superfluous.

    ``whole`` are masks of cuboids of which every cell is known, none part of another; ``parts``
    are known cells by mask, each cell as places along the cuboid's dimensions, ascending. ``total``
    says that the number of rows is known as well, be it published or be it that neighbours have the
    same number of rows; it is False where it follows from the rest. ``apex`` says that the grand
    total is one of the cuboids.
    """

    shape: tuple[int, ...]
    whole: tuple[int, ...] = ()
    parts: Mapping[int, frozenset[Cell]] | None = None
    total: bool = False
    apex: bool = False

    @property
    def counted(self) -> tuple[int, ...]:
        """The whole cuboids, none part of another, from which all exact ones follow."""
        return self.whole or ((0,) if self.apex else ())

    @property
    def cells(self) -> Mapping[int, frozenset[Cell]]:
        """The known single cells by cuboid."""
        return self.parts or {}

    @property
    def cuboids(self) -> tuple[int, ...]:
        """All cuboids of which something is known."""
        return (*self.whole, *self.cells)

    @property
    def dimensions(self) -> int:
        """The union of all that is known, as a mask."""
        return reduce(or_, self.cuboids, 0)

    def gives(self, cuboid: int) -> bool:
        """Whether every cell of ``cuboid`` follows from the whole cuboids."""
        needed = cuboid & ~_single(self.shape)
        return any(needed & ~mask == 0 for mask in self.whole)


def knowledge(
    shape: Sequence[int],
    whole: Iterable[int],
    single: Mapping[int, Iterable[Cell]] | None = None,
    *,
    total: bool = False,
) -> Knowledge:
    """The shortest form of what is known: whole cuboids, ``single`` cells, perhaps the total.

    ``total`` is for a number of rows that is known without being one of the cuboids (neighbours
    of equal size). Raises ValueError for cells outside the domain.
    """
    shape = tuple(shape)
    trivial = _single(shape)
    masks = {mask & ~trivial for mask in whole}
    parts: dict[int, set[Cell]] = {}
    for mask, known in (single or {}).items():
        kept = mask & ~trivial
        axes = members(mask)
        for cell in known:
            if len(cell) != len(axes) or any(
                not 0 <= place < shape[i] for place, i in zip(cell, axes, strict=True)
            ):
                raise ValueError("a known cell is outside the domain")
            own = tuple(place for place, i in zip(cell, axes, strict=True) if kept >> i & 1)
            parts.setdefault(kept, set()).add(own)
    masks |= {mask for mask, known in parts.items() if len(known) == cells(mask, shape)}
    known_total = total or 0 in masks
    whole_masks = _maximal(masks - {0})
    left = {
        mask: frozenset(known)
        for mask, known in sorted(parts.items())
        if mask and known and not any(mask & ~other == 0 for other in whole_masks)
    }
    left = {mask: rest for mask, known in left.items() if (rest := _new(mask, known, left, shape))}
    if not left and not whole_masks and 0 in masks:
        return Knowledge(shape, (0,), apex=True)
    total = known_total and not whole_masks
    return Knowledge(shape, whole_masks, left, total, 0 in masks)


def _single(shape: Sequence[int]) -> int:
    """The dimensions of one category, as a mask."""
    return sum(1 << i for i, size in enumerate(shape) if size == 1)


def _maximal(masks: set[int]) -> tuple[int, ...]:
    return tuple(
        sorted(
            mask
            for mask in masks
            if not any(mask != other and mask & ~other == 0 for other in masks)
        )
    )


def _new(
    mask: int, known: frozenset[Cell], parts: Mapping[int, frozenset[Cell]], shape: tuple[int, ...]
) -> frozenset[Cell]:
    """The cells that are not sums of known cells of one finer cuboid."""
    finer = [other for other in parts if other != mask and mask & ~other == 0]
    return frozenset(
        cell
        for cell in known
        if not any(_below(cell, mask, other, shape) <= parts[other] for other in finer)
    )


def _below(cell: Cell, mask: int, finer: int, shape: tuple[int, ...]) -> set[Cell]:
    places = dict(zip(members(mask), cell, strict=True))
    return set(product(*([places[i]] if i in places else range(shape[i]) for i in members(finer))))


_MOST_COMPARED = 200
_MOST_ENTRY = 127


def longest_by(tool: GraverTool, matrix: Matrix, at_least: int, token: CancelToken) -> int:
    """The largest L1 norm of a minimal move of a matrix, as ``tool`` finds it.

    ``at_least`` is the length of a minimal move that is known. Raises RefusedError
    ``cube.exact-too-large`` when the program fails or gives what cannot be right, Cancelled.
    """
    name = tool.name()
    try:
        basis = tool.basis(matrix, token)
        return _checked(basis, matrix, at_least, token)
    except GraverError as error:
        raise RefusedError(
            "cube.exact-too-large",
            msg(
                "{name} was asked how much the noise must hide alongside these exact tables, "
                "and {error}.",
                name=name,
                error=error,
            ),
            hint="Release at most two tables exactly, or tables of fewer categories.",
            details={"key": "exact"},
        ) from error


def _checked(basis: NDArray[np.int64], matrix: Matrix, at_least: int, token: CancelToken) -> int:
    if not len(basis) or np.abs(basis).max() > _MOST_ENTRY:
        raise GraverError("it gave no moves, or moves too large to be minimal")
    if (basis @ matrix.T.astype(np.int64)).any():
        raise GraverError("a move that it gave does not keep what is exact")
    norms = np.abs(basis).sum(axis=1)
    longest = int(norms.max())
    small = basis.astype(np.int8)
    for move in small[norms == longest][:_MOST_COMPARED]:
        token.check()
        for sign in (1, -1):
            inside = (np.abs(small) <= np.abs(move)) & (sign * small * move >= 0)
            if (inside.all(axis=1) & (norms < longest)).any():
                raise GraverError("a move that it gave is not minimal")
    if longest < at_least:
        raise GraverError(msg("a minimal move of {at_least} rows is missing", at_least=at_least))
    return longest


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
    if len(known.cuboids) == 1:
        fixed = bool(known.whole) or known.total
        return GenericSensitivity(_of_one(known), fixed, Origin.FORMULA)
    return _of_two(known)


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
    """2 where rows can be exchanged, within a known cell or otherwise; else 1.

    With a known number of rows all follows where but one base cell is not known.
    """
    mask = known.cuboids[0]
    beside = cells(~mask & (1 << len(known.shape)) - 1, known.shape)
    if known.apex and beside == 1:
        return _TWO if cells(mask, known.shape) - len(known.cells[mask]) > 1 else 0
    return _TWO if beside > 1 or known.total else 1


@dataclass(frozen=True)
class _Component:
    """Two cuboids under one value of what they share: known cells, and cells that are not known.

    Rows are edges between the cells of the two cuboids. A minimal move is a closed walk that meets
    each known cell at most once, or one between two cells that are not known.
    """

    known: tuple[int, int]
    free: tuple[int, int]

    @property
    def open(self) -> bool:
        """Whether both have a cell that is not known: a row more or less keeps what is known."""
        return min(self.free) > 0

    @property
    def even(self) -> int:
        """The longest minimal move that keeps the number of rows; 0 where there is none."""
        (n1, n2), (free1, free2) = self.known, self.free
        closed = 2 * min(n1, n2) if min(n1, n2) > 1 else 0
        return max(closed, _between(n1, n2, free2), _between(n2, n1, free1))

    @property
    def odd(self) -> int:
        """The longest one with a row more, or less, in all; 0 where there is none."""
        return 2 * min(self.known) + 1 if self.open else 0

    @property
    def pair(self) -> int:
        """The longest one of a move with a row more and one with a row less, 0 where there is none.

        They meet different known cells, else they hold a part that keeps the number of rows.
        """
        apart = min(self.known) > 0 or self.free[0] * self.free[1] > 1
        return 2 * min(self.known) + 2 if self.open and apart else 0


def _between(passed: int, other: int, free: int) -> int:
    """The longest walk between two of the ``free`` cells of one cuboid; 0 where there is none.

    It passes as many known cells of the other cuboid as it can, and one less of its own.
    """
    cells_passed = min(passed, other + 1)
    there = free > 1 if cells_passed == 1 else free > 0
    return 2 * cells_passed if there else 0


def _of_two(known: Knowledge) -> GenericSensitivity:
    """Two cuboids: the longest minimal move of any component.

    Where the number of rows is known and does not follow, a move with a row more goes together with
    one with a row less, in one component or in two. Unless the grand total is published, that may
    be a row outside the domain, which takes the room of the shortest one.
    """
    one, other = known.cuboids
    rest = cells(~(one | other) & (1 << len(known.shape)) - 1, known.shape)
    components = _components(known, one, other)
    longest = max(_TWO if rest > 1 else 0, *(part.even for part in components))
    odd = sorted(part.odd for part, count in components.items() for _ in range(min(count, 2)))
    if not odd[-1]:
        return GenericSensitivity(longest, True, Origin.FORMULA)
    if not known.total:
        return GenericSensitivity(max(longest, odd[-1]), False, Origin.FORMULA)
    together = max(part.pair for part in components)
    apart = sum(odd[-2:]) if len(odd) > 1 and odd[-2] else 0
    outside = 0 if known.apex else odd[-1] + 1
    return GenericSensitivity(max(longest, together, apart, outside), True, Origin.FORMULA)


def _components(known: Knowledge, one: int, other: int) -> Counter[_Component]:
    """How many values of what two cuboids share have so many known cells and others."""
    shape, shared = known.shape, one & other
    first, second = cells(one & ~other, shape), cells(other & ~one, shape)
    sides = [
        None if mask in known.whole else _by_shared(mask, shared, known.cells[mask])
        for mask in (one, other)
    ]
    named: set[Cell] = {place for side in sides if side for place in side}
    found: Counter[_Component] = Counter()
    for place in named:
        n1 = first if sides[0] is None else sides[0][place]
        n2 = second if sides[1] is None else sides[1][place]
        found[_Component((n1, n2), (first - n1, second - n2))] += 1
    n1, n2 = (0 if side else size for side, size in zip(sides, (first, second), strict=True))
    found[_Component((n1, n2), (first - n1, second - n2))] += cells(shared, shape) - len(named)
    return +found


def _by_shared(mask: int, shared: int, known: frozenset[Cell]) -> Counter[Cell]:
    kept = [place for place, i in enumerate(members(mask)) if shared >> i & 1]
    return Counter(tuple(cell[place] for place in kept) for cell in known)


def _enumerated(known: Knowledge, token: CancelToken) -> GenericSensitivity:
    """Three or more: the longest minimal move of the smallest table that has them all."""
    table = _smallest(known, shorten=True)
    matrix, fixed = _matrix(known, table)
    symmetry = None if known.cells else symmetries(table.shape, table.masks)
    moves = minimal_moves(matrix, token, symmetry=symmetry)
    if table.shortened and moves.steps > table.shape[0]:
        raise too_large(
            msg("moves of over {shape} pairs of rows", shape=table.shape[0]), moves.longest
        )
    return GenericSensitivity(max(moves.longest, _beside(known)), fixed, Origin.ENUMERATED)


def _matrix(known: Knowledge, table: _Small) -> tuple[NDArray[np.int8], bool]:
    """The constraints, and whether they fix the number of rows."""
    matrix = table.matrix
    fixed = bool(known.whole) or _in_row_space(matrix)
    if known.total and not fixed:
        # Unless the grand total is published, a row may leave the domain, to a cell of its own.
        matrix = np.pad(matrix, ((0, 1), (0, 0 if known.apex else 1)))
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
