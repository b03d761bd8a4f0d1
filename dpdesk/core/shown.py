"""How much of a text is shown: one rule for pages, papers, pictures and windows.

What is laid out takes time for each character, and no reader needs a megabyte of one value.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from dpdesk.core.charts import Axis, BarChart, BarSeries, Chart, LatticeChart, PointSeries
from dpdesk.core.language import voice

LONGEST_VALUE = 1_000
"""The most characters that are shown of one value, name or label of the data."""
LONGEST_TEXT = 50_000
"""The most characters that are shown of a sentence or list with values in it: twenty sheets."""
_SAYING = 40
"""Room for the words that say how long a text is, so that no cut text is cut again."""


def shortened(text: str, most: int = LONGEST_VALUE) -> str:
    """The text, or its first ``most`` characters with the number of all, in the language set."""
    if len(text) <= most + _SAYING:
        return text
    speaker = voice()
    return speaker.text("{text}… ({n} characters)", text=text[:most], n=speaker.count(len(text)))


Drawn = TypeVar("Drawn", bound=Chart)


def drawable(chart: Drawn) -> Drawn:
    """The chart, with all that is drawn of it at a length that can be; its table stays whole."""
    if isinstance(chart, LatticeChart):
        return chart
    changes: dict[str, object] = {
        "question": shortened(chart.question, LONGEST_TEXT),
        "answer": shortened(chart.answer, LONGEST_TEXT),
    }
    if isinstance(chart, BarChart):
        changes["categories"] = tuple(map(shortened, chart.categories))
        changes["category_axis"] = _axis(chart.category_axis)
        changes["value_axis"] = _axis(chart.value_axis)
        changes["series"] = tuple(_named(one) for one in chart.series)
    else:
        changes["x_axis"], changes["y_axis"] = _axis(chart.x_axis), _axis(chart.y_axis)
        changes["series"] = tuple(_pointed(one) for one in chart.series)
    same = all(getattr(chart, name) == value for name, value in changes.items())
    return chart if same else replace(chart, **changes)  # type: ignore[arg-type]


def _axis(axis: Axis) -> Axis:
    return replace(axis, title=shortened(axis.title))


def _named(series: BarSeries) -> BarSeries:
    return replace(series, name=shortened(series.name))


def _pointed(series: PointSeries) -> PointSeries:
    """The same series, not its like, unless something is cut: its points are not compared."""
    name, labels = shortened(series.name), tuple(map(shortened, series.labels))
    same = (name, labels) == (series.name, series.labels)
    return series if same else replace(series, name=name, labels=labels)
