"""Texts of a megabyte in models of the window: cut where they are laid out, whole where edited."""

from __future__ import annotations

import importlib
import pkgutil

import numpy as np
import pytest
from PySide6.QtCore import QAbstractItemModel, Qt
from pytestqt.qtbot import QtBot

import dpdesk.ui
from dpdesk.app.hierarchies import Examined
from dpdesk.core.hierarchy import Hierarchy, HierarchyPreview, LevelSummary
from dpdesk.core.jobs import CancelToken
from dpdesk.ui.models.table import guarded
from dpdesk.ui.panels.compare.table import CompareCell, CompareModel, CompareRow, CompareTable
from dpdesk.ui.panels.hierarchies.effect import EffectModel
from dpdesk.ui.panels.hierarchies.presenter import HierarchyModel
from dpdesk.ui.panels.hierarchies.tasks import look_at
from dpdesk.ui.theme import ThemeManager

LONG = "word " * 200_000
LAID_OUT = (
    Qt.ItemDataRole.DisplayRole,
    Qt.ItemDataRole.ToolTipRole,
    Qt.ItemDataRole.AccessibleTextRole,
)


def longest(model: QAbstractItemModel) -> int:
    """The most characters that the model gives to be laid out in its first three rows."""
    places = [model.index(i, j) for i in range(model.rowCount()) for j in range(2)]
    across = Qt.Orientation.Horizontal
    found = [model.data(place, role) for place in places for role in LAID_OUT]
    found += [model.headerData(j, across, role) for j in range(2) for role in LAID_OUT]
    return max(len(text) for text in found if isinstance(text, str))


def test_no_model_of_the_window_gives_all_of_it() -> None:
    for module in pkgutil.walk_packages(dpdesk.ui.__path__, "dpdesk.ui."):
        importlib.import_module(module.name)
    models, wanted = [], [QAbstractItemModel]
    while wanted:
        below = wanted.pop().__subclasses__()
        wanted += below
        models += [one for one in below if one.__module__.startswith("dpdesk.ui.")]
    assert len(models) > 6
    bare = [
        f"{model.__name__}.{name}"
        for model in models
        for name in ("data", "headerData")
        if name in vars(model) and not hasattr(vars(model)[name], "__wrapped__")
    ]
    assert bare == []


def test_a_guarded_answer_is_cut_unless_it_is_edited() -> None:
    class Model:
        @guarded
        def data(self, index: object, role: int = Qt.ItemDataRole.DisplayRole) -> object:
            return LONG

    model = Model()
    assert all(len(str(model.data(None, role))) < 5_000 for role in LAID_OUT)
    assert len(str(model.data(None))) < 5_000
    assert "1,000,000" in str(model.data(None)).replace("\u202f", ",")
    assert model.data(None, Qt.ItemDataRole.EditRole) == LONG


def test_trees_effects_and_comparisons_cut_what_they_show(
    qtbot: QtBot, theme: ThemeManager
) -> None:
    hierarchy = Hierarchy.from_rows("job", [[LONG, "x", "*"], ["b", LONG + "y", "*"]])
    rows = tuple(np.ones(len(labels), np.int64) for labels in hierarchy.labels)
    levels = tuple(LevelSummary(n, len(one), 1, "b", 0) for n, one in enumerate(rows))
    preview = HierarchyPreview(hierarchy, rows, levels)
    look = look_at(Examined(hierarchy, preview), CancelToken())
    tree, effect = HierarchyModel(theme), EffectModel()
    tree.set_look(look)
    effect.show_look(look, 1)
    table = CompareTable((LONG,), (CompareRow(LONG, (CompareCell(LONG, tip=LONG),), LONG),))
    compared = CompareModel(theme)
    compared.set_table(table)
    below = tree.index(0, 0)
    shown = [tree.data(tree.index(i, 0, below), role) for i in range(2) for role in LAID_OUT]
    assert max(len(str(text)) for text in shown) < 5_000
    assert longest(effect) < 5_000
    assert longest(compared) < 5_000


@pytest.mark.parametrize("count", [1_000, 1_040])
def test_a_text_that_is_hardly_longer_stays_whole(count: int) -> None:
    from dpdesk.ui.words.numbers import shortened

    assert shortened("x" * count) == "x" * count
