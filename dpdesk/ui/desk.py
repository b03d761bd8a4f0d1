"""The composition of the window: services, workbench and panels joined together.

``run_window(path)`` is the entry; tests build a :class:`Desk` with a file asker of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import shiboken6
from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QGuiApplication

from dpdesk.app import scripting
from dpdesk.app.context import AppContext
from dpdesk.app.databases import place_of
from dpdesk.app.projects import home_folder, load_settings, save_settings
from dpdesk.app.types import ExplorationView, ReleaseSummary, WorkState
from dpdesk.core.errors import DpdeskError
from dpdesk.core.plan import SourceSpec
from dpdesk.core.resources import resource
from dpdesk.ui.application import Application
from dpdesk.ui.files import DialogAsker, FileAsker
from dpdesk.ui.forms.fields import FileField
from dpdesk.ui.jobs import JobFailed, JobHub
from dpdesk.ui.main_window import MainWindow
from dpdesk.ui.panels.attributes import AttributesPanel
from dpdesk.ui.panels.compare import ComparePanel
from dpdesk.ui.panels.data import DataPanel
from dpdesk.ui.panels.hierarchies import HierarchiesPanel
from dpdesk.ui.panels.protect import ProtectPanel
from dpdesk.ui.panels.review import ReviewPanel
from dpdesk.ui.projects import DATA_ENDINGS, ENDING, OPENED_ENDINGS, ProjectDesk
from dpdesk.ui.settings import SettingsStore, StoredSettings
from dpdesk.ui.shell import Panel, PanelEntry
from dpdesk.ui.shell.bars import StatusFacts
from dpdesk.ui.side_windows import SideWindows
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.windows.people import PeopleWindow
from dpdesk.ui.words.settings import planned_words, released_words, status_words
from dpdesk.ui.workbench import Aspect, Changes, Workbench
from dpdesk.ui.workbench.state import history_steps


@dataclass(frozen=True)
class OpenRequest:
    """A file, or the work that begins with a table of a server, which has no file."""

    path: Path
    is_project: bool = False
    work: WorkState | None = None

    def open(self, workbench: Workbench, projects: ProjectDesk) -> None:
        """Open it now."""
        if self.is_project:
            projects.open(self.path)
        elif self.work is not None:
            workbench.open_work(self.work, self.path)
        else:
            workbench.open_path(self.path)


SAMPLE_PLAN = "sample/plans/research-file.toml"
_TRIED = {Aspect.DATA, Aspect.ROLES, Aspect.METHOD, Aspect.EXPLORATION}
_TOLD = {*_TRIED, Aspect.PARAMETERS, Aspect.RELEASE}
_SHOWN = 6
_SAVE_FIRST, _OPEN_ANYWAY, _KEEP = "desk.save-first", "desk.open-anyway", "desk.keep"


class Desk(QObject):
    """Workbench, panels and window; lives as long as the window."""

    def __init__(
        self,
        context: AppContext,
        hub: JobHub,
        theme: ThemeManager,
        settings: SettingsStore,
        asker: FileAsker,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._asker, self._settings, self._theme = asker, settings, theme
        self._view: ExplorationView | None = None
        self._waiting: OpenRequest | None = None
        self._open_when_saved = False
        self._shown_document = ("", False)
        self.workbench = Workbench(context, hub, self)
        with theme.building():
            self._make_panels(theme)
            self.window = MainWindow(hub, theme, settings, self._entries())
        self.protect.add_actions(self.window.actions_)
        self.beside = SideWindows(self.workbench, self.window, theme, asker)
        self.data.set_recent(settings.current.recent)
        self.projects = ProjectDesk(self.workbench, self.window, settings, asker, self)
        self._connect()

    def _make_panels(self, theme: ThemeManager) -> None:
        bench, asker = self.workbench, self._asker
        self.data = DataPanel(bench, theme)
        self.attributes = AttributesPanel(bench, theme)
        self.hierarchies = HierarchiesPanel(bench, theme, asker)
        self.protect = ProtectPanel(bench, theme)
        self.compare = ComparePanel(bench, theme)
        self.review = ReviewPanel(bench, theme, asker)
        self.panels: dict[str, Panel] = {
            "data": self.data,
            "attributes": self.attributes,
            "hierarchies": self.hierarchies,
            "protect": self.protect,
            "compare": self.compare,
            "review": self.review,
        }

    def _entries(self) -> tuple[PanelEntry, ...]:
        titles = {
            "data": self.tr("Data"),
            "attributes": self.tr("Attributes"),
            "hierarchies": self.tr("Hierarchies"),
            "protect": self.tr("Protect"),
            "compare": self.tr("Compare"),
            "review": self.tr("Review and export"),
        }
        return tuple(PanelEntry(key, titles[key], one, key) for key, one in self.panels.items())

    def _connect(self) -> None:
        window, bench = self.window, self.workbench
        window.openAsked.connect(self.ask_open)
        window.openReleaseAsked.connect(self.ask_open_release)
        window.messageTriggered.connect(self._on_answer)
        window.openPathAsked.connect(self.open_text)
        window.sampleAsked.connect(self.open_sample)
        window.saveAsked.connect(self.save)
        window.saveAsAsked.connect(self.save_as)
        window.pythonAsked.connect(self.copy_python)
        window.undoAsked.connect(bench.undo)
        window.redoAsked.connect(bench.redo)
        window.momentAsked.connect(bench.go_to)
        window.chartSaved.connect(bench.note_chart)
        self.beside.keysChanged.connect(self.review.looker.look)
        self.beside.jumpAsked.connect(self._on_jump)
        self.review.cubeAsked.connect(self.beside.show_browser)
        self.compare.waysAsked.connect(self.beside.show_ways)
        self.compare.browseAsked.connect(self.beside.show_browser)
        self.review.standing.peopleAsked.connect(self.beside.show_people)
        self.projects.openAsked.connect(self._on_project_chosen)
        self.projects.keeper.opened.connect(self._on_project_opened)
        self.projects.keeper.changed.connect(self._show_document)
        self.projects.keeper.closed.connect(self._on_project_closed)
        self.review.looker.changed.connect(self._on_review_seen)
        bench.changed.connect(self._on_changed)
        bench.failed.connect(self._on_failed)
        bench.opened.connect(self._on_opened)
        bench.released.connect(self._on_released)
        bench.budget.changed.connect(self._show_facts)
        self.protect.viewed.connect(self._on_viewed)
        self.protect.settings.fileAsked.connect(self._on_file_asked)
        self.data.openAsked.connect(self.ask_open)
        self.data.projectAsked.connect(self.projects.ask_open)
        self.data.databaseAsked.connect(self.beside.show_database)
        self.beside.sourceAsked.connect(self._on_source_asked)
        self.data.openPathAsked.connect(self.open_text)
        self.data.sampleAsked.connect(self.open_sample)
        for panel in self.panels.values():
            panel.wantsPanel.connect(window.show_panel)

    def let_go(self) -> None:
        """Let the project and the data go.

        Raises the StorageError for which the last change could not be saved in the project, or a
        vote in the making on this computer.
        """
        try:
            self.review.sign.drafts.flush()
        finally:
            try:
                self.projects.keeper.end()
            finally:
                self.workbench.close()

    def end(self) -> None:
        """Let all go and take the window apart, while the toolkit is still there for it.

        Raises what :meth:`let_go` raises.
        """
        try:
            self.let_go()
        finally:
            shiboken6.delete(self.window)
            shiboken6.delete(self)

    # ---- wishes of the window

    @property
    def people(self) -> PeopleWindow | None:
        """The window about people and keys; None while nobody has wanted it."""
        found = vars(self.beside).get("people")
        return found if isinstance(found, PeopleWindow) else None

    @Slot(str, str)
    def _on_jump(self, step: str, column: str) -> None:
        self.window.show_panel(step)
        self.window.raise_()
        self.window.activateWindow()
        self.panels[step].point_at(column)

    @Slot()
    def ask_open(self) -> None:
        """Ask for a data file, a plan or a project, and open it."""
        path = self._asker.open_file(
            self.tr("Open a data file, a plan or a project"),
            self._settings.current.last_folder,
            self.tr("Data, plans and projects ({endings});;All files (*)").format(
                endings=OPENED_ENDINGS
            ),
        )
        if path is not None:
            self.open_text(str(path))

    @Slot(object)
    def _on_file_asked(self, field: FileField) -> None:
        base = self.workbench.work.base
        path = self._asker.open_file(
            field.parameter.label,
            str(base),
            self.tr("Data files ({endings});;All files (*)").format(endings=DATA_ENDINGS),
        )
        if path is not None:
            near = path.is_relative_to(base)
            field.choose(path.relative_to(base).as_posix() if near else str(path))

    @Slot()
    def ask_open_release(self) -> None:
        """Ask for the folder of a release, and open it."""
        folder = self._settings.current.last_folder
        path = self._asker.open_folder(self.tr("Open the folder of a release"), folder)
        if path is not None:
            self.open_text(str(path))

    @Slot(str)
    def open_text(self, path: str) -> None:
        """Open a path given as text; the manifest of a release stands for the release."""
        chosen = Path(path).absolute()
        if chosen.name == "manifest.json":
            chosen = chosen.parent
        if chosen.name == "public" and (chosen.parent / "internal").is_dir():
            chosen = chosen.parent
        if chosen.is_dir():
            self.workbench.open_path(chosen)  # a release leaves the work as it is
        else:
            self._replace_work(OpenRequest(chosen, chosen.suffix.lower() == ENDING))

    @Slot(object)
    def _on_project_chosen(self, path: object) -> None:
        if isinstance(path, Path):
            self._replace_work(OpenRequest(path, is_project=True))

    @Slot(object)
    def _on_source_asked(self, source: object) -> None:
        if isinstance(source, SourceSpec):
            folder = Path(self._settings.current.last_folder or Path.home())
            self._replace_work(
                OpenRequest(place_of(source), work=WorkState(source=source, base=folder))
            )

    @Slot()
    def open_sample(self) -> None:
        """Open the plan of the bundled synthetic people."""
        try:
            self._replace_work(OpenRequest(Path(str(resource(SAMPLE_PLAN))), is_project=False))
        except DpdeskError as error:
            self.window.show_error(error)

    def _replace_work(self, wish: OpenRequest) -> None:
        """Open a file in the place of the present work; ask when that would lose something.

        In a project nothing is lost: opening data or a plan is a change like any other.
        """
        in_project = self.projects.keeper.path is not None
        if in_project and wish.is_project and self.projects.unsaved:
            self.projects.tell_problem()
            return
        lost = "" if in_project else self._what_is_lost()
        if not lost:
            wish.open(self.workbench, self.projects)
            return
        self._waiting = wish
        self.window.show_message(
            "caution",
            self.tr("Opening {name} closes the current work: {lost}").format(
                name=wish.path.name, lost=lost
            ),
            (
                (_SAVE_FIRST, self.tr("Save the plan first")),
                (_KEEP, self.tr("Keep it in a project…")),
                (_OPEN_ANYWAY, self.tr("Open without saving")),
            ),
        )

    def _what_is_lost(self) -> str:
        """What opening another file would lose, as a sentence; empty when nothing."""
        unsaved, kept = self.workbench.history.changed, len(self.workbench.candidates)
        if unsaved and kept:
            return self.tr("unsaved changes and the candidates kept in Compare are lost.")
        return self.tr("unsaved changes are lost.") if unsaved else ""

    @Slot(str)
    def _on_answer(self, identifier: str) -> None:
        if self.projects.answer(identifier):
            return
        wish = self._waiting
        if wish is None or identifier not in (_SAVE_FIRST, _OPEN_ANYWAY, _KEEP):
            return
        if identifier == _SAVE_FIRST:
            self._open_when_saved = self.save()
            if not self._open_when_saved:
                self._replace_work(wish)  # nobody named a file: ask again
            return
        self._waiting = None
        if identifier == _KEEP:
            self.projects.ask_new()
        else:
            wish.open(self.workbench, self.projects)

    @Slot()
    def save(self) -> bool:
        """Save the plan where it was saved before; ask when it has no file yet.

        In a project all is saved already, but for what could not be. Returns whether saving has
        begun.
        """
        path = self.workbench.plan_path
        if (path is None or self.projects.unsaved) and self.projects.save():
            return True
        if path is None or self._is_bundled(path):
            return self.save_as()
        self.workbench.save_plan(path)
        return True

    @Slot()
    def save_as(self) -> bool:
        """Ask for a file and save the plan there; returns whether saving has begun."""
        source = self.workbench.work.source
        if source is None:
            self.window.show_message("info", self.tr("There is nothing to save yet: open a file."))
            return False
        folder = self._settings.current.last_folder
        suggestion = Path(folder) / f"{source.stem}.toml"
        path = self._asker.save_file(
            self.tr("Save the plan"),
            str(suggestion),
            self.tr("Plans (*.toml *.json)"),
            (".toml", ".json"),
        )
        if path is not None:
            self.workbench.save_plan(path)
        return path is not None

    @Slot()
    def copy_python(self) -> None:
        """Put the plan and its run on the clipboard as Python code."""
        work = self.workbench.work
        if work.source is None or not work.method:
            text = self.tr("There is nothing to copy yet: open a file and choose a method.")
            self.window.show_message("info", text)
            return
        script = scripting.work_script(work, f"{work.source.stem}-release")
        QGuiApplication.clipboard().setText(script)
        self.window.show_message("ok", self.tr("The Python code is on the clipboard."))

    # ---- what the workbench tells

    @Slot(object)
    def _on_changed(self, changes: Changes) -> None:
        bench, window = self.workbench, self.window
        if changes & {Aspect.DATA, Aspect.SOURCE}:
            window.project_actions.set_work(has_file=bench.work.source is not None)
        if changes & {Aspect.DATA, Aspect.SOURCE, Aspect.RELEASE}:
            self._show_document()
        if changes & _TRIED and bench.explored is None:
            self._view = None
        if changes & _TOLD:
            self._show_facts()
        if Aspect.HISTORY in changes:
            history = bench.history
            steps = tuple(moment.label for moment in history.path())[-_SHOWN:]
            states = history_steps(history)
            window.set_history(steps, bench.undo_label, history.redo_label, states)
            self._show_unsaved()
            if self._open_when_saved and not history.changed and self._waiting is not None:
                wish, self._waiting, self._open_when_saved = self._waiting, None, False
                wish.open(self.workbench, self.projects)
        window.refresh()

    @Slot()
    def _show_document(self) -> None:
        shown = self._document(), self._shows_raw_data()
        if shown != self._shown_document:  # also asked for whenever something was saved
            self._shown_document = shown
            self.window.set_document(shown[0], confidential=shown[1])
        self._show_unsaved()

    def _show_unsaved(self) -> None:
        if self.projects.keeper.path is None:
            self.window.set_unsaved(self.workbench.history.changed)
        else:
            sentence = self.projects.unsaved
            self.window.set_unsaved(bool(sentence), sentence)

    def _document(self) -> str:
        """What is open, or what was to be opened; the project before the data.

        A release is named where it was opened alone.
        """
        source, problem = self.workbench.work.source, self.workbench.open_problem
        release = self.workbench.release_path
        name = "" if release is None else release.name
        if problem is not None:
            name = problem.path.name
        if source is not None:
            name = source.name
        return " – ".join(part for part in (self.projects.name, name) if part)

    def _shows_raw_data(self) -> bool:
        """Lines of a file that cannot be read are raw data, too."""
        return self.workbench.data is not None or self.workbench.open_problem is not None

    @Slot(object)
    def _on_viewed(self, view: object) -> None:
        self._view = view if isinstance(view, ExplorationView) else None
        self._show_facts()

    @Slot()
    def _show_facts(self) -> None:
        """Rows read always; what would be released as long as there is a view of it."""
        view = self._view
        rows = None if self.workbench.data is None else self.workbench.data.rows
        figures = {} if view is None else {figure.key: figure.value for figure in view.figures}
        kept, smallest = figures.get("rows_kept"), figures.get("smallest_class")
        before = figures.get("smallest_class_before")
        bench, outlook = self.workbench, self.workbench.budget.outlook
        release = bench.release if bench.data is None else None
        released = None if release is None else release.manifest.result.get("rows_out")
        self.window.set_facts(
            StatusFacts(
                rows_in=rows,
                rows_out=None if kept is None else int(kept),
                k_before=None if before is None else int(before),
                k_after=None if smallest is None else int(smallest),
                stale=bool(figures) and bench.stale,
                grouped=bench.generalises,
                protection=released_words(release) or planned_words(bench.method, bench.work),
                released=released if isinstance(released, int) else None,
                budget="" if outlook is None else status_words(outlook),
            )
        )

    @Slot(object)
    def _on_failed(self, failure: object) -> None:
        if isinstance(failure, JobFailed):
            self.window.show_error(failure)

    @Slot(object)
    def _on_opened(self, path: object) -> None:
        if not isinstance(path, Path):
            return
        if not self._is_bundled(path) and not self._is_on_server(path):
            self.window.add_recent(path)
            self.data.set_recent(self._settings.current.recent)
        if self.workbench.release_path == path:
            self.window.show_panel("review")
        elif self.projects.name:
            text = self.tr("{name} is part of the project now; Undo goes back to what was before.")
            self.window.show_message("info", text.format(name=path.name))
        elif self.window.current_id != "data" and self.workbench.undo_label is None:
            self.window.show_panel("data")

    @Slot(object)
    def _on_project_opened(self, path: object) -> None:
        self.data.set_recent(self._settings.current.recent)

    @Slot()
    def _on_review_seen(self) -> None:
        picture = self.review.looker.picture
        if picture is not None:
            self.projects.keeper.note_review(picture)

    @Slot()
    def _on_project_closed(self) -> None:
        self.window.show_panel("data")

    @Slot(object)
    def _on_released(self, summary: object) -> None:
        # The last step says it itself.
        if isinstance(summary, ReleaseSummary) and self.window.current_id != "review":
            text = self.tr("The release is in {folder}.").format(folder=str(summary.out))
            self.window.show_message("ok", text)

    def _is_on_server(self, path: Path) -> bool:
        source = self.workbench.work.source
        return source is not None and source.is_url and path == place_of(source)

    @staticmethod
    def _is_bundled(path: Path) -> bool:
        try:
            return path.is_relative_to(Path(str(resource("sample"))))
        except DpdeskError:
            return False


def run_window(path: Path | None) -> int:
    """Open the window, on ``path`` when it is given; returns the exit code when it is closed.

    Raises StorageError without a display, when the private folder cannot be made, or when the last
    change could not be saved in the project.
    """
    home = home_folder()
    loaded = load_settings(home)
    settings = StoredSettings(loaded.settings, partial(save_settings, home=home))
    application = Application.start(home, settings)
    try:
        return _run(application, home, settings, loaded.problem, path)
    finally:
        application.stop()


def _run(
    application: Application,
    home: Path,
    settings: SettingsStore,
    problem: str,
    path: Path | None,
) -> int:
    with AppContext.open(home) as context:
        asker = DialogAsker()
        desk = Desk(context, application.hub, application.theme, settings, asker, application)
        asker.set_parent(desk.window)
        if problem:
            desk.window.show_message("caution", problem)
        begin = None if path is None else partial(desk.open_text, str(path))
        try:
            return application.run(desk.window, begin)
        finally:
            desk.end()
