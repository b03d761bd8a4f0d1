"""The window that compares ways to release a sensitive column, on a small clinic register."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from dpdesk.app.context import AppContext
from dpdesk.app.types import SetParameters
from dpdesk.core.charts import BarChart, ScatterChart
from dpdesk.project.audit import AuditLog
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.panels.compare import ComparePanel
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.windows.ways import WaysWindow
from dpdesk.ui.workbench import Workbench
from tests.helpers import clinic
from tests.helpers.a11y import findings
from tests.helpers.cubes import people, write_plan, write_register

KEYS = {
    "method": "priview",
    "dimensions": ["sex", "region", "age", "pay"],
    "domains": {
        "sex": ["f", "m"],
        "region": ["north", "south", "other"],
        "pay": ["100", "250", "other"],
    },
    "view_cells": 9,
}


@pytest.fixture
def bench(qtbot: QtBot, tmp_path: Path, hub: JobHub) -> Iterator[Workbench]:
    clinic.write_source(tmp_path, 1202)
    plan = clinic.write_plan(tmp_path, 'l = 3\nsensitive = ["job"]')
    with AppContext.open(tmp_path / "home") as context:
        made = Workbench(context, hub)
        made.open_path(plan)
        qtbot.waitUntil(lambda: made.data is not None and not hub.busy)
        yield made
        qtbot.waitUntil(lambda: not hub.busy)
        made.close()


def test_errors_of_each_way_are_shown_and_stay_inside(
    qtbot: QtBot, bench: Workbench, theme: ThemeManager
) -> None:
    window = WaysWindow(bench, theme)
    qtbot.addWidget(window)
    window.present()
    window.start.click()
    assert not window.start.isEnabled()
    qtbot.waitUntil(lambda: window.compared is not None)
    chart = window.chart.chart
    assert isinstance(chart, ScatterChart)
    drawn = {one.name.split(",")[0] for one in chart.series}
    assert {"Anatomy", "Global randomised response", "Laplace noise on each query"} <= drawn
    assert len({one.look for one in chart.series}) == len(chart.series)
    assert len(chart.table.columns) == 9
    assert not window.chart._export.isEnabled()
    assert "⚠ Internal, confidential" in window.badge.text()
    assert findings(window) == []
    bench.apply(SetParameters({"l": 2}))
    qtbot.waitUntil(window.chart._veil.isVisible)


def test_protections_of_tables_are_compared_in_the_same_window(
    qtbot: QtBot, bench: Workbench, theme: ThemeManager
) -> None:
    bench.choose_method(next(method for method in bench.methods if method.id == "table"))
    bench.apply(SetParameters({"rows": ["town"], "rule": [{"rule": "threshold", "n": 3}]}))
    with theme.building():
        panel = ComparePanel(bench, theme)
    qtbot.addWidget(panel)
    panel.show()
    assert panel._ways.isVisible()
    assert panel._ways.accessibleName() == "Compare ways to release…"
    window = WaysWindow(bench, theme)
    qtbot.addWidget(window)
    window.present()
    assert window.title.text() == "Which protection loses least of the tables?"
    window.start.click()
    qtbot.waitUntil(lambda: window.compared is not None)
    chart = window.chart.chart
    assert isinstance(chart, BarChart)
    assert "Noise with ε = 1" in chart.categories
    assert "cells from" in window.sentence.text()
    assert findings(window) == []


def test_views_are_compared_with_other_ways_to_release_marginals(
    qtbot: QtBot, tmp_path: Path, hub: JobHub, theme: ThemeManager
) -> None:
    plan = write_plan(write_register(tmp_path, people(400)), "views.toml", **KEYS)
    with AppContext.open(tmp_path / "home") as context:
        bench = Workbench(context, hub)
        bench.open_path(plan)
        qtbot.waitUntil(lambda: bench.data is not None and not hub.busy)
        window = WaysWindow(bench, theme)
        qtbot.addWidget(window)
        window.present()
        assert window.title.text() == "Which way releases the most exact marginals?"
        window.start.click()
        qtbot.waitUntil(lambda: window.compared is not None, timeout=60_000)
        chart = window.chart.chart
        assert isinstance(chart, ScatterChart)
        assert [one.name for one in chart.series][:3] == ["Views", "Views without noise", "Uniform"]
        assert {"Flat", "Direct", "MWEM", "Cube: planner bmax"} <= set(chart.table.columns)
        assert "marginals from 400 rows" in window.sentence.text()
        assert "Fourier, because it is made for columns of two values" in window.sentence.text()
        assert len(window.strip.keys) == 5
        assert not window.chart._export.isEnabled()
        assert findings(window) == []
        with AuditLog.open_home(context.home) as log:
            assert len(log.entries_of("compared on the data")) == 1
        assert not hub.busy
        bench.close()


def test_a_proposed_merge_becomes_part_of_the_plan_and_can_be_undone(
    qtbot: QtBot, bench: Workbench, theme: ThemeManager
) -> None:
    bench.choose_method(next(method for method in bench.methods if method.id == "table"))
    rule = [{"rule": "threshold", "n": 3}]
    bench.apply(SetParameters({"rows": ["age"], "columns": ["town"], "rule": rule}))
    window = WaysWindow(bench, theme)
    qtbot.addWidget(window)
    window.present()
    assert not window.taking.isVisible()
    before = bench.work
    window.propose.click()
    assert not window.propose.isEnabled()
    qtbot.waitUntil(lambda: window.compared is not None)
    chart = window.chart.chart
    assert isinstance(chart, BarChart)
    assert chart.categories[0] == "Unchanged"
    named = [window.proposals.itemText(i) for i in range(window.proposals.count())]
    assert named == [row[0] for row in chart.table.rows][1:]
    assert list(chart.categories[1:]) == named[: len(chart.categories) - 1]
    assert not any("`" in words for words in named)
    place = next(i for i, words in enumerate(named) if words.startswith("merge “"))
    window.proposals.setCurrentIndex(place)
    assert findings(window) == []
    window.take.click()
    assert "merge" in bench.work.parameters
    assert not window.take.isEnabled()
    bench.undo()
    assert bench.work == before
    assert window.take.isEnabled()


def test_a_comparison_can_be_stopped(qtbot: QtBot, bench: Workbench, theme: ThemeManager) -> None:
    window = WaysWindow(bench, theme)
    qtbot.addWidget(window)
    window.present()
    window.start.click()
    window.progress._cancel.click()
    qtbot.waitUntil(window.start.isEnabled)
    assert window.compared is None


def test_compare_offers_it_for_drawn_values_alone(
    qtbot: QtBot, bench: Workbench, theme: ThemeManager
) -> None:
    with theme.building():
        panel = ComparePanel(bench, theme)
    qtbot.addWidget(panel)
    panel.show()
    with qtbot.waitSignal(panel.waysAsked):
        panel._ways.click()
    bench.choose_method(next(method for method in bench.methods if method.id == "k-anonymity"))
    qtbot.waitUntil(lambda: not panel._ways.isVisible())
