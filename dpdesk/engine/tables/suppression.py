"""Secondary suppression of a system of tables: optimal, by parts of the hierarchy, or fast."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Literal

import numpy as np
from scipy.sparse import csc_array, csr_array

from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.tabulation import cell_words
from dpdesk.engine.tables.audit import (
    INFORMED,
    Moves,
    Problem,
    Target,
    alone,
    sliding_of,
    targets_of,
)
from dpdesk.engine.tables.model import Bounds, Dimension, Exact, Flags, Floats, Ints, System
from dpdesk.engine.tables.rules import Judgement
from dpdesk.engine.tables.search import (
    Attack,
    Attacker,
    Found,
    Instance,
    NoPattern,
    Watch,
    bounded,
    greedy,
    needing,
    optimal,
)
from dpdesk.engine.tables.solving import Program
from dpdesk.engine.tables.witnesses import Move, Witnesses, whole_targets

How = Literal["optimal", "hitas", "heuristic"]
LARGEST_PROVEN = 6000
"""Variables of a system for which the optimum is searched; larger ones get a local pattern."""
LARGE = 2500
"""Variables up to which a fast pattern is searched over the whole system."""
_LARGEST_WEIGHT = 1e7
MANY = 300
"""Targets among counts of a smaller system from which on moves are looked for, too."""
_UNCERTAIN = 0.01
_MOST_OVER_ALL = 200


@dataclass(frozen=True, eq=False)
class Pattern:
    """What is suppressed, and what is proven of any other protecting pattern."""

    suppressed: Flags
    bound: Fraction
    """No pattern costs less, beyond the unsafe cells."""
    proven: bool
    """This one costs no more, and of those that cost the same none has fewer cells."""
    witnesses: Witnesses | None = None
    """Of a large system, or for many counts: moves that show how far cells can be from their
    values."""


def suppress(
    system: System,
    judged: Judgement,
    bounds: Bounds,
    cost: Exact,
    token: CancelToken,
    how: How = "optimal",
    singletons: bool = True,
    stop: CancelToken | None = None,
    watch: Watch = lambda value, bound: None,
    filled: Floats | None = None,
    steps: Floats | None = None,
) -> Pattern:
    """Cells to suppress so that every unsafe one is protected from everyone (and singletons).

    ``filled`` says how much is at least in a cell that is not empty (:meth:`Problem.of`), where
    who sees that no suppressed one is knows more. ``cost`` holds a number per variable (not
    negative); of equal costs the fewest cells. When ``stop`` is cancelled, or the token is asked to
    keep, the best pattern so far is returned. ``watch`` hears cost and bound. With ``steps``
    (:func:`told_as_whole`) moves are looked for in whole steps, too.

    Raises
    ------
    RefusedError
        ``table.not-protectable``: not even all cells that may be suppressed protect some cell.
    Cancelled
        The token asked for it.
    """
    unsafe = judged.required.unsafe
    may = ~system.known & ~(judged.published & ~unsafe)
    problem = Problem.of(system, bounds, alone(system) if singletons else None, filled)
    weigh, stop = _Weights(cost, may & ~unsafe), stop or CancelToken()
    # Moves of large systems show single ends, from which widths follow.
    narrowed = system.sums() & (singletons or problem.least is not None)
    required = judged.required
    if len(system) > LARGE:
        required = required.fixed(problem.high, narrowed)
    above = None if filled is None else problem.high
    targets = [*targets_of(required, above=above), *sliding_of(required, narrowed)]
    instance = Instance(problem, targets, weigh.weight, unsafe, may)

    def heard(value: float, bound: float) -> None:
        watch(float(weigh.cost(value)), float(weigh.bound(bound)))

    try:
        with token.keeping(stop):
            found = _searched(system, instance, how, token, stop, heard)
    except NoPattern as none:
        raise _refused(system, none) from None
    # A cell that the equations give away anyway hides nothing, whatever readers know of others.
    pattern = found.pattern & (unsafe | (Moves.of_pattern(problem, found.pattern).of >= 0))
    paid = sum(cost[pattern & ~unsafe].tolist(), Fraction(0))
    bound = paid if found.proven else min(paid, weigh.bound(found.bound))
    witnesses, counts = None, 0
    if steps is not None:
        counts = sum(steps[each.variable] > 0 for each in targets)
    if (len(system) > LARGE and not found.proven) or counts > MANY:
        hidden = replace(instance, must=pattern, may=pattern)
        witnesses = _witnessed(system, hidden, found.moves, steps, token)
    return Pattern(pattern, bound, found.proven, witnesses)


def _searched(
    system: System,
    instance: Instance,
    how: How,
    token: CancelToken,
    stop: CancelToken,
    watch: Watch,
) -> Found:
    """A pattern found as ``how`` says; large systems begin with local moves in any case."""
    if how == "optimal" and len(system) <= LARGEST_PROVEN:
        return optimal(needing(instance, token), token, stop, watch=watch)
    large = len(system) > LARGE
    moves: list[Move] = []
    if how == "hitas":
        pattern = by_parts(system, instance, token, stop)
        pattern = greedy(instance, token, pattern, watch=watch, clear=not large, stop=stop)
    elif large:
        pattern, left, moves = local_pattern(system, instance, token)
        rest = replace(instance, targets=left)
        pattern = greedy(rest, token, pattern, watch=watch, clear=False)
    else:
        pattern = greedy(instance, token, watch=watch, stop=stop)
    found = bounded(instance, pattern, token, stop, watch, cuts=not large)
    return replace(found, moves=moves)


def _witnessed(
    system: System,
    hidden: Instance,
    moves: Sequence[Move],
    steps: Floats | None,
    token: CancelToken,
) -> Witnesses:
    """Moves that show that a pattern protects, as far as they are found: of targets in boxes, and
    of the few others over the whole system. All suppressed cells that have a move in a box are in
    one.
    """
    problem = hidden.problem
    anyone = replace(hidden, problem=replace(problem, owners=None))
    for each in (hidden, anyone):  # from everyone alone where some contributor knows too much
        left = _uncovered(each, Witnesses.of(moves, problem))
        if each is anyone:
            left += _not_moved(hidden, moves)
        if left:
            moves = [*moves, *local_pattern(system, replace(each, targets=left), token)[2]]
    left = _uncovered(hidden, Witnesses.of(moves, problem))
    if left:
        moves = [*moves, *_over_all(hidden, left[:_MOST_OVER_ALL], token)]
    if steps is not None:
        broken = whole_targets(Witnesses.of(moves, problem), problem, hidden.targets, steps)
        if broken:
            few = replace(anyone, targets=broken)
            moves = [*moves, *local_pattern(system, few, token)[2]]
            moves = [*moves, *_whole_moves(system, hidden, moves, steps, token)]
    return Witnesses.of(moves, problem)


def _whole_moves(
    system: System, hidden: Instance, moves: Sequence[Move], steps: Floats, token: CancelToken
) -> list[Move]:
    """Moves in whole steps for the targets that others do not reach so, by integer programs of
    small boxes, where one has such a move.
    """
    problem, boxes = hidden.problem, _Boxes(system, hidden)
    left = whole_targets(Witnesses.of(moves, problem), problem, hidden.targets, steps)
    found: list[Move] = []
    while left:
        new = [boxes.whole(target, steps, token) for target in left[:_AT_ONCE]]
        fresh = [move for move in new if move is not None]
        found += fresh
        left = left[_AT_ONCE:]
        if fresh:
            left = whole_targets(Witnesses.of(fresh, problem), problem, left, steps)
    return found


def _not_moved(hidden: Instance, moves: Sequence[Move]) -> list[Target]:
    """The suppressed cells that no move moves, to go a little."""
    problem, moved = hidden.problem, np.zeros(len(hidden.must), dtype=bool)
    for cells, _ in moves:
        moved[cells] = True
    room = np.minimum(problem.high, -problem.low)
    open_ = np.flatnonzero(hidden.must & ~moved & (room > 0) & np.isfinite(room))
    return [Target(int(v), True, _UNCERTAIN * float(room[v])) for v in open_]


def _uncovered(hidden: Instance, found: Witnesses) -> list[Target]:
    covered = found.covered(hidden.problem, hidden.targets)
    return [target for target, there in zip(hidden.targets, covered, strict=True) if not there]


def _over_all(hidden: Instance, targets: Sequence[Target], token: CancelToken) -> list[Move]:
    """Moves of single targets over the whole system, in which no contributor's own cells move."""
    problem, attacker, price = hidden.problem, Attacker(hidden), np.ones(len(hidden.must))
    owners = np.full(len(hidden.must), -1) if problem.owners is None else problem.owners
    found: list[Move] = []
    for target in targets:
        own = hidden.must & ((owners < 0) | (owners == owners[target.variable]))
        for who in (-1,) if problem.least is None else (-1, INFORMED):
            token.check()
            most = np.inf if target.upper else -float(problem.low_of(who)[target.variable])
            least = replace(target, need=min(target.need, most))
            moved = None
            if least.need > 0:
                moved = attacker.move(Attack(least, who), own, price, token)
            if moved is not None:
                cells = np.flatnonzero(moved)
                found.append((cells, moved[cells]))
    return found


