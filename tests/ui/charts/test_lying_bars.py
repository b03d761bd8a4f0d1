"""Bars that lie: a line for each name, and the most that a value may be in words."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from PySide6.QtGui import QFontMetrics
from pytestqt.qtbot import QtBot

from dpdesk.core.charts import BarChart, BarSeries
from dpdesk.core.schema import ValueCount
from dpdesk.engine.decoys.eligibility import Eligibility, frequency_chart
from dpdesk.report.svg import render_chart
from dpdesk.ui.charts import ChartView
from dpdesk.ui.charts.items import layout_bars
from dpdesk.ui.charts.surface import PlotSurface
from dpdesk.ui.theme import ThemeManager


def frequencies() -> BarChart:
    counts = tuple(ValueCount(f"occupation {place}", 40 - place) for place in range(12))
    return frequency_chart(Eligibility("occupation", 5, counts))


def test_the_most_that_a_value_may_be_is_no_state_before_it(theme: ThemeManager) -> None:
    chart = frequencies()
    labels = [bar.label for bar in layout_bars(chart, theme.theme) if bar.label]
    assert labels[0] == "40 of 82 allowed"
    assert not any("→" in label for label in labels)


@pytest.mark.parametrize("height", [120, 400])
def test_names_of_lying_bars_stand_apart(qtbot: QtBot, theme: ThemeManager, height: int) -> None:
    view = ChartView(theme)
    qtbot.addWidget(view)
    view.set_chart(frequencies())
    view.resize(600, height)
    view.show()
    qtbot.waitExposed(view)
    surface = view.surface
    assert isinstance(surface, PlotSurface)
    surface.grab()
    ticks = surface._axes["left"]._tickLevels[0]
    named = [place for place, name in ticks if name]
    room = surface.plotItem.vb.height() / 12.2
    line = QFontMetrics(theme.theme.font("note")).height()
    assert len(named) > 3
    assert all((b - a) * room >= line - 2 for a, b in pairwise(named))


def test_whiskers_may_reach_less_far_down_than_up(theme: ThemeManager) -> None:
    uneven = BarSeries("Estimated", (10.0,), errors=(5.0,), below=(2.0,))
    chart = replace(frequencies(), categories=("a",), series=(uneven,), hatched=frozenset())
    (bar,) = layout_bars(chart, theme.theme)
    assert (bar.begins, bar.clear) == (8.0, 15.0)
    even = replace(chart, series=(BarSeries("Estimated", (10.0,), errors=(5.0,)),))
    assert render_chart(chart) != render_chart(even)
