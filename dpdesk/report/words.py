"""What the figures of a result mean, for readers who did not make the release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from dpdesk.core.language import message as m
from dpdesk.core.language import voice
from dpdesk.core.messages import text_of
from dpdesk.report.pages import figure, flattened, plain_value


class Meaning(NamedTuple):
    """Name of a figure, how it is written, and what it says."""

    label: str
    kind: str
    help: str


class Line(NamedTuple):
    """A figure ready to be shown."""

    label: str
    value: str
    help: str


_RESULT = {
    "rows_out": Meaning(m("Rows in the file"), "count", m("Records that are published.")),
    "rows_suppressed": Meaning(
        m("Rows left out"),
        "count",
        m(
            "Records with rare combinations of values; they are missing from every total "
            "made from the file."
        ),
    ),
    "rows_removed": Meaning(
        m("Rows removed at random"),
        "count",
        m("So that the number of rows is a multiple of ℓ′; which rows, no value decided."),
    ),
    "groups": Meaning(
        m("Groups"), "count", m("Groups of rows with different values, numbered in the file.")
    ),
    "smallest_group": Meaning(
        m("Smallest group"), "count", m("Rows in the group with the fewest.")
    ),
    "classes": Meaning(
        m("Classes"), "count", m("Different combinations of the generalised columns in the file.")
    ),
    "cells": Meaning(m("Cells"), "count", m("Rows of the tables, totals among them.")),
    "suppressed": Meaning(
        m("Suppressed cells"), "count", m("Cells whose value is not published; their row stays.")
    ),
    "smallest_class": Meaning(
        m("Smallest class"), "count", m("Rows that share the rarest combination in the file.")
    ),
}
_METRICS = {
    "loss": Meaning(
        m("Detail lost"),
        "share",
        m(
            "Mean over cells of the share of the other possible values that a released value "
            "also stands for; 0 % is the original, 100 % says nothing. Left-out rows count as "
            "100 %."
        ),
    ),
    "precision": Meaning(
        m("Precision"),
        "share",
        m("100 % less the mean level reached, as a share of the height of each hierarchy."),
    ),
    "discernibility": Meaning(
        m("Discernibility"),
        "count",
        m(
            "Sum of the squared class sizes, plus the number of all rows for each row left out; "
            "lower keeps more apart."
        ),
    ),
    "average_class_size": Meaning(
        m("Average class size"), "number", m("Rows per class, in multiples of k; 1 is the least.")
    ),
    "entropy": Meaning(
        m("Information lost"),
        "number",
        m(
            "Bits that are missing to determine the original values from the released ones "
            "(non-uniform entropy)."
        ),
    ),
}


def result_lines(result: Mapping[str, object]) -> Iterator[Line]:
    """The counts of a result, explained; tables in it are left to other sections."""
    for key, value in result.items():
        if isinstance(value, int) and not isinstance(value, bool):
            yield _line(key, value, _RESULT)


def metric_lines(result: Mapping[str, object]) -> Iterator[Line]:
    """The metrics of a result, explained, in the order in which readers need them."""
    metrics = result.get("metrics")
    if not isinstance(metrics, Mapping):
        return
    order = [key for key in _METRICS if key in metrics]
    for key in [*order, *(key for key in metrics if key not in _METRICS)]:
        yield _line(key, metrics[key], _METRICS)


def plain_lines(table: Mapping[str, object]) -> list[tuple[str, str]]:
    """Any nested table as names and values in words, long lists cut, lists of tables left out."""
    lines = []
    for name, value in flattened(_said(table)):
        if isinstance(value, list | tuple) and any(isinstance(item, Mapping) for item in value):
            continue
        if isinstance(value, list | tuple) and len(value) > _MOST_ITEMS:
            shown = plain_value(value[:_MOST_ITEMS])
            whole = voice().text("{shown}, … ({n} in all)", shown=shown, n=len(value))
            lines.append((name, whole))
        else:
            lines.append((name, plain_value(value)))
    return lines


def _said(table: Mapping[str, object]) -> dict[str, object]:
    """The table with those values in the page's language that are sentences of ours."""
    said = dict(table)
    for key in _SENTENCES & table.keys():
        value = table[key]
        if isinstance(value, str):
            said[key] = voice().say(value)
        elif isinstance(value, list | tuple):
            said[key] = [voice().say(text_of(item)) for item in value]
    return said


_SENTENCES = frozenset({"attacker", "cost", "notes"})


class Compared(NamedTuple):
    """A figure before and after."""

    label: str
    before: str
    after: str


def compared_lines(table: Mapping[str, object]) -> list[Compared]:
    """Figures that a table has both ``before`` and ``after``; those of one state stay blank."""
    before, after = table.get("before"), table.get("after")
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        return []
    first, second = dict(plain_lines(before)), dict(plain_lines(after))
    names = [*first, *(name for name in second if name not in first)]
    return [Compared(name, first.get(name, "–"), second.get(name, "–")) for name in names]


_MOST_ITEMS = 12
_ONE = {"rows": m("row"), "values": m("value"), "people": m("person"), "edges": m("edge")}


def unit_of(number: object, unit: str) -> str:
    """The unit in words, of one or of many; empty where there is none."""
    return voice().text(_ONE[unit]) if number == 1 and unit in _ONE else voice().say(unit)


def _line(key: str, value: object, meanings: Mapping[str, Meaning]) -> Line:
    meaning, speaker = meanings.get(key), voice()
    if meaning is None:
        return Line(speaker.say(key.replace("_", " ")), plain_value(value), "")
    label, help_text = speaker.text(meaning.label), speaker.text(meaning.help)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return Line(label, plain_value(value), help_text)
    return Line(label, figure(value, meaning.kind), help_text)
