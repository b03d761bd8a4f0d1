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
from dpdesk.core.release import CheckStatus, ClaimCheck
from dpdesk.core.tabulation import INTERVAL, IS_LEAST, PRIMARY, WIDTH, CellTable
from dpdesk.verifiers.reading import number
from dpdesk.verifiers.tables.attacked import Attacked
from dpdesk.verifiers.tables.intervals import (
    Points,
    Room,
    Unknowns,
    WholeRoom,
    ranges,
    reached,
)
from dpdesk.verifiers.tables.moves import (
    Alone,
    People,
    Shown,
    by_single_sums,
    single_cells,
    single_ones,
)
from dpdesk.verifiers.tables.programs import Floats, InfeasibleError, Ints

_TOLERANCE, _OPEN, _NEAR = 1e-6, 1e-3, 1e-9
_SEED, _TRIES, _DIGITS = 7, 12, 12
_LARGE, _LARGEST_PART, _WORK, _LEAST_TRIES = 400, 4_000, 400_000, 8
"""Of parts that are not small, so many programs are solved for what their cells could be."""
MOST_ROUNDED, MOST_FLAT = 20_000, 50_000
"""Of rounded tables, in which all cells are unknown, so many cells are attacked."""
MOST_PROGRAMS, MOST_INTERVALS = 4_000, 10_000
"""About so many programs attack as single contributors, and so many intervals are compared."""


OPEN = "suppressed cells stay uncertain"


def open_check(
    attacked: Attacked,
    signed: Sequence[bool],
    token: CancelToken,
    internal: Mapping[str, CellTable] | None,
) -> ClaimCheck:
    """Whether the published cells give no suppressed one, as far as that was looked at."""
    cells, path = len(attacked.unknown), attacked.tables[0].file
    fault, left = told_in_public(attacked, signed, token, internal)
    if fault:
        return ClaimCheck(OPEN, CheckStatus.FAILED, fault, path)
    if not left:
        said = msg("{n}, and none can be computed from the published ones", n=words(cells))
        return ClaimCheck(OPEN, CheckStatus.CONFIRMED, said, path)
    said = msg(
        "{n:,} of {all:,} suppressed cells were not looked at, because they hang together with too "
        "many others; none of the others can be computed from the published ones",
        n=left,
        all=cells,
    )
    return ClaimCheck(OPEN, CheckStatus.NOT_CHECKED, said, path)


def told_in_public(
    attacked: Attacked,
    signed: Sequence[bool],
    token: CancelToken,
    internal: Mapping[str, CellTable] | None = None,
) -> tuple[str, int]:
    """A suppressed cell that the published ones give away exactly, in words; empty: none. And of
    how many cells it was not looked at, because they hang together with too many others.

    Known beforehand is that no value is negative, but for ``signed`` tables, or where the published
    ones show that some must be. The agency's tables, which fit the published ones, may name moves.
    """
    rows = attacked.rows(moves=False)
    for below in (attacked.of_tables(signed), np.full(len(attacked.unknown), fill_value=True)):
        low = np.where(below, -inf, 0.0)
        unknowns = Unknowns(rows, low, np.full(len(low), inf))
        try:
            return _told(attacked, Room(unknowns), _both_ends(attacked, internal, unknowns), token)
        except InfeasibleError:
            continue
    return "no values of the suppressed cells fit the published ones", 0


def _both_ends(
    attacked: Attacked, internal: Mapping[str, CellTable] | None, unknowns: Unknowns
) -> tuple[Floats, Floats]:
    """Values below and above the true ones that moves show to be possible."""
    if internal is None:
        return np.full(len(unknowns.low), inf), np.full(len(unknowns.low), -inf)
    kept = Kept.of(attacked, internal)
    low, high = np.minimum(unknowns.low - kept.value, 0.0), unknowns.high
    down, up = _shown(attacked, internal, unknowns).reach(low, high)
    return kept.value - down, kept.value + up


def _shown(attacked: Attacked, internal: Mapping[str, CellTable], unknowns: Unknowns) -> Shown:
    """The moves of the agency's tables that keep the sums of some equations."""
    files = [table.file for table in attacked.tables]
    return Shown.of(internal, files, attacked.where).keeping(unknowns)


