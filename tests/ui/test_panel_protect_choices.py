"""The protect panel with private choices: the form of the registry, planned errors, refusals."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot

from dpdesk.core.charts import BarChart
from dpdesk.core.plain import freeze
from dpdesk.project.work import SetParameters
from dpdesk.ui.forms.cubes import CubeForm
from dpdesk.ui.panels.protect import ProtectPanel
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.words.settings import changes_words
from dpdesk.ui.workbench import Workbench
from tests.helpers.a11y import findings
from tests.helpers.people_plan import open_plan
from tests.helpers.sitting import shown, take_from_data

pytestmark = pytest.mark.plain

PLAN = """version = 1
[source]
path = "people.csv"
[protection]
method = "dp-choice"
groups = ["region"]
domains = { region = ["n", "s"], job = ["cook", "nurse"] }
choose = [{ quantile = 0.5, of = "pay", lower = 0, upper = 100, step = 5 }, { mode = "job" }]
"""


@pytest.fixture
def panel(bench: Workbench, theme: ThemeManager, qtbot: QtBot) -> ProtectPanel:
    with theme.building():
        panel = ProtectPanel(bench, theme)
    return shown(panel, qtbot)


def opened(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, folder: Path, more: str = ""
) -> None:
    (folder / "people.csv").write_text("region,pay,job\nn,20,cook\ns,60,nurse\n", "utf-8")
    plan = folder / "plan.toml"
    plan.write_text(PLAN + more, "utf-8")
    open_plan(bench, plan, qtbot)
    panel.activated()
    qtbot.waitUntil(lambda: not bench.stale and not panel.busy)


@pytest.mark.styled
def test_the_form_shows_what_is_chosen_and_counts_nothing(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, tmp_path: Path
) -> None:
    opened(panel, bench, qtbot, tmp_path, "epsilon = 1\n")
    form, before = panel.settings.form, dict(bench.work.parameters)
    if folder := os.environ.get("DPDESK_SHOTS"):
        panel.resize(1300, 900)
        panel.grab().save(f"{folder}/choices.png")
    found = {key: freeze(form.values()[key]) for key in before}
    assert found == {key: freeze(value) for key, value in before.items()}
    assert "rows worse than the best candidate" in panel.result.sentence
    chart = panel.result.deck.view("choice-errors").chart
    assert isinstance(chart, BarChart)
    assert chart.categories == ("median of pay", "most frequent job")
    assert not (bench.context.home / "ledger.sqlite").exists()
    assert panel.settings.budget.isVisible()
    assert not findings(form)


def test_where_suggested_categories_come_from_is_recorded(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, tmp_path: Path
) -> None:
    opened(panel, bench, qtbot, tmp_path, "epsilon = 1\n")
    form = panel.settings.form
    assert isinstance(form, CubeForm)
    take_from_data(form, "job", qtbot)
    assert bench.work.parameters["origins"] == {"job": "data"}


def test_without_a_budget_errors_are_drawn_and_nothing_is_ready(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, tmp_path: Path
) -> None:
    opened(panel, bench, qtbot, tmp_path)
    assert "Give ε" in panel.result.band.text
    assert panel.result.deck.view("choice-errors") is not None


def test_a_hierarchy_that_is_made_from_the_data_declares_no_categories(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, tmp_path: Path
) -> None:
    ordered = '[attributes.region]\nhierarchy = { kind = "order" }\n'
    opened(panel, bench, qtbot, tmp_path, f"epsilon = 1\n{ordered}")
    form = panel.settings.form
    assert isinstance(form, CubeForm)
    assert form.domains.missing == ()
    bench.apply(SetParameters({"domains": {"job": ["cook", "nurse"]}}))
    qtbot.waitUntil(lambda: form.domains.missing == ("region",))
    qtbot.waitUntil(lambda: not panel.busy and panel.result.band.isVisible())
    assert "region" in panel.result.band.text
    assert not set("{}[]") & set(panel.result.band.text)


def test_what_is_typed_into_one_field_is_one_step(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, tmp_path: Path
) -> None:
    opened(panel, bench, qtbot, tmp_path, "epsilon = 1\n")
    steps = len(bench.history.path())
    largest = next(
        one
        for one in panel.settings.form.findChildren(QLineEdit)
        if one.accessibleName() == "Largest value"
    )
    for typed in ("120", "150"):
        largest.setFocus()
        qtbot.waitUntil(largest.hasFocus)
        largest.selectAll()
        qtbot.keyClicks(largest, typed)
        steps += 1
        assert len(bench.history.path()) == steps
        panel.settings.goals.setFocus()
        largest.clearFocus()
    bench.undo()
    chosen = bench.work.parameters["choose"]
    assert isinstance(chosen, tuple)
    assert dict(chosen[0])["upper"] == 120  # type: ignore[call-overload]


def test_what_cannot_be_used_is_neither_kept_nor_released_as_what_was_there_before(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, tmp_path: Path
) -> None:
    opened(panel, bench, qtbot, tmp_path, "epsilon = 1\n")
    assert panel.can_keep()
    highest, limit = (
        next(one for one in panel.findChildren(QLineEdit) if one.accessibleName() == name)
        for name in ("Largest value", "Limit of the budget")
    )
    for field, letters, label in ((highest, "0.00x", "“What is chosen”"), (limit, "x1", "“Limit”")):
        field.setFocus()
        field.setCursorPosition(len(field.text()))
        qtbot.keyClicks(field, letters)
        qtbot.waitUntil(lambda: not panel.busy)
        assert len(bench.unread) == 1
        assert panel.status().note == "to be corrected"
        assert not panel.can_keep()
        qtbot.waitUntil(lambda label=label: label in panel.result.band.text)
        for _ in letters:
            qtbot.keyClick(field, Qt.Key.Key_Backspace)
        qtbot.waitUntil(panel.can_keep)
        assert not bench.unread
        assert panel.result.band.text == ""


def test_the_history_says_what_is_chosen_as_the_form_does(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, tmp_path: Path
) -> None:
    opened(panel, bench, qtbot, tmp_path, "epsilon = 1\n")
    choose = {"quantile": 0.5, "of": "pay", "lower": 0, "upper": 50, "step": 5}
    before = {"choose": {**choose, "upper": 100}}
    assert bench.method is not None
    words = changes_words(bench.method, {"choose": choose}, before=before)
    assert "of, " not in words
    assert "pay" in words


def test_a_refused_setting_is_called_as_in_the_form_and_shown(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, tmp_path: Path
) -> None:
    opened(panel, bench, qtbot, tmp_path, "epsilon = 1\n")
    bench.apply(SetParameters({"domains": {"region": ["n", "s"], "pay": ["1", "2"]}}))
    qtbot.waitUntil(lambda: bool(panel.result.band.text) and not panel.busy)
    assert "“Declared categories” names “pay”" in panel.result.band.text
    assert "domains" not in panel.result.band.text
    assert "“Groups”" in panel.result.band.text
    assert not panel.settings.budget.words.startswith("✕")
    panel.result.band.triggered.emit("field:domains")
    field = panel.settings.form.field("domains")
    focused = QApplication.focusWidget()
    assert focused is not None
    assert field.isAncestorOf(focused)
