"""All states that the work has had, as a menu: no branch of edits is ever out of reach."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from PySide6.QtCore import QPoint, Qt, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QToolButton

from dpdesk.ui.theme import set_look
from dpdesk.ui.words.numbers import grouped, verbatim

SHOWN_AT_MOST = 60
_ALL = -1
_INDENT = "      "


@dataclass(frozen=True)
class HistoryStep:
    """A state by the edit that led to it; ``depth`` counts the branchings off the present way."""

    id: int
    label: str
    depth: int = 0
    current: bool = False
    when: datetime | None = None


class HistoryButton(QToolButton):
    """Opens the list of states; ``chosen(int)`` is the id of the one to go to.

    ``allAsked()`` when all of them are to be seen, with their times.
    """

    chosen = Signal(int)
    allAsked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._steps: tuple[HistoryStep, ...] = ()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        set_look(self, "quiet")
        self._menu = QMenu(self)
        self._menu.setToolTipsVisible(True)
        self._menu.triggered.connect(self._on_triggered)
        self.clicked.connect(self.open)
        self.set_steps(())

    @property
    def steps(self) -> tuple[HistoryStep, ...]:
        """What can be gone to."""
        return self._steps

    def set_steps(self, steps: Sequence[HistoryStep]) -> None:
        """Offer these states; the menu is made when it is opened."""
        self._steps = tuple(steps)
        aside = sum(step.depth > 0 for step in steps)
        text = self.tr("History")
        tip = self.tr("Go to any state that the work has had (Ctrl+H)")
        if aside:
            text = self.tr("History ({n} left out)").format(n=aside)
            tip = self.tr("Go to any state, also to the {n} that were undone (Ctrl+H)")
        self.setText(text)
        self.setToolTip(tip.format(n=aside))
        self.setAccessibleName(text)
        self.setAccessibleDescription(self.toolTip())
        self.setEnabled(len(steps) > 1)

    @Slot()
    def open(self) -> None:
        """Show the list above the button, at the present state."""
        self._menu.clear()
        present: QAction | None = None
        for step in _near(self._steps):
            mark = f"{_INDENT * (step.depth - 1)}   ↳ " if step.depth else ""
            action = QAction(mark + verbatim(step.label), self._menu)
            action.setCheckable(True)
            action.setChecked(step.current)
            action.setData(step.id)
            tip = self.tr("Go back to the work as it was after this edit")
            if step.when is not None:
                tip = f"{tip} ({step.when.astimezone():%Y-%m-%d %H:%M})"
            here = self.tr("The work is here now")
            action.setToolTip(here if step.current else tip)
            self._menu.addAction(action)
            present = action if step.current else present
        self._menu.addSeparator()
        text = self.tr("&All {n} states, with times…").format(n=grouped(len(self._steps)))
        self._menu.addAction(text).setData(_ALL)
        size = self._menu.sizeHint()
        self._menu.popup(self.mapToGlobal(QPoint(0, -size.height())), present)
        if present is not None:
            self._menu.setActiveAction(present)

    @Slot(QAction)
    def _on_triggered(self, action: QAction) -> None:
        if action.data() == _ALL:
            self.allAsked.emit()
        else:
            self.chosen.emit(int(action.data()))


def _near(steps: Sequence[HistoryStep]) -> Sequence[HistoryStep]:
    """The states around the present one, when there are very many."""
    if len(steps) <= SHOWN_AT_MOST:
        return steps
    here = next((n for n, step in enumerate(steps) if step.current), 0)
    first = min(max(0, here - SHOWN_AT_MOST // 2), len(steps) - SHOWN_AT_MOST)
    return steps[first : first + SHOWN_AT_MOST]
