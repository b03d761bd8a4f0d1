"""What an attacker can find out: the interval in which each suppressed cell must lie.

The attacker knows all equations and published cells, and the bounds that everyone knows. Moves away
from the true values are the unknowns: they keep every sum, so equations with one unknown fix it,
those with two make it one unknown, and the rest falls apart into components. Bounds by the sums of
single equations from outside and points that satisfy all of them from inside meet for most cells;
linear programs are solved for the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property, partial
from threading import Lock
from typing import TypeVar

import numpy as np
from scipy.sparse import coo_array, csr_array, vstack
from scipy.sparse.csgraph import connected_components

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.tables.model import Bounds, Flags, Floats, Ints, Requirement, System
from dpdesk.engine.tables.solving import Answer, Program
from dpdesk.engine.tables.swings import swings

TOLERANCE = 1e-6
"""A requirement counts as reached up to this share of it (of one grid unit, if that is more)."""
_LARGEST = 1e6
_SMALL = 1e-4
_ROUNDS = 8
_STILL = 1e-9
_WORTH_A_THREAD = 20
LARGEST_PART = 4000
"""Parts of more unknowns are not solved where moves show how far their cells reach."""
_T = TypeVar("_T")
INFORMED = -2
"""The attacker who sees that empty cells are published, so that no suppressed one is empty."""


@dataclass(frozen=True, eq=False)
class Intervals:
    """The attacker's interval of each variable, in grid units; published ones have no width."""

    lower: Floats
    upper: Floats
    proven: Flags
    """Whether these are the ends; else the interval reaches at least so far."""


@dataclass(frozen=True)
class Exposed:
    """An unsafe variable whose interval is too narrow: for everyone, or for one contributor."""

    variable: int
    upper: bool
    """Whether the upper end is too low (else the lower one too high)."""
    reach: float
    """How far the end is from the value."""
    required: float
    attacker: int = -1
    """A group of :func:`alone`; -1: everyone; :data:`INFORMED`."""
    sliding: bool = False
    """Whether the width is too small, wherever the ends are."""


@dataclass(frozen=True, eq=False)
class Problem:
    """What an attacker works with: equations, and how far each variable can be from its value.

    ``low <= 0 <= high`` in grid units; ``owners`` says who is alone in a variable (:func:`alone`),
    None: nobody is asked.
    """

    matrix: csr_array
    low: Floats
    high: Floats
    owners: Ints | None = None
    least: Floats | None = None
    """``low`` for those who know that no suppressed cell is empty; None: nothing follows."""
    least_unit: float = 1.0
    """Grid units; larger where needs are the only size that the numbers have (:meth:`near`)."""

    @classmethod
    def of(
        cls,
        system: System,
        bounds: Bounds,
        owners: Ints | None = None,
        filled: Floats | None = None,
    ) -> Problem:
        """The problem of a system; variables that everyone knows cannot move.

        ``filled`` is the least value of each variable that is not empty (0: any): 1 where things
        are counted and empty cells are published.
        """
        values = system.cells.values.astype(np.float64)
        low = np.where(system.known, 0.0, np.minimum(bounds.lower - values, 0.0))
        high = np.where(system.known, 0.0, np.maximum(bounds.upper - values, 0.0))
        least = None
        if filled is not None and ((values + low < filled) & (filled > 0)).any():
            more = np.maximum(low, np.minimum(filled - values, 0.0))
            least = np.where(filled > 0, more, low)
        matrix = csr_array(vstack([system.matrix, system.between]), dtype=np.float64)
        return cls(matrix, low, high, owners, least)

    def low_of(self, attacker: int) -> Floats:
        """``low`` as an attacker knows it: everyone (-1) as the plan says, others more."""
        return self.low if attacker == -1 or self.least is None else self.least

    @cached_property
    def unit(self) -> float:
        """How many grid units are one unit of the solver, which likes moderate numbers."""
        finite = np.abs(np.concatenate([self.low, self.high]))
        return max(self.least_unit, float(finite[np.isfinite(finite)].max(initial=0.0)) / _LARGEST)

    def near(self, need: float) -> Problem:
        """The problem for moves of ``need`` where others are so large that it would be lost.

        Nothing moves millions of times as far as a target needs then. Where nothing bounds the
        cells, what the targets need is the only size there is.
        """
        if need > _LARGEST * self.unit:
            return replace(self, least_unit=need / _LARGEST)
        if need <= 0 or need >= _SMALL * self.unit:
            return self
        wide = _LARGEST * need
        least = None if self.least is None else np.maximum(self.least, -wide)
        low, high = np.maximum(self.low, -wide), np.minimum(self.high, wide)
        return replace(self, low=low, high=high, least=least)


