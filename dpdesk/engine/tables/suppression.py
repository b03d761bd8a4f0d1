"""Secondary suppression of a system of tables: optimal, by parts of the hierarchy, or fast."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

import numpy as np

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
from dpdesk.engine.tables.local import by_parts, local_pattern
from dpdesk.engine.tables.model import Bounds, Exact, Flags, Floats, System
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
    optimal,
)
from dpdesk.engine.tables.witnesses import Move, Witnesses, whole_targets

How = Literal["optimal", "hitas", "heuristic"]
LARGEST_PROVEN = 6000
"""Variables of a system for which the optimum is searched; larger ones get a local pattern."""
LARGE = 2500
"""Variables up to which a fast pattern is searched over the whole system."""
_LARGEST_WEIGHT = 1e7
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
    """Of a large system: moves that show how far cells can be from their values."""


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
    they are to be protected from who sees that no suppressed one is; values of 0 too, then.
    ``cost`` holds a number per variable (not negative); of equal costs the fewest cells. When
    ``stop`` is cancelled, or the token is asked to keep, the best pattern so far is returned.
    ``watch`` hears cost and bound. With ``steps`` (:func:`told_as_whole`) moves of large systems
    are looked for in whole steps, too.

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
    weigh = _Weights(cost, may & ~unsafe)
    # Moves of large systems show single ends, from which widths follow.
    required = judged.required.fixed(problem.high) if len(system) > LARGE else judged.required
    above = None if filled is None else problem.high
    targets = [*targets_of(required, above=above), *sliding_of(required)]
    instance = Instance(problem, targets, weigh.weight, unsafe, may)

    def heard(value: float, bound: float) -> None:
        watch(float(weigh.cost(value)), float(weigh.bound(bound)))

    try:
        found = _searched(system, instance, how, token, stop or CancelToken(), heard)
    except NoPattern as none:
        raise _refused(system, none) from None
    # A cell that the equations give away anyway hides nothing, whatever readers know of others.
    pattern = found.pattern & (unsafe | (Moves.of_pattern(problem, found.pattern).of >= 0))
    paid = sum(cost[pattern & ~unsafe].tolist(), Fraction(0))
    bound = paid if found.proven else min(paid, weigh.bound(found.bound))
    witnesses = None
    if len(system) > LARGE and not found.proven:
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
        return optimal(instance, token, stop, watch=watch)
    large = len(system) > LARGE
    moves: list[Move] = []
    if how == "hitas":
        pattern = by_parts(system, instance, token)
        pattern = greedy(instance, token, pattern, watch=watch, clear=not large)
    elif large:
        pattern, left, moves = local_pattern(system, instance, token)
        rest = replace(instance, targets=left)
        pattern = greedy(rest, token, pattern, watch=watch, clear=False)
    else:
        pattern = greedy(instance, token, watch=watch)
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
    return Witnesses.of(moves, problem)


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
