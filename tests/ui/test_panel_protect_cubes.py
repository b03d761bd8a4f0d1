"""The protect panel with differentially private tables: forms, planned errors, nothing spent."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from dpdesk.core.charts import ScatterChart
from dpdesk.ui.forms.cubes import CubeForm
from dpdesk.ui.forms.cubes.dimensions import DimensionsField
from dpdesk.ui.panels.protect import ProtectPanel
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.workbench import Workbench
from tests.helpers.a11y import findings
from tests.helpers.cubes import people, write_plan, write_register
from tests.helpers.people_plan import TIMEOUT, open_plan


@pytest.fixture
def panel(bench: Workbench, theme: ThemeManager, qtbot: QtBot) -> ProtectPanel:
    made = ProtectPanel(bench, theme)
    qtbot.addWidget(made)
    made.resize(1200, 760)
    with qtbot.waitExposed(made):
        made.show()
    return made


def settled(panel: ProtectPanel, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not panel.busy, timeout=TIMEOUT)


def opened(panel: ProtectPanel, bench: Workbench, qtbot: QtBot, plan: Path) -> CubeForm:
    open_plan(bench, plan, qtbot)
    panel.activated()
    qtbot.waitUntil(lambda: not bench.stale and not panel.busy, timeout=TIMEOUT)
    return form_of(panel)


def form_of(panel: ProtectPanel) -> CubeForm:
    form = panel.settings.form
    assert isinstance(form, CubeForm)
    return form


def plan_of(tmp_path: Path, **keys: object) -> Path:
    return write_plan(write_register(tmp_path, people()), **keys)


def test_a_plan_of_a_cube_shows_planned_errors_and_counts_nothing(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, tmp_path: Path
) -> None:
    opened(panel, bench, qtbot, plan_of(tmp_path))
    assert "8 tables" in panel.result.sentence
    chart = panel.result.deck.view("cube-tables").chart
    assert isinstance(chart, ScatterChart)
    assert not (bench.context.home / "ledger.sqlite").exists()


def test_a_plan_keeps_every_key_when_a_field_is_edited(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, tmp_path: Path
) -> None:
    plan = plan_of(
        tmp_path,
        rho=0.125,
        delta=0.001,
        planner="bmax",
        theta=50,
        publish=[["sex", "age"], []],
        outside={"region": "other"},
        domains={"sex": ["f", "m"], "region": ["north", "south", "other"]},
        measure=["count", {"sum": "pay", "lower": 0, "upper": 500, "step": 5}],
    )
    form = opened(panel, bench, qtbot, plan)
    before = dict(bench.work.parameters)
    field = form.field("rows_per_person").control
    field.setFocus()
    qtbot.keyClick(field, Qt.Key.Key_Up)
    settled(panel, qtbot)
    after = dict(bench.work.parameters)
    assert after.pop("rows_per_person") == 2
    assert after == before


def test_nothing_is_planned_before_epsilon_is_given(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, tmp_path: Path
) -> None:
    form = opened(panel, bench, qtbot, plan_of(tmp_path))
    line = form.field("epsilon").control
    line.setFocus()
    qtbot.keySequence(line, "Ctrl+A")
    qtbot.keyClick(line, Qt.Key.Key_Delete)
    settled(panel, qtbot)
    assert bench.work.parameters.get("epsilon") is None
    assert panel.result.deck.charts == ()
    assert not panel.can_keep()
    qtbot.keyClicks(line, "0.5")
    qtbot.waitUntil(lambda: panel.result.sentence != "", timeout=TIMEOUT)
    assert bench.work.parameters["epsilon"] == 0.5


def test_a_budget_in_rho_takes_the_place_of_epsilon(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, tmp_path: Path
) -> None:
    form = opened(panel, bench, qtbot, plan_of(tmp_path))
    qtbot.keyClicks(form.field("rho").control, "0.1")
    qtbot.waitUntil(lambda: "epsilon" not in bench.work.parameters, timeout=TIMEOUT)
    settled(panel, qtbot)
    assert str(bench.work.parameters["rho"]) == "0.1"
    assert "tables" in panel.result.sentence


def test_dimensions_are_checked_with_the_space_bar(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, tmp_path: Path
) -> None:
    form = opened(panel, bench, qtbot, plan_of(tmp_path))
    field = form.field("dimensions")
    assert isinstance(field, DimensionsField)
    assert field.chosen == ("sex", "region", "age")
    names = [field.control.item(row).text() for row in range(field.control.count())]  # type: ignore[attr-defined]
    field.control.setCurrentRow(names.index("sex"))  # type: ignore[attr-defined]
    qtbot.keyClick(field.control, Qt.Key.Key_Space)
    assert bench.work.parameters["dimensions"] == ("region", "age")


def test_values_of_the_data_become_categories_only_once_confirmed(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, tmp_path: Path
) -> None:
    form = opened(panel, bench, qtbot, plan_of(tmp_path))
    domains = form.domains
    domains.choose("sex")
    qtbot.mouseClick(domains.from_data, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not domains.use.isHidden() and domains.use.isVisibleTo(domains))
    assert bench.work.parameters["domains"]["sex"] == ("f", "m")  # type: ignore[index]
    assert not domains.use.isEnabled()
    domains.known.click()
    qtbot.mouseClick(domains.use, Qt.MouseButton.LeftButton)
    assert bench.work.parameters["domains"]["sex"] == ("?", "f", "m")  # type: ignore[index]


def test_the_categories_of_a_hierarchy_are_copied_at_the_chosen_level(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, tmp_path: Path
) -> None:
    form = opened(panel, bench, qtbot, plan_of(tmp_path))
    form.domains.choose("age")
    qtbot.mouseClick(form.domains.from_file, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "age" in bench.work.parameters["domains"], timeout=TIMEOUT)  # type: ignore[operator]
    assert bench.work.parameters["domains"]["age"] == ("<30", "30-59", "≥60")  # type: ignore[index]


def test_newer_settings_stop_a_plan_that_takes_long(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, tmp_path: Path
) -> None:
    form = opened(panel, bench, qtbot, plan_of(tmp_path, planner="optimal"))
    line = form.field("epsilon").control
    line.setFocus()
    qtbot.keyClicks(line, ".")
    qtbot.keyClicks(line, "25")
    qtbot.waitUntil(lambda: not panel.busy and "✓" in panel.result.sentence, timeout=TIMEOUT)
    assert str(bench.work.parameters["epsilon"]) == "1.25"


def test_every_control_of_the_form_is_named_and_explained(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, tmp_path: Path
) -> None:
    opened(panel, bench, qtbot, plan_of(tmp_path))
    assert findings(panel) == []
