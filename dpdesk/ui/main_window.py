"""The main window: steps at the left, the current panel, the trail of edits, the status bar.

It knows no method, no file format and no engine. Whoever builds it hands in the panels and listens
to its requests::

    window = MainWindow(hub, theme, settings, entries)     # entries: PanelEntry, in order
    window.openAsked / openReleaseAsked / saveAsked / saveAsAsked / sampleAsked  (no arguments)
    window.pythonAsked             the plan as Python code
    window.openPathAsked(str)      a recent file, or a file dropped on the window
    window.undoAsked / redoAsked / momentAsked(int)   the last is the id of a state to go to
    window.messageTriggered(str)   id of an action in the window's band

and tells it what is so::

    window.set_document("census24.csv", confidential=True)
    window.set_facts(StatusFacts(rows_in=45_222, rows_out=44_871, k_before=1, k_after=5))
    window.set_history(("load", "tag age", "k: 5 rows"), undo="k: 5 rows", redo=None)
    window.set_unsaved(True);  window.add_recent(path);  window.refresh()
    window.show_message("fail", sentence, actions);  window.show_panel("protect")
    window.actions_.add(ActionSpec(...), self.method, enabled=self.condition)

Closing asks in a band when work is unsaved (``window.set_unsaved``), then stops the jobs and waits
for them behind a visible message, without blocking the event loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QTimer, Signal, SignalInstance, Slot
from PySide6.QtGui import QCloseEvent, QShowEvent
from PySide6.QtWidgets import (
    QApplication,
    QHBoxLayout,
    QMenu,
    QStackedWidget,
    QWidget,
)

from dpdesk.core.errors import DpdeskError
from dpdesk.ui.crash import Fault
from dpdesk.ui.jobs import JobFailed, JobHub
from dpdesk.ui.settings import SettingsStore
from dpdesk.ui.shell import ActionSet, Panel, PanelEntry
from dpdesk.ui.shell.actions import (
    CommandPalette,
    PanelSteps,
    ProjectActions,
    RequestingWindow,
    ViewMenus,
    keys_text,
    opening_specs,
    toggle_tables,
    working_specs,
)
from dpdesk.ui.shell.bars import (
    DocumentCorner,
    HelpArea,
    HelpPane,
    HistoryStep,
    PanelArea,
    StatusFacts,
    StatusStrip,
    Trail,
    geometry_text,
    layout_text,
    restore,
    take_first_size,
)
from dpdesk.ui.shell.navigation import FocusKeeper, Navigation, focus_next_region, focus_region
from dpdesk.ui.theme import SPACE, ThemeManager
from dpdesk.ui.widgets import ActivityList, MessageBand, StepHeader, column, splitter
from dpdesk.ui.widgets.activity import JobFollower
from dpdesk.ui.widgets.layouts import tab_as_laid_out
from dpdesk.ui.words.spoken import said

_CLOSE_SAVE, _CLOSE_DISCARD = "window.close-save", "window.close-discard"
RECENT_AT_MOST = 10


class MainWindow(RequestingWindow):
    """See the module. ``shown()`` is emitted once, after the first paint has been asked for."""

    shown = Signal()

    def __init__(
        self,
        hub: JobHub,
        theme: ThemeManager,
        settings: SettingsStore,
        entries: Sequence[PanelEntry],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._hub, self._theme, self._settings = hub, theme, settings
        self._entries = {entry.id: entry for entry in entries}
        self._undo_words: tuple[str | None, str | None] = (None, None)
        self._unsaved, self._would_lose = False, ""
        self._document = ""
        self._asks_to_close = False
        self._closing = False
        self._was_shown = False
        self._running: tuple[int, ...] = ()
        self.actions_ = ActionSet(self)
        self.project_actions = ProjectActions(self)
        self._declare_actions()
        self._steps = PanelSteps([entry.title for entry in entries], self.actions_)
        self._build(entries)
        self._menus = ViewMenus(self.actions_, theme, settings)
        self._build_menus()
        self._connect()
        self.setAcceptDrops(True)
        take_first_size(self)
        restore(self, settings.current.geometry, settings.current.layout)
        self.set_document("", confidential=False)
        self.show_panel(entries[0].id)
        self.refresh()

    # -- what others tell the window

    def focusNextPrevChild(self, next: bool) -> bool:
        """Tab follows the eye, whatever has come up since."""
        tab_as_laid_out(self)
        return super().focusNextPrevChild(next)

    @property
    def current_panel(self) -> Panel:
        """The panel in front."""
        return self._entries[self._current].panel

    @property
    def current_id(self) -> str:
        """The id of the panel in front."""
        return self._current

    @property
    def activity(self) -> ActivityList:
        """The list of running jobs."""
        return self._activity

    def prepare(self) -> None:
        """Make what will soon be seen, while there is time for it."""
        self._navigation.prepare()

    def show_panel(self, identifier: str) -> None:
        """Bring a panel to the front; KeyError for an unknown id."""
        entry = self._entries[identifier]
        had_focus, focus = self._panel_has_focus(), QApplication.focusWidget()
        if had_focus and focus is not None:
            focus.clearFocus()  # else whatever comes next would have it, and be read out
        self._current = identifier
        self._stack.setCurrentWidget(self._areas[identifier])
        self._navigation.go_to(identifier)
        entry.panel.activated()
        if had_focus:
            focus_region(entry.panel)
        self._areas[identifier].verticalScrollBar().setValue(0)
        self._explain_if_open()
        self.refresh()
        self.panelChanged.emit(identifier)

    def _panel_has_focus(self) -> bool:
        focus = QApplication.focusWidget()
        return focus is not None and self._stack.isAncestorOf(focus)

    def set_document(self, name: str, *, confidential: bool) -> None:
        """Name what is open; raw data carries the badge."""
        self._corner.set_document(name, confidential=confidential)
        if name != self._document and (self._asks_to_close or self._band.kind in ("ok", "info")):
            self._band.clear()  # what was said of another file
            self._asks_to_close = False
        self._document = name
        self._title()

    def set_facts(self, facts: StatusFacts) -> None:
        """Show the numbers of the status bar."""
        self._strip.set_facts(facts)

    def set_history(
        self,
        steps: Sequence[str],
        undo: str | None,
        redo: str | None,
        states: Sequence[HistoryStep] = (),
    ) -> None:
        """Show the trail; ``undo`` and ``redo`` name the edits, None when there is none.

        ``states`` are all that the work has had, in the order in which to list them.
        """
        self._trail.set_steps([*map(said, steps)])
        self._trail.history.set_steps(states)
        self._undo_words = (undo, redo)
        for name, words, template in (
            ("edit.undo", undo, self.tr("Undo: {edit}")),
            ("edit.redo", redo, self.tr("Redo: {edit}")),
        ):
            self.actions_.action(name).setToolTip(template.format(edit=said(words or "–")))
        self.refresh()

    def set_unsaved(self, unsaved: bool, sentence: str = "") -> None:
        """Say whether closing now would lose work, and what it would lose."""
        self._unsaved, self._would_lose = unsaved, sentence
        self._title()

    def set_saving(self, words: str, explanation: str) -> None:
        """Say how saving by itself goes; nothing where nothing is saved by itself."""
        self._strip.set_saving(words, explanation)

    def add_recent(self, path: Path) -> None:
        """Put a file first among the recent ones."""
        text = str(path.absolute())
        others = [item for item in self._settings.current.recent if item != text]
        recent = (text, *others)[:RECENT_AT_MOST]
        self._settings.change(recent=recent, last_folder=str(path.absolute().parent))

    def show_message(self, kind: str, text: str, actions: Sequence[tuple[str, str]] = ()) -> None:
        """Show a sentence below the panel: ``info``, ``ok``, ``caution`` or ``fail``.

        An empty one takes the one before away if that is of the same kind.
        """
        if not text:
            self._band.clear(kind)
            return
        self._band.show_message(kind, text, actions)
        if actions:  # a question: it can be answered, or left with Esc, by keyboard
            self._band.focus_answer()

    def show_error(
        self, error: JobFailed | DpdeskError, actions: Sequence[tuple[str, str]] = ()
    ) -> None:
        """Show an error below the panel, in its own words."""
        self._band.show_error(error, actions)

    @Slot(object)
    def show_fault(self, fault: Fault) -> None:
        """Show a fault of the program itself."""
        self._band.show_message("fail", fault.sentence)

    @Slot()
    def refresh(self) -> None:
        """Ask panels for their status and actions for their conditions."""
        for identifier, entry in self._entries.items():
            self._navigation.set_status(identifier, entry.panel.status())
        self.actions_.refresh()

    # -- standard actions

    def _declare_actions(self) -> None:
        handlers: dict[str, Callable[[], None] | SignalInstance] = {
            **self.requests(),
            "file.quit": self.on_quit,
            "edit.history": self.on_history,
            "run.run": self.on_run,
            "run.cancel": self.on_cancel,
            "view.twin": self.on_toggle_table,
            "view.region": self.on_next_region,
            "help.explain": self.on_explain,
            "help.keys": self.on_keys,
            "help.palette": self.on_palette,
        }
        conditions = {
            "edit.undo": self.can_undo,
            "edit.redo": self.can_redo,
            "edit.history": self.has_history,
            "run.run": self.can_run,
            "run.cancel": self.can_cancel,
        }
        for spec in opening_specs():
            self.actions_.add(spec, handlers[spec.id])
        self.project_actions.declare(self.actions_)
        for spec in working_specs():
            self.actions_.add(spec, handlers[spec.id], conditions.get(spec.id))

    def on_history(self) -> None:
        """Ctrl+H."""
        self._trail.history.open()

    def has_history(self) -> bool:
        """Whether there is a state to go to."""
        return self._trail.history.isEnabled()

    def can_undo(self) -> bool:
        """Whether there is an edit to take back."""
        return self._undo_words[0] is not None

    def can_redo(self) -> bool:
        """Whether there is an edit to do again."""
        return self._undo_words[1] is not None

    def on_run(self) -> None:
        """Ctrl+Enter: the main action of the current panel."""
        self.current_panel.run()

    def can_run(self) -> bool:
        """Whether the current panel has something to run."""
        return self.current_panel.can_run()

    def on_cancel(self) -> None:
        """Esc: stop the newest job that people see."""
        seen = [state.job for state in self._hub.states if not state.quiet]
        if seen:
            self._hub.end(seen[-1])

    def can_cancel(self) -> bool:
        """Whether a job is running."""
        return any(not state.quiet for state in self._hub.states)

    def on_toggle_table(self) -> None:
        """Ctrl+T: picture or table, of the focused chart or of all in the panel."""
        toggle_tables(self.current_panel)

    def on_next_region(self) -> None:
        """F6: navigation, panel, explanation, message, activity and trail, in turn."""
        regions = (self._navigation, self.current_panel, self._help_area, self._band)
        focus_next_region((*regions, self._activity, self._trail))

    def on_explain(self) -> None:
        """F1: explain the current panel beside it, or close the explanation."""
        self._help_area.setVisible(self._help_area.isHidden())
        self._explain_if_open()

    def on_keys(self) -> None:
        """List all keys beside the panel."""
        self._help.explain(self.tr("Keys"), keys_text(self.actions_))
        self._help_area.show()

    def on_palette(self) -> None:
        """Ctrl+K."""
        self.actions_.refresh()
        self._palette.open()

    def on_quit(self) -> None:
        """Ctrl+Q."""
        self.close()

    @Slot(int)
    def go_to_number(self, number: int) -> None:
        """Ctrl+1 to Ctrl+6."""
        identifiers = tuple(self._entries)
        if number <= len(identifiers):
            self.show_panel(identifiers[number - 1])
            focus_region(self.current_panel)

    # -- building

    def _build(self, entries: Sequence[PanelEntry]) -> None:
        self._current = entries[0].id
        self._navigation = Navigation(self._theme, entries)
        self._stack = QStackedWidget()
        self._areas = {entry.id: PanelArea(entry.panel) for entry in entries}
        for area in self._areas.values():
            self._stack.addWidget(area)
        self._band = MessageBand(self._theme)
        self._activity = ActivityList(self._hub)
        self._activity.leave_to(self._stack.findChildren(JobFollower))
        self._trail = Trail(
            self._theme, self.actions_.action("edit.undo"), self.actions_.action("edit.redo")
        )
        FocusKeeper(self._stack, self._trail)
        self._help = HelpPane()
        self._help_area = HelpArea(self._help, self._theme)
        middle = QWidget()
        layout = column(middle, gap=0)
        layout.addWidget(self._stack, 1)
        band = QHBoxLayout()  # below: what is being clicked in the panel stays where it is
        band.setContentsMargins(SPACE.l, 0, SPACE.l, SPACE.s)
        band.addWidget(self._band)
        layout.addLayout(band)
        layout.addWidget(self._activity)
        layout.addWidget(self._trail)
        self._splitter = splitter("window", (self._navigation, middle, self._help_area), (0, 1, 0))
        self._splitter.setSizes([self._navigation.minimumWidth(), 1_000, 320])
        self.setCentralWidget(self._splitter)
        self._strip = StatusStrip()
        self.setStatusBar(self._strip)
        self._palette = CommandPalette(self.actions_, self)

    def _build_menus(self) -> None:
        bar = self.menuBar()
        bar.setAccessibleName(self.tr("Menus"))
        titles = {
            "file": self.tr("&File"),
            "edit": self.tr("&Edit"),
            "view": self.tr("&View"),
            "run": self.tr("&Run"),
            "help": self.tr("&Help"),
        }
        self._menu_widgets: dict[str, QMenu] = {}
        for name, title in titles.items():
            menu = bar.addMenu(title)
            menu.setToolTipsVisible(True)
            menu.aboutToShow.connect(self._on_menu)
            self._menu_widgets[name] = menu
        self._corner = DocumentCorner(self._theme, bar)

    @Slot()
    def _on_menu(self) -> None:
        self.actions_.refresh()
        for name, menu in self._menu_widgets.items():
            if menu is self.sender():
                menu.clear()
                self.actions_.fill(menu, name)
                self._menus.extend(menu, name)

    def _connect(self) -> None:
        self._navigation.chosen.connect(self._on_chosen)
        self._steps.asked.connect(self.go_to_number)
        self._menus.recentAsked.connect(self.openPathAsked)
        self._menus.choices.said.connect(self.show_message)
        self._activity.countChanged.connect(self._on_job_count)
        self._strip.jobsAsked.connect(self._activity.show_all)
        self._band.triggered.connect(self._on_band)
        self._help.closed.connect(self._help_area.hide)
        self._help.guideAsked.connect(self.guideAsked)
        self._trail.history.chosen.connect(self.momentAsked)
        self._trail.history.allAsked.connect(self.statesAsked)
        self._hub.idle.connect(self._on_idle)
        for entry in self._entries.values():
            entry.panel.statusChanged.connect(self.refresh)
            entry.panel.messageRaised.connect(self.show_message)
            for header in entry.panel.findChildren(StepHeader):
                header.explainAsked.connect(self.on_explain)
                self._help_area.opened.connect(header.show_explained)

    @Slot(str)
    def _on_chosen(self, identifier: str) -> None:
        if identifier != self._current:
            self.show_panel(identifier)

    @Slot(int)
    def _on_job_count(self, count: int) -> None:
        self._strip.set_jobs(count)
        self.actions_.refresh()

    def _explain_if_open(self) -> None:
        if not self._help_area.isHidden():
            entry = self._entries[self._current]
            text = entry.panel.explanation() or self.tr("There is nothing to add here.")
            self._help.explain(entry.title, text, entry.panel.guide_page())

    def _title(self) -> None:
        name = self._document or "DPDesk"
        mark = "● " if self._unsaved else ""
        self.setWindowTitle(f"{mark}{name} – DPDesk" if self._document else "DPDesk")

    # -- start and end

    def showEvent(self, event: QShowEvent) -> None:
        """Announce the first showing once it has been painted."""
        super().showEvent(event)
        if not self._was_shown:
            self._was_shown = True
            QTimer.singleShot(0, self._on_painted)

    @Slot()
    def _on_painted(self) -> None:
        self.shown.emit()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Unsaved work is asked about; then jobs are stopped and waited for."""
        if self._unsaved and not self._closing:
            event.ignore()
            self._asks_to_close = True
            self.show_message(
                "caution",
                self._would_lose or self.tr("The plan has changes that are not saved."),
                (
                    (_CLOSE_SAVE, self.tr("Save")),
                    (_CLOSE_DISCARD, self.tr("Close without saving")),
                ),
            )
            return
        if not self._closing:
            self._settings.change(geometry=geometry_text(self), layout=layout_text(self))
            self._closing = True
        if self._hub.busy:
            event.ignore()
            self._band.show_message(
                "info", self.tr("Stopping what is running, then closing…"), dismissible=False
            )
            self._activity.show_all()
            if not self._hub.closed:
                self._hub.close()
            return
        if not self._hub.closed:
            self._hub.close()
        event.accept()

    @Slot()
    def _on_idle(self) -> None:
        self.actions_.refresh()
        if self._closing and self.isVisible():
            self.close()

    @Slot(str)
    def _on_band(self, identifier: str) -> None:
        if identifier == _CLOSE_SAVE:
            self._band.clear()
            self.saveAsked.emit()
        elif identifier == _CLOSE_DISCARD:
            self._unsaved = False
            self.close()
        else:
            self._band.clear()
            self.messageTriggered.emit(identifier)