class _Weights:
    """Costs as numbers for the solver, with a little more for each cell."""

    def __init__(self, cost: Exact, choice: Flags) -> None:
        amounts = cost.astype(np.float64)
        total = float(amounts[choice].sum())
        self._scale = min(1.0, _LARGEST_WEIGHT / total) if total > 0 else 1.0
        denominators = {Fraction(each).denominator for each in cost[choice].tolist()}
        self._whole = self._scale == 1.0 and denominators <= {1}
        # All cells together weigh less than one unit of cost.
        self._each = 0.5 / (1 + int(choice.sum()))
        self._count = int(choice.sum())
        self.weight = amounts * self._scale + self._each

    def cost(self, weight: float) -> Fraction:
        """The cost of what weighs so much, about."""
        return Fraction(max(0.0, weight)) / Fraction(self._scale)

    def bound(self, weight: float) -> Fraction:
        """A cost that nothing of at least this weight can be below."""
        plain = max(0.0, weight - self._each * self._count - 1e-6 * (1 + abs(weight)))
        if self._whole:
            return Fraction(int(np.ceil(max(0.0, weight - 0.5 - 1e-6 * (1 + abs(weight))))))
        return Fraction(plain) / Fraction(self._scale)


def _refused(system: System, none: NoPattern) -> RefusedError:
    table, place = system.cell_of(none.found.variable)
    return RefusedError(
        "table.not-protectable",
        msg(
            "Table `{table}`, cell {cell}: even if all cells that may be suppressed are, it is "
            "known too closely.",
            table=table.name,
            cell=cell_words(place),
        ),
        hint="Merge categories, let more cells be suppressed, or round instead.",
    )


