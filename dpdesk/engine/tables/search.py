"""Which further cells to suppress: a pattern of least cost that protects every target.

The master program chooses cells (0 or 1). A pattern protects a target when the cells of the
pattern can move so far that the target moves by what it needs; the dual of that linear program is a
sum over cells that every protecting pattern must reach: a cut. Cuts are first added to the linear
relaxation, then to the integer program, which is solved again (HiGHS takes no cuts while it
searches), until the audit finds nothing exposed. Patterns on the way come from cheapest moves
target by target, cleared of cells that are not needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array, hstack, vstack

from dpdesk.core.errors import Cancelled
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.tables.audit import TOLERANCE, Exposed, Problem, Target, exposed
from dpdesk.engine.tables.model import Flags, Floats, Ints
from dpdesk.engine.tables.solving import Answer, Program

_MOVED = 1e-9
_TILT = 1e-3
_VIOLATED = 1e-5
_PRICELESS = 1e-7
_LEAST_SHARE = 1e-6
_ENOUGH = 1.1
_WHOLE = 1 - 1e-7
_INSIDE, _STILL = 1 - 1e-8, 1e-7
Watch = Callable[[float, float], None]


@dataclass(frozen=True, eq=False)
class Instance:
    """What is to be protected, and what suppressing each variable costs."""

    problem: Problem
    targets: Sequence[Target]
    weight: Floats
    must: Flags
    """Suppressed in any case."""
    may: Flags
    """May be suppressed (``must`` among them)."""

    def cost(self, pattern: Flags) -> float:
        """What the pattern costs, without what must be suppressed anyway."""
        return float(self.weight[pattern & ~self.must].sum())


@dataclass(frozen=True, eq=False)
class Found:
    """A protecting pattern and the proven least cost of any."""

    pattern: Flags
    bound: float
    proven: bool
    moves: Sequence[tuple[Ints, Floats]] = ()
    """Moves that protect targets, where such were found: variables, and how far each goes."""


@dataclass(frozen=True)
class Attack:
    """A target, attacked by everyone (owner -1), one contributor, or who is ``INFORMED``."""

    target: Target
    owner: int = -1


def _attack(found: Exposed, instance: Instance) -> Attack:
    target = Target(found.variable, found.upper, found.required, found.sliding)
    return Attack(target, found.attacker)


def _targets(attacks: Sequence[Attack]) -> list[Target]:
    return list(dict.fromkeys(attack.target for attack in attacks))


def _in_order(attack: Attack) -> tuple[int, bool, bool, int]:
    target = attack.target
    return target.variable, target.upper, target.sliding, attack.owner


class Attacker:
    """Moves of one attack at a time, over all variables: a program kept between attacks."""

    def __init__(self, instance: Instance) -> None:
        self._instance, problem = instance, instance.problem
        self._count = problem.matrix.shape[1]
        self._all = np.arange(self._count)
        self._none = np.zeros(problem.matrix.shape[0])

    @cached_property
    def _flow(self) -> Program:
        nothing = np.zeros(self._count)
        matrix = self._instance.problem.matrix
        return Program(matrix, (self._none, self._none), (nothing, nothing))

    @cached_property
    def _paths(self) -> Program:
        """Moves upwards and downwards apart, so that both cost something."""
        matrix = self._instance.problem.matrix
        both = csr_array(hstack([matrix, -matrix]))
        nothing = np.zeros(2 * self._count)
        return Program(both, (self._none, self._none), (nothing, nothing), kind="anew")

    def _room(self, attack: Attack) -> tuple[float, Floats, Floats]:
        """The unit of an attack, and how far each variable can go up and down in it."""
        problem = self._instance.problem.near(attack.target.need)
        low = problem.low_of(attack.owner)
        return problem.unit, problem.high / problem.unit, -low / problem.unit

    def _known(self, attack: Attack) -> Flags:
        owners = self._instance.problem.owners
        if attack.owner < 0 or owners is None:
            return np.zeros(self._count, dtype=bool)
        return np.asarray(owners == attack.owner)

    def cut(self, attack: Attack, chosen: Floats, whole: bool, token: CancelToken) -> _Cut | None:
        """A cut that ``chosen`` violates; None where the target moves far enough.

        With ``whole`` the choice is a pattern, and its cells are bounded by what everyone knows
        alone; else by what the target needs, which can only make more cuts.
        """
        target, (unit, *far) = attack.target, self._room(attack)
        need = target.need / unit
        sides = (True, False) if target.sliding else (target.upper,)
        reach, left = np.zeros(self._count), need
        for upper in sides:
            side = replace(attack, target=replace(target, upper=upper))
            most = self._most(side, chosen, whole, token)
            if most is None:
                return None
            own = float(far[0 if upper else 1][target.variable])
            there = chosen > 0
            if target.sliding and own <= float(most[there] @ chosen[there]):
                left -= own  # it can go no further than what everyone knows of it
            else:
                reach += most
        return self._as_cut(reach, need, left, chosen)

    def _most(
        self, attack: Attack, chosen: Floats, whole: bool, token: CancelToken
    ) -> Floats | None:
        """How far a target can move at most for each cell that is suppressed: the dual of its
        program under a choice.
        """
        target, may = attack.target, self._instance.may
        unit, *far = self._room(attack)
        need = target.need / unit
        share = np.where(may, chosen + _TILT * (1.0 - chosen), 0.0)
        up, down = np.minimum(far[0], need) * share, np.minimum(far[1], need) * share
        if whole:
            open_ = chosen > 0.5
            up, down = np.where(open_, far[0], up), np.where(open_, far[1], down)
        still = self._known(attack)
        up[still] = down[still] = 0.0
        way = 1.0 if target.upper else -1.0
        where = np.array([target.variable])
        most = np.inf if whole else _ENOUGH * need
        up[where], down[where] = (most, 0.0) if target.upper else (0.0, most)
        self._flow.bound(self._all, -down, up)
        self._flow.cost(where, np.array([-way]))
        solved = self._flow.solve(token)
        self._flow.cost(where, np.zeros(1))
        if solved.point is None or solved.duals is None:
            return None
        if abs(float(solved.point[target.variable])) > most * _INSIDE:
            return None
        raised, lowered = np.maximum(-solved.duals, 0.0), np.maximum(solved.duals, 0.0)
        raised[raised < _MOVED] = 0.0
        lowered[lowered < _MOVED] = 0.0
        with np.errstate(invalid="ignore"):
            reach = np.where(raised > 0, raised * far[0], 0.0)
            reach += np.where(lowered > 0, lowered * far[1], 0.0)
        reach[still] = 0.0
        reach[target.variable] = 0.0
        return np.asarray(reach)

    def _as_cut(self, reach: Floats, need: float, left: float, chosen: Floats) -> _Cut | None:
        """The cut that the ``reach`` of all suppressed cells comes to what is ``left``."""
        must = self._instance.must
        left -= float(reach[must].sum())
        if not left > _VIOLATED * need:
            return None
        usable = np.flatnonzero(self._instance.may & ~must & (reach > 0))
        shares = np.clip(reach[usable] / left, _LEAST_SHARE, 1.0)
        if float(shares @ chosen[usable]) > 1.0 - _VIOLATED:
            return None
        return _Cut(usable, shares)

    def path(
        self,
        attack: Attack,
        allowed: Flags,
        price: Floats,
        token: CancelToken,
        even: bool = False,
    ) -> Flags | None:
        """The cells of the cheapest move (per unit moved) that the target needs; None: no move."""
        if attack.target.sliding:
            return self._slide(attack, allowed, price, token)
        moved = self.move(attack, allowed, price, token, even)
        return None if moved is None else moved != 0.0

    def _slide(
        self, attack: Attack, allowed: Flags, price: Floats, token: CancelToken
    ) -> Flags | None:
        """The cells of two moves, one up and one down, that together are as wide as needed: the
        cheaper of going up or down as far as there is room; None: no such moves.
        """
        # Within the tolerance of the audit, so that no program asks for the last digit.
        need, best, least = attack.target.need * (1 - TOLERANCE / 2), None, np.inf
        for upper in (True, False):
            first = replace(attack, target=replace(attack.target, upper=upper, sliding=False))
            far = min(need, self._furthest(first, allowed, token))
            used = np.zeros(self._count, dtype=bool)
            for up, amount in ((upper, far), (not upper, need - far)):
                if amount <= _STILL * need:
                    continue
                way = replace(first, target=replace(first.target, upper=up, need=amount))
                moved = self.move(way, allowed, price, token)
                if moved is None:
                    break
                used |= moved != 0.0
            else:
                if float(price[used].sum()) < least:
                    best, least = used, float(price[used].sum())
        return best

    def _furthest(self, attack: Attack, allowed: Flags, token: CancelToken) -> float:
        """How far a target can go while only allowed cells move, at most as far as it needs to."""
        unit, *far = self._room(attack)
        still = self._known(attack) | ~allowed
        up, down = np.where(still, 0.0, far[0]), np.where(still, 0.0, far[1])
        where, upper = attack.target.variable, attack.target.upper
        need = attack.target.need / unit
        up[where] = min(far[0][where], need) if upper else 0.0
        down[where] = 0.0 if upper else min(far[1][where], need)
        self._flow.bound(self._all, -down, up)
        column = np.array([where])
        self._flow.cost(column, np.array([-1.0 if upper else 1.0]))
        solved = self._flow.solve(token)
        self._flow.cost(column, np.zeros(1))
        return 0.0 if solved.point is None else abs(float(solved.point[where])) * unit * _INSIDE

    def move(
        self,
        attack: Attack,
        allowed: Flags,
        price: Floats,
        token: CancelToken,
        even: bool = False,
    ) -> Floats | None:
        """That move, in grid units; with ``even`` one that can be made in both directions."""
        unit, *far = self._room(attack)
        need = attack.target.need / unit
        still = self._known(attack) | ~allowed
        up, down = np.where(still, 0.0, far[0]), np.where(still, 0.0, far[1])
        if even:
            up = np.minimum(up, down)
            down = up.copy()
        where, here, there = attack.target.variable, need, 0.0
        if not attack.target.upper:
            here, there = 0.0, need
        if here > up[where] * (1 + _VIOLATED) or there > down[where] * (1 + _VIOLATED):
            return None
        up[where], down[where] = here, there
        lower = np.zeros(2 * self._count)
        lower[where], lower[self._count + where] = here, there
        twice = np.arange(2 * self._count)
        self._paths.bound(twice, lower, np.concatenate([up, down]))
        least = np.maximum(np.minimum(np.concatenate([up, down]), need), _LEAST_SHARE * need)
        self._paths.cost(twice, np.concatenate([price, price]) / least)
        solved = self._paths.solve(token)
        if solved.point is None or solved.answer is not Answer.OPTIMAL:
            return None
        moved = solved.point[: self._count] - solved.point[self._count :]
        return np.where(abs(moved) > _MOVED * max(1.0, need), moved * unit, 0.0)


@dataclass(frozen=True, eq=False)
class _Cut:
    """``shares · x[columns] >= 1``."""

    columns: Ints
    shares: Floats


def needing(instance: Instance, token: CancelToken) -> Instance:
    """The instance without targets that what must be suppressed protects by itself.

    Whatever else is suppressed leaves more room to move, to everyone: no pattern exposes them.
    Where most of a table is unsafe few are left. Raises Cancelled.
    """
    found = exposed(instance.problem, instance.must, instance.targets, token)
    left = {(each.variable, each.upper, each.sliding) for each in found}
    open_ = [t for t in instance.targets if (t.variable, t.upper, t.sliding) in left]
    return replace(instance, targets=open_)


class NoPattern(Exception):  # noqa: N818 - a fact about the table, told by the caller
    """Not even all cells that may be suppressed protect a target."""

    def __init__(self, found: Exposed) -> None:
        super().__init__(found.variable)
        self.found = found


def greedy(
    instance: Instance,
    token: CancelToken,
    start: Flags | None = None,
    hint: Floats | None = None,
    watch: Watch = lambda value, bound: None,
    clear: bool = True,
    open_: Sequence[Exposed] = (),
    stop: CancelToken | None = None,
) -> Flags:
    """A protecting pattern by cheapest moves, target by target, the neediest first.

    ``hint`` in [0, 1] makes cells cheaper that a relaxation would choose; with ``clear`` the cells
    that turn out not to be needed are published, until ``stop`` is cancelled. ``open_`` is what the
    start leaves exposed, where that is known.

    Raises
    ------
    NoPattern
        A target cannot be protected.
    """
    attacker = Attacker(instance)
    pattern = instance.must.copy() if start is None else start | instance.must
    worth = instance.weight * (1.0 if hint is None else 1.0 - 0.99 * hint)
    attacks: list[Attack] = []
    while True:
        found = open_ or exposed(instance.problem, pattern, instance.targets, token)
        if not found:
            break
        before, open_ = pattern.copy(), ()
        for each in sorted(found, key=lambda e: (-e.required, e.variable, e.upper, e.attacker)):
            attack = _attack(each, instance)
            price = np.where(pattern, _PRICELESS * (1 + instance.weight), worth + _PRICELESS)
            used = attacker.path(attack, instance.may, price, token)
            if used is None:
                raise NoPattern(each)
            pattern |= used
            attacks.append(attack)
        if (pattern == before).all():
            # Moves that the audit does not see: within the tolerance of the solver.
            raise NoPattern(found[0])
    cleared = pattern
    if clear:
        cleared = _cleared(instance, attacker, pattern, attacks, token, stop or CancelToken())
    watch(instance.cost(cleared), 0.0)
    return cleared


def _cleared(
    instance: Instance,
    attacker: Attacker,
    pattern: Flags,
    attacks: Sequence[Attack],
    token: CancelToken,
    stop: CancelToken,
) -> Flags:
    """The pattern without cells that are not needed, the most expensive first; without some of
    them when ``stop`` is cancelled.
    """
    every = {*attacks, *(Attack(target) for target in instance.targets)}
    same = np.ones(len(pattern))
    witness: dict[Attack, Flags] = {}
    for attack in sorted(every, key=_in_order):
        if stop.cancelled:
            return pattern
        used = attacker.path(attack, pattern, same, token)
        if used is not None:
            witness[attack] = used
    smaller = pattern.copy()
    extra = np.flatnonzero(pattern & ~instance.must)
    for cell in extra[np.argsort(-instance.weight[extra], kind="stable")]:
        if stop.cancelled:
            break
        smaller[cell] = False
        found: dict[Attack, Flags] = {}
        for attack, used in witness.items():
            if used[cell]:
                other = attacker.path(attack, smaller, same, token)
                if other is None:
                    smaller[cell] = True
                    break
                found[attack] = other
        else:
            witness.update(found)
    if (smaller == pattern).all():
        return pattern
    if exposed(instance.problem, smaller, instance.targets, token):
        # A contributor alone who was no danger before; the larger pattern stands up to all.
        return pattern
    return smaller


class Master:
    """The choice of cells under the cuts found so far, relaxed or whole."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.columns = np.flatnonzero(instance.may & ~instance.must)
        self._place = np.full(len(instance.must), -1, dtype=np.int64)
        self._place[self.columns] = np.arange(len(self.columns))
        count = len(self.columns)
        empty = csr_array((0, count))
        none, ones = np.zeros(0), np.ones(count)
        weight = instance.weight[self.columns]
        box = (np.zeros(count), ones)
        self.relaxed = Program(empty, (none, none), box, weight, kind="rows")
        self.whole = Program(empty, (none, none), box, weight, np.ones(count, dtype=bool))

    def add(self, cuts: Sequence[_Cut]) -> None:
        """Add cuts to both programs."""
        if not cuts:
            return
        ends = np.cumsum([0, *(len(cut.columns) for cut in cuts)])
        columns = self._place[np.concatenate([cut.columns for cut in cuts])]
        shares = np.concatenate([cut.shares for cut in cuts])
        rows = csr_array((shares, columns, ends), shape=(len(cuts), len(self.columns)))
        for program in (self.relaxed, self.whole):
            program.add(rows, np.ones(len(cuts)))

    def link(self) -> None:
        """No cell is suppressed alone in an equation: it could be computed, so it need not be."""
        problem, instance = self.instance.problem, self.instance
        matrix = problem.matrix
        rows: list[csr_array] = []
        for row in range(matrix.shape[0]):
            inside = matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]
            inside = inside[instance.may[inside]]
            if instance.must[inside].any() or not len(inside):
                continue
            size = len(inside)
            block = np.ones((size, size))
            np.fill_diagonal(block, -1.0)
            columns = np.tile(self._place[inside], size)
            ends = np.arange(0, size * size + 1, size)
            shape = (size, len(self.columns))
            rows.append(csr_array((block.ravel(), columns, ends), shape=shape))
        if rows:
            stacked = csr_array(vstack(rows))
            for program in (self.relaxed, self.whole):
                program.add(stacked, np.zeros(stacked.shape[0]))

    def spread(self, point: Floats) -> Floats:
        """A point of the master over all variables."""
        chosen = self.instance.must.astype(np.float64)
        chosen[self.columns] = np.clip(point, 0.0, 1.0)
        return chosen


