"""What ``dpdesk query`` does: ask a release, from its files alone."""

from __future__ import annotations

import csv
import io
from argparse import Namespace
from dataclasses import replace
from math import floor, isfinite, log10
from typing import TYPE_CHECKING

from dpdesk.app import buying
from dpdesk.app.buying import Offer, TableRequest
from dpdesk.app.combining import OpenTogether, open_together
from dpdesk.app.querying import OpenRelease, open_release
from dpdesk.app.shops import shop_of_file
from dpdesk.cli.printing import Outcome, columns, one_line, paragraph
from dpdesk.core.errors import InputError
from dpdesk.core.parameters import exact_number
from dpdesk.core.query import (
    ALL,
    Answer,
    AnswerRow,
    Askable,
    AskableColumn,
    Query,
    read_names,
    read_query,
)
from dpdesk.core.schema import spelling

if TYPE_CHECKING:
    from dpdesk.app.context import AppContext
    from dpdesk.core.jobs import CancelToken, Report
    from dpdesk.engine.cubes.olap.purchase import Accuracy


_WIDEST = 40
_SHOWN = 8
_COUNT_FROM = 100


def answer_text(answer: Answer, pivot: str | None = None) -> str:
    """An answer as a table, the sentence and the warnings below."""
    table = _long(answer) if pivot is None else _wide(answer, pivot)
    noted = pivot is None and any(row.note for row in answer.rows)
    right = range(len(answer.columns) - (pivot is not None), len(table[0]) - noted)
    parts = [columns(table, right=right), "", paragraph(answer.sentence)]
    parts += [paragraph(f"Note: {warning}") for warning in answer.warnings]
    return "\n".join(parts) + "\n"


def askable_text(asked: Askable) -> str:
    """What can be asked for, one line for each column."""
    rows = [_column_line(column) for column in asked.columns]
    parts = ["Columns to ask for:", columns(rows)]
    if len(asked.measures) > 1:
        parts.append("Measures: " + ", ".join(asked.measures))
    if asked.estimators:
        parts.append("Estimators: " + ", ".join(each.value for each in asked.estimators))
    return "\n".join(parts) + "\n"


