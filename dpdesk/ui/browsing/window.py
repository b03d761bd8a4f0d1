"""A released cube in a window beside the main one: roll up, drill down, slice, dice, pivot.

The numbers come from the public files of releases alone. Whoever has the data and the ledger of a
cube can buy more of its tables here (:mod:`.purchasing`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType

from PySide6.QtCore import QCoreApplication, Qt, Signal, Slot
from PySide6.QtWidgets import QToolButton, QWidget

from dpdesk.app.browsing import OpenCube, export_view, first_view
from dpdesk.app.shops import AtHand
from dpdesk.app.types import AppContext
from dpdesk.core.pivot import BrowseState, Labels, Place, Step, Trail
from dpdesk.core.query import ALL
from dpdesk.ui.browsing import tasks
from dpdesk.ui.browsing.page import BrowsePage
from dpdesk.ui.browsing.purchasing import Purchase
from dpdesk.ui.browsing.side import COLUMNS, ROWS, BrowseSide, SideScroll
from dpdesk.ui.browsing.words import filter_words, measure_words, percent_words, pieces_words
from dpdesk.ui.files import FileAsker, FilePlace, file_stem
from dpdesk.ui.jobs import JobFailed, JobHub
from dpdesk.ui.theme import SPACE, ThemeManager, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.layouts import FlowBox
from dpdesk.ui.widgets.states import button, note
from dpdesk.ui.widgets.turning import TurningSplitter
from dpdesk.ui.windows.base import ReadingWindow
from dpdesk.ui.words.numbers import LONGEST_NAME, short_name, verbatim
from dpdesk.ui.words.spoken import in_window, said

SHOWN = 7


class TrailLine(FlowBox):
    """``stepAsked(int)``: go to the step with this number."""

    stepAsked = Signal(int)

    def __init__(self) -> None:
        super().__init__(gap=SPACE.xs)
        self.setAccessibleName(self.tr("Steps"))
        self.buttons: list[QToolButton] = []
        self._shown: list[tuple[int, str]] = []

    def show_trail(self, trail: Trail | None) -> None:
        """Show the last steps, the present one down; those that were undone lead forth again."""
        steps, at = ((), 0) if trail is None else (trail.steps, trail.at)
        first = max(0, min(len(steps) - SHOWN, at - SHOWN + 2))
        shown = [(number, steps[number].words) for number in range(first, len(steps))][:SHOWN]
        if shown != self._shown:
            self._shown = shown
            self._fill()
        for (number, _), tool in zip(shown, self.buttons, strict=True):
            tool.setChecked(number == at)

    def _fill(self) -> None:
        for tool in self.buttons:
            self.remove(tool)
            tool.hide()
            tool.deleteLater()
        self.buttons = []
        for number, words in self._shown:
            self._put(number, words)

    def _put(self, number: int, words: str) -> None:
        words, button = short_name(words, 2 * LONGEST_NAME), QToolButton()
        button.setText(verbatim(words if number == 0 else f"› {words}"))
        button.setCheckable(True)
        button.setProperty("step", number)
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        button.setAccessibleName(
            self.tr("{words}, step {number}").format(number=number, words=words)
        )
        button.setToolTip(self.tr("Go to this step; nothing is lost"))
        set_look(button, "choice")
        button.clicked.connect(self._on_clicked)
        self.buttons.append(button)
        self.add(button)

    @Slot()
    def _on_clicked(self) -> None:
        sender = self.sender()
        if sender is not None:
            self.stepAsked.emit(int(sender.property("step")))


UNDO = "browse.undo"
_PLACES = {ROWS: Place.ROWS, COLUMNS: Place.COLUMNS}


class BrowseWindow(ReadingWindow):
    """Shows one cube at a time: :meth:`open` names the folder of a release, :meth:`open_plan` shows
    that of the work at hand. ``at_hand()`` is the open work with its data, None without.

    ``spent()`` when a table was bought, or was tried to be: the ledger may say other things.
    """

    spent = Signal()
    channels = (tasks.OPEN, tasks.LOOK, tasks.OFFER)
    shortcuts = MappingProxyType(
        {
            "Ctrl+E": "ask_export",
            "Ctrl+G": "ask_offer",
            "Ctrl+O": "ask_piece",
            "Ctrl+T": "page.toggle",
            "Ctrl+Z": "go_back",
            "Ctrl+Shift+Z": "go_forth",
            "X": "_on_turn",
        }
    )

    def __init__(
        self,
        context: AppContext,
        hub: JobHub,
        theme: ThemeManager,
        asker: FileAsker,
        at_hand: Callable[[], AtHand | None],
        parent: QWidget | None = None,
    ) -> None:
        name = QCoreApplication.translate("BrowseWindow", "Browse a released cube")
        super().__init__(hub, theme, name, parent)
        self._context, self._asker, self._at_hand = context, asker, at_hand
        self._cube: OpenCube | None = None
        self._trail: Trail | None = None
        self._seen: tasks.Seen | None = None
        self._planned = False
        self.purchase = Purchase(context, hub, theme, asker, at_hand, self)
        self._build(theme)
        self._place = FilePlace(asker, self.band, self)
        self._connect()
        self.follow_theme(theme)
        self._show_steps()

    def _build(self, theme: ThemeManager) -> None:
        """From the outside in: what gets its place late moves with all that it holds by then."""
        body, right = QWidget(), QWidget()
        layout, stack = column(body, gap=SPACE.s), column(right, gap=SPACE.s)
        self.frame(body, below=(self._build_bar(),), gap=SPACE.s)
        layout.addWidget(self.title)
        self.claim, self.pieces = note(), note()
        for widget in (self.claim, self.pieces, self.band, self.progress):
            layout.addWidget(widget)
        self.side, self.page = BrowseSide(theme), BrowsePage(theme)
        parts = (SideScroll(self.side), right)
        splitter = TurningSplitter("browse", parts, (0, 1))
        splitter.turned.connect(parts[0].set_stacked)
        layout.addWidget(splitter, 1)
        stack.addWidget(self.purchase.card)
        stack.addWidget(self.page, 1)
        stack.addStretch()

    def _build_bar(self) -> QWidget:
        line = FlowBox(gap=SPACE.s)
        self.trail_line = TrailLine()
        self.undo = button(self.tr("&Undo"), self.tr("Undo the last step (Ctrl+Z)"))
        self.redo = button(self.tr("Re&do"), self.tr("Redo the step (Ctrl+Shift+Z)"))
        tip = self.tr("What a table of these dimensions would gain and cost (Ctrl+G)")
        self.buy = button(self.tr("O&ffer for this table"), tip)
        tip = self.tr("Read another release of this cube together with what is open (Ctrl+O)")
        self.add = button(self.tr("Add a &release…"), tip)
        tip = self.tr("Write this view with its errors as CSV or Excel (Ctrl+E)")
        self.export = button(self.tr("&Export the view…"), tip, "primary")
        tip = self.tr("Copy the question behind this view as code for a notebook or a script")
        self.python = button(self.tr("Copy as &Python"), tip)
        widgets = (
            *(self.trail_line, self.undo, self.redo, self.buy, self.add, self.export),
            self.python,
        )
        for widget in widgets:
            line.add(widget)
        return line

    def _connect(self) -> None:
        side, page = self.side, self.page
        side.putAsked.connect(self._on_put)
        side.levelAsked.connect(self._on_level)
        side.keptAsked.connect(self._on_kept)
        side.measureAsked.connect(self._on_measure)
        side.percentAsked.connect(self._on_percent)
        side.turnAsked.connect(self._on_turn)
        side.shareChanged.connect(page.mark)
        page.keepAsked.connect(self._on_keep_cell)
        page.sortAsked.connect(self._on_sort)
        self.trail_line.stepAsked.connect(self._on_step)
        self.undo.clicked.connect(self.go_back)
        self.redo.clicked.connect(self.go_forth)
        self.export.clicked.connect(self.ask_export)
        self.python.clicked.connect(self.copy_python)
        self.buy.clicked.connect(self.ask_offer)
        self.add.clicked.connect(self.ask_piece)
        self.purchase.bought.connect(self._on_bought)
        self.purchase.boughtBefore.connect(self._on_bought_before)
        self.purchase.spent.connect(self.spent)
        self.purchase.turned.connect(self._on_turned)
        self.purchase.declinedNow.connect(self._on_declined)
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
        self._begin(folder.name, planned=False)
        self._open((folder,))

    def open_plan(self) -> None:
        """Open the cube of the plan at hand, to buy its tables one by one."""
        at_hand = self._at_hand()
        self._begin(self.tr("A cube that is bought table by table"), planned=True)
        if at_hand is None:
            self.band.show_message("info", self.tr("Open the plan of a data cube first."))
            return
        work = partial(tasks.open_plan, self._context, at_hand)
        self.read(tasks.OPEN, self.tr("Reading the plan"), work, self._on_open)

    def _begin(self, name: str, *, planned: bool) -> None:
        self._cube, self._trail, self._seen = None, None, None
        self._planned = planned
        self.purchase.take(None, planned=planned)
        self.page.show_pivot(None, self.side.marked_share)
        self.side.setEnabled(False)
        self.title.setText(name)
        self.claim.setText("")
        self.pieces.hide()
        self.band.clear()
        self._show_steps()
        self._on_turned()
        self.bring_in_front()

    def _open(self, pieces: tuple[Path, ...]) -> None:
        title = self.tr("Checking the files of {name}").format(name=pieces[-1].name)
        work = partial(tasks.open_pieces, self._context, pieces, known=self._cube)
        self.read(tasks.OPEN, title, work, self._on_open)

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

    @Slot(str)
    def _on_percent(self, of: str) -> None:
        if self.state is not None:
            self.step(percent_words()[of], replace(self.state, percent=of))

    @Slot(object)
    def _on_sort(self, by: Labels | None) -> None:
        if self.state is None or self.seen is None:
            return
        state = replace(self.state, order=None) if by is None else self.state.sorted_by(by)
        words = self.tr("in declared order")
        if state.order is not None:
            sign = "↓" if state.order[1] else "↑"
            labels = " · ".join(short_name(said(ALL) if one is None else one) for one in by or ())
            words = self.tr("sorted by {column} {sign}").format(
                column=labels or measure_words(self.seen.pivot.grid.measure), sign=sign
            )
        self.step(words, state)

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
        title = self.tr("Reading the numbers")
        work = partial(tasks.read_view, self._cube, self._trail.state)
        self.read(tasks.LOOK, title, work, self._on_seen, self._on_unseen)

    def _show_steps(self) -> None:
        trail = self._trail
        self.trail_line.show_trail(trail)
        self.undo.setEnabled(trail is not None and trail.at > 0)
        self.redo.setEnabled(trail is not None and trail.at < len(trail.steps) - 1)
        self.export.setEnabled(self.seen is not None)
        self.buy.setEnabled(trail is not None and self.purchase.possible)
        self.add.setEnabled(trail is not None)
        self.python.setEnabled(self._cube is not None and bool(self._cube.pieces))

    # -- export

    @Slot()
    def ask_export(self) -> None:
        """Ask for a file, and write the view to it."""
        if self.seen is None or self._cube is None:
            return
        filters = self.tr("Table (*.csv);;Excel (*.xlsx)")
        name = f"{file_stem(self._cube.name) or 'cube'}-view.csv"
        self._place.ask("", self.tr("Export the view"), name, filters)

    @Slot(str, object, bool)
    def _on_place(self, purpose: str, path: Path, replace_it: bool) -> None:
        if self._cube is None or self.state is None:
            return
        work = partial(export_view, self._context, self._cube, self.state, path)
        self.change(self.tr("Exporting the view"), work, self.tell_written)

    # -- more tables

    @Slot()
    def ask_offer(self) -> None:
        """Show what a table of the present view would bring and cost."""
        if self.state is not None and self.purchase.possible:
            self.purchase.want(self._wanted())
            self.purchase.card.amount.setFocus()

    def _wanted(self) -> tuple[str, ...]:
        """The dimensions of the table that the view needs, in the cube's order."""
        state, cube = self.state, self._cube
        if state is None or cube is None:
            return ()
        named = state.query().columns()
        return tuple(each.name for each in cube.askable.columns if each.name in named)

    @Slot()
    def copy_python(self) -> None:
        """Put the view on the clipboard as Python code."""
        if self._cube is not None and self._cube.pieces and self.state is not None:
            self.copy_query(self._cube.pieces, self.state.query())

    @Slot()
    def ask_piece(self) -> None:
        """Ask for the folder of another release, and read it together with what is open."""
        if self._cube is None or not self._cube.sold:
            return
        pieces = self._cube.pieces
        near = str(pieces[0].parent) if pieces else ""
        folder = self._asker.open_folder(self.tr("Add a release of this cube"), near)
        if folder is not None:
            self._open((*pieces, folder))

    @Slot(object)
    def _on_bought(self, piece: Path) -> None:
        if self._cube is not None:
            self._open((*self._cube.pieces, piece))

    @Slot(object)
    def _on_bought_before(self, piece: Path) -> None:
        text = self.tr("Bought for the cube that was open before: {path}")
        self.band.show_message("ok", text.format(path=piece))

    @Slot()
    def _on_turned(self) -> None:
        """One button is the main one: that of the offer while it is open."""
        offered = not self.purchase.card.isHidden()
        set_look(self.export, "" if offered else "primary")
        if offered:
            self.bring_in_sight(self.purchase.card)
        self.page.setVisible(self._seen is not None or not (offered or self._planned))

    @Slot()
    def _on_declined(self) -> None:
        """What nothing answers and nobody buys is no view: back to the one before."""
        if self._seen is None:
            self.go_back()
        else:
            self.page.grid.setFocus()

    def _offer_if_needed(self, *, unanswered: bool) -> None:
        """Open the offer by itself where nothing can answer, or most cells are doubtful and there
        is something to count from.
        """
        if not self.purchase.possible:
            return
        share, seen = self.side.marked_share, self.seen
        poor = seen is not None and seen.pivot.mostly_doubtful(share)
        wanted = self._wanted()
        poor = poor and self.purchase.at_hand and not self.purchase.declined(wanted)
        if unanswered or poor or not self.purchase.card.isHidden():
            self.purchase.want(wanted)
        self._on_turned()

    # -- what comes back

    def _on_open(self, cube: OpenCube) -> None:
        first = self._cube is None
        self._cube = cube
        self.purchase.take(cube, planned=self._planned)
        for each in (self.buy, self.add):
            each.setVisible(cube.sold)
        self.name_it(cube.name)
        self.claim.setText(in_window(cube.claim))
        self.claim.setVisible(bool(cube.claim))
        self.pieces.setText(pieces_words(cube.pieces))
        self.pieces.setVisible(len(cube.pieces) > 1)
        self.side.setEnabled(True)
        self.side.show_cube(cube.askable)
        if first:
            self._trail = Trail((Step(self.tr("load"), first_view(cube)),))
        self._look()

    def _on_seen(self, found: tasks.Seen) -> None:
        first = self._seen is None and self._trail is not None and len(self._trail.steps) == 1
        self._seen = found
        filters, order = filter_words(found.state), found.state.order
        self.page.show_pivot(found.pivot, self.side.marked_share, filters, order)
        self._show_steps()
        self._offer_if_needed(unanswered=False)
        if first:
            self.page.grid.setFocus()

    def _on_unseen(self, outcome: JobFailed) -> None:
        self._seen = None
        self.page.show_pivot(None, self.side.marked_share)
        self._show_steps()
        unanswered = outcome.code == "query.refused"
        if unanswered and self._begins():
            text = self.tr("Put dimensions on rows and columns: then each table has its offer.")
            self.band.show_message("info", text)
            self._on_turned()
            return
        if unanswered and self.purchase.possible:
            self._offer_if_needed(unanswered=True)
            return
        actions = ((UNDO, self.tr("Undo this step")),) if self.undo.isEnabled() else ()
        self.band.show_error(outcome, actions)

    def _begins(self) -> bool:
        """Whether nothing is released yet, and nothing was asked for."""
        return self._cube is not None and not self._cube.pieces and not self._wanted()

    @Slot(str)
    def _on_answer(self, answer: str) -> None:
        if answer == UNDO:
            self.go_back()
