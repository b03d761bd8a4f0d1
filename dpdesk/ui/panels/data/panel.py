"""The data panel: start screen, progress, the loaded table, and how the file is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QPushButton, QWidget

from dpdesk.app.types import DataProfile, SetSource
from dpdesk.core.messages import listed, msg
from dpdesk.core.plan import SourceSpec
from dpdesk.ui.jobs import JobFailed, JobState
from dpdesk.ui.panels.data.presenter import (
    Page,
    Situation,
    Spreads,
    about_reading,
    choose_page,
    count_spreads,
    error_line,
)
from dpdesk.ui.panels.data.reading import ReadingPage
from dpdesk.ui.panels.data.table import TablePage
from dpdesk.ui.shell import Mark, Panel, PanelStatus
from dpdesk.ui.theme import SPACE, Theme, ThemeManager, pixmap, set_look
from dpdesk.ui.widgets import MessageBand, StepHeader, column
from dpdesk.ui.widgets.activity import ShareBar, state_text
from dpdesk.ui.widgets.layouts import FlowBox, PageStack, bring_in_sight
from dpdesk.ui.widgets.turning import TurningSplitter
from dpdesk.ui.words.numbers import columns_words, grouped, rows_words, shortened, verbatim
from dpdesk.ui.workbench import Aspect, Changes, OpenProblem, Workbench


class LoadingPage(QFrame):
    """Progress of one job; ``cancelAsked()``."""

    cancelAsked = Signal()

    def __init__(self) -> None:
        super().__init__()
        set_look(self, "card")
        layout = column(self, margin=SPACE.xl, gap=SPACE.m)
        self._title, self._text, self._bar = QLabel(), QLabel(), ShareBar(420)
        set_look(self._title, "section")
        set_look(self._text, "note")
        self.cancel_button = QPushButton(self.tr("&Cancel"))
        self.cancel_button.setToolTip(self.tr("Stop reading; nothing is changed (Esc)"))
        self.cancel_button.clicked.connect(self._on_cancel)
        layout.addStretch(1)
        for widget in (self._title, self._bar, self._text, self.cancel_button):
            layout.addWidget(widget, 0, Qt.AlignmentFlag.AlignCenter)
        layout.addStretch(2)

    def begin(self) -> None:
        """A new job, of which nothing is known yet."""
        self._title.setText(self.tr("Reading the file…"))
        self._text.setText(" ")
        self._bar.show_state(None)
        self.cancel_button.setEnabled(True)

    def set_state(self, state: JobState) -> None:
        """Show how far the job is."""
        self._title.setText(f"{state.title}…")
        text = self.tr("stopping…") if state.cancelling else state_text(state)
        self._text.setText(text or " ")
        self.cancel_button.setEnabled(not state.cancelling)
        self._bar.show_state(state)
        self._bar.setAccessibleName(msg("{file}: {note}", file=state.title, note=text))

    def _on_cancel(self) -> None:
        self.cancel_button.setEnabled(False)
        self._text.setText(self.tr("stopping…"))
        self.cancelAsked.emit()


RECENT_AT_MOST = 6
HALF_EMS = 30


class DropZone(QFrame):
    """Takes a file that is dropped on it, and offers the ways to open one.

    ``openAsked()``, ``databaseAsked()``, ``projectAsked()``, ``sampleAsked()``,
    ``pathDropped(str)``.
    """

    openAsked = Signal()
    databaseAsked = Signal()
    projectAsked = Signal()
    sampleAsked = Signal()
    pathDropped = Signal(str)

    def __init__(self, theme: ThemeManager) -> None:
        super().__init__()
        set_look(self, "drop")
        self.setAcceptDrops(True)
        self.setAccessibleName(self.tr("Drop a file here"))
        layout = column(self, margin=SPACE.xl, gap=SPACE.m)
        self._icon = QLabel()
        title = QLabel(self.tr("Drop a table of people here"))
        set_look(title, "section")
        self._formats = QLabel(
            self.tr(
                "Text tables, Parquet, Excel, SPSS, Stata, SAS, SQLite, DuckDB, fixed width with "
                "ARGUS metadata, a plan (.toml, .json), a project (.dpdesk) or a release folder."
            )
        )
        set_look(self._formats, "note")
        layout.addStretch(1)
        for label in (self._icon, title, self._formats):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            label.setWordWrap(label is not self._icon)
            layout.addWidget(label)
        layout.addWidget(self._buttons())
        layout.addStretch(1)
        theme.changed.connect(self._on_theme)
        self._on_theme(theme.theme)

    def _buttons(self) -> FlowBox:
        self.open_button = QPushButton(self.tr("&Open a file…"))
        set_look(self.open_button, "primary")
        self.open_button.setToolTip(self.tr("Choose a table, a plan or a project (Ctrl+O)"))
        self.open_button.clicked.connect(self.openAsked)
        self.database_button = QPushButton(self.tr("Open a data&base…"))
        self.database_button.setToolTip(
            self.tr("Open a table of PostgreSQL or Spark (Ctrl+Shift+D)")
        )
        self.database_button.clicked.connect(self.databaseAsked)
        self.project_button = QPushButton(self.tr("Open a pro&ject…"))
        self.project_button.setToolTip(
            self.tr("Continue with a project, which keeps your work and its history (Ctrl+Shift+O)")
        )
        self.project_button.clicked.connect(self.projectAsked)
        self.sample_button = QPushButton(self.tr("Open the &sample"))
        self.sample_button.setToolTip(
            self.tr("Open 20,502 invented people that come with DPDesk, to try every step")
        )
        self.sample_button.clicked.connect(self.sampleAsked)
        buttons = FlowBox(centred=True)
        buttons.add(self.open_button)
        buttons.add(self.database_button)
        buttons.add(self.project_button)
        buttons.add(self.sample_button)
        return buttons

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Local files are welcome."""
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            set_look(self, "chosen")
            event.acceptProposedAction()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """The file went away again."""
        set_look(self, "drop")

    def dropEvent(self, event: QDropEvent) -> None:
        """Open the first file."""
        set_look(self, "drop")
        paths = [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
        if paths:
            event.acceptProposedAction()
            self.pathDropped.emit(paths[0])

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        self._icon.setPixmap(pixmap("drop", theme.tokens.muted, theme.icon * 2))


class RecentFiles(QFrame):
    """Files that were open before, newest first; ``chosen(str)`` when one is wanted again."""

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        set_look(self, "card")
        self._layout = column(self, margin=SPACE.l, gap=SPACE.xs)
        title = QLabel(self.tr("Open again"))
        set_look(title, "section")
        self._layout.addWidget(title)
        self._buttons: list[QPushButton] = []
        self.hide()

    def set_paths(self, paths: Sequence[str]) -> None:
        """Offer these files."""
        for old in self._buttons:
            self._layout.removeWidget(old)
            old.hide()
            old.deleteLater()
        self._buttons = [self._made(path) for path in paths[:RECENT_AT_MOST]]
        for button in self._buttons:
            self._layout.addWidget(button)
        self.setVisible(bool(self._buttons))

    def _made(self, path: str) -> QPushButton:
        place = Path(path)
        button = QPushButton(verbatim(place.name))
        button.setProperty("path", path)
        button.setToolTip(self.tr("Open {path}").format(path=path))
        button.setAccessibleName(self.tr("Open {name} again").format(name=place.name))
        button.setStyleSheet("text-align: left;")
        set_look(button, "quiet")
        button.clicked.connect(self._on_clicked)
        return button

    @Slot()
    def _on_clicked(self) -> None:
        sender = self.sender()
        if sender is not None:
            self.chosen.emit(str(sender.property("path")))


class StartPage(QWidget):
    """What a person sees who has never seen the program."""

    openAsked = Signal()
    databaseAsked = Signal()
    projectAsked = Signal()
    openPathAsked = Signal(str)
    sampleAsked = Signal()

    def __init__(self, theme: ThemeManager) -> None:
        super().__init__()
        layout = column(self, margin=0, gap=SPACE.l)
        layout.addWidget(StepHeader(1, self.tr("Which table do you want to protect?"), ""))
        line = QLabel(
            self.tr(
                "DPDesk turns a table of people into one that you may publish, shows what risk is "
                "left and what was lost, and proves what it claims. Nothing leaves this computer."
            )
        )
        line.setWordWrap(True)
        set_look(line, "answer")
        layout.addWidget(line)
        left = QWidget()
        files = column(left, gap=SPACE.l)
        self.zone = DropZone(theme)
        self.recent = RecentFiles()
        files.addWidget(self.zone, 1)
        files.addWidget(self.recent)
        self._halves = (left, self._steps())
        parts = TurningSplitter("start", self._halves, (1, 1))
        set_look(parts, "plain")
        parts.setSizes([1_000, 1_000])
        layout.addWidget(parts, 1)
        theme.changed.connect(self._on_theme)
        self._on_theme(theme.theme)
        self.zone.openAsked.connect(self.openAsked)
        self.zone.databaseAsked.connect(self.databaseAsked)
        self.zone.projectAsked.connect(self.projectAsked)
        self.zone.sampleAsked.connect(self.sampleAsked)
        self.zone.pathDropped.connect(self.openPathAsked)
        self.recent.chosen.connect(self.openPathAsked)

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        for half in self._halves:
            half.setMinimumWidth(theme.ems(HALF_EMS))

    def _steps(self) -> QFrame:
        title = QLabel(self.tr("The way to a release, in six steps"))
        title.setWordWrap(True)
        set_look(title, "section")
        holder = QWidget()
        grid = QGridLayout(holder)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(SPACE.m)
        grid.setVerticalSpacing(SPACE.s)
        grid.setColumnStretch(1, 1)
        for number, (name, words) in enumerate(self._step_words(), start=1):
            digit = QLabel(f"{number}")
            set_look(digit, "figure")
            digit.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignRight)
            head, text = QLabel(name), QLabel(words)
            set_look(head, "strong")
            text.setWordWrap(True)
            text.setAccessibleName(f"{number} {name}: {words}")
            lines = column(step := QWidget(), gap=SPACE.xs)
            lines.addWidget(head)
            lines.addWidget(text)
            grid.addWidget(digit, number, 0)
            grid.addWidget(step, number, 1)
        made = QFrame()
        set_look(made, "card")
        layout = column(made, margin=SPACE.l, gap=SPACE.m)
        layout.addWidget(title)
        layout.addWidget(holder)
        layout.addStretch(1)
        return made

    def _step_words(self) -> tuple[tuple[str, str], ...]:
        return (
            (self.tr("Data"), self.tr("Open the table and check that it was read correctly.")),
            (
                self.tr("Attributes"),
                self.tr("Say what each column is: who it points to, and what is private."),
            ),
            (
                self.tr("Hierarchies"),
                self.tr("Say how values may become coarser, such as 37 → 35–39 → 30–39."),
            ),
            (
                self.tr("Protect"),
                self.tr("Choose how well people hide in groups; see risk and loss at once."),
            ),
            (self.tr("Compare"), self.tr("Keep several settings and compare them side by side.")),
            (
                self.tr("Review and export"),
                self.tr("Write the release, have its claims checked again, and export it."),
            ),
        )


