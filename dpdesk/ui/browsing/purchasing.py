"""Buying a table of the cube that is browsed: the offer on its card, two steps, the new piece."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QObject, QSignalBlocker, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QLabel, QLineEdit, QVBoxLayout, QWidget

from dpdesk.app.browsing import OpenCube
from dpdesk.app.buying import Offer
from dpdesk.app.shops import AtHand, Shop
from dpdesk.app.types import AppContext
from dpdesk.ui.browsing import tasks
from dpdesk.ui.browsing.tasks import Offered
from dpdesk.ui.browsing.words import half_text
from dpdesk.ui.files import FileAsker
from dpdesk.ui.jobs import JobCancelled, JobFailed, JobHub
from dpdesk.ui.theme import SPACE, Theme, ThemeManager, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.activity import JobLine
from dpdesk.ui.widgets.layouts import FlowBox
from dpdesk.ui.widgets.states import Problem, button, note
from dpdesk.ui.words.numbers import grouped, marked_within, short_name, typed_exact
from dpdesk.ui.words.spoken import in_window

SIGNS = {"epsilon": "ε", "rho": "ρ"}
_LONGEST = 40


def _tr(text: str) -> str:
    return QCoreApplication.translate("Buy", text)


def table_words(dimensions: tuple[str, ...]) -> str:
    """How a table is called."""
    return " × ".join(map(short_name, dimensions)) or _tr("the total")


def read_amount(text: str) -> Fraction | None:
    """An exact amount above 0, as a decimal or a fraction that has one; None for all else."""
    upper, slash, lower = text.partition("/")
    first, second = typed_exact(upper), typed_exact(lower) if slash else None
    if first is None or (slash and not second) or len(text) > _LONGEST:
        return None
    found = first / second if second else first
    rest = found.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return found if found > 0 and rest == 1 else None


def amount_problem(text: str, sign: str) -> str:
    """What is wrong with a typed amount; empty when nothing is, or nothing was typed."""
    if not text.strip() or read_amount(text) is not None:
        return ""
    return _tr(
        "{sign} is “{text}”, expected a number above 0 with finitely many decimals, such as 0.1 "
        "or 1/8."
    ).format(sign=sign, text=text.strip()[:_LONGEST])


def question_words(dimensions: tuple[str, ...]) -> str:
    """The title of the card."""
    if not dimensions:
        return _tr("Where should the total come from?")
    return _tr("Where should the table {table} come from?").format(table=table_words(dimensions))


def free_words(offer: Offer) -> str:
    """What the releases tell of the table, for nothing."""
    if offer.compared[0].now is None:
        return _tr(
            "From what is released: no answer, because no table contains {table} together."
        ).format(table=table_words(offer.dimensions))
    tables = ", ".join(table_words(each) for each in offer.answering)
    halves = _each(offer, "now")
    return _tr("From what is released ({tables}): {halves} in each cell; costs nothing.").format(
        tables=tables, halves=halves
    )


def bought_words(offer: Offer, *, supposed: bool) -> str:
    """What the table would bring and cost; ``supposed``: for an amount that nobody has named."""
    new = offer.compared[0].now is None
    if supposed and new:
        text = _tr("For example, bought for {cost}: {alone} in each of {cells} cells.")
    elif supposed:
        text = _tr(
            "For example, bought for {cost}: {alone} in each of {cells} cells, and "
            "{together} together with what is released."
        )
    elif new:
        text = _tr("Bought for {cost}: {alone} in each of {cells} cells.")
    else:
        text = _tr(
            "Bought for {cost}: {alone} in each of {cells} cells, and {together} together with "
            "what is released."
        )
    line = text.format(
        cost=marked_within(offer.cost),
        alone=_each(offer, "alone"),
        together=_each(offer, "together"),
        cells=grouped(offer.cells),
    )
    return f"{line} {left_words(offer)}"


def left_words(offer: Offer) -> str:
    """What is left of the budget afterwards."""
    if offer.refusal:
        text = _tr("That is more than is left: {spent} of {limit} is spent.")
        if not offer.limit:
            text = _tr("The budget does not cover this; {spent} is already spent.")
    elif offer.left:
        text = _tr("It leaves {left} of {limit}.")
    else:
        text = _tr("After that, {after} is spent; no limit is set.")
    return text.format(
        spent=marked_within(offer.spent),
        after=marked_within(offer.after),
        left=marked_within(offer.left),
        limit=marked_within(offer.limit),
    )


def advice_words(offer: Offer) -> str:
    """Cautions: where buying would hardly help, and what the ledger says; empty without any."""
    found = [f"△ {in_window(note.sentence)}" for note in offer.notes]
    if not offer.worth_it:
        found.append(_tr("△ The ± would hardly be smaller than it is now: not worth buying."))
    return "\n".join(found)


def confirm_words(offer: Offer, place: str) -> str:
    """What the second step says."""
    text = _tr(
        "{cost} is taken from the budget of “{name}” before the noise is drawn. This "
        "cannot be undone, even if the purchase is stopped. The table is written to "
        "{place}."
    )
    if not offer.population:
        text = _tr(
            "{cost} is taken from the budget of these data before the noise is drawn. This "
            "cannot be undone, even if the purchase is stopped. The table is written to "
            "{place}."
        )
    return text.format(cost=marked_within(offer.cost), name=offer.population, place=place)


def _each(offer: Offer, which: str) -> str:
    """The ± of a cell, of each measured vector."""
    parts = []
    for each in offer.compared:
        accuracy = getattr(each, which)
        text = _tr("no answer") if accuracy is None else half_text(accuracy.half_width)
        parts.append(f"{text} ({each.name})" if len(offer.compared) > 1 else text)
    return ", ".join(parts)


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
        self.show_key(self._key)
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
        self.amount.setPlaceholderText(self.tr("0.1"))
        self.amount.textChanged.connect(self._on_typed)
        self.amount.returnPressed.connect(self._on_next)
        self.next = button(
            self.tr("Bu&y this table…"), self.tr("Shows what is debited before it is"), "primary"
        )
        self.next.clicked.connect(self._on_next)
        tip = self.tr("Choose the folder in which the folder of the table is created")
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

    def show_wish(self, dimensions: tuple[str, ...]) -> None:
        """Name the table that is wanted; its offer is on its way."""
        self._offered = None
        self.question.setText(question_words(dimensions))
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
        sign = SIGNS[key]
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
        self.free.setText(free_words(offer))
        self.cost.setText(bought_words(offer, supposed=offered.supposed))
        self.cost.show()
        advice = "" if offered.supposed else advice_words(offer)
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
        typed = amount_problem(self.amount.text(), SIGNS[self._key])
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
        self.confirm.setText(confirm_words(offer, place))
        text = self.tr("Debit {cost} and bu&y").format(cost=marked_within(offer.cost))
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


PATIENCE_MS = 250


class Purchase(QObject):
    """``bought(Path)``: the folder of a new piece, ``boughtBefore(Path)`` of the cube that was open
    before; ``spent()``: the ledger may say other things;
    ``turned()`` when the card was opened or closed, ``declinedNow()`` when somebody closed it.

    ``at_hand()`` is the work that is open with its data, None without.
    """

    bought = Signal(object)
    boughtBefore = Signal(object)
    spent = Signal()
    turned = Signal()
    declinedNow = Signal()

    def __init__(
        self,
        context: AppContext,
        hub: JobHub,
        theme: ThemeManager,
        asker: FileAsker,
        at_hand: Callable[[], AtHand | None],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._context, self._hub, self._asker = context, hub, asker
        self._at_hand = at_hand
        self._cube: OpenCube | None = None
        self._planned = False
        self._dimensions: tuple[str, ...] = ()
        self._folder: Path | None = None
        self._job = 0
        self._bought_for: OpenCube | None = None
        self._shop: tuple[object, Shop | None] = (None, None)
        self._declined: set[tuple[str, ...]] = set()
        self.card = BuyCard(hub, theme)
        self.card.amountTyped.connect(self._on_typed)
        self.card.bought.connect(self._on_bought)
        self.card.placeAsked.connect(self._on_place)
        self.card.closed.connect(self._on_closed)
        self._patience = QTimer(self)
        self._patience.setSingleShot(True)
        self._patience.setInterval(PATIENCE_MS)
        self._patience.timeout.connect(self.offer)

    @property
    def waits(self) -> bool:
        """Whether an offer is on its way, or about to be asked for."""
        return self._patience.isActive() or self._hub.latest(tasks.OFFER).busy

    @property
    def possible(self) -> bool:
        """Whether tables are sold, and somebody here may hold a plan or a whole release."""
        cube = self._cube
        if cube is None or not cube.sold:
            return False
        return self._planned or any((each / "internal").is_dir() for each in cube.pieces)

    @property
    def at_hand(self) -> bool:
        """Whether the data are open that a table would be counted from."""
        return self._at_hand() is not None

    def declined(self, dimensions: tuple[str, ...]) -> bool:
        """Whether somebody closed the offer of this table before."""
        return dimensions in self._declined

    def take(self, cube: OpenCube | None, *, planned: bool) -> None:
        """Sell pieces of this cube; ``planned``: by the plan that is open, not a release's own."""
        if cube is None or self._cube is None:
            self._folder = None
            self._shop = (None, None)
            self._declined.clear()
        self._cube, self._planned = cube, planned
        if cube is None:
            self.close()

    def want(self, dimensions: tuple[str, ...]) -> None:
        """Offer the table of these dimensions."""
        if self._cube is None or self._job:
            return
        if dimensions != self._dimensions or self.card.isHidden():
            self.card.empty_amount()
        self._dimensions = dimensions
        hidden = self.card.isHidden()
        self.card.show_wish(dimensions)
        self.offer()
        if hidden:
            self.turned.emit()

    @Slot()
    def _on_declined(self) -> None:
        self._declined.add(self._dimensions)
        self.close()

    @Slot()
    def _on_closed(self) -> None:
        self._on_declined()
        self.declinedNow.emit()

    @Slot()
    def close(self) -> None:
        """Take the offer away."""
        self._patience.stop()
        self._hub.latest(tasks.OFFER).cancel()
        if not self.card.isHidden() and not self._job:
            self.card.hide()
            self.turned.emit()

    @Slot()
    def offer(self) -> None:
        """Work out what the table would bring and cost."""
        if self._cube is None or self.card.isHidden():
            return
        self._hub.latest(tasks.OFFER).query(
            self.tr("Working out an offer"),
            partial(
                tasks.make_offer,
                self._context,
                self._till(self._cube),
                read_amount(self.card.amount.text()),
            ),
            then=self._on_offer,
            failed=self._on_no_offer,
            quiet=True,
        )

    def _till(self, cube: OpenCube) -> tasks.Till:
        at_hand, dimensions = self._at_hand(), self._dimensions
        before, shop = self._shop
        known = shop if before == (cube.pieces[:1], at_hand, self._planned) else None
        return tasks.Till(cube, at_hand, self._planned, dimensions, self._folder, known)

    def _on_offer(self, found: tasks.Offered) -> None:
        if self._cube is None:
            return
        self._shop = ((self._cube.pieces[:1], self._at_hand(), self._planned), found.shop)
        if set(found.dimensions) == set(self._dimensions):
            self.card.show_offer(found)

    def _on_no_offer(self, outcome: JobFailed) -> None:
        self.card.show_refusal(outcome.full)

    @Slot()
    def _on_typed(self) -> None:
        self._hub.latest(tasks.OFFER).cancel()
        self._patience.start()

    @Slot()
    def _on_place(self) -> None:
        near = "" if self._folder is None else str(self._folder)
        chosen = self._asker.open_folder(self.tr("Where to write the table"), near)
        if chosen is not None:
            self._folder = chosen
            self.offer()

    # -- the purchase

    @Slot()
    def _on_bought(self) -> None:
        offered = self.card.offered
        if offered is None or self._cube is None or self._job:
            return
        table = table_words(offered.dimensions)
        title = self.tr("Buying {table} for {cost}").format(
            table=table, cost=marked_within(offered.offer.cost)
        )
        self._job = self._hub.mutate(
            title,
            partial(
                tasks.buy_table, self._context, self._till(self._cube), offered.amount, offered.out
            ),
            then=self._on_done,
            failed=self._on_failed,
            cancelled=self._on_cancelled,
        )
        self._bought_for = self._cube
        self.card.show_busy(self._job, title)

    def _end(self) -> None:
        self._job = 0
        self.card.show_busy(0, "")
        self.spent.emit()

    def _on_done(self, found: object) -> None:
        self._end()
        self._on_declined()
        if self._cube is self._bought_for:
            self.bought.emit(found)
        else:
            self.boughtBefore.emit(found)

    def _on_failed(self, outcome: JobFailed) -> None:
        self._end()
        self.card.show_refusal(outcome.full)

    def _on_cancelled(self, outcome: JobCancelled) -> None:
        self._end()
        self.card.show_refusal(
            self.tr(
                "The purchase was stopped and no table was written; what had been debited by then "
                "stays spent, see the budget ledger."
            )
        )
