"""The protect panel with views: the form, the guide before anything is spent, the browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from dpdesk.core.charts import BarChart
from dpdesk.ui.panels.protect import ProtectPanel
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.workbench import Workbench
from tests.helpers.a11y import findings
from tests.helpers.people_plan import open_plan
from tests.helpers.sitting import shown

COLUMNS = [f"item{i}" for i in range(1, 13)]
PLAN = f"""version = 1
[source]
path = "baskets.csv"
[protection]
method = "priview"
dimensions = [{", ".join(f'"{name}"' for name in COLUMNS)}]
domains = {{ {", ".join(f'{name} = ["0", "1"]' for name in COLUMNS)} }}
epsilon = 1
"""


@pytest.fixture
def panel(bench: Workbench, theme: ThemeManager, qtbot: QtBot) -> ProtectPanel:
    with theme.building():
        panel = ProtectPanel(bench, theme)
    return shown(panel, qtbot)


def test_the_guide_is_drawn_before_anything_is_spent(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, tmp_path: Path
) -> None:
    rows = [",".join(COLUMNS), *(",".join("01"[i >> j & 1] for j in range(12)) for i in range(60))]
    (tmp_path / "baskets.csv").write_text("\n".join(rows) + "\n", "utf-8")
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN, "utf-8")
    open_plan(bench, plan, qtbot)
    panel.activated()
    qtbot.waitUntil(lambda: not bench.stale and not panel.busy)
    form = panel.settings.form
    assert tuple(form.values()["dimensions"]) == tuple(COLUMNS)
    chart = panel.result.deck.view("view-guide").chart
    assert isinstance(chart, BarChart)
    assert "views" in panel.result.sentence
    assert not (bench.context.home / "ledger.sqlite").exists()
    assert not findings(form)
    field = form.field("marginals")
    for plain in ({"size": 3}, [["item1", "item2"], ["item3"]], None):
        field.set_plain(plain)
        assert field.plain() == plain
