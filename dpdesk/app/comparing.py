"""Compare ways to release on the data at hand: internal, for anyone who holds them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.app.planning import placed, prepare_cells, prepare_rows
from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.messages import msg
from dpdesk.engine.registry import cells_of, compared_of, redesigned_of, truth_of

__all__ = [
    "Comparison",
    "Proposal",
    "Redesign",
    "compare_plan",
    "compare_work",
    "redesign_plan",
    "redesign_work",
    "true_answer_of_work",
]

if TYPE_CHECKING:
    from dpdesk.app.context import AppContext
    from dpdesk.app.prepared import Prepared, PreparedCells, PreparedRows
    from dpdesk.core.hierarchy import Hierarchy
    from dpdesk.core.plan import Plan
    from dpdesk.core.query import Answer, Query
    from dpdesk.engine.querying import Comparison, Proposal, Redesign
    from dpdesk.io.store import DataStore
    from dpdesk.project.work import WorkState


def compare_work(
    context: AppContext, data: DataStore, work: WorkState, token: CancelToken, report: Report
) -> tuple[Comparison, ...]:
    """Compare ways to release the sensitive columns of the work on random queries, or its tables.

    Seconds to a minute; nothing is released or kept. Raises InputError for whatever is wrong with
    the work, RefusedError ``compare.method`` for methods without comparators, ``compare.columns``,
    ``diverted.not-eligible``; Cancelled.
    """
    from dpdesk.project.work import THE_WORK

    place = work.to_plan(), work.base, THE_WORK
    given = *place, token, report, data, work.hand_made()
    return _compared(_prepared(context, *given), token, report)


def compare_plan(
    context: AppContext, plan: Path, token: CancelToken, report: Report
) -> tuple[Comparison, ...]:
    """The same for a plan file; also raises what reading it and its source raises."""
    given = placed(plan)
    place = given.plan, given.base, given.name
    with _prepared(context, *place, token, report, None, given.hierarchies) as prepared:
        return _compared(prepared, token, report)


def redesign_work(
    context: AppContext, data: DataStore, work: WorkState, token: CancelToken, report: Report
) -> Redesign:
    """Which categories of the table of the work to merge, and what that saves; internal.

    Raises as :func:`compare_work`; RefusedError ``table.redesign`` for several tables and ready
    cells.
    """
    from dpdesk.project.work import THE_WORK

    place = work.to_plan(), work.base, THE_WORK
    given = *place, token, report, data, work.hand_made()
    return _redesigned(_prepared(context, *given), token, report)


def redesign_plan(context: AppContext, plan: Path, token: CancelToken, report: Report) -> Redesign:
    """The same for a plan file; also raises what reading it and its source raises."""
    given = placed(plan)
    place = given.plan, given.base, given.name
    with _prepared(context, *place, token, report, None, given.hierarchies) as prepared:
        return _redesigned(prepared, token, report)


def _redesigned(
    prepared: PreparedRows | PreparedCells, token: CancelToken, report: Report
) -> Redesign:
    from dpdesk.engine.method import CellsInput

    method, given = redesigned_of(prepared.method), prepared.given
    if method is None or not isinstance(given, CellsInput):
        raise _not_compared(prepared)
    return method.redesign(given, token, report)


def _prepared(
    context: AppContext,
    plan: Plan,
    base: Path,
    where: str,
    token: CancelToken,
    report: Report,
    data: DataStore | None,
    hierarchies: Mapping[str, Hierarchy],
) -> PreparedRows | PreparedCells:
    """A plan whose data may be looked at; InputError ``method.no-trial`` for one that pays."""
    method = context.registry.ready(plan.protection.method, f"{where}, [protection]")
    make = prepare_rows if cells_of(method) is None else prepare_cells
    return make(context, plan, base, where, token, report, data, hierarchies)


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
    method = truth_of(prepared.method)
    if method is None:
        raise _not_compared(prepared)
    return method.true_answer(query, prepared.given, token, None)


def _compared(
    prepared: PreparedRows | PreparedCells, token: CancelToken, report: Report
) -> tuple[Comparison, ...]:
    from dpdesk.engine.noise.randomness import SystemRandomness

    method = compared_of(prepared.method)
    if method is None:
        raise _not_compared(prepared)
    return method.compare(prepared.given, prepared.data, SystemRandomness(), token, report)


def _not_compared(prepared: Prepared) -> RefusedError:
    return RefusedError(
        "compare.method",
        msg(
            "{plan}: the method `{id}` does not say that it can be compared with others.",
            plan=prepared.plan_name,
            id=prepared.method.id,
        ),
    )
