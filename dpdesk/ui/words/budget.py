"""What a ledger says, in words."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from dpdesk.app.types import Outlook
from dpdesk.ui.words.numbers import marked_within
from dpdesk.ui.words.spoken import said

translate = QCoreApplication.translate


def cost_words(outlook: Outlook) -> str:
    """The button that releases: ``Release, spends ε = 0.5 of 2``."""
    words = translate("Budget", "Release, spends {cost}")
    if outlook.again:
        words = translate("Budget", "Release again, spends {cost}")
    if outlook.limit:
        words += translate("Budget", " of {limit}")
    return words.format(cost=_short(outlook.cost), limit=_amount(outlook.limit, outlook.cost))


def status_words(outlook: Outlook) -> str:
    """The status bar: ``ε 0.5/2``, spent of what may be spent."""
    if not outlook.limit:
        return translate("Budget", "{spent} spent").format(spent=_short(outlook.spent))
    return f"{_short(outlook.spent)}/{_amount(outlook.limit, outlook.spent)}"


def outlook_words(outlook: Outlook) -> str:
    """What is spent, what this costs, what would be left."""
    account = said(outlook.account)
    words = translate("Budget", "{account}: {spent} spent so far. This release costs {cost}.")
    if outlook.refusal:
        words += " ✕ {refusal}"
    elif outlook.left:
        words += translate("Budget", " Afterwards {after} of {limit} are spent, {left} left.")
    else:
        words += translate("Budget", " Afterwards {after} are spent; no limit is set.")
    return words.format(
        account=f"{account[:1].upper()}{account[1:]}",
        spent=_short(outlook.spent),
        cost=_short(outlook.cost),
        after=_short(outlook.after),
        limit=_short(outlook.limit),
        left=_short(outlook.left),
        refusal=f"{outlook.refusal} {outlook.hint}".strip(),
    )


def confirm_words(outlook: Outlook) -> str:
    """What the second step before a release says."""
    words = translate(
        "Budget",
        "The noise is drawn once, now. This spends {cost} of the budget of {account} for good, "
        "no matter what becomes of the release.",
    )
    if outlook.again:
        words += translate(
            "Budget", " {spent} were spent before: this is a further release of the same people."
        )
    return words.format(
        cost=_short(outlook.cost), account=said(outlook.account), spent=_short(outlook.spent)
    )


def _short(text: str) -> str:
    return marked_within(text).replace(" = ", "\u00a0")


def _amount(limit: str, beside: str) -> str:
    """A limit without the sign that stands before it already."""
    sign, _, amount = limit.partition(" = ")
    alike = beside.startswith(sign) and ", " not in limit
    return marked_within(amount) if alike else _short(limit)
