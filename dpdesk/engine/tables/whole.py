"""What is told of counts to someone who uses that they are whole numbers.

Distances in the definitions of cell suppression are over all numbers, and linear programs find
them. A count moves by whole persons: in tables of three and more dimensions and in linked ones it
may be able to move by half a person and not by one. The gap has no bound there (J. A. De Loera,
S. Onn: All linear and integer programs are slim 3-way transportation programs, SIAM Journal on
Optimization 17, 2006), so that it is looked at with integer programs and said.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import coo_array, csc_array, csr_array
from scipy.sparse.csgraph import connected_components

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.tables.audit import LARGEST_PART, Moves, Problem, Target, parts_of
from dpdesk.engine.tables.model import Flags, Floats, Ints
from dpdesk.engine.tables.solving import Answer, Program
from dpdesk.engine.tables.witnesses import Witnesses, whole_targets

NODES = 2_000
"""An integer program that is not decided after so many nodes is given up."""
MOST = 4_000
"""So many unsafe counts are looked at, those of the largest parts last."""
_CLOSE = 1e-6
_WIDE = 1e6


@dataclass(frozen=True)
class Told:
    """What whole numbers tell of unsafe counts: how many are told exactly, how many others more
    closely than required, and how many were not decided.
    """

    exactly: int = 0
    closer: int = 0
    undecided: int = 0


def told_as_whole(
    problem: Problem,
    suppressed: Flags,
    targets: Sequence[Target],
    steps: Floats,
    token: CancelToken,
    witnesses: Witnesses | None = None,
) -> Told:
    """What a pattern tells that protects its targets from those who compute with all numbers.

    ``steps`` is 1 on the grid for each variable that counts, 0 for others, which are left out. The
    readers are everyone, or those who see that no suppressed cell is empty where the problem has
    them. With ``witnesses`` no program is solved for what they show, nor in the largest parts.
    Raises Cancelled.
    """
    if witnesses is not None:
        left = whole_targets(witnesses, problem, targets, steps)
        ways = {(each.variable, each.upper, each.sliding) for each in left}
        targets = [each for each in targets if (each.variable, each.upper, each.sliding) in ways]
    here = _Rooms(problem, suppressed, steps)
    beforehand = _Rooms(problem, steps > 0, steps)
    wanted: dict[int, list[Target]] = {}
    for target in targets:
        if steps[target.variable] > 0 and here.moves.of[target.variable] >= 0:
            wanted.setdefault(target.variable, []).append(target)
    found: Counter[int | None] = Counter()
    for number, variable in enumerate(sorted(wanted, key=here.size)):
        own, step = wanted[variable], float(steps[variable])
        given_up = witnesses is not None and here.size(variable) > LARGEST_PART
        given_up |= number >= MOST
        told = None if given_up else _told(here, beforehand, own, step, token)
        found[told] += 1
    return Told(found[_EXACTLY], found[_CLOSER], found[None])


_EXACTLY, _CLOSER, _NOT = range(3)
_DETOUR = 16


def _told(
    here: _Rooms, beforehand: _Rooms, targets: Sequence[Target], step: float, token: CancelToken
) -> int | None:
    """How the count of some targets is told; None: undecided."""
    if here.ends_whole(targets[0]):
        return _NOT
    short, sure = False, True
    for target in targets:
        goal = math.ceil(target.need / step - _CLOSE)
        reach = _reach(here, target, goal, token)
        # What follows without any table cannot be hidden.
        most = goal if reach == goal else _reach(beforehand, target, goal, token)
        sure &= reach is not None and most is not None
        if reach is not None and most is not None:
            short |= reach < most and reach * step < target.need - _CLOSE
    if not short:
        return _NOT if sure else None
    ends = _ends(here, targets[0], 1, token)
    return _CLOSER if any(ends) else None if None in ends else _EXACTLY


def _reach(rooms: _Rooms, target: Target, goal: int, token: CancelToken) -> int | None:
    """How many steps a count can go, or span where its width is asked; None: it was not found."""
    if not target.sliding:
        return rooms.reach(target, goal, token)
    down, up = _ends(rooms, target, goal, token)
    return None if down is None or up is None else min(goal, down + up)


def _ends(rooms: _Rooms, target: Target, goal: int, token: CancelToken) -> list[int | None]:
    """How many steps a count can go down and up, at most ``goal``."""
    return [rooms.reach(replace(target, upper=up), goal, token) for up in (False, True)]


class _Rooms:
    """The whole moves that a pattern leaves, each connected part by itself."""

    def __init__(self, problem: Problem, suppressed: Flags, steps: Floats) -> None:
        self.moves = Moves.of_pattern(problem, suppressed)
        self._steps = steps
        self._parts = parts_of(self.moves.matrix)
        self._part = np.full(len(self.moves.low), -1, dtype=np.int64)
        for number, columns in enumerate(self._parts):
            self._part[columns] = number
        self._made: dict[int, _Room] = {}

    def size(self, variable: int) -> int:
        """How many unknowns are in the part of a variable."""
        return len(self._parts[self._part[self.moves.of[variable]]])

    def ends_whole(self, target: Target) -> bool:
        """Whether linear programs tell the same of it."""
        return self._room(target).ends_whole

    def reach(self, target: Target, goal: int, token: CancelToken) -> int | None:
        """How many steps a count can go, at most ``goal``; None: it was not found."""
        column = int(self.moves.of[target.variable])
        if column < 0:
            return 0
        along = target.upper == (self.moves.sign[target.variable] > 0)
        return self._room(target).reach(column, goal if along else -goal, token)

    def _room(self, target: Target) -> _Room:
        number = int(self._part[self.moves.of[target.variable]])
        if number not in self._made:
            step = float(self._steps[target.variable])
            self._made[number] = _Room(self.moves, self._parts[number], step)
        return self._made[number]


class _Room:
    """Whole moves, in steps, of one connected part: how far each unknown can go."""

    def __init__(self, moves: Moves, columns: Ints, step: float) -> None:
        low, high = moves.informed or (moves.low, moves.high)
        scale = moves.unit / step
        ends = np.clip(np.stack([low[columns], high[columns]]) * scale, -_WIDE, _WIDE)
        self._bounds_whole = bool((np.abs(ends - np.rint(ends)) < _CLOSE).all())
        self._low = np.minimum(np.ceil(ends[0] - _CLOSE), 0.0)
        self._high = np.maximum(np.floor(ends[1] + _CLOSE), 0.0)
        matrix = csr_array(moves.matrix[:, columns])
        self._matrix = csr_array(matrix[np.diff(matrix.indptr) > 0])
        self._place = {int(column): place for place, column in enumerate(columns)}
        none = np.zeros(self._matrix.shape[0])
        self._rows = (none, none)
        self._linear = Program(self._matrix, self._rows, (self._low, self._high))
        self._points: list[Floats] = []

    @cached_property
    def ends_whole(self) -> bool:
        """Whether linear programs end at whole points in any case.

        The bounds are whole, and the equations those of a network: each unknown is in at most two
        of them, and with suitable signs of the equations it adds to one what it takes from the
        other.
        """
        inner = csc_array(self._matrix)
        length = np.diff(inner.indptr)
        if not self._bounds_whole or (length > 2).any() or (np.abs(inner.data) != 1).any():
            return False
        first = inner.indptr[:-1][length == 2]
        rows, one, other = inner.shape[0], inner.indices[first], inner.indices[first + 1]
        alike = inner.data[first] == inner.data[first + 1]
        # Each equation and its opposite are nodes; none may be joined to its own opposite.
        ends = np.where(alike, other + rows, other), np.where(alike, other, other + rows)
        nodes = np.concatenate([one, one + rows]), np.concatenate(ends)
        links = coo_array((np.ones(len(nodes[0]), np.int8), nodes), shape=(2 * rows,) * 2)
        part = connected_components(links, directed=False)[1]
        return bool((part[:rows] != part[rows:]).all())

    def reach(self, column: int, goal: int, token: CancelToken) -> int | None:
        """How many steps an unknown can go towards ``goal``; None: it was not found."""
        place, way = self._place[column], 1 if goal > 0 else -1
        end = self._high[place] if way > 0 else -self._low[place]
        goal = min(abs(goal), int(end))
        if goal == 0 or any(point[place] * way >= goal for point in self._points):
            return goal
        # It may have to go past the goal: some go by two steps and not by one.
        far, at = min(float(end), _DETOUR * (goal + 1.0)), np.array([place])
        low, high = self._low.copy(), self._high.copy()
        if way > 0:
            high[place] = far
        else:
            low[place] = -far
        self._linear.bound(at, low[at], high[at])
        self._linear.cost(at, np.array([-1.0 * way]))
        solved = self._linear.solve(token)
        self._linear.cost(at, np.zeros(1))
        self._linear.bound(at, self._low[at], self._high[at])
        if solved.point is None:
            return None
        reach = float(solved.point[place]) * way
        if self._keep(solved.point) or reach < 1 - _CLOSE:
            return min(goal, math.floor(reach + _CLOSE))
        costs = np.zeros(len(low))
        costs[place] = -way
        whole, ends = np.ones(len(low), dtype=bool), (low, high)
        program = Program(self._matrix, self._rows, ends, costs, whole, "anew", nodes=NODES)
        solved = program.solve(token)
        if solved.point is None or not self._keep(solved.point):
            return None
        reach = round(float(solved.point[place]) * way)
        return min(goal, reach) if reach >= goal or solved.answer is Answer.OPTIMAL else None

    def _keep(self, point: Floats) -> bool:
        """Whether a point is whole; it may then serve other counts."""
        whole = np.rint(point)
        if np.abs(whole - point).max(initial=0.0) > _CLOSE or (self._matrix @ whole).any():
            return False
        self._points.append(whole)
        return True
