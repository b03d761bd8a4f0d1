"""A protecting pattern of a large table: each unsafe cell by a cheapest move in a small box.

A box holds, in every dimension, the cell's own node with a few of its siblings (and of the children
of inner nodes), the cheapest ones; boxes grow until one has a move. The moves are kept as
witnesses: one that can be made in both directions protects every cell that it moves far enough,
and none moves a cell that a contributor alone knows, so no program over the whole table is needed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csc_array, csr_array

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.tables.audit import Problem, Target
from dpdesk.engine.tables.model import Flags, Floats, Ints, System
from dpdesk.engine.tables.search import Attack, Attacker, Instance

_SIBLINGS = (1, 2, 4, 8)
_LARGEST_BOX = 8000
_PRICELESS = 1e-7


def local_pattern(
    system: System, instance: Instance, token: CancelToken
) -> tuple[Flags, list[Target]]:
    """A pattern, and the targets for which no box had a move (to be protected otherwise)."""
    return _Boxes(system, instance).protected(token)


class _Boxes:
    """The pattern so far, and how far witnesses move each variable in both directions."""

    def __init__(self, system: System, instance: Instance) -> None:
        self._system, self._instance = system, instance
        self._columns = csc_array(instance.problem.matrix)
        self._pattern = instance.must.copy()
        self._reach = np.zeros(len(system))
        self._usable = instance.may & (instance.problem.high > 0) & (instance.problem.low < 0)
        owners = instance.problem.owners
        self._owners = np.full(len(system), -1) if owners is None else owners
        self._place = np.full((len(system), 2), -1, dtype=np.int64)
        for number in reversed(range(len(system.tables))):
            own = system.variables[number]
            self._place[own] = np.stack([np.full(len(own), number), np.arange(len(own))], axis=1)
        self._children = [
            [
                [np.flatnonzero(d.parents == node) for node in range(len(d.labels))]
                for d in table.dimensions
            ]
            for table in system.tables
        ]

    def protected(self, token: CancelToken) -> tuple[Flags, list[Target]]:
        """See :func:`local_pattern`."""
        left: list[Target] = []
        needs: dict[int, float] = {}
        for target in self._instance.targets:
            needs[target.variable] = max(needs.get(target.variable, 0.0), target.need)
        for variable in sorted(needs, key=lambda v: (-needs[v], v)):
            token.check()
            if self._reach[variable] >= needs[variable]:
                continue
            if not self._protect(variable, needs[variable], token):
                left += [t for t in self._instance.targets if t.variable == variable]
        return self._pattern, left

    def _protect(self, variable: int, need: float, token: CancelToken) -> bool:
        before = 0
        for siblings in _SIBLINGS:
            box = self._box(variable, siblings)
            if len(box) > _LARGEST_BOX:
                return False
            if len(box) == before:
                continue
            before = len(box)
            moved = self._moved(box, variable, need, token)
            if moved is not None:
                self._pattern[box[moved != 0]] = True
                # Who is alone in this cell knows that it stays, so others need other witnesses.
                covered = box if self._owners[variable] < 0 else np.array([variable])
                far = np.abs(moved if len(covered) == len(box) else moved[box == variable])
                self._reach[covered] = np.maximum(self._reach[covered], far)
                return True
        return False

    def _moved(self, box: Ints, variable: int, need: float, token: CancelToken) -> Floats | None:
        """The cheapest move of the box that can be made in both directions."""
        part = self._columns[:, box]
        rows = np.unique(part.indices)
        problem, owners = self._instance.problem, self._owners[box]
        own = owners == self._owners[variable]
        inside = Problem(
            csr_array(csr_array(part)[rows]), problem.low[box], problem.high[box], None
        )
        may = self._usable[box] & ((owners < 0) | own)
        instance = Instance(inside, (), self._instance.weight[box], may & False, may)
        weight = self._instance.weight[box]
        price = np.where(self._pattern[box], _PRICELESS * (1 + weight), weight + _PRICELESS)
        where = int(np.flatnonzero(box == variable)[0])
        attack = Attack(Target(where, True, need))
        return Attacker(instance).move(attack, may, price, token, even=True)

    def _box(self, variable: int, siblings: int) -> Ints:
        """The variables of the cells around one, in the first table that has it."""
        number, cell = (int(x) for x in self._place[variable])
        table, own = self._system.tables[number], self._system.variables[number]
        at = [int(i) for i in np.unravel_index(cell, table.shape)]
        axes: list[Ints] = []
        for axis, dimension in enumerate(table.dimensions):
            children = self._children[number][axis]
            line = own[np.ravel_multi_index(self._line(at, axis, table.shape), table.shape)]
            order = self._ranked(line)
            parent = int(dimension.parents[at[axis]])
            nodes = [at[axis]]
            if parent >= 0:
                others = children[parent][children[parent] != at[axis]]
                nodes += _first(others, order, siblings)
            grown = list(nodes)
            while nodes:
                nodes = [n for node in nodes for n in _first(children[node], order, siblings)]
                grown += nodes
            axes.append(np.array(sorted(grown), dtype=np.int64))
        if np.prod([len(each) for each in axes]) > 4 * _LARGEST_BOX:
            return np.arange(_LARGEST_BOX + 1)
        cells = np.ravel_multi_index(np.ix_(*axes), table.shape).ravel()
        return np.unique(own[cells])

    @staticmethod
    def _line(at: Sequence[int], axis: int, shape: Sequence[int]) -> list[Ints]:
        count = shape[axis]
        return [
            np.arange(count) if i == axis else np.full(count, node) for i, node in enumerate(at)
        ]

    def _ranked(self, line: Ints) -> Floats:
        """How much the cells of a line would cost: suppressed ones nothing, unusable ones last."""
        worth = np.where(self._pattern[line], 0.0, self._instance.weight[line])
        return np.where(self._usable[line] & (self._owners[line] < 0), worth, np.inf)


def _first(nodes: Ints, order: Floats, count: int) -> list[int]:
    """The cheapest of some nodes."""
    return [int(n) for n in nodes[np.argsort(order[nodes], kind="stable")[:count]]]
