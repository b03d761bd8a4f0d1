"""Checking the exact part of a released cube from its files alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, combinations, product
from math import prod

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.cuboid import CuboidTable
from dpdesk.core.graver import GraverError, installed_tool
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.release import MINIMAL_CHANGE as _CHANGE
from dpdesk.core.release import CheckStatus, ClaimCheck
from dpdesk.core.shapes import as_table
from dpdesk.verifiers.cubes.claimed import Claimed, names_of
from dpdesk.verifiers.cubes.exact_claim import (
    Cell,
    ExactClaim,
    Names,
    constraints,
    larger_change,
    minimal_change,
)

# All minimal integer vectors that a matrix maps to 0, for the verifier: coordinate by coordinate.
#
# The planner grows moves pair by pair until they keep what is exact. Here every vector keeps it
# from the start, and what is minimal is found for one coordinate more at a time: the vectors that
# are minimal on the coordinates so far, and sums of two of them that agree in sign there and differ
# on the next one. Source: Hemmecke, On the computation of Hilbert bases of cones, 2002.


MOST_COLUMNS = 64
MOST_WORK = 500_000_000
_MOST_FOUND = 60_000
_MOST_ENTRY = 100


class TooLargeError(Exception):
    """There are more vectors than are looked for here."""


def minimal_vectors(matrix: Integers, token: CancelToken, work: int = MOST_WORK) -> Integers:
    """The minimal vectors of the kernel of ``matrix``, one of each pair v, -v; shape (n, columns).

    A vector is minimal when no other one but 0 lies between 0 and it in every coordinate. At most
    ``work`` comparisons are made. Raises TooLargeError, Cancelled.
    """
    if matrix.shape[1] > MOST_COLUMNS:
        raise TooLargeError
    basis, order = kernel_basis(matrix)
    if not len(basis):
        return np.zeros((0, matrix.shape[1]), np.int64)
    found = basis.astype(np.int8)
    left = np.array([work, 0], np.int64)
    with token.on_cancel(lambda: left.__setitem__(1, 1)):
        for known in range(len(basis), matrix.shape[1]):
            token.check()
            order = _least_first(found, order, known)
            found = _lifted(found, np.array(order, np.int64), known, left)
    token.check()
    return found.astype(np.int64)


def kernel_basis(matrix: Integers) -> tuple[Integers, list[int]]:
    """Vectors of which all kernel vectors are whole multiples and sums, and an order of columns.

    On the first columns of that order they are the unit vectors. Raises TooLargeError where whole
    numbers do not bring them there.
    """
    rows = [list(map(int, row)) for row in matrix]
    columns = matrix.shape[1]
    pivots: dict[int, list[int]] = {}
    for row in rows:
        for column, other in pivots.items():
            row = _less(row, other, row[column])
        if not any(row):
            continue
        pivot = next((i for i in reversed(range(columns)) if abs(row[i]) == 1), None)
        if pivot is None:
            raise TooLargeError
        row = [value * row[pivot] for value in row]
        pivots = {at: _less(other, row, other[pivot]) for at, other in pivots.items()}
        pivots[pivot] = row
    free = [column for column in range(columns) if column not in pivots]
    basis = np.zeros((len(free), columns), np.int64)
    for place, column in enumerate(free):
        basis[place, column] = 1
        for at, row in pivots.items():
            basis[place, at] = -row[column]
    if len(basis) and np.abs(basis).max() > _MOST_ENTRY:
        raise TooLargeError
    return basis, [*free, *pivots]


def _less(row: Sequence[int], other: Sequence[int], times: int) -> list[int]:
    return [value - times * there for value, there in zip(row, other, strict=True)]


def _least_first(vectors: NDArray[np.int8], order: list[int], known: int) -> list[int]:
    """The order with that column next on which fewest pairs of vectors differ in sign."""
    rest = order[known:]
    nonzero = (vectors[:, rest] != 0).sum(axis=0)
    chosen = rest[int(nonzero.argmin())]
    return [*order[:known], chosen, *(column for column in rest if column != chosen)]


def _lifted(
    vectors: NDArray[np.int8], order: Integers, known: int, work: Integers
) -> NDArray[np.int8]:
    """The minimal vectors on one coordinate more; degree by degree on those before."""
    from dpdesk.verifiers.cubes.move_kernels import masks_of, sums_of_degree

    degrees = np.abs(vectors[:, order[:known]].astype(np.int64)).sum(axis=1)
    given = {int(degree): vectors[degrees == degree] for degree in np.unique(degrees)}
    highest, degree = max(given), 1
    found = np.zeros((0, vectors.shape[1]), np.int8)
    starts, space = [0], np.zeros((_MOST_FOUND, vectors.shape[1]), np.int8)
    while degree <= 2 * highest:
        plus, minus = masks_of(found, order, known)
        ends = np.array([*starts, len(found)], np.int64)
        count = sums_of_degree(found, plus, minus, ends, degree, order, known, space, work)
        if count < 0:
            raise TooLargeError
        new = np.unique(_one_sign(space[:count]), axis=0)
        parts = [found, given.get(degree, new[:0]), new]
        highest = max(highest, degree if len(new) else 0)
        starts.append(len(found))
        found = np.concatenate(parts)
        degree += 1
    return found


def _one_sign(vectors: NDArray[np.int8]) -> NDArray[np.int8]:
    """Each vector or its negative, so that the first number that is not 0 is above 0."""
    first = vectors[np.arange(len(vectors)), (vectors != 0).argmax(axis=1)]
    return np.where(first[:, None] < 0, -vectors, vectors).astype(np.int8)


# How large a minimal change beside three or more exact tables is, as the verifier finds it.
#
# All minimal vectors of a table are found coordinate by coordinate (:mod:`.moves`), never as the
# planner does. A table that is long in one dimension is taken apart: under each category of it
# stands a vector that is minimal for the exact tables that have the dimension, and these vectors
# add up to 0 in the others. The longest sum that holds no smaller one is a bound, and reached where
# there are as many categories as it has vectors. Source: resources/docs/exact.md.


Integers = NDArray[np.int64]
Tables = tuple[tuple[int, ...], ...]
_TWO = 2
_MOST_ASKED = 256
_MOST_BASIS_ENTRY = 127
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
    if not len(basis) or np.abs(basis).max() > _MOST_BASIS_ENTRY or (basis @ matrix.T).any():
        return found
    longest = int(np.abs(basis).sum(axis=1).max())
    return found if longest < found.least else Change(found.least, longest, tool.name())


MANIFEST = "manifest.json"
_TABLES, _TOOL = "exact tables", "tool"
_ENUMERATED, _BY_TOOL = "enumeration", "4ti2"
_VERSION = re.compile(r"4ti2 \d[\w.]{0,20}")
_CHANGE_LABEL = "The noise hides a minimal change alongside the exact tables"
_TABLES_LABEL = "What is marked as exact is what the settings release exactly"


def exact_checks(
    manifest: Mapping[str, object],
    claimed: Claimed,
    published: Mapping[str, CuboidTable],
    token: CancelToken,
) -> Iterator[ClaimCheck]:
    """Claims on what is exact; raises as :func:`verify_cube` does when they are malformed."""
    stated = as_table(manifest["result"]).get("exact")
    if claimed.exact is None:
        if stated is not None or any("exact" in item for item in claimed.cuboids):
            found = "something is said to be exact that the parameters do not name"
            yield ClaimCheck(_TABLES, CheckStatus.FAILED, found, MANIFEST, _TABLES_LABEL)
        return
    yield _change(as_table(stated), claimed.exact, token)
    yield _flags(claimed, claimed.exact, published)


def _change(stated: Mapping[str, object], claim: ExactClaim, token: CancelToken) -> ClaimCheck:
    """The size of a minimal change is what the settings give."""
    size = stated["minimal_change"]
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise TypeError("a minimal change is a whole number above 0")
    if set(stated) - {_TOOL} != {"minimal_change", "total_fixed", "known_by"}:
        raise ValueError("`exact` has other keys than it should")
    if stated["total_fixed"] is not claim.fixed:
        found = msg(
            "`total_fixed` is {stated}, expected {fixed}",
            stated=str(stated["total_fixed"])[:40],
            fixed=claim.fixed,
        )
        return ClaimCheck(_CHANGE, CheckStatus.FAILED, found, MANIFEST, _CHANGE_LABEL)
    expected = minimal_change(claim)
    known = (_ENUMERATED, _BY_TOOL) if expected is None else ("formula",)
    if stated["known_by"] not in known:
        found = msg(
            "`known_by` is {stated}, expected {known}",
            stated=str(stated["known_by"])[:40],
            known=known[0],
        )
        return ClaimCheck(_CHANGE, CheckStatus.FAILED, found, MANIFEST, _CHANGE_LABEL)
    tool = stated.get(_TOOL, "")
    if (stated["known_by"] == _BY_TOOL) != bool(_VERSION.fullmatch(str(tool))):
        found = msg("`tool` is {tool!r}, which does not fit `known_by`", tool=str(tool)[:40])
        return ClaimCheck(_CHANGE, CheckStatus.FAILED, found, MANIFEST, _CHANGE_LABEL)
    if expected is None:
        return _enumerated(claim, size, str(tool), token)
    status = CheckStatus.CONFIRMED if size == expected else CheckStatus.FAILED
    found = msg(
        "is {size}, {size2} the exact tables give {expected}",
        size=size,
        size2="as" if size == expected else "but",
        expected=expected,
    )
    return ClaimCheck(_CHANGE, status, found, MANIFEST, _CHANGE_LABEL)


def _enumerated(claim: ExactClaim, size: int, tool: str, token: CancelToken) -> ClaimCheck:
    """The size beside three or more tables, found by a search that is not the planner's.

    Where that search would take too long, small tables are compared at least: that shows a size
    that is too small, but none that is right, so the claim counts as not checked.
    """
    found = largest_change(claim, token)
    if found.least > size or (found.size is None and larger_change(claim, size)):
        text = msg("is {n}, and two small tables differ by a larger one", n=size)
        return ClaimCheck(_CHANGE, CheckStatus.FAILED, text, MANIFEST, _CHANGE_LABEL)
    if found.size is None and found.most is not None and size >= found.most:
        right = size == found.most
        text = msg(
            "is {size}, {value} no change is larger than {most}, as enumerated again in "
            "another way",
            size=size,
            value="and" if right else "but",
            most=found.most,
        )
        status = CheckStatus.CONFIRMED if right else CheckStatus.FAILED
        return ClaimCheck(_CHANGE, status, text, MANIFEST, _CHANGE_LABEL)
    if found.size is None:
        by, needs = (msg(", computed by {tool}", tool=tool), ": needs 4ti2") if tool else ("", "")
        text = msg(
            "is {size}{by}; for so many exact cells it was not re-checked here{needs}",
            size=size,
            by=by,
            needs=needs,
        )
        return ClaimCheck(_CHANGE, CheckStatus.NOT_CHECKED, text, MANIFEST, _CHANGE_LABEL)
    by = f" by {found.tool}" if found.tool else " in a different way"
    status = CheckStatus.CONFIRMED if found.size == size else CheckStatus.FAILED
    text = msg(
        "is {size}, {value} enumerated again{by}",
        size=size,
        value="as" if found.size == size else "but",
        by=by,
    )
    text += "" if found.size == size else msg(" it is {size}", size=found.size)
    return ClaimCheck(_CHANGE, status, text, MANIFEST, _CHANGE_LABEL)


def _flags(claimed: Claimed, claim: ExactClaim, published: Mapping[str, CuboidTable]) -> ClaimCheck:
    """Exact tables are marked, hold whole numbers of 0 or more, and agree with each other."""
    exact: dict[Names, CuboidTable] = {}
    for item in claimed.cuboids:
        names, file = names_of(item["dimensions"], claimed.domains), str(item["file"])
        if item.get("exact") is not claim.gives(names):
            found = msg("{file} is not marked as the parameters say", file=file)
            return ClaimCheck(_TABLES, CheckStatus.FAILED, found, MANIFEST, _TABLES_LABEL)
        fault = _cells_fault(item, names, claim, published[file])
        if fault:
            return ClaimCheck(_TABLES, CheckStatus.FAILED, fault, file, _TABLES_LABEL)
        if not claim.gives(names):
            continue
        values = np.asarray(published[file].values, dtype=np.float64)
        if not ((values >= 0) & (values % 1 == 0)).all():
            found = msg("{file} holds a number that is not a count", file=file)
            return ClaimCheck(_TABLES, CheckStatus.FAILED, found, file, _TABLES_LABEL)
        exact[names] = published[file]
    for one, other in combinations(exact, 2):
        if not np.array_equal(_summed(exact[one], one & other), _summed(exact[other], one & other)):
            found = msg(
                "{file} and {file2} do not agree", file=exact[one].file, file2=exact[other].file
            )
            return ClaimCheck(_TABLES, CheckStatus.FAILED, found, exact[one].file, _TABLES_LABEL)
    cells = sum(len(listed) for listed in claim.asked.values())
    found = msg(
        "exact tables: {n:,}, single exact cells: {m:,}; their counts agree", n=len(exact), m=cells
    )
    return ClaimCheck(_TABLES, CheckStatus.CONFIRMED, found, "", _TABLES_LABEL)


def _cells_fault(
    item: Mapping[str, object], names: Names, claim: ExactClaim, table: CuboidTable
) -> str:
    """What is wrong with the single exact cells of a table; empty when nothing is."""
    asked = () if claim.gives(names) else claim.asked.get(names, ())
    stated = item.get("exact_cells", [])
    order, categories = table.domain.dimensions, table.domain.categories
    listed = [[dict(cell)[name] for name in order] for cell in asked]
    if stated != listed:
        return msg("{file} has other exact cells than the parameters say", file=table.file)
    values = np.asarray(table.values, dtype=np.float64)
    for cell in listed:
        place = tuple(texts.index(text) for texts, text in zip(categories, cell, strict=True))
        if values[place] < 0 or values[place] % 1:
            return msg("{file} has an exact cell that holds no count", file=table.file)
    return ""


def _summed(table: CuboidTable, names: Names) -> NDArray[np.float64]:
    gone = tuple(i for i, name in enumerate(table.domain.dimensions) if name not in names)
    return np.asarray(np.asarray(table.values, dtype=np.float64).sum(axis=gone))


# Variances beside single exact cells, as the verifier finds them: by matrices.

_NOTHING = 1e-9
Floats = NDArray[np.float64]


def after_cells(
    claim: ExactClaim, known: Mapping[Names, float], tables: Sequence[Names], token: CancelToken
) -> dict[Names, float]:
    """The largest variance of a cell of each table, given the exact cells.

    ``known`` is the information on every residual (infinite where it is exact). The exact cells are
    conditioned on all at once: what a table's cells share with them is regressed away.
    """
    pins = [(names, cell) for names, listed in claim.cells.items() for cell in listed]
    among = np.array(
        [[_covariance(claim, known, one, own)[_place(claim, *own)] for own in pins] for one in pins]
    )
    inverse = np.linalg.pinv(among, rcond=1e-9, hermitian=True)
    found = {}
    for names in tables:
        token.check()
        shared = np.stack([_covariance(claim, known, pin, (names, None)).ravel() for pin in pins])
        gain = np.einsum("ij,ik,kj->j", shared, inverse, shared)
        whole = _variance(claim, known, names)
        left = whole - float(gain.min())
        found[names] = left if left > _NOTHING * whole else 0.0
    return found


def _variance(claim: ExactClaim, known: Mapping[Names, float], names: Names) -> float:
    total = 0.0
    for part in _parts(names):
        share = prod(1 - 1 / len(claim.categories[name]) for name in part)
        if share:
            total += share / known[part] / claim.size(names - part) ** 2
    return total


def _covariance(
    claim: ExactClaim,
    known: Mapping[Names, float],
    pin: tuple[Names, Cell],
    other: tuple[Names, Cell | None],
) -> Floats:
    """What every cell of a cuboid shares with a known cell, axes by name."""
    names, places = other[0], dict(pin[1])
    order = sorted(names)
    total = np.zeros([len(claim.categories[name]) for name in order])
    for part in _parts(names & pin[0]):
        weight = 1 / known[part] / claim.size(names - part) / claim.size(pin[0] - part)
        outer = np.full([1] * len(order), weight)
        for axis, name in enumerate(order):
            texts = claim.categories[name]
            factor = np.ones(len(texts))
            if name in part:
                factor = np.array([float(text == places[name]) for text in texts]) - 1 / len(texts)
            outer = outer * factor.reshape([-1 if i == axis else 1 for i in range(len(order))])
        total += outer
    return total


def _place(claim: ExactClaim, names: Names, cell: Cell) -> tuple[int, ...]:
    places = dict(cell)
    return tuple(claim.categories[name].index(places[name]) for name in sorted(names))


def _parts(names: Names) -> list[Names]:
    ordered = sorted(names)
    sizes = range(len(ordered) + 1)
    return [frozenset(c) for c in chain.from_iterable(combinations(ordered, n) for n in sizes)]
