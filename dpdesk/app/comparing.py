"""Compare ways to release on the data at hand: internal, for whoever holds them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.messages import msg
from dpdesk.engine.kinds import truth_of

__all__ = ["Comparison", "compare_plan", "compare_work", "true_answer_of_work"]

if TYPE_CHECKING:
    from dpdesk.app.context import AppContext
    from dpdesk.app.prepared import PreparedRows
    from dpdesk.core.query import Answer, Query
    from dpdesk.engine.querying import ComparedMethod, Comparison
    from dpdesk.io.store import DataStore
    from dpdesk.project.work import WorkState


def compare_work(
    context: AppContext, data: DataStore, work: WorkState, token: CancelToken, report: Report
) -> tuple[Comparison, ...]:
    """Compare ways to release the sensitive columns of the work, on random queries.

    Seconds to a minute; nothing is released or kept. Raises InputError for whatever is wrong with
    the work, RefusedError ``compare.method`` for methods without comparators, ``compare.columns``,
    ``diverted.not-eligible``; Cancelled.
    """
    from dpdesk.app.exploring import ready_rows

    return _compared(ready_rows(context, data, work, token, report), token, report)


def compare_plan(
    context: AppContext, plan: Path, token: CancelToken, report: Report
) -> tuple[Comparison, ...]:
    """The same for a plan file; also raises what reading it and its source raises."""
    from dpdesk.app.running import prepare_plan

    with prepare_plan(context, plan, token, report) as prepared:
        return _compared(prepared, token, report)


def true_answer_of_work(
    context: AppContext,
    data: DataStore,
    work: WorkState,
    query: Query,
    token: CancelToken,
    report: Report,
) -> Answer:
    """The true answer to a query that a diverted release of the work is asked; internal.

    Raises InputError ``query.*`` and for whatever is wrong with the work, RefusedError
    ``compare.method``, Cancelled.
    """
    from dpdesk.app.exploring import ready_rows

    prepared = ready_rows(context, data, work, token, report)
    return _checked_method(prepared).true_answer(query, prepared.given, token, None)


def _compared(prepared: PreparedRows, token: CancelToken, report: Report) -> tuple[Comparison, ...]:
    from dpdesk.engine.noise.randomness import SystemRandomness

    method = _checked_method(prepared)
    return method.compare(prepared.given, prepared.data, SystemRandomness(), token, report)


def _checked_method(prepared: PreparedRows) -> ComparedMethod:
    method = truth_of(prepared.method)
    if method is None:
        raise RefusedError(
            "compare.method",
            msg(
                "{plan}: the method `{id}` does not say that it can be compared with other ways "
                "on queries.",
                plan=prepared.plan_name,
                id=prepared.method.id,
            ),
        )
    return method
