"""Charts with their words in the language that is set; names of data stay as they are."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.charts import Axis, BarChart, Cell, Chart, ChartTable, PointLines, ScatterChart
from dpdesk.core.language import ENGLISH, Voice, voice
from dpdesk.core.language.catalogue import NUMBER
from dpdesk.core.plain import EMPTY

_NAMING = frozenset(
    {
        *("Quasi-identifier", "Original value", "Value", "Column", "Table", "Levels"),
        *("Known columns", "Hidden column", "Known columns → hidden column"),
    }
)
"""What the axes and the columns of tables are called that hold names of data."""
_WORDED = frozenset({"graph-errors"})
"""Charts whose tables are called by words of ours."""
_TOTAL = "grand total"
_NUMBERS = re.compile(NUMBER)

Drawn = TypeVar("Drawn", bound="BarChart | ScatterChart")


def spoken_chart(chart: Chart) -> Chart:
    """The chart in the language of :func:`dpdesk.core.language.voice`."""
    speaker = voice()
    if speaker.language == ENGLISH:
        return chart
    if isinstance(chart, BarChart):
        return _bars(_common(chart, speaker), speaker)
    return _points(_common(chart, speaker), speaker) if isinstance(chart, ScatterChart) else chart


def _common(chart: Drawn, speaker: Voice) -> Drawn:
    return replace(
        chart,
        question=speaker.say(chart.question),
        answer=speaker.say(chart.answer),
        short=speaker.say(chart.short),
        opens=speaker.say(chart.opens),
        table=_table(chart, speaker),
    )


def _bars(chart: BarChart, speaker: Voice) -> BarChart:
    named = chart.category_axis.title in _NAMING and chart.id not in _WORDED
    return replace(
        chart,
        category_axis=_axis(chart.category_axis, speaker),
        value_axis=_axis(chart.value_axis, speaker),
        categories=tuple(str(_cell(c, named, speaker)) for c in chart.categories),
        series=tuple(replace(one, name=speaker.say(one.name)) for one in chart.series),
        threshold_label=speaker.say(chart.threshold_label),
    )


def _points(chart: ScatterChart, speaker: Voice) -> ScatterChart:
    return replace(
        chart,
        x_axis=_axis(chart.x_axis, speaker),
        y_axis=_axis(chart.y_axis, speaker),
        series=tuple(replace(one, name=speaker.say(one.name)) for one in chart.series),
        y_limit_label=speaker.say(chart.y_limit_label),
        x_limit_label=speaker.say(chart.x_limit_label),
        lines=None if chart.lines is None else _SpokenLines(chart.lines, speaker),
    )


@dataclass(frozen=True, eq=False)
class _SpokenLines:
    """Lines of points as they are said; what they are called stays."""

    lines: PointLines
    speaker: Voice

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.speaker.say(column) for column in self.lines.columns)

    @property
    def ids(self) -> NDArray[np.int64]:
        return self.lines.ids

    def line(self, place: int) -> tuple[Cell, ...]:
        found = zip(self.lines.line(place), self.lines.columns, strict=True)
        return tuple(_cell(cell, column in _NAMING, self.speaker) for cell, column in found)


def _axis(axis: Axis, speaker: Voice) -> Axis:
    return replace(axis, title=speaker.say(axis.title), unit=speaker.say(axis.unit))


def _range(text: str, speaker: Voice) -> str:
    """A category that is words, or a range of numbers such as ``1,000–1,999``."""
    if any(character.isalpha() for character in text):
        return speaker.say(text)
    return _NUMBERS.sub(lambda one: speaker.marks.written(one[0]), text)


def _table(chart: BarChart | ScatterChart, speaker: Voice) -> ChartTable:
    table = chart.table
    named = [column in _NAMING and chart.id not in _WORDED for column in table.columns]
    return ChartTable(
        tuple(speaker.say(column) for column in table.columns),
        tuple(
            tuple(_cell(cell, name, speaker) for cell, name in zip(row, named, strict=True))
            for row in table.rows
        ),
    )


def _cell(cell: Cell, name: bool, speaker: Voice) -> Cell:
    if not isinstance(cell, str) or (name and cell not in (_TOTAL, EMPTY)):
        return cell
    return _range(cell, speaker)
