"""What stands in the window: question, answer, list of items, one item whole, what to do."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QFrame, QPushButton, QWidget

from dpdesk.app.types import FitItem, FitReport, Fix, mends_of
from dpdesk.ui.fitting import words
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.panels.review.job_line import JobLine
from dpdesk.ui.people.parts import Lines, button, note
from dpdesk.ui.theme import SPACE, ThemeManager, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.flow import FlowBox
from dpdesk.ui.widgets.wording import in_window
from dpdesk.ui.words.counts import quoted
from dpdesk.ui.words.numbers import grouped

_VALUES = 12


class ItemCard(QFrame):
    """One item: sentence, advice, values, and buttons.

    ``mendAsked(Mend)``; ``jumpAsked(str, str)`` with a step and a column.
    """

    mendAsked = Signal(object)
    jumpAsked = Signal(str, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_look(self, "card")
        self._mends: tuple[Fix, ...] = ()
        self._place = ("", "")
        self._buttons: list[QPushButton] = []
        layout = column(self, margin=SPACE.l, gap=SPACE.s)
        self.sentence, self.advice, self.values = note("", "strong"), note("", "answer"), note()
        for label in (self.sentence, self.advice, self.values):
            layout.addWidget(label)
        self._bar = FlowBox(gap=SPACE.s)
        layout.addWidget(self._bar)
        self.hide()

    def show_item(self, item: FitItem | None, items: Sequence[FitItem] = ()) -> None:
        """Show one of the items; None: nothing."""
        self.setVisible(item is not None)
        self._mends = () if item is None else mends_of(item, items)
        if item is None:
            return
        self.sentence.setText(in_window(item.sentence))
        self.advice.setText(words.advice_words(item))
        self.advice.setVisible(bool(self.advice.text()))
        values = [
            f"{quoted(each.value)} ({grouped(each.rows)})" for each in item.values if each.rows
        ]
        more = len(values) - _VALUES
        shown = ", ".join(values[:_VALUES]) + (f" … +{grouped(more)}" if more > 0 else "")
        self.values.setText(self.tr("Values and their rows: {values}").format(values=shown))
        self.values.setVisible(bool(values))
        self._offer(item)

    def _offer(self, item: FitItem) -> None:
        for old in self._buttons:
            self._bar.remove(old)
            old.hide()
            old.deleteLater()
        self._buttons = []
        tip = self.tr("Check the file against the plan with this; the work stays as it is")
        for number, mend in enumerate(self._mends):
            made = button(words.mend_words(mend).replace("&", "&&"), tip)
            made.setProperty("mend", number)
            made.clicked.connect(self._on_mend)
            self._buttons.append(made)
        step, title = words.place_of(item)
        self._place = (step, item.column)
        go = button(self.tr("Go to {step}").format(step=title), self.tr("Fix it in the window"))
        go.clicked.connect(self._on_jump)
        self._buttons.append(go)
        for one in self._buttons:
            self._bar.add(one)
        self._bar.updateGeometry()

    @Slot()
    def _on_mend(self) -> None:
        sender = self.sender()
        if sender is not None:
            self.mendAsked.emit(self._mends[int(sender.property("mend"))])

    @Slot()
    def _on_jump(self) -> None:
        self.jumpAsked.emit(*self._place)


class FitPage(QWidget):
    """``otherAsked()``, ``againAsked()``, ``backAsked()``, ``adoptAsked()``; see ItemCard."""

    otherAsked = Signal()
    againAsked = Signal()
    backAsked = Signal()
    adoptAsked = Signal()

    def __init__(self, theme: ThemeManager, hub: JobHub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._items: tuple[FitItem, ...] = ()
        layout = column(self, gap=SPACE.m)
        self.title, self.answer = note("", "headline"), note()
        self.trial, self.decided = note("", "answer"), note()
        self.progress = JobLine(hub)
        layout.addWidget(self.title)
        layout.addWidget(self.progress)
        layout.addWidget(self.answer)
        layout.addWidget(self.trial)
        self.grid = Lines(
            theme,
            self.tr("What is not as it was, the worst first"),
            self.tr("Arrow keys choose a line; all of it, and what to do, stands below"),
        )
        self.grid.selectionModel().selectionChanged.connect(self._on_chosen)
        layout.addWidget(self.grid, 1)
        self.card = ItemCard()
        layout.addWidget(self.card)
        layout.addWidget(self.decided)
        layout.addWidget(self._build_bar())
        self.show_held(None, ())

    def ask_about(self, name: str) -> None:
        """Say which file is being checked against the plan."""
        self.title.setText(words.question(name))
        adopt = self.tr("G&o on with {name}").format(name=name.replace("&", "&&"))
        self.adopt.setText(adopt)
        self.adopt.setAccessibleName(adopt.replace("G&o", "Go"))

    def show_held(self, report: FitReport | None, mends: Sequence[Fix]) -> None:
        """Show how the plan fits; None: not known yet."""
        self._items = () if report is None else report.items
        self.grid.lines.set_table(words.headings(), [words.row_of(item) for item in self._items])
        self.grid.setVisible(bool(self._items))
        look, answer = ("note", "") if report is None else words.answer_words(report)
        set_look(self.answer, look)
        trial = "" if report is None else words.trial_words(report)
        for label, text in (
            (self.answer, answer),
            (self.trial, trial),
            (self.decided, words.decided_words(mends)),
        ):
            label.setText(text)
            label.setVisible(bool(text))
        self.adopt.setEnabled(report is not None)
        self.again.setEnabled(report is not None)
        self.back.setVisible(bool(mends))
        if self._items:
            self.grid.selectRow(0)
        self._on_chosen()

    def say_stale(self) -> None:
        """The plan is another one than was checked against the file."""
        text = self.tr("↻ The plan has changed since: check it against the file again.")
        set_look(self.answer, "note")
        self.answer.setText(text)
        self.answer.show()

    def say_adopted(self, sentence: str) -> None:
        """The work has gone on with the file."""
        set_look(self.answer, "ok")
        self.answer.setText(sentence)
        self.answer.show()
        self.adopt.setEnabled(False)
        self.back.hide()

    def _build_bar(self) -> FlowBox:
        bar = FlowBox(gap=SPACE.s)
        tip = self.tr("Make it the file of the work; one undo goes back to the present one")
        self.adopt = button(self.tr("G&o on with the file"), tip, "primary")
        tip = self.tr("Check the file against the plan as it is in the window now")
        self.again = button(self.tr("Check it against the plan &again"), tip)
        self.back = button(
            self.tr("&Take the last decision back"), self.tr("Forget what was decided last")
        )
        self.other = button(
            self.tr("Another &file…"), self.tr("Check another file against the plan")
        )
        for one, signal in (
            (self.adopt, self.adoptAsked),
            (self.again, self.againAsked),
            (self.back, self.backAsked),
            (self.other, self.otherAsked),
        ):
            one.clicked.connect(signal)
            bar.add(one)
        return bar

    @Slot()
    def _on_chosen(self) -> None:
        row = self.grid.chosen
        item = self._items[row] if 0 <= row < len(self._items) else None
        self.card.show_item(item, self._items)
