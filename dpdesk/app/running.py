"""Run a plan file and write its release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.app.planning import PreparedRun, prepare
from dpdesk.core.jobs import CancelToken, Report

if TYPE_CHECKING:
    from dpdesk.app.context import AppContext
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

    ``out`` is looked at before anything is read. Raises InputError and StorageError for bad input,
    RefusedError when the data cannot meet what the plan asks, Cancelled; then ``out`` is as it was.
    """
    from dpdesk.app.releasing import write_release
    from dpdesk.io.release_folder import check_out

    check_out(out)
    with prepare_plan(context, plan_path, token, report) as prepared:
        return write_release(prepared, out, context.workspace, token, report)
