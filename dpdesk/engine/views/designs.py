"""Covering designs: few sets of points such that some set holds every two (or three) points.

A view of a release is such a set of dimensions, and the noise grows with the number of views.
Known constructions (affine and projective planes, transversal designs, lines of larger spaces,
inversive planes, hexads, orthogonal arrays, two halves joined, several points in place of one) are
compared with one that is grown greedily; the smallest are then made smaller by a local search.
Surveyed by Gordon, Kuperberg and Patashnik, "New constructions for covering designs" (1995); what
is known of their sizes: the La Jolla Covering Repository.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import combinations, pairwise, product
from math import comb

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import Cancelled
from dpdesk.core.jobs import CancelToken, Report, StepProgress, StepStarted, silent
from dpdesk.engine.cubes.solver import stop_flag
from dpdesk.engine.views.fields import field, field_orders
from dpdesk.engine.views.resolvable import STOP, joined_partings, least_partings

Block = tuple[int, ...]
Blocks = tuple[Block, ...]
Ints = NDArray[np.int64]
Counts = NDArray[np.int32]
Shape = tuple[int, Callable[[], Iterable[Block]]]

STEP = "Choosing views"

MOVES = 4_000_000
"""Exchanges that the search tries by default: about a second."""

_START = 88_172_645_463_325_252
_HEAT = 0.25
_ROUND = 1_000_000
_ANEW = 10_000
_LARGEST_SPACE = 400
_LARGEST_DEGREE = 8
_MOST_CONSTRUCTED = 3
_MOST_TRIPLES = 200


def covering_design(
    points: int,
    size: int,
    strength: int,
    token: CancelToken,
    report: Report,
    moves: int = MOVES,
) -> Blocks:
    """Blocks of at most ``size`` points that cover every ``strength`` of the points 0, 1, ….

    The same for the same input, on any machine. More ``moves`` take longer and never give more
    blocks. Blocks and the points in them are sorted.

    Raises
    ------
    ValueError
        Unless 1 ≤ strength ≤ 3, strength ≤ size, 1 ≤ points, and points ≤ 200 for strength 3.
    Cancelled
        When the token is cancelled.
    """
    if not (1 <= strength <= min(3, size) and points >= 1):
        raise ValueError((points, size, strength))
    if strength == 3 and points > _MOST_TRIPLES:
        raise ValueError((points, size, strength))
    if points <= size:
        return (tuple(range(points)),)
    if strength == 1:
        return _part(points, size, strength)
    report(StepStarted(STEP, 1, 1))
    with stop_flag(token) as stop:
        known = STOP.set(stop)
        try:
            search = _Search(points, size, strength, stop, report)
            found = search.best(_constructed(points, size, strength), moves)
        finally:
            STOP.reset(known)
    return tuple(sorted(tuple(sorted(int(point) for point in block)) for block in found))


def least_blocks(points: int, size: int, strength: int) -> int:
    """Schönheim's bound: no covering design has fewer blocks."""
    least = 1
    for fixed in range(strength - 1, -1, -1):
        least = -(-(points - fixed) * least // (size - fixed))
    return max(least, 1)


class _Search:
    """Arrays that say how often each set is covered, and moves that need fewer blocks."""

    def __init__(self, points: int, size: int, strength: int, stop: Ints, report: Report) -> None:
        from dpdesk.engine.views import design_kernels

        self.kernels = design_kernels
        self.points, self.size, self.strength = points, size, strength
        self.stop, self.report = stop, report
        self.least = least_blocks(points, size, strength)
        self.state = np.array([_START], np.uint64)
        axes = np.indices((points,) * strength)
        apart = np.logical_and.reduce([low < high for low, high in pairwise(axes)])
        self.uncovered = np.where(apart, 0, 1).astype(np.int32).ravel()

    def best(self, offered: Sequence[Blocks], moves: int) -> Ints:
        """The smallest design that the offered ones, a greedy one and exchanges lead to."""
        designs = [self.thinned(self.padded(blocks)) for blocks in offered]
        sets = int((self.uncovered == 0).sum())
        if not designs or min(map(len, designs)) > self.least:
            blocks = np.zeros((sets, self.size), np.int64)
            counts = self.uncovered.copy()
            made = self.kernels.greedy(
                self.points, self.size, self.strength, counts, blocks, self.state, self.stop
            )
            self._asked(made)
            designs.append(self.thinned(blocks[:made]))
        designs.sort(key=len)
        starts = designs[:2]
        done = 0
        for start in starts:
            starts[0] = min(starts[0], self._smaller(start, moves // 2, done, moves), key=len)
            done += moves // 2
        return starts[0]

    def padded(self, blocks: Blocks) -> Ints:
        """Blocks of exactly the size: further points are those with the lowest numbers."""
        full = np.empty((len(blocks), self.size), np.int64)
        for row, block in zip(full, blocks, strict=True):
            spare = (point for point in range(self.points) if point not in block)
            row[:] = [*block, *(next(spare) for _ in range(self.size - len(block)))]
        return full

    def thinned(self, blocks: Ints) -> Ints:
        """Without blocks that cover nothing alone."""
        counts = self._counted(blocks)
        keep = np.ones(len(blocks), np.uint8)
        self.kernels.thinned(blocks, counts, self.points, self.strength, keep)
        found: Ints = blocks[keep == 1]
        return found

    def _counted(self, blocks: Ints) -> Counts:
        counts: Counts = self.uncovered.copy()
        self.kernels.count_sets(blocks, counts, self.points, self.strength)
        return counts

    def _smaller(self, blocks: Ints, moves: int, done: int, total: int) -> Ints:
        """Take the block away that is needed least and repair, until the moves are used up."""
        fewest, tried = blocks, 0
        spent = 0
        while len(fewest) > self.least and spent < moves:
            self.report(StepProgress(STEP, done + spent, total))
            again = self._without_one(fewest, tried)
            whole, made = self._repaired(again, min(_ROUND, moves - spent))
            spent += made + _ANEW
            if whole:
                fewest, tried = self.thinned(again), 0
            else:
                tried += 1
        return fewest

    def _without_one(self, blocks: Ints, rank: int) -> Ints:
        """All blocks but one: that with the fewest sets of its own, next time the second such."""
        counts = self._counted(blocks)
        alone = [self.kernels.alone(row, counts, self.points, self.strength) for row in blocks]
        worst = int(np.argsort(alone, kind="stable")[rank % len(blocks)])
        return np.delete(blocks, worst, axis=0)

    def _repaired(self, blocks: Ints, moves: int) -> tuple[bool, int]:
        """Exchange points in place; whether every set is covered now, and after how many moves."""
        counts = self._counted(blocks)
        gaps = np.flatnonzero(counts == 0)
        missing, where = np.zeros((2, len(counts)), np.int64)
        missing[: len(gaps)] = gaps
        where[gaps] = np.arange(len(gaps))
        member = np.zeros((self.points, len(blocks)), np.uint8)
        member[blocks.ravel(), np.repeat(np.arange(len(blocks)), self.size)] = 1
        left, made = self.kernels.repair(
            blocks,
            member,
            counts,
            missing,
            where,
            len(gaps),
            self.points,
            self.strength,
            moves,
            _HEAT,
            self.state,
            self.stop,
        )
        self._asked(left)
        return bool(left == 0), int(made)

    def _asked(self, answer: int) -> None:
        if answer == self.kernels.CANCELLED:
            raise Cancelled


def _constructed(points: int, size: int, strength: int) -> tuple[Blocks, ...]:
    """The most promising designs by construction; the last one, if any, is as small as can be."""
    shapes = sorted(_shapes(points, size, strength), key=lambda shape: shape[0])
    found = []
    for _, build in shapes[:_MOST_CONSTRUCTED]:
        found.append(_fitted(build(), points, size, strength))
        if len(found[-1]) == least_blocks(points, size, strength):
            break
    return tuple(found)


@lru_cache(maxsize=256)
def _part(points: int, size: int, strength: int) -> Blocks:
    """A design that a larger one is made of."""
    if strength == 1 or points <= size:
        return tuple(
            tuple(range(start, min(start + size, points))) for start in range(0, points, size)
        )
    search = _Search(points, size, strength, STOP.get(), silent)
    found = search.best(_constructed(points, size, strength), MOVES // 20)
    return tuple(tuple(int(point) for point in block) for block in found)


def _shapes(points: int, size: int, strength: int) -> Iterator[Shape]:
    """Constructions for these numbers, each with how many blocks to expect.

    They cover at least these points; what they give may be too large or hold points too many.
    """
    for group in range(2, size // strength + 1):
        if size % group == 0:
            fewer = -(-points // group)
            expected = least_blocks(fewer, size // group, strength)
            yield expected, partial(_replaced, points, size, strength, group)
    for columns, height in product(range(max(size - 2, strength + 1), size + 1), field_orders()):
        several = (strength - 1) * height + max(points - columns * height, 0)
        extra = several - (strength - 1) * height
        useful = columns - 1 <= height <= 2 * points // columns and several < points
        if useful and (extra == 0 or (strength == 2 and extra <= size // 2)):
            parts = comb(columns, strength - 1) * least_blocks(several, size, strength)
            build = partial(_transversal, points, size, strength, columns, height)
            yield height**strength + parts, build
    for order, degree, projective in product(
        field_orders(), range(2, _LARGEST_DEGREE), (False, True)
    ):
        held = order + projective
        if strength == 2 and size - 1 <= held <= size:
            many = (order ** (degree + 1) - 1) // (order - 1) if projective else order**degree
            if points <= many <= _LARGEST_SPACE:
                expected = many * (many - 1) // (held * (held - 1))
                yield expected, partial(_lines, degree + projective, order, projective)
    for order in field_orders():
        if strength == 3 and size - 1 <= order + 1 <= size and points <= order * order + 1:
            yield order * (order * order + 1), partial(_circles, order)
    if strength == 3 and size >= 4 and points > size + 1:
        yield from _halves(points, size)
    if strength == 3 and size == 6 and points <= 22:
        yield 77, _hexads
    if strength == 3 and size == 4:
        degree = (points - 1).bit_length()
        yield comb(1 << degree, 3) // 4, partial(_binary_planes, degree)


def _halves(points: int, size: int) -> Iterator[Shape]:
    """The two most promising ways to part the points in two, for ``_joined``."""
    inner, ways = size - size // 2, []
    for first in range(points // 3, points - points // 3 + 1):
        second = points - first
        often = max(least_partings(first, inner), least_partings(second, size - inner))
        across = often * -(-first // inner) * -(-second // (size - inner))
        inside = least_blocks(first, size, 3) + least_blocks(second, size, 3)
        ways.append((across + inside, first))
    for expected, first in sorted(ways)[:2]:
        yield expected, partial(_joined, points, size, first, inner)


def _joined(points: int, size: int, first: int, inner: int) -> Iterator[Block]:
    """Coverings of the first and of the other points, and parts of one joined with the other's.

    The first points are parted again and again into parts of ``inner`` points, and the others as
    often into parts that fill a block.
    """
    for part in _part(first, size, 3):
        yield part
    for part in _part(points - first, size, 3):
        yield tuple(first + point for point in part)
    for low, high in joined_partings(first, inner, points - first, size - inner):
        for one, other in product(low, high):
            yield (*one, *(first + point for point in other))


def _fitted(blocks: Iterable[Block], points: int, size: int, strength: int) -> Blocks:
    """The blocks on the first points alone; those too large are covered by smaller ones."""
    fitted = set()
    for block in blocks:
        kept = sorted(point for point in block if point < points)
        if len(kept) >= strength:
            for part in _part(len(kept), size, strength):
                fitted.add(tuple(kept[place] for place in part))
    return tuple(sorted(fitted))


def _replaced(points: int, size: int, strength: int, group: int) -> Iterator[Block]:
    """Each point of a design for fewer points stands for ``group`` points."""
    for block in _part(-(-points // group), size // group, strength):
        yield tuple(group * point + part for point in block for part in range(group))


def _transversal(
    points: int, size: int, strength: int, columns: int, height: int
) -> Iterator[Block]:
    """An orthogonal array covers sets with a point in each of several columns; the rest by parts.

    Rows of the array are the values of all polynomials of a degree below ``strength`` at the
    elements of the field, with the leading coefficient as the last column. Sets with several
    points in one column are covered within the column (strength 2) or within every two columns;
    for strength 2 a few points outside the array go with each column.
    """
    add, times = field(height)
    spread = [[column + row * columns for row in range(height)] for column in range(columns)]
    for coefficients in product(range(height), repeat=strength):
        block = []
        for column in range(columns):
            value = coefficients[-1]
            if column < height:
                for coefficient in reversed(coefficients[:-1]):
                    value = int(add[times[value, column], coefficient])
            block.append(spread[column][value])
        yield tuple(block)
    outside = range(columns * height, points)
    for several in combinations(range(columns), strength - 1):
        part = [point for column in several for point in spread[column] if point < points]
        part += outside
        for inner in _part(len(part), size, strength):
            yield tuple(part[place] for place in inner)


def _lines(degree: int, order: int, projective: bool) -> Iterator[Block]:
    """Lines of the affine space, or of the projective one, with that many coordinates."""
    add, times = field(order)
    if projective:
        vectors = [
            vector
            for vector in product(range(order), repeat=degree)
            if any(vector) and next(value for value in vector if value) == 1
        ]
    else:
        vectors = list(product(range(order), repeat=degree))
    number = {vector: place for place, vector in enumerate(vectors)}
    inverse = {value: int(np.flatnonzero(times[value] == 1)[0]) for value in range(1, order)}
    minus = [int(np.flatnonzero(add[value] == 0)[0]) for value in range(order)]

    def point(vector: Sequence[int]) -> int:
        if not projective:
            return number[tuple(vector)]
        lead = inverse[next(value for value in vector if value)]
        return number[tuple(int(times[lead, value]) for value in vector)]

    done = np.zeros((len(vectors), len(vectors)), np.bool_)
    for first, second in combinations(range(len(vectors)), 2):
        if done[first, second]:
            continue
        base, other = vectors[first], vectors[second]
        way = (
            other
            if projective
            else [int(add[b, minus[a]]) for a, b in zip(base, other, strict=True)]
        )
        line = [
            point([int(add[a, times[factor, b]]) for a, b in zip(base, way, strict=True)])
            for factor in range(order)
        ]
        if projective:
            line.append(second)
        done[np.ix_(line, line)] = True
        yield tuple(line)


def _circles(order: int) -> Iterator[Block]:
    """The inversive plane: sections of an elliptic quadric in three-dimensional space.

    Its ``order``² + 1 points are those with x·y = z² + z·w + n·w², where n makes the right side
    zero for z = w = 0 alone; every three lie in exactly one plane.
    """
    add, times = field(order)

    def form(z: int, w: int, n: int) -> int:
        return int(add[add[times[z, z], times[z, w]], times[n, times[w, w]]])

    norm = next(
        n
        for n in range(order)
        if all(form(z, w, n) for z, w in product(range(order), repeat=2) if z or w)
    )
    quadric = [(0, 1, 0, 0)] + [
        (1, form(z, w, norm), z, w) for z, w in product(range(order), repeat=2)
    ]
    for plane in product(range(order), repeat=4):
        if not any(plane) or next(value for value in plane if value) != 1:
            continue
        inside = []
        for number, vector in enumerate(quadric):
            total = 0
            for factor, value in zip(plane, vector, strict=True):
                total = int(add[total, times[factor, value]])
            if total == 0:
                inside.append(number)
        if len(inside) > 1:
            yield tuple(inside)


def _hexads() -> Iterator[Block]:
    """The Steiner system S(3, 6, 22): every three of 22 points lie in exactly one of 77 blocks.

    Lines of the projective plane of order 4, each with one point more, and 56 of its 168 sets of
    six points of which no three lie on a line: any two of the 56 share 0 or 2 points.
    """
    lines = [frozenset(line) for line in _lines(3, 4, projective=True)]
    joining = {pair: line for line in lines for pair in combinations(sorted(line), 2)}

    def ovals(chosen: Block, free: frozenset[int]) -> Iterator[Block]:
        if len(chosen) == 6:
            yield chosen
            return
        for point in sorted(free):
            crossed = (joining[other, point] for other in chosen)
            yield from ovals((*chosen, point), free.difference(range(point + 1), *crossed))

    every = list(ovals((), frozenset(range(21))))
    for line in lines:
        yield (*sorted(line), 21)
    for oval in every:
        if len(set(oval).intersection(every[0])) % 2 == 0:
            yield oval


def _binary_planes(degree: int) -> Iterator[Block]:
    """All sets of four binary vectors with sum zero: every three lie in exactly one."""
    for trio in combinations(range(1 << degree), 3):
        last = trio[0] ^ trio[1] ^ trio[2]
        if last > trio[2]:
            yield (*trio, last)
