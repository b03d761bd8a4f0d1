"""Another passphrase for a key: the old one once, the new one twice."""

from __future__ import annotations

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QFrame, QWidget

from dpdesk.ui.people.parts import Problem, button, labelled, note, secret_field
from dpdesk.ui.people.words import passphrase_problem, rule_words
from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.flow import FlowBox


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
