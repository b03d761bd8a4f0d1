"""Accounts, debits and limits of a ledger as lines of tables."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from dpdesk.app.budgets import AccountPicture, LedgerPicture
from dpdesk.core.charts import Cell
from dpdesk.ui.words.numbers import grouped
from dpdesk.ui.words.spoken import said

translate = QCoreApplication.translate


def account_headings() -> tuple[str, ...]:
    """Headings of the accounts."""
    return (
        translate("Ledger", "People"),
        translate("Ledger", "Spent"),
        translate("Ledger", "Limit"),
        translate("Ledger", "Left"),
        translate("Ledger", "Debits"),
        translate("Ledger", "In other ledgers"),
    )


def account_row(account: AccountPicture) -> tuple[Cell, ...]:
    """Who, how much, how much may be, how much is left, how often."""
    limit, left = account.limit, account.left
    none = translate("Ledger", "none")
    return (
        said(str(account.key)),
        str(account.spending),
        none if limit is None else str(limit),
        "–" if left is None else str(left),
        account.spending.count,
        len(account.elsewhere),
    )


def debit_headings() -> tuple[str, ...]:
    """Headings of the debits."""
    return (
        translate("Ledger", "Entry"),
        translate("Ledger", "Time (UTC)"),
        translate("Ledger", "Who"),
        translate("Ledger", "Cost"),
        translate("Ledger", "What for"),
        translate("Ledger", "Outcome"),
    )


def debit_rows(account: AccountPicture) -> list[tuple[Cell, ...]]:
    """The debits, newest first."""
    return [
        (
            record.n,
            _time(record.time),
            record.who,
            str(record.request.cost),
            record.request.title or record.request.purpose,
            outcome_word(record.outcome.value),
        )
        for record in reversed(account.debits)
    ]


def limit_headings() -> tuple[str, ...]:
    """Headings of the limits."""
    return (
        translate("Ledger", "Entry"),
        translate("Ledger", "Time (UTC)"),
        translate("Ledger", "Who"),
        translate("Ledger", "Limit"),
        translate("Ledger", "Set by"),
        translate("Ledger", "Reason"),
    )


def limit_rows(account: AccountPicture) -> list[tuple[Cell, ...]]:
    """All limits of an account, newest first."""
    none = translate("Ledger", "none")
    plan, owner = translate("Ledger", "a plan"), translate("Ledger", "the owner")
    return [
        (
            record.n,
            _time(record.time),
            record.who,
            none if record.content.limit is None else str(record.content.limit),
            plan if record.content.by_plan else owner,
            record.content.reason,
        )
        for record in reversed(account.history)
    ]


def people_lines(account: AccountPicture) -> list[str]:
    """What was declared about the names of these people, a line each."""
    same = translate("Ledger", "“{one}” and “{other}” are the same people: {reason}")
    apart = translate("Ledger", "“{one}” and “{other}” are different people: {reason}")
    return [
        (same if found.same else apart).format(
            one=found.one, other=found.other, reason=found.reason
        )
        for found in (record.content for record in account.people)
    ]


def outcome_word(outcome: str) -> str:
    """What became of a debit, which is spent in every case."""
    return {
        "unknown": translate("Ledger", "spent, outcome unknown"),
        "released": translate("Ledger", "released"),
        "failed": translate("Ledger", "failed, spent"),
        "cancelled": translate("Ledger", "cancelled, spent"),
    }.get(outcome, outcome)


def answer_words(picture: LedgerPicture) -> str:
    """One sentence about the whole ledger."""
    if not picture.id:
        return translate("Ledger", "Nothing has been spent: there is no ledger yet.")
    if picture.doubts:
        words = translate("Ledger", "△ {n} entries; whether debits are missing is not known.")
        return words.format(n=grouped(picture.entries))
    words = translate(
        "Ledger", "✓ Intact: {n} entries, and nothing that is known elsewhere is missing."
    )
    return words.format(n=grouped(picture.entries))


def _time(text: str) -> str:
    return text.replace("T", " ").removesuffix("+00:00")
