"""A released cube in a window beside the main one: roll up, drill down, slice, dice, pivot.

It reads the public files of the release alone, and is given nothing else.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QCloseEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QLabel, QScrollArea, QWidget

from dpdesk.app.browsing import OpenCube, first_view
from dpdesk.app.types import AppContext
from dpdesk.core.browsing import BrowseState, Place, Step, Trail
from dpdesk.ui.browsing import tasks
from dpdesk.ui.browsing.page import BrowsePage
from dpdesk.ui.browsing.shelves import COLUMNS, ROWS
from dpdesk.ui.browsing.side import BrowseSide, SideScroll
from dpdesk.ui.browsing.trail import TrailLine
from dpdesk.ui.files import FileAsker
from dpdesk.ui.jobs import JobCancelled, JobDone, JobFailed, JobHub
from dpdesk.ui.panels.review.job_line import JobLine
from dpdesk.ui.people.parts import button, note
from dpdesk.ui.theme import SPACE, Theme, ThemeManager, set_look
from dpdesk.ui.widgets import MessageBand, column
from dpdesk.ui.widgets.flow import FlowBox
from dpdesk.ui.widgets.placing import FilePlace
from dpdesk.ui.widgets.turning import TurningSplitter

UNDO = "browse.undo"
_PLACES = {ROWS: Place.ROWS, COLUMNS: Place.COLUMNS}


class BrowseWindow(QWidget):
    """Shows one released cube at a time; :meth:`open` names its folder."""

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
        self._cube: OpenCube | None = None
        self._trail: Trail | None = None
        self._seen: tasks.Seen | None = None
        set_look(self, "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setWindowTitle(self.tr("Browse a released cube – DPDesk"))
        self.setAccessibleName(self.tr("Browse a released cube"))
        self._build(theme)
        self._place = FilePlace(asker, self.band, self)
        self._connect()
        theme.changed.connect(self._on_theme)
        self._on_theme(theme.theme)
        self._show_steps()

    def _build(self, theme: ThemeManager) -> None:
        outer = column(self, margin=SPACE.l, gap=SPACE.s)
        body = QWidget()
        layout = column(body, gap=SPACE.s)
        self.title = QLabel()
        self.title.setWordWrap(True)
        self.title.setTextFormat(Qt.TextFormat.PlainText)
        set_look(self.title, "headline")
        self.claim = note()
        self.band = MessageBand(theme)
        self.progress = JobLine(self._hub)
        for widget in (self.title, self.claim, self.band, self.progress):
            layout.addWidget(widget)
        self.side, self.page = BrowseSide(theme), BrowsePage(theme)
        parts = (SideScroll(self.side), self.page)
        splitter = TurningSplitter("browse", parts, (0, 1))
        splitter.turned.connect(parts[0].set_stacked)
        layout.addWidget(splitter, 1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidget(body)
        outer.addWidget(area, 1)
        outer.addWidget(self._build_bar())

    def _build_bar(self) -> QWidget:
        line = FlowBox(gap=SPACE.s)
        self.trail_line = TrailLine()
        self.undo = button(self.tr("&Undo"), self.tr("Take back the last step (Ctrl+Z)"))
        self.redo = button(self.tr("Re&do"), self.tr("Take the step again (Ctrl+Shift+Z)"))
        tip = self.tr("Write this view with its errors as CSV or Excel (Ctrl+E)")
        self.export = button(self.tr("&Export the view…"), tip, "primary")
        for widget in (self.trail_line, self.undo, self.redo, self.export):
            line.add(widget)
        return line

    def _connect(self) -> None:
        side, page = self.side, self.page
        side.putAsked.connect(self._on_put)
        side.levelAsked.connect(self._on_level)
        side.keptAsked.connect(self._on_kept)
        side.measureAsked.connect(self._on_measure)
        side.turnAsked.connect(self._on_turn)
        side.shareChanged.connect(page.mark)
        page.keepAsked.connect(self._on_keep_cell)
        self.trail_line.stepAsked.connect(self._on_step)
        self.undo.clicked.connect(self.go_back)
        self.redo.clicked.connect(self.go_forth)
        self.export.clicked.connect(self.ask_export)
        self.band.triggered.connect(self._on_answer)
        self._place.chosen.connect(self._on_place)

    # -- what is shown

    @property
    def cube(self) -> OpenCube | None:
        """The cube that is open."""
        return self._cube

    @property
    def state(self) -> BrowseState | None:
        """The present view; None while no cube is open."""
        return None if self._trail is None else self._trail.state

    @property
    def seen(self) -> tasks.Seen | None:
        """The numbers on show; None while those of the present view are on their way."""
        present = self._seen is not None and self._seen.state == self.state
        return self._seen if present else None

    def open(self, folder: Path) -> None:
        """Open a release folder, or its public part, and show the window."""
        self._cube, self._trail, self._seen = None, None, None
        self.page.show_pivot(None, self.side.marked_share)
        self.side.setEnabled(False)
        self.title.setText(folder.name)
        self.claim.setText("")
        self.band.clear()
        self._show_steps()
        self.show()
        self.raise_()
        self.activateWindow()
        title = self.tr("Checking the files of {name}").format(name=folder.name)
        job = self._hub.latest(tasks.OPEN).query(
            title,
            tasks.OpenFolder(self._context, folder),
            done=self._on_open,
            failed=self._on_not_open,
            cancelled=self._on_not_wanted,
            quiet=True,
        )
        self.progress.follow(job, title)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape closes; undo, redo, Ctrl+T table or bars, Ctrl+E export."""
        control = event.modifiers() == Qt.KeyboardModifier.ControlModifier
        redo = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        elif event.key() == Qt.Key.Key_Z and event.modifiers() == redo:
            self.go_forth()
        elif event.matches(QKeySequence.StandardKey.Undo):
            self.go_back()
        elif control and event.key() == Qt.Key.Key_T:
            self.page.toggle()
        elif control and event.key() == Qt.Key.Key_E:
            self.ask_export()
        elif event.key() == Qt.Key.Key_X and not event.modifiers():
            self._on_turn()
        else:
            super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Stop what nobody waits for any more."""
        for channel in (tasks.OPEN, tasks.LOOK):
            self._hub.latest(channel).cancel()
        super().closeEvent(event)

    # -- steps

    def step(self, words: str, state: BrowseState) -> None:
        """Take a step, and read its numbers."""
        if self._trail is None or state == self._trail.state:
            return
        self._trail = self._trail.go(words, state)
        self._look()

    @Slot()
    def go_back(self) -> None:
        """Take back the last step."""
        if self._trail is not None and self._trail.at > 0:
            self._trail = self._trail.back()
            self._look()

    @Slot()
    def go_forth(self) -> None:
        """Take the step again that was taken back."""
        if self._trail is not None and self._trail.at < len(self._trail.steps) - 1:
            self._trail = self._trail.forth()
            self._look()

    @Slot(int)
    def _on_step(self, number: int) -> None:
        if self._trail is not None:
            self._trail = self._trail.back(number)
            self._look()

    @Slot(str, str, int)
    def _on_put(self, name: str, shelf: str, number: int) -> None:
        if self.state is None:
            return
        place = _PLACES.get(shelf, Place.NOWHERE)
        words = {
            Place.ROWS: self.tr("{name} on rows"),
            Place.COLUMNS: self.tr("{name} on columns"),
            Place.NOWHERE: self.tr("{name} summed up"),
        }[place]
        at = None if number < 0 else number
        self.step(words.format(name=name), self.state.put(name, place, at))

    @Slot(str, int)
    def _on_level(self, name: str, level: int) -> None:
        if self.state is None:
            return
        up = level > self.state.level_of(name)
        words = self.tr("roll up {name}") if up else self.tr("drill down {name}")
        self.step(words.format(name=name), self.state.at_level(name, level))

    @Slot(str, object)
    def _on_kept(self, name: str, kept: tuple[str, ...] | None) -> None:
        if self.state is None:
            return
        if kept is None:
            words = self.tr("all {name}").format(name=name)
        elif len(kept) == 1:
            words = f"{name} = {kept[0]}"
        else:
            words = self.tr("{count} of {name}").format(count=len(kept), name=name)
        self.step(words, self.state.keep(name, kept))

    @Slot(str)
    def _on_measure(self, name: str) -> None:
        if self.state is not None and self._cube is not None:
            usual = self._cube.askable.measures[0]
            self.step(name, replace(self.state, measure="" if name == usual else name))

    @Slot()
    def _on_turn(self) -> None:
        if self.state is not None:
            self.step(self.tr("exchange"), self.state.turned())

    @Slot(int, int)
    def _on_keep_cell(self, row: int, column_: int) -> None:
        seen, cube, state = self.seen, self._cube, self.state
        if seen is None or cube is None or state is None:
            return
        pivot = seen.pivot
        axes = (*pivot.row_axes, *pivot.column_axes)
        labels = (*pivot.row_labels[row], *pivot.column_labels[column_])
        found, words = state, []
        for name, label in zip(axes, labels, strict=True):
            if label is not None:
                inside = cube.members(name, state.level_of(name), label)
                before = state.kept_of(name)
                kept = tuple(each for each in inside if before is None or each in before)
                found = found.keep(name, kept)
                words.append(f"{name} = {label}")
        self.step(", ".join(words), found)

    def _look(self) -> None:
        if self._cube is None or self._trail is None:
            return
        self.band.clear()
        self._show_steps()
        self.side.show_state(self._trail.state)
        self._order_tabs()
        title = self.tr("Reading the numbers")
        job = self._hub.latest(tasks.LOOK).query(
            title,
            tasks.Look(self._cube, self._trail.state),
            done=self._on_seen,
            failed=self._on_unseen,
            quiet=True,
        )
        self.progress.follow(job, title)

    def _show_steps(self) -> None:
        trail = self._trail
        self.trail_line.show_trail(trail)
        self.undo.setEnabled(trail is not None and trail.at > 0)
        self.redo.setEnabled(trail is not None and trail.at < len(trail.steps) - 1)
        self.export.setEnabled(self.seen is not None)

    def _order_tabs(self) -> None:
        """Tab goes from the chips to the fields, the table, and the bar: as they stand."""
        ends = [*self.trail_line.buttons, self.undo, self.redo, self.export]
        for one, other in pairwise([*self.side.tab_stops(), *self.page.tab_stops(), *ends]):
            QWidget.setTabOrder(one, other)

    # -- export

    @Slot()
    def ask_export(self) -> None:
        """Ask for a file, and write the view to it."""
        if self.seen is None or self._cube is None:
            return
        filters = self.tr("Table (*.csv);;Excel (*.xlsx)")
        name = f"{self._cube.folder.name}-view.csv"
        self._place.ask("", self.tr("Export the view"), name, filters)

    @Slot(str, object, bool)
    def _on_place(self, purpose: str, path: Path, replace_it: bool) -> None:
        if self._cube is None or self.state is None:
            return
        self._hub.mutate(
            self.tr("Exporting the view"),
            tasks.Export(self._context, self._cube, self.state, path),
            done=self._on_written,
            failed=self._on_failed,
        )

    # -- what comes back

    def _on_open(self, outcome: JobDone) -> None:
        cube = outcome.value
        if not isinstance(cube, OpenCube):
            return
        self._cube = cube
        self.title.setText(cube.title or cube.folder.name)
        self.claim.setText(cube.claim)
        self.setWindowTitle(self.tr("{name} – DPDesk").format(name=cube.title or cube.folder.name))
        self.side.setEnabled(True)
        self.side.show_cube(cube.askable)
        self._trail = Trail((Step(self.tr("load"), first_view(cube)),))
        self._look()

    def _on_seen(self, outcome: JobDone) -> None:
        if isinstance(outcome.value, tasks.Seen):
            first = self._seen is None and self._trail is not None and len(self._trail.steps) == 1
            self._seen = outcome.value
            self.page.show_pivot(outcome.value.pivot, self.side.marked_share)
            self._show_steps()
            if first:
                self.page.grid.setFocus()

    def _on_not_open(self, outcome: JobFailed) -> None:
        self.band.show_error(outcome)

    def _on_not_wanted(self, outcome: JobCancelled) -> None:
        self.band.show_message("info", self.tr("It was stopped; open the release again."))

    def _on_unseen(self, outcome: JobFailed) -> None:
        self._seen = None
        self.page.show_pivot(None, self.side.marked_share)
        self._show_steps()
        actions = ((UNDO, self.tr("Undo this step")),) if self.undo.isEnabled() else ()
        self.band.show_error(outcome, actions)

    @Slot(str)
    def _on_answer(self, answer: str) -> None:
        if answer == UNDO:
            self.go_back()

    def _on_written(self, outcome: JobDone) -> None:
        self.band.show_message("ok", self.tr("Written: {path}").format(path=outcome.value))

    def _on_failed(self, outcome: JobFailed) -> None:
        self.band.show_error(outcome)

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        self.setMinimumSize(theme.ems(40), theme.row * 14)
        screen = self.screen().availableSize()
        wide, high = theme.ems(150), theme.row * 30
        self.resize(min(wide, screen.width() - 40), min(high, screen.height() - 80))