@dataclass(frozen=True)
class Target:
    """One side of an unsafe variable: it must be able to move by ``need`` grid units.

    With ``sliding`` both sides together: what it can go down and up must add up to ``need``.
    """

    variable: int
    upper: bool
    need: float
    sliding: bool = False


def targets_of(required: Requirement, *, above: Floats | None = None) -> list[Target]:
    """Both sides of every unsafe variable, where there is something to protect.

    A range of 0 (a share of the value 0) asks for nothing. Where ``above`` says how far variables
    can be above their values for all that everyone knows, the value must not be certain all the
    same: it has to be able to move up by a grid unit, unless no table is needed to know it.
    """
    certain = required.unsafe & (required.lower == 0) & (required.upper == 0)
    certain &= False if above is None else above > 0
    return [
        Target(int(v), up, float(ends[v]))
        for up, ends in ((False, required.lower), (True, np.where(certain, 1, required.upper)))
        for v in np.flatnonzero(required.unsafe)
        if ends[v] > 0
    ]


def sliding_of(required: Requirement, narrowed: Flags | bool = False) -> list[Target]:
    """The widths of unsafe variables, where they ask for more than both sides do or where some
    readers know an end of what is ``narrowed`` (:meth:`.model.System.sums`).
    """
    if required.sliding is None:
        return []
    wide = required.sliding > np.where(narrowed, 0, required.lower + required.upper)
    wide = required.unsafe & wide.astype(bool)
    return [Target(int(v), True, float(required.sliding[v]), True) for v in np.flatnonzero(wide)]


@dataclass(frozen=True, eq=False)
class Moves:
    """The changes of suppressed cells that keep every sum: ``A y = 0``, ``low <= y <= high``.

    ``unit`` grid units are 1. ``of[v]`` is the column of variable ``v`` (-1: it cannot move) and
    ``sign[v]`` its direction.
    """

    matrix: csr_array
    low: Floats
    high: Floats
    of: Ints
    sign: Ints
    unit: float
    informed: tuple[Floats, Floats] | None = None
    """``low`` and ``high`` with :attr:`Problem.least`."""

    @classmethod
    def of_pattern(cls, problem: Problem, suppressed: Flags) -> Moves:
        """The moves that are left when everything but ``suppressed`` is published."""
        open_ = np.flatnonzero(suppressed & (problem.low < problem.high))
        low, high, unit = problem.low[open_], problem.high[open_], problem.unit
        matrix = csr_array(problem.matrix[:, open_])
        column, sign = _merged(matrix)
        kept = np.flatnonzero(column >= 0)
        count = int(column.max(initial=-1)) + 1
        merge = coo_array((sign[kept], (kept, column[kept])), shape=(len(open_), count))
        reduced = csr_array(matrix @ merge.tocsr())
        reduced.eliminate_zeros()
        reduced = csr_array(reduced[np.diff(reduced.indptr) > 0])
        against = sign[kept] < 0

        def ends(low: Floats) -> tuple[Floats, Floats]:
            # A column that goes against its cell has the cell's bounds turned round.
            floor, ceiling = np.full(count, -np.inf), np.full(count, np.inf)
            np.maximum.at(floor, column[kept], np.where(against, -high[kept], low[kept]) / unit)
            np.minimum.at(ceiling, column[kept], np.where(against, -low[kept], high[kept]) / unit)
            return floor, ceiling

        informed = None if problem.least is None else ends(problem.least[open_])
        of, way = np.full((2, len(problem.low)), -1, dtype=np.int64)
        of[open_], way[open_] = column, sign
        return cls(reduced, *ends(low), of, way, unit, informed)


