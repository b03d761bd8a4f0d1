"""Secondary suppression of a system of tables: optimal, by parts of the hierarchy, or fast."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

import numpy as np

from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.engine.tables.audit import Moves, Problem, alone, targets_of
from dpdesk.engine.tables.local import by_parts, local_pattern
from dpdesk.engine.tables.model import Bounds, Exact, Flags, Floats, System
from dpdesk.engine.tables.rules import Judgement
from dpdesk.engine.tables.search import (
    Found,
    Instance,
    NoPattern,
    Watch,
    bounded,
    greedy,
    optimal,
)

How = Literal["optimal", "hitas", "heuristic"]
LARGEST_PROVEN = 6000
"""Variables of a system for which the optimum is searched; larger ones get a local pattern."""
LARGE = 2500
"""Variables up to which a fast pattern is searched over the whole system."""
_LARGEST_WEIGHT = 1e7


@dataclass(frozen=True, eq=False)
class Pattern:
    """What is suppressed, and what is proven of any other protecting pattern."""

    suppressed: Flags
    bound: Fraction
    """No pattern costs less, beyond the unsafe cells."""
    proven: bool
    """This one costs no more, and of those that cost the same none has fewer cells."""
    reach: tuple[Floats, Floats] | None = None
    """Of a large system: how far variables are known to go down and up, for its audit."""


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
) -> Pattern:
    """Cells to suppress so that every unsafe one is protected from everyone (and singletons).

    ``filled`` says how much is at least in a cell that is not empty (:meth:`Problem.of`), where
    they are to be protected from who sees that no suppressed one is; values of 0 too, then.
    ``cost`` holds a number per variable (not negative); of equal costs the fewest cells. When
    ``stop`` is cancelled, or the token is asked to keep, the best pattern so far is returned.
    ``watch`` hears cost and bound.

    Raises
    ------
    RefusedError
        ``table.not-protectable``: not even all cells that may be suppressed protect some cell.
    Cancelled
        The token asked for it.
    """
    unsafe = judged.required.unsafe & ~system.known
    may = ~system.known & ~(judged.published & ~unsafe)
    problem = Problem.of(system, bounds, alone(system) if singletons else None, filled)
    weigh = _Weights(cost, may & ~unsafe)
    instance = Instance(
        problem, targets_of(judged.required, zeros=filled is not None), weigh.weight, unsafe, may
    )

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
    return Pattern(pattern, bound, found.proven, found.reach)


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
    large, reach = len(system) > LARGE, None
    if how == "hitas":
        pattern = by_parts(system, instance, token)
        pattern = greedy(instance, token, pattern, watch=watch, clear=not large)
    elif large:
        pattern, left, moved = local_pattern(system, instance, token)
        rest = replace(instance, targets=left)
        pattern = greedy(rest, token, pattern, watch=watch, clear=False)
        reach = (moved, moved.copy())
        for target in left:
            ends = reach[int(target.upper)]
            ends[target.variable] = max(ends[target.variable], target.need)
    else:
        pattern = greedy(instance, token, watch=watch)
    found = bounded(instance, pattern, token, stop, watch, cuts=not large)
    return replace(found, reach=reach)


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
            cell=" × ".join(place),
        ),
        hint="Merge categories, let more cells be suppressed, or round instead.",
    )
