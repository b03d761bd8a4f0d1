"""How large a minimal change beside three or more exact tables is, as the verifier finds it.

All minimal vectors of a table are found coordinate by coordinate (:mod:`.moves`), never as the
planner does. A table that is long in one dimension is taken apart: under each category of it stands
a vector that is minimal for the exact tables that have the dimension, and these vectors add up to 0
in the others. The longest sum that holds no smaller one is a bound, and reached where there are as
many categories as it has vectors. Source: resources/docs/exact.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.graver import GraverError, installed_tool
from dpdesk.core.jobs import CancelToken
from dpdesk.verifiers.cubes.exact_claim import ExactClaim, constraints
from dpdesk.verifiers.cubes.moves import MOST_COLUMNS, MOST_WORK, TooLargeError, minimal_vectors

Integers = NDArray[np.int64]
Tables = tuple[tuple[int, ...], ...]
_TWO = 2
_MOST_ASKED = 256
_MOST_ENTRY = 127
_BOUND_WORK = 100_000_000
_SMALL, _SMALL_TIMES = 24, 8
_TRIES, _MOST_SUMS, _MOST_TRIED = 400, 50, 1 << 17


@dataclass(frozen=True)
class Change:
    """``least`` is the size of a minimal change that was found, ``size`` that of the largest.

    ``size`` is None where it could not be found here; none is larger than ``most`` where that is
    known; ``tool`` names a program that was asked.
    """

    least: int
    size: int | None
    tool: str = ""
    most: int | None = None


def largest_change(claim: ExactClaim, token: CancelToken) -> Change:
    """The size of the largest minimal change that keeps what is exact. Raises Cancelled."""
    used = frozenset().union(*claim.whole, *claim.cells)
    beside = _TWO if claim.size(frozenset(claim.categories) - used) > 1 else 0
    found = _of_cells(claim, token) if claim.cells else _of_tables(claim, token)
    if found.size is None:
        found = _asked(claim, found, token)
    size = None if found.size is None else max(found.size, beside)
    most = None if found.most is None else max(found.most, beside)
    return Change(max(found.least, beside), size, found.tool, most)


def _of_cells(claim: ExactClaim, token: CancelToken) -> Change:
    try:
        size = _longest(_whole_matrix(claim), token)
    except TooLargeError:
        return Change(0, None)
    return Change(size, size)


def _whole_matrix(claim: ExactClaim) -> Integers:
    """One row for each exact number, and one for the number of rows where that is known besides.

    Unless it is published, a row may then leave the domain, to a cell of its own.
    """
    matrix = constraints(claim)
    if not claim.total:
        return matrix
    outside = 0 if frozenset() in claim.everything else 1
    matrix = np.pad(matrix, ((0, 1), (0, outside)))
    matrix[-1] = 1
    return matrix


def _of_tables(claim: ExactClaim, token: CancelToken) -> Change:
    """Whole tables: dimensions that all of them have, and those of one category, change nothing."""
    common = frozenset.intersection(*claim.whole)
    kept = sorted(frozenset().union(*claim.whole) - common)
    shape = [len(claim.categories[name]) for name in kept]
    tables = tuple(
        tuple(i for i, name in enumerate(kept) if name in table) for table in claim.whole
    )
    bounds = [
        bound
        for axis in range(len(shape))
        if (bound := _bound(shape, tables, axis, token)) is not None
    ]
    for bound in bounds:
        if shape[bound.axis] >= bound.needed:
            return Change(bound.size, bound.size)
    lowest = min(bounds, key=lambda bound: bound.size, default=None)
    if lowest is not None and _is_reached(lowest, shape, tables, token):
        return Change(lowest.size, lowest.size)
    if np.prod(shape) <= MOST_COLUMNS:
        with suppress(TooLargeError):
            work = MOST_WORK * (_SMALL_TIMES if np.prod(shape) <= _SMALL else 1)
            size = _longest(_margins(shape, tables), token, work)
            return Change(size, size)
    most = None if lowest is None else lowest.size
    return Change(_of_parts(shape, tables, token), None, most=most)


def _is_reached(bound: _Bound, shape: Sequence[int], tables: Tables, token: CancelToken) -> bool:
    """Whether some minimal change is as large as a bound: its vectors share categories at random.

    The same places are tried each time. A change that is found is one, whatever found it.
    """
    count, draws = shape[bound.axis], np.random.default_rng(1)
    order = [bound.axis, *(i for i in range(len(shape)) if i != bound.axis)]
    moved = tuple(tuple(order.index(i) for i in table) for table in tables)
    matrix = _margins([shape[i] for i in order], moved)
    for number in range(_TRIES if bound.sums else 0):
        token.check()
        parts = bound.sums[number % len(bound.sums)]
        change = np.zeros((count, parts.shape[1]), np.int64)
        np.add.at(change, draws.integers(count, size=len(parts)), parts)
        if np.abs(change).sum() == bound.size and _is_minimal(change.ravel(), matrix):
            return True
    return False


def _is_minimal(change: Integers, matrix: Integers) -> bool:
    """Whether no part of a change but nothing and all of it keeps what is exact: all are tried."""
    there = np.flatnonzero(change)
    most = np.abs(change[there]) + 1
    if (matrix @ change).any() or np.prod(most.astype(float)) > _MOST_TRIED:
        return False
    parts = np.indices(most.tolist()).reshape(len(there), -1)
    kept = ~((matrix[:, there] * np.sign(change[there])) @ parts).any(axis=0)
    return int(kept.sum()) == _TWO


def _of_parts(shape: Sequence[int], tables: Tables, token: CancelToken) -> int:
    """The largest minimal change of a part of the table, as far as it is found soon."""
    least, part = 0, [min(_TWO, size) for size in shape]
    for axis in range(len(shape)):
        if np.prod(part) > MOST_COLUMNS:
            break
        try:
            least = max(least, _longest(_margins(part, tables), token, _BOUND_WORK))
        except TooLargeError:
            break
        part[axis] = min(_TWO + 1, shape[axis])
    return least


@dataclass(frozen=True, eq=False)
class _Bound:
    """No minimal change is larger than ``size``, however many categories ``axis`` has.

    With ``needed`` of them one is as large. ``sums`` are sets of vectors, each to stand under one
    category, that come to a change of that size.
    """

    axis: int
    size: int
    needed: int
    sums: tuple[Integers, ...]


def _longest(matrix: Integers, token: CancelToken, work: int = MOST_WORK) -> int:
    found = minimal_vectors(matrix, token, work)
    return int(np.abs(found).sum(axis=1).max(initial=0))


def _bound(shape: Sequence[int], tables: Tables, axis: int, token: CancelToken) -> _Bound | None:
    """A bound that holds for any number of categories of a dimension; None where it takes long."""
    rest = [size for i, size in enumerate(shape) if i != axis]
    if np.prod(rest) > MOST_COLUMNS:
        return None

    def without(wanted: Callable[[tuple[int, ...]], bool]) -> Tables:
        return tuple(
            tuple(i - (i > axis) for i in table if i != axis) for table in tables if wanted(table)
        )

    try:
        within = _margins(rest, without(lambda table: axis in table))
        parts = minimal_vectors(within, token, _BOUND_WORK)
        largest, alone = _by_image(parts, _margins(rest, without(lambda table: axis not in table)))
        images = np.array(list(largest), np.int64).reshape(len(largest), -1)
        sums = minimal_vectors(images.T, token, _BOUND_WORK)
    except TooLargeError:
        return None
    vectors = np.array(list(largest.values()), np.int64).reshape(len(largest), len(within[0]))
    sizes = np.abs(vectors).sum(axis=1)
    reached = np.abs(sums) @ sizes
    size = max(alone, _TWO * int(sizes.max(initial=0)), int(reached.max(initial=0)))
    counts = np.abs(sums[reached == size]).sum(axis=1)
    needed = int(counts.min(initial=len(sums) + size))
    if _TWO * int(sizes.max(initial=0)) == size:
        needed = _TWO
    longest = sums[reached == size][:_MOST_SUMS]
    sets = tuple(np.repeat(vectors * np.sign(one)[:, None], np.abs(one), axis=0) for one in longest)
    return _Bound(axis, size, 1 if alone == size else needed, sets)


def _by_image(parts: Integers, others: Integers) -> tuple[dict[tuple[int, ...], list[int]], int]:
    """The largest vector of each image, up to sign, and the size of the largest one without."""
    largest: dict[tuple[int, ...], list[int]] = {}
    alone = 0
    order = np.argsort(np.abs(parts).sum(axis=1), kind="stable")
    for part, image in zip(parts[order], parts[order] @ others.T, strict=True):
        if not image.any():
            alone = int(np.abs(part).sum())
            continue
        sign = -1 if image[image.nonzero()[0][0]] < 0 else 1
        largest[tuple((sign * image).tolist())] = (sign * part).tolist()
    return largest, alone


def _margins(shape: Sequence[int], tables: Tables) -> Integers:
    """One row for each cell of each table: which cells of the whole one it adds up."""
    places = list(product(*map(range, shape)))
    rows = [
        [all(place[i] == value for i, value in zip(table, cell, strict=True)) for place in places]
        for table in tables
        for cell in product(*(range(shape[i]) for i in table))
    ]
    return np.array(rows, np.int64).reshape(-1, len(places))


def _asked(claim: ExactClaim, found: Change, token: CancelToken) -> Change:
    """What a program that is installed here says, where nothing was found by this one.

    Its moves must keep what is exact, and be as long as those that are known.
    """
    tool = installed_tool()
    if tool is None:
        return found
    matrix = _whole_matrix(claim)
    if matrix.shape[1] > _MOST_ASKED:
        return found
    try:
        basis = tool.basis(matrix.astype(np.int8), token)
    except GraverError:
        return found
    if not len(basis) or np.abs(basis).max() > _MOST_ENTRY or (basis @ matrix.T).any():
        return found
    longest = int(np.abs(basis).sum(axis=1).max())
    return found if longest < found.least else Change(found.least, longest, tool.name())
