"""Work with projects for background threads: plain callables, no Qt."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from dpdesk.app import projects, recording
from dpdesk.app.types import (
    AppContext,
    DataStore,
    HistorySnapshot,
    Lost,
    ProjectFile,
    ProjectUpdate,
    ReleaseRecord,
    ReleaseSummary,
    ShelfSnapshot,
    SourceRecord,
    WorkState,
)
from dpdesk.core.errors import StorageError
from dpdesk.core.jobs import CancelToken, Report


@dataclass(frozen=True)
class CreateProject:
    """Make a project of this work."""

    context: AppContext
    path: Path
    history: HistorySnapshot = field(repr=False)
    shelf: ShelfSnapshot = field(repr=False)

    def __call__(self, token: CancelToken, report: Report) -> ProjectFile:
        """The open project."""
        return projects.create_project(
            self.context, self.path, self.history, self.shelf, token, report
        )


@dataclass(frozen=True)
class Damaged:
    """A project that could not be opened because its file is damaged."""

    path: Path
    error: StorageError = field(repr=False)


@dataclass(frozen=True)
class OpenProject:
    """Open a project."""

    context: AppContext
    path: Path

    def __call__(self, token: CancelToken, report: Report) -> ProjectFile | Damaged:
        """The open project, or that it is damaged."""
        try:
            opened = projects.open_project(self.context, self.path, token, report)
        except StorageError as error:
            if error.code != "project.damaged":
                raise
            return Damaged(self.path, error.with_traceback(None))
        recording.mention(self.context, "opened", opened.path, report)
        return opened


@dataclass(frozen=True)
class CopyProject:
    """Save everything under another name and open that."""

    context: AppContext
    project: ProjectFile
    path: Path
    work: ProjectUpdate = field(repr=False)

    def __call__(self, token: CancelToken, report: Report) -> ProjectFile:
        """The open copy."""
        path = projects.save_copy(self.context, self.project, self.path, self.work)
        return projects.open_project(self.context, path, token, report)


@dataclass(frozen=True)
class Rescued:
    """An open project with what could be saved of a damaged one."""

    project: ProjectFile
    lost: Lost


@dataclass(frozen=True)
class RescueProject:
    """Save what can still be read of a damaged project as a new one, and open that."""

    context: AppContext
    path: Path
    out: Path

    def __call__(self, token: CancelToken, report: Report) -> Rescued:
        """The open new project."""
        saved = projects.rescue_project(self.context, self.path, self.out, token, report)
        return Rescued(projects.open_project(self.context, saved.path, token, report), saved.lost)


@dataclass(frozen=True)
class CloseProject:
    """Save what is left and let the file go."""

    project: ProjectFile
    discard: bool = False

    def __call__(self, token: CancelToken, report: Report) -> ProjectFile:
        """The closed project."""
        projects.close_project(self.project, discard=self.discard)
        return self.project


@dataclass(frozen=True)
class SaveAgain:
    """Try once more to save what could not be saved."""

    project: ProjectFile

    def __call__(self, token: CancelToken, report: Report) -> None:
        """Everything is on the disk when this returns."""
        self.project.flush()


@dataclass(frozen=True)
class NotedSources:
    """Files that were read: what is new to the project, and what had changed since it knew them."""

    records: tuple[SourceRecord, ...]
    changed: tuple[SourceRecord, ...]


@dataclass(frozen=True)
class NoteSources:
    """Look at the files that the work reads."""

    project: ProjectFile
    work: WorkState
    data: DataStore

    def __call__(self, token: CancelToken, report: Report) -> NotedSources:
        """What is new."""
        known = projects.newest_sources(self.project)
        read = projects.sources_read(self.work, self.data, token)
        fresh = tuple(
            record
            for record in read
            if record.path not in known
            or projects.facts_of(known[record.path]) != projects.facts_of(record)
        )
        changed = tuple(
            known[record.path]
            for record in fresh
            if record.path in known and known[record.path].sha256 != record.sha256
        )
        return NotedSources(fresh, changed)


@dataclass(frozen=True)
class NoteRelease:
    """Look at a release that was just written."""

    summary: ReleaseSummary
    title: str
    moment: int

    def __call__(self, token: CancelToken, report: Report) -> ReleaseRecord:
        """What the project notes of it."""
        made = self.summary
        return projects.release_made(made.out, made.method, self.title, self.moment)
