"""Suppression and controlled rounding of counted cells, by the library of protected tables."""

from __future__ import annotations

from typing import cast

import numpy as np

from dpdesk.core.jobs import CancelToken, Report, StepProgress
from dpdesk.engine.methods.table.counting import Counted
from dpdesk.engine.methods.table.deciding import (
    BOUND,
    PROTECT,
    Protected,
    bounds_of,
    cell_costs,
    near,
    plain_amount,
)
from dpdesk.engine.methods.table.settings import NONE
from dpdesk.engine.tables.audit import audit
from dpdesk.engine.tables.model import Exact, Floats
from dpdesk.engine.tables.rounding import controlled
from dpdesk.engine.tables.rules import Judgement
from dpdesk.engine.tables.suppression import How, suppress

_DIGITS = 12


def suppressed(
    counted: Counted, judged: Judgement, token: CancelToken, report: Report
) -> Protected:
    """Unsafe cells suppressed, with others that protect them where the plan asks.

    Raises RefusedError ``table.not-protectable``, Cancelled.
    """
    system, settings, bounds = counted.system, counted.settings, bounds_of(counted)
    hidden = judged.required.unsafe & ~system.known
    internal: dict[str, object] = {}
    if settings.secondary != NONE:

        def watch(value: float, bound: float) -> None:
            if 0 < value < np.inf and np.isfinite(bound):
                share = min(100, max(0, int(100 * bound / value)))
                report(StepProgress(PROTECT, share, 100, "%"))

        pattern = suppress(
            *(system, judged, bounds, cell_costs(counted), token),
            how=cast(How, settings.secondary),
            singletons=settings.singletons,
            watch=watch,
        )
        hidden = pattern.suppressed
        internal[BOUND] = plain_amount(pattern.bound)
    found = audit(system, hidden, bounds, token)
    low = _tidy(np.maximum(found.lower, bounds.lower), system.cells.values)
    return Protected(
        hidden, system.cells.values, low, _tidy(found.upper, system.cells.values), internal
    )


def _tidy(ends: Floats, values: Exact) -> Floats:
    """Ends of intervals without the noise of a solver: twelve digits of the largest value."""
    largest = max([1.0, *np.abs(values.astype(np.float64)).tolist()])
    step = 10.0 ** (np.ceil(np.log10(largest)) - _DIGITS)
    return np.where(np.isfinite(ends), np.round(ends / step) * step, ends)


def rounded(counted: Counted, judged: Judgement, token: CancelToken, report: Report) -> Protected:
    """All cells rounded so that totals stay sums.

    Raises RefusedError ``table.no-rounding``, Cancelled.
    """
    base = counted.settings.base * 10 ** counted.scales[0]
    found = controlled(counted.system, base, token)
    nothing = np.zeros(len(counted.system), dtype=bool)
    return near(counted, nothing, found.values, base)