def answer_csv(answer: Answer, pivot: str | None = None) -> str:
    """An answer as CSV with full numbers; pivoted, three columns for each category across."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    if pivot is None:
        names = ("value", "standard_error", "low", "high", "note")
        writer.writerow([*answer.columns, *names])
        for row in answer.rows:
            numbers = (row.value, row.standard_error, row.low, row.high)
            writer.writerow([*map(_label, row.labels), *(_exact(n) for n in numbers), row.note])
        return out.getvalue()
    kept, across, cells = _pivoted(answer, pivot)
    head = [f"{_label(each)}{end}" for each in across for end in ("", " low", " high")]
    writer.writerow([*(name for name in answer.columns if name != pivot), *head])
    for labels in kept:
        found = [cells.get((labels, each)) for each in across]
        ends = [_exact(number) for row in found for number in _ends(row)]
        writer.writerow([*map(_label, labels), *ends])
    return out.getvalue()


def _ends(row: AnswerRow | None) -> tuple[float | None, float | None, float | None]:
    return (None, None, None) if row is None else (row.value, row.low, row.high)


def _column_line(column: AskableColumn) -> tuple[str, str]:
    shown = [one_line(text, _WIDEST) for text in column.categories[:_SHOWN]]
    more = f", … ({len(column.categories):,})" if len(column.categories) > _SHOWN else ""
    levels = f"  [levels 0 to {len(column.levels) - 1}]" if len(column.levels) > 1 else ""
    return f"  {one_line(column.name, _WIDEST)}", ", ".join(shown) + more + levels


def _long(answer: Answer) -> list[list[str]]:
    noted = any(row.note for row in answer.rows)
    ends = ["±"] if _symmetric(answer) else ["from", "to"]
    head = [one_line(name, _WIDEST) for name in answer.columns]
    rows = [[*head, answer.measure, *ends, *(["note"] if noted else [])]]
    for row in answer.rows:
        labels = [one_line(_label(label), _WIDEST) for label in row.labels]
        rows.append([*labels, *_numbers(row, len(ends)), *([row.note] if noted else [])])
    return rows


def _wide(answer: Answer, pivot: str) -> list[list[str]]:
    kept, across, cells = _pivoted(answer, pivot)
    head = [name for name in answer.columns if name != pivot]
    rows = [[*head, *(one_line(_label(label), _WIDEST) for label in across)]]
    one = _symmetric(answer)
    for labels in kept:
        texts = [_cell(cells.get((labels, label)), one) for label in across]
        rows.append([*(one_line(_label(label), _WIDEST) for label in labels), *texts])
    return rows


_Labels = tuple[str | None, ...]


def _pivoted(
    answer: Answer, pivot: str
) -> tuple[list[_Labels], list[str | None], dict[tuple[_Labels, str | None], AnswerRow]]:
    place = answer.columns.index(pivot)
    cells = {
        ((*row.labels[:place], *row.labels[place + 1 :]), row.labels[place]): row
        for row in answer.rows
    }
    return list(dict.fromkeys(k for k, _ in cells)), list(dict.fromkeys(a for _, a in cells)), cells


def _cell(row: AnswerRow | None, one: bool) -> str:
    if row is None:
        return "–"
    if row.value is None:
        return f"{_number(row.low)} to {_number(row.high)}" if row.low is not None else row.note
    error = _numbers(row, 1)[1] if one else ""
    return f"{_number(row.value, row)} ±{error}" if error else _number(row.value, row)


def _numbers(row: AnswerRow, ends: int) -> list[str]:
    if ends > 1:
        return [_number(row.value, row), _number(row.low), _number(row.high)]
    width = None if row.high is None or row.value is None else row.high - row.value
    return [_number(row.value, row), _number(width)]


def _symmetric(answer: Answer) -> bool:
    """Whether the interval of every row reaches as far below the number as above it."""
    if answer.interval == "certain":
        return False
    known = [row for row in answer.rows if row.value is not None and row.high is not None]
    return all(_even(row.value, row.low, row.high) for row in known)


def _even(value: float | None, low: float | None, high: float | None) -> bool:
    if value is None or low is None or high is None:
        return True
    return abs((high - value) - (value - low)) <= 1e-6 * (abs(high - low) + abs(value) * 1e-6)


def _label(label: str | None) -> str:
    return ALL if label is None else label


def _exact(number: float | None) -> str:
    if number is None or not isfinite(number):
        return ""
    return str(int(number)) if number == int(number) else repr(number)


def _number(number: float | None, row: AnswerRow | None = None) -> str:
    """A number with no more digits than its error has use for."""
    if number is None:
        return "–"
    error = None if row is None else row.standard_error
    size = error or abs(number)
    if float(number).is_integer() or size >= _COUNT_FROM:
        return f"{number:,.0f}"
    digits = 1 if size == 0 else max(0, 2 - floor(log10(size)))
    return f"{number:,.{min(digits, 6)}f}"


def ask(context: AppContext, options: Namespace, token: CancelToken, report: Report) -> Outcome:
    """Answer a query, or tell what can be asked where nothing is."""
    query = _query(options)
    release: OpenRelease | OpenTogether
    if options.others:
        release = open_together(context, [options.release, *options.others], token, report)
    else:
        release = open_release(context, options.release, token, report)
    answer = release.ask(query, token, report)
    about = release.about
    pivot = options.pivot and spelling(answer.columns)(options.pivot)
    plain = {
        "release": str(about.folder),
        "title": about.title,
        "method": about.method,
        "query": query.as_json(),
        **answer.as_json(),
    }
    if options.csv:
        return Outcome(answer_csv(answer, pivot), plain)
    text = answer_text(answer, pivot)
    if not query.by and not query.where:
        text += "\n" + askable_text(about.askable)
    return Outcome(text, plain)


def _query(options: Namespace) -> Query:
    query = read_query(
        options.by,
        options.where,
        levels=options.level,
        measure=options.measure,
        margins=options.margins,
        estimator=options.estimator,
    )
    if options.pivot is not None and options.pivot not in [each.column for each in query.by]:
        raise InputError(
            "usage",
            f"dpdesk query: `--pivot {options.pivot}` names no column of --by.",
            hint=f"Add `--by {options.pivot}`.",
        )
    return query if options.pivot is None else replace(query, margins=True)


# What ``dpdesk buy`` does: tell what one more table would bring and cost, and buy it.


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
