"""What ``dpdesk buy`` does: tell what one more table would bring and cost, and buy it."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from dpdesk.app import buying
from dpdesk.app.buying import Offer, TableRequest
from dpdesk.app.shops import shop_of_file
from dpdesk.cli.outcome import Outcome
from dpdesk.cli.printing import columns, paragraph
from dpdesk.core.errors import InputError
from dpdesk.core.parameters import exact_number
from dpdesk.core.query import read_names

if TYPE_CHECKING:
    from dpdesk.app.context import AppContext
    from dpdesk.core.jobs import CancelToken, Report
    from dpdesk.engine.cubes.olap.purchase import Accuracy


def buy(context: AppContext, options: Namespace, token: CancelToken, report: Report) -> Outcome:
    """Make an offer; with ``--out`` take it."""
    wish, shop = _wish(options), shop_of_file(options.plan)
    if options.out is None:
        offer = buying.make_offer(context, shop, wish, options.others, token, report)
        for note in offer.notes:
            report(note)
        plain = {"bought": False, **offer.as_json()}
        return Outcome(_text(offer) + "\nNothing was spent; --out DIR buys it.\n", plain)
    offer, made = buying.buy(context, shop, wish, options.others, options.out, token, report)
    plain = {"bought": True, **offer.as_json(), **made.as_json()}
    asked = " ".join([str(made.out), *(f"--with {each}" for each in options.others)])
    text = f"{_text(offer)}\nBought, written to {made.out}\nAsk: dpdesk query {asked}\n"
    return Outcome(text, plain, kept=True)


def _wish(options: Namespace) -> TableRequest:
    key = "epsilon" if options.epsilon is not None else "rho"
    amount = exact_number(getattr(options, key))
    if amount is None or amount <= 0:
        raise InputError(
            "usage",
            f"dpdesk buy: `--{key}` is {getattr(options, key)!r}, expected a number above 0.",
        )
    names = tuple(name for text in options.by for name in read_names(text))
    if len(set(names)) < len(names) or not all(names):
        raise InputError("usage", "dpdesk buy: `--by` names a column twice, or none.")
    return TableRequest(names, (key, amount))


def _text(offer: Offer) -> str:
    head = ("", "± of a cell (95 %)", "variance")
    rows: list[tuple[str, str, str]] = [head]
    for each in offer.compared:
        several = f" ({each.name})" if len(offer.compared) > 1 else ""
        rows += [
            (f"released now{several}", *_figures(each.now)),
            (f"bought alone{several}", *_figures(each.alone)),
            (f"both together{several}", *_figures(each.together)),
        ]
    table = " × ".join(offer.dimensions) or "the grand total"
    lines = [
        f"{table}: {offer.cells:,} cells, for {offer.cost}",
        "",
        columns(rows, right=(1, 2)),
        "",
        paragraph(offer.sentence()),
        paragraph(
            f"Budget: {offer.spent} spent so far, {offer.after} after buying"
            + (f", {offer.left} left." if offer.left else ".")
        ),
    ]
    if offer.refusal:
        lines.append(paragraph(f"The ledger would refuse it: {offer.refusal}"))
    return "\n".join(lines)


def _figures(accuracy: Accuracy | None) -> tuple[str, str]:
    if accuracy is None:
        return "cannot answer", ""
    return f"{accuracy.half_width:,.4g}", f"{accuracy.variance:,.6g}"
