"""Open what a user points at: a data file, a plan, a release."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.app.recipes import spelled_work
from dpdesk.core.errors import InputError, StorageError
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.messages import msg
from dpdesk.core.plan import SourceSpec
from dpdesk.core.schema import DataProfile
from dpdesk.project.work import WorkState

if TYPE_CHECKING:
    from dpdesk.app.context import AppContext
    from dpdesk.io.reading import SourcePreview
    from dpdesk.io.store import DataStore

PLAN_ENDINGS = (".toml", ".json")
"""Endings of plan files; any other file is taken for data."""


class Opened(Enum):
    """What a path turned out to be."""

    PLAN = "plan"
    DATA = "data"
    RELEASE = "release"


@dataclass(frozen=True)
class OpenedPath:
    """What lies at ``path``. ``work`` is the state to start from, None for a release."""

    kind: Opened
    path: Path
    work: WorkState | None


def open_path(path: Path) -> OpenedPath:
    """Tell a plan, a data file and a release apart, and read the plan.

    Raises StorageError ``open.missing`` and ``open.folder``, and what reading a plan raises.
    """
    path = path.absolute()
    if path.is_dir():
        return _open_folder(path)
    if not path.exists():
        raise StorageError(
            "open.missing",
            msg("{path}: there is no such file, expected a plan or a data file.", path=path),
        )
    if path.suffix.lower() in PLAN_ENDINGS:
        from dpdesk.io.planfile import read_plan

        return OpenedPath(Opened.PLAN, path, WorkState.from_plan(read_plan(path), path.parent))
    _refuse_project(path)
    work = WorkState(source=SourceSpec(path.name), base=path.parent)
    return OpenedPath(Opened.DATA, path, work)


def _refuse_project(path: Path) -> None:
    from dpdesk.app.projects import is_project

    if is_project(path):
        raise InputError(
            "open.project",
            msg("{path}: found a project, expected a plan or a data file.", path=path),
            hint="Open it as a project; its name should end in `.dpdesk`.",
        )


def _open_folder(path: Path) -> OpenedPath:
    if (path / "manifest.json").exists() or (path / "public" / "manifest.json").exists():
        return OpenedPath(Opened.RELEASE, path, None)
    raise StorageError(
        "open.folder",
        msg(
            "{path}: the folder holds no release (no manifest.json), expected a release, a plan "
            "or a data file.",
            path=path,
        ),
    )


def preview(source: SourceSpec, base: Path, token: CancelToken | None = None) -> SourcePreview:
    """The head of a data file as it would be read; fast, reads only the head. Raises Cancelled."""
    from dpdesk.io.preview import preview_source

    return preview_source(source, base, token)


def open_data(
    context: AppContext, source: SourceSpec, base: Path, token: CancelToken, report: Report
) -> DataStore:
    """Load a data file into the store; the caller closes it. Raises InputError, StorageError."""
    from dpdesk.io.store import DataStore

    return DataStore.open(source, base, context.workspace, token, report)


def profile(data: DataStore, token: CancelToken, report: Report) -> DataProfile:
    """Profile of loaded data: types, distinct, missing, top values, suggested roles."""
    return data.profile(token, report)


def open_work(
    context: AppContext, work: WorkState, token: CancelToken, report: Report
) -> DataStore:
    """Load the data of a work state. ValueError when it names none."""
    if work.source is None:
        raise ValueError("the work names no data")
    return open_data(context, work.source, work.base, token, report)


def spelled(work: WorkState, data: DataStore) -> WorkState:
    """The work with names of columns as its data write them; InputError ``plan.name-forms``."""
    return spelled_work(work, data.columns)
