"""Run a plan file and write its release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.app.planning import PreparedRun, prepare
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.engine.kinds import noise_of

if TYPE_CHECKING:
    from dpdesk.app.context import AppContext
    from dpdesk.core.plan import Plan
    from dpdesk.core.release import ReleaseSummary


def prepare_plan(
    context: AppContext, plan_path: Path, token: CancelToken, report: Report
) -> PreparedRun:
    """Read a plan file and make it ready; its paths are relative to the file's folder.

    Raises what reading the plan and :func:`dpdesk.app.planning.prepare` raise.
    """
    from dpdesk.io.planfile import read_plan

    plan = read_plan(plan_path)
    return prepare(context, plan, plan_path.absolute().parent, plan_path.name, token, report)


def run_plan(
    context: AppContext, plan_path: Path, out: Path, token: CancelToken, report: Report
) -> ReleaseSummary:
    """Run a plan and write the release folder ``out``, which must be absent or empty.

    ``out`` is looked at before anything is read. A plan of a method that draws noise debits its
    budget first. Raises InputError and StorageError for bad input, RefusedError when the data
    cannot meet what the plan asks or the budget is not enough, Cancelled; then ``out`` is as it
    was.
    """
    from dpdesk.app.checked_aside import warm_checker
    from dpdesk.io.planfile import read_plan
    from dpdesk.io.release_folder import check_out

    check_out(out)
    plan = read_plan(plan_path)
    warm_checker()
    if _is_private(context, plan, plan_path.name):
        return _run_private(context, plan, plan_path, out, token, report)
    from dpdesk.app.releasing import write_release

    base = plan_path.absolute().parent
    with prepare(context, plan, base, plan_path.name, token, report) as prepared:
        return write_release(prepared, out, context.workspace, token, report)


def _is_private(context: AppContext, plan: Plan, where: str) -> bool:
    method = context.registry.ready(plan.protection.method, f"{where}, [protection]")
    return noise_of(method) is not None


def _run_private(
    context: AppContext,
    plan: Plan,
    plan_path: Path,
    out: Path,
    token: CancelToken,
    report: Report,
) -> ReleaseSummary:
    from dpdesk.app.private.preparing import prepare_private
    from dpdesk.app.private.releasing import write_private_release

    base = plan_path.absolute().parent
    with prepare_private(context, plan, base, plan_path.name, token, report) as prepared:
        return write_private_release(context, prepared, out, token, report)