# Protecting patterns of large tables: by small boxes, or by parts of the hierarchies.
#
# Each unsafe cell is protected by a cheapest move in a small box, where one has a move. A box
# holds, in every dimension, the cell's own node with a few of its siblings (and of the children
# of inner nodes), the cheapest ones; boxes grow until one has a move, small ones a little further.
# The moves are kept as
# witnesses: one that can be made in both directions protects every cell that it moves far
# enough, and none moves a cell that a contributor alone knows, so no program over the whole
# table is needed.


_SIBLINGS = (1, 2, 4, 8)
_LARGEST_BOX, _SMALL_BOX = 8000, 300
_AT_ONCE, _NODES = 20, 200
_CLOSE, _WIDE = 1e-6, 1e6
_PRICELESS = 1e-7
_LARGEST_PART = 1500


def local_pattern(
    system: System, instance: Instance, token: CancelToken
) -> tuple[Flags, list[Target], list[Move]]:
    """A pattern, the targets for which no box had a move, and the moves of the others.

    The targets that are left are to be protected otherwise.
    """
    return _Boxes(system, instance).protected(token)


class _Boxes:
    """The pattern so far, and how far witnesses move each variable in both directions."""

    def __init__(self, system: System, instance: Instance) -> None:
        self._system, self._instance = system, instance
        self._columns = csc_array(instance.problem.matrix)
        self._pattern = instance.must.copy()
        self._reach = np.zeros(len(system))
        self._moves: list[Move] = []
        self._low = instance.problem.low_of(INFORMED)
        self._usable = instance.may & (instance.problem.high > 0) & (self._low < 0)
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

    def protected(self, token: CancelToken) -> tuple[Flags, list[Target], list[Move]]:
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
        return self._pattern, left, self._moves

    def _protect(self, variable: int, need: float, token: CancelToken) -> bool:
        found = self._cheapest(variable, need, token)
        if found is None:
            return False
        cells, moved = found
        self._pattern[cells] = True
        self._moves.append((cells, moved))
        # Who is alone in this cell knows that it stays, so others need other witnesses.
        covered = cells if self._owners[variable] < 0 else np.array([variable])
        far = np.abs(moved if self._owners[variable] < 0 else moved[cells == variable])
        self._reach[covered] = np.maximum(self._reach[covered], far)
        return True

    def _cheapest(
        self, variable: int, need: float, token: CancelToken
    ) -> tuple[Ints, Floats] | None:
        """The cells of a cheapest move and how far each goes, of the boxes that are tried.

        They grow until one has a move, and further while they are small: there is more to choose
        from, and a program of a small box costs little.
        """
        before, least, best = 0, np.inf, None
        for siblings in _SIBLINGS:
            box = self._box(variable, siblings)
            if len(box) > (_LARGEST_BOX if best is None else _SMALL_BOX):
                break
            if len(box) == before:
                continue
            before = len(box)
            moved = self._moved(box, variable, need, token)
            if moved is None:
                continue
            cells = box[moved != 0]
            cost = float(self._instance.weight[cells[~self._pattern[cells]]].sum())
            if cost < least:
                least, best = cost, (cells, moved[moved != 0])
            if not least:
                break
        return best

    def _moved(self, box: Ints, variable: int, need: float, token: CancelToken) -> Floats | None:
        """The cheapest move of the box that can be made in both directions."""
        part = self._columns[:, box]
        rows = np.unique(part.indices)
        problem, owners = self._instance.problem, self._owners[box]
        own = owners == self._owners[variable]
        low, here = self._low[box], box == variable
        low[here] = problem.low[variable]
        inside = Problem(csr_array(csr_array(part)[rows]), low, problem.high[box], None)
        may = (self._usable[box] | here) & ((owners < 0) | own)
        instance = Instance(inside, (), self._instance.weight[box], may & False, may)
        weight = self._instance.weight[box]
        price = np.where(self._pattern[box], _PRICELESS * (1 + weight), weight + _PRICELESS)
        where = int(np.flatnonzero(here)[0])
        attack = Attack(Target(where, True, need))
        return Attacker(instance).move(attack, may, price, token, even=True)

    def whole(self, target: Target, steps: Floats, token: CancelToken) -> Move | None:
        """A move of suppressed cells in whole steps that takes a target far enough, in boxes."""
        before = 0
        for siblings in _SIBLINGS:
            box = self._box(target.variable, siblings)
            box = box[self._pattern[box] & (steps[box] > 0)]
            if not before < len(box) <= _SMALL_BOX:
                continue
            before = len(box)
            part = self._columns[:, box]
            rows = csr_array(csr_array(part.multiply(steps[box]))[np.unique(part.indices)])
            low = np.minimum(np.ceil(self._low[box] / steps[box] - _CLOSE), 0.0)
            high = np.floor(self._instance.problem.high[box] / steps[box] + _CLOSE)
            high = np.minimum(high, _WIDE)
            here = int(np.searchsorted(box, target.variable))
            goal = np.rint(target.need / steps[target.variable])
            goal = min(goal, high[here]) if target.upper else max(-goal, low[here])
            if not goal:  # the width of a cell that is at its end on this side
                return None
            low[here] = high[here] = goal
            none, whole = np.zeros(rows.shape[0]), np.ones(len(box), dtype=bool)
            program = Program(rows, (none, none), (low, high), None, whole, "anew", nodes=_NODES)
            solved = program.solve(token)
            if solved.point is not None:
                moved = np.rint(solved.point) * steps[box]
                return box[moved != 0], moved[moved != 0]
        return None

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


