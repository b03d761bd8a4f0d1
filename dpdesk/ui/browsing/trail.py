"""The steps that were taken, as buttons in a line: load › by age × sex › region = North."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QToolButton

from dpdesk.core.browsing import Trail
from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets.flow import FlowBox

SHOWN = 7


class TrailLine(FlowBox):
    """``stepAsked(int)``: go to the step with this number."""

    stepAsked = Signal(int)

    def __init__(self) -> None:
        super().__init__(gap=SPACE.xs)
        self.setAccessibleName(self.tr("Steps"))
        self.buttons: list[QToolButton] = []

    def show_trail(self, trail: Trail | None) -> None:
        """Show the last steps; those that were undone are dim, and lead forth again."""
        for button in self.buttons:
            self.remove(button)
            button.hide()
            button.deleteLater()
        self.buttons = []
        steps = () if trail is None else trail.steps
        first = max(0, min(len(steps) - SHOWN, (trail.at if trail else 0) - SHOWN + 2))
        for number in range(first, min(len(steps), first + SHOWN)):
            self._put(number, steps[number].words, trail is not None and number == trail.at)

    def _put(self, number: int, words: str, present: bool) -> None:
        button = QToolButton()
        button.setText(words if number == 0 else f"› {words}")
        button.setCheckable(True)
        button.setChecked(present)
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
