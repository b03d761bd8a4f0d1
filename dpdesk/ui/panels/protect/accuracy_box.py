"""The budget for a wanted accuracy: how far cells of a table may err, and the ε that this needs."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Signal, Slot
from PySide6.QtWidgets import QFrame, QLabel, QLineEdit, QPushButton, QWidget

from dpdesk.ui.forms.combo import NarrowCombo
from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets import column, row
from dpdesk.ui.widgets.wheel import leave_wheel
from dpdesk.ui.words.numbers import typed_exact
from dpdesk.ui.words.spoken import said

SIGNS = {"epsilon": "ε", "rho": "ρ"}


class AccuracyBox(QFrame):
    """``asked()`` when another answer is wanted; ``taken(str, str)`` carries a key and a budget."""

    asked = Signal()
    taken = Signal(str, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_look(self, "card")
        self._answer: tuple[str, str] | None = None
        layout = column(self, margin=SPACE.m, gap=SPACE.s)
        head = QLabel(self.tr("How exact must it be?"))
        head.setWordWrap(True)
        set_look(head, "section")
        layout.addWidget(head)
        line = row()
        sign, rest = QLabel("±"), QLabel(self.tr("in the cells of"))
        self.width_ = QLineEdit()
        self.width_.setAccessibleName(self.tr("Wanted error of a cell"))
        self.width_.setToolTip(
            self.tr(
                "Cells may err by this much in 95 of 100 cases, in units of the measure; before "
                "negative numbers are removed, and as if tables agreed by least squares"
            )
        )
        self.width_.setPlaceholderText("50")
        self.width_.textEdited.connect(self._on_changed)
        self.table = NarrowCombo()
        self.table.setAccessibleName(self.tr("Table that must be this exact"))
        self.table.set_help(self.tr("The table whose cells may err by at most this much"))
        leave_wheel(self.table)
        self.table.currentIndexChanged.connect(self._on_changed)
        for widget in (sign, self.width_, rest):
            line.addWidget(widget)
        line.addStretch(1)
        layout.addLayout(line)
        layout.addWidget(self.table)
        self.words = QLabel()
        self.words.setWordWrap(True)
        set_look(self.words, "note")
        layout.addWidget(self.words)
        self.take = QPushButton()
        self.take.setToolTip(self.tr("Plan with the least budget that reaches this accuracy"))
        self.take.clicked.connect(self._on_take)
        layout.addWidget(self.take)
        self.show_answer(None)

    @property
    def wanted(self) -> float | None:
        """The error that cells may have; None while it is no number above 0."""
        number = typed_exact(self.width_.text())
        return float(number) if number is not None and number > 0 else None

    @property
    def place(self) -> int:
        """The place of the chosen table among those that are published; -1 for none."""
        return self.table.currentIndex()

    def show_tables(self, names: Sequence[str]) -> None:
        """Offer these tables, silently; the one that was chosen stays."""
        known = [self.table.itemText(place) for place in range(self.table.count())]
        if known == list(names):
            return
        chosen = self.table.currentText()
        with QSignalBlocker(self.table):
            self.table.clear()
            self.table.addItems(list(names))
            place = self.table.findText(chosen) if chosen else len(names) - 1
            self.table.setCurrentIndex(max(0, place) if names else -1)

    def show_answer(self, answer: tuple[str, str] | None, problem: str = "") -> None:
        """The key and the least budget; None while there is nothing to say, or with a problem."""
        self._answer = answer
        self.take.setVisible(answer is not None)
        if problem:
            self.words.setText(f"✕ {said(problem)}")
            return
        if answer is None:
            typed = bool(self.width_.text().strip())
            self.words.setText(
                self.tr("✕ Expected a number above 0, such as 50.")
                if typed and self.wanted is None
                else self.tr("Type an error, and see the budget that it needs.")
            )
            return
        sign = SIGNS.get(answer[0], answer[0])
        text = self.tr("Set {sign} to {budget}").format(sign=sign, budget=answer[1])
        self.words.setText(
            self.tr("This needs {sign} {budget}, rounded up.").format(sign=sign, budget=answer[1])
        )
        self.take.setText(text)
        self.take.setAccessibleName(text)

    @Slot()
    def _on_changed(self) -> None:
        self.show_answer(None)
        if self.wanted is not None:
            self.asked.emit()

    @Slot()
    def _on_take(self) -> None:
        if self._answer is not None:
            self.taken.emit(*self._answer)
