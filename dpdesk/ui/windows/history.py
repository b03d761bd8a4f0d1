"""All states that the work has had, with their times, in a window beside the main one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from PySide6.QtCore import QCoreApplication, Slot
from PySide6.QtWidgets import QLineEdit, QWidget

from dpdesk.app.types import History
from dpdesk.ui.shell.bars import HistoryStep
from dpdesk.ui.theme import SPACE, Theme, ThemeManager
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.layouts import FlowBox
from dpdesk.ui.widgets.states import Lines, button, note
from dpdesk.ui.windows.base import SideWindow
from dpdesk.ui.words.numbers import grouped
from dpdesk.ui.workbench import Aspect, Changes, Workbench
from dpdesk.ui.workbench.state import history_steps

translate = QCoreApplication.translate
Row = tuple[str, str, str]


class HistoryWindow(SideWindow):
    """Lists every state, branches too, finds one by its words, and goes there."""

    room = (84, 22)

    def __init__(
        self, bench: Workbench, theme: ThemeManager, parent: QWidget | None = None
    ) -> None:
        super().__init__(bench.hub, theme, parent)
        self._bench = bench
        self._shown: tuple[HistoryStep, ...] = ()
        self.setWindowTitle(self.tr("History – DPDesk"))
        self.setAccessibleName(self.tr("History of the work"))
        layout = column(self, margin=SPACE.l, gap=SPACE.m)
        layout.addWidget(note(self.tr("Which states did the work go through?"), "headline"))
        self.answer = note("", "answer")
        layout.addWidget(self.answer)
        layout.addWidget(self._build_bar())
        tip = self.tr("Arrow keys choose a state, Enter goes there; nothing is lost")
        self.grid = Lines(theme, self.tr("States of the work, the oldest first"), tip)
        self.grid.activated.connect(self._on_go)
        self.grid.selectionModel().selectionChanged.connect(self._on_chosen)
        layout.addWidget(self.grid, 1)
        bench.changed.connect(self._on_changed)
        self.follow_theme(theme)

    def present(self) -> None:
        """Show the window in front, at the present state."""
        self._show_states()
        self.bring_in_front()
        self.grid.setFocus()

    @property
    def shown(self) -> tuple[HistoryStep, ...]:
        """The states that are listed."""
        return self._shown

    def _build_bar(self) -> FlowBox:
        bar = FlowBox(gap=SPACE.s)
        self.search = QLineEdit()
        self.search.setPlaceholderText(self.tr("Search changes"))
        self.search.setAccessibleName(self.tr("Search changes"))
        self.search.setToolTip(self.tr("List only changes that contain these words"))
        self.search.textChanged.connect(self._show_states)
        self.go = button(
            self.tr("&Go to this state"), self.tr("Make it the current state (Enter)"), "primary"
        )
        self.go.clicked.connect(self._on_go)
        bar.add(self.search)
        bar.add(self.go)
        return bar

    @Slot()
    def _show_states(self) -> None:
        history = self._bench.history
        steps = history_steps(history)
        words = self.search.text().casefold().split()
        self._shown = tuple(
            step for step in steps if all(word in step.label.casefold() for word in words)
        )
        self.grid.lines.set_table(headings(), rows_of(self._shown, history))
        self.answer.setText(answer_words(len(steps), len(self._shown), steps))
        here = [number for number, step in enumerate(self._shown) if step.current]
        if here:
            self.grid.selectRow(here[0])
            self.grid.scrollTo(self.grid.lines.index(here[0], 0))
        else:
            self.grid.clearSelection()
        self._on_chosen()

    @Slot(object)
    def _on_changed(self, changes: Changes) -> None:
        if self.isVisible() and Aspect.HISTORY in changes:
            self._show_states()

    @Slot()
    def _on_chosen(self) -> None:
        row = self.grid.chosen
        self.go.setEnabled(0 <= row < len(self._shown) and not self._shown[row].current)

    @Slot()
    def _on_go(self) -> None:
        row = self.grid.chosen
        if 0 <= row < len(self._shown) and not self._shown[row].current:
            self.grid.setFocus()  # the button goes grey
            self._bench.go_to(self._shown[row].id)

    def fit(self, theme: Theme) -> None:
        """Fit the parts to the theme."""
        self.search.setMinimumWidth(theme.ems(18))


def headings() -> Row:
    """Headings of the list."""
    return (
        translate("History", "Change that led to it"),
        translate("History", "When"),
        translate("History", "Where it is"),
    )


def rows_of(steps: Sequence[HistoryStep], history: History) -> list[Row]:
    """States as lines; those that were left aside are moved in."""
    ahead = {moment.id for moment in history.ahead()}
    return [
        ("      " * step.depth + step.label, _time(step.when), _place(step, step.id in ahead))
        for step in steps
    ]


def answer_words(every: int, shown: int, steps: Sequence[HistoryStep]) -> str:
    """One sentence about the states."""
    if shown < every:
        text = translate("History", "{shown} of {every} states found.")
        return text.format(shown=grouped(shown), every=grouped(every))
    aside = sum(step.depth > 0 for step in steps)
    text = translate(
        "History", ("{every} states, of which {aside} were undone and set aside; all are kept.")
    )
    if not aside:
        text = translate("History", "{every} states; undone ones stay here, too.")
    return text.format(every=grouped(every), aside=grouped(aside))


def _time(when: datetime | None) -> str:
    return "" if when is None else f"{when.astimezone():%Y-%m-%d %H:%M:%S}"


def _place(step: HistoryStep, ahead: bool) -> str:
    if step.current:
        return translate("History", "● current state")
    if step.depth:
        return translate("History", "↳ set aside, kept")
    return translate("History", "Redo leads here") if ahead else translate("History", "before")
