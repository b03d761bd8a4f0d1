"""Buying a table of the cube that is browsed: the offer, the two steps, the job, the new piece."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from dpdesk.app.browsing import OpenCube
from dpdesk.app.shops import AtHand, Shop
from dpdesk.app.types import AppContext
from dpdesk.ui.browsing import tasks
from dpdesk.ui.browsing.buy_card import BuyCard
from dpdesk.ui.browsing.buy_words import read_amount, table_words
from dpdesk.ui.files import FileAsker
from dpdesk.ui.jobs import JobCancelled, JobDone, JobFailed, JobHub
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.words.numbers import marked

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
        """Whether somebody here may hold what buying needs: a plan, or a whole release."""
        cube = self._cube
        if cube is None:
            return False
        return self._planned or any((each / "internal").is_dir() for each in cube.pieces)

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
            tasks.MakeOffer(
                self._context, self._till(self._cube), read_amount(self.card.amount.text())
            ),
            done=self._on_offer,
            failed=self._on_no_offer,
            quiet=True,
        )

    def _till(self, cube: OpenCube) -> tasks.Till:
        at_hand, dimensions = self._at_hand(), self._dimensions
        before, shop = self._shop
        known = shop if before == (cube.pieces[:1], at_hand, self._planned) else None
        return tasks.Till(cube, at_hand, self._planned, dimensions, self._folder, known)

    def _on_offer(self, outcome: JobDone) -> None:
        found = outcome.value
        if not isinstance(found, tasks.Offered) or self._cube is None:
            return
        self._shop = ((self._cube.pieces[:1], self._at_hand(), self._planned), found.shop)
        if set(found.dimensions) == set(self._dimensions):
            self.card.show_offer(found)

    def _on_no_offer(self, outcome: JobFailed) -> None:
        self.card.show_refusal(f"{outcome.sentence} {outcome.hint}".strip())

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
            table=table, cost=marked(offered.offer.cost)
        )
        self._job = self._hub.mutate(
            title,
            tasks.Buy(self._context, self._till(self._cube), offered.amount, offered.out),
            done=self._on_done,
            failed=self._on_failed,
            cancelled=self._on_cancelled,
        )
        self._bought_for = self._cube
        self.card.show_busy(self._job, title)

    def _end(self) -> None:
        self._job = 0
        self.card.show_busy(0, "")
        self.spent.emit()

    def _on_done(self, outcome: JobDone) -> None:
        self._end()
        self._on_declined()
        if self._cube is self._bought_for:
            self.bought.emit(outcome.value)
        else:
            self.boughtBefore.emit(outcome.value)

    def _on_failed(self, outcome: JobFailed) -> None:
        self._end()
        self.card.show_refusal(f"{outcome.sentence} {outcome.hint}".strip())

    def _on_cancelled(self, outcome: JobCancelled) -> None:
        self._end()
        self.card.show_refusal(
            self.tr(
                "The purchase was stopped and no table was written; what had been debited by then "
                "stays spent, see the budget ledger."
            )
        )
