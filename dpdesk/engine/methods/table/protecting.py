"""Suppression and controlled rounding of counted cells, by the library of protected tables."""

from __future__ import annotations

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.messages import msg
from dpdesk.engine.methods.table.counting import Counted
from dpdesk.engine.methods.table.deciding import Protected, bounds_of
from dpdesk.engine.methods.table.settings import NONE, SUPPRESS
from dpdesk.engine.tables.audit import audit
from dpdesk.engine.tables.rules import Judgement


def suppressed(
    counted: Counted, judged: Judgement, token: CancelToken, report: Report
) -> Protected:
    """Unsafe cells suppressed, with others that protect them where the plan asks."""
    system, settings = counted.system, counted.settings
    hidden = judged.required.unsafe & ~system.known
    if settings.protect != SUPPRESS or settings.secondary != NONE:
        raise InputError(
            "plan.not-available",
            msg(
                "The protection `{name}` is not available in this version.",
                name=settings.secondary if settings.protect == SUPPRESS else settings.protect,
            ),
            details={"key": "protect"},
        )
    found = audit(system, hidden, bounds_of(counted), token)
    return Protected(hidden, system.cells.values, found.lower, found.upper)
