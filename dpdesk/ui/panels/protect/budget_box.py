"""Whose budget is spent, its limit, and what the ledger says: before anything is spent."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QLineEdit, QWidget

from dpdesk.app.types import Outlook
from dpdesk.core.parameters import exact_number, plain_number
from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.wording import in_window
from dpdesk.ui.words.budget import outlook_words
from dpdesk.ui.words.numbers import marked, typed_exact


class BudgetBox(QFrame):
    """``edited(dict)`` carries changed keys of the plan's budget; None takes a key away."""

    edited = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_look(self, "card")
        self._given: Mapping[str, object] = {}
        layout = column(self, margin=SPACE.m, gap=SPACE.s)
        head = QLabel(self.tr("From which budget?"))
        head.setWordWrap(True)
        set_look(head, "section")
        layout.addWidget(head)
        grid = QGridLayout()
        grid.setColumnStretch(1, 1)
        self.population = self._line(
            grid,
            0,
            self.tr("People"),
            self.tr("for instance residents 2024"),
            self.tr("Whom the data are about: what is spent adds up by this name"),
        )
        self.limit = self._line(
            grid,
            1,
            self.tr("Limit"),
            self.tr("no limit"),
            self.tr(
                "With the release it becomes the limit of these people: it binds every plan, and "
                "is raised with a reason only (View › Budget ledger)"
            ),
        )
        layout.addLayout(grid)
        self._error, self._words = QLabel(), QLabel()
        for label, look in ((self._error, "fail"), (self._words, "note")):
            label.setWordWrap(True)
            set_look(label, look)
            layout.addWidget(label)
        self.population.textEdited.connect(self._on_population)
        self.limit.textEdited.connect(self._on_limit)
        self.limit.editingFinished.connect(self._check)
        self._error.hide()
        self.show_outlook(None, "")

    def show_budget(self, budget: Mapping[str, object] | None) -> None:
        """Show the plan's budget, silently."""
        self._given = budget or {}
        population = str(self._given.get("population", ""))
        if self.population.text().strip() != population:
            self.population.setText(population)
            self.population.setCursorPosition(0)
        limit = self._given.get("limit")
        if typed_exact(self.limit.text()) != exact_number(limit):
            typed = self.limit.text() and self.limit.hasFocus() and limit is None
            if not typed:
                self.limit.setText("" if limit is None else marked(str(limit)))

    def show_outlook(self, outlook: Outlook | None, problem: str) -> None:
        """Say what the ledger says, or why it says nothing."""
        text = f"✕ {problem}" if problem else ""
        if outlook is not None:
            text = "\n".join(
                (outlook_words(outlook), *(f"△ {in_window(one)}" for one in outlook.notes))
            )
        self._words.setText(text or self.tr("Nothing is spent before the release."))
        self.setAccessibleDescription(self._words.text())

    @property
    def words(self) -> str:
        """What is said."""
        return self._words.text()

    def _line(self, grid: QGridLayout, place: int, name: str, example: str, tip: str) -> QLineEdit:
        label, line = QLabel(name), QLineEdit()
        label.setBuddy(line)
        line.setAccessibleName(self.tr("Budget: {name}").format(name=name))
        line.setPlaceholderText(example)
        line.setToolTip(tip)
        grid.addWidget(label, place, 0)
        grid.addWidget(line, place, 1)
        return line

    @Slot(str)
    def _on_population(self, text: str) -> None:
        self.edited.emit({"population": text.strip() or None})

    @Slot(str)
    def _on_limit(self, text: str) -> None:
        number = typed_exact(text)
        good = number is not None and number >= 0
        if good or not text.strip():
            self._error.hide()
            self.edited.emit({"limit": plain_number(number) if good else None})

    @Slot()
    def _check(self) -> None:
        text = self.limit.text().strip()
        number = typed_exact(text)
        wrong = bool(text) and (number is None or number < 0)
        words = self.tr("✕ The limit is “{text}”, expected a number such as 2.0.")
        self._error.setText(words.format(text=text))
        self._error.setVisible(wrong)
