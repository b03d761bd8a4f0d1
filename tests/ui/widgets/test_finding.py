"""Long lists: lines are found by typing, and checked together; long names are told apart."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QFontMetrics, QHelpEvent
from PySide6.QtWidgets import QApplication, QLineEdit, QListWidget, QPushButton, QToolTip
from pytestqt.qtbot import QtBot

from dpdesk.core.schema import Role
from dpdesk.engine.methods.registered import default_registry
from dpdesk.ui.charts.items import told_apart
from dpdesk.ui.forms.columns import DimensionsField, FormContext
from dpdesk.ui.models import DataGrid, ListModel
from dpdesk.ui.theme import ThemeManager

LONG = "Employed in offices of the public administration with contact to the public, grade {}"


@pytest.fixture
def field(qtbot: QtBot, theme: ThemeManager) -> DimensionsField:
    parameters = default_registry().get("dp-cube", "the plan").parameters
    made = DimensionsField(next(one for one in parameters if one.key == "dimensions"))
    qtbot.addWidget(made)
    made.show()
    return made


def offer(field: DimensionsField, count: int) -> list[str]:
    names = [f"question_{n:03}" for n in range(count)]
    field.show_around(FormContext(tuple(names), dict.fromkeys(names, Role.QUASI_IDENTIFIER)))
    return names


def test_columns_are_found_by_typing_and_those_in_sight_are_checked_at_once(
    qtbot: QtBot, field: DimensionsField
) -> None:
    names = offer(field, 200)
    (finder,) = field.findChildren(QLineEdit)
    (check,) = field.findChildren(QPushButton)
    (columns,) = field.findChildren(QListWidget)
    assert finder.isVisible()
    qtbot.keyClicks(finder, "_01")
    places = range(columns.count())
    shown = [columns.item(n).text() for n in places if not columns.isRowHidden(n)]
    assert shown == names[10:20]
    edits: list[int] = []
    field.edited.connect(lambda: edits.append(1))
    qtbot.mouseClick(check, Qt.MouseButton.LeftButton)
    assert field.plain() == names[10:20]
    assert len(edits) == 1  # one step to undo
    qtbot.keyClick(finder, Qt.Key.Key_Escape)
    assert not any(columns.isRowHidden(n) for n in places)
    qtbot.keyClicks(finder, "_012")
    qtbot.mouseClick(check, Qt.MouseButton.LeftButton)
    assert field.plain() == [one for one in names[10:20] if one != "question_012"]


def test_a_short_list_has_no_search(field: DimensionsField) -> None:
    offer(field, 5)
    assert not any(one.isVisible() for one in field.findChildren(QLineEdit))
    assert not any(one.isVisible() for one in field.findChildren(QPushButton))


def test_names_that_begin_alike_are_told_apart(qapp: QApplication) -> None:
    metrics = QFontMetrics(qapp.font())
    room = metrics.horizontalAdvance("Employed in offices")
    names = ["short", *(LONG.format(letter) for letter in "ABCDE")]
    shown = told_apart(names, room, metrics)
    assert shown[0] == "short"
    assert len(set(shown)) == len(names)
    assert all(metrics.horizontalAdvance(one) <= room for one in shown)
    assert [one[-1] for one in shown[1:]] == list("ABCDE")


def test_a_cut_cell_tells_its_text_to_the_pointer(qtbot: QtBot, theme: ThemeManager) -> None:
    grid = DataGrid(theme, "Rows")
    qtbot.addWidget(grid)
    grid.setModel(ListModel(("label", "n"), [(LONG.format("A"), 5)], grid))
    grid.resize(400, 200)
    grid.show()
    grid.setColumnWidth(0, 80)

    def rest(column: int) -> str:
        QToolTip.hideText()
        place: QPoint = grid.visualRect(grid.model().index(0, column)).center()
        there = grid.viewport().mapToGlobal(place)
        QApplication.sendEvent(grid.viewport(), QHelpEvent(QHelpEvent.Type.ToolTip, place, there))
        return QToolTip.text()

    assert rest(0) == LONG.format("A")
    assert rest(1) != "5"
