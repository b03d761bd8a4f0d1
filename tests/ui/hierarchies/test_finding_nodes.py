"""Finding a value in a tree of a thousand."""

from __future__ import annotations

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from dpdesk.ui.panels.hierarchies import HierarchiesPanel
from tests.helpers.hierarchy_panel import JOBS, give, give_jobs

SHIFT = Qt.KeyboardModifier.ShiftModifier


def test_typing_goes_to_a_value_of_a_long_tree_and_enter_to_the_next(
    qtbot: QtBot, panel: HierarchiesPanel
) -> None:
    many = [f"{chr(65 + n // 100)}{n % 100:02d} trade" for n in range(1_000)]
    rows = [[job, job[0], "*"] for job in [*many, *sorted(set(JOBS))]]
    give(qtbot, panel, "job", rows)
    panel.workplace.show_page("tree")
    finder, tree = panel.tree_pane.finder, panel.tree_pane.tree
    qtbot.waitUntil(finder.isVisible)
    finder.line.setFocus()
    qtbot.keyClicks(finder.line, "17 TRADE")
    assert finder.count.text() == "1 of 10"
    seen = [str(tree.currentIndex().data())]
    for _ in range(2):
        qtbot.keyClick(finder.line, Qt.Key.Key_Return)
        seen.append(str(tree.currentIndex().data()))
    qtbot.keyClick(finder.line, Qt.Key.Key_Return, SHIFT)
    seen.append(str(tree.currentIndex().data()))
    assert seen == ["A17 trade", "B17 trade", "C17 trade", "B17 trade"]
    assert tree.viewport().rect().intersects(tree.visualRect(tree.currentIndex()))
    assert finder.line.hasFocus()
    qtbot.keyClicks(finder.line, "x")
    assert finder.count.text() == "not found"


def test_a_short_tree_needs_no_search(qtbot: QtBot, panel: HierarchiesPanel) -> None:
    give_jobs(qtbot, panel)
    assert panel.tree_pane.finder.isHidden()
