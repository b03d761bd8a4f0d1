"""How hierarchies are made: suggested, built with options, taken from files."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit
from pytestqt.qtbot import QtBot

from dpdesk.app.types import SetHierarchy
from dpdesk.core.plan import HierarchyBuilder, HierarchyFile
from dpdesk.ui.panels.hierarchies import HierarchiesPanel
from dpdesk.ui.shell import Mark
from tests.helpers.hierarchy_panel import (
    Answers,
    give_jobs,
    labels,
    settle,
)


def test_all_suggestions_are_one_step_back(qtbot: QtBot, panel: HierarchiesPanel) -> None:
    assert panel.can_run()
    qtbot.mouseClick(panel.suggest_all, Qt.MouseButton.LeftButton)
    settle(qtbot, panel)
    chosen = panel._workbench.work.hierarchies
    assert chosen["age"] == HierarchyBuilder("intervals", {"widths": [5, 10, 20]})
    assert chosen["job"] == HierarchyBuilder("order")
    assert not panel.suggest_all.isEnabled()
    assert panel.status().mark is Mark.DONE
    panel._workbench.undo()
    settle(qtbot, panel)
    assert dict(panel._workbench.work.hierarchies) == {}


def test_one_suggestion_says_why(qtbot: QtBot, panel: HierarchiesPanel) -> None:
    panel.attributes.choose("age")
    qtbot.mouseClick(panel.making.suggest, Qt.MouseButton.LeftButton)
    settle(qtbot, panel)
    assert "numbers from 20 to 59" in panel.band.text
    assert "numbers from 20 to 59" in panel.making._reason.text()
    assert panel.making.kind.currentData() == "intervals"


def test_a_builder_is_tried_before_it_is_used(qtbot: QtBot, panel: HierarchiesPanel) -> None:
    panel.attributes.choose("age")
    settle(qtbot, panel)
    making = panel.making
    making.kind.setCurrentIndex(making.kind.findData("intervals"))
    settle(qtbot, panel)
    form = making.form()
    assert form is not None
    assert form.values()["widths"] == [5, 10, 20]
    assert "age" not in panel._workbench.work.hierarchies
    assert making.use.isEnabled()
    assert labels(panel, 2) == {"20-29", "30-39", "40-49", "50-59", ""}
    control = form.field("widths").control
    assert isinstance(control, QLineEdit)
    control.selectAll()
    qtbot.keyClicks(control, "20")
    settle(qtbot, panel)
    assert labels(panel, 1) == {"20-39", "40-59", ""}
    panel.run()
    settle(qtbot, panel)
    assert panel._workbench.work.hierarchies["age"] == HierarchyBuilder(
        "intervals", {"widths": [20]}
    )
    assert not making.use.isVisible()


def test_options_that_do_not_fit_are_told_beside_the_option(
    qtbot: QtBot, panel: HierarchiesPanel
) -> None:
    panel.attributes.choose("age")
    making = panel.making
    making.kind.setCurrentIndex(making.kind.findData("intervals"))
    settle(qtbot, panel)
    form = making.form()
    assert form is not None
    control = form.field("widths").control
    assert isinstance(control, QLineEdit)
    control.selectAll()
    qtbot.keyClicks(control, "5, x")
    settle(qtbot, panel)
    assert control.property("invalid")
    assert not making.use.isEnabled()
    qtbot.mouseClick(making.discard, Qt.MouseButton.LeftButton)
    assert making.kind.currentData() == ""
    assert panel.attributes.entries[0].text.endswith("none: value, then *")


def test_a_builder_that_cannot_read_the_values_says_so(
    qtbot: QtBot, panel: HierarchiesPanel
) -> None:
    panel.attributes.choose("job")
    settle(qtbot, panel)
    making = panel.making
    making.kind.setCurrentIndex(making.kind.findData("intervals"))
    settle(qtbot, panel)
    assert "expected" in making.problem
    assert not making.use.isEnabled()


def test_a_tree_by_hand_begins_with_the_present_groups(
    qtbot: QtBot, panel: HierarchiesPanel
) -> None:
    give_jobs(qtbot, panel)
    making = panel.making
    panel.workplace.show_page("making")
    making.kind.setCurrentIndex(making.kind.findData("tree"))
    settle(qtbot, panel)
    form = making.form()
    assert form is not None
    area = form.field("tree").control
    assert isinstance(area, QPlainTextEdit)
    assert area.toPlainText().splitlines()[:3] == ["food:", "  cook", "  baker"]
    assert labels(panel, 1) == {"food", "care", "law"}


def test_a_file_is_taken_exported_and_read_again(
    qtbot: QtBot, panel: HierarchiesPanel, tmp_path: Path
) -> None:
    give_jobs(qtbot, panel)
    panel._asker = answers = Answers(tmp_path / "job.csv")
    panel.workplace.show_page("making")
    qtbot.mouseClick(panel.making.export, Qt.MouseButton.LeftButton)
    settle(qtbot, panel)
    assert answers.suggestion == str(tmp_path / "job.csv")
    assert "confidential" in panel.band.text
    assert "cook;food;*" in (tmp_path / "job.csv").read_text()
    qtbot.mouseClick(panel.making.import_, Qt.MouseButton.LeftButton)
    settle(qtbot, panel)
    assert panel._workbench.work.hierarchies["job"] == HierarchyFile("job.csv")
    assert panel.attributes.entries[1].text == "job\n✓ 3 levels · job.csv"
    (tmp_path / "job.csv").write_text("cook;*\nbaker;*\nnurse;*\njudge;*\n")
    panel.activated()
    settle(qtbot, panel)
    assert panel.level.slider.maximum() == 1


def test_a_bad_file_is_refused_with_its_row(
    qtbot: QtBot, panel: HierarchiesPanel, tmp_path: Path
) -> None:
    (tmp_path / "bad.csv").write_text("cook;food;*\nbaker;food\n")
    panel.attributes.choose("job")
    panel.import_from(tmp_path / "bad.csv")
    settle(qtbot, panel)
    assert "row 2" in panel.band.text
    assert "job" not in panel._workbench.work.hierarchies


def test_a_file_that_is_gone_is_told_with_a_way_out(qtbot: QtBot, panel: HierarchiesPanel) -> None:
    panel._workbench.apply(SetHierarchy("job", HierarchyFile("gone.csv")))
    panel.attributes.choose("job")
    settle(qtbot, panel)
    assert "gone.csv" in panel.band.text
    assert panel.attributes.entries[1].text == "job\n✕ cannot be used"
    assert "import another" in panel.picture.chart._placeholder.text()
    panel.band.triggered.emit("remove")
    settle(qtbot, panel)
    assert "job" not in panel._workbench.work.hierarchies
    assert panel.band.text == ""
