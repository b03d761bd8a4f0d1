"""The plan and another file: what fits, what does not, and going on with it; blocks nothing."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QCloseEvent, QKeyEvent
from PySide6.QtWidgets import QScrollArea, QWidget

from dpdesk.app import exploring, recipes
from dpdesk.app.types import Fix, Recipe
from dpdesk.core.errors import InputError
from dpdesk.ui.files import FileAsker
from dpdesk.ui.fitting import tasks
from dpdesk.ui.fitting.page import FitPage
from dpdesk.ui.jobs import JobDone, JobFailed
from dpdesk.ui.theme import SPACE, Theme, ThemeManager, set_look
from dpdesk.ui.widgets import MessageBand, column
from dpdesk.ui.words.endings import DATA_ENDINGS
from dpdesk.ui.workbench import Aspect, Changes, Workbench

_PLANNED = {Aspect.SOURCE, Aspect.ROLES, Aspect.HIERARCHIES, Aspect.METHOD, Aspect.PARAMETERS}


class FitWindow(QWidget):
    """``jumpAsked(str, str)`` names a step and a column of the main window."""

    jumpAsked = Signal(str, str)

    def __init__(
        self,
        bench: Workbench,
        theme: ThemeManager,
        asker: FileAsker,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self._bench, self._asker = bench, asker
        self._path: Path | None = None
        self._mends: tuple[Fix, ...] = ()
        self._held: tasks.PlanComparison | None = None
        self._adopting = False
        set_look(self, "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setWindowTitle(self.tr("Another file – DPDesk"))
        self.setAccessibleName(self.tr("The plan and another file"))
        layout = column(self, margin=SPACE.l, gap=SPACE.m)
        self.band = MessageBand(theme)
        layout.addWidget(self.band)
        self.page = FitPage(theme, bench.hub)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidget(self.page)
        layout.addWidget(area, 1)
        self._connect()
        theme.changed.connect(self._on_theme)
        self._on_theme(theme.theme)

    def _connect(self) -> None:
        page = self.page
        page.otherAsked.connect(self.ask)
        page.againAsked.connect(self.hold)
        page.backAsked.connect(self._on_back)
        page.adoptAsked.connect(self._on_adopt)
        page.card.mendAsked.connect(self._on_mend)
        page.card.jumpAsked.connect(self.jumpAsked)
        self._bench.changed.connect(self._on_changed)

    @property
    def held(self) -> tasks.PlanComparison | None:
        """How the plan fits the file; None while that is not known."""
        return self._held

    @Slot()
    def ask(self) -> None:
        """Ask for a file, and check it against the plan."""
        source = self._bench.work.source
        folder = "" if source is None else str((self._bench.work.base / source.path).parent)
        path = self._asker.open_file(
            self.tr("The file to which to apply the plan"),
            folder,
            self.tr("Data ({endings});;All files (*)").format(endings=DATA_ENDINGS),
        )
        if path is not None:
            self.look_at(path)

    def look_at(self, path: Path) -> None:
        """Check a file against the plan; what was decided about another one is forgotten."""
        self._path, self._mends = path.absolute(), ()
        self.page.ask_about(path.name)
        self.show()
        self.raise_()
        self.activateWindow()
        self.hold()

    @Slot()
    def hold(self) -> None:
        """Check the file against the plan as it is now, with what was decided here."""
        if self._path is None:
            return
        self.band.clear()
        self._held = None
        self.page.show_held(None, self._mends)
        title = self.tr("Checking {name} against the plan").format(name=self._path.name)
        work = tasks.CompareWithPlan(self._bench.context, self._recipe(), self._mends, self._path)
        job = self._bench.hub.latest(tasks.HOLD).query(
            title,
            work,
            done=self._on_held,
            failed=self._on_failed,
            cancelled=self._on_cancelled,
            quiet=True,
        )
        self.page.progress.follow(job, title)

    def _recipe(self) -> Recipe:
        """The work in hand; its file's columns, where these are known."""
        bench = self._bench
        if bench.profile is None:
            return Recipe(exploring.THE_WORK, bench.work)
        return Recipe.of_work(bench.work, bench.profile, exploring.THE_WORK)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape closes the window."""
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        else:
            super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Stop what nobody waits for any more."""
        self._bench.hub.latest(tasks.HOLD).cancel()
        super().closeEvent(event)

    # -- wishes

    @Slot(object)
    def _on_mend(self, mend: Fix) -> None:
        self._mends = (*self._mends, mend)
        self.hold()

    @Slot()
    def _on_back(self) -> None:
        self._mends = self._mends[:-1]
        self.hold()

    @Slot()
    def _on_adopt(self) -> None:
        held = self._held
        if held is None:
            return
        report = held.report
        columns = [each.name for each in report.profile.columns]
        # The plan as it is now: it may have been mended in the main window meanwhile.
        try:
            recipe = tasks.mended_recipe(self._recipe(), self._mends)
        except InputError as error:
            self.band.show_error(error)
            return
        self._mends, self._adopting = (), True
        self._bench.apply(recipes.adopt(recipe, report.source, report.base, columns))
        self._adopting = False
        text = self.tr(
            "✓ The work goes on with {name}; Undo goes back to the file before. What does not fit "
            "yet is listed below and leads to the step that mends it."
        )
        if report.fits:
            text = self.tr("✓ The work goes on with {name}; Undo goes back to the file before.")
        self.page.say_adopted(text.format(name=held.path.name))

    @Slot(object)
    def _on_changed(self, changes: Changes) -> None:
        if self._held is not None and changes & _PLANNED and not self._adopting:
            self.page.say_stale()

    # -- what comes back

    def _on_held(self, outcome: JobDone) -> None:
        if isinstance(outcome.value, tasks.PlanComparison):
            self._held = outcome.value
            self.page.show_held(outcome.value.report, self._mends)
            (self.page.grid if outcome.value.report.items else self.page.adopt).setFocus()

    def _on_failed(self, outcome: JobFailed) -> None:
        self.page.show_held(None, self._mends)
        self.page.again.setEnabled(True)
        self.band.show_error(outcome)

    def _on_cancelled(self, outcome: object) -> None:
        self.page.again.setEnabled(True)
        text = self.tr("It was stopped; check the file against the plan again when you like.")
        self.band.show_message("info", text)

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        self.setMinimumSize(theme.ems(30), theme.row * 12)
        screen = self.screen().availableSize()
        wide, high = theme.ems(96), theme.row * 26
        self.resize(min(wide, screen.width() - 40), min(high, screen.height() - 80))
