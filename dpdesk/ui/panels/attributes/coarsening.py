"""The card by which the numbers of a column are cut at their ends and rounded before the search."""

from __future__ import annotations

from fractions import Fraction

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QFormLayout, QFrame, QLabel, QLineEdit, QPushButton

from dpdesk.core.plain import number_text
from dpdesk.core.source_spec import Coarsened
from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.words.numbers import marked, typed_exact


class CoarseningCard(QFrame):
    """``changed(Coarsened | None)`` for the shown ``column``, when the button asks for it."""

    changed = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        set_look(self, "card")
        self.column = ""
        self._given: Coarsened | None = None
        layout = column(self, margin=SPACE.m, gap=SPACE.xs)
        title = QLabel(self.tr("Cut and round its numbers first"))
        set_look(title, "strong")
        layout.addWidget(title)
        form = QFormLayout()
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        form.setVerticalSpacing(SPACE.xs)
        layout.addLayout(form)
        self.bottom = self._line(
            form, self.tr("Lower end"), self.tr("Smaller numbers become this one")
        )
        self.top = self._line(form, self.tr("Upper end"), self.tr("Larger numbers become this one"))
        self.step = self._line(
            form, self.tr("Round to"), self.tr("To the nearest multiple of this; halves go up")
        )
        self._note = QLabel()
        self._note.setWordWrap(True)
        self._note.setTextFormat(Qt.TextFormat.PlainText)
        layout.addWidget(self._note)
        self.button = QPushButton(self.tr("Read the data like this"))
        self.button.setToolTip(
            self.tr(
                "The data are read once more; one undo takes it back, and 90 means 90 and above"
            )
        )
        self.button.clicked.connect(self._on_button)
        layout.addWidget(self.button, 0, Qt.AlignmentFlag.AlignLeft)
        self.hide()

    def show_column(self, name: str, numbers: Coarsened | None) -> None:
        """Show what a column has; an empty name hides the card. What is being typed stays."""
        self.setVisible(bool(name))
        if name == self.column and numbers == self._given:
            return
        self.column, self._given = name, numbers
        shown = numbers or Coarsened()
        for line, number in (
            (self.bottom, shown.bottom),
            (self.top, shown.top),
            (self.step, shown.step),
        ):
            line.setText("" if number is None else marked(number_text(number)))
        self._refresh()

    @property
    def problem(self) -> str:
        """Why the fields cannot be taken; empty when they can."""
        found = [self._number(line) for line in (self.bottom, self.top, self.step)]
        if any(isinstance(each, str) for each in found):
            return self.tr("A field does not hold a number, or one that can be read in two ways.")
        bottom, top, step = found
        if isinstance(step, Fraction) and step <= 0:
            return self.tr("The numbers can only be rounded to multiples of one above 0.")
        if isinstance(bottom, Fraction) and isinstance(top, Fraction) and bottom >= top:
            return self.tr("The lower end must be below the upper end.")
        return ""

    def _numbers(self) -> Coarsened | None:
        """What the fields say, where :attr:`problem` is empty."""
        found = [typed_exact(line.text()) for line in (self.bottom, self.top, self.step)]
        return None if found == [None] * 3 else Coarsened(*found)

    @staticmethod
    def _number(line: QLineEdit) -> Fraction | str | None:
        text = line.text().strip()
        number = typed_exact(text) if text else None
        return (text or None) if number is None else number

    def _line(self, form: QFormLayout, words: str, tip: str) -> QLineEdit:
        line, label = QLineEdit(), QLabel(words)
        line.setToolTip(tip)
        line.setAccessibleName(words)
        line.setPlaceholderText(self.tr("as it is"))
        line.textEdited.connect(self._refresh)
        line.returnPressed.connect(self._on_button)
        label.setBuddy(line)
        form.addRow(label, line)
        return line

    @Slot()
    def _refresh(self) -> None:
        problem = self.problem
        self._note.setText(f"✕ {problem}" if problem else "")
        self._note.setVisible(bool(problem))
        set_look(self._note, "fail" if problem else "note")
        self.button.setEnabled(not problem and self._numbers() != self._given)

    @Slot()
    def _on_button(self) -> None:
        if self.column and self.button.isEnabled():
            self.changed.emit(self._numbers())
