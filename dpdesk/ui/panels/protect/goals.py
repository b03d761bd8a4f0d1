"""One card per registered method: what it does and what it promises."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QFrame, QLabel, QRadioButton, QWidget

from dpdesk.app.types import Method
from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.words.spoken import said


class GoalCard(QFrame):
    """A method that can be chosen: by its button, or by a click anywhere on the card.

    What it does and promises stands on the card of the chosen one; the others say it when they are
    pointed at, so that there is room for the settings.
    """

    def __init__(self, method: Method) -> None:
        super().__init__()
        self.method_id = method.id
        layout = column(self, margin=SPACE.s, gap=SPACE.xs)
        title, summary, promise = map(said, (method.title, method.summary, method.promise))
        self.button = QRadioButton(title.replace("&", "&&"))
        self.button.setProperty("method-id", method.id)
        self.button.setAccessibleName(title)
        self.button.setAccessibleDescription(f"{summary} {promise}")
        self.button.setToolTip(f"{summary} {promise}")
        self._words: list[QLabel] = []
        layout.addWidget(self.button)
        for text, look in ((summary, "answer"), (promise, "note")):
            label = QLabel(text)
            label.setWordWrap(True)
            set_look(label, look)
            layout.addWidget(label)
            self._words.append(label)
        self.show_chosen(chosen=False)

    def show_chosen(self, *, chosen: bool) -> None:
        """Look chosen or not."""
        self.button.setChecked(chosen)
        set_look(self, "chosen" if chosen else "choice")
        for label in self._words:
            label.setVisible(chosen)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click anywhere chooses."""
        if event.button() is Qt.MouseButton.LeftButton and self.isEnabled():
            self.button.click()
        event.accept()


class GoalCards(QWidget):
    """All methods; ``chosen(str)`` carries the id of the one that the user takes."""

    chosen = Signal(str)

    def __init__(self, methods: Sequence[Method], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("Goal"))
        layout = column(self, gap=SPACE.s)
        self._group = QButtonGroup(self)
        self._cards: dict[str, GoalCard] = {}
        for method in methods:
            card = GoalCard(method)
            self._cards[method.id] = card
            self._group.addButton(card.button)
            layout.addWidget(card)
        self._group.buttonClicked.connect(self._on_clicked)

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of all methods, in order."""
        return tuple(self._cards)

    def card(self, identifier: str) -> GoalCard:
        """The card of a method; KeyError when there is none."""
        return self._cards[identifier]

    def show_method(self, identifier: str) -> None:
        """Show which method is chosen, silently."""
        for key, card in self._cards.items():
            card.show_chosen(chosen=key == identifier)

    @Slot(QAbstractButton)
    def _on_clicked(self, button: QAbstractButton) -> None:
        identifier = str(button.property("method-id"))
        self.show_method(identifier)
        self.chosen.emit(identifier)
