"""The panel over a small table of people."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from dpdesk.app.types import SetRoles
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.panels.hierarchies import HierarchiesPanel
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.workbench import Workbench
from tests.helpers.hierarchy_panel import JOBS, QUASI, Answers, settle
from tests.helpers.people_plan import bench_at


@pytest.fixture
def workbench(qtbot: QtBot, hub: JobHub, tmp_path: Path) -> Iterator[Workbench]:
    rows = [(20 + n % 40, JOBS[n % 6], 1000 + n) for n in range(120)]
    with (tmp_path / "people.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("age", "job", "pay"), *rows, ("", "judge", 7)])
    yield from bench_at(tmp_path / "home", hub, qtbot)


@pytest.fixture
def panel(
    qtbot: QtBot, hub: JobHub, workbench: Workbench, theme: ThemeManager, tmp_path: Path
) -> HierarchiesPanel:
    """The panel over loaded data, with two quasi-identifiers and a sensitive attribute."""
    with theme.building():
        panel = HierarchiesPanel(workbench, theme, Answers())
    qtbot.addWidget(panel)
    panel.resize(1100, 700)
    panel.show()
    workbench.open_path(tmp_path / "people.csv")
    qtbot.waitUntil(lambda: workbench.profile is not None and not hub.busy)
    workbench.apply(SetRoles(QUASI))
    settle(qtbot, panel)
    return panel
