"""Whether suppressed cells are protected: from the public files, and with the agency's tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, isclose

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import counted, msg
from dpdesk.core.tabulation import PRIMARY, CellTable
from dpdesk.verifiers.reading import number
from dpdesk.verifiers.tables.intervals import Floats, InfeasibleError, Row, Unknowns, ranges
from dpdesk.verifiers.tables.published import equations, place_of

_TOLERANCE = 1e-6
MOST_PROGRAMS = 4_000
"""So many linear programs are solved for a check; of larger tables, only unsafe cells are."""


@dataclass(frozen=True, eq=False)
class Attacked:
    """Linked tables as unknowns.

    ``numbers[t]`` are the numbers of the cells of table ``t``, ``unknown`` the places of suppressed
    numbers, ``where`` a table and a cell of each unknown.
    """

    tables: tuple[CellTable, ...]
    numbers: tuple[Sequence[int], ...]
    unknown: Mapping[int, int]
    where: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, tables: Sequence[CellTable], numbers: Sequence[Sequence[int]]) -> Attacked:
        """The suppressed cells of tables whose cells have these numbers."""
        unknown: dict[int, int] = {}
        where: list[tuple[int, int]] = []
        for t, (table, own) in enumerate(zip(tables, numbers, strict=True)):
            for cell, text in enumerate(table.values):
                if not text and own[cell] not in unknown:
                    unknown[own[cell]] = len(unknown)
                    where.append((t, cell))
        return cls(tuple(tables), tuple(numbers), unknown, tuple(where))

    def name(self, unknown: int) -> str:
        """How messages call an unknown."""
        table, cell = self.where[unknown]
        return place_of(self.tables[table], cell)

    def rows(self, *, moves: bool) -> list[Row]:
        """The equations; of ``moves`` from the true values, what is published does not move."""
        found: dict[tuple[tuple[int, int], ...], float] = {}
        for table, own in zip(self.tables, self.numbers, strict=True):
            values = [number(text) if text else None for text in table.values]
            for total, parts in equations(table.axes):
                row: dict[int, int] = {}
                rest = Fraction(0)
                for cell, sign in ((total, 1), *((part, -1) for part in parts)):
                    value = values[cell]
                    if value is not None:
                        rest -= sign * value
                    else:
                        place = self.unknown[own[cell]]
                        row[place] = row.get(place, 0) + sign
                key = tuple(sorted((p, c) for p, c in row.items() if c))
                if key:
                    found.setdefault(key, 0.0 if moves else float(rest))
        return [(dict(key), total) for key, total in found.items()]


def told_in_public(attacked: Attacked, token: CancelToken) -> str:
    """A suppressed cell that the published ones give away exactly, in words; empty: none.

    Known beforehand is that no value is negative, unless a published one is.
    """
    signed = any(text.startswith("-") for table in attacked.tables for text in table.values)
    count = len(attacked.unknown)
    low = np.full(count, -inf if signed else 0.0)
    unknowns = Unknowns(attacked.rows(moves=False), low, np.full(count, inf))
    size = max([1.0, *(abs(total) for _, total in unknowns.rows)])
    scaled = Unknowns([(row, total / size) for row, total in unknowns.rows], low, unknowns.high)
    wanted = range(count) if 2 * count <= MOST_PROGRAMS else _most_told(scaled, count)
    try:
        least, most = ranges(scaled, list(wanted), token)
    except InfeasibleError:
        return "no values of the suppressed cells fit the published ones"
    for place in wanted:
        if most[place] - least[place] <= _TOLERANCE * max(1e-9, abs(most[place])):
            if abs(most[place]) * size < _TOLERANCE:
                continue  # it is 0, of which nothing has to be hidden
            value = f"{most[place] * size:.6g}"
            return msg(
                "cell {cell}: it is suppressed, and the published cells give its value: {value}",
                cell=attacked.name(place),
                value=value,
            )
    return ""


def _most_told(unknowns: Unknowns, count: int) -> list[int]:
    """The unknowns in the shortest equations: where one is alone, or with one other."""
    short = sorted(unknowns.rows, key=lambda row: len(row[0]))
    found = dict.fromkeys(place for row, _ in short for place in row)
    return list(found)[: MOST_PROGRAMS // 2]


@dataclass(frozen=True, eq=False)
class Kept:
    """What the agency keeps of each unknown, in the numbers of the files."""

    value: Floats
    lower_required: Floats
    upper_required: Floats
    lower: Floats
    upper: Floats
    unsafe: NDArray[np.bool_]
    alone: NDArray[np.bool_]

    @classmethod
    def of(cls, attacked: Attacked, internal: Mapping[str, CellTable]) -> Kept:
        """Read the internal tables. Raises ValueError for what is not a number."""
        columns: dict[str, list[float]] = {
            name: [] for name in ("value", "lower_required", "upper_required", "lower", "upper")
        }
        unsafe, alone = [], []
        for table, cell in attacked.where:
            inside = internal[attacked.tables[table].file].internal
            for name, found in columns.items():
                text = inside[name][cell]
                open_ = -inf if name == "lower" else inf
                found.append(float(text) if text else open_)
            unsafe.append(inside["status"][cell] == PRIMARY)
            alone.append(inside["frequency"][cell] == "1")
        arrays = {name: np.array(found) for name, found in columns.items()}
        return cls(**arrays, unsafe=np.array(unsafe, bool), alone=np.array(alone, bool))


def unprotected(
    attacked: Attacked,
    kept: Kept,
    known: tuple[float, float | None],
    *,
    signed: bool,
    singletons: bool,
    linked: bool,
    token: CancelToken,
) -> tuple[str, str]:
    """What is wrong with the protection of unsafe cells, and with the recorded intervals.

    ``known`` are the shares of its value that everyone knows a cell to lie between; ``signed``
    says that some value is negative, so that nobody knows anything. In ``linked`` tables cells of
    other dimensions can hold the same contributors, which the source alone shows: recorded
    intervals may be narrower there, and are looked at themselves.
    """
    count = len(attacked.unknown)
    size = max(1.0, float(np.abs(kept.value).max(initial=0)))
    low, high = np.full(count, -inf), np.full(count, inf)
    if not signed:
        low = known[0] * kept.value - kept.value
        if known[1] is not None:
            high = known[1] * kept.value - kept.value
    rows = attacked.rows(moves=True)
    unknowns = Unknowns(rows, low / size, high / size)
    everything = 2 * count <= MOST_PROGRAMS
    wanted = list(range(count)) if everything else np.flatnonzero(kept.unsafe).tolist()
    least, most = (ends * size for ends in ranges(unknowns, wanted, token))
    fault = _short(attacked, kept, least, most, "")
    if not fault and linked:
        fault = _short(attacked, kept, kept.lower - kept.value, kept.upper - kept.value, "")
    if not fault and singletons:
        fault = _by_singletons(attacked, kept, unknowns, size, token)
    return fault, _recorded(attacked, kept, least, most, wanted, linked=linked)


def _short(attacked: Attacked, kept: Kept, least: Floats, most: Floats, who: str) -> str:
    """The first unsafe cell whose interval does not reach as far as required."""
    for place in np.flatnonzero(kept.unsafe).tolist():
        down, up = -float(least[place]), float(most[place])
        for reach, need in ((down, kept.lower_required[place]), (up, kept.upper_required[place])):
            slack = _TOLERANCE * max(float(need), abs(float(kept.value[place])) * 1e-3, 1e-9)
            if reach < need - slack:
                return msg(
                    "cell {cell}{who}: an attacker comes closer than required",
                    cell=attacked.name(place),
                    who=who,
                )
    return ""


def _by_singletons(
    attacked: Attacked, kept: Kept, unknowns: Unknowns, size: float, token: CancelToken
) -> str:
    """The first unsafe cell that a contributor who is alone in another one comes too close to."""
    alone = np.flatnonzero(kept.alone).tolist()
    if 2 * len(alone) * int(kept.unsafe.sum()) > 4 * MOST_PROGRAMS:
        return ""
    for place in alone:
        # Another cell with one contributor and the same value may be the same contributor's.
        own = kept.alone & (kept.value == kept.value[place])
        unsafe = kept.unsafe & ~own
        low, high = unknowns.low.copy(), unknowns.high.copy()
        low[place] = high[place] = 0.0
        moved = Unknowns(unknowns.rows, low, high)
        wanted = np.flatnonzero(unsafe).tolist()
        least, most = (ends * size for ends in ranges(moved, wanted, token))
        who = msg(", to who is alone in {cell}", cell=attacked.name(place))
        # Who knows a part of a total knows that it is at least that much; nothing hides it.
        inside = _around(attacked, place)
        need = kept.lower_required.copy()
        if np.isfinite(unknowns.low).all():
            rest = (unknowns.low[place] - unknowns.low[inside]) * size
            need[inside] = np.minimum(need[inside], np.maximum(0.0, rest))
        judged = replace(kept, unsafe=unsafe, lower_required=need)
        fault = _short(attacked, judged, least, most, who)
        if fault:
            return fault
    return ""


def _around(attacked: Attacked, place: int) -> list[int]:
    """The unknowns whose cells hold the cell of this one, in any of the tables."""
    table, cell = attacked.where[place]
    number = attacked.numbers[table][cell]
    found: set[int] = set()
    for each, own in zip(attacked.tables, attacked.numbers, strict=True):
        for at in (i for i, other in enumerate(own) if other == number):
            chains: list[list[int]] = []
            for axis, node in zip(each.axes, np.unravel_index(at, each.shape), strict=True):
                chain = [int(node)]
                while axis.parents[chain[-1]] >= 0:
                    chain.append(axis.parents[chain[-1]])
                chains.append(chain)
            cells = np.ravel_multi_index(np.ix_(*chains), each.shape).ravel()
            found.update(attacked.unknown.get(own[c], place) for c in cells.tolist())
    return sorted(found - {place})


def _recorded(
    attacked: Attacked,
    kept: Kept,
    least: Floats,
    most: Floats,
    wanted: Sequence[int],
    *,
    linked: bool,
) -> str:
    """The first recorded interval that is not the one found."""
    for place in wanted:
        value = float(kept.value[place])
        for found, stated, inward in (
            (value + float(least[place]), float(kept.lower[place]), 1.0),
            (value + float(most[place]), float(kept.upper[place]), -1.0),
        ):
            slack = _TOLERANCE * max(1.0, abs(value), float(np.abs(kept.value).max()) * 1e-3)
            narrower = linked and inward * (stated - found) > 0
            same = found == stated or isclose(found, stated, rel_tol=_TOLERANCE, abs_tol=slack)
            if not same and not narrower:
                return msg(
                    "cell {cell}: the interval in the agency's table is not what an attacker can "
                    "tell",
                    cell=attacked.name(place),
                )
    return ""


def words(cells: int) -> str:
    """How many suppressed cells were looked at."""
    return counted(
        "{n} suppressed cell was attacked", "{n} suppressed cells were attacked", n=cells
    )
