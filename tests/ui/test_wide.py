"""Data of many columns: steps make as many widgets, and ask for as many cells, as with a few."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from dpdesk.app.context import AppContext
from dpdesk.app.types import Role, SetRoles
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.models.table import Index
from dpdesk.ui.panels.attributes.view import AttributesModel
from dpdesk.ui.theme import ThemeManager
from tests.helpers.events import settle
from tests.helpers.sitting import Sitting

STEPS = ("attributes", "hierarchies", "protect")
FEW, MANY = 60, 200
TAGGED = 4


def write_wide(path: Path, columns: int) -> list[str]:
    """A file of forty rows; its columns have two to eight values each."""
    names = [f"answer_to_question_{number}" for number in range(columns)]
    rows = [",".join(str(row % (2 + number % 7)) for number in range(columns)) for row in range(40)]
    path.write_text("\n".join([",".join(names), *rows]) + "\n", encoding="utf-8")
    return names


@pytest.fixture
def sitting(qtbot: QtBot, tmp_path: Path, hub: JobHub, theme: ThemeManager) -> Iterator[Sitting]:
    with AppContext.open(tmp_path / "home") as context:
        made = Sitting(qtbot, context, hub, theme)
        yield made
        made.end()


def test_steps_cost_no_more_for_200_columns_than_for_60(
    qtbot: QtBot, sitting: Sitting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: Counter[int] = Counter()
    data = AttributesModel.data

    def counted(
        self: AttributesModel, index: Index, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        asked[now] += 1
        return data(self, index, role)

    monkeypatch.setattr(AttributesModel, "data", counted)
    made: dict[int, list[int]] = {}
    for now in (FEW, MANY):
        path = tmp_path / f"wide-{now}.csv"
        names = write_wide(path, now)
        with qtbot.waitSignal(sitting.bench.opened):
            sitting.bench.open_path(path)
        sitting.quiet(lambda: sitting.bench.profile is not None)
        sitting.bench.apply(SetRoles(dict.fromkeys(names[:TAGGED], Role.QUASI_IDENTIFIER)))
        made[now] = []
        for step in STEPS:
            sitting.window.show_panel(step)
            sitting.quiet()
            settle()
            made[now].append(len(sitting.window.current_panel.findChildren(QWidget)))
    assert asked[MANY] > 0
    assert asked[MANY] <= 1.2 * asked[FEW]
    assert made[MANY] == made[FEW]