def _merged(matrix: csr_array) -> tuple[Ints, Ints]:
    """The column and direction of each unknown, after equations with one or two are used up.

    Column -1: it cannot move.
    """
    count = matrix.shape[1]
    column, sign = np.arange(count, dtype=np.int64), np.ones(count, dtype=np.int64)
    while True:
        kept = np.flatnonzero(column >= 0)
        width = int(column.max(initial=-1)) + 1
        merge = coo_array((sign[kept], (kept, column[kept])), shape=(count, width))
        now = csr_array(matrix @ merge.tocsr())
        now.eliminate_zeros()
        length = np.diff(now.indptr)
        single, pair = now.indptr[:-1][length == 1], now.indptr[:-1][length == 2]
        pair = pair[np.abs(now.data[pair]) == np.abs(now.data[pair + 1])]
        if not len(single) and not len(pair):
            return column, sign
        # Each column and its opposite are nodes: an equation of two joins one to one.
        left, right = now.indices[pair], now.indices[pair + 1]
        same = now.data[pair] == -now.data[pair + 1]
        other = np.where(same, right, right + width)
        turned = np.where(same, right + width, right)
        ends = (np.concatenate([left, left + width]), np.concatenate([other, turned]))
        links = coo_array((np.ones(len(ends[0]), np.int8), ends), shape=(2 * width, 2 * width))
        part = connected_components(links, directed=False)[1]
        stuck = part[:width] == part[width:]
        fixed = np.zeros(part.max(initial=-1) + 1, dtype=bool)
        fixed[part[:width][stuck]] = True
        fixed[part[now.indices[single]]] = True
        fixed[part[now.indices[single] + width]] = True
        # Of a part and its mirror image the one with the smaller number is the new column.
        mirrored = part[:width] > part[width:]
        whole = np.minimum(part[:width], part[width:])
        free = ~(fixed[part[:width]] | fixed[part[width:]])
        _, number = np.unique(whole[free], return_inverse=True)
        new = np.full(width, -1, dtype=np.int64)
        new[free] = number
        sign = np.where(column >= 0, sign * np.where(mirrored, -1, 1)[column], sign)
        column = np.where(column >= 0, new[column], -1)


def audit(
    system: System,
    suppressed: Flags,
    bounds: Bounds,
    token: CancelToken,
    threads: int = 2,
    progress: Callable[[int, int], None] = lambda done, total: None,
    reach: tuple[Floats, Floats] | None = None,
) -> Intervals:
    """The attacker's interval of every variable.

    ``reach`` says how far each variable is known to be able to go down and up (grid units). With
    it, parts of more than a few thousand cells are not solved: their intervals are that far wide.

    Raises
    ------
    Cancelled
        The token asked for it.
    """
    moves = Moves.of_pattern(Problem.of(system, bounds), suppressed)
    there = np.flatnonzero(moves.of >= 0)
    column, against = moves.of[there], moves.sign[there] < 0
    inner = None
    if reach is not None:
        down, up = reach[0][there] / moves.unit, reach[1][there] / moves.unit
        inner = (np.zeros(len(moves.low)), np.zeros(len(moves.low)))
        np.minimum.at(inner[0], column, -np.where(against, up, down))
        np.maximum.at(inner[1], column, np.where(against, down, up))
    low, high, sure = _ranges(moves, inner, token, threads, progress)
    values = system.cells.values.astype(np.float64)
    lower, upper, proven = values.copy(), values.copy(), np.ones(len(values), dtype=bool)
    down, up = low[column] * moves.unit, high[column] * moves.unit
    lower[there] += np.where(against, -up, down)
    upper[there] += np.where(against, -down, up)
    proven[there] = sure[column]
    return Intervals(lower, upper, proven)


def parts_of(matrix: csr_array) -> list[Ints]:
    """The columns of each part that equations connect, the largest first."""
    rows, count = matrix.shape
    entries = matrix.tocoo().coords
    links = coo_array(
        (np.ones(len(entries[0]), np.int8), (entries[1], count + entries[0])),
        shape=(count + rows,) * 2,
    )
    part = connected_components(links, directed=False)[1][:count]
    order = np.argsort(part, kind="stable")
    ends = np.flatnonzero(np.diff(part[order])) + 1
    return sorted(np.split(order, ends), key=len, reverse=True) if count else []