SPREADS = "data.spreads"
PATIENCE_MS = 200
_CHANGE, _OPEN, _CONNECT = "data.change-reading", "data.open", "data.connect"
_FOLLOWED = {Aspect.DATA, Aspect.PROFILE, Aspect.SOURCE}


class DataPanel(Panel):
    """Step 1.

    ``openAsked()`` and ``projectAsked()`` ask for a file chooser, ``databaseAsked()`` for a table
    of a server, ``openPathAsked(str)`` names a path.
    """

    openAsked = Signal()
    databaseAsked = Signal()
    projectAsked = Signal()
    openPathAsked = Signal(str)
    sampleAsked = Signal()

    def __init__(self, workbench: Workbench, theme: ThemeManager) -> None:
        super().__init__()
        self._workbench = workbench
        self._wants_reading = False
        self._shown_problem: OpenProblem | None = None
        self._noted_problem: OpenProblem | None = None
        self._asked_for: DataProfile | None = None
        self._page = Page.START
        hub = workbench.hub
        layout = column(self, margin=SPACE.l, gap=SPACE.m)
        self.band = MessageBand(theme)
        self.start = StartPage(theme)
        self.loading = LoadingPage()
        self.table = TablePage(hub, theme)
        self.reading = ReadingPage(hub, theme)
        self._stack = PageStack()
        self._pages: dict[Page, QWidget] = {
            Page.START: self.start,
            Page.LOADING: self.loading,
            Page.TABLE: self.table,
            Page.READING: self.reading,
        }
        for page in self._pages.values():
            self._stack.addWidget(page)
        layout.addWidget(self._stack, 1)
        layout.addWidget(self.band)  # below: what is being clicked stays where it is
        self._rows_soon = QTimer(self)
        self._rows_soon.setSingleShot(True)
        self._rows_soon.timeout.connect(self._on_rows_soon)
        self._patience = QTimer(self)
        self._patience.setSingleShot(True)
        self._patience.setInterval(PATIENCE_MS)
        self._patience.timeout.connect(self._on_patience)
        self._connect()
        self._refresh()

    def _connect(self) -> None:
        self.start.openAsked.connect(self.openAsked)
        self.start.databaseAsked.connect(self.databaseAsked)
        self.start.projectAsked.connect(self.projectAsked)
        self.start.openPathAsked.connect(self.openPathAsked)
        self.start.sampleAsked.connect(self.sampleAsked)
        self.loading.cancelAsked.connect(self._workbench.cancel_load)
        self.table.readingAsked.connect(self._on_reading_asked)
        self.table.rowsAsked.connect(self._on_rows_asked)
        self.table.codesAsked.connect(self._on_codes)
        self.table.nextAsked.connect(self._on_next)
        self.reading.applied.connect(self._on_applied)
        self.reading.left.connect(self._on_left)
        self.band.triggered.connect(self._on_band)
        self.band.dismissed.connect(self._workbench.dismiss_open_problem)
        self.follow(self._workbench.changed)
        self._workbench.hub.progressed.connect(self._on_progressed)

    # ---- what the window asks

    @property
    def page(self) -> Page:
        """What the panel shows."""
        return self._page

    def set_recent(self, paths: Sequence[str]) -> None:
        """Offer files that were open before, newest first."""
        self.start.recent.set_paths(paths)

    def status(self) -> PanelStatus:
        """Done when data are there."""
        bench = self._workbench
        if bench.loading:
            return PanelStatus(Mark.OPEN, self.tr("reading…"))
        if bench.open_problem is not None and bench.data is None:
            return PanelStatus(Mark.ATTENTION, self.tr("could not be read"))
        if bench.data is None:
            return PanelStatus(Mark.OPEN, self.tr("open a table"))
        counts = f"{rows_words(bench.data.rows)}, {columns_words(len(bench.data.columns))}"
        return PanelStatus(Mark.DONE, counts)

    def point_at(self, column: str) -> None:
        """Choose a column of the table."""
        names = list(self.table.model.columns)
        if self._page is Page.TABLE and column in names:
            self.table.grid.setCurrentIndex(self.table.model.index(0, names.index(column)))

    def first_focus(self) -> QWidget:
        """The table, or what stands in its place."""
        return self._first_field(self._page)

    def can_run(self) -> bool:
        """Whether there is a table to go on with, or a way of reading to apply."""
        if self._page is Page.READING:
            return self.reading.apply_button.isEnabled()
        return self._page is Page.TABLE

    def run(self) -> None:
        """Go on, or read the file as the form says."""
        if self._page is Page.READING:
            self.reading.apply_button.click()
        elif self._page is Page.TABLE:
            self._on_next()

    def guide_page(self) -> str:
        """The page of the guide that says more."""
        return "reading"

    def explanation(self) -> str:
        """What F1 tells."""
        return self.tr(
            "Open a table with one row per person. DPDesk detects how the file is written "
            "and says so; if characters, numbers or columns look wrong, change how it is "
            "read.\n\n"
            "Above each column are its type, the share of missing values and the "
            "distribution of its values. Choose a column to see more, and the role that it "
            "may have.\n\n"
            "Values are kept exactly as they are in the file. Nothing leaves this computer."
        )

    # ---- reactions

    def noted(self, changes: Changes) -> None:
        """Come to the front with a problem; forget the form when another work was opened."""
        if changes >= set(Aspect):
            self._wants_reading = False
        problem = self._workbench.open_problem
        if problem is not self._noted_problem:
            self._noted_problem = problem
            if problem is not None:
                self.wantsPanel.emit("data")

    def catch_up(self, changes: Changes) -> None:
        """Show the data, or what came instead of them."""
        if changes & _FOLLOWED:
            self._refresh()

    def _refresh(self) -> None:
        bench = self._workbench
        problem = bench.open_problem
        now = Situation(
            bench.data is not None,
            bench.loading,
            None if problem is None else problem.failure,
            self._wants_reading,
        )
        page = choose_page(now)
        if page is Page.LOADING and self._page is not Page.LOADING:
            if not self._patience.isActive():
                self.loading.begin()
                self._patience.start()
        else:
            self._patience.stop()
            self._show(page)
        self._show_band(problem)
        if problem is not self._shown_problem:
            self._shown_problem = problem
        if bench.data is not None or not bench.loading:
            source = bench.work.source
            self.table.show_data(bench.data, None if source is None else source.query)
        self.table.show_profile(bench.profile)
        self._count_spreads()
        self.statusChanged.emit()

    def _show(self, page: Page) -> None:
        problem = self._workbench.open_problem
        if page is Page.READING and problem is not None and problem is not self._shown_problem:
            source = problem.work.source
            if source is not None:
                self.reading.begin(source, problem.work.base, problem.failure)
        moved = page is not self._page
        self._page = page
        self._stack.setCurrentWidget(self._pages[page])
        if moved and self.isVisible():
            self._first_field(page).setFocus(Qt.FocusReason.OtherFocusReason)

    def _first_field(self, page: Page) -> QWidget:
        fields: dict[Page, QWidget] = {
            Page.START: self.start.zone.open_button,
            Page.LOADING: self.loading.cancel_button,
            Page.TABLE: self.table.grid,
            Page.READING: self.reading.form.delimiter,
        }
        return fields[page]

    def _show_band(self, problem: OpenProblem | None) -> None:
        if problem is None or self._page is Page.READING:
            self.band.clear()
        elif problem is not self._shown_problem:
            line = error_line(problem.failure)
            actions = ((_OPEN, self.tr("Open another file…")),)
            source = problem.work.source
            if source is not None and source.is_url:
                actions = ((_CONNECT, self.tr("Connect again…")),)
            elif line is not None and about_reading(problem.failure):
                actions = ((_CHANGE, self.tr("Show line {n}").format(n=grouped(line))),)
            elif about_reading(problem.failure):
                actions = ((_CHANGE, self.tr("Change how it is read")),)
            self.band.show_error(problem.failure, actions)

    def _count_spreads(self) -> None:
        data, profile = self._workbench.data, self._workbench.profile
        if data is None or profile is None or profile is self._asked_for:
            return
        self._asked_for = profile
        self._workbench.hub.latest(SPREADS).query(
            self.tr("Counting the distribution of values"),
            partial(count_spreads, data, profile),
            then=self._on_spreads,
            failed=self._on_failed,
            quiet=True,
        )

    def _on_spreads(self, found: Spreads) -> None:
        self.table.show_spreads(found)

    def _on_failed(self, outcome: JobFailed) -> None:
        self.table.notes.show_error(outcome)

    @Slot()
    def _on_patience(self) -> None:
        if self._workbench.loading:
            self._show(Page.LOADING)
            self.statusChanged.emit()

    @Slot(object)
    def _on_progressed(self, state: JobState) -> None:
        if state.job == self._workbench.load_job:
            self.loading.set_state(state)

    @Slot()
    def _on_reading_asked(self) -> None:
        work = self._workbench.work
        if work.source is None:
            return
        self._wants_reading = True
        self.reading.begin(work.source, work.base, None)
        self._refresh()

    @Slot()
    def _on_rows_asked(self) -> None:
        self._on_reading_asked()
        self._rows_soon.start()  # once the page has its place, so that it can be scrolled

    @Slot()
    def _on_rows_soon(self) -> None:
        rows = self.reading.form.rows
        if rows.isVisible():
            rows.unfold()
            bring_in_sight(rows)

    @Slot()
    def _on_left(self) -> None:
        problem = self._workbench.open_problem
        self._wants_reading = False
        if problem is not None and problem.work.source == self._workbench.work.source:
            self._workbench.undo()
        elif problem is not None:
            self._workbench.dismiss_open_problem()
        self._refresh()

    @Slot(object, object)
    def _on_applied(self, source: SourceSpec, columns: tuple[str, ...]) -> None:
        bench, problem = self._workbench, self._workbench.open_problem
        self._wants_reading = False
        if problem is not None and problem.work.source != bench.work.source:
            bench.open_work(
                replace(problem.work, source=source), problem.path, is_plan=problem.is_plan
            )
        elif source == bench.work.source:
            self._refresh()
        else:
            bench.apply(SetSource(source, columns=columns))

    @Slot(tuple)
    def _on_codes(self, codes: tuple[str, ...]) -> None:
        """Read the data again; undo takes it back."""
        source = self._workbench.work.source
        if source is not None:
            what = msg("Missing codes: {codes}", codes=listed([shortened(one) for one in codes]))
            found = replace(source, missing=(*source.missing, *codes))
            self._workbench.apply(SetSource(found, what=what))

    @Slot(str)
    def _on_band(self, action: str) -> None:
        problem = self._workbench.open_problem
        if action == _OPEN:
            self.openAsked.emit()
        elif action == _CONNECT:
            self.databaseAsked.emit()
        elif problem is not None and problem.work.source is not None:
            self._wants_reading = True
            self.reading.begin(problem.work.source, problem.work.base, problem.failure)
            self._refresh()

    @Slot()
    def _on_next(self) -> None:
        self.wantsPanel.emit("attributes")