def _told(
    attacked: Attacked, room: Room, ends: tuple[Floats, Floats], token: CancelToken
) -> tuple[str, int]:
    """See :func:`told_in_public`; two points in which a cell differs show that it is not told."""
    low, high = ends
    moved, left = np.zeros(len(low), dtype=bool), 0

    def take(columns: Ints, point: Floats | None) -> bool:
        if point is not None:
            low[columns] = np.minimum(low[columns], point)
            high[columns] = np.maximum(high[columns], point)
        return point is not None

    def open_(place: int) -> bool:
        wide = high[place] - low[place]
        return bool(moved[place] or wide > _TOLERANCE * abs(high[place]))

    random = np.random.default_rng(_SEED)
    for columns in room.parts:
        if len(columns) > _LARGE and not all(map(open_, columns.tolist())):
            sides = room.sides(columns, token)
            for side in sides or ():
                take(columns, side)
            if sides is not None:  # however little: a cell of millions moves with one of a few
                moved[columns] = sides[1] > sides[0]
        if all(map(open_, columns.tolist())):
            continue
        programs = _LEAST_TRIES + _WORK // len(columns)
        for _ in range(_TRIES if programs > 2 * _TRIES else 0):
            token.check()
            mixed = dict(zip(columns.tolist(), random.uniform(-1, 0, len(columns)), strict=True))
            take(*room.end(mixed))
        # Those first that had one value above 0 in all points.
        for place in sorted(columns.tolist(), key=lambda place: not 0 < high[place] < inf):
            if open_(place):
                continue
            if programs <= 0 and len(columns) > _LARGE:
                left += 1
                continue
            programs -= 2
            token.check()
            if not all(take(*room.end({place: way})) for way in (-1.0, 1.0)) or open_(place):
                continue
            if abs(high[place]) < _TOLERANCE:
                continue  # it is 0, of which nothing has to be hidden
            return msg(
                "cell {cell}: it is suppressed, and the published cells give its value: {value}",
                cell=attacked.name(place),
                value=f"{high[place]:.6g}",
            ), 0
    return "", left


@dataclass(frozen=True, eq=False)
class Kept:
    """What the agency keeps of each unknown, in the numbers of the files."""

    value: Floats
    lower_required: Floats
    upper_required: Floats
    lower: Floats
    upper: Floats
    unsafe: NDArray[np.bool_]
    owner: Ints
    """A number of who is alone in each (-1: nobody is)."""
    held: NDArray[np.bool_]
    """Whether each is known to the agency to have contributors."""
    width: Floats
    """How wide the interval of each must be, wherever it lies."""
    told: bool
    """Whether one owner's cells are known to be one's; else they may be so where values agree."""
    apart: bool
    """Whether no two owners can be the same, for all that is known of them."""

    @classmethod
    def of(
        cls,
        attacked: Attacked,
        internal: Mapping[str, CellTable],
        owners: Mapping[int, int] | None = None,
    ) -> Kept:
        """Read the internal tables. Raises ValueError for what is not a number.

        ``owners`` says by the numbers of cells who is alone in each, where the source told.
        """
        told = owners is not None
        apart = told or single_cells(attacked.tables, internal)
        if owners is None:
            owners = single_ones(attacked.tables, attacked.numbers, internal)
        columns: dict[str, list[float]] = {
            name: [] for name in ("value", "lower_required", "upper_required", "lower", "upper")
        }
        unsafe, owner, there, wide = [], [], [], []
        for place, (table, cell) in enumerate(attacked.where):
            inside = internal[attacked.tables[table].file].internal
            for name, found in columns.items():
                text = inside[name][cell]
                open_ = -inf if name == "lower" else inf
                found.append(float(text) if text else open_)
            unsafe.append(inside["status"][cell] == PRIMARY)
            wide.append(float(inside[WIDTH][cell]) if WIDTH in inside else 0.0)
            own = owners.get(attacked.number(place), -1)
            owner.append(own if inside["frequency"][cell] == "1" else -1)
            there.append(inside["frequency"][cell] not in ("", "0"))
        arrays = {name: np.array(found) for name, found in columns.items()}
        arrays["width"] = np.array(wide, dtype=np.float64)
        who = np.array(owner, np.int64)
        flags = {"unsafe": np.array(unsafe, bool), "held": np.array(there, bool)}
        return cls(**arrays, **flags, owner=who, told=told, apart=apart)

    def asked_width(self, place: int) -> float:
        """How wide the interval of an unknown must be, where both its ends ask for less."""
        ends = self.lower_required[place] + self.upper_required[place]
        return float(self.width[place]) if self.width[place] > ends else 0.0

    def never_certain(self, above: Floats) -> Kept:
        """The same, where an unsafe value of which a range of 0 asks for nothing must not be told.

        A contributor's 0 is a value like another for those who know that the cell is not empty.
        ``above`` says how far each can be above its value for all that everyone knows: where that
        is nothing, no table is needed to know it.
        """
        least = _OPEN * min((abs(x) for x in self.value.tolist() if x), default=1.0)
        certain = self.unsafe & (self.lower_required == 0) & (self.upper_required == 0)
        certain &= above > 0
        return replace(self, upper_required=np.where(certain, least, self.upper_required))


