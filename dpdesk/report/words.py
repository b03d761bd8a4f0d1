"""What the figures of a result mean, for readers who did not make the release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from dpdesk.core.charts import format_figure
from dpdesk.report.pages import flattened, plain_value


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
    "rows_out": Meaning("Rows in the file", "count", "Records that are published."),
    "rows_suppressed": Meaning(
        "Rows left out",
        "count",
        "Records with rare combinations of values; every total made from the file lacks them.",
    ),
    "rows_removed": Meaning(
        "Rows removed at random",
        "count",
        "So that the number of rows is a multiple of ℓ′; which rows, no value decided.",
    ),
    "classes": Meaning(
        "Classes", "count", "Different combinations of the generalised columns in the file."
    ),
    "smallest_class": Meaning(
        "Smallest class", "count", "Rows that share the rarest combination in the file."
    ),
}
_METRICS = {
    "loss": Meaning(
        "Detail lost",
        "share",
        "Mean over cells of the share of the other possible values that a released value also "
        "stands for; 0 % is the original, 100 % tells nothing. Left-out rows count as 100 %.",
    ),
    "precision": Meaning(
        "Precision",
        "share",
        "100 % less the mean level reached, as a share of the height of each hierarchy.",
    ),
    "discernibility": Meaning(
        "Discernibility",
        "count",
        "Sum of the squared class sizes, plus the number of all rows for each row left out; "
        "lower keeps more apart.",
    ),
    "average_class_size": Meaning(
        "Average class size", "number", "Rows per class, in multiples of k; 1 is the least."
    ),
    "entropy": Meaning(
        "Information lost",
        "number",
        "Bits that are missing to tell the original values from the released ones "
        "(non-uniform entropy).",
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
    for name, value in flattened(table):
        if isinstance(value, list | tuple) and any(isinstance(item, Mapping) for item in value):
            continue
        if isinstance(value, list | tuple) and len(value) > _MOST_ITEMS:
            shown = plain_value(value[:_MOST_ITEMS])
            lines.append((name, f"{shown}, … ({len(value):,} in all)"))
        else:
            lines.append((name, plain_value(value)))
    return lines


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


def _line(key: str, value: object, meanings: Mapping[str, Meaning]) -> Line:
    meaning = meanings.get(key)
    if meaning is None:
        return Line(key.replace("_", " "), plain_value(value), "")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return Line(meaning.label, plain_value(value), meaning.help)
    return Line(meaning.label, format_figure(value, meaning.kind), meaning.help)
