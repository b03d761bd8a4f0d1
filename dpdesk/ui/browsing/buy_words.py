"""Words of the card that sets side by side what a table costs and what it would bring."""

from __future__ import annotations

from fractions import Fraction

from PySide6.QtCore import QCoreApplication

from dpdesk.app.buying import Offer
from dpdesk.ui.browsing.words import half_text
from dpdesk.ui.words.counts import short_name
from dpdesk.ui.words.numbers import grouped, marked, typed_exact
from dpdesk.ui.words.spoken import said

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
        return _tr("From what is released: no answer, for no table has {table} together.").format(
            table=table_words(offer.dimensions)
        )
    tables = ", ".join(table_words(each) for each in offer.answering)
    halves = _each(offer, "now")
    return _tr("From what is released ({tables}): {halves} in each cell; costs nothing.").format(
        tables=tables, halves=halves
    )


def bought_words(offer: Offer, *, supposed: bool) -> str:
    """What the table would bring and cost; ``supposed``: for an amount that nobody has named."""
    new = offer.compared[0].now is None
    if supposed and new:
        text = _tr("Bought for {cost}, as an example: {alone} in each of {cells} cells.")
    elif supposed:
        text = _tr(
            "Bought for {cost}, as an example: {alone} in each of {cells} cells, and {together} "
            "together with what is released."
        )
    elif new:
        text = _tr("Bought for {cost}: {alone} in each of {cells} cells.")
    else:
        text = _tr(
            "Bought for {cost}: {alone} in each of {cells} cells, and {together} together with "
            "what is released."
        )
    line = text.format(
        cost=marked(offer.cost),
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
            text = _tr("The budget cannot pay that; {spent} is spent.")
    elif offer.left:
        text = _tr("It leaves {left} of {limit}.")
    else:
        text = _tr("Then {after} is spent; no limit is set.")
    return text.format(
        spent=marked(offer.spent),
        after=marked(offer.after),
        left=marked(offer.left),
        limit=marked(offer.limit),
    )


def advice_words(offer: Offer) -> str:
    """Cautions: where buying would hardly help, and what the ledger says; empty without any."""
    found = [f"△ {said(note.sentence)}" for note in offer.notes]
    if not offer.worth_it:
        found.append(_tr("△ The ± would hardly be smaller than it is now: better not bought."))
    return "\n".join(found)


def confirm_words(offer: Offer, place: str) -> str:
    """What the second step says."""
    text = _tr(
        "{cost} is taken from the budget of “{name}” before the noise is drawn, once and for good: "
        "it cannot be undone, even if the purchase is stopped. The table is written to {place}."
    )
    if not offer.population:
        text = _tr(
            "{cost} is taken from the budget of these data before the noise is drawn, once and for "
            "good: it cannot be undone, even if the purchase is stopped. The table is written to "
            "{place}."
        )
    return text.format(cost=marked(offer.cost), name=offer.population, place=place)


def _each(offer: Offer, which: str) -> str:
    """The ± of a cell, of each measured vector."""
    parts = []
    for each in offer.compared:
        accuracy = getattr(each, which)
        text = _tr("no answer") if accuracy is None else half_text(accuracy.half_width)
        parts.append(f"{text} ({each.name})" if len(offer.compared) > 1 else text)
    return ", ".join(parts)