def unprotected(
    attacked: Attacked,
    internal: Mapping[str, CellTable],
    known: Known,
    *,
    singletons: bool,
    token: CancelToken,
    merged: bool = False,
    owners: Mapping[int, int] | None = None,
) -> tuple[str, str, int]:
    """What is wrong with the protection of unsafe cells, and with the recorded intervals; how many
    unsafe cells were attacked by contributors alone, at least.

    In linked tables cells of other dimensions can hold the same contributors, which the source
    alone shows: unless their numbers are ``merged``, recorded intervals may be narrower there, and
    are looked at themselves. ``owners`` as for :meth:`Kept.of`.
    """
    linked = len(attacked.tables) > 1 and not merged
    kept = Kept.of(attacked, internal, owners)
    if known.present:
        kept = kept.never_certain(known.moves(attacked, kept).high)
    unknowns = known.moves(attacked, kept)
    room, shown = Room(unknowns), _shown(attacked, internal, unknowns)
    far = shown.reach(unknowns.low, unknowns.high)
    goals = [
        np.where(kept.unsafe & (reach < ends * (1 - _NEAR)), ends, 0.0)
        for ends, reach in zip((kept.lower_required, kept.upper_required), far, strict=True)
    ]
    narrow = kept.unsafe & (far[0] + far[1] < kept.width * (1 - _NEAR))
    goals = [np.where(narrow, np.maximum(goal, kept.width), goal) for goal in goals]
    found = reached(room, goals[0], goals[1], token)
    fault = _short(attacked, kept, *(np.maximum(*each) for each in zip(found, far, strict=True)))
    if not fault and linked:
        fault = _short(attacked, kept, kept.value - kept.lower, kept.upper - kept.value)
    alone = int(kept.unsafe.sum())
    if not fault:
        who = singletons, known.more(attacked, internal, kept)
        beforehand = _Beforehand(attacked, internal, known, owners)
        fault, alone = _by_single_ones(attacked, kept, who, beforehand, shown, token)
    return fault, _other_ends(attacked, internal, kept, unknowns, far, token, linked=linked), alone


def _other_ends(
    attacked: Attacked,
    internal: Mapping[str, CellTable],
    kept: Kept,
    unknowns: Unknowns,
    far: Floats,
    token: CancelToken,
    *,
    linked: bool,
) -> str:
    """What is wrong with the recorded intervals: by moves where they say that they are at least so
    wide; where they are exact by sums, and by programs where those and the moves do not meet.
    """
    least_ones = [_is_least(attacked, internal, place) for place in range(len(far[0]))]
    at_least = np.array(least_ones, dtype=bool)
    fault = _recorded(
        *(attacked, kept, -far[0], far[1], np.flatnonzero(at_least).tolist()), linked=linked
    )
    if fault:
        return fault
    outer = by_single_sums(unknowns)
    met = (far[0] >= -outer[0] * (1 - _NEAR)) & (far[1] >= outer[1] * (1 - _NEAR))
    order = np.argsort(~kept.unsafe, kind="stable")
    wanted = order[(~at_least & ~met)[order]][:MOST_INTERVALS].tolist()
    inner, sizes = (-far[0], far[1]), np.abs(kept.value)
    least, most = ranges(unknowns, sizes, wanted, inner, outer, token)
    wanted += np.flatnonzero(~at_least & met).tolist()
    return _recorded(attacked, kept, least, most, wanted, linked=linked)


def _is_least(attacked: Attacked, internal: Mapping[str, CellTable], place: int) -> bool:
    """Whether the agency's table says that an interval is at least as wide as recorded."""
    table, cell = attacked.where[place]
    texts = internal[attacked.tables[table].file].internal.get(INTERVAL)
    return texts is not None and texts[cell] == IS_LEAST


