"""Moves that the agency's tables name: how far they show suppressed cells to be from their values.

A move changes suppressed cells, and no published one. Whether it keeps the sums of the tables is
found by adding up; how often it can be made, forwards and backwards, by the bounds of its cells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.tabulation import CAN_MOVE, CellTable
from dpdesk.verifiers.tables.intervals import Unknowns
from dpdesk.verifiers.tables.programs import Floats, Ints, times
from dpdesk.verifiers.tables.published import Place

_CLOSE = 1e-7
_MOST_TIMES = 1e6
_ROUNDS = 8
_EVERYONE = -2


@dataclass(frozen=True, eq=False)
class Shown:
    """Moves that keep every sum: the unknowns of each, and how far each of them goes."""

    moves: tuple[tuple[Ints, Floats], ...]

    @classmethod
    def of(
        cls, internal: Mapping[str, CellTable], files: Sequence[str], where: Sequence[Place]
    ) -> Shown:
        """The moves that tables name, by the ``where`` of unknowns in the tables of ``files``.

        Raises ValueError for a text that names none.
        """
        named: dict[int, dict[int, float]] = {}
        for unknown, (table, cell) in enumerate(where):
            texts = internal[files[table]].internal.get(CAN_MOVE)
            for text in texts[cell].split() if texts is not None else ():
                number, _, amount = text.partition(":")
                far, inside = float(amount), named.setdefault(int(number), {})
                if unknown in inside or not far or not isfinite(far):
                    raise ValueError("a cell is in a move once, and goes somewhere in it")
                inside[unknown] = far
        pairs = (
            (np.array(list(each), np.int64), np.array(list(each.values())))
            for each in named.values()
        )
        return cls(tuple(pairs))

    def keeping(self, unknowns: Unknowns) -> Shown:
        """Those that keep the sums of all equations, closely for the cell that goes least."""
        places = [
            (at, row, by) for row, (each, _) in enumerate(unknowns.rows) for at, by in each.items()
        ]
        entries = np.array(places, dtype=np.float64).reshape(-1, 3)
        entries = entries[np.argsort(entries[:, 0], kind="stable")]
        ends = np.searchsorted(entries[:, 0], np.arange(len(unknowns.low) + 1))
        rows, factors = entries[:, 1].astype(np.int64), entries[:, 2]
        kept = []
        for cells, amounts in self.moves:
            length = ends[cells + 1] - ends[cells]
            inside = np.concatenate([np.arange(ends[c], ends[c + 1]) for c in cells.tolist()])
            _, which = np.unique(rows[inside], return_inverse=True)
            off = np.bincount(which, factors[inside] * np.repeat(amounts, length))
            if np.abs(off).max(initial=0.0) <= _CLOSE * np.abs(amounts).min():
                kept.append((cells, amounts))
        return Shown(tuple(kept))

    def reach(self, low: Floats, high: Floats, alone: Alone | None = None) -> NDArray[np.float64]:
        """How far each unknown can go down (first) and up, between bounds around 0.

        ``alone`` says which cells of a move count: not those that its contributors would tell.
        """
        found = np.zeros((2, len(low)))
        for cells, amounts in self.moves:
            on, back = times(amounts, low[cells], high[cells])
            counts = np.ones(len(cells), bool) if alone is None else alone.hidden(cells)
            ends = np.stack([amounts * on, amounts * -back])[:, counts]
            at = cells[counts]
            found[0, at] = np.maximum(found[0, at], -ends.min(axis=0))
            found[1, at] = np.maximum(found[1, at], ends.max(axis=0))
        return found

    def steps(self, low: Floats, high: Floats) -> NDArray[np.float64]:
        """:meth:`reach` in whole numbers, by moves of whole numbers alone."""
        found = np.zeros((2, len(low)))
        low, high = np.ceil(low - _CLOSE), np.floor(high + _CLOSE)
        for cells, amounts in self.moves:
            parts = amounts / _unit(amounts)
            whole = np.rint(parts)
            if np.abs(parts - whole).max() > _CLOSE:
                continue
            ways = times(whole, low[cells], high[cells])
            on, back = (np.floor(min(each, _MOST_TIMES) + _CLOSE) for each in ways)
            ends = np.stack([whole * on, whole * -back])
            found[0, cells] = np.maximum(found[0, cells], -ends.min(axis=0))
            found[1, cells] = np.maximum(found[1, cells], ends.max(axis=0))
        return found


def _unit(amounts: Floats) -> float:
    """Of what all parts of a move are multiples: their greatest divisor if they are whole numbers,
    else the smallest part.
    """
    whole = np.rint(amounts)
    if np.abs(amounts - whole).max() <= _CLOSE and np.abs(whole).max() <= _MOST_TIMES:
        return float(np.gcd.reduce(whole.astype(np.int64))) or float(np.abs(amounts).min())
    return float(np.abs(amounts).min())


@dataclass(frozen=True, eq=False)
class Alone:
    """Who is alone in each unknown (-1: nobody); ``told`` as for ``Kept``."""

    owner: Ints
    value: Floats
    told: bool

    def hidden(self, cells: Ints) -> NDArray[np.bool_]:
        """Of the cells of a move, those for which no other contributor knows that it is not made.

        Where owners are not told, cells of one contributor and the same value may be one's.
        """
        owned = self.owner[cells] >= 0
        if not owned.any():
            return np.ones(len(cells), dtype=bool)
        names = [self.owner[cells][owned], *([] if self.told else [self.value[cells][owned]])]
        one = any((each == each[0]).all() for each in names)
        return owned if one else np.zeros(len(cells), dtype=bool)


@dataclass(frozen=True, eq=False)
class People:
    """Who knows more than the plan says: the cells in which each is alone, none for who sees only
    that no suppressed count is 0. ``value`` is that of each cell, ``of_whom`` the place of its
    owner.
    """

    cells: Sequence[Sequence[int]]
    owner: Ints
    value: Floats
    of_whom: Ints

    @classmethod
    def of(cls, alone: Alone | None, *, informed: bool) -> People:
        """The contributors of ``alone``, and who is ``informed``."""
        cells: dict[int, list[int]] = {_EVERYONE: []} if informed else {}
        owned = np.zeros(0, np.int64) if alone is None else np.flatnonzero(alone.owner >= 0)
        for place in owned.tolist():
            assert alone is not None
            cells.setdefault(int(alone.owner[place]), []).append(place)
        each = np.array([p for own in cells.values() for p in own], np.int64)
        value = np.zeros(0) if alone is None else alone.value[each]
        of_whom = np.repeat(np.arange(len(cells)), [len(own) for own in cells.values()])
        return cls(tuple(cells.values()), np.array(list(cells), np.int64), value, of_whom)

    def others(self, owner: int, value: float, *, told: bool) -> Ints:
        """The numbers of those whom a cell of this owner does not belong to.

        Where owners are not ``told``, cells of one contributor and the same value may be one's.
        """
        there = self.owner != owner
        if owner >= 0 and not told:
            there[self.of_whom[self.value == value]] = False
        return np.flatnonzero(there)

    def known(self, group: Ints) -> list[int]:
        """The cells of a group of people together."""
        return [cell for who in group.tolist() for cell in self.cells[who]]


def single_ones(
    tables: Sequence[CellTable],
    numbers: Sequence[Sequence[int]],
    internal: Mapping[str, CellTable],
) -> Mapping[int, int]:
    """By the numbers of cells with one contributor, a number of who that is, as far as tables tell.

    Whoever is alone in a total is so in all of its parts that are not empty.
    """
    above: dict[int, int] = {}

    def top(cell: int) -> int:
        while above[cell] != cell:
            cell = above[cell]
        return cell

    for table, own in zip(tables, numbers, strict=True):
        shape = [len(axis.labels) for axis in table.axes]
        held = internal[table.file].internal["frequency"]
        ones: NDArray[np.bool_] = np.array([n == "1" for n in held], dtype=bool).reshape(shape)
        cells: NDArray[np.int64] = np.array(own, np.int64).reshape(shape)
        above.update((cell, cell) for cell in cells[ones].tolist() if cell not in above)
        for place, axis in enumerate(table.axes):
            for node, parent in enumerate(axis.parents):
                if parent >= 0:
                    both = ones.take([node], place) & ones.take([parent], place)
                    pairs = (cells.take([each], place)[both].tolist() for each in (node, parent))
                    for part, total in zip(*pairs, strict=True):
                        above[top(part)] = top(total)
    return {cell: top(cell) for cell in above}


def single_cells(tables: Sequence[CellTable], internal: Mapping[str, CellTable]) -> bool:
    """Whether every contributor is in one innermost cell of each table, as far as tables tell.

    The numbers of contributors add up then.
    """
    for table in tables:
        held = internal[table.file].internal["frequency"]
        shape = [len(axis.labels) for axis in table.axes]
        leaf = np.ones(shape, dtype=bool)
        for place, axis in enumerate(table.axes):
            inner = np.isin(np.arange(shape[place]), axis.parents, invert=True)
            leaf &= np.expand_dims(inner, tuple(n for n in range(len(shape)) if n != place))
        parts = [n for n, inside in zip(held, leaf.ravel().tolist(), strict=True) if inside]
        if all((held[-1], *parts)) and sum(map(float, parts)) > float(held[-1]):
            return False
    return True


def by_single_sums(unknowns: Unknowns) -> tuple[Floats, Floats]:
    """Bounds of moves that follow from single equations, again and again."""
    low, high = unknowns.low.copy(), unknowns.high.copy()
    places = [np.array(list(row), np.int64) for row, _ in unknowns.rows]
    factors = [np.array(list(row.values())) for row, _ in unknowns.rows]
    for _ in range(_ROUNDS):
        before = low.copy(), high.copy()
        for at, by in zip(places, factors, strict=True):
            ends = np.stack([by * low[at], by * high[at]])
            most = _rest(ends.max(axis=0))
            least = _rest(ends.min(axis=0))
            floor, ceiling = -most / by, -least / by
            low[at] = np.minimum(np.maximum(low[at], np.minimum(floor, ceiling)), 0.0)
            high[at] = np.maximum(np.minimum(high[at], np.maximum(floor, ceiling)), 0.0)
        if (low == before[0]).all() and (high == before[1]).all():
            break
    return low, high


def _rest(ends: Floats) -> Floats:
    """For each entry the sum of the others, some of which may be infinite."""
    open_ = np.isinf(ends)
    finite = np.where(open_, 0.0, ends)
    others = finite.sum() - finite
    endless = float(ends[open_][0]) if open_.any() else 0.0
    return np.where(open_.sum() - open_ > 0, endless, others)
