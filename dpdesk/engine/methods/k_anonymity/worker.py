"""What one thread holds while it walks: group tables along a path, and an arena."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from dpdesk.engine.methods.k_anonymity import kernels
from dpdesk.engine.methods.k_anonymity.lattice import Ints
from dpdesk.engine.methods.k_anonymity.packing import Flag, GroupTable, PackedLattice
from dpdesk.engine.methods.k_anonymity.statistics import FIELDS, LONGEST_BINS

_SMALLEST_ARENA = 1024


class Tasks(Protocol):
    """Where workers get the numbers of sub-lattices from."""

    def take(self, worker: int) -> int | None:
        """The next task of a worker, or None at the end."""
        ...


class Stopped(Exception):  # noqa: N818 - a signal between worker and driver, not a fault
    """The stop flag was set."""


class Room:
    """What the kernels overwrite; for one thread."""

    def __init__(self, packed: PackedLattice) -> None:
        rests, leaves = len(packed.base.rests), packed.inner.shape[1]
        self.slots = np.empty(max(8, 1 << (2 * rests - 1).bit_length()), np.int64)
        self.links = np.empty((rests, 3), np.int64)
        self.dense = np.zeros(leaves, np.int64)
        self.marks = np.zeros((2, leaves // 32 + 1), np.int64)
        self.bits = bit_table()
        self.line = np.empty(leaves, np.int64)


def bit_table() -> Ints:
    """The number of a bit by the upper five bits of its product with the kernels' sequence."""
    bits = np.arange(32, dtype=np.int64)
    table = np.empty(32, np.int64)
    table[(((1 << bits) * 0x077CB531) & 0xFFFFFFFF) >> 27] = bits
    return table


class Roller:
    """Makes the group table of any node; nodes asked for in ascending order share their work.

    ``rungs[i]`` holds the table with positions 0 to i fixed and all others raw.
    """

    def __init__(self, packed: PackedLattice, stop: Flag) -> None:
        self.packed = packed
        self.stop = stop
        self.room = Room(packed)
        self._rungs: list[tuple[int, GroupTable]] = []
        self._maps: dict[tuple[int, int, int], Ints] = {}

    def table(self, levels: Sequence[int]) -> GroupTable:
        """The group table at ``levels``, given by position (a prefix: the rest stays raw).

        Raises :class:`Stopped`.
        """
        same = 0
        while same < min(len(levels), len(self._rungs)):
            if self._rungs[same][0] != levels[same]:
                break
            same += 1
        reusable = self._rungs[same] if same < min(len(levels), len(self._rungs)) else None
        del self._rungs[same:]
        for position in range(same, len(levels)):
            below = self._rungs[-1][1] if self._rungs else self.packed.base
            lower = 0
            if position == same and reusable and reusable[0] < levels[position]:
                lower, below = reusable
            table = self.raised(below, position, lower, levels[position])
            self._rungs.append((levels[position], table))
        return self._rungs[-1][1] if self._rungs else self.packed.base

    def raised(self, table: GroupTable, position: int, lower: int, upper: int) -> GroupTable:
        """``table`` with one position raised from ``lower`` to ``upper``; raises Stopped."""
        if lower == upper:
            return table
        if position == len(self.packed.order) - 1:
            return self._inner_raised(table, lower, upper)
        rests, entries = np.empty_like(table.rests), np.empty_like(table.entries)
        step = np.append(self.packed.fields[position], 0)
        room = self.room
        groups = kernels.raise_rests(
            table.rests, 0, len(table.rests), table.entries, 0, rests, 0, entries, 0, step,
            self._map(position, lower, upper), room.slots, room.links, room.dense, room.marks,
            room.bits, self.stop,
        )  # fmt: skip
        if groups < 0:
            raise Stopped
        return GroupTable(rests[:groups].copy(), entries[: rests[groups - 1, -1]].copy())

    def _inner_raised(self, table: GroupTable, lower: int, upper: int) -> GroupTable:
        for level in range(lower, upper):
            if self.stop[0]:
                raise Stopped
            rests, entries = np.empty_like(table.rests), np.empty_like(table.entries)
            kernels.raise_inner(
                table.rests, 0, len(rests), table.entries, 0, rests, 0, entries, 0, level,
                self.packed.inner,
            )  # fmt: skip
            table = GroupTable(rests, entries[: rests[-1, -1]].copy())
        return table

    def _map(self, position: int, lower: int, upper: int) -> Ints:
        key = (position, lower, upper)
        if key not in self._maps:
            self._maps[key] = self.packed.step_map(position, lower, upper)
        return self._maps[key]


class Tally:
    """Counts the groups of tables at ascending ``ks``; for one thread."""

    def __init__(self, packed: PackedLattice, room: Room, ks: Ints) -> None:
        self.ks = ks
        longest = np.arange(min(int(ks[-1]) + 1, LONGEST_BINS))
        self.bins = np.searchsorted(ks, longest, side="right").astype(np.int64)
        self.sums = np.zeros((len(packed.inner), len(ks) + 1, FIELDS), np.int64)
        self._inner = packed.inner
        self._line = room.line

    def count(
        self, table: GroupTable, low: int, high: int, answers: Ints, node: int, stride: int
    ) -> None:
        """See the kernel ``tally_levels``; ``table`` has the inner attribute at ``low``."""
        kernels.tally_levels(
            table.rests, 0, len(table.rests), table.entries, 0, low, high, self._inner, self._line,
            self.bins, self.ks, self.sums, answers, node, stride,
        )  # fmt: skip