@dataclass(frozen=True)
class Known:
    """Between which shares of its value everyone knows a cell to lie.

    ``present``: everyone sees that all empty cells are published, so no suppressed one is.
    ``signed`` tables are those of a measure with negative values, of which nobody knows anything;
    ``counts`` those that count.
    """

    lower: float
    upper: float | None
    present: bool
    signed: tuple[bool, ...]
    counts: tuple[bool, ...]

    def more(
        self, attacked: Attacked, internal: Mapping[str, CellTable], kept: Kept
    ) -> tuple[Unknowns, bool]:
        """:meth:`moves` for those who see that all empty cells are published; whether they do.

        A suppressed count is at least 1 then, where anyone is taken to be ``present``.
        """
        moves = self.moves(attacked, kept)
        if not self.present:
            return moves, False
        for table in attacked.tables:
            inside = internal[table.file].internal["frequency"]
            if any(not text and n == "0" for text, n in zip(table.values, inside, strict=True)):
                return moves, False
        one = attacked.of_tables(self.counts) & kept.held & (kept.value >= 1)
        low = np.where(one, np.maximum(moves.low, 1 - kept.value), moves.low)
        return replace(moves, low=low), bool((low > moves.low).any())

    def moves(self, attacked: Attacked, kept: Kept) -> Unknowns:
        """How far each unknown can be from its true value."""
        known = ~attacked.of_tables(self.signed)
        low = np.where(known, self.lower * kept.value - kept.value, -inf)
        high = np.full(len(low), inf)
        if self.upper is not None:
            high[known] = (self.upper * kept.value - kept.value)[known]
        return Unknowns(attacked.rows(moves=True), low, high)


def told_as_present(
    attacked: Attacked, internal: Mapping[str, CellTable], known: Known, token: CancelToken
) -> tuple[int, int]:
    """How many unsafe cells are told exactly, and how many others more closely than required.

    To who concludes from the published empty cells that no suppressed one is empty.
    """
    known = replace(known, present=True)
    kept = Kept.of(attacked, internal)
    kept = kept.never_certain(known.moves(attacked, kept).high)
    moves = known.more(attacked, internal, kept)[0]
    room, low = Room(moves), np.minimum(kept.lower_required, -moves.low)
    goals = [np.where(kept.unsafe, ends, 0.0) for ends in (low, kept.upper_required)]
    far = _shown(attacked, internal, moves).reach(moves.low, moves.high)
    open_ = [np.where(r < g * (1 - _NEAR), g, 0.0) for r, g in zip(far, goals, strict=True)]
    found_far = reached(room, open_[0], open_[1], token)
    reach = [np.maximum(*each) for each in zip(found_far, far, strict=True)]
    beforehand = _Beforehand(attacked, internal, known)
    found = [0, 0]
    for place in np.flatnonzero(kept.unsafe).tolist():
        told = False
        for way, (goal, far) in enumerate(zip(goals, reach, strict=True)):
            need = float(goal[place])
            if not told and not _reaches(kept, place, float(far[place]), need):
                # What follows without any table cannot be hidden.
                most = beforehand.far(place, need, (), upward=way == 1)
                told = not _reaches(kept, place, float(far[place]), most)
        wide = kept.asked_width(place)
        if not told and float(reach[0][place] + reach[1][place]) < wide:
            told = _narrows(kept, place, [[]], room, beforehand, token) is not None
        if told:
            step = _grid(internal[attacked.tables[attacked.where[place][0]].file])
            ends = [room.far(place, step, upward=up) for up in (False, True)]
            found[int(max(ends) >= step * (1 - _TOLERANCE))] += 1
    return found[0], found[1]


