"""The steps that were taken, as buttons in a line: load › by age × sex › region = North."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QToolButton

from dpdesk.core.browsing import Trail
from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets.flow import FlowBox
from dpdesk.ui.words.counts import LONGEST_NAME, short_name

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
        for (number, _), button in zip(shown, self.buttons, strict=True):
            button.setChecked(number == at)

    def _fill(self) -> None:
        for button in self.buttons:
            self.remove(button)
            button.hide()
            button.deleteLater()
        self.buttons = []
        for number, words in self._shown:
            self._put(number, words)

    def _put(self, number: int, words: str) -> None:
        words, button = short_name(words, 2 * LONGEST_NAME), QToolButton()
        button.setText(words if number == 0 else f"› {words}")
        button.setCheckable(True)
        button.setProperty("step", number)
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        button.setAccessibleName(
            self.tr("Step {number}: {words}").format(number=number, words=words)
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