def row_cuts(instance: Instance) -> list[_Cut]:
    """What single equations say: a target moves only as far as the others in them can."""
    problem = instance.problem
    columns = csr_array(problem.matrix.T)
    cuts: list[_Cut] = []
    for target in instance.targets:
        if target.sliding:
            continue  # either side may reach so far
        span = slice(columns.indptr[target.variable], columns.indptr[target.variable + 1])
        way = 1.0 if target.upper else -1.0
        for row, own in zip(columns.indices[span], columns.data[span], strict=True):
            entries = slice(problem.matrix.indptr[row], problem.matrix.indptr[row + 1])
            inside, factor = problem.matrix.indices[entries], problem.matrix.data[entries]
            other = instance.may[inside] & (inside != target.variable)
            inside, factor = inside[other], factor[other]
            upwards = -own * factor * way > 0
            reach = np.where(upwards, problem.high[inside], -problem.low[inside])
            left = target.need - float(reach[instance.must[inside]].sum())
            free = ~instance.must[inside] & (reach > 0)
            if left > _VIOLATED * target.need:
                shares = np.clip(reach[free] / left, _LEAST_SHARE, 1.0)
                cuts.append(_Cut(inside[free].astype(np.int64), shares))
    return cuts


def optimal(
    instance: Instance,
    token: CancelToken,
    stop: CancelToken,
    start: Flags | None = None,
    watch: Watch = lambda value, bound: None,
) -> Found:
    """The pattern of least weight, or the best so far and its bound when ``stop`` is cancelled.

    Raises
    ------
    NoPattern
        A target cannot be protected.
    Cancelled
        ``token`` asked for it.
    """
    best = greedy(instance, token, start, watch=watch, stop=stop)
    return _improved(instance, best, token, stop, watch, cuts=True, whole=True)