def told_as_whole(
    attacked: Attacked, internal: Mapping[str, CellTable], known: Known, token: CancelToken
) -> tuple[int, int, int]:
    """How many unsafe counts are told exactly, how many others more closely than required, and how
    many were not decided, to who uses that counts are whole numbers.
    """
    kept, counts = Kept.of(attacked, internal), attacked.of_tables(known.counts)
    if (kept.value[counts] % 1).any():
        return 0, 0, 0
    unknowns = known.more(attacked, internal, kept)[0]
    room = WholeRoom(unknowns)
    moves = _shown(attacked, internal, unknowns)
    far = moves.steps(unknowns.low, unknowns.high)
    everything = attacked.without_values(internal)
    all_kept = Kept.of(everything, internal)
    beforehand = WholeRoom(known.more(everything, internal, all_kept)[0])
    found = [0, 0, 0]
    for place in np.flatnonzero(kept.unsafe & counts).tolist():
        token.check()
        needs = float(kept.lower_required[place]), float(kept.upper_required[place])
        ends = np.floor(-unknowns.low[place] + _TOLERANCE), unknowns.high[place]
        goals = [min(need, end) - _TOLERANCE for need, end in zip(needs, ends, strict=True)]
        wide = kept.asked_width(place)
        spans = far[0][place] + far[1][place] >= min(wide, sum(ends)) - _TOLERANCE
        if spans and all(reach[place] >= goal for reach, goal in zip(far, goals, strict=True)):
            continue
        if moves.moves and len(room.part_of(place)) > _LARGEST_PART:
            found[2] += 1
            continue
        if room.at_ends(place):
            continue
        if sum(found) >= MOST_PROGRAMS:
            found[2] += 1
            continue
        there = everything.unknown[attacked.number(place)]
        short, sure = False, True
        for ways, need in (((False,), needs[0]), ((True,), needs[1]), ((False, True), wide)):
            reach = room.span(place, need, ways)
            if need > 0 and (reach is None or reach < need - _TOLERANCE):
                # What follows without any table cannot be hidden.
                most = beforehand.span(there, need, ways)
                sure &= reach is not None and most is not None
                short |= reach is not None and most is not None and reach < most
        if short:
            either = [room.steps(place, 1.0, upward=up) for up in (False, True)]
            found[1 if any(either) else 2 if None in either else 0] += 1
        elif not sure:
            found[2] += 1
    return found[0], found[1], found[2]


def _grid(table: CellTable) -> float:
    """The place of the last decimal that the true values of a table have."""
    places = [Fraction(text).denominator for text in table.internal["value"] if text]
    digits = 0
    while any(10**digits % each for each in places) and digits < _DIGITS:
        digits += 1
    return float(Fraction(1, 10**digits))


def told_by_rounding(
    attacked: Attacked,
    internal: Mapping[str, CellTable],
    base: Fraction,
    signed: Sequence[bool],
    counts: Sequence[bool],
    token: CancelToken,
    *,
    programs: bool = True,
) -> tuple[int, int]:
    """How many unsafe cells the rounded ones tell more closely than required, and of how many.

    Without ``programs``, those alone that single sums tell.

    A value is less than ``base`` from what it was rounded to (of tables of ``counts`` it is a whole
    number), not negative but in ``signed`` tables, and totals are the sums of their parts.
    """
    whole = attacked.without_values(internal)
    kept = Kept.of(whole, internal)
    shown = [float(number(attacked.tables[t].values[cell])) for t, cell in whole.where]
    wide = float(base) - whole.of_tables(counts)
    low = np.where(whole.of_tables(signed), -inf, 0.0)
    low = np.maximum(np.array(shown, float) - wide, low) - kept.value
    high = np.array(shown, float) + wide - kept.value
    low, high = np.minimum(low, 0.0), np.maximum(high, 0.0)
    need = kept.lower_required, kept.upper_required

    def short(down: Floats, up: Floats) -> NDArray[np.bool_]:
        reach = [
            all(_reaches(kept, place, float(d[place]), float(n[place]))
                for d, n in zip((down, up), need, strict=True))
            for place in range(len(down))
        ]  # fmt: skip
        return np.asarray(kept.unsafe & ~np.array(reach, bool))

    told = short(-low, high)  # by its own rounding
    unknowns = Unknowns(whole.rows(moves=True), low, high)
    if not programs:
        low, high = by_single_sums(unknowns)
        return int((told | short(-low, high)).sum()), int(kept.unsafe.sum())
    room = Room(unknowns)
    goals = [np.where(kept.unsafe & ~told, ends, 0.0) for ends in need]
    told |= short(*reached(room, goals[0], goals[1], token))
    return int(told.sum()), int(kept.unsafe.sum())


