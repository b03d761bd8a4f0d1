"""Words of the window that asks a release."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from dpdesk.core.asking import AnswerChartWords, AskState, drawn_rows, label_words
from dpdesk.core.query import COVERING_95, Answer, AnswerRow, Chosen, Condition
from dpdesk.ui.asking.tasks import Answered
from dpdesk.ui.words.counts import short_name
from dpdesk.ui.words.numbers import figure_words, grouped, legible, marked, shortened
from dpdesk.ui.words.spoken import said

_FEW = 3


def _tr(text: str) -> str:
    return QCoreApplication.translate("Ask", text)


def condition_words(condition: Condition | None) -> str:
    """A condition where there is little room."""
    if condition is None:
        return _tr("any")
    if isinstance(condition, Chosen):
        shown = ", ".join(shortened(value) or _tr("(empty)") for value in condition.values[:_FEW])
        more = len(condition.values) - _FEW
        return shown + (f" +{grouped(more)}" if more > 0 else "")
    return legible(condition.words().replace(condition.column, "").strip())


def question_words(state: AskState) -> str:
    """The question that is asked."""
    having = _tr(" and ").join(
        legible(condition.words()) if not isinstance(condition, Chosen) else _chosen(condition)
        for condition in state.conditions
    )
    if state.by and having:
        return _tr("How many rows with {having}, by {column}?").format(
            having=having, column=short_name(state.by)
        )
    if state.by:
        return _tr("How many rows by {column}?").format(column=short_name(state.by))
    return _tr("How many rows have {having}?").format(having=having) if having else _tr("How many?")


def _chosen(condition: Chosen) -> str:
    return f"{short_name(condition.column)} = {condition_words(condition)}"


def answer_words(found: Answered) -> str:
    """The answer in a sentence."""
    rows = found.answer.rows
    known = [row for row in rows if row.value is not None]
    if not rows:
        return _tr("No row of the release fulfils the conditions.")
    if not known:
        return _tr("Not estimable: {reason}").format(reason=_reason(rows[0]))
    if len(rows) == 1 and not found.answer.columns:
        return _number_words(known[0], "", found.answer)
    most = max(known, key=lambda row: row.value or 0.0)
    said = _tr("Most rows: ") + _number_words(most, label_words(most.labels), found.answer)
    drawn, missing = len(drawn_rows(found.answer)), len(rows) - len(known)
    if drawn < len(known):
        text = _tr(" The picture has {drawn} of {all} numbers, the table has all.")
        said += text.format(drawn=grouped(drawn), all=grouped(len(known)))
    if missing:
        text = _tr(" {count} of {all} numbers are not estimable: {reason}")
        unknown = next(row for row in rows if row.value is None)
        said += text.format(count=grouped(missing), all=grouped(len(rows)), reason=_reason(unknown))
    return said


def _reason(row: AnswerRow) -> str:
    return said(row.note.removeprefix("not estimable: "))


def _number_words(row: AnswerRow, name: str, answer: Answer) -> str:
    head = f"{name}, " if name else ""
    value = figure_words(row.value or 0.0, "count")
    if row.standard_error is None and row.low is None:
        text = _tr("{head}about {value}; this way of estimating gives no error.")
        return text.format(head=head, value=value)
    if row.low == row.high or row.low is None or row.high is None:
        return _tr("{head}{value} rows, exactly.").format(head=head, value=value)
    text = _tr("{head}about {value}, between {low} and {high} in 95 of 100 cases.")
    if answer.interval != COVERING_95:
        text = _tr(
            "{head}about {value}; the interval is {low} to {high}, if what it assumes holds."
        )
    return text.format(
        head=head,
        value=value,
        low=figure_words(row.low, "count"),
        high=figure_words(row.high, "count"),
    )


def truth_words(found: Answered) -> str:
    """How far the estimates are from the source; empty without it."""
    truth = found.truth
    if truth is None:
        return ""
    exact = true_values(truth)
    known = [row for row in found.answer.rows if row.value is not None]
    if len(known) == 1:
        true = exact.get(known[0].labels, 0.0)
        text = _tr("The source has {true} rows; the error is {error}.")
        return text.format(
            true=figure_words(true, "count"),
            error=marked(f"{(known[0].value or 0.0) - true:+,.0f}"),
        )
    pairs = [(row, exact.get(row.labels, 0.0)) for row in known]
    inside = sum(
        row.low - 0.5 <= true <= row.high + 0.5
        for row, true in pairs
        if row.low is not None and row.high is not None
    )
    mean = sum(abs((row.value or 0.0) - true) for row, true in pairs) / max(1, len(pairs))
    text = _tr(
        "Errors of {mean} rows on average; {inside} of {all} intervals hold the number of "
        "the source. All rows of the source count, also those that were not released."
    )
    return text.format(
        mean=figure_words(mean, "count"), inside=grouped(inside), all=grouped(len(pairs))
    )


def true_values(truth: Answer) -> dict[tuple[str | None, ...], float]:
    """The counts of the source by their labels."""
    return {row.labels: row.value for row in truth.rows if row.value is not None}


def chart_words(found: Answered) -> AnswerChartWords:
    """All words of the picture."""
    exact = found.answer.interval == "certain"
    return AnswerChartWords(
        question_words(found.state),
        answer_words(found),
        _tr("Rows"),
        _tr("Rows") if exact else _tr("Estimated rows"),
        _tr("In the source (internal)"),
    )


def badge() -> str:
    """What stands before everything that was counted in the source."""
    return _tr("Internal, confidential, from the source")
