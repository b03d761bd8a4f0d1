"""The protect panel with values drawn from a budget: the form, and errors before it is spent."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel, QLineEdit, QRadioButton
from pytestqt.qtbot import QtBot

from dpdesk.core.charts import BarChart, ScatterChart
from dpdesk.core.spoken_charts import spoken_chart
from dpdesk.ui.forms.columns import NumbersByColumn
from dpdesk.ui.forms.cubes import CubeForm
from dpdesk.ui.panels.protect import ProtectPanel
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.workbench import Workbench
from tests.helpers.a11y import findings
from tests.helpers.people_plan import open_plan
from tests.helpers.sitting import shown, take_from_data

PLAN = """version = 1
[source]
path = "answers.csv"
[protection]
method = "randomised-response"
drawn = ["smokes"]
domains = { smokes = ["yes", "no", "other"] }
epsilon = 1
"""


@pytest.fixture
def panel(bench: Workbench, theme: ThemeManager, qtbot: QtBot) -> ProtectPanel:
    with theme.building():
        panel = ProtectPanel(bench, theme)
    return shown(panel, qtbot)


def test_errors_are_drawn_and_settings_edited_before_anything_is_spent(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, tmp_path: Path
) -> None:
    rows = ["town,smokes", *(f"{'abc'[i % 3]},{('yes', 'no')[i % 2]}" for i in range(60))]
    (tmp_path / "answers.csv").write_text("\n".join(rows) + "\n", "utf-8")
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN, "utf-8")
    open_plan(bench, plan, qtbot)
    panel.activated()
    qtbot.waitUntil(lambda: not bench.stale and not panel.busy)
    form = panel.settings.form
    assert tuple(form.values()["drawn"]) == ("smokes",)
    assert isinstance(panel.result.deck.view("errors").chart, ScatterChart)
    assert "60 rows" in panel.result.sentence
    assert not (bench.context.home / "ledger.sqlite").exists()
    assert not findings(form)
    field = form.field("matrix")
    for plain in ({"smokes": [["1/2", "1/2"], ["1/3", "2/3"]]}, None):
        field.set_plain(plain)
        assert field.plain() == plain
    shares = form.field("shares")
    assert isinstance(shares, NumbersByColumn)
    shares.fold.click()
    line = shares.line("smokes")  # of each column that is drawn
    assert isinstance(line, QLineEdit)
    line.setText("1")
    line.textEdited.emit("1")
    qtbot.waitUntil(lambda: bench.work.parameters.get("shares") == {"smokes": 1})
    bench.undo()
    qtbot.waitUntil(lambda: not line.text())
    box = panel.settings.trial
    box.button.click()
    qtbot.waitUntil(lambda: "smokes" in box.words)
    assert "✓ smokes: no row outside the 3 categories" in box.words
    assert isinstance(form, CubeForm)
    take_from_data(form, "smokes", qtbot)
    assert bench.work.parameters["origins"] == {"smokes": "data"}
    assert bench.work.parameters["domains"] == {"smokes": ("no", "yes")}
    assert panel.settings.budget.isVisible()


DIVERTED = """version = 1
[source]
path = "people.csv"
[attributes]
job = { role = "sensitive" }
illness = { role = "sensitive" }
[protection]
method = "l-diverted"
l = 4
"""


@pytest.mark.usefixtures("german")
def test_two_sensitive_columns_have_pictures_that_are_told_apart(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, tmp_path: Path
) -> None:
    ill = ("", "", "", "flu", "cold")
    rows = ["town,job,illness", *(f"{'abc'[i % 3]},job {i % 9},{ill[i % 5]}" for i in range(90))]
    (tmp_path / "people.csv").write_text("\n".join(rows) + "\n", "utf-8")
    plan = tmp_path / "plan.toml"
    plan.write_text(DIVERTED, "utf-8")
    open_plan(bench, plan, qtbot)
    panel.activated()
    qtbot.waitUntil(lambda: not bench.stale and not panel.busy)
    words = [button.text() for button in panel.result.deck.strip.findChildren(QRadioButton)]
    assert words[:2] == ["Häufigkeiten von illness", "Häufigkeiten von job"]
    chart = panel.result.deck.view("frequency-illness").chart
    assert isinstance(chart, BarChart)
    assert spoken_chart(chart).categories[0] == "(leer)"
    form = panel.settings.form
    assert form is not None
    texts = [one.text() for one in form.findChildren(QLabel) if one.isVisible()]
    assert "Keine ist angekreuzt: job und illness, nach ihrer Rolle." in texts
    form.field("sensitive").set_plain(["job"])
    texts = [one.text() for one in form.findChildren(QLabel) if one.isVisible()]
    assert not any("Keine ist angekreuzt" in text for text in texts)
