"""What the tests of the hierarchies step do again and again."""

from __future__ import annotations

from pathlib import Path

from pytestqt.qtbot import QtBot

from dpdesk.app.types import SetHierarchy
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.schema import Role
from dpdesk.ui.panels.hierarchies import HierarchiesPanel

JOBS = ["cook", "baker", "nurse", "judge", "baker", "cook"]
QUASI = {"age": Role.QUASI_IDENTIFIER, "job": Role.QUASI_IDENTIFIER, "pay": Role.SENSITIVE}


class Answers:
    """Answers every question for a file with the same path."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self.suggestion = ""

    def open_file(self, title: str, folder: str, filters: str) -> Path | None:
        return self.path

    def open_folder(self, title: str, folder: str) -> Path | None:
        return self.path

    def save_file(
        self, title: str, suggestion: str, filters: str, endings: tuple[str, ...] = ()
    ) -> Path | None:
        self.suggestion = suggestion
        return self.path

    def new_file(self, title: str, suggestion: str, filters: str) -> Path | None:
        self.suggestion = suggestion
        return self.path


def settle(qtbot: QtBot, panel: HierarchiesPanel) -> None:
    qtbot.waitUntil(lambda: not panel._workbench.hub.busy and not panel._timer.isActive())


def give(qtbot: QtBot, panel: HierarchiesPanel, attribute: str, rows: list[list[str]]) -> None:
    hierarchy = Hierarchy.from_rows(attribute, rows)
    panel._workbench.apply(SetHierarchy(attribute, hierarchy))
    panel.attributes.choose(attribute)
    settle(qtbot, panel)


def give_jobs(qtbot: QtBot, panel: HierarchiesPanel) -> None:
    rows = [["cook", "food"], ["baker", "food"], ["nurse", "care"], ["judge", "law"]]
    give(qtbot, panel, "job", [[*row, "*"] for row in [*rows, ["waiter", "food"]]])


def labels(panel: HierarchiesPanel, level: int) -> set[str]:
    assert panel.look is not None
    return set(panel.look.examined.preview.hierarchy.labels[level])


def choose(panel: HierarchiesPanel, level: int, *names: str) -> None:
    tree = panel.tree_pane.tree
    tree.clearSelection()
    for name in names:
        index = tree.tree.find(level, name)
        assert index.isValid()
        flags = tree.selectionModel().SelectionFlag
        tree.selectionModel().setCurrentIndex(index, flags.Select | flags.Rows)
