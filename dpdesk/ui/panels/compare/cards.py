"""One card per candidate: name, settings, pins A and B, remove."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QToolButton,
    QWidget,
)

from dpdesk.app.types import Method
from dpdesk.ui.panels.compare.presenter import Entry, planned
from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets import Badge, column, row
from dpdesk.ui.words.settings import settings_words


class CandidateCard(QFrame):
    """Shows one candidate; all signals carry its number."""

    pinAsked = Signal(int, str)
    renameAsked = Signal(int, str)
    removeAsked = Signal(int)

    def __init__(self, identifier: int) -> None:
        super().__init__()
        self._id = identifier
        layout = column(self, margin=SPACE.s, gap=SPACE.xs)
        head = row()
        self._number = QLabel(str(identifier))
        set_look(self._number, "section")
        self._name = QLineEdit()
        self._name.setMaxLength(80)
        self._name.editingFinished.connect(self._on_name)
        head.addWidget(self._number)
        head.addWidget(self._name, 1)
        self._planned = Badge(
            self.tr("planned"),
            self.tr("Errors that follow from the settings; nothing was counted or spent"),
        )
        head.addWidget(self._planned)
        layout.addLayout(head)
        self._words, self._reason = QLabel(), QLabel()
        for label, look in ((self._words, "note"), (self._reason, "caution")):
            label.setWordWrap(True)
            set_look(label, look)
            layout.addWidget(label)
        layout.addLayout(self._build_buttons())

    def show_entry(self, entry: Entry, method: Method | None) -> None:
        """Show a candidate as it is now."""
        one = entry.candidate
        if not self._name.hasFocus() or not self._name.isModified():
            self._name.setText(one.name)
            self._name.setCursorPosition(0)
        self._planned.setVisible(planned(one))
        said = settings_words(method, one.work)
        self._words.setText(said)
        self._words.setVisible(said != one.name)
        self._words.setToolTip(self.tr("Kept at {time}").format(time=f"{one.when:%H:%M}"))
        self._reason.setText(f"△ {entry.reason}")
        self._reason.setVisible(bool(entry.reason))
        for pin, button in self._pins.items():
            button.setChecked(entry.pin == pin)
        self._pins["B"].setEnabled(not entry.reason)
        self._words.setEnabled(not entry.reason)
        set_look(self, "chosen" if entry.pin else "choice")
        self._name_parts(one.name, entry.reason)

    def _name_parts(self, name: str, reason: str) -> None:
        self._name.setAccessibleName(self.tr("Name of candidate {n}").format(n=self._id))
        self._name.setToolTip(self.tr("{name}\nType another name, then Enter").format(name=name))
        texts = {
            "A": self.tr("Pin {name} as A, the one that others are compared with"),
            "B": reason or self.tr("Pin {name} as B, the one to compare with A"),
        }
        for pin, button in self._pins.items():
            button.setAccessibleName(
                self.tr("Pin candidate {n} as {pin}").format(n=self._id, pin=pin)
            )
            button.setToolTip(texts[pin].format(name=name) if texts[pin] != reason else reason)
        self._remove.setAccessibleName(self.tr("Remove candidate {n}").format(n=self._id))
        self._remove.setToolTip(self.tr("Forget {name}").format(name=name))

    def _build_buttons(self) -> QHBoxLayout:
        line = row(gap=SPACE.xs)
        self._pins: dict[str, QToolButton] = {}
        for pin in ("A", "B"):
            button = QToolButton()
            button.setText(pin)
            button.setCheckable(True)
            button.setProperty("pin", pin)
            button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            button.clicked.connect(self._on_pin)
            self._pins[pin] = button
            line.addWidget(button)
        line.addStretch(1)
        self._remove = QPushButton(self.tr("Remove"))
        set_look(self._remove, "quiet")
        self._remove.clicked.connect(self._on_remove)
        line.addWidget(self._remove)
        return line

    @Slot()
    def _on_name(self) -> None:
        self._name.setModified(False)
        self.renameAsked.emit(self._id, self._name.text())

    @Slot()
    def _on_pin(self) -> None:
        button = self.sender()
        if isinstance(button, QToolButton):
            self.pinAsked.emit(self._id, str(button.property("pin")))

    @Slot()
    def _on_remove(self) -> None:
        self.removeAsked.emit(self._id)


class CandidateCards(QScrollArea):
    """All candidates, oldest first."""

    pinAsked = Signal(int, str)
    renameAsked = Signal(int, str)
    removeAsked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._cards: dict[int, CandidateCard] = {}
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        inner = QWidget()
        self._layout = column(inner, gap=SPACE.s)
        self._layout.setContentsMargins(0, 0, SPACE.s, 0)
        self._layout.addStretch(1)
        self.setWidget(inner)

    def sizeHint(self) -> QSize:
        """No wider than it must be: the room belongs to the pictures."""
        return QSize(self.minimumWidth(), super().sizeHint().height())

    @property
    def cards(self) -> tuple[CandidateCard, ...]:
        """The cards on show."""
        return tuple(self._cards.values())

    def show_entries(self, shown: Sequence[Entry], methods: Sequence[Method]) -> None:
        """Show these candidates."""
        known = {method.id: method for method in methods}
        for identifier in [one for one in self._cards if one not in _ids(shown)]:
            card = self._cards.pop(identifier)
            self._layout.removeWidget(card)
            card.hide()
            card.deleteLater()
        for entry in shown:
            number = entry.candidate.id
            if number not in self._cards:
                self._cards[number] = self._made_card(number)
            self._cards[number].show_entry(entry, known.get(entry.candidate.work.method))

    def _made_card(self, number: int) -> CandidateCard:
        card = CandidateCard(number)
        card.pinAsked.connect(self.pinAsked)
        card.renameAsked.connect(self.renameAsked)
        card.removeAsked.connect(self.removeAsked)
        self._layout.insertWidget(self._layout.count() - 1, card)
        return card


def _ids(shown: Sequence[Entry]) -> set[int]:
    return {entry.candidate.id for entry in shown}
