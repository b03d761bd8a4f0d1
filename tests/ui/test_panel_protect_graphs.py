"""The protect panel with a graph: the form, planned errors, undo, nothing spent."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from dpdesk.core.charts import BarChart
from dpdesk.ui.forms.columns import DimensionsField
from dpdesk.ui.forms.form import GraphForm
from dpdesk.ui.panels.protect import ProtectPanel
from dpdesk.ui.shell.navigation import PanelStatus
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.workbench import Workbench
from tests.helpers.a11y import findings
from tests.helpers.people_plan import open_plan
from tests.helpers.sitting import shown

PLAN = """version = 1
[source]
path = "edges.csv"
[attributes]
year = { role = "identifier" }
[protection]
method = "dp-graph"
ends = ["person", "friend"]
nodes = ["ann", "bob", "cem", "dora", "eve"]
"""


@pytest.fixture
def panel(bench: Workbench, theme: ThemeManager, qtbot: QtBot) -> ProtectPanel:
    with theme.building():
        panel = ProtectPanel(bench, theme)
    return shown(panel, qtbot)


def opened(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, folder: Path, more: str = ""
) -> GraphForm:
    rows = "person,friend,year\nann,bob,2020\nbob,cem,2021\n"
    (folder / "edges.csv").write_text(rows, "utf-8")
    plan = folder / "plan.toml"
    plan.write_text(PLAN + more, "utf-8")
    open_plan(bench, plan, qtbot)
    panel.activated()
    qtbot.waitUntil(lambda: not bench.stale and not panel.busy)
    form = panel.settings.form
    assert isinstance(form, GraphForm)
    return form


def settled(panel: ProtectPanel, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not panel.busy)


def test_the_form_offers_columns_degrees_and_a_budget_and_counts_nothing(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, tmp_path: Path
) -> None:
    form = opened(panel, bench, qtbot, tmp_path, 'exact = "degrees"\nepsilon = 1\n')
    before = dict(bench.work.parameters)
    assert {key: form.values()[key] for key in before} == {
        key: list(value) if isinstance(value, tuple) else value for key, value in before.items()
    }
    ends = form.field("ends")
    assert isinstance(ends, DimensionsField)
    assert ends.chosen == ("person", "friend")
    assert "the error of one edge is ±" in panel.result.sentence
    chart = panel.result.deck.view("graph-errors").chart
    assert isinstance(chart, BarChart)
    assert not (bench.context.home / "ledger.sqlite").exists()
    assert not panel.settings.accuracy.isVisible()
    assert panel.settings.budget.isVisible()
    assert not findings(form)


def test_without_a_budget_errors_are_drawn_for_a_supposed_one(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, tmp_path: Path
) -> None:
    opened(panel, bench, qtbot, tmp_path)
    assert "nothing is chosen for you" in panel.result.band.text
    assert isinstance(panel.result.deck.view("graph-errors").chart, BarChart)


def test_in_degrees_are_asked_for_where_edges_have_a_direction(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, tmp_path: Path
) -> None:
    form = opened(panel, bench, qtbot, tmp_path, 'exact = "degrees"\nepsilon = 1\n')
    assert not form.field("exact_in_nodes").isVisible()
    choice = form.field("graph").control
    choice.setFocus()
    qtbot.keyClick(choice, Qt.Key.Key_Down)
    settled(panel, qtbot)
    assert bench.work.parameters["graph"] == "directed"
    assert form.field("exact_in_nodes").isVisible()


def test_the_budget_comes_first_and_typed_nodes_are_recorded_as_such(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, tmp_path: Path
) -> None:
    form = opened(panel, bench, qtbot, tmp_path)
    places = [form.field(key).mapTo(form, QPoint()).y() for key in form.first]
    assert places == sorted(places)
    assert places[0] < panel.settings.budget.mapTo(form, QPoint()).y()
    assert not form.field("rho").isVisibleTo(form)
    form.field("nodes").control.setPlainText("ann\nbob\ncem")
    settled(panel, qtbot)
    assert bench.work.parameters["nodes"] == ("ann", "bob", "cem")
    assert bench.work.parameters["origins"] == "typed"


def test_nodes_that_are_not_listed_yet_are_no_failure(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, tmp_path: Path
) -> None:
    form = opened(panel, bench, qtbot, tmp_path, "epsilon = 1\n")
    form.field("nodes").control.setPlainText("")
    settled(panel, qtbot)
    shown = [label.text() for label in panel.result.findChildren(QLabel)]
    assert any("all possible nodes under “Nodes”" in text for text in shown)
    assert panel.status() == PanelStatus()


def test_one_end_alone_is_too_few(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, tmp_path: Path
) -> None:
    form = opened(panel, bench, qtbot, tmp_path, "epsilon = 1\n")
    ends = form.field("ends").control
    ends.setFocus()
    ends.setCurrentRow(1)
    qtbot.keyClick(ends, Qt.Key.Key_Space)
    settled(panel, qtbot)
    assert list(bench.work.parameters["ends"]) == ["person"]
    shown = [label.text() for label in panel.result.findChildren(QLabel)]
    assert any("two columns that name the ends" in text for text in shown)


def test_a_typed_epsilon_takes_the_place_of_rho_and_is_undone(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, tmp_path: Path
) -> None:
    form = opened(panel, bench, qtbot, tmp_path, "rho = 0.5\n")
    line = form.field("epsilon").control
    line.setFocus()
    qtbot.keyClicks(line, "2")
    settled(panel, qtbot)
    assert bench.work.parameters.get("epsilon") == 2
    assert bench.work.parameters.get("rho") is None
    bench.undo()
    settled(panel, qtbot)
    assert bench.work.parameters.get("rho") == 0.5


def test_nodes_whose_degrees_are_exact_are_asked_for_where_degrees_are(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, tmp_path: Path
) -> None:
    form = opened(panel, bench, qtbot, tmp_path, "epsilon = 1\n")
    form.unfold("exact")
    assert not form.field("exact_nodes").isVisible()
    choice = form.field("exact").control
    choice.setFocus()
    qtbot.keyClick(choice, Qt.Key.Key_Down)
    settled(panel, qtbot)
    assert bench.work.parameters["exact"] == "degrees"
    assert form.field("exact_nodes").isVisible()
    before = panel.result.sentence
    qtbot.keyClicks(form.field("exact_nodes").control, "ann")
    settled(panel, qtbot)
    assert list(bench.work.parameters["exact_nodes"]) == ["ann"]
    assert panel.result.sentence != before
