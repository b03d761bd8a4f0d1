"""Releasing differentially private tables in the window: the cost is named, then asked again."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QPushButton
from pytestqt.qtbot import QtBot

from dpdesk.ui.panels.review import ReviewPanel
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.workbench import Workbench
from tests.helpers.asking import ScriptedAsker
from tests.helpers.cubes import REGION, SEX, people, release, write_plan, write_register
from tests.helpers.kinds import KINDS
from tests.helpers.people_plan import open_plan
from tests.helpers.sitting import shown


@pytest.fixture
def panel(bench: Workbench, theme: ThemeManager, qtbot: QtBot) -> ReviewPanel:
    with theme.building():
        panel = ReviewPanel(bench, theme, ScriptedAsker())
    return shown(panel, qtbot)


def button(panel: ReviewPanel, words: str) -> QPushButton:
    found = [
        one
        for one in panel.findChildren(QPushButton)
        if one.isVisible() and one.text().replace("&", "").startswith(words)
    ]
    assert len(found) == 1, (words, [one.text() for one in panel.findChildren(QPushButton)])
    return found[0]


def seen(panel: ReviewPanel) -> list[QPushButton]:
    return [one for one in panel.findChildren(QPushButton) if one.isVisible()]


def ready(panel: ReviewPanel, bench: Workbench, qtbot: QtBot, plan: Path) -> None:
    open_plan(bench, plan, qtbot)
    panel.activated()
    qtbot.waitUntil(lambda: panel.preparing.can_write and not bench.hub.busy)


def spent(bench: Workbench) -> str:
    outlook = bench.budget.outlook
    return "" if outlook is None else outlook.spent


def test_the_button_names_the_cost_and_asks_once_more_before_it_is_spent(
    panel: ReviewPanel, bench: Workbench, qtbot: QtBot, tmp_path: Path
) -> None:
    plan = write_plan(write_register(tmp_path, people()), budget="limit = 2.5")
    ready(panel, bench, qtbot, plan)
    first = button(panel, "Release, spends")
    assert first.text() == "Release, spends ε\u00a01 of 2.5"
    qtbot.mouseClick(first, Qt.MouseButton.LeftButton)
    assert not first.isEnabled()
    assert bench.release is None
    assert spent(bench) == "ε = 0"
    keep = button(panel, "Do not release")
    assert panel.window().focusWidget() is keep  # Enter once more spends nothing
    title = next(one for one in panel.prepare.findChildren(QLineEdit) if one.isVisible())
    title.setFocus()
    panel.preparing.previewed.emit()
    assert panel.window().focusWidget() is title  # asked once, it leaves the focus alone
    qtbot.mouseClick(button(panel, "Do not release"), Qt.MouseButton.LeftButton)
    assert first.isEnabled()
    qtbot.mouseClick(first, Qt.MouseButton.LeftButton)
    qtbot.mouseClick(button(panel, "Yes: Release"), Qt.MouseButton.LeftButton)
    assert "Yes:" not in "".join(answer.text() for answer in seen(panel))  # it has been answered
    qtbot.waitUntil(lambda: bench.release is not None and not bench.hub.busy)
    assert bench.verified is not None
    assert bench.verified.ok
    qtbot.waitUntil(lambda: spent(bench) == "ε = 1")
    qtbot.waitUntil(lambda: "18 cells" in panel.release.tables.words)
    grid = panel.release.tables.grid.model()
    heads = [grid.headerData(place, Qt.Orientation.Horizontal) for place in range(5)]
    assert heads == ["sex", "region", "age", "value", "± in 95 %"]
    assert "people of the truth" in panel.release.tables.words
    assert grid.rowCount() == 18


def test_the_cells_of_a_release_stand_as_released_with_the_bias_in_words(
    panel: ReviewPanel, bench: Workbench, qtbot: QtBot, tmp_path: Path
) -> None:
    measure = ["count", {"average": "pay", "lower": 0, "upper": 500}]
    plan = write_plan(write_register(tmp_path, people()), epsilon=2, measure=measure)
    summary = release(bench.context, plan, tmp_path / "out")
    bench.open_path(summary.out)
    tables = panel.release.tables
    qtbot.waitUntil(lambda: "falls with the number of people" in tables.words)
    assert "(average of pay)" in tables.choice.currentText()
    place = tables.choice.findText("grand total (count)")
    file = str(tables.choice.itemData(place))
    tables.choice.setCurrentIndex(place)
    qtbot.waitUntil(lambda: tables.words.startswith("1 cell;"))
    grid = tables.grid.model()
    written = (summary.out / "public" / file).read_text().split()[-1]
    shown = grid.index(0, 0)
    assert shown.data().replace(",", "") == written
    assert shown.data(Qt.ItemDataRole.TextAlignmentRole) & Qt.AlignmentFlag.AlignRight


def test_what_was_chosen_in_groups_is_shown_with_its_error_in_rows(
    panel: ReviewPanel, bench: Workbench, qtbot: QtBot, tmp_path: Path
) -> None:
    out, _ = KINDS["dp-choice"](tmp_path, bench.context)
    bench.open_path(out)
    tables = panel.release.tables
    qtbot.waitUntil(lambda: "worse than the best one of its group" in tables.words)
    names = [tables.choice.itemText(place) for place in range(tables.choice.count())]
    assert names == ["median of pay", "most frequent region"]
    grid = tables.grid.model()
    heads = [grid.headerData(at, Qt.Orientation.Horizontal) for at in range(grid.columnCount())]
    assert heads == ["sex", "value"]
    assert [grid.index(at, 0).data() for at in range(grid.rowCount())] == list(SEX)
    assert {grid.index(at, 1).data() for at in range(grid.rowCount())} <= set(REGION)
    page = panel.release.exports
    offered = {form for form, line in page.buttons.items() if line.isVisibleTo(page)}
    assert offered == {"parquet", "xlsx"}  # CSV has a button of its own


def test_clean_numbers_come_with_what_they_cost(
    panel: ReviewPanel, bench: Workbench, qtbot: QtBot, tmp_path: Path
) -> None:
    keys = {"planner": "base", "nonnegative": True, "integral": True}
    plan = write_plan(write_register(tmp_path, people()), **keys)
    bench.open_path(release(bench.context, plan, tmp_path / "out").out)
    tables = panel.release.tables
    qtbot.waitUntil(lambda: "too large on average" in tables.words)
    assert "holds less often" in tables.words


def test_a_further_release_says_that_it_spends_again_until_the_limit_stops_it(
    panel: ReviewPanel, bench: Workbench, qtbot: QtBot, tmp_path: Path
) -> None:
    plan = write_plan(write_register(tmp_path, people()), budget="limit = 1.5")
    ready(panel, bench, qtbot, plan)
    qtbot.mouseClick(button(panel, "Release, spends"), Qt.MouseButton.LeftButton)
    qtbot.mouseClick(button(panel, "Yes: Release"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bench.release is not None and not bench.hub.busy)
    panel.strip.choose("prepare")
    panel.strip.chosen.emit("prepare")
    again = button(panel, "Release again, spends")
    assert not again.isEnabled()
    assert panel.prepare.band.kind == "fail"