def by_parts(system: System, instance: Instance, token: CancelToken, stop: CancelToken) -> Flags:
    """A pattern from optimal ones of the parts of the tables, from the top down.

    A part is one total and its children in every dimension. What one part suppresses stays
    suppressed in the others and has to stay uncertain there; parts are looked at again until none
    adds a cell; with ``stop``, from their first ones. Moves across several parts are not seen: the
    caller audits and completes the whole.
    """
    pattern = instance.must.copy()
    parts = [np.unique(part) for part in _parts(system)]
    columns = csc_array(instance.problem.matrix)
    lengths = np.diff(instance.problem.matrix.indptr)
    seen: dict[int, int] = {}
    changed = True
    while changed:
        changed = False
        for number, part in enumerate(parts):
            before = int(pattern[part].sum())
            if not before or seen.get(number) == before:
                continue
            if len(part) > _LARGEST_PART:
                pattern[part] |= _wide_pattern(system, part, pattern, instance, token)
            else:
                pattern[part] |= _part_pattern(
                    columns[:, part], lengths, part, pattern, instance, token, stop
                )
            seen[number] = int(pattern[part].sum())
            changed |= seen[number] > before
    return pattern


def _parts(system: System) -> list[Ints]:
    """The variables of every part of every table, those near the top first."""
    found: list[tuple[int, Ints]] = []
    for table, own in zip(system.tables, system.variables, strict=True):
        cells = own.reshape(table.shape)
        groups = [_groups(dimension) for dimension in table.dimensions]
        for chosen in product(*groups):
            depth = sum(each[0] for each in chosen)
            found.append((depth, cells[np.ix_(*(each[1] for each in chosen))].ravel()))
    return [part for _, part in sorted(found, key=lambda each: each[0])]


