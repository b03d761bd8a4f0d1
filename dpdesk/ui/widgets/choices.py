"""A line of buttons of which exactly one is down: what to look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QToolButton, QWidget

from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets.flow import FlowBox
from dpdesk.ui.words.numbers import legible

_NOTHING: Mapping[str, str] = {}


class ChoiceStrip(FlowBox):
    """Choices with an id and words each; they break into lines where there is little room.

    ``chosen(str)`` is emitted when the user takes another one, never by :meth:`choose`.
    """

    chosen = Signal(str)

    def __init__(self, name: str, parent: QWidget | None = None, lines: int = 0) -> None:
        super().__init__(parent, gap=SPACE.xs, lines=lines)
        self.setAccessibleName(name)
        self._buttons: dict[str, QToolButton] = {}
        self._offered: list[tuple[str, str, str]] = []
        self._group = QButtonGroup(self)
        self._group.buttonClicked.connect(self._on_clicked)

    @property
    def keys(self) -> tuple[str, ...]:
        """Ids of all choices, in order."""
        return tuple(self._buttons)

    @property
    def current(self) -> str:
        """Id of the choice that is down; empty when there is none."""
        return next((key for key, one in self._buttons.items() if one.isChecked()), "")

    def set_choices(
        self, choices: Sequence[tuple[str, str]], full: Mapping[str, str] = _NOTHING
    ) -> None:
        """Offer these (id, words), in order; the present choice stays when it is among them.

        ``full`` has the whole words of choices whose words on the buttons are short.
        """
        present = self.current
        offered = [(key, words, full.get(key, words)) for key, words in choices]
        if offered == self._offered:
            return
        self._offered = offered
        for key in [key for key in self._buttons if key not in dict(choices)]:
            self._drop(key)
        for key, words, whole in offered:
            self._put(key, words, whole)
        self._buttons = {key: self._buttons[key] for key, _ in choices}
        for button in self._buttons.values():
            self.add(button)
        self.choose(present)
        self.updateGeometry()

    def choose(self, identifier: str) -> None:
        """Put a choice down, silently; the first one when there is none of this id."""
        button = self._buttons.get(identifier) or next(iter(self._buttons.values()), None)
        if button is not None:
            button.setChecked(True)

    def button(self, identifier: str) -> QToolButton:
        """The button of a choice; KeyError when there is none."""
        return self._buttons[identifier]

    def _put(self, key: str, words: str, whole: str) -> None:
        button = self._buttons.get(key)
        if button is None:
            button = QToolButton()
            button.setCheckable(True)
            set_look(button, "choice")
            button.setProperty("choice", key)
            button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            self._group.addButton(button)
            self._buttons[key] = button
        whole = legible(whole)
        button.setText(legible(words))
        button.setAccessibleName(self.tr("Show: {what}").format(what=whole))
        button.setToolTip(self.tr("Show: {what}").format(what=whole))

    def _drop(self, key: str) -> None:
        button = self._buttons.pop(key)
        self._group.removeButton(button)
        self.remove(button)
        button.hide()
        button.deleteLater()

    @Slot(QAbstractButton)
    def _on_clicked(self, button: QAbstractButton) -> None:
        self.chosen.emit(str(button.property("choice")))
