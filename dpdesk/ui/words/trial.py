"""What the trial of categories on the data found, in words."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from dpdesk.app.private.trial import OutsideRows, Trial
from dpdesk.ui.words.numbers import grouped, marked

translate = QCoreApplication.translate


def trial_lines(trial: Trial) -> list[str]:
    """One line for each column, then one for the rows that would be in no table."""
    lines = [_column(trial, one) for one in trial.found.columns]
    words = translate("Trial", "{mark} In no table: {rows} ({share}). At most {limit} may be.")
    found = trial.found
    beyond = trial.share(found.left_out) > trial.limit
    lines.append(
        words.format(
            mark="✕" if beyond else "✓",
            rows=_of(found.left_out, found.rows),
            share=_percent(float(trial.share(found.left_out))),
            limit=_percent(float(trial.limit)),
        )
    )
    return lines


def trial_verdict(trial: Trial) -> str:
    """One sentence for those who are about to spend a budget."""
    if trial.ok:
        return translate("Trial", "✓ Tried on the data: the declared categories hold the rows.")
    worst = max(trial.beyond, key=lambda one: one.rows, default=None)
    if worst is None:
        words = translate("Trial", "✕ Tried on the data: {rows} would be in no table.")
        return words.format(rows=_of(trial.found.left_out, trial.found.rows))
    words = translate(
        "Trial",
        "✕ Tried on the data: {rows} lie outside the categories of {column}. The tables would hold "
        "mostly noise.",
    )
    return words.format(rows=_of(worst.rows, trial.found.rows), column=worst.column)


def untried_words() -> str:
    """What to say to those who did not try."""
    return translate(
        "Trial",
        "△ The categories were not tried on the data with these settings (Protect): where they "
        "miss the rows, the budget buys noise.",
    )


def _column(trial: Trial, one: OutsideRows) -> str:
    if not one.rows:
        return translate("Trial", "✓ {column}: no row outside the {n} categories").format(
            column=one.column, n=grouped(one.categories)
        )
    words = translate("Trial", "{mark} {column}: {rows} ({share}) outside the {n} categories")
    if one.taker:
        words = translate(
            "Trial", "{mark} {column}: {rows} ({share}) moved to “{taker}”, one of {n} categories"
        )
    line = words.format(
        mark="✕" if one in trial.beyond else "△",
        column=one.column,
        rows=_of(one.rows, trial.found.rows),
        share=_percent(float(trial.share(one.rows))),
        n=grouped(one.categories),
        taker=one.taker,
    )
    values = ", ".join(f"“{text[:30]}” ({grouped(rows)})" for text, rows in one.values)
    return line + translate("Trial", "; most frequent: {values}").format(values=values)


def _of(some: int, rows: int) -> str:
    return translate("Trial", "{n} of {rows} rows").format(n=grouped(some), rows=grouped(rows))


def _percent(share: float) -> str:
    return translate("Trial", "{number} %").format(number=marked(f"{100 * share:.3g}"))
