"""Moves that show how far suppressed cells can be from their values: what an audit rests on.

A move changes some suppressed cells so that every sum stays; made as often, forwards or backwards,
as the bounds of its cells allow, it shows that each of them can be that far from its value. Who
has the moves can check that by adding up, without solving anything.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.tables.audit import (
    INFORMED,
    TOLERANCE,
    Problem,
    Target,
    exposed,
    sliding_of,
    targets_of,
)
from dpdesk.engine.tables.model import Flags, Floats, Ints, Requirement

Move = tuple[Ints, Floats]
"""Variables, and how far each one moves (grid units)."""
_WHOLE = 1e-6
_MOST_TIMES = 1e6


@dataclass(frozen=True, eq=False)
class Witnesses:
    """Moves of the variables of a system, shape (moves, variables), in grid units."""

    matrix: csr_array

    @classmethod
    def of(cls, moves: Sequence[Move], problem: Problem) -> Witnesses:
        """Those of some moves that keep every sum, exactly where their parts are whole multiples
        of the smallest one.
        """
        count = problem.matrix.shape[1]
        tidied = [(cells, _tidy(amounts)) for cells, amounts in moves]
        ends = np.cumsum([0, *(len(cells) for cells, _ in tidied)])
        cells = np.concatenate([np.zeros(0, np.int64), *(cells for cells, _ in tidied)])
        amounts = np.concatenate([np.zeros(0), *(amounts for _, amounts in tidied)])
        matrix = csr_array((amounts, cells, ends), shape=(len(tidied), count))
        return cls(csr_array(matrix[cls(matrix)._kept(problem.matrix)]))

    def _kept(self, equations: csr_array) -> Flags:
        """Whether each move keeps every sum, of which a solver leaves a little noise."""
        if not self.matrix.shape[0]:
            return np.zeros(0, dtype=bool)
        off = abs(csr_array(equations @ self.matrix.T)).max(axis=0).toarray().ravel()
        least = np.full(self.matrix.shape[0], np.inf)
        np.minimum.at(least, self._move, np.abs(self.matrix.data))
        return np.asarray(off <= TOLERANCE / 10 * least)

    @cached_property
    def _move(self) -> Ints:
        return np.repeat(np.arange(self.matrix.shape[0]), np.diff(self.matrix.indptr))

    def reach(self, low: Floats, high: Floats, among: Flags | None = None) -> tuple[Floats, Floats]:
        """How far the moves show that each variable can go down and up.

        ``low <= 0 <= high`` are the bounds; ``among`` says of each entry whether it counts.
        """
        move, cell, amount = self._move, self.matrix.indices, self.matrix.data
        times = np.full((2, self.matrix.shape[0]), np.inf)
        forwards = amount > 0
        far = np.where(forwards, high[cell], low[cell]) / amount
        back = np.where(forwards, -low[cell], -high[cell]) / amount
        np.minimum.at(times[0], move, far)
        np.minimum.at(times[1], move, back)
        ends = np.stack([times[0][move] * amount, -times[1][move] * amount])
        if among is not None:
            ends, cell = ends[:, among], cell[among]
        found = np.zeros((2, len(low)))
        np.maximum.at(found[0], cell, -ends.min(axis=0))
        np.maximum.at(found[1], cell, ends.max(axis=0))
        return found[0], found[1]

    def covered(self, problem: Problem, targets: Sequence[Target]) -> Flags:
        """Whether the moves protect each target: from everyone, from who is ``INFORMED``, and from
        every contributor alone in another cell.
        """
        down, up = self.reach(problem.low, problem.high)
        low, owners = problem.low_of(INFORMED), problem.owners
        strict = owners is not None or problem.least is not None
        if strict:
            among = None if owners is None else self._own(owners)
            informed = self.reach(low, problem.high, among)
        found = []
        for target in targets:
            v, need = target.variable, target.need
            sides = (down, up) if target.sliding else ((down, up)[target.upper],)
            reached = sum(side[v] for side in sides) >= need * (1 - TOLERANCE)
            if strict and reached:
                least = need if target.upper else min(need, -float(low[v]))
                known = informed if target.sliding else (informed[int(target.upper)],)
                reached = sum(side[v] for side in known) >= least * (1 - TOLERANCE)
            found.append(bool(reached))
        return np.array(found, dtype=bool)

    def _own(self, owners: Ints) -> Flags:
        """The entries whose move leaves the cells of all other contributors as they are."""
        who = owners[self.matrix.indices]
        nobody = np.iinfo(np.int64).max
        first, last = np.full(self.matrix.shape[0], nobody), np.full(self.matrix.shape[0], -1)
        np.minimum.at(first, self._move, np.where(who < 0, nobody, who))
        np.maximum.at(last, self._move, who)
        own = (first == last)[self._move] & (who == last[self._move])
        return np.asarray(own | (last < 0)[self._move])

    def whole(self, low: Floats, high: Floats, steps: Floats) -> tuple[Floats, Floats]:
        """How many steps each variable can go down and up by moves in whole steps.

        ``steps`` is one step of each variable in grid units; 0 for those that have none.
        """
        move, cell = self._move, self.matrix.indices
        step = np.where(steps > 0, steps, 1.0)
        amount = self.matrix.data / step[cell]
        ends = [np.ceil(low / step - _WHOLE), np.floor(high / step + _WHOLE)]
        inside = amount / self._unit(amount)[move]
        fits = (np.abs(inside - np.rint(inside)) <= _WHOLE) & (steps[cell] > 0)
        broken = np.zeros(self.matrix.shape[0], dtype=bool)
        np.logical_or.at(broken, move, ~fits)
        entries = (~broken)[move]
        whole = np.rint(inside)
        forwards = whole > 0
        far = np.where(forwards, ends[1][cell], ends[0][cell]) / whole
        back = np.where(forwards, -ends[0][cell], -ends[1][cell]) / whole
        times = np.full((2, self.matrix.shape[0]), _MOST_TIMES)
        np.minimum.at(times[0], move[entries], far[entries])
        np.minimum.at(times[1], move[entries], back[entries])
        times = np.floor(times + _WHOLE)
        reach = np.stack([times[0][move] * whole, -times[1][move] * whole])[:, entries]
        found = np.zeros((2, len(low)))
        np.maximum.at(found[0], cell[entries], -reach.min(axis=0, initial=0.0))
        np.maximum.at(found[1], cell[entries], reach.max(axis=0, initial=0.0))
        return found[0], found[1]

    def _unit(self, amount: Floats) -> Floats:
        """Of each move, of which all parts are whole multiples: the largest such number if the
        parts are whole numbers, else the smallest part.
        """
        count, whole = self.matrix.shape[0], np.rint(amount)
        least = np.full(count, np.inf)
        np.minimum.at(least, self._move, np.abs(amount))
        off = np.zeros(count)
        np.maximum.at(off, self._move, np.abs(amount - whole))
        common = np.zeros(count, dtype=np.int64)
        np.gcd.at(common, self._move, whole.astype(np.int64))
        return np.where((off <= _WHOLE) & (common > 0), common, least)


def whole_targets(
    found: Witnesses, problem: Problem, targets: Sequence[Target], steps: Floats
) -> list[Target]:
    """Targets among counts that no move in whole steps reaches, with their needs in whole steps.

    ``steps`` is a step of each variable in grid units; 0 for those that are no counts.
    """
    low = problem.low_of(INFORMED)
    moved = found.whole(low, problem.high, steps)
    left = []
    for target in targets:
        step, v = float(steps[target.variable]), target.variable
        if step > 0:
            goal = math.ceil(target.need / step - _WHOLE)
            sides = (False, True) if target.sliding else (target.upper,)
            rooms = (problem.high[v] if upper else -low[v] for upper in sides)
            most = sum(math.floor(min(room / step, goal) + _WHOLE) for room in rooms)
            if sum(moved[int(upper)][v] for upper in sides) < min(goal, most):
                left.append(replace(target, need=goal * step))
    return left


def _tidy(amounts: Floats) -> Floats:
    """A move by whole numbers, where it is a multiple of one."""
    inside = amounts / np.abs(amounts).min(initial=np.inf)
    whole = np.rint(inside)
    near = np.abs(inside - whole).max(initial=0.0) <= _WHOLE
    return whole if near and np.abs(whole).max(initial=0.0) <= _MOST_TIMES else amounts


def told_as_present(
    problem: Problem,
    suppressed: Flags,
    required: Requirement,
    token: CancelToken,
    witnesses: Witnesses | None = None,
) -> tuple[int, int]:
    """How many unsafe variables a pattern tells exactly, and how many others closer than required.

    To who is ``INFORMED``: sees that no suppressed cell is empty. The pattern protects from
    everyone else. Whether a value of 0 is certain is asked too. No program is solved for what
    ``witnesses`` show. Raises Cancelled.
    """
    problem, widths = replace(problem, owners=None), sliding_of(required)
    targets = [*targets_of(required, above=problem.high), *widths]
    targets = [target for target in targets if suppressed[target.variable]]
    if problem.least is None:  # that a cell is not empty tells nothing more, as of most sums
        protected = {*targets_of(required), *widths}
        targets = [target for target in targets if target not in protected]
    if witnesses is not None:
        covered = witnesses.covered(problem, targets)
        targets = [each for each, there in zip(targets, covered, strict=True) if not there]
    told = sorted({each.variable for each in exposed(problem, suppressed, targets, token)})
    least = replace(problem, low=problem.low_of(INFORMED), least=None)
    unit = [Target(variable, up, 1.0) for variable in told for up in (False, True)]
    still = Counter(each.variable for each in exposed(least, suppressed, unit, token))
    exact = sum(still[variable] == 2 for variable in told)
    return exact, len(told) - exact