class Arena:
    """Room for the tables along a path; grows by doubling."""

    def __init__(self, words: int) -> None:
        self.rests = np.empty((_SMALLEST_ARENA, words + 3), np.int64)
        self.entries = np.empty(_SMALLEST_ARENA, np.int64)

    def begin(self, table: GroupTable) -> None:
        """Put a table at the beginning."""
        self._ensure(2 * len(table.rests), 2 * len(table.entries))
        self.rests[: len(table.rests)] = table.rests
        self.entries[: len(table.entries)] = table.entries

    def grow(self) -> None:
        """Make twice the room, keeping what is there."""
        self._ensure(2 * len(self.rests), 2 * len(self.entries))

    def _ensure(self, rests: int, entries: int) -> None:
        if rests > len(self.rests):
            grown = np.empty((rests, self.rests.shape[1]), np.int64)
            grown[: len(self.rests)] = self.rests
            self.rests = grown
        if entries > len(self.entries):
            longer = np.empty(entries, np.int64)
            longer[: len(self.entries)] = self.entries
            self.entries = longer


class GoalWorker:
    """Counts single nodes, many at a time, from the raw table that it keeps in its arena."""

    def __init__(self, packed: PackedLattice, ks: Ints, stop: Flag) -> None:
        self._packed = packed
        self._stop = stop
        self._room = Room(packed)
        self._tally = Tally(packed, self._room, ks)
        self._arena = Arena(packed.words)
        self._arena.begin(packed.base)
        attributes = len(packed.order)
        self._levels = np.zeros((attributes + 2, attributes), np.int64)
        self._frames = np.zeros((attributes + 2, 7), np.int64)
        self._frames[0] = 0, 0, 0, 0, len(packed.base.rests), 0, len(packed.base.entries)

    def count(self, goals: Ints, answers: Ints) -> None:
        """See the kernel ``count_goals``; raises :class:`Stopped`."""
        packed, room, tally, arena = self._packed, self._room, self._tally, self._arena
        done = 0
        while True:
            done = kernels.count_goals(
                goals, done, arena.rests, arena.entries, self._frames, self._levels,
                packed.heights, packed.steps, packed.maps, room.slots, room.links, room.dense,
                room.marks, room.bits, packed.inner, room.line, tally.bins, tally.ks, tally.sums,
                answers, self._stop,
            )  # fmt: skip
            if done < 0:
                raise Stopped
            if done == len(goals):
                return
            arena.grow()


class SubtreeWorker:
    """Walks sub-lattices: the first positions fixed per task, all others at every level."""

    def __init__(self, packed: PackedLattice, ks: Ints, stop: Flag) -> None:
        self.packed = packed
        self.stop = stop
        self.roller = Roller(packed, stop)
        self.tally = Tally(packed, self.roller.room, ks)
        self.state = np.zeros(2, np.int64)
        self.path = np.zeros((packed.depth + 1, 5), np.int64)
        self.arena = Arena(packed.words)

    @property
    def finished(self) -> int:
        """Nodes done so far; may be read while the worker runs."""
        return int(self.state[kernels.FINISHED])

    def run(self, tasks: Tasks, place: int, fixed: int, answers: Ints) -> None:
        """Take tasks until there are none or the flag is set."""
        shape = tuple(int(height) + 1 for height in self.packed.heights[:fixed])
        try:
            while (task := tasks.take(place)) is not None:
                prefix = [int(level) for level in np.unravel_index(task, shape)] if shape else []
                self._walk(prefix, answers)
        except Stopped:
            return

    def _walk(self, prefix: list[int], answers: Ints) -> None:
        packed, room, tally, arena = self.packed, self.roller.room, self.tally, self.arena
        root = self.roller.table(prefix)
        arena.begin(root)
        levels = np.zeros(len(packed.heights), np.int64)
        levels[: len(prefix)] = prefix
        node, top = int((levels * packed.strides).sum()), int(packed.heights[-1])
        tally.count(root, 0, top, answers, node, int(packed.strides[-1]))
        self.state[kernels.FINISHED] += top + 1
        self.state[kernels.DEPTH] = 0
        self.path[0] = 0, len(root.rests), 0, len(prefix), len(prefix)
        while True:
            outcome = kernels.walk_subtree(
                arena.rests, arena.entries, self.state, self.path, levels, packed.heights,
                packed.strides, packed.steps, packed.maps, room.slots, room.links, room.dense,
                room.marks, room.bits, packed.inner, room.line, tally.bins, tally.ks, tally.sums,
                answers, self.stop,
            )  # fmt: skip
            if outcome == kernels.CANCELLED:
                raise Stopped
            if outcome == kernels.DONE:
                return
            arena.grow()
