"""What can be told of suppressed cells: the ends of the interval in which each must lie.

Each end is a linear program over the equations of the tables as they lie in the files, formulated
and solved apart from the search. Points that a program finds serve all cells of its component.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import product
from math import ceil
from threading import Lock

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import coo_array, csr_array, diags_array, hstack
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import lsmr

from dpdesk.core.jobs import CancelToken
from dpdesk.verifiers.tables.programs import Flags, Floats, Ints, Program, times

Row = tuple[Mapping[int, float], float]
"""An equation over unknowns: their coefficients, and what their sum is."""


@dataclass(frozen=True, eq=False)
class Unknowns:
    """Suppressed cells with the equations that hold for them and the bounds that are known."""

    rows: Sequence[Row]
    low: Floats
    high: Floats

    @property
    def matrix(self) -> csr_array:
        """The coefficients, shape (equations, unknowns)."""
        places = [(i, j, c) for i, (row, _) in enumerate(self.rows) for j, c in row.items()]
        entries = np.array(places, dtype=np.float64).reshape(-1, 3)
        shape = (len(self.rows), len(self.low))
        at = entries[:, 0].astype(np.int64), entries[:, 1].astype(np.int64)
        return csr_array(coo_array((entries[:, 2], at), shape=shape))

    @property
    def sums(self) -> Floats:
        """What each equation comes to."""
        return np.array([total for _, total in self.rows], dtype=np.float64)


def ranges(
    unknowns: Unknowns,
    sizes: Floats,
    wanted: Sequence[int],
    inner: tuple[Floats, Floats],
    outer: tuple[Floats, Floats],
    token: CancelToken,
) -> tuple[Floats, Floats]:
    """The least and the largest possible move of each wanted unknown (inf: no bound).

    ``sizes`` say how large each is, in whose units its programs are tried first. ``inner`` moves
    are known to be possible, those beyond ``outer`` not to be: where a point that was found comes
    so far, no program is solved. Of the others what was found on the way: moves that are possible.
    Raises InfeasibleError and Cancelled.
    """
    low, high, lock = inner[0].copy(), inner[1].copy(), Lock()

    def look(places: Sequence[int]) -> None:
        room = Room(unknowns)
        for place, way in product(places, (-1.0, 1.0)):
            token.check()
            found, end = (way * side[int(way > 0)][place] for side in ((low, high), outer))
            if found >= end * (1 - _NEAR):
                continue
            columns, point = room.whole_end(place, way, float(sizes[place]))
            if point is None:
                columns, point = np.array([place]), np.array([way * np.inf])
            with lock:
                low[columns] = np.minimum(low[columns], point)
                high[columns] = np.maximum(high[columns], point)

    with ThreadPoolExecutor(_THREADS) as pool:
        list(pool.map(look, [wanted[start::_THREADS] for start in range(_THREADS)]))
    return low, high


def reached(room: Room, down: Floats, up: Floats, token: CancelToken) -> tuple[Floats, Floats]:
    """How far each unknown can go from 0 down and up, at most to its goal (0: nothing is asked).

    Points in which many reach their goals together come first, single programs for the rest.
    Raises Cancelled.
    """
    found = np.zeros((2, room.count))
    for goal, way in ((down, -1.0), (up, 1.0)):
        reach = found[int(way > 0)]
        for columns in room.parts:
            before, todo = np.inf, columns[goal[columns] > 0]
            while 2 < len(todo) < 0.9 * before:
                token.check()
                before = len(todo)
                wanted = {int(c): way / goal[c] for c in todo}
                _, point = room.end(wanted, unit=float(goal[todo].max()), most=(down, up))
                if point is None:
                    break
                found[0][columns] = np.maximum(found[0][columns], -point)
                found[1][columns] = np.maximum(found[1][columns], point)
                todo = todo[reach[todo] < goal[todo] * (1 - _NEAR)]
            for column in todo.tolist():
                if reach[column] < goal[column] * (1 - _NEAR):
                    token.check()
                    far = room.far(column, float(goal[column]), upward=way > 0)
                    reach[column] = max(reach[column], far)
    return found[0], found[1]


class Room:
    """In what the unknowns can lie, each connected part by itself.

    Programs are solved in units of what is looked for, so that small cells of tables with large
    ones are not lost in the tolerances of the solver.
    """

    def __init__(self, unknowns: Unknowns) -> None:
        self.count = len(unknowns.low)
        self._box = np.stack([unknowns.low, unknowns.high], axis=1)
        self._matrix, self._sums = unknowns.matrix, unknowns.sums
        self._part = _parts(self._matrix, self.count)
        order = np.argsort(self._part, kind="stable")
        ends = np.flatnonzero(np.diff(self._part[order])) + 1
        self.parts: list[Ints] = list(np.split(order, ends)) if len(order) else []
        self._kept: dict[int, tuple[csr_array, Floats, float]] = {}
        self._programs: dict[int, Program] = {}

    def _inner(self, number: int) -> tuple[csr_array, Floats, float]:
        """The equations of a part, their sums, and the largest number in it."""
        if number not in self._kept:
            columns = self.parts[number]
            rows = np.unique(self._matrix[:, columns].tocoo().coords[0])
            sums = self._sums[rows]
            known = np.abs(np.concatenate([self._box[columns].ravel(), sums]))
            largest = float(known[np.isfinite(known)].max(initial=0.0)) or 1.0
            self._kept[number] = csr_array(self._matrix[rows][:, columns]), sums, largest
        return self._kept[number]

    def part_of(self, place: int) -> Ints:
        """The unknowns that hang together with one."""
        return self.parts[int(self._part[place])]

    def sides(self, columns: Ints, token: CancelToken) -> tuple[Floats, Floats] | None:
        """Two points of a part with its sums that differ where they can, not below 0 where nothing
        is; None where none were found by projections nor by one program. Raises Cancelled.
        """
        inner, sums, _ = self._inner(int(self._part[columns[0]]))
        given = inner, sums, self._box[columns, 0]
        if len(columns) <= SOON_IN_A_PROGRAM:
            return sides_by_program(*given)
        found = both_sides(*given, token)
        if found is None and len(columns) <= MOST_IN_A_PROGRAM:
            token.check()
            found = sides_by_program(*given)
        return found

    def end(
        self,
        wanted: Mapping[int, float],
        unit: float | None = None,
        fixed: Sequence[int] = (),
        most: tuple[Floats, Floats] | None = None,
    ) -> tuple[Ints, Floats | None]:
        """The unknowns of one part, and a point where the weighted sum of the wanted is largest.

        No point: there is no end. Moves of millions of ``unit`` are not looked at where one is
        given. ``fixed`` unknowns are 0; ``most`` says how far down and up the wanted ones need to
        go. Raises InfeasibleError.
        """
        number = int(self._part[next(iter(wanted))])
        columns = self.parts[number]
        inner, sums, largest = self._inner(number)
        box = self._box[columns] / (unit or largest)
        if unit is not None:
            box = np.clip(box, -_FAR, _FAR)
        cost = np.zeros(len(columns))
        for column, weight in wanted.items():
            at = int(np.searchsorted(columns, column))
            cost[at] = -weight
            if most is not None and unit is not None:
                down, up = most[0][column] / unit, most[1][column] / unit
                box[at] = max(box[at, 0], -down), min(box[at, 1], up)
        box[np.isin(columns, np.asarray(fixed, dtype=np.int64))] = 0.0
        cost /= np.abs(cost).max()
        if number not in self._programs:
            self._programs[number] = Program(inner, moves=not self._sums.any())
        point = self._programs[number].end(sums / (unit or largest), box, cost)
        return columns, None if point is None else point * (unit or largest)

    def whole_end(self, place: int, way: float, size: float) -> tuple[Ints, Floats | None]:
        """The point of :meth:`end` for one unknown, in units as small as they can be."""
        largest = self._inner(int(self._part[place]))[2]
        unit = max(size, largest / _FAR**2)
        while unit * _FAR < largest:
            columns, point = self.end({place: way}, unit)
            if point is not None and np.abs(point).max() < 0.9 * _FAR * unit:
                return columns, point
            unit *= _FAR / 100
        return self.end({place: way})

    def far(self, place: int, need: float, *, upward: bool, fixed: Sequence[int] = ()) -> float:
        """How far an unknown can go from 0, at most ``need``, while the ``fixed`` ones stay."""
        return abs(float(self.moved(place, need, upward=upward, fixed=fixed)[place]))

    def moved(self, place: int, need: float, *, upward: bool, fixed: Sequence[int] = ()) -> Floats:
        """All unknowns where one is as far from 0 as :meth:`far` says."""
        ends, found = np.zeros((2, self.count)), np.zeros(self.count)
        ends[int(upward), place] = need
        way = 1.0 if upward else -1.0
        columns, point = self.end({place: way}, need, fixed, (ends[0], ends[1]))
        if point is not None:
            found[columns] = point
        return found


class Points:
    """Moves that were found for one unknown and protect others from the same people, too.

    ``cells`` says in which unknowns each person is alone, ``enough`` how far each unknown has to
    go down and up. A move in which all that is someone's stays is possible for all that this
    person knows; it can be made as often, on and back, as the bounds of what it moves allow.
    """

    def __init__(
        self,
        room: Room,
        unknowns: Unknowns,
        cells: Sequence[Sequence[int]],
        enough: Sequence[Floats],
    ) -> None:
        self._room, self._unknowns, self._enough = room, unknowns, enough
        places = [(person, cell) for person, own in enumerate(cells) for cell in own]
        self._person, self._cell = np.array(places, np.int64).reshape(-1, 2).T
        self._people = len(cells)
        self._moved: list[Flags] = []
        self._there: dict[tuple[int, bool], list[int]] = {}

    def far(self, place: int, need: float, *, upward: bool, fixed: Sequence[int]) -> float:
        """As :meth:`Room.far`; the move is remembered."""
        point = self._room.moved(place, need, upward=upward, fixed=fixed)
        if len(self._moved) < _MOST_POINTS and point.any():
            self._remember(point, need)
        return abs(float(point[place]))

    def _remember(self, point: Floats, unit: float) -> None:
        """Note where a move reaches far enough, and who would know of it."""
        cells = np.flatnonzero(point)
        amounts, low, high = point[cells], self._unknowns.low[cells], self._unknowns.high[cells]
        on, back = times(amounts, low, high)
        ends = np.stack([amounts * max(on, 1.0), -amounts * max(back, 0.0)])
        # What moves little in large units is too inexact to be asked.
        plain = np.abs(amounts) >= _ALIKE * unit
        for upward, reach in ((False, -ends.min(axis=0)), (True, ends.max(axis=0))):
            for cell in cells[plain & (reach >= self._enough[int(upward)][cells])].tolist():
                self._there.setdefault((cell, upward), []).append(len(self._moved))
        moved = np.zeros(self._people, dtype=bool)
        moved[self._person[point[self._cell] != 0]] = True
        self._moved.append(moved)

    def left(self, place: int, people: Ints, *, upward: bool) -> Ints:
        """The people for whom no known move takes an unknown far enough."""
        for number in self._there.get((place, upward), ()):
            if len(people):
                people = people[self._moved[number][people]]
        return people


_THREADS = 2
_MOST_POINTS, _ALIKE = 5_000, 1e-2
_FAR = 1e6
_NEAR = 1e-9


def _parts(matrix: csr_array, count: int) -> NDArray[np.int64]:
    rows = matrix.shape[0]
    at = matrix.tocoo().coords
    ones = np.ones(len(at[0]), np.int8)
    links = coo_array((ones, (at[1], count + at[0])), shape=(count + rows,) * 2)
    _, part = connected_components(links, directed=False)
    return np.unique(part[:count], return_inverse=True)[1].astype(np.int64)


# What whole numbers tell of suppressed counts, by integer programs of the verifier's own.
#
# Linear programs allow moves by parts of a person. Where a program of a part ends at whole points
# in any case, it says the same as an integer program, which is solved for the others.


_CLOSE = 1e-6
_WIDE = 1e6
_PAST = 16
_NODES = 2_000


class WholeRoom(Room):
    """In what the unknowns can lie when they are whole numbers."""

    def __init__(self, unknowns: Unknowns) -> None:
        low, high = np.clip(unknowns.low, -_WIDE, _WIDE), np.clip(unknowns.high, -_WIDE, _WIDE)
        self._low = np.minimum(np.ceil(low - _CLOSE), 0.0)
        self._high = np.maximum(np.floor(high + _CLOSE), 0.0)
        self._fits: NDArray[np.bool_] = (low == self._low) & (high == self._high)
        super().__init__(Unknowns(unknowns.rows, self._low, self._high))
        self._free: dict[int, bool] = {}

    def at_ends(self, place: int) -> bool:
        """Whether linear programs of an unknown's part end at whole points in any case.

        The bounds are whole, and the equations those of a network: each unknown is in at most two
        of them, and with suitable signs adds to one what it takes from the other.
        """
        number = int(self._part[place])
        if number not in self._free:
            self._free[number] = self._network(self.parts[number])
        return self._free[number]

    def _network(self, columns: Ints) -> bool:
        inner = self._matrix[:, columns].tocsc()
        length = np.diff(inner.indptr)
        if not self._fits[columns].all() or (length > 2).any() or (np.abs(inner.data) != 1).any():
            return False
        first = inner.indptr[:-1][length == 2]
        rows, one, other = inner.shape[0], inner.indices[first], inner.indices[first + 1]
        turned = inner.data[first] == inner.data[first + 1]
        # Each equation and its opposite are nodes; none may be joined to its own opposite.
        ends = [np.where(turned, other + rows, other), np.where(turned, other, other + rows)]
        nodes = np.concatenate([one, one + rows]), np.concatenate(ends)
        links = coo_array((np.ones(len(nodes[0]), np.int8), nodes), shape=(2 * rows, 2 * rows))
        part = connected_components(links, directed=False)[1]
        return bool((part[:rows] != part[rows:]).all())

    def span(self, place: int, need: float, ways: Sequence[bool]) -> float | None:
        """:meth:`steps` down (False), up (True), or of both together; None: not decided."""
        found = [self.steps(place, need, upward=way) for way in ways]
        known = [each for each in found if each is not None]
        return min(ceil(need - _CLOSE), sum(known)) if len(known) == len(found) else None

    def steps(self, place: int, need: float, *, upward: bool) -> float | None:
        """How far an unknown can go from 0, at most ``need`` rounded up; None: not decided."""
        way = 1.0 if upward else -1.0
        end = self._high[place] if upward else -self._low[place]
        goal = float(min(ceil(need - _CLOSE), end))
        if goal <= 0:
            return 0.0
        columns = self.parts[int(self._part[place])]
        inner, sums, _ = self._inner(int(self._part[place]))
        at = int(np.searchsorted(columns, place))
        low, high = self._low[columns].copy(), self._high[columns].copy()
        # Some can go by two and not by one, so that the end is beyond the goal.
        far = min(float(end), _PAST * (goal + 1.0))
        low[at], high[at] = (low[at], far) if upward else (-far, high[at])
        cost: Floats = np.zeros(len(columns))
        cost[at] = -way
        found = milp(
            cost,
            integrality=np.ones(len(columns)),
            bounds=Bounds(low, high),
            constraints=LinearConstraint(inner, sums, sums) if inner.shape[0] else (),
            options={"mip_rel_gap": 0.0, "node_limit": _NODES},
        )
        if found.x is None:
            return None
        reach = min(goal, float(np.rint(found.x[at])) * way)
        return reach if found.status == 0 or reach >= goal else None


# Points inside what the published cells leave open, by projections instead of linear programs.
#
# A point with all unknowns above their bounds, that has all sums, can be moved a little along every
# direction that keeps the sums: of the cells that such a random direction moves none is told. The
# point comes from projections on the sums that stay above the bounds, which suits tables that are
# too large for linear programs in a moment.


_STEPS, _AGAIN, _STAY = 12, 3, 0.8
_ROUGH, _NEARBY, _LOOKS = 1e-8, 1e-6, 1_000
SOON_IN_A_PROGRAM, MOST_IN_A_PROGRAM = 5_000, 40_000
"""Unknowns of a part up to which a program looks for a point inside: at once, and at all."""
_FLOOR, _INSIDE = 0.05, 1e-3
_SAME = 1e-9
_DRAWN = 11


def both_sides(
    matrix: csr_array, sums: Floats, low: Floats, token: CancelToken
) -> tuple[Floats, Floats] | None:
    """Two points with these sums, not below ``low`` (0 or -inf), that differ where they can.

    None where no such point was found in a moment, which says nothing. Raises Cancelled.
    """
    unit, rows, goal = _of_unit_length(matrix, sums)
    bounded = np.isfinite(low)
    free = np.ones(len(unit), dtype=bool)
    for _ in range(_AGAIN):
        point, inside = _projected(rows, goal, free, bounded, token)
        if inside:
            direction = _direction(rows, free)
            return _ends(rows, goal, point, direction, bounded, unit)
        # Some can only be 0: a point in which they are serves the others all the same.
        gone = free & bounded & (point < _INSIDE)
        if not gone.any() or gone.all():
            return None
        free &= ~gone
    return None


def sides_by_program(matrix: csr_array, sums: Floats, low: Floats) -> tuple[Floats, Floats] | None:
    """Two points with these sums, not below ``low`` (0 or -inf), that differ where they can.

    One program looks for a point in which as many unknowns as possible are above 0: each counts up
    to a little. All directions that keep the sums and move those alone can be gone from there; of
    an unknown that a random one of them does not move nothing else is possible while the others,
    which are 0, stay. None: no such point.
    """
    unit, rows, goal = _of_unit_length(matrix, sums)
    bounded, count = np.isfinite(low), len(low)
    counted = np.flatnonzero(bounded)
    whole = csr_array(hstack([rows, rows[:, counted]]))
    box = np.zeros((count + len(counted), 2))
    box[:count, 0], box[:count, 1] = np.where(bounded, 0.0, -np.inf), np.inf
    box[count:, 1] = _FLOOR
    cost = np.zeros(len(box))
    cost[count:] = -1.0
    found = linprog(cost, A_eq=whole, b_eq=goal, bounds=box, method="highs-ipm")
    if found.status != 0:
        return None
    point = np.asarray(found.x[:count], dtype=np.float64)
    point[counted] += found.x[count:]
    free = ~bounded | (point > _INSIDE * _FLOOR)
    if not free.any():
        return None
    inner = csr_array(rows * free)
    point = np.where(free, point, 0.0)
    point = point + _solved(inner, goal - inner @ point)
    if (point[free & bounded] <= 0).any():
        return None
    return _ends(rows, goal, point, _direction(rows, free), bounded, unit)


def _of_unit_length(matrix: csr_array, sums: Floats) -> tuple[Floats, csr_array, Floats]:
    """The sizes of the unknowns, and the equations in these, each of length 1."""
    unit = _units(matrix, sums)
    scaled = csr_array(matrix * unit)
    norms = np.sqrt(np.asarray(scaled.multiply(scaled).sum(axis=1)).ravel())
    rows = csr_array(diags_array(1 / np.maximum(norms, 1e-300)) @ scaled)
    return unit, rows, sums / np.maximum(norms, 1e-300)


def _units(matrix: csr_array, sums: Floats) -> Floats:
    """About how large each unknown is: its share of the smallest sum of which it is a part."""
    count = np.maximum(np.diff(matrix.indptr), 1)
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    sign = np.sign(matrix.data)
    one_way = np.abs(np.bincount(row, sign, minlength=matrix.shape[0])) == np.diff(matrix.indptr)
    shares = np.where(one_way & (sums != 0), np.abs(sums) / count, np.inf)
    unit = np.full(matrix.shape[1], np.inf)
    np.minimum.at(unit, matrix.indices, shares[row])
    return np.where(np.isfinite(unit), unit, float(np.abs(sums).max(initial=0.0)) or 1.0)


def _projected(
    rows: csr_array, goal: Floats, free: Flags, bounded: Flags, token: CancelToken
) -> tuple[Floats, bool]:
    """A point with the sums, and whether all free unknowns of it are above their bounds.

    Each step changes as little as possible in units of how large each unknown is by now, and at
    most so far that all stay above their bounds, as in interior point methods: those that are not
    near 0 go first.
    """
    point = np.where(free, 1.0, 0.0)
    held = free & bounded
    size = float(np.abs(goal).max(initial=0.0)) or 1.0
    before = np.inf
    for _ in range(_STEPS):
        token.check()
        wide = np.where(held, point, free)
        change = wide * _solved(csr_array(rows * wide), goal - rows @ point, _ROUGH, _LOOKS)
        down = held & (change < 0)
        far = _STAY * float((point[down] / -change[down]).min(initial=np.inf))
        point = point + min(1.0, far) * change
        left = float(np.abs(goal - rows @ point).max(initial=0.0))
        if far > 1.0 and left > before / 2:
            break  # where the sums leave some no room, the rest comes no closer
        before = left
        if far > 1.0 and left <= _NEARBY * size:
            wide = np.where(held, point, free)
            point = point + wide * _solved(csr_array(rows * wide), goal - rows @ point)
            return point, bool((point[held] > 0).all())
    return point, False


def _solved(rows: csr_array, goal: Floats, close: float = 1e-12, most: int = 0) -> Floats:
    """The shortest change with these sums, as ``close`` as asked, by at most so many looks."""
    looks = min(most or np.iinfo(np.int64).max, 4 * min(rows.shape) + 100)
    found = lsmr(rows, goal, atol=close, btol=close, maxiter=looks)[0]
    return np.asarray(found, dtype=np.float64)


def _direction(rows: csr_array, free: Flags) -> Floats:
    """A random direction of the free unknowns that keeps all sums."""
    inner = csr_array(rows * free)
    drawn = np.where(free, np.random.default_rng(_DRAWN).uniform(-1, 1, len(free)), 0.0)
    for _ in range(2):  # twice, for the last digits
        drawn = drawn - _solved(inner, inner @ drawn)
    return np.where(np.abs(drawn) > _SAME * 1e3 * np.abs(drawn).max(initial=0.0), drawn, 0.0)


def _ends(
    rows: csr_array,
    goal: Floats,
    point: Floats,
    direction: Floats,
    bounded: Flags,
    unit: Floats,
) -> tuple[Floats, Floats] | None:
    """The points at both ends of the direction, if they have the sums."""
    moved = bounded & (direction != 0)
    far = float((point[moved] / np.abs(direction[moved])).min(initial=1.0))
    ends = point - far * direction, point + far * direction
    size = abs(rows) @ np.abs(point)
    if any((np.abs(rows @ end - goal) > _SAME * np.maximum(size, 1e-300)).any() for end in ends):
        return None
    low, high = np.minimum(*ends) * unit, np.maximum(*ends) * unit
    return np.where(bounded, np.maximum(low, 0.0), low), high