class _Beforehand:
    """What contributors can tell while no table is published: nothing can hide that."""

    def __init__(
        self,
        attacked: Attacked,
        internal: Mapping[str, CellTable],
        known: Known,
        owners: Mapping[int, int] | None = None,
    ) -> None:
        self._attacked, self._internal, self._known = attacked, internal, known
        self._owners = owners
        self._whole: tuple[Attacked, Room, Ints] | None = None

    def _suppressed_whole(self) -> tuple[Attacked, Room, Ints]:
        """The tables with all cells suppressed but those that everyone knows to be empty, and who
        is alone in each.
        """
        whole = self._attacked.without_values(self._internal)
        kept = Kept.of(whole, self._internal, self._owners)
        return whole, Room(self._known.more(whole, self._internal, kept)[0]), kept.owner

    def far(self, place: int, need: float, known: Sequence[int], *, upward: bool) -> float:
        """How far an unknown can move at all for the one who is alone in the ``known`` cells."""
        if self._whole is None:
            self._whole = self._suppressed_whole()
        whole, room, owner = self._whole
        there, *others = (whole.unknown[self._attacked.number(x)] for x in (place, *known))
        # Whoever is alone in these knows the published ones as well in which they are alone.
        own = np.flatnonzero((owner >= 0) & np.isin(owner, owner[others])).tolist()
        return room.far(there, need, upward=upward, fixed=[*others, *own])


def _short(attacked: Attacked, kept: Kept, down: Floats, up: Floats) -> str:
    """The first unsafe cell whose interval does not reach as far as required."""
    for place in np.flatnonzero(kept.unsafe).tolist():
        for ends, required in ((down, kept.lower_required), (up, kept.upper_required)):
            if not _reaches(kept, place, float(ends[place]), float(required[place])):
                return _closer(attacked, place, "")
        if not _reaches(kept, place, float(down[place] + up[place]), float(kept.width[place])):
            return _narrow(attacked, place)
    return ""


