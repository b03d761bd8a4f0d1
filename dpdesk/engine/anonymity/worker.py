"""What one thread holds while it walks: group tables along a path, and an arena."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from operator import le
from typing import Protocol

import numpy as np

from dpdesk.engine.anonymity import kernels
from dpdesk.engine.anonymity.lattice import Ints
from dpdesk.engine.anonymity.packing import Flag, PackedLattice
from dpdesk.engine.anonymity.statistics import FIELDS

_SMALLEST_ARENA = 1024
_SMALLEST_POOL = 32_000_000
_MOST_POOLED = 200
_CLEARLY = 0.7


class Tasks(Protocol):
    """Where workers get the numbers of sub-lattices from."""

    def take(self, worker: int) -> int | None:
        """The next task of a worker, or None at the end."""
        ...


class Stopped(Exception):  # noqa: N818 - a signal between worker and driver, not a fault
    """The stop flag was set."""


@dataclass(frozen=True, eq=False)
class _Rung:
    """The table with one more position fixed, and that position's level."""

    level: int
    table: Ints


class Roller:
    """Makes the group table of any node; nodes asked for in ascending order share their work.

    ``rungs[i]`` holds the table with positions 0 to i fixed and all others raw.
    """

    def __init__(self, packed: PackedLattice, stop: Flag) -> None:
        self.packed = packed
        self.stop = stop
        self.scratch = np.empty_like(packed.base)
        self.cuts = np.empty(len(packed.base), np.int64)
        self._rungs: list[_Rung] = []
        self._maps: dict[tuple[int, int, int], Ints] = {}

    def table(self, levels: Sequence[int]) -> Ints:
        """The group table at ``levels``, given by position (a prefix: the rest stays raw).

        Raises :class:`Stopped`.
        """
        same = 0
        while same < min(len(levels), len(self._rungs)):
            if self._rungs[same].level != levels[same]:
                break
            same += 1
        reusable = self._rungs[same] if same < min(len(levels), len(self._rungs)) else None
        del self._rungs[same:]
        for position in range(same, len(levels)):
            below = self._rungs[-1].table if self._rungs else self.packed.base
            lower = 0
            if position == same and reusable and reusable.level < levels[position]:
                below, lower = reusable.table, reusable.level
            table = self.raised(below, position, lower, levels[position])
            self._rungs.append(_Rung(levels[position], table))
        return self._rungs[-1].table if self._rungs else self.packed.base

    def raised(self, table: Ints, position: int, lower: int, upper: int) -> Ints:
        """``table`` with one position raised from ``lower`` to ``upper``; raises Stopped."""
        if lower == upper:
            return table
        target = np.empty_like(table)
        step = np.append(self.packed.fields[position], 0)
        groups = kernels.roll_up(
            table, 0, len(table), target, 0, step, self._map(position, lower, upper),
            self.scratch, self.cuts, self.stop,
        )  # fmt: skip
        if groups < 0:
            raise Stopped
        return target[:groups].copy() if groups < len(target) else target

    def _map(self, position: int, lower: int, upper: int) -> Ints:
        key = (position, lower, upper)
        if key not in self._maps:
            self._maps[key] = self.packed.step_map(position, lower, upper)
        return self._maps[key]


class TablePool:
    """Makes the group table of any node from the smallest table at hand below it.

    For nodes asked for in any order. Tables that are clearly smaller than what they were made from
    are kept, the least recently used forgotten first, within twice the memory of the raw table.
    ``work`` counts the groups read so far: the same on every machine.
    """

    def __init__(self, packed: PackedLattice, stop: Flag) -> None:
        self._roller = Roller(packed, stop)
        self._room = 2 * max(packed.base.nbytes, _SMALLEST_POOL)
        self._kept: OrderedDict[tuple[int, ...], Ints] = OrderedDict()
        self.work = 0

    def table(self, levels: Sequence[int]) -> Ints:
        """The group table at ``levels``, given by position; raises :class:`Stopped`."""
        goal = tuple(levels)
        below = [at for at in self._kept if all(map(le, at, goal))]
        at = min(below, key=lambda node: len(self._kept[node]), default=(0,) * len(goal))
        table = self._kept.get(at, self._roller.packed.base)
        if at in self._kept:
            self._kept.move_to_end(at)
        small = len(table)
        for position, level in enumerate(goal):
            if at[position] == level:
                continue
            self.work += len(table)
            table = self._roller.raised(table, position, at[position], level)
            at = (*at[:position], level, *at[position + 1 :])
            if len(table) <= _CLEARLY * small:
                small = len(table)
                self._keep(at, table)
        self.work += len(table)
        return table

    def _keep(self, at: tuple[int, ...], table: Ints) -> None:
        self._kept[at] = table
        self._room -= table.nbytes
        while self._kept and (self._room < 0 or len(self._kept) > _MOST_POOLED):
            _, forgotten = self._kept.popitem(last=False)
            self._room += forgotten.nbytes


class SubtreeWorker:
    """Walks sub-lattices: the first positions fixed per task, all others at every level."""

    def __init__(self, packed: PackedLattice, ks: Ints, bins: Ints, stop: Flag) -> None:
        self.packed = packed
        self.ks = ks
        self.bins = bins
        self.stop = stop
        self.roller = Roller(packed, stop)
        self.state = np.zeros(2, np.int64)
        self.path = np.zeros((packed.depth + 1, 4), np.int64)
        self.sums = np.zeros((len(ks) + 1, FIELDS), np.int64)
        self.arena = np.empty((_SMALLEST_ARENA, packed.words + 3), np.int64)

    @property
    def finished(self) -> int:
        """Nodes done so far; may be read while the worker runs."""
        return int(self.state[kernels.FINISHED])

    def run(self, tasks: Tasks, place: int, fixed: int, answers: Ints) -> None:
        """Take tasks until there are none or the flag is set."""
        heights = self.packed.heights[:fixed]
        shape = tuple(int(height) + 1 for height in heights)
        try:
            while (task := tasks.take(place)) is not None:
                prefix = [int(level) for level in np.unravel_index(task, shape)] if shape else []
                self._walk(prefix, answers)
        except Stopped:
            return

    def _walk(self, prefix: list[int], answers: Ints) -> None:
        root = self.roller.table(prefix)
        self._ensure(2 * len(root))
        self.arena[: len(root)] = root
        levels = np.zeros(len(self.packed.heights), np.int64)
        levels[: len(prefix)] = prefix
        node = int((levels * self.packed.strides).sum())
        kernels.tally(self.arena, 0, len(root), self.bins, self.ks, self.sums, answers[node])
        self.state[kernels.FINISHED] += 1
        self.state[kernels.DEPTH] = 0
        self.path[0] = 0, len(root), len(prefix), len(prefix)
        while True:
            outcome = kernels.walk_subtree(
                self.arena, self.state, self.path, levels, self.packed.heights,
                self.packed.strides, self.packed.steps, self.packed.maps, self.roller.scratch,
                self.roller.cuts, self.bins, self.ks, self.sums, answers, self.stop,
            )  # fmt: skip
            if outcome == kernels.CANCELLED:
                raise Stopped
            if outcome == kernels.DONE:
                return
            self._ensure(2 * len(self.arena))

    def _ensure(self, rows: int) -> None:
        """Grow the arena to at least ``rows`` rows, keeping what lies in it."""
        if rows > len(self.arena):
            grown = np.empty((rows, self.arena.shape[1]), np.int64)
            grown[: len(self.arena)] = self.arena
            self.arena = grown
