"""Suppression and controlled rounding of counted cells, by the library of protected tables."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import astuple, replace
from typing import cast

import numpy as np
from scipy.sparse import csc_array

from dpdesk.core.jobs import CancelToken, Note, Report, StepProgress
from dpdesk.core.messages import msg
from dpdesk.core.tabulation import CAN_MOVE, INTERVAL, IS_EXACT, IS_LEAST
from dpdesk.engine.methods.table.counting import Counted
from dpdesk.engine.methods.table.deciding import (
    AT_LEAST,
    BOUND,
    PROTECT,
    TOLD,
    WHOLE,
    Protected,
    bounds_of,
    cell_costs,
    change_costs,
    near,
    plain_amount,
)
from dpdesk.engine.methods.table.settings import NONE
from dpdesk.engine.tables.adjusting import Wanted, adjusted
from dpdesk.engine.tables.audit import Problem, audit, sliding_of, targets_of
from dpdesk.engine.tables.model import Exact, Flags, Floats, Ints
from dpdesk.engine.tables.rounding import controlled
from dpdesk.engine.tables.rules import Judgement
from dpdesk.engine.tables.suppression import How, suppress
from dpdesk.engine.tables.whole import told_as_whole
from dpdesk.engine.tables.witnesses import Witnesses, told_as_present

_DIGITS = 14


def suppressed(
    counted: Counted, judged: Judgement, token: CancelToken, report: Report
) -> Protected:
    """Unsafe cells suppressed, with others that protect them where the plan asks.

    Raises RefusedError ``table.not-protectable``, Cancelled.
    """
    system, settings, bounds = counted.system, counted.settings, bounds_of(counted)
    hidden = judged.required.unsafe
    internal: dict[str, object] = {}
    witnesses, proven = None, False
    if settings.secondary != NONE:
        stop = CancelToken()
        pattern = suppress(
            *(system, judged, bounds, cell_costs(counted), token),
            how=cast(How, settings.secondary),
            singletons=settings.singletons,
            stop=stop,
            watch=_watch(report),
            filled=counted.filled(judged) if settings.present else None,
            steps=counted.steps(),
        )
        _told_to_end(stop, report)
        hidden = pattern.suppressed
        witnesses, proven = pattern.witnesses, pattern.proven
        internal[BOUND] = plain_amount(pattern.bound)
        filled = counted.filled(judged) if settings.present else None
        asked = [*targets_of(judged.required), *sliding_of(judged.required)]
        whole = told_as_whole(
            Problem.of(system, bounds, filled=filled),
            *(hidden, asked, counted.steps(), token, witnesses),
        )
        internal |= dict(zip(WHOLE, astuple(whole), strict=True))
        if not settings.present:
            problem = Problem.of(system, bounds, filled=counted.filled(judged))
            told = told_as_present(problem, hidden, judged.required, token, witnesses)
            internal |= dict(zip(TOLD, told, strict=True))
    return _audited(counted, hidden, witnesses, internal, token, exactly=proven)


def _audited(
    counted: Counted,
    hidden: Flags,
    witnesses: Witnesses | None,
    internal: dict[str, object],
    token: CancelToken,
    *,
    exactly: bool,
) -> Protected:
    """What readers can tell of suppressed cells: exactly, or of large parts what moves show."""
    system, bounds, values = counted.system, bounds_of(counted), counted.system.cells.values
    reach = None
    if witnesses is not None and not exactly:
        problem = Problem.of(system, bounds)
        reach = witnesses.reach(problem.low, problem.high)
    found = audit(system, hidden, bounds, token, reach=reach)
    low = _tidy(np.maximum(found.lower, bounds.lower), values)
    ends = low, _tidy(found.upper, values)
    if witnesses is None:
        return Protected(hidden, values, *ends, internal)
    least = hidden & ~found.proven
    if least.any():
        internal[AT_LEAST] = int(least.sum())
    columns = tuple(
        {INTERVAL: _intervals(hidden[own], least[own]), CAN_MOVE: _moves(witnesses, own, scale)}
        for own, scale in zip(system.variables, counted.scales, strict=True)
    )
    return Protected(hidden, values, *ends, internal, columns=columns)


def _intervals(hidden: Flags, least: Flags) -> tuple[str, ...]:
    """Whether the interval of each cell of a table is exact."""
    return tuple(np.where(hidden, np.where(least, IS_LEAST, IS_EXACT), "").tolist())


def _moves(witnesses: Witnesses, own: Ints, scale: int) -> tuple[str, ...]:
    """By cell of a table, the moves that it takes part in and how far it goes in each."""
    columns = csc_array(witnesses.matrix)
    numbers = columns.indices.tolist()
    amounts = [
        f"{number + 1}:{int(amount) if amount.is_integer() else amount!r}"
        for number, amount in zip(numbers, (columns.data / 10**scale).tolist(), strict=True)
    ]
    ends = columns.indptr
    return tuple(" ".join(amounts[ends[v] : ends[v + 1]]) for v in own.tolist())


def _told_to_end(stop: CancelToken, report: Report) -> None:
    """Report that a search took what it had, where somebody asked for that."""
    if stop.cancelled:
        said = "The search was asked to end: the best result that it has found is taken."
        report(Note("table.ended", said))


def _watch(report: Report) -> Callable[[float, float], None]:
    """Reports what the best protection so far costs, and how much of that its bound is."""

    def watch(value: float, bound: float) -> None:
        if 0 < value < np.inf and np.isfinite(bound):
            share = min(100, max(0, int(100 * bound / value)))
            said = msg(
                "% (costs {cost:,} so far; no other costs less than {bound:,})",
                cost=_short(value),
                bound=_short(bound),
            )
            report(StepProgress(PROTECT, share, 100, said))

    return watch


def _short(cost: float) -> float | int:
    """A cost about as the search knows it: whole where it is not small."""
    return round(cost) if cost >= 10 else round(cost, 1)


def _tidy(ends: Floats, values: Exact) -> Floats:
    """Ends of intervals without the noise of a solver, which is in the last of fourteen digits of
    the largest value: most ends are sums of values, whole numbers of the grid.
    """
    largest = max([1.0, *np.abs(values.astype(np.float64)).tolist()])
    whole, digits = np.rint(ends), max(0, _DIGITS - math.ceil(math.log10(largest)))
    near = np.isclose(ends, whole, rtol=0.0, atol=max(10.0**-_DIGITS * largest, 1e-9))
    return np.where(near, whole, np.round(ends, digits))


def changed(counted: Counted, judged: Judgement, token: CancelToken, report: Report) -> Protected:
    """Unsafe cells moved as far as required, all others as little as their sums allow.

    Raises RefusedError ``table.no-adjustment``, Cancelled.
    """
    cells, unsafe = counted.system.cells, judged.required.unsafe
    least = np.minimum(bounds_of(counted).lower, 0.0)  # 0: nothing of the measure is negative
    empty = counted.system.known | (cells.frequency == 0)
    stays = ~unsafe & (empty | judged.published)
    wanted = Wanted(judged.required, stays, least, change_costs(counted))
    stop = CancelToken()
    found = adjusted(counted.system, wanted, token, stop, watch=_watch(report))
    _told_to_end(stop, report)
    amounts = cells.values.astype(np.float64)
    low, high = np.where(stays, amounts, least), np.where(stays, amounts, np.inf)
    nothing = np.zeros(len(cells), dtype=bool)
    return Protected(nothing, found.values, low, high, {BOUND: plain_amount(found.bound)})


def rounded(counted: Counted, judged: Judgement, token: CancelToken, report: Report) -> Protected:
    """All cells rounded so that totals stay sums.

    Raises RefusedError ``table.no-rounding``, Cancelled.
    """
    stop = CancelToken()
    found = controlled(counted.system, counted.settings.base, token, stop, units=counted.units)
    _told_to_end(stop, report)
    return replace(near(counted, found.values), internal={BOUND: plain_amount(found.bound)})
