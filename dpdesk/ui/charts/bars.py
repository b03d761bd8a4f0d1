"""Where the bars of a chart stand, and what is written at their ends."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import QCoreApplication

from dpdesk.core.charts import BarChart, BarSeries
from dpdesk.ui.charts.items import Bar
from dpdesk.ui.theme import Theme, look_colour
from dpdesk.ui.words.numbers import figure_words, marked
from dpdesk.ui.words.spoken import inside


def bars_top(chart: BarChart) -> float:
    """The value at which the axis ends at least."""
    if chart.value_axis.maximum is not None:
        return chart.value_axis.maximum
    values = itertools.chain.from_iterable(reaches(one) for one in chart.series)
    return max((value for value in values if value == value), default=0.0) or 1.0


def reaches(series: BarSeries) -> tuple[float, ...]:
    """How far each bar reaches, with its error."""
    if not series.errors:
        return series.values
    return tuple(v + error for v, error in zip(series.values, series.errors, strict=True))


def layout_bars(chart: BarChart, theme: Theme) -> list[Bar]:
    """All bars of a chart with their labels, in category units."""
    filled = [one for one in chart.series if not one.outline]
    group = 0.76
    inner = group - 0.12 if any(one.outline for one in chart.series) else group
    width = inner / max(1, len(filled))
    kind = "share" if chart.value_axis.percent else "number"
    tokens, bars = theme.tokens, []
    before = next((one for one in chart.series if one.outline), None) if len(filled) == 1 else None
    for one in chart.series:
        place = 0 if one.outline else filled.index(one)
        for index, value in enumerate(one.values):
            low = index - group / 2 if one.outline else index - inner / 2 + place * width
            failed = index in chart.hatched and not one.outline
            colour = tokens.fail if failed else look_colour(tokens, one.look)
            high = low + (group if one.outline else width * 0.94)
            bar = Bar(low, high, value, colour, outline=one.outline, hatched=failed)
            if before is not None and not one.outline:
                was = before.values[index]
                text = _pair_label(_bar_label(value, kind), _bar_label(was, kind), before)
                bar = replace(bar, label=text, clear=max(was, value))
            elif not one.outline:
                brief = whole_percent(value) if kind == "share" else ""
                bar = replace(bar, label=_bar_label(value, kind), brief=brief)
            if one.errors:
                ends = one.low_end(index), value + one.errors[index]
                bar = replace(bar, begins=ends[0], clear=ends[1])
            bars.append(bar)
    return bars


def _pair_label(value: str, other: str, outline: BarSeries) -> str:
    """A value with the state before it, or with the most that it may be."""
    if not outline.bound:
        return f"{other.removesuffix(' %')} → {value}"
    text = QCoreApplication.translate("Bars", "{value} of {most} {name}")
    return text.format(value=value.removesuffix(" %"), most=other, name=inside(outline.name))


def _bar_label(value: float, kind: str) -> str:
    if kind == "share":
        return short_percent(value)
    whole = kind == "number" and float(value).is_integer()
    return figure_words(value, "count" if whole else kind)


def short_percent(share: float) -> str:
    """A share in three digits at most; the read-out and the table hold the whole of it."""
    text = f"{share * 100:.1f}"
    exact = figure_words(share, "share")
    if 0 < share < 0.01 or (text == "100.0" and share < 1):
        return exact
    return marked(f"{text} %".replace(".0 %", " %"))


def whole_percent(share: float) -> str:
    """A share in whole percents, where there is little room; never a false nought or whole."""
    text = f"{share * 100:.0f}"
    if text == "0" and share > 0:
        return "<1 %"
    return ">99 %" if text == "100" and share < 1 else f"{text} %"


def close_together(names: Sequence[str], slot: float, width: Callable[[str], int]) -> bool:
    """Whether neighbours would touch if all were written whole, each in the middle of its slot."""
    wide = [width(name) for name in names]
    return any((one + other) / 2 + 6 > slot for one, other in itertools.pairwise(wide))


def thinned(names: Sequence[str], room: float, width: Callable[[str], int]) -> list[str]:
    """Every n-th name, whole, where not all of them have room; the others are left out.

    ``room`` is the width of one slot. Names at the edges are left out where they would be cut.
    """
    widest, slot = max(map(width, names), default=0) + 8, max(room, 1.0)
    step = max(1, math.ceil(widest / slot))
    first = max(0, math.ceil((widest / slot - 1) / 2)) if step > 1 else 0
    last = len(names) - 1 - first
    return [
        name if first <= number <= last and (number - first) % step == 0 else ""
        for number, name in enumerate(names)
    ]