def _ranges(
    moves: Moves,
    inner: tuple[Floats, Floats] | None,
    token: CancelToken,
    threads: int,
    progress: Callable[[int, int], None],
) -> tuple[Floats, Floats, Flags]:
    """Least and largest value of every column, and whether they are proven."""
    low, high = _outer(moves.matrix, moves.low, moves.high)
    sure = np.ones(len(low), dtype=bool)
    done = [0]

    def one(columns: Ints) -> None:
        if len(columns) > LARGEST_PART and inner is not None:
            # Even where single sums meet such an end, to check that could take a program.
            low[columns], high[columns] = inner[0][columns], inner[1][columns]
            sure[columns] = False
        elif len(columns) > 1:
            part = _Part(moves, columns, low[columns], high[columns])
            low[columns], high[columns] = part.ranges(token, threads if _few(parts) else 1)
        done[0] += len(columns)
        progress(done[0], len(low))

    parts = parts_of(moves.matrix)
    for _ in _mapped(one, parts, threads):
        token.check()
    return low, high, sure


def _mapped(work: Callable[[Ints], _T], parts: Sequence[Ints], threads: int) -> Iterator[_T]:
    """The work on each part, by threads where there are several large ones."""
    if threads < 2 or _few(parts):
        yield from map(work, parts)
        return
    with ThreadPoolExecutor(threads) as pool:
        yield from pool.map(work, parts)


def _few(parts: Sequence[Ints]) -> bool:
    """Whether too few parts are large for a thread each to be worth it."""
    return sum(len(part) > _WORTH_A_THREAD for part in parts) < 2