def bounded(
    instance: Instance,
    pattern: Flags,
    token: CancelToken,
    stop: CancelToken,
    watch: Watch,
    cuts: bool,
) -> Found:
    """A protecting pattern with the bound of the relaxation: by single equations, or by cuts."""
    return _improved(instance, pattern, token, stop, watch, cuts, whole=False)


def _improved(
    instance: Instance,
    best: Flags,
    token: CancelToken,
    stop: CancelToken,
    watch: Watch,
    cuts: bool,
    whole: bool,
) -> Found:
    search = _Search(instance, best, watch)
    if cuts:
        search.master.link()
    with token.on_cancel(stop.cancel):
        try:
            chosen = search.relax(stop, cuts)
            if whole:
                search.round(stop, chosen)
        except Cancelled:
            token.check()
    return Found(search.best, search.bound, search.proven)


class _Search:
    """Cuts, bound and best pattern of one search."""

    def __init__(self, instance: Instance, best: Flags, watch: Watch) -> None:
        self.best, self.bound, self.proven = best, 0.0, False
        self._instance, self._watch = instance, watch
        self._attacker = Attacker(instance)
        self._attacks = [Attack(target) for target in instance.targets]
        self.master = Master(instance)
        self.master.add(row_cuts(instance))

    def _raise(self, bound: float) -> None:
        self.bound = max(self.bound, bound)
        self._watch(self._instance.cost(self.best), self.bound)

    def _better(self, pattern: Flags) -> None:
        if self._instance.cost(pattern) < self._instance.cost(self.best):
            self.best = pattern
            self._watch(self._instance.cost(self.best), self.bound)

    def relax(self, stop: CancelToken, cuts: bool) -> Floats | None:
        """The linear relaxation; with ``cuts`` until it protects or hardly moves."""
        stalled, chosen, near = 0, None, self._attacks
        while stalled < 4:
            solved = self.master.relaxed.solve(stop)
            if solved.point is None:
                break
            before = self.bound
            self._raise(solved.value)
            if not cuts:
                break
            chosen = self.master.spread(solved.point)
            stalled = stalled + 1 if self.bound - before <= 1e-3 * self.bound else 0
            found = self._cuts(near, chosen, stop)
            if len(found) * 10 < len(near) and len(near) < len(self._attacks):
                found = self._cuts(self._attacks, chosen, stop)
            if not found:
                break
            # Most targets have room: those that gave a cut are asked again first.
            near = list(found)
            self.master.add(list(found.values()))
        return chosen

    def _cuts(
        self, attacks: Sequence[Attack], chosen: Floats, stop: CancelToken
    ) -> dict[Attack, _Cut]:
        # What whole cells protect by themselves satisfies every cut; to see that takes little.
        whole = replace(self._instance, must=chosen > _WHOLE, targets=_targets(attacks))
        left = set(needing(whole, stop).targets)
        near = [each for each in attacks if each.target in left]
        cuts = {each: self._attacker.cut(each, chosen, False, stop) for each in near}
        return {each: cut for each, cut in cuts.items() if cut is not None}

    def round(self, stop: CancelToken, hint: Floats | None) -> None:
        """The integer program and its cuts, until its solution protects every target."""
        if hint is not None:
            self._better(greedy(self._instance, stop, hint=hint))
        while True:
            if self._instance.cost(self.best) <= self.bound + _VIOLATED:
                self.proven = True
                return
            self.master.whole.start(self.best[self.master.columns].astype(np.float64))
            solved = self.master.whole.solve(stop, watch=self._live)
            self._raise(solved.bound)
            if solved.point is None:
                return
            chosen = np.round(self.master.spread(solved.point))
            pattern = chosen > 0.5
            found = exposed(self._instance.problem, pattern, self._instance.targets, stop)
            if not found:
                self._better(pattern)
                self.proven = True
                return
            if not self._cut_off(found, chosen, stop):
                # The audit and the cuts differ within the tolerance of the solver: not proven.
                return
            # Not cleared, which took a third of all programs.
            self._better(greedy(self._instance, stop, start=pattern, clear=False, open_=found))

    def _live(self, _: float, bound: float) -> None:
        if math.isfinite(bound):
            self._raise(bound)

    def _cut_off(self, found: Sequence[Exposed], chosen: Floats, stop: CancelToken) -> bool:
        cuts = []
        for each in found:
            attack = _attack(each, self._instance)
            cut = self._attacker.cut(attack, chosen, True, stop)
            if cut is None:
                continue
            cuts.append(cut)
            if attack.owner != -1 and attack not in self._attacks:
                self._attacks.append(attack)
        self.master.add(cuts)
        return bool(cuts)
