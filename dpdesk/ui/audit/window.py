"""The audit log in a window beside the main one; it blocks nothing."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtGui import QCloseEvent, QKeyEvent
from PySide6.QtWidgets import QScrollArea, QWidget

from dpdesk.app.auditing import AuditView
from dpdesk.app.types import AppContext
from dpdesk.ui.audit import tasks
from dpdesk.ui.audit.page import AuditPage
from dpdesk.ui.audit.words import check_words
from dpdesk.ui.files import FileAsker
from dpdesk.ui.jobs import JobCancelled, JobDone, JobFailed, JobHub
from dpdesk.ui.models.table import TableModel
from dpdesk.ui.theme import SPACE, Theme, ThemeManager, set_look
from dpdesk.ui.widgets import MessageBand, column
from dpdesk.ui.widgets.placing import FilePlace

FIND, CHECK = "audit.find", "audit.check"
PATIENCE_MS = 250


class AuditWindow(QWidget):
    """Lists, searches, checks and exports the audit log of this computer."""

    def __init__(
        self,
        context: AppContext,
        hub: JobHub,
        theme: ThemeManager,
        asker: FileAsker,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self._context, self._hub = context, hub
        self._view: AuditView | None = None
        self._checked: tasks.Checked | None = None
        set_look(self, "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setWindowTitle(self.tr("Audit log – DPDesk"))
        self.setAccessibleName(self.tr("Audit log"))
        layout = column(self, margin=SPACE.l, gap=SPACE.m)
        self.band = MessageBand(theme)
        layout.addWidget(self.band)
        self.rows = TableModel(hub, self)
        self.page = AuditPage(theme, hub, self.rows)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidget(self.page)
        layout.addWidget(area, 1)
        self._place = FilePlace(asker, self.band, self)
        self._patience = QTimer(self)
        self._patience.setSingleShot(True)
        self._patience.setInterval(PATIENCE_MS)
        self._connect()
        theme.changed.connect(self._on_theme)
        self._on_theme(theme.theme)

    def _connect(self) -> None:
        self.page.searched.connect(self._patience.start)
        self.page.againAsked.connect(self.refresh)
        self.page.exportAsked.connect(self._on_export)
        self.page.brokenAsked.connect(self._on_broken)
        self._patience.timeout.connect(self._find)
        self._place.chosen.connect(self._on_place)
        self.rows.failed.connect(self._on_failed)

    def present(self) -> None:
        """Show the window in front, with what is true now."""
        self.show()
        self.raise_()
        self.activateWindow()
        self.refresh()
        self.page.search.setFocus()

    @Slot()
    def refresh(self) -> None:
        """Read and check the log again."""
        self.band.clear()
        self._checked = None
        self._find()
        self._check()

    @property
    def view(self) -> AuditView | None:
        """What is listed; None while nothing could be read."""
        return self._view

    @property
    def checked(self) -> tasks.Checked | None:
        """What the check of the chain has shown; None while it has not ended."""
        return self._checked

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape closes the window, F5 reads the log again."""
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        elif event.key() == Qt.Key.Key_F5:
            self.refresh()
        else:
            super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Stop what nobody waits for any more."""
        for channel in (FIND, CHECK):
            self._hub.latest(channel).cancel()
        super().closeEvent(event)

    # -- wishes

    @Slot()
    def _find(self) -> None:
        self._hub.latest(FIND).query(
            self.tr("Reading the audit log"),
            tasks.FindEntries(self._context, self.page.wanted),
            done=self._on_found,
            failed=self._on_unread,
            quiet=True,
        )

    def _check(self) -> None:
        title = self.tr("Checking the chain of the audit log")
        job = self._hub.latest(CHECK).query(
            title,
            tasks.CheckChain(self._context),
            done=self._on_checked,
            failed=self._on_unread,
            cancelled=self._on_unchecked,
            quiet=True,
        )
        self.page.show_check("note", "", broken=False)
        self.page.progress.follow(job, title)

    @Slot()
    def _on_export(self) -> None:
        filters = self.tr("Table (*.csv);;JSON (*.json)")
        self._place.ask("", self.tr("Export the audit log"), "audit-log.csv", filters)

    @Slot(str, object, bool)
    def _on_place(self, purpose: str, path: Path, replace: bool) -> None:
        self._hub.mutate(
            self.tr("Exporting the audit log"),
            tasks.ExportLog(self._context, path, replace),
            done=self._on_written,
            failed=self._on_failed,
        )

    @Slot()
    def _on_broken(self) -> None:
        if self._checked is None or self._checked.check.fault is None:
            return
        self.page.forget_search()
        self._patience.stop()
        self._find()

    # -- what comes back

    def _on_found(self, outcome: JobDone) -> None:
        view = outcome.value
        if isinstance(view, AuditView):
            self._view = view
            self.page.show_view(view)
            self.rows.set_source(tasks.FoundRows(view))
            self._go_to_fault()

    def _go_to_fault(self) -> None:
        view, checked = self._view, self._checked
        if not self.page.looks_for_fault or view is None or checked is None:
            return
        if checked.check.fault is not None and view.count:
            work = tasks.FindPlace(view, checked.check.fault.n)
            self._hub.latest(FIND).query(
                self.tr("Finding the entry"), work, done=self._on_place_found, quiet=True
            )

    def _on_place_found(self, outcome: JobDone) -> None:
        if isinstance(outcome.value, int):
            self.page.go_to(outcome.value)

    def _on_checked(self, outcome: JobDone) -> None:
        checked = outcome.value
        if isinstance(checked, tasks.Checked):
            self._checked = checked
            look, words = check_words(checked.check, checked.advice)
            self.page.show_check(look, words, broken=checked.check.fault is not None)

    def _on_unchecked(self, outcome: JobCancelled) -> None:
        self.page.show_check("caution", self.tr("△ Not checked: it was stopped."), broken=False)

    def _on_unread(self, outcome: JobFailed) -> None:
        self._view = None
        self.rows.set_source(None)
        self.page.show_view(None)
        self.page.show_check("note", "", broken=False)
        self.band.show_error(outcome)

    def _on_written(self, outcome: JobDone) -> None:
        self.band.show_message("ok", self.tr("Written: {path}").format(path=outcome.value))
        self._find()

    @Slot(object)
    def _on_failed(self, outcome: object) -> None:
        if isinstance(outcome, JobFailed):
            self.band.show_error(outcome)

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        self.setMinimumSize(theme.ems(30), theme.row * 12)
        screen = self.screen().availableSize()
        wide, high = theme.ems(96), theme.row * 26
        self.resize(min(wide, screen.width() - 40), min(high, screen.height() - 80))
