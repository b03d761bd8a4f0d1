"""How much of a text is shown: one rule for pages, papers, pictures and windows.

What is laid out takes time for each character, and no reader needs a megabyte of one value.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias, TypeVar

from dpdesk.core.charts import Axis, BarChart, BarSeries, Chart, LatticeChart, PointSeries
from dpdesk.core.language import voice

LONGEST_VALUE = 1_000
"""The most characters that are shown of one value, name or label of the data."""
LONGEST_TEXT = 50_000
"""The most characters that are shown of a sentence or list with values in it: twenty sheets."""
_WORD = re.compile(rf"(\S{{{LONGEST_VALUE}}})\S{{100,}}")
_SAYING = 40
"""Room for the words that say how long a text is, so that no cut text is cut again."""


def shortened(text: str, most: int = LONGEST_VALUE) -> str:
    """The text, or its first ``most`` characters with the number of all, in the language set."""
    if len(text) <= most + _SAYING:
        return text
    speaker = voice()
    return speaker.text("{text}… ({n} characters)", text=text[:most], n=speaker.count(len(text)))


def with_short_words(text: str) -> str:
    """The text, in which no word is longer than a value may be: each letter is a place to break."""
    return _WORD.sub(r"\1…", text) if len(text) > LONGEST_VALUE else text


Drawn = TypeVar("Drawn", bound=Chart)
Cut: TypeAlias = Callable[[str, int], str]
"""A text and the most characters of it, to what is shown of it."""


def drawable(chart: Drawn, cut: Cut = shortened) -> Drawn:
    """The chart, with all that is drawn of it cut to what can be; its table stays whole."""
    if isinstance(chart, LatticeChart):
        return chart
    changes: dict[str, object] = {
        "question": cut(chart.question, LONGEST_TEXT),
        "answer": cut(chart.answer, LONGEST_TEXT),
    }
    if isinstance(chart, BarChart):
        changes["categories"] = tuple(cut(one, LONGEST_VALUE) for one in chart.categories)
        changes["category_axis"] = _axis(chart.category_axis, cut)
        changes["value_axis"] = _axis(chart.value_axis, cut)
        changes["series"] = tuple(_named(one, cut) for one in chart.series)
    else:
        changes["x_axis"], changes["y_axis"] = _axis(chart.x_axis, cut), _axis(chart.y_axis, cut)
        changes["series"] = tuple(_pointed(one, cut) for one in chart.series)
    same = all(getattr(chart, name) == value for name, value in changes.items())
    return chart if same else replace(chart, **changes)  # type: ignore[arg-type]


def _axis(axis: Axis, cut: Cut) -> Axis:
    return replace(axis, title=cut(axis.title, LONGEST_VALUE))


def _named(series: BarSeries, cut: Cut) -> BarSeries:
    return replace(series, name=cut(series.name, LONGEST_VALUE))


def _pointed(series: PointSeries, cut: Cut) -> PointSeries:
    """The same series, not its like, unless something is cut: its points are not compared."""
    name = cut(series.name, LONGEST_VALUE)
    labels = tuple(cut(one, LONGEST_VALUE) for one in series.labels)
    same = (name, labels) == (series.name, series.labels)
    return series if same else replace(series, name=name, labels=labels)
