"""Compare ways to release on the data at hand: internal, for anyone who holds them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.app.auditing import enter
from dpdesk.app.planning import PlacedPlan, placed, placed_work, prepare_cells, prepare_rows
from dpdesk.app.private.preparing import prepare_tables
from dpdesk.core.errors import InputError, RefusedError
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.logged import Logged
from dpdesk.core.messages import msg
from dpdesk.engine.registry import (
    cells_of,
    compared_of,
    noise_of,
    priced_of,
    redesigned_of,
    truth_of,
)

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
    from dpdesk.app.prepared import Prepared, PreparedCells, PreparedRows, PreparedTables
    from dpdesk.core.plan import Plan
    from dpdesk.core.query import Answer, Query
    from dpdesk.engine.method import Method
    from dpdesk.engine.querying import Comparison, Proposal, Redesign
    from dpdesk.io.store import DataStore
    from dpdesk.project.work import WorkState


TWIN = "from a file that is declared public"


def compare_work(
    context: AppContext, data: DataStore, work: WorkState, token: CancelToken, report: Report
) -> tuple[Comparison, ...]:
    """Compare ways to release what the work releases: sensitive columns on random queries, tables
    cell by cell, marginals at random.

    Seconds to minutes; nothing is released or kept. Raises InputError for whatever is wrong with
    the work, RefusedError ``compare.method`` for methods without comparators, ``compare.columns``,
    ``diverted.not-eligible``; Cancelled; StorageError ``audit.*`` where a look at data that a
    budget protects cannot be logged.
    """
    from dpdesk.project.work import THE_WORK

    with _looked_at(context, placed_work(work, THE_WORK), token, report, data) as prepared:
        return _compared(prepared, token, report)


def compare_plan(
    context: AppContext, plan: Path, token: CancelToken, report: Report, twin: Path | None = None
) -> tuple[Comparison, ...]:
    """The same for a plan file; also raises what reading it and its source raises.

    ``twin`` is a file of the same columns that takes the place of the source, and that is declared
    public: then the figures tell nothing of the people in the source. InputError ``compare.twin``
    for the source itself, and for data that a budget was spent on.
    """
    given = placed(plan)
    if twin is not None:
        given = replace(given, plan=_twin_of(given.plan, given.base, twin))
    with _looked_at(context, given, token, report, public=twin is not None) as prepared:
        found = _compared(prepared, token, report)
    return found if twin is None else tuple(replace(each, badge=TWIN) for each in found)


def _twin_of(plan: Plan, base: Path, twin: Path) -> Plan:
    """The plan with another file as its source; InputError ``compare.twin`` for a database, and
    for the source itself.
    """
    if plan.source.is_url:
        raise InputError(
            "compare.twin",
            "The plan reads a database, so no file can take the place of its source.",
            hint="Write a plan for the public file.",
        )
    own = base / plan.source.path
    if own.exists() and twin.exists() and own.samefile(twin):
        raise _not_public(msg("{file}: it is the source of the plan.", file=twin.name))
    return replace(plan, source=replace(plan.source, path=str(twin.absolute())))


def _refuse_protected(
    context: AppContext, base: Path, prepared: Prepared, token: CancelToken
) -> None:
    """Raise InputError ``compare.twin`` for data that a budget was spent on."""
    from dpdesk.app.ledgers import open_ledger
    from dpdesk.app.private.pinning import used_columns

    data = prepared.data
    prints = data.content(used_columns(prepared.plan, data.columns), token)
    desk = open_ledger(context, base, prepared.plan.budget)
    known = desk.known(data.sha256, prints)
    if known:
        raise _not_public(
            msg(
                "{file}: by the ledger, budget was spent on these data ({accounts}).",
                file=data.name,
                accounts=known,
            )
        )


def _not_public(sentence: str) -> InputError:
    return InputError(
        "compare.twin",
        sentence,
        hint="Declare only a file public that tells nothing of these people; to compare on the "
        "rows of the plan, leave `--twin` out.",
    )


def redesign_work(
    context: AppContext, data: DataStore, work: WorkState, token: CancelToken, report: Report
) -> Redesign:
    """Which categories of the table of the work to merge, and what that saves; internal.

    Raises as :func:`compare_work`; RefusedError ``table.redesign`` for several tables and ready
    cells.
    """
    from dpdesk.project.work import THE_WORK

    placed = placed_work(work, THE_WORK)
    return _redesigned(_prepared(context, placed, token, report, data), token, report)


def redesign_plan(context: AppContext, plan: Path, token: CancelToken, report: Report) -> Redesign:
    """The same for a plan file; also raises what reading it and its source raises."""
    with _prepared(context, placed(plan), token, report) as prepared:
        return _redesigned(prepared, token, report)


def _redesigned(
    prepared: PreparedRows | PreparedCells, token: CancelToken, report: Report
) -> Redesign:
    from dpdesk.engine.method import CellsInput

    method, given = redesigned_of(prepared.method), prepared.given
    if method is None or not isinstance(given, CellsInput):
        raise _not_compared(prepared.plan_name, prepared.method)
    return method.redesign(given, token, report)


@contextmanager
def _looked_at(
    context: AppContext,
    given: PlacedPlan,
    token: CancelToken,
    report: Report,
    data: DataStore | None = None,
    *,
    public: bool = False,
) -> Iterator[PreparedRows | PreparedCells | PreparedTables]:
    """A plan whose data are looked at: logged where a budget protects them, or would but that they
    are declared public.

    Rows of a method with noise are read as a release would read them; InputError
    ``method.no-trial`` for others that pay.
    """
    method = context.registry.ready(given.plan.protection.method, f"{given.name}, [protection]")
    if noise_of(method) is None:
        prepared: PreparedRows | PreparedCells | PreparedTables = _prepared(
            context, given, token, report, data
        )
    elif compared_of(method) is None:
        raise _not_compared(given.name, method)
    else:
        prepared = prepare_tables(context, given, token, report, data, spending=True)
    with prepared:
        if priced_of(method) is not None:
            if public:
                _refuse_protected(context, given.base, prepared, token)
            facts = {"sha256": prepared.data.sha256, "method": method.id}
            enter(
                context,
                Logged.COMPARED_PUBLIC if public else Logged.COMPARED,
                prepared.data.name,
                facts,
            )
        yield prepared


def _prepared(
    context: AppContext,
    given: PlacedPlan,
    token: CancelToken,
    report: Report,
    data: DataStore | None = None,
) -> PreparedRows | PreparedCells:
    """A plan whose data may be looked at; InputError ``method.no-trial`` for one that pays."""
    method = context.registry.ready(given.plan.protection.method, f"{given.name}, [protection]")
    make = prepare_rows if cells_of(method) is None else prepare_cells
    return make(context, given, token, report, data)


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
        raise _not_compared(prepared.plan_name, prepared.method)
    return method.true_answer(query, prepared.given, token, None)


def _compared(
    prepared: PreparedRows | PreparedCells | PreparedTables, token: CancelToken, report: Report
) -> tuple[Comparison, ...]:
    from dpdesk.engine.noise.randomness import SystemRandomness

    method = compared_of(prepared.method)
    if method is None:
        raise _not_compared(prepared.plan_name, prepared.method)
    return method.compare(prepared.given, prepared.data, SystemRandomness(), token, report)


def _not_compared(where: str, method: Method) -> RefusedError:
    return RefusedError(
        "compare.method",
        msg(
            "{plan}: the method `{id}` does not say that it can be compared with others.",
            plan=where,
            id=method.id,
        ),
    )
