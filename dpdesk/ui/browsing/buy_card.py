"""The card that offers a table: what the releases tell for nothing, what buying brings and costs.

Buying takes two steps within the card: the second names what is debited, for that has no undo.
"""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QLabel, QLineEdit, QVBoxLayout, QWidget

from dpdesk.ui.browsing import buy_words as words
from dpdesk.ui.browsing.tasks import Offered
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.panels.review.job_line import JobLine
from dpdesk.ui.people.parts import Problem, button, note
from dpdesk.ui.theme import SPACE, Theme, ThemeManager, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.flow import FlowBox
from dpdesk.ui.words.numbers import marked


class BuyCard(QFrame):
    """``amountTyped()``; ``bought()`` when both steps were taken; ``placeAsked()`` for another
    folder; ``closed()``.
    """

    amountTyped = Signal()
    bought = Signal()
    placeAsked = Signal()
    closed = Signal()

    def __init__(self, hub: JobHub, theme: ThemeManager) -> None:
        super().__init__()
        self._key, self._busy = "epsilon", False
        self._offered: Offered | None = None
        set_look(self, "card")
        layout = column(self, margin=SPACE.m, gap=SPACE.s)
        self.question = note("", "section")
        self.free, self.cost = note("", "body"), note("", "body")
        self.advice = note("", "caution")
        self.problem = Problem()
        tip = self.tr("Stop; no table is written, but what was debited by then stays spent")
        self.progress = JobLine(hub, tip=tip)
        for label in (self.question, self.free, self.cost, self.advice):
            layout.addWidget(label)
        self._build_first(layout)
        layout.addWidget(self.problem)
        self._build_second(layout)
        layout.addWidget(self.progress)
        theme.changed.connect(self._on_theme)
        self._on_theme(theme.theme)
        self.hide()

    def _build_first(self, layout: QVBoxLayout) -> None:
        self._first = FlowBox(gap=SPACE.s)
        self.label, self.amount = QLabel(), QLineEdit()
        self.label.setBuddy(self.amount)
        self.amount.setPlaceholderText(self.tr("0.1 or 1/8"))
        self.amount.textChanged.connect(self._on_typed)
        self.amount.returnPressed.connect(self._on_next)
        self.next = button(
            self.tr("Bu&y this table…"), self.tr("Shows what is debited before it is"), "primary"
        )
        self.next.clicked.connect(self._on_next)
        tip = self.tr("Choose the folder in which the folder of the table is made")
        self.place = button(self.tr("&Write elsewhere…"), tip)
        self.place.clicked.connect(self.placeAsked)
        self.close_button = button(self.tr("Do no&t buy"), self.tr("Close this offer (Esc)"))
        self.close_button.clicked.connect(self.closed)
        for widget in (self.label, self.amount, self.next, self.place, self.close_button):
            self._first.add(widget)
        layout.addWidget(self._first)

    def _build_second(self, layout: QVBoxLayout) -> None:
        self._second = QWidget()
        inner = column(self._second, gap=SPACE.s)
        self.confirm = note("", "caution")
        inner.addWidget(self.confirm)
        line = FlowBox(gap=SPACE.s)
        self.debit = button("", self.tr("Debits the budget and draws the noise; no undo"))
        self.back = button(
            self.tr("No&t yet"), self.tr("Back to the offer; nothing is spent (Esc)")
        )
        self.debit.clicked.connect(self.bought)
        self.back.clicked.connect(self.step_back)
        line.add(self.debit)
        line.add(self.back)
        inner.addWidget(line)
        layout.addWidget(self._second)
        self._second.hide()

    # -- what is shown

    @property
    def offered(self) -> Offered | None:
        """The offer on show that can be taken; None while there is none."""
        return self._offered

    @property
    def asks(self) -> bool:
        """Whether the second step is on show."""
        return self.isVisible() and not self._second.isHidden()

    def tab_stops(self) -> list[QWidget]:
        """What takes the focus here, from top to bottom."""
        return [
            self.amount,
            self.next,
            self.place,
            self.close_button,
            self.debit,
            self.back,
        ]

    def show_wish(self, dimensions: tuple[str, ...]) -> None:
        """Name the table that is wanted; its offer is on its way."""
        self._offered = None
        self.question.setText(words.question_words(dimensions))
        for label in (self.free, self.cost):
            label.setText("")
        self.free.setText(self.tr("Working out the offer; nothing is spent."))
        self.advice.hide()
        self.cost.hide()
        self.step_back()
        self._settle()
        self.show()

    def show_key(self, key: str) -> None:
        """In which unit is paid: ``epsilon`` or ``rho``."""
        self._key = key
        sign = words.SIGNS[key]
        self.label.setText(self.tr("&Spend {sign}").format(sign=sign))
        self.amount.setAccessibleName(self.tr("Spend {sign}").format(sign=sign))
        self.amount.setToolTip(
            self.tr("The budget of this one table, exactly; it adds up with what is spent before")
        )

    def show_offer(self, offered: Offered) -> None:
        """Set both costs side by side; an example where nothing was typed."""
        self._offered = None if offered.supposed else offered
        self.show_key(offered.key)
        offer = offered.offer
        self.free.setText(words.free_words(offer))
        self.cost.setText(words.bought_words(offer, supposed=offered.supposed))
        self.cost.show()
        advice = "" if offered.supposed else words.advice_words(offer)
        self.advice.setText(advice)
        self.advice.setVisible(bool(advice))
        self._say_problem("" if offered.supposed else offer.refusal)
        self._settle()

    def show_refusal(self, sentence: str) -> None:
        """Why there is no offer; what is missing is said in one sentence."""
        self._offered = None
        self.free.setText("")
        self.free.hide()
        self.cost.hide()
        self.advice.hide()
        self.step_back()
        self.problem.say(sentence)
        self._settle()

    def show_busy(self, job: int, title: str) -> None:
        """A purchase is under way (job 0: no more)."""
        self._busy = job != 0
        self.progress.follow(job, title)
        self._second.hide()
        self._first.setVisible(not self._busy)
        self._settle()

    def empty_amount(self) -> None:
        """Forget what was typed: a new table is a new decision."""
        with QSignalBlocker(self.amount):
            self.amount.clear()

    @Slot()
    def step_back(self) -> None:
        """Back from the second step."""
        asked = self.asks
        self._second.hide()
        self._first.setVisible(not self._busy)
        if asked:
            self.amount.setFocus()

    def _settle(self) -> None:
        self.free.setVisible(bool(self.free.text()))
        can = self._offered is not None and not self._offered.offer.refusal and not self._busy
        self.next.setEnabled(can)

    def _say_problem(self, refusal: str) -> None:
        typed = words.amount_problem(self.amount.text(), words.SIGNS[self._key])
        self.problem.say(typed or refusal)

    # -- reactions

    @Slot()
    def _on_typed(self) -> None:
        self._offered = None
        self.step_back()
        self._say_problem("")
        self._settle()
        self.amountTyped.emit()

    @Slot()
    def _on_next(self) -> None:
        if self._offered is None or not self.next.isEnabled():
            return
        offer, place = self._offered.offer, str(self._offered.out)
        self.confirm.setText(words.confirm_words(offer, place))
        text = self.tr("Debit {cost} and bu&y").format(cost=marked(offer.cost))
        self.debit.setText(text)
        self.debit.setAccessibleName(text.replace("&", ""))
        set_look(self.debit, "primary")
        self._first.hide()
        self._second.show()
        self.back.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape takes back the second step, then closes the offer."""
        if event.key() != Qt.Key.Key_Escape:
            super().keyPressEvent(event)
        elif self.asks:
            self.step_back()
        elif not self._busy:
            self.closed.emit()

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        self.amount.setFixedWidth(theme.ems(14))
