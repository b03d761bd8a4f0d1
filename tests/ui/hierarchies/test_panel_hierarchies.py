"""The step Hierarchies, driven over real data: what is seen, edited by hand, undone."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtWidgets import QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from dpdesk.app.types import SetHierarchy, SetMethod, SetParameters, SetRoles
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.plan import HierarchyBuilder
from dpdesk.core.schema import Role
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.panels.hierarchies import HierarchiesPanel
from dpdesk.ui.panels.hierarchies.presenter import MIME
from dpdesk.ui.shell import Mark
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.workbench import Workbench
from tests.helpers.a11y import findings
from tests.helpers.hierarchy_panel import (
    QUASI,
    Answers,
    choose,
    give,
    give_jobs,
    labels,
    settle,
)


def test_without_data_or_roles_the_next_step_is_offered(
    qtbot: QtBot, hub: JobHub, workbench: Workbench, theme: ThemeManager, tmp_path: Path
) -> None:
    with theme.building():
        panel = HierarchiesPanel(workbench, theme, Answers())
    qtbot.addWidget(panel)
    panel.show()
    assert panel.pages.currentWidget() is panel._empty_data
    workbench.open_path(tmp_path / "people.csv")
    qtbot.waitUntil(lambda: workbench.profile is not None)
    assert panel.pages.currentWidget() is panel._empty_roles
    with qtbot.waitSignal(panel.wantsPanel) as caught:
        panel._empty_roles.triggered.emit("attributes")
    assert caught.args == ["attributes"]
    assert panel.status().mark is Mark.OPEN


def test_quasi_identifiers_come_first_and_say_how_they_stand(
    qtbot: QtBot, panel: HierarchiesPanel
) -> None:
    texts = [entry.text for entry in panel.attributes.entries]
    assert texts == [f"{name}\n– none: value, then *" for name in ("age", "job", "pay")]
    assert [entry.optional for entry in panel.attributes.entries] == [False, False, True]
    give_jobs(qtbot, panel)
    assert panel.attributes.entries[1].text == "job\n✓ 3 levels · edited by hand"
    assert panel.status().note == "1 of 2 have one"


def test_dimensions_of_tables_are_listed_whatever_their_role(
    qtbot: QtBot, panel: HierarchiesPanel, workbench: Workbench
) -> None:
    workbench.apply(SetRoles(dict.fromkeys(QUASI, Role.INSENSITIVE)))
    settle(qtbot, panel)
    assert panel.attributes.entries == ()
    workbench.apply(SetMethod("table", {"rows": ["job"], "columns": ["age"]}))
    settle(qtbot, panel)
    assert [entry.attribute for entry in panel.attributes.entries] == ["age", "job"]
    assert panel.attributes.item(0).text() == "Dimensions of tables"
    qtbot.mouseClick(panel.suggest_all, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: set(workbench.work.hierarchies) == {"age", "job"})
    settle(qtbot, panel)
    workbench.apply(SetParameters({"rows": None}))
    settle(qtbot, panel)
    assert [entry.attribute for entry in panel.attributes.entries] == ["age"]


def test_the_way_to_the_next_step_is_shown(qtbot: QtBot, panel: HierarchiesPanel) -> None:
    assert panel.next.isVisible()
    assert panel.suggest_all.property("look") == "primary"
    assert panel.next.property("look") != "primary"
    qtbot.mouseClick(panel.suggest_all, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: panel.next.property("look") == "primary")
    settle(qtbot, panel)
    assert panel.suggest_all.property("look") != "primary"
    with qtbot.waitSignal(panel.wantsPanel) as caught:
        qtbot.mouseClick(panel.next, Qt.MouseButton.LeftButton)
    assert caught.args == ["protect"]


def test_the_level_says_how_many_values_and_the_smallest_group(
    qtbot: QtBot, panel: HierarchiesPanel
) -> None:
    give_jobs(qtbot, panel)
    panel.level.slider.setFocus()
    qtbot.keyClick(panel.level.slider, Qt.Key.Key_Right)
    assert panel.level.level == 1
    assert "At this level: 3 values, smallest group 20 rows (care)." in panel.level.sentence
    chart = panel.picture.chart.chart
    assert chart is not None
    assert dict(zip(chart.categories, chart.series[0].values, strict=True)) == {
        "food": 80,
        "care": 20,
        "law": 21,
    }
    assert "turns 4 values into 3 and changes 121 of 121 rows" in panel.before_after.sentence
    model = panel.before_after.model
    shown = [[model.index(row, column).data() for column in range(4)] for row in range(4)]
    assert ["judge", "21", "law", "21"] in shown
    assert len(shown) == model.rowCount()


def test_moving_the_level_changes_nothing_in_the_work(
    qtbot: QtBot, panel: HierarchiesPanel
) -> None:
    give_jobs(qtbot, panel)
    before = panel._workbench.work
    panel.level.box.setValue(2)
    assert panel._workbench.work is before


def test_values_that_do_not_occur_are_grey_and_told(qtbot: QtBot, panel: HierarchiesPanel) -> None:
    give_jobs(qtbot, panel)
    model = panel.tree_pane.tree.tree
    waiter, cook = model.find(0, "waiter"), model.find(0, "cook")
    assert waiter.data(Qt.ItemDataRole.ForegroundRole) is not None
    assert cook.data(Qt.ItemDataRole.ForegroundRole) is None
    assert "does not occur" in waiter.data(Qt.ItemDataRole.ToolTipRole)
    assert waiter.siblingAtColumn(1).data() == "0"


def test_what_lacks_a_place_is_listed_first_and_can_be_gone_to(
    qtbot: QtBot, panel: HierarchiesPanel
) -> None:
    give(qtbot, panel, "job", [["cook", "food", "*"], ["baker", "food", "*"]])
    assert panel.attributes.entries[1].text == "job\n! 2 values have no place"
    assert panel.status().mark is Mark.ATTENTION
    box = panel.tree_pane.lacking
    assert box.isVisible()
    assert [box.listing.item(row).text() for row in range(2)] == [
        "judge · 21 rows",
        "nurse · 20 rows",
    ]
    tree = panel.tree_pane.tree
    assert tree.tree.index(0, 0, tree.tree.index(0, 0)).data() == "! judge"
    box.listing.setCurrentRow(0)
    box.listing.setFocus()
    qtbot.keyClick(box.listing, Qt.Key.Key_Return)
    assert tree.chosen().values == ("judge",)
    qtbot.mouseClick(box.add, Qt.MouseButton.LeftButton)
    settle(qtbot, panel)
    assert not box.isVisible()
    assert panel.attributes.entries[1].text == "job\n✓ 3 levels · edited by hand"


def test_an_edit_elsewhere_does_not_accept_what_lacks_a_place(
    qtbot: QtBot, panel: HierarchiesPanel
) -> None:
    give(qtbot, panel, "job", [["cook", "food", "*"], ["baker", "food", "*"]])
    panel.tree_pane.actions_["sort"].trigger()
    settle(qtbot, panel)
    assert panel.tree_pane.lacking.isVisible()
    choose(panel, 0, "judge")
    panel.tree_pane.actions_["move"].trigger()
    qtbot.keyClicks(panel.tree_pane.prompt.line, "food")
    qtbot.keyClick(panel.tree_pane.prompt.line, Qt.Key.Key_Return)
    settle(qtbot, panel)
    assert panel.look is not None
    assert [count.value for count in panel.look.examined.lacking] == ["nurse"]
    made = panel._workbench.work.hierarchies["job"]
    assert isinstance(made, Hierarchy)
    assert ["judge", "food", "*"] in made.rows()


def test_grouping_by_keyboard_is_one_undoable_step(qtbot: QtBot, panel: HierarchiesPanel) -> None:
    give_jobs(qtbot, panel)
    choose(panel, 1, "care", "law")
    tree, prompt = panel.tree_pane.tree, panel.tree_pane.prompt
    tree.setFocus()
    panel.tree_pane.actions_["group"].trigger()
    assert prompt.isVisible()
    qtbot.keyClicks(prompt.line, "public")
    qtbot.keyClick(prompt.line, Qt.Key.Key_Return)
    settle(qtbot, panel)
    assert labels(panel, 1) == {"food", "public"}
    assert panel.look is not None
    assert panel.look.height == 2  # no level came that was not asked for
    assert not prompt.isVisible()
    assert panel._workbench.history.undo_label == "Hierarchy of job: 2 values grouped as public"
    panel._workbench.undo()
    settle(qtbot, panel)
    assert labels(panel, 1) == {"food", "care", "law"}


def test_with_a_level_above_groups_stay_below_their_group(
    qtbot: QtBot, panel: HierarchiesPanel
) -> None:
    give_jobs(qtbot, panel)
    choose(panel, 1, "care")
    panel.tree_pane.actions_["insert"].trigger()
    settle(qtbot, panel)
    choose(panel, 1, "care", "law")
    panel.tree_pane.actions_["group"].trigger()
    prompt = panel.tree_pane.prompt
    qtbot.keyClicks(prompt.line, "public")
    qtbot.keyClick(prompt.line, Qt.Key.Key_Return)
    settle(qtbot, panel)
    assert labels(panel, 1) == {"food", "care", "law"}
    assert labels(panel, 2) == {"food", "public"}


def test_a_tree_is_found_as_it_was_left(qtbot: QtBot, panel: HierarchiesPanel) -> None:
    give_jobs(qtbot, panel)
    tree = panel.tree_pane.tree
    tree.setExpanded(tree.tree.find(1, "food"), True)
    choose(panel, 1, "care")
    panel.attributes.choose("age")
    settle(qtbot, panel)
    panel.attributes.choose("job")
    settle(qtbot, panel)
    assert tree.isExpanded(tree.tree.find(1, "food"))
    assert tree.chosen().values == ("care",)
    tree.collapse(tree.tree.index(0, 0))
    panel.attributes.choose("age")
    settle(qtbot, panel)
    panel.attributes.choose("job")
    settle(qtbot, panel)
    assert not tree.isExpanded(tree.tree.index(0, 0))


def test_a_label_in_use_is_refused_in_place(qtbot: QtBot, panel: HierarchiesPanel) -> None:
    give_jobs(qtbot, panel)
    choose(panel, 0, "nurse")
    before = panel._workbench.work
    panel.tree_pane.actions_["group"].trigger()
    prompt = panel.tree_pane.prompt
    qtbot.keyClicks(prompt.line, "food")
    qtbot.keyClick(prompt.line, Qt.Key.Key_Return)
    settle(qtbot, panel)
    assert "level 1 already has a value “food”" in prompt.error
    assert panel._workbench.work is before
    qtbot.keyClick(prompt.line, Qt.Key.Key_Escape)
    assert not prompt.isVisible()


def test_f2_types_over_a_name(qtbot: QtBot, panel: HierarchiesPanel) -> None:
    give_jobs(qtbot, panel)
    tree = panel.tree_pane.tree
    choose(panel, 1, "food")
    tree.setFocus()
    qtbot.keyClick(tree, Qt.Key.Key_F2)
    editor = tree.findChild(QLineEdit)
    assert editor is not None
    editor.selectAll()
    qtbot.keyClicks(editor, "kitchen")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    expected = {"kitchen", "care", "law"}
    qtbot.waitUntil(lambda: labels(panel, 1) == expected)


def test_dropping_moves_values_and_only_where_they_fit(
    qtbot: QtBot, panel: HierarchiesPanel
) -> None:
    give_jobs(qtbot, panel)
    model = panel.tree_pane.tree.tree
    mime = model.mimeData([model.find(0, "cook"), model.find(0, "baker")])
    move, care = Qt.DropAction.MoveAction, model.find(1, "care")
    assert mime.hasFormat(MIME)
    assert not model.canDropMimeData(mime, move, -1, -1, model.find(2, "*"))
    assert not model.canDropMimeData(QMimeData(), move, -1, -1, care)
    assert model.canDropMimeData(mime, move, -1, -1, care)
    model.dropMimeData(mime, move, -1, -1, care)
    settle(qtbot, panel)
    made = panel._workbench.work.hierarchies["job"]
    assert isinstance(made, Hierarchy)
    assert ["cook", "care", "*"] in made.rows()
    assert ["baker", "care", "*"] in made.rows()


def test_levels_are_added_removed_and_unused_values_dropped(
    qtbot: QtBot, panel: HierarchiesPanel
) -> None:
    give_jobs(qtbot, panel)
    actions = panel.tree_pane.actions_
    choose(panel, 1, "food")
    actions["insert"].trigger()
    settle(qtbot, panel)
    assert panel.level.slider.maximum() == 3
    choose(panel, 1, "food")
    actions["drop"].trigger()
    settle(qtbot, panel)
    assert panel.level.slider.maximum() == 2
    choose(panel, 0, "cook")
    actions["remove"].trigger()
    assert "do not occur" in panel.tree_pane.error
    choose(panel, 0, "waiter", "cook")
    actions["remove"].trigger()
    settle(qtbot, panel)
    assert labels(panel, 0) == {"cook", "baker", "nurse", "judge"}


def test_unfolded_groups_stay_unfolded_after_an_edit(qtbot: QtBot, panel: HierarchiesPanel) -> None:
    give_jobs(qtbot, panel)
    tree = panel.tree_pane.tree
    tree.setExpanded(tree.tree.find(1, "food"), True)
    choose(panel, 1, "care")
    tree.tree.setData(tree.tree.find(1, "care"), "health")
    settle(qtbot, panel)
    assert tree.isExpanded(tree.tree.find(1, "food"))
    assert not tree.isExpanded(tree.tree.find(1, "law"))


def test_a_missing_value_is_no_fault_and_not_blank(qtbot: QtBot, panel: HierarchiesPanel) -> None:
    panel._workbench.apply(SetHierarchy("age", HierarchyBuilder("intervals", {"widths": [20]})))
    panel.attributes.choose("age")
    settle(qtbot, panel)
    assert not panel.tree_pane.lacking.isVisible()
    assert panel.tree_pane.tree.tree.find(0, "").data() == "missing (empty)"


def test_choosing_a_bar_goes_to_its_value(qtbot: QtBot, panel: HierarchiesPanel) -> None:
    give_jobs(qtbot, panel)
    panel.level.box.setValue(1)
    chart = panel.picture.chart.chart
    assert chart is not None
    panel.picture.chart.pointPicked.emit(chart.categories.index("care"))
    assert panel.tree_pane.tree.chosen().values == ("care",)
    assert panel.tree_pane.tree.chosen().level == 1


@pytest.mark.parametrize("size", [100, 200])
def test_every_control_is_named_and_reachable(
    qtbot: QtBot, panel: HierarchiesPanel, theme: ThemeManager, size: int
) -> None:
    give(qtbot, panel, "job", [["cook", "food", "*"], ["baker", "food", "*"]])
    theme.set_text_size(size)
    for page in ("picture", "values", "making", "tree"):
        panel.workplace.show_page(page)
        assert findings(panel) == []
    panel.making.kind.setCurrentIndex(panel.making.kind.findData("intervals"))
    panel.workplace.show_page("making")
    settle(qtbot, panel)
    assert findings(panel) == []
    theme.set_text_size(100)


def test_a_narrow_window_shows_one_page_at_a_time(qtbot: QtBot, panel: HierarchiesPanel) -> None:
    give_jobs(qtbot, panel)
    assert not panel.workplace.narrow
    panel.resize(620, 700)
    qtbot.waitUntil(lambda: panel.workplace.narrow)
    panel.workplace.show_page("tree")
    assert panel.tree_pane.isVisible()
    panel.workplace.show_page("picture")
    assert not panel.tree_pane.isVisible()
    panel.resize(1100, 700)
    qtbot.waitUntil(lambda: not panel.workplace.narrow)
    assert panel.tree_pane.isVisible()
    assert panel.picture.isVisible()


def test_an_answer_for_old_data_is_dropped(
    qtbot: QtBot, panel: HierarchiesPanel, tmp_path: Path
) -> None:
    (tmp_path / "other.csv").write_text("age,job\n1,x\n2,y\n")
    old = panel._workbench.data
    panel._workbench.open_path(tmp_path / "other.csv")
    qtbot.waitUntil(lambda: panel._workbench.data is not old)
    settle(qtbot, panel)
    panel._workbench.apply(SetRoles({"age": Role.QUASI_IDENTIFIER}))
    settle(qtbot, panel)
    assert labels(panel, 0) == {"1", "2"}


def test_the_panel_is_let_go(qtbot: QtBot, workbench: Workbench, theme: ThemeManager) -> None:
    import weakref

    holder = QWidget()
    qtbot.addWidget(holder)
    panel: HierarchiesPanel | None = HierarchiesPanel(workbench, theme, Answers(), holder)
    known = weakref.ref(panel)
    panel.setParent(None)
    panel.deleteLater()
    del panel
    qtbot.waitUntil(lambda: _gone(known))


def _gone(known: object) -> bool:
    import gc

    gc.collect()
    return known() is None  # type: ignore[operator]