def _by_single_ones(
    attacked: Attacked,
    kept: Kept,
    who: tuple[bool, tuple[Unknowns, bool]],
    beforehand: _Beforehand,
    shown: Shown,
    token: CancelToken,
) -> tuple[str, int]:
    """The first unsafe cell that someone comes too close to who knows more than the plan says, and
    how many were looked at.

    That is each contributor who is alone in another cell (where ``who`` asks), and whoever sees
    that no suppressed count is 0. A cell that moves far enough while all cells of such contributors
    stay does so for each of them. Where two of them may be one, what they can tell is no fault:
    such a cell counts as not looked at.
    """
    singletons, (moves, informed) = who
    alone = Alone(kept.owner, kept.value, kept.told) if singletons else None
    far = shown.reach(moves.low, moves.high, alone)
    ends = np.minimum(kept.lower_required, -moves.low), kept.upper_required
    open_ = [end > np.maximum(reach, 0.0) for end, reach in zip(ends, far, strict=True)]
    narrow = far[0] + far[1] < kept.width
    left = np.flatnonzero(kept.unsafe & (open_[0] | open_[1] | narrow))
    looked = int(kept.unsafe.sum()) - max(0, len(left) - MOST_PROGRAMS // 2)
    asked = np.isin(np.arange(len(kept.value)), left[: MOST_PROGRAMS // 2])
    enough = [np.where(asked, _enough(kept.value, end), inf) for end in ends]
    people = People.of(alone, informed=informed)
    points = Points(room := Room(moves), moves, people.cells, enough)
    doubted: set[int] = set()
    for place in left[: MOST_PROGRAMS // 2].tolist():
        others = people.others(kept.owner[place], kept.value[place], told=kept.told)
        for upward in (False, True):
            need, least = (float(each[upward][place]) for each in (ends, enough))
            groups = [others[:0] if far[int(upward)][place] >= least else others]
            while groups:
                token.check()
                group = points.left(place, groups.pop(), upward=upward)
                fixed = people.known(group)
                reach = points.far(place, need, upward=upward, fixed=fixed) if len(group) else need
                if reach >= least:
                    continue
                if len(group) > 1:
                    groups += [group[: len(group) // 2], group[len(group) // 2 :]]
                    continue
                # Who knows a part of a total knows that it is at least that much.
                most = beforehand.far(place, need, fixed, upward=upward)
                if not _reaches(kept, place, reach, most):
                    if kept.apart or not fixed:
                        return _closer_alone(attacked, place, fixed), looked
                    doubted.add(place)
        if narrow[place]:
            every = [list(people.cells[who]) for who in others.tolist()]
            told = _narrows(kept, place, every, room, beforehand, token)
            if told is not None and (kept.apart or not told):
                return _closer_alone(attacked, place, told), looked
            doubted |= set() if told is None else {place}
    return "", looked - len(doubted)


def _narrows(
    kept: Kept,
    place: int,
    others: list[list[int]],
    room: Room,
    beforehand: _Beforehand,
    token: CancelToken,
) -> list[int] | None:
    """The cells of the first contributor who leaves too narrow an interval; None: nobody does."""
    need, groups = float(kept.width[place]), [others]
    while groups:
        token.check()
        group = groups.pop()
        fixed = [cell for each in group for cell in each]
        reach = sum(room.far(place, need, upward=up, fixed=fixed) for up in (False, True))
        if not group or _reaches(kept, place, reach, need):
            continue
        if len(group) > 1:
            groups += [group[: len(group) // 2], group[len(group) // 2 :]]
            continue
        most = sum(beforehand.far(place, need, fixed, upward=up) for up in (False, True))
        if not _reaches(kept, place, reach, min(need, most)):
            return fixed
    return None


def _closer_alone(attacked: Attacked, place: int, fixed: Sequence[int]) -> str:
    if not fixed:
        return msg(
            "cell {cell}: an attacker comes closer than required, since no suppressed count is 0",
            cell=attacked.name(place),
        )
    alone = msg(", for someone who is alone in {cell}", cell=attacked.name(fixed[0]))
    return _closer(attacked, place, alone)


def _enough(value: Floats, need: Floats) -> Floats:
    return need - _TOLERANCE * np.maximum(need, np.maximum(np.abs(value) * 1e-3, 1e-9))


def _reaches(kept: Kept, place: int, reach: float, need: float) -> bool:
    return bool(reach >= _enough(kept.value[[place]], np.array([need]))[0])


def _closer(attacked: Attacked, place: int, who: str) -> str:
    return msg(
        "cell {cell}{who}: an attacker comes closer than required",
        cell=attacked.name(place),
        who=who,
    )


def _narrow(attacked: Attacked, place: int) -> str:
    return msg("cell {cell}: what it could be spans less than required", cell=attacked.name(place))


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
    largest = float(np.abs(kept.value).max(initial=0.0))
    for place in wanted:
        value = float(kept.value[place])
        for found, stated, inward in (
            (value + float(least[place]), float(kept.lower[place]), 1.0),
            (value + float(most[place]), float(kept.upper[place]), -1.0),
        ):
            slack = max(_TOLERANCE * max(1.0, abs(value)), largest * 1e-13)
            narrower = linked and inward * (stated - found) > 0
            same = found == stated or isclose(found, stated, rel_tol=_TOLERANCE, abs_tol=slack)
            if not same and not narrower:
                return msg(
                    "cell {cell}: the interval in the agency's table is not what an attacker "
                    "can determine",
                    cell=attacked.name(place),
                )
    return ""


def compared(attacked: Attacked, internal: Mapping[str, CellTable]) -> str:
    """How many recorded intervals were compared."""
    cells, most = len(attacked.unknown), MOST_INTERVALS
    least = sum(_is_least(attacked, internal, place) for place in range(cells))
    if least:
        return msg(
            "{n}; {least:,} intervals are at least as wide as recorded, by moves that keep all "
            "sums; the others are exact",
            n=words(cells),
            least=least,
        )
    if cells <= most:
        return words(cells)
    return msg(
        "{n:,} of {all:,} intervals were compared, those of unsafe cells first", n=most, all=cells
    )


def held(
    attacked: Attacked, internal: Mapping[str, CellTable], looked: int, *, singletons: bool
) -> str:
    """That unsafe cells are protected, and how many were attacked by contributors alone."""
    kept = Kept.of(attacked, internal)
    unsafe = int(kept.unsafe.sum())
    if not singletons or unsafe <= looked or not (kept.owner >= 0).any():
        return "every unsafe cell's interval reaches as far as required on both sides"
    return msg(
        "every unsafe cell's interval reaches as far as required on both sides; as contributors "
        "who are alone in a cell see it, {n:,} of {all:,} were attacked",
        n=looked,
        all=unsafe,
    )


def words(cells: int) -> str:
    """How many suppressed cells were looked at."""
    return counted(
        "{n} suppressed cell was attacked", "{n} suppressed cells were attacked", n=cells
    )
