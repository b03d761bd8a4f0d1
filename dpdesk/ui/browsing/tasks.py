"""What is done with a released cube, as work for a background thread."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

from dpdesk.app import auditing, browsing, buying, shops
from dpdesk.app.browsing import OpenCube
from dpdesk.app.buying import Offer, TableRequest
from dpdesk.app.shops import AtHand, Shop
from dpdesk.app.types import AppContext
from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.logged import Logged
from dpdesk.core.pivot import BrowseState, Pivot

OPEN, LOOK, OFFER = "browse.open", "browse.look", "browse.offer"
_SUPPOSED = Fraction(1)


def open_pieces(
    context: AppContext,
    pieces: tuple[Path, ...],
    token: CancelToken,
    report: Report,
    *,
    known: OpenCube | None = None,
) -> OpenCube:
    """Check and open the folders of a released cube; ``known`` is what was open of it before."""
    first, *others = pieces
    return browsing.open_cube(context, first, token, report, others, known)


def open_plan(context: AppContext, at_hand: AtHand, token: CancelToken, report: Report) -> OpenCube:
    """Open the cube of the plan that is open, of which nothing is released."""
    shop = shops.shop_of_work(context, at_hand, "the plan")
    return browsing.planned_cube(context, shop, token, report)


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
        """The shop; RefusedError ``buy.*`` for anyone who cannot buy here, and why."""
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


def make_offer(
    context: AppContext, till: Till, amount: Fraction | None, token: CancelToken, report: Report
) -> Offered:
    """Work out what a table would bring and cost; spends nothing."""
    shop = till.shop(context, token)
    supposed, paid = amount is None, amount or _SUPPOSED
    wish = TableRequest(till.dimensions, (shop.budget_key, paid))
    reader = till.cube.reader
    offer = buying.make_offer(context, shop, wish, till.pieces, token, report, reader)
    place = till.place(shop)
    return Offered(till.dimensions, shop.budget_key, paid, supposed, offer, place, shop)


def buy_table(
    context: AppContext, till: Till, amount: Fraction, out: Path, token: CancelToken, report: Report
) -> Path:
    """Debit the budget, draw the noise, and write the table as a release of its own."""
    till = replace(till, known=None)  # all that allows a purchase is looked at again
    shop = till.shop(context, token)
    wish = TableRequest(till.dimensions, (shop.budget_key, amount))
    facts = {"out": str(out.absolute())}
    auditing.enter(context, Logged.RAN, shop.where, facts)
    _, made = buying.buy(context, shop, wish, till.pieces, out, token, report)
    auditing.mention_release(context, made.out, report)
    return made.out


@dataclass(frozen=True)
class Seen:
    """The numbers of a state."""

    state: BrowseState
    pivot: Pivot


def read_view(cube: OpenCube, state: BrowseState, token: CancelToken, report: Report) -> Seen:
    """Read the numbers of one view."""
    return Seen(state, cube.look(state, token, report))
