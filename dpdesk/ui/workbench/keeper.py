"""The keeper of the window's project: hands every change over, and tells how saving goes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import shiboken6
from PySide6.QtCore import QObject, Qt, Signal, Slot

from dpdesk.app import projects
from dpdesk.app.review.values import ReviewPicture
from dpdesk.app.types import (
    AuditNote,
    CandidateShelf,
    DataStore,
    History,
    ProjectFile,
    ProjectUpdate,
    ReadOnly,
    ReleaseRecord,
    ReleaseSummary,
    SaveState,
    SourceStatus,
    WorkState,
)
from dpdesk.core.logged import Logged
from dpdesk.ui.jobs import JobFailed
from dpdesk.ui.jobs.hub import T, Work, alone, failure
from dpdesk.ui.words.numbers import grouped
from dpdesk.ui.words.spoken import said
from dpdesk.ui.workbench import tasks
from dpdesk.ui.workbench.state import Aspect, Changes
from dpdesk.ui.workbench.workbench import Workbench

SOURCES = "project.sources"


class ProjectKeeper(QObject):
    """One per window; lives in the main thread.

    ``changed()`` after another project is open, or saving fails or goes again; ``saving()`` when
    something has to be saved or all is saved, which is at every change of the work;
    ``opened(Path)`` when a project was made or opened; ``failed(JobFailed)`` for a band;
    ``damaged(Path, JobFailed)`` when a project could not be opened for that reason;
    ``noticed(str, str)`` a kind of message and a sentence on what was found;
    ``closed()`` when the work is in no project any more.
    """

    changed = Signal()
    saving = Signal()
    opened = Signal(object)
    failed = Signal(object)
    damaged = Signal(object, object)
    noticed = Signal(str, str)
    closed = Signal()
    _told = Signal(object)

    def __init__(self, workbench: Workbench, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bench = workbench
        self._project: ProjectFile | None = None
        self._state = SaveState()
        self._noted: DataStore | None = None
        self._told_of: set[Path] = set()
        self._told.connect(self._on_told, Qt.ConnectionType.QueuedConnection)
        workbench.changed.connect(self._on_changed)
        workbench.released.connect(self._on_released)

    # ---- what the window reads

    @property
    def path(self) -> Path | None:
        """The file of the open project; None when the work is in none."""
        return None if self._project is None else self._project.path

    @property
    def read_only(self) -> ReadOnly | None:
        """Why nothing can be saved in the open project; None when it can, or none is open."""
        return None if self._project is None else self._project.read_only

    @property
    def state(self) -> SaveState:
        """How far saving has come."""
        return self._state

    @property
    def saves(self) -> bool:
        """Whether each change is saved in a project."""
        return self._project is not None and self._project.read_only is None

    @property
    def edited(self) -> bool:
        """Whether the work has moments that the open project did not have when last saved."""
        if self._project is None:
            return False
        here, there = self._bench.history.moments(), self._project.contents.history.moments
        return len(here) != len(there) or any(
            one is not other for one, other in zip(here, there, strict=True)
        )

    # ---- what the window asks

    def create(self, path: Path) -> int:
        """Make a project: of the present work, or an empty one when a project is open already."""
        history, shelf = self._bench.history, self._bench.shelf
        if self._project is not None:
            history, shelf = History(WorkState()), CandidateShelf()
        work = partial(
            projects.create_project, self._bench.context, path, history.snapshot(), shelf.snapshot()
        )
        return self._begin(self.tr("Creating the project {name}"), path, work, self._on_created)

    def open(self, path: Path) -> int:
        """Open a project in the place of the present work."""
        work = partial(tasks.open_project, self._bench.context, path)
        return self._begin(self.tr("Opening {name}"), path, work, self._on_opened)

    def save_as(self, path: Path) -> int:
        """Save everything under another name, and go on there."""
        if self._project is None:
            return self.create(path)
        work = partial(tasks.copy_project, self._bench.context, self._project, path, self._whole())
        return self._begin(self.tr("Saving {name}"), path, work, self._on_copied)

    def rescue(self, path: Path, out: Path) -> int:
        """Save what can be read of a damaged project as a new one, and open that."""
        work = partial(tasks.rescue_project, self._bench.context, path, out)
        return self._begin(self.tr("Saving {name}"), out, work, self._on_rescued)

    def save_again(self) -> int:
        """Try once more to save what could not be saved."""
        if self._project is None:
            return 0
        work = alone(self._project.flush)
        return self._begin(self.tr("Saving {name}"), self._project.path, work, self._on_saved)

    def close(self, *, discard: bool = False) -> int:
        """Save what is left, and let the project and its work go.

        With ``discard`` what cannot be saved is given up.
        """
        if self._project is None:
            return 0
        work = partial(tasks.close_project, self._project, discard=discard)
        return self._begin(self.tr("Closing {name}"), self._project.path, work, self._on_closed)

    def end(self) -> None:
        """Save what is left and let the file go, at once; only when the window has closed.

        Raises the StorageError for which saving failed; the file is let go all the same.
        """
        project = self._project
        self._let_go()
        if project is not None:
            try:
                project.flush()
            finally:
                project.close(discard=True)

    def _begin(
        self,
        title: str,
        path: Path,
        work: Work[T],
        then: Callable[[T], object],
    ) -> int:
        # A change even where it only reads: an open project that nobody takes over would stay
        # locked, and only changes are sure to be delivered.
        return self._bench.hub.mutate(
            title.format(name=path.name), work, then=then, failed=self._on_failed
        )

    # ---- what comes back

    def _on_created(self, found: ProjectFile) -> None:
        fresh = self._project is not None
        self._take(found)
        if fresh:
            self._show_contents(found)
        else:
            self._hand_over(self._whole())
            self._note_sources()
        self._tell_that_it_saves(found)

    def _on_opened(self, found: ProjectFile | tasks.Damaged) -> None:
        if isinstance(found, tasks.Damaged):
            title = self.tr("Opening {name}").format(name=found.path.name)
            self.damaged.emit(found.path, failure(0, title, found.error))
        else:
            self._take(found)
            self._show_contents(found)
            self._tell_what_was_found(found)

    def _on_copied(self, found: ProjectFile) -> None:
        self._take(found)
        self._hand_over(self._whole())
        self._tell_that_it_saves(found)

    def _tell_that_it_saves(self, project: ProjectFile) -> None:
        if project.read_only is None:
            text = self.tr("Every change is now saved in {name} as you make it.")
            self.noticed.emit("ok", text.format(name=project.path.name))
        else:
            self._tell_what_was_found(project)

    def _on_rescued(self, found: tasks.Rescued) -> None:
        self._take(found.project)
        self._show_contents(found.project)
        text = self.tr(
            "{moments} of at least {all} states of the history were saved in {name}; the "
            "damaged file is unchanged."
        )
        lost = found.lost
        name = found.project.path.name
        self.noticed.emit(
            "caution",
            text.format(moments=grouped(lost.moments), all=grouped(lost.moments_of), name=name),
        )

    def _on_saved(self, nothing: None) -> None:
        self.changed.emit()

    def _on_closed(self, found: object) -> None:
        if found is not self._project:
            return  # another one has taken its place
        self._let_go()
        self._bench.adopt(History(WorkState()), CandidateShelf())
        self.closed.emit()
        self.changed.emit()

    def _on_failed(self, outcome: JobFailed) -> None:
        self.failed.emit(outcome)
        self.changed.emit()

    def _take(self, project: ProjectFile) -> None:
        """Go on with another project; the one before is closed in the background."""
        before = self._project
        self._let_go()
        if before is not None:
            work = partial(tasks.close_project, before, discard=True)
            title = self.tr("Closing {name}").format(name=before.path.name)
            self._bench.hub.mutate(title, work, failed=self._on_failed)
        self._project = project
        self._state = project.state
        self._bench.keeps_history = True
        project.listen(self._tell)
        self.opened.emit(project.path)
        self.changed.emit()

    def _let_go(self) -> None:
        if self._project is not None:
            self._project.listen(None)
        self._project, self._state = None, SaveState()
        self._bench.keeps_history = False
        self._noted, self._told_of = None, set()

    def _show_contents(self, project: ProjectFile) -> None:
        contents = project.contents
        self._bench.adopt(
            History.restored(contents.history), CandidateShelf.restored(contents.shelf)
        )

    def _tell_what_was_found(self, project: ProjectFile) -> None:
        self._told_of = {
            one.record.path for one in project.found if one.fate is SourceStatus.CHANGED
        }
        bad = any(one.fate in (SourceStatus.CHANGED, SourceStatus.MISSING) for one in project.found)
        found = list(map(said, project.notes))
        if project.read_only is not None:
            stays = self.tr("Changes stay in this window until you work on a copy.")
            found = [said(project.read_only.sentence), stays, *found]
        if found:
            kind = "caution" if bad or project.read_only is not None else "info"
            self.noticed.emit(kind, " ".join(found))

    # ---- handing changes over

    def _whole(self) -> ProjectUpdate:
        return ProjectUpdate(self._bench.history.snapshot(), self._bench.shelf.snapshot())

    def _hand_over(self, update: ProjectUpdate) -> None:
        if self._project is not None and self._project.read_only is None:
            self._project.save(update)
            self._follow_saving()

    @Slot(object)
    def _on_changed(self, changes: Changes) -> None:
        if not self.saves:
            return
        history = self._bench.history.snapshot() if Aspect.HISTORY in changes else None
        shelf = self._bench.shelf.snapshot() if Aspect.CANDIDATES in changes else None
        if history is not None or shelf is not None:
            self._hand_over(ProjectUpdate(history, shelf))
        if Aspect.DATA in changes:
            self._note_sources()

    def _note_sources(self) -> None:
        """Note the files that were read, in the background; once per loaded data."""
        data, project = self._bench.data, self._project
        if data is None or project is None or not self.saves or data is self._noted:
            return
        self._noted = data
        self._bench.hub.latest(SOURCES).query(
            self.tr("Recording the files that were read"),
            partial(tasks.note_sources, project, self._bench.work, data),
            then=self._on_sources,
            quiet=True,
        )

    def _on_sources(self, found: tasks.NotedSources) -> None:
        if not found.records:
            return
        notes = tuple(AuditNote(Logged.SOURCE_CHANGED, str(one.path)) for one in found.changed)
        self._hand_over(ProjectUpdate(sources=found.records, notes=notes))
        for record in found.changed:
            if record.path not in self._told_of:
                self._told_of.add(record.path)
                text = self.tr("{name} has changed since it was read on {time}.")
                seen = f"{record.seen.astimezone():%Y-%m-%d %H:%M}"
                self.noticed.emit("caution", text.format(name=record.path.name, time=seen))

    @Slot(object)
    def _on_released(self, summary: object) -> None:
        if not isinstance(summary, ReleaseSummary) or not self.saves:
            return
        work = self._bench.released_work
        moments = self._bench.history.moments()
        moment = next((one.id for one in reversed(moments) if one.state is work), 0)
        title = "" if work is None else work.title
        self._bench.hub.query(
            self.tr("Recording the release"),
            partial(tasks.note_release, summary, title, moment),
            then=self._on_release_noted,
            failed=self._on_failed,
            quiet=True,
        )

    def _on_release_noted(self, made: ReleaseRecord) -> None:
        facts = {"manifest_sha256": made.manifest_sha256}
        note = AuditNote(Logged.RELEASED, str(made.path), facts)
        self._hand_over(ProjectUpdate(releases=(made,), notes=(note,)))

    def note_review(self, picture: ReviewPicture) -> None:
        """Note what was seen of the review of one of the project's own releases."""
        if self._project is None or not self.saves:
            return
        fresh = projects.new_decisions(self._project, picture.state.graph.events)
        if fresh:
            notes = tuple(
                AuditNote(
                    Logged.DECIDED, one.release, {"event": one.id, "type": one.type, "by": one.who}
                )
                for one in fresh
            )
            self._hand_over(ProjectUpdate(decisions=fresh, notes=notes))

    # ---- how saving goes

    def _tell(self, state: SaveState) -> None:
        """From the saving thread."""
        if shiboken6.isValid(self):
            self._told.emit(state)

    @Slot(object)
    def _on_told(self, state: object) -> None:
        self._follow_saving()

    def _follow_saving(self) -> None:
        """The state may be newer than the news of it."""
        if self._project is None:
            return
        before, self._state = self._state, self._project.state
        if before.problem is not self._state.problem:
            self.changed.emit()
        if before.waiting != self._state.waiting:
            self.saving.emit()
