"""Declare that two names mean the same people, or different ones, with a reason."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QFrame, QLineEdit, QWidget

from dpdesk.ui.forms.combo import NarrowCombo
from dpdesk.ui.people.parts import button, labelled, note
from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.flow import FlowBox
from dpdesk.ui.widgets.wheel import leave_wheel


class PeopleForm(QFrame):
    """``wanted(str, str, bool, str)``: two names, whether they are the same people, the reason."""

    wanted = Signal(str, str, bool, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_look(self, "card")
        layout = column(self, margin=SPACE.m, gap=SPACE.s)
        layout.addWidget(note(self.tr("Do two names mean the same people?"), "section"))
        self._known = note()
        self._known.hide()
        layout.addWidget(self._known)
        self.one, self.other, self.reason = QLineEdit(), QLineEdit(), QLineEdit()
        self.how = NarrowCombo(20)
        self.how.addItem(self.tr("the same people: their debits count together"), True)
        self.how.addItem(self.tr("different people: each has a budget of its own"), False)
        leave_wheel(self.how)
        tip = self.tr("A population as plans name it")
        labelled(layout, self.tr("One name"), self.one, tip)
        labelled(layout, self.tr("The other name"), self.other, tip)
        tip = self.tr(
            "Until this is declared, both names together spend no more than any limit of theirs"
        )
        labelled(layout, self.tr("They are"), self.how, tip)
        tip = self.tr("How it is known; kept in the ledger and in the audit log")
        labelled(layout, self.tr("Reason"), self.reason, tip)
        bar = FlowBox(gap=SPACE.s)
        self.declare = button(self.tr("Declare it"), self.tr("Enter this in the ledger"))
        self.declare.clicked.connect(self._on_declare)
        bar.add(self.declare)
        layout.addWidget(bar)

    def show_known(self, one: str, lines: Sequence[str]) -> None:
        """Offer a name, and tell what was declared about it."""
        self.one.setText(one)
        self._known.setText("\n".join(lines))
        self._known.setVisible(bool(lines))

    def clear_typed(self) -> None:
        """Forget the other name and the reason: they were entered."""
        self.other.clear()
        self.reason.clear()

    @Slot()
    def _on_declare(self) -> None:
        one, other, reason = (line.text().strip() for line in (self.one, self.other, self.reason))
        self.wanted.emit(one, other, bool(self.how.currentData()), reason)
