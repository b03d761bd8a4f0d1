"""What is done with a released cube, as work for a background thread."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

from dpdesk.app import browsing, buying, recording, shops
from dpdesk.app.browsing import OpenCube
from dpdesk.app.buying import Offer, TableRequest
from dpdesk.app.shops import AtHand, Shop
from dpdesk.app.types import AppContext
from dpdesk.core.browsing import BrowseState
from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.pivot import Pivot

OPEN, LOOK, OFFER = "browse.open", "browse.look", "browse.offer"
_SUPPOSED = Fraction(1)


@dataclass(frozen=True)
class OpenPieces:
    """Check and open the folders of a released cube; ``known`` is what was open of it before."""

    context: AppContext
    pieces: tuple[Path, ...]
    known: OpenCube | None = None

    def __call__(self, token: CancelToken, report: Report) -> OpenCube:
        """The cube."""
        first, *others = self.pieces
        return browsing.open_cube(self.context, first, token, report, others, self.known)


@dataclass(frozen=True)
class OpenPlan:
    """Open the cube of the plan that is open, of which nothing is released."""

    context: AppContext
    at_hand: AtHand

    def __call__(self, token: CancelToken, report: Report) -> OpenCube:
        """The cube."""
        shop = shops.shop_of_work(self.context, self.at_hand, "the plan")
        return browsing.planned_cube(self.context, shop, token, report)


@dataclass(frozen=True)
class Till:
    """What is to be bought, and with what: the releases there are, the work and data at hand.

    ``planned``: by the plan at hand, not by that of the first release. ``folder`` is where somebody
    wants the new release; None: beside the first one. ``known`` is the shop of an offer before.
    """

    cube: OpenCube
    at_hand: AtHand | None
    planned: bool
    dimensions: tuple[str, ...]
    folder: Path | None = None
    known: Shop | None = field(default=None, repr=False)

    @property
    def pieces(self) -> tuple[Path, ...]:
        """The folders of the releases."""
        return self.cube.pieces

    def shop(self, context: AppContext, token: CancelToken) -> Shop:
        """The shop; RefusedError ``buy.*`` for whoever cannot buy here, and why."""
        if self.known is not None:
            return self.known
        if not self.planned:
            return shops.shop_of_release(context, self.pieces[0], self.at_hand, token)
        if self.at_hand is None:
            raise RefusedError(
                "buy.no-source",
                "No data are open: buying counts in the file that the plan is for.",
                hint="Open the plan in the main window.",
            )
        return shops.shop_of_work(context, self.at_hand, "the plan")

    def place(self, shop: Shop) -> Path:
        """A free folder for the new release."""
        first = self.pieces[0] if self.pieces else shop.base / (shop.plan.title or "cube")
        stem = first if self.folder is None else self.folder / first.name
        return buying.place_beside(stem, self.dimensions)


@dataclass(frozen=True)
class Offered:
    """An offer and the amount that it is for; ``supposed`` when nobody has named one yet."""

    dimensions: tuple[str, ...]
    key: str
    amount: Fraction
    supposed: bool
    offer: Offer
    out: Path
    shop: Shop = field(repr=False)


@dataclass(frozen=True)
class MakeOffer:
    """Work out what a table would bring and cost; spends nothing."""

    context: AppContext
    till: Till
    amount: Fraction | None

    def __call__(self, token: CancelToken, report: Report) -> Offered:
        """The offer."""
        shop, till = self.till.shop(self.context, token), self.till
        amount = self.amount or _SUPPOSED
        wish = TableRequest(till.dimensions, (shop.budget_key, amount))
        reader = till.cube.reader
        offer = buying.make_offer(self.context, shop, wish, till.pieces, token, report, reader)
        supposed = self.amount is None
        place = till.place(shop)
        return Offered(till.dimensions, shop.budget_key, amount, supposed, offer, place, shop)


@dataclass(frozen=True)
class Buy:
    """Debit the budget, draw the noise, and write the table as a release of its own."""

    context: AppContext
    till: Till
    amount: Fraction
    out: Path

    def __call__(self, token: CancelToken, report: Report) -> Path:
        """The folder of the release."""
        till = replace(self.till, known=None)  # all that allows a purchase is looked at again
        shop = till.shop(self.context, token)
        wish = TableRequest(till.dimensions, (shop.budget_key, self.amount))
        facts = {"out": str(self.out.absolute())}
        recording.enter(self.context, "ran", shop.where, facts)
        _, made = buying.buy(self.context, shop, wish, till.pieces, self.out, token, report)
        recording.mention_release(self.context, made.out, report)
        return made.out


@dataclass(frozen=True)
class Seen:
    """The numbers of a state."""

    state: BrowseState
    pivot: Pivot


@dataclass(frozen=True)
class ReadView:
    """Read the numbers of one view."""

    cube: OpenCube
    state: BrowseState

    def __call__(self, token: CancelToken, report: Report) -> Seen:
        """The numbers."""
        return Seen(self.state, self.cube.look(self.state, token, report))


@dataclass(frozen=True)
class Export:
    """Write a view to a file."""

    context: AppContext
    cube: OpenCube
    state: BrowseState
    out: Path

    def __call__(self, token: CancelToken, report: Report) -> Path:
        """The file that was written."""
        return browsing.export_view(self.context, self.cube, self.state, self.out, token, report)
