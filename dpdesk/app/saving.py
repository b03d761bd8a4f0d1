"""Save the work as a plan that the command line runs with the same meaning."""

from __future__ import annotations

from pathlib import Path

from dpdesk.project.saving import save_work
from dpdesk.project.work import WorkState


def save_plan(work: WorkState, path: Path) -> WorkState:
    """Write ``work`` as the plan file ``path``, hierarchies made by hand beside it.

    Returns the work as the files hold it. Raises StorageError; ValueError without a data file.
    """
    return save_work(work, path)
