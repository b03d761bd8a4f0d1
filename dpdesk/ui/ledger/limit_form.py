"""Set, lower or raise the limit of people, with a reason."""

from __future__ import annotations

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QFrame, QLineEdit, QWidget

from dpdesk.core.budget import Budget, PureEpsilon, ZeroConcentrated
from dpdesk.ui.forms.combo import NarrowCombo
from dpdesk.ui.people.parts import button, labelled, note
from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.flow import FlowBox
from dpdesk.ui.widgets.wheel import leave_wheel
from dpdesk.ui.words.numbers import typed_exact

EPSILON, RHO = "epsilon", "rho"


class LimitForm(QFrame):
    """``wanted(str, object, str)``: population, limit and reason."""

    wanted = Signal(str, object, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_look(self, "card")
        layout = column(self, margin=SPACE.m, gap=SPACE.s)
        layout.addWidget(note(self.tr("How much may be spent on these people?"), "section"))
        self.people, self.amount, self.reason = QLineEdit(), QLineEdit(), QLineEdit()
        self.kind = NarrowCombo(6)
        self.kind.addItem("ε", EPSILON)
        self.kind.addItem("ρ", RHO)
        leave_wheel(self.kind)
        tip = self.tr("The population as plans name it; of a file without one, leave it as it is")
        labelled(layout, self.tr("People"), self.people, tip)
        labelled(
            layout,
            self.tr("Kind of limit"),
            self.kind,
            self.tr("ε, or ρ of zero-concentrated noise"),
        )
        tip = self.tr("A number such as 2.0; it binds every plan, window and command")
        labelled(layout, self.tr("Limit"), self.amount, tip)
        tip = self.tr("Kept in the ledger and in the audit log; needed to raise a limit")
        labelled(layout, self.tr("Reason"), self.reason, tip)
        self._error = note("", "fail")
        self._error.hide()
        layout.addWidget(self._error)
        bar = FlowBox(gap=SPACE.s)
        self.set = button(self.tr("Set the limit"), self.tr("Enter this limit in the ledger"))
        self.set.clicked.connect(self._on_set)
        bar.add(self.set)
        layout.addWidget(bar)

    def clear_typed(self) -> None:
        """Forget amount and reason: they were entered."""
        self.amount.clear()
        self.reason.clear()

    @Slot()
    def _on_set(self) -> None:
        number = typed_exact(self.amount.text())
        people = self.people.text().strip()
        problem = ""
        if not people:
            problem = self.tr("✕ Name the people, or choose them in the list.")
        elif number is None or number < 0:
            words = self.tr("✕ The limit is “{text}”, expected a number such as 2.0.")
            problem = words.format(text=self.amount.text().strip())
        self._error.setText(problem)
        self._error.setVisible(bool(problem))
        if number is not None and not problem:
            limit: Budget = PureEpsilon(number)
            if self.kind.currentData() == RHO:
                limit = ZeroConcentrated(number)
            self.wanted.emit(people, limit, self.reason.text().strip())