def _groups(dimension: Dimension) -> list[tuple[int, Ints]]:
    """Each inner node with its children, and how far below the top it is."""
    depth = np.zeros(len(dimension.labels), dtype=np.int64)
    for node in reversed(range(len(dimension.labels) - 1)):
        depth[node] = depth[dimension.parents[node]] + 1
    return [
        (int(depth[node]), np.append(np.flatnonzero(dimension.parents == node), node))
        for node in np.unique(dimension.parents[dimension.parents >= 0])
    ]


def _wide_pattern(
    system: System, part: Ints, pattern: Flags, instance: Instance, token: CancelToken
) -> Flags:
    """The suppressed cells of a part too large for programs over all of it: by boxes in it.

    What no box protects is left to the whole system.
    """
    inside = np.zeros(len(pattern), dtype=bool)
    inside[part] = True
    small = replace(
        instance,
        targets=_part_targets(instance, pattern & inside, {int(v): int(v) for v in part}),
        must=pattern & inside,
        may=instance.may & inside,
    )
    return local_pattern(system, small, token)[0][part]


def _part_targets(instance: Instance, must: Flags, place: Mapping[int, int]) -> list[Target]:
    """The targets in a part, by their places in it; and that what others suppressed, ``must`` (by
    variable of the system), stays a little uncertain.
    """
    targets = [
        replace(t, variable=place[t.variable]) for t in instance.targets if t.variable in place
    ]
    problem = instance.problem
    for variable in np.flatnonzero(must & ~instance.must).tolist():
        room = min(problem.high[variable], -problem.low[variable])
        if 0 < room < np.inf:
            where = place[variable]
            targets += [Target(where, upper, _UNCERTAIN * room) for upper in (False, True)]
    return targets


def _part_pattern(
    inside: csc_array,
    lengths: Ints,
    part: Ints,
    pattern: Flags,
    instance: Instance,
    token: CancelToken,
    stop: CancelToken,
) -> Flags:
    """The suppressed cells of one part, by the equations that lie in it."""
    rows = np.unique(inside.indices)
    rows = rows[np.bincount(inside.indices, minlength=len(lengths))[rows] == lengths[rows]]
    whole, place = instance.problem, {int(v): i for i, v in enumerate(part)}
    owners = None if whole.owners is None else whole.owners[part]
    least = None if whole.least is None else whole.least[part]
    matrix = csr_array(csr_array(inside)[rows])
    problem = Problem(matrix, whole.low[part], whole.high[part], owners, least)
    must, own = pattern[part], np.zeros(len(pattern), dtype=bool)
    own[part] = must
    targets = _part_targets(instance, own, place)
    while True:
        small = Instance(problem, targets, instance.weight[part], must, instance.may[part])
        try:
            return optimal(small, token, stop).pattern
        except NoPattern as none:
            # Not within this part alone: the whole system decides.
            gone = (none.found.variable, none.found.upper, none.found.sliding)
            targets = [t for t in targets if (t.variable, t.upper, t.sliding) != gone]