def _outer(matrix: csr_array, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Bounds that follow from single equations: each unknown against the sum of the others."""
    low, high = low.copy(), high.copy()
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    columns, factor = matrix.indices, matrix.data
    for _ in range(_ROUNDS):
        ends = np.stack([factor * low[columns], factor * high[columns]])
        floor = -_others(rows, ends.max(axis=0), matrix.shape[0], np.inf) / factor
        ceiling = -_others(rows, ends.min(axis=0), matrix.shape[0], -np.inf) / factor
        before = low.copy(), high.copy()
        np.maximum.at(low, columns, np.minimum(floor, ceiling))
        np.minimum.at(high, columns, np.maximum(floor, ceiling))
        # Zero is a move: rounding must not push it out.
        low, high = np.minimum(low, 0.0), np.maximum(high, 0.0)
        if (low == before[0]).all() and (high == before[1]).all():
            break
    return low, high


def _others(rows: Ints, ends: Floats, count: int, infinite: float) -> Floats:
    """The sum over the other unknowns of each entry's equation."""
    open_ = np.isinf(ends)
    finite = np.where(open_, 0.0, ends)
    rest = np.bincount(rows, finite, minlength=count)[rows] - finite
    return np.where(np.bincount(rows, open_, minlength=count)[rows] > open_, infinite, rest)


class _Part:
    """One connected part of the moves, with its program and the points found so far.

    ``low`` and ``high`` is how far each column is known to be able to go; a column is decided
    when that is as far as ``goals`` says, or proven to be all.
    """

    def __init__(self, moves: Moves, columns: Ints, goal_low: Floats, goal_high: Floats) -> None:
        part = csr_array(moves.matrix[:, columns])
        self._matrix = csr_array(part[np.diff(part.indptr) > 0])
        self._bounds = (moves.low[columns], moves.high[columns])
        self.program = self._program()
        self._lock = Lock()
        self.goals = (goal_low.copy(), goal_high.copy())
        self.low, self.high = np.zeros((2, len(columns)))
        self.points: list[Floats] = []

    def _program(self) -> Program:
        none = np.zeros(self._matrix.shape[0])
        return Program(self._matrix, (none, none), self._bounds)

    def ranges(self, token: CancelToken, threads: int = 1) -> tuple[Floats, Floats]:
        """How far every column can go, at most up to its goals; a program for each thread."""
        for upward in (True, False):
            todo = np.flatnonzero(self._undecided(upward))
            before = 2 * len(todo)
            # Shared points first, as long as one of them decides about what a program costs.
            while 2 < len(todo) < 0.95 * before:
                before = len(todo)
                self._push(self.program, todo, upward, token)
                todo = np.flatnonzero(self._undecided(upward))
            each = partial(self._single, upward=upward, token=token)
            for _ in _mapped(each, np.array_split(todo, threads), threads):
                token.check()
        return self.low, self.high

    def _single(self, todo: Ints, upward: bool, token: CancelToken) -> None:
        """How far each of some columns can go, where it is not known, by a program of its own."""
        program = self._program() if len(todo) > _WORTH_A_THREAD else self.program
        for column in todo:
            if self._undecided(upward)[column]:
                self._push(program, np.array([column]), upward, token)
                # Proven to be all, whatever the goal was.
                self.goals[upward][column] = (self.low, self.high)[upward][column]

    def swing(self, known: Ints, token: CancelToken) -> None:
        """Points that come as far as the goals of many columns while the columns ``known`` stay."""
        ends = self._bounds[0].copy(), self._bounds[1].copy()
        for end in ends:
            end[known] = 0.0
        self.points += swings(self._matrix, ends, self.goals, token)
        for point in self.points:
            self.at_least(point, point)

    def at_least(self, low: Floats, high: Floats) -> None:
        """Columns can go so far, as is known otherwise."""
        with self._lock:
            np.minimum(self.low, low, out=self.low)
            np.maximum(self.high, high, out=self.high)

    def _undecided(self, upward: bool) -> Flags:
        if upward:
            return np.asarray(self.high < self.goals[1] - _near(self.goals[1]))
        return np.asarray(self.low > self.goals[0] + _near(self.goals[0]))

    def _push(self, program: Program, columns: Ints, upward: bool, token: CancelToken) -> None:
        """A point as far out as possible in all these columns together."""
        program.cost(columns, np.full(len(columns), -1.0 if upward else 1.0))
        solved = program.solve(token)
        program.cost(columns, np.zeros(len(columns)))
        if solved.answer is Answer.UNBOUNDED:
            ray = np.zeros(len(self.low)) if solved.point is None else solved.point
            ray = ray / (abs(ray).max(initial=0.0) or 1.0)
            down, up = np.where(ray < -_STILL, -np.inf, 0.0), np.where(ray > _STILL, np.inf, 0.0)
            if len(columns) == 1:
                (down, up)[upward][columns] = np.inf if upward else -np.inf
            self.at_least(down, up)
        elif solved.point is not None:
            self.points.append(solved.point)
            self.at_least(solved.point, solved.point)

    def far(
        self, column: int, goal: float, known: Ints, token: CancelToken
    ) -> tuple[float, Floats | None]:
        """How far a column can go towards ``goal`` while the columns ``known`` stay."""
        low, high = self._bounds[0].copy(), self._bounds[1].copy()
        low[known] = high[known] = 0.0
        if goal > 0:
            high[column] = min(high[column], goal)
        else:
            low[column] = max(low[column], goal)
        touched = np.union1d(known, [column])
        self.program.bound(touched, low[touched], high[touched])
        self.program.cost(np.array([column]), np.array([-1.0 if goal > 0 else 1.0]))
        solved = self.program.solve(token)
        self.program.cost(np.array([column]), np.zeros(1))
        self.program.bound(touched, self._bounds[0][touched], self._bounds[1][touched])
        return (0.0, None) if solved.point is None else (solved.point[column], solved.point)


def _near(goal: Floats) -> Floats:
    """How close to a goal counts as there."""
    return np.where(np.isinf(goal), 0.0, 1e-9 * (1.0 + np.abs(goal)))


def alone(system: System) -> Ints:
    """The contributor who is alone in each variable, as a number; -1: not a singleton.

    A total with one contributor and its parts that are not empty are the same contributor's; where
    the contributors are known by name, so are cells of linked tables.
    """
    single = system.cells.frequency == 1
    number = np.full(len(system), -1, dtype=np.int64)
    entries = csr_array(system.matrix)
    rows = np.repeat(np.arange(entries.shape[0]), np.diff(entries.indptr))
    # A contributor who is alone in a total is alone in all of its parts that are not empty.
    total = np.bincount(rows, (entries.data > 0) & single[entries.indices], entries.shape[0]) > 0
    inside = total[rows] & single[entries.indices]
    count = len(system)
    ends = [entries.indices[inside].astype(np.int64)]
    nodes = [count + rows[inside].astype(np.int64)]
    size = count + entries.shape[0]
    if system.cells.who is not None:
        named = np.flatnonzero(single & (system.cells.who[:, 0] >= 0))
        _, who = np.unique(system.cells.who[named, 0], return_inverse=True)
        ends.append(named)
        nodes.append(size + who)
        size += int(who.max(initial=-1)) + 1
    left, right = np.concatenate(ends), np.concatenate(nodes)
    links = coo_array((np.ones(len(left), np.int8), (left, right)), shape=(size, size))
    part = connected_components(links, directed=False)[1][:count]
    number[single] = np.unique(part[single], return_inverse=True)[1]
    return number


def exposed(
    problem: Problem,
    suppressed: Flags,
    targets: Sequence[Target],
    token: CancelToken,
    threads: int = 2,
) -> list[Exposed]:
    """The targets that a pattern does not protect, with their attackers.

    From a contributor alone in a cell, and from who knows that no suppressed cell is empty, a
    target is to be protected as far as it can be: what follows from that and the common bounds
    without any table cannot be hidden. Raises Cancelled.
    """
    groups: dict[float, list[Target]] = {}
    for target in targets:
        need = target.need / problem.unit
        size = _SMALL ** math.floor(math.log(need, _SMALL))
        groups.setdefault(size if need > _LARGEST else min(1.0, size), []).append(target)
    found: list[Exposed] = []
    for group in groups.values():
        inner = problem.near(max(target.need for target in group))
        found += _exposed(inner, suppressed, group, token, threads)
    return found


def _exposed(
    problem: Problem,
    suppressed: Flags,
    targets: Sequence[Target],
    token: CancelToken,
    threads: int,
) -> list[Exposed]:
    """See :func:`exposed`, for targets of about the same need."""
    moves = Moves.of_pattern(problem, suppressed)
    found: list[Exposed] = []
    by_column: dict[int, list[Target]] = {}
    for target in targets:
        column = int(moves.of[target.variable])
        if column < 0:
            found.append(_as_exposed(target, 0.0))
        else:
            by_column.setdefault(column, []).append(target)
    beforehand = _Beforehand(problem)
    parts = [p for p in parts_of(moves.matrix) if not by_column.keys().isdisjoint(p.tolist())]

    def one(columns: Ints) -> list[Exposed]:
        inside = [
            replace(t, need=t.need / moves.unit)
            for c in columns.tolist()
            for t in by_column.get(c, [])
        ]
        return _Attacked(moves, columns, inside, beforehand).exposed(token)

    for each in _mapped(one, parts, threads):
        found += each
    return found


def _as_exposed(target: Target, reach: float, who: int = -1) -> Exposed:
    side = target.variable, target.upper
    return Exposed(*side, float(reach), target.need, who, target.sliding)


class _Beforehand:
    """What a contributor alone in some cells can tell while no table is published.

    Who knows a part of a total knows that it is at least that much: no pattern can hide it, so none
    has to.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._lock = Lock()

    @cached_property
    def _program(self) -> Program:
        none = np.zeros(self.problem.matrix.shape[0])
        return Program(self.problem.matrix, (none, none), self._bounds)

    @property
    def _bounds(self) -> tuple[Floats, Floats]:
        low = self.problem.low_of(INFORMED)
        return low / self.problem.unit, self.problem.high / self.problem.unit

    def reach(self, target: Target, who: int, token: CancelToken) -> float:
        """How far a target can move at all, at most as far as it needs to."""
        owners = self.problem.owners
        low, high = (ends.copy() for ends in self._bounds)
        none = np.zeros(0, dtype=np.int64)
        known = none if owners is None else np.flatnonzero(owners == who)
        variable = target.variable
        low[known] = high[known] = 0.0
        touched = np.union1d(known, [variable])
        if target.upper:
            high[variable] = min(high[variable], target.need)
        else:
            low[variable] = max(low[variable], -target.need)
        with self._lock:
            self._program.bound(touched, low[touched], high[touched])
            where = np.array([variable])
            self._program.cost(where, np.array([-1.0 if target.upper else 1.0]))
            solved = self._program.solve(token)
            self._program.cost(where, np.zeros(1))
            first = self._bounds
            self._program.bound(touched, first[0][touched], first[1][touched])
        return target.need if solved.point is None else abs(float(solved.point[variable]))


class _Attacked:
    """The requirements of one connected part, against everyone and each contributor in it."""

    def __init__(
        self,
        moves: Moves,
        columns: Ints,
        targets: Sequence[Target],
        beforehand: _Beforehand,
    ) -> None:
        owners = beforehand.problem.owners
        self._beforehand = beforehand
        self._moves = moves
        self._targets = targets
        place = np.full(int(moves.of.max()) + 1, -1, dtype=np.int64)
        place[columns] = np.arange(len(columns))
        self._place = np.where(moves.of >= 0, place[moves.of], -1)
        self._part_low, self._part_high = np.zeros((2, len(columns)))
        for target in targets:
            column, side = self._place[target.variable], self._goal(target)
            for goal in (side, -side) if target.sliding else (side,):
                ends = self._part_high if goal > 0 else self._part_low
                ends[column] = max(ends[column], goal) if goal > 0 else min(ends[column], goal)
        self._part = _Part(moves, columns, self._part_low, self._part_high)
        self._informed = self._part
        if moves.informed is not None:
            low, high = moves.informed
            goals = (
                np.maximum(self._part_low, np.minimum(low[columns], 0.0)),
                np.minimum(self._part_high, np.maximum(high[columns], 0.0)),
            )
            self._informed = _Part(replace(moves, low=low, high=high), columns, *goals)
        self._owners = owners
        inside = np.flatnonzero(self._place >= 0)
        if owners is not None:
            inside = inside[owners[inside] >= 0]
        known = np.zeros(0, dtype=np.int64) if owners is None else owners[inside]
        # Which contributor (by number in this part) knows which column.
        self._who, self._number = np.unique(known, return_inverse=True)
        self._knows = self._place[inside[: len(known)]]
        self._moved: list[Flags] = []

    def _goal(self, target: Target) -> float:
        along = target.upper == (self._moves.sign[target.variable] > 0)
        return target.need if along else -target.need

    def exposed(self, token: CancelToken) -> list[Exposed]:
        """What this part leaves too narrow."""
        if len(self._part.low) > 1:
            # What those who know more cannot rule out, others cannot.
            self._informed.swing(self._knows, token)
            if self._informed is not self._part:
                self._part.at_least(*self._informed.ranges(token))
            low, high = self._part.ranges(token)
        else:
            low, high = self._moves_ends()
        found: list[Exposed] = []
        for target in self._targets:
            goal, column = self._goal(target), self._place[target.variable]
            reach = abs(high[column] if goal > 0 else low[column])
            if target.sliding:
                reach = high[column] - low[column]
            if not self._there(reach, target.need):
                found.append(self._as_exposed(target, reach, -1))
            elif target.sliding and (len(self._who) or self._informed is not self._part):
                found += self._slides(target, token)
            elif len(self._who) or self._informed is not self._part:
                found += self._known(target, token)
        return found

    def _moves_ends(self) -> tuple[Floats, Floats]:
        column = self._moves.of[self._targets[0].variable]
        return self._moves.low[[column]], self._moves.high[[column]]

    def _there(self, reach: float, need: float) -> bool:
        return bool(reach >= need - TOLERANCE * max(need, 1.0 / self._moves.unit))

    def _as_exposed(self, target: Target, reach: float, who: int) -> Exposed:
        unit = self._moves.unit
        return _as_exposed(replace(target, need=target.need * unit), reach * unit, who)

    def _known(self, target: Target, token: CancelToken) -> list[Exposed]:
        """The contributors from whom a variable is not protected, all of them tried."""
        own = self._beforehand.problem.low_of(INFORMED)[target.variable] / self._moves.unit
        if not target.upper and target.need > -own:
            target = replace(target, need=-float(own))
        if target.need <= 0:
            return []
        if self._informed is not self._part:
            # Contributors know this too: what it tells would be found for each of them again.
            told, target = self._told(target, token)
            if told or target.need <= 0:
                return told
        goal, column, need = self._goal(target), int(self._place[target.variable]), target.need
        left = np.ones(len(self._who), dtype=bool)
        if self._owners is not None:
            left &= self._who != self._owners[target.variable]
        for place, point in enumerate(self._informed.points):
            if self._there(point[column] * np.sign(goal), need):
                left &= self._moves_of(place)
                if not left.any():
                    return []
        found: list[Exposed] = []
        groups = [np.flatnonzero(left)] if left.any() else []
        while groups:
            group = groups.pop()
            known = np.unique(self._knows[np.isin(self._number, group)])
            reach, far = self._informed.far(column, goal, known, token)
            if self._there(abs(reach), need):
                if far is not None:
                    self._informed.points.append(far)
            elif len(group) == 1:
                who = int(self._who[group[0]])
                most = replace(target, need=self._beforehand.reach(target, who, token))
                if not self._there(abs(reach), most.need):
                    found.append(self._as_exposed(most, abs(reach), who))
            else:
                groups += [group[: len(group) // 2], group[len(group) // 2 :]]
        return found

    def _slides(self, target: Target, token: CancelToken) -> list[Exposed]:
        """Those who know more and from whom the width of a variable is not protected."""
        column, own = int(self._place[target.variable]), -1
        if self._owners is not None:
            own = int(self._owners[target.variable])
        others = np.flatnonzero(self._who != own) if own >= 0 else np.arange(len(self._who))
        groups = [others] if len(others) else []
        if self._informed is not self._part:
            groups.append(others[:0])  # everyone who sees that no suppressed cell is empty
        found: list[Exposed] = []
        while groups:
            group = groups.pop()
            known = np.unique(self._knows[np.isin(self._number, group)])
            sides = (target.need, -target.need)
            reach = sum(abs(self._informed.far(column, to, known, token)[0]) for to in sides)
            if self._there(reach, target.need):
                continue
            if len(group) > 1:
                groups += [group[: len(group) // 2], group[len(group) // 2 :]]
                continue
            who = int(self._who[group[0]]) if len(group) else INFORMED
            ends = (replace(target, upper=up, sliding=False) for up in (True, False))
            most = sum(self._beforehand.reach(end, who, token) for end in ends)
            least = replace(target, need=min(target.need, most))
            if not self._there(reach, least.need):
                found.append(self._as_exposed(least, reach, who))
        return found

    def _told(self, target: Target, token: CancelToken) -> tuple[list[Exposed], Target]:
        """Whether it is exposed to who is ``INFORMED``, and how far that one leaves it at all."""
        goal, column = self._goal(target), int(self._place[target.variable])
        points = [point[column] * np.sign(goal) for point in self._informed.points]
        if any(self._there(reach, target.need) for reach in points):
            return [], target
        none = np.zeros(0, dtype=np.int64)
        reach, far = self._informed.far(column, goal, none, token)
        if self._there(abs(reach), target.need):
            if far is not None:
                self._informed.points.append(far)
            return [], target
        most = replace(target, need=self._beforehand.reach(target, INFORMED, token))
        if not self._there(abs(reach), most.need):
            return [self._as_exposed(most, abs(reach), INFORMED)], most
        return [], most

    def _moves_of(self, place: int) -> Flags:
        """Whose cells a point moves."""
        while len(self._moved) <= place:
            moving = np.abs(self._informed.points[len(self._moved)]) > _STILL
            moved = np.zeros(len(self._who), dtype=bool)
            moved[self._number[moving[self._knows]]] = True
            self._moved.append(moved)
        return self._moved[place]
