"""Projects at the window: what is asked, what the band and the status bar say of saving."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from dpdesk.app.opening import PLAN_ENDINGS
from dpdesk.core.errors import DpdeskError
from dpdesk.core.source_spec import ENDINGS
from dpdesk.ui.files import FileAsker
from dpdesk.ui.jobs import JobFailed
from dpdesk.ui.main_window import MainWindow
from dpdesk.ui.settings import SettingsStore
from dpdesk.ui.words.spoken import said, said_line
from dpdesk.ui.workbench import ProjectKeeper, Workbench

ENDING = ".dpdesk"
COPY, RESCUE, AGAIN, LET_GO = "project.copy", "project.rescue", "project.again", "project.let-go"
PATIENCE_MS = 400


class ProjectDesk(QObject):
    """Joins the keeper of projects with the window.

    ``openAsked(Path)`` when a project was chosen: opening it may first have to ask about the
    present work, which is not its business.
    """

    openAsked = Signal(object)

    def __init__(
        self,
        bench: Workbench,
        window: MainWindow,
        settings: SettingsStore,
        asker: FileAsker,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._bench, self._window = bench, window
        self._settings, self._asker = settings, asker
        self.keeper = ProjectKeeper(bench, self)
        self._damaged: Path | None = None
        self._told: DpdeskError | None = None
        self._patience = QTimer(window)  # it ends with the window that it would tell
        self._patience.setSingleShot(True)
        self._patience.setInterval(PATIENCE_MS)
        self._patience.timeout.connect(self._show_saving)
        self._connect()

    def _connect(self) -> None:
        keeper, actions = self.keeper, self._window.project_actions
        actions.newAsked.connect(self.ask_new)
        actions.openAsked.connect(self.ask_open)
        actions.copyAsked.connect(self.ask_copy)
        actions.closeAsked.connect(self.close)
        keeper.changed.connect(self._on_changed)
        keeper.saving.connect(self._on_saving)
        keeper.opened.connect(self._on_opened)
        keeper.noticed.connect(self._on_noticed)
        keeper.failed.connect(self._on_failed)
        keeper.damaged.connect(self._on_damaged)

    # ---- what the desk asks

    @property
    def name(self) -> str:
        """The name of the open project without its ending; empty when there is none."""
        return "" if self.keeper.path is None else self.keeper.path.stem

    @property
    def unsaved(self) -> str:
        """What would be lost of the open project, as a sentence; empty when nothing."""
        keeper = self.keeper
        if keeper.path is None:
            return ""
        if keeper.state.problem is not None:
            return self.tr("The last changes could not be saved in the project.")
        if keeper.read_only is not None and keeper.edited:
            return self.tr("The changes are in this window only, not in the project.")
        return ""

    def save(self) -> bool:
        """Ctrl+S in a project: all is saved already, or is tried again; whether one is open."""
        keeper = self.keeper
        if keeper.path is None:
            return False
        if keeper.read_only is not None:
            self.ask_copy()
        elif keeper.state.problem is not None:
            keeper.save_again()
        else:
            text = self.tr("Everything is saved in {name} as you work.")
            self._window.show_message("ok", text.format(name=self.name))
        return True

    def answer(self, identifier: str) -> bool:
        """Whether an answer in the window's band was for projects, and what it asks is done."""
        if identifier == COPY:
            self.ask_copy()
        elif identifier == RESCUE:
            self._ask_rescue()
        elif identifier == AGAIN:
            self.keeper.save_again()
        elif identifier == LET_GO:
            self.keeper.close(discard=True)
        else:
            return False
        return True

    # ---- what a person asks

    @Slot()
    def ask_new(self) -> None:
        """Ask for a place, and keep the work there from now on."""
        if self.unsaved:
            self.tell_problem()
            return
        source = self._bench.work.source
        empty = source is None or self.keeper.path is not None
        stem = self.tr("project") if empty or source is None else source.stem
        path = self._ask_place(self.tr("New project"), stem)
        if path is not None:
            self.keeper.create(path)

    @Slot()
    def ask_open(self) -> None:
        """Ask for a project, and open it."""
        path = self._asker.open_file(
            self.tr("Open a project"),
            self._settings.current.last_folder,
            self.tr("Projects (*.dpdesk);;All files (*)"),
        )
        if path is not None:
            self.openAsked.emit(path)

    @Slot()
    def ask_copy(self) -> None:
        """Ask for a place, save the whole project there and go on with it."""
        if self.keeper.path is None:
            return
        stem = self.tr("{name} copy").format(name=self.keeper.path.stem)
        path = self._ask_place(self.tr("Save the project as"), stem)
        if path is not None:
            self.keeper.save_as(path)
        elif self.keeper.read_only is not None or self.unsaved:
            self.tell_problem()  # the question stays until it is answered

    def _ask_rescue(self) -> None:
        damaged = self._damaged
        if damaged is None:
            return
        stem = self.tr("{name} saved").format(name=damaged.stem)
        path = self._ask_place(self.tr("Save what can be read"), stem)
        if path is not None:
            self.keeper.rescue(damaged, path)

    @Slot()
    def close(self) -> None:
        """Close the project."""
        if self.unsaved:
            self.tell_problem()
        else:
            self.keeper.close()

    def open(self, path: Path) -> None:
        """Open a project, unless it is the open one."""
        here = self.keeper.path
        if here is not None and here == path.resolve():
            text = self.tr("{name} is open already.").format(name=path.name)
            self._window.show_message("info", text)
        else:
            self.keeper.open(path)

    def _ask_place(self, title: str, stem: str) -> Path | None:
        suggestion = Path(self._settings.current.last_folder) / f"{stem}{ENDING}"
        filters = self.tr("Projects (*.dpdesk)")
        return self._asker.save_file(title, str(suggestion), filters, (ENDING,))

    # ---- what the keeper tells

    @Slot()
    def _on_changed(self) -> None:
        keeper, window = self.keeper, self._window
        window.project_actions.set_open(keeper.path is not None)
        problem = keeper.state.problem
        if problem is not None and problem is not self._told:
            self.tell_problem()
        elif problem is None and self._told is not None:
            window.show_message("ok", self.tr("Everything is saved again."))
        self._told = problem
        if keeper.state.waiting and problem is None:
            self._on_saving()
        else:
            self._show_saving()
        window.refresh()

    @Slot()
    def _on_saving(self) -> None:
        # Most changes are saved before anybody could read that they are being saved.
        if not self._patience.isActive():
            self._patience.start()

    @Slot()
    def _show_saving(self) -> None:
        keeper = self.keeper
        text, tip = "", ""
        if keeper.path is not None:
            text, tip = self._words(keeper.path)
        self._window.set_saving(text, tip)

    def _words(self, path: Path) -> tuple[str, str]:
        """How saving goes, in two words and in a sentence."""
        state, reason = self.keeper.state, self.keeper.read_only
        if reason is not None:
            return self.tr("△ Read only"), said(reason.sentence)
        if state.problem is not None:
            return self.tr("✕ Not saved"), said_line(state.problem)
        if state.waiting:
            return self.tr("Saving…"), self.tr("Saving in {path}").format(path=path)
        tip = self.tr("Every change is saved in {path} as you make it").format(path=path)
        when: datetime | None = state.saved
        if when is not None:
            tip += self.tr("; the last one at {time}").format(time=f"{when.astimezone():%H:%M:%S}")
        return self.tr("✓ Saved"), tip

    def tell_problem(self) -> None:
        """Say why the project cannot be saved, and what can be done."""
        keeper = self.keeper
        copy = (COPY, self.tr("Work on a copy…"))
        if keeper.state.problem is not None:
            elsewhere = (COPY, self.tr("Save elsewhere…"))
            again = (AGAIN, self.tr("Try again"))
            leave = (LET_GO, self.tr("Close without saving"))
            self._window.show_error(keeper.state.problem, (again, elsewhere, leave))
        elif keeper.read_only is not None:
            leave = (LET_GO, self.tr("Close without saving"))
            actions = (copy, leave) if self.unsaved else (copy,)
            text = f"{said(keeper.read_only.sentence)} {self.unsaved}".strip()
            self._window.show_message("caution", text, actions)

    @Slot(object)
    def _on_opened(self, path: object) -> None:
        if isinstance(path, Path):
            self._window.add_recent(path)

    @Slot(str, str)
    def _on_noticed(self, kind: str, text: str) -> None:
        actions = ((COPY, self.tr("Work on a copy…")),) if self.keeper.read_only else ()
        self._window.show_message(kind, text, actions)

    @Slot(object)
    def _on_failed(self, failure: object) -> None:
        if isinstance(failure, JobFailed) and self.keeper.state.problem is None:
            self._window.show_error(failure)
        elif self.keeper.state.problem is not None:
            self.tell_problem()

    @Slot(object, object)
    def _on_damaged(self, path: object, failure: object) -> None:
        if isinstance(path, Path) and isinstance(failure, JobFailed):
            self._damaged = path
            some = bool(failure.details.get("moments"))
            actions = ((RESCUE, self.tr("Save what can be read…")),) if some else ()
            self._window.show_error(failure, actions)


def _patterns(endings: Iterable[str]) -> str:
    return " ".join(f"*{ending}" for ending in endings)


DATA_ENDINGS = _patterns(ENDINGS)
"""What a table of people can be kept in."""

OPENED_ENDINGS = _patterns((*ENDINGS, *PLAN_ENDINGS, ENDING))
"""All that can be opened: data, plans and projects."""
