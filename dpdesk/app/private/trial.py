"""The trial run of a plan that spends a budget: a look at the data before that, and logged.

A run refuses nothing and says nothing for what the rows hold, so it cannot tell that the declared
categories miss them: it would spend its budget on noise. The trial is an act of its own that tells.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.app.auditing import enter
from dpdesk.app.planning import PlacedPlan, placed, placed_work, prepare_rows
from dpdesk.app.prepared import PreparedRows, PreparedTables
from dpdesk.app.private.preparing import prepare_tables
from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.logged import Logged
from dpdesk.core.messages import msg
from dpdesk.engine.private.trial import OutsideFound, OutsideRows, too_many
from dpdesk.engine.registry import noise_of, paid_rows_of

if TYPE_CHECKING:
    from dpdesk.app.context import AppContext
    from dpdesk.io.store import DataStore
    from dpdesk.project.work import WorkState

__all__ = ["OutsideRows", "Trial", "outside_limit", "try_plan", "try_work"]


@dataclass(frozen=True)
class Trial:
    """What a trial found; ``limit`` is the policy's share of rows outside the categories.

    Internal: it depends on single rows.
    """

    found: OutsideFound
    limit: Fraction

    @property
    def beyond(self) -> tuple[OutsideRows, ...]:
        """The columns with more rows outside their categories than the policy allows."""
        rows, limit = self.found.rows, self.limit
        return tuple(
            one
            for one in self.found.columns
            if too_many(one.rows, rows, limit, moved=bool(one.taker))
        )

    @property
    def ok(self) -> bool:
        """Whether no column, and no row left out, is beyond the policy's share."""
        found = self.found
        return not self.beyond and not too_many(found.left_out, found.rows, self.limit, moved=False)

    def share(self, rows: int) -> Fraction:
        """Of all rows; 0 where there are none."""
        return Fraction(rows, self.found.rows) if self.found.rows else Fraction(0)


def try_plan(
    context: AppContext, plan: Path | PlacedPlan, token: CancelToken, report: Report
) -> Trial:
    """The trial of a plan, or of that of a file.

    Raises InputError ``trial.method`` for a method that spends nothing, what making a plan ready
    raises, StorageError ``audit.*`` where it cannot be logged.
    """
    return _try(context, placed(plan), token, report)


def try_work(
    context: AppContext, data: DataStore, work: WorkState, token: CancelToken, report: Report
) -> Trial:
    """The trial of the work in the window. Raises as :func:`try_plan`.

    What counts is how a release would read the source, so it is read again: the open data, whose
    reading depends on all rows, serve for nothing but their names.
    """
    from dpdesk.project.work import THE_WORK

    return _try(context, placed_work(work, THE_WORK), token, report, data)


def _try(
    context: AppContext,
    given: PlacedPlan,
    token: CancelToken,
    report: Report,
    data: DataStore | None = None,
) -> Trial:
    from dpdesk.engine.private.trial import find_outside

    where = given.name
    method = context.registry.ready(given.plan.protection.method, f"{where}, [protection]")
    drawing = paid_rows_of(method)
    if noise_of(method) is None and drawing is None:
        raise InputError(
            "trial.method",
            msg(
                "{where}: the method `{method}` spends no budget, so there is nothing to try "
                "beforehand.",
                where=where,
                method=method.id,
            ),
            hint="Run it: the release says how many rows are left out.",
        )
    limit = outside_limit(context)
    if drawing is not None:
        with prepare_rows(context, given, token, report) as rows:
            enter(context, Logged.TRIED, rows.data.name, _facts(rows))
            declared = drawing.declared(rows.given.parameters)
            return Trial(find_outside(rows.data, declared, token), limit)
    with prepare_tables(context, given, token, report, data, spending=True) as prepared:
        enter(context, Logged.TRIED, prepared.data.name, _facts(prepared))
        found = find_outside(prepared.data, prepared.design.deciding, token)
    return Trial(found, limit)


def _facts(prepared: PreparedRows | PreparedTables) -> dict[str, object]:
    """What the audit log keeps: that somebody looked, never what was seen."""
    return {
        "sha256": prepared.data.sha256,
        "method": prepared.method.id,
        "what": "rows outside the declared categories, before a budget is spent",
    }


def outside_limit(context: AppContext) -> Fraction:
    """The share of rows outside the declared categories that this computer's policy allows."""
    from dpdesk.project.review.policy import agency_policy

    return agency_policy(context.home).policy.outside_share
