"""The own keys: make one, see them, give out cards."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QLineEdit, QWidget

from dpdesk.app.review.values import StoredKey
from dpdesk.ui.people.parts import Lines, Problem, button, labelled, note, secret_field
from dpdesk.ui.people.trust_page import (
    fingerprint_words,
    key_row,
    new_key_problem,
    passphrase_problem,
    rule_words,
)
from dpdesk.ui.theme import SPACE, ThemeManager, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.layouts import FlowBox


class PassphraseForm(QFrame):
    """``asked(old, new)`` when the form is complete, ``left()`` when nothing is to change."""

    asked = Signal(str, str)
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_look(self, "card")
        layout = column(self, margin=SPACE.l, gap=SPACE.s)
        self._title = note("", "section")
        layout.addWidget(self._title)
        self.old, self.first, self.again = secret_field(), secret_field(), secret_field()
        tip = self.tr("The passphrase that opens the key now")
        labelled(layout, self.tr("P&resent passphrase"), self.old, tip)
        labelled(layout, self.tr("Ne&w passphrase"), self.first, rule_words())
        tip = self.tr("The same new passphrase again")
        labelled(layout, self.tr("New passphrase a&gain"), self.again, tip)
        layout.addWidget(note(rule_words()))
        self.problem = Problem()
        layout.addWidget(self.problem)
        bar = FlowBox(gap=SPACE.s)
        tip = self.tr("The old passphrase opens the key no more")
        self.change = button(self.tr("Change the &passphrase"), tip, "primary")
        self.change.clicked.connect(self._on_change)
        self.again.returnPressed.connect(self._on_change)
        leave = button(self.tr("&Leave it"), self.tr("Change nothing"))
        leave.clicked.connect(self.left)
        bar.add(self.change)
        bar.add(leave)
        layout.addWidget(bar)
        self.hide()

    def open_for(self, person: str) -> None:
        """Ask about the key of a person."""
        text = self.tr("Change the passphrase of {person}\u2019s key")
        self._title.setText(text.format(person=person))
        self.say("")
        self.show()
        self.old.setFocus()

    def close_form(self) -> None:
        """Ask no more, and forget what was written."""
        for field in (self.old, self.first, self.again):
            field.clear()
        self.say("")
        self.hide()

    def say(self, problem: str) -> None:
        """What is wrong; the form can be sent again."""
        self.problem.say(problem)
        self.change.setEnabled(True)

    def refuse_old(self, problem: str) -> None:
        """The present passphrase is not the right one: that field is asked for again."""
        self.say(problem)
        self.old.clear()
        self.old.setFocus()

    @Slot()
    def _on_change(self) -> None:
        wrong = passphrase_problem(self.first.text(), self.again.text())
        if not self.old.text():
            wrong = self.tr("Give the passphrase that opens the key now.")
        self.say(wrong)
        if not wrong:
            self.change.setEnabled(False)
            self.asked.emit(self.old.text(), self.first.text())


class KeysPage(QWidget):
    """``makeAsked(person, passphrase)``, ``cardAsked(fingerprint, person)``,
    ``changeAsked(fingerprint, old passphrase, new passphrase)``.
    """

    makeAsked = Signal(str, str)
    cardAsked = Signal(str, str)
    changeAsked = Signal(str, str, str)

    def __init__(self, theme: ThemeManager, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._keys: tuple[StoredKey, ...] = ()
        layout = column(self, gap=SPACE.m)
        tip = self.tr("Arrow keys choose a key; its whole fingerprint stands below")
        self.grid = Lines(theme, self.tr("Keys on this computer"), tip)
        self.grid.selectionModel().selectionChanged.connect(self._on_chosen)
        layout.addWidget(self.grid)
        self._whole = note()
        layout.addWidget(self._whole)
        tip = self.tr("Write the public part of the chosen key to a file that others can trust")
        self.card = button(self.tr("Write the &card…"), tip)
        self.card.clicked.connect(self._on_card)
        tip = self.tr("Lock the chosen key by another passphrase; its card stays the same")
        self.open_change = button(self.tr("C&hange the passphrase…"), tip)
        self.open_change.clicked.connect(self._on_open_change)
        bar = FlowBox(gap=SPACE.s)
        bar.add(self.card)
        bar.add(self.open_change)
        layout.addWidget(bar)
        self.change_form = PassphraseForm()
        self.change_form.asked.connect(self._on_change)
        self.change_form.left.connect(self.close_change)
        layout.addWidget(self.change_form)
        self._form = self._build_form()
        layout.addWidget(self._form)
        layout.addStretch(1)

    def show_keys(self, keys: Sequence[StoredKey]) -> None:
        """List these keys; the chosen one stays chosen, or the first one is."""
        before = self._chosen()
        self._keys = tuple(keys)
        paths = [key.path for key in keys]
        place = paths.index(before.path) if before is not None and before.path in paths else 0
        heads = (self.tr("Person"), self.tr("Fingerprint, first digits"), self.tr("Made"))
        self.grid.lines.set_table(heads, [key_row(key) for key in keys])
        if keys:
            self.grid.selectRow(place)
        self._on_chosen()

    @Slot()
    def close_change(self) -> None:
        """Nothing is asked about a passphrase any more."""
        self.change_form.close_form()
        self._form.show()

    def clear_form(self) -> None:
        """Forget what was written into the form."""
        self.person.clear()
        self.forget()
        self.problem.say("")

    def forget(self) -> None:
        """Forget the passphrases."""
        self.first.clear()
        self.again.clear()

    def _build_form(self) -> QFrame:
        frame = QFrame()
        set_look(frame, "card")
        layout = column(frame, margin=SPACE.l, gap=SPACE.s)
        layout.addWidget(note(self.tr("Make a key"), "section"))
        self.person, self.first, self.again = QLineEdit(), secret_field(), secret_field()
        tip = self.tr("First and last name, as others know the holder")
        labelled(layout, self.tr("&Name of the holder"), self.person, tip)
        labelled(layout, self.tr("&Passphrase"), self.first, rule_words())
        labelled(
            layout, self.tr("Passphrase a&gain"), self.again, self.tr("The same passphrase again")
        )
        layout.addWidget(note(rule_words()))
        self.problem = Problem()
        layout.addWidget(self.problem)
        self.make = button(
            self.tr("&Make the key"), self.tr("Make a signing key on this computer"), "primary"
        )
        self.make.clicked.connect(self._on_make)
        self.again.returnPressed.connect(self._on_make)
        layout.addWidget(self.make, 0, Qt.AlignmentFlag.AlignLeft)
        return frame

    @Slot()
    def _on_make(self) -> None:
        person, first = self.person.text(), self.first.text()
        wrong = new_key_problem(person, first, self.again.text())
        self.problem.say(wrong)
        if not wrong:
            self.forget()
            self.makeAsked.emit(person, first)

    @Slot()
    def _on_chosen(self) -> None:
        key = self._chosen()
        card = None if key is None else key.card
        self.close_change()
        self.card.setEnabled(card is not None)
        self.open_change.setEnabled(card is not None)
        set_look(self._whole, "note" if key is None or card is not None else "fail")
        if card is not None:
            self._whole.setText(fingerprint_words(card))
        elif key is not None:
            self._whole.setText(key.problem)
        else:
            self._whole.setText(self.tr("There is no key on this computer yet."))

    def _chosen(self) -> StoredKey | None:
        place = self.grid.chosen
        return self._keys[place] if 0 <= place < len(self._keys) else None

    @Slot()
    def _on_card(self) -> None:
        key = self._chosen()
        if key is not None and key.card is not None:
            self.cardAsked.emit(key.card.fingerprint, key.card.person)

    @Slot()
    def _on_open_change(self) -> None:
        key = self._chosen()
        if key is not None and key.card is not None:
            self._form.hide()
            self.change_form.open_for(key.card.person)

    @Slot(str, str)
    def _on_change(self, old: str, new: str) -> None:
        key = self._chosen()
        if key is not None and key.card is not None:
            self.changeAsked.emit(key.card.fingerprint, old, new)
