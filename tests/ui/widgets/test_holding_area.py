"""A scrolled area keeps what has the focus where it is."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QLabel, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from dpdesk.ui.widgets.layouts import HoldingArea, column

LONG = "It costs a part of the budget. " * 12


def area_of(qtbot: QtBot) -> tuple[HoldingArea, QLabel, QLineEdit]:
    inner, hint, field = QWidget(), QLabel("Nothing is spent."), QLineEdit()
    hint.setWordWrap(True)
    layout = column(inner)
    layout.addWidget(hint)
    layout.addWidget(field)
    for _ in range(40):
        layout.addWidget(QLineEdit())
    area = HoldingArea()
    area.setWidget(inner)
    area.resize(300, 400)
    qtbot.addWidget(area)
    with qtbot.waitExposed(area):
        area.show()
    area.activateWindow()
    qtbot.waitUntil(area.isActiveWindow)
    return area, hint, field


def test_a_hint_above_the_focus_moves_nothing_under_the_mouse(qtbot: QtBot) -> None:
    _area, hint, field = area_of(qtbot)
    field.setFocus(Qt.FocusReason.MouseFocusReason)
    place, small = field.mapToGlobal(QPoint(0, 0)), hint.height()
    hint.setText(LONG)
    qtbot.waitUntil(lambda: hint.height() > 2 * small)
    qtbot.waitUntil(lambda: field.mapToGlobal(QPoint(0, 0)) == place)
    hint.setText("Nothing is spent.")
    qtbot.waitUntil(lambda: hint.height() == small)
    qtbot.waitUntil(lambda: field.mapToGlobal(QPoint(0, 0)) == place)


def test_what_was_scrolled_out_of_sight_pulls_nothing_back(qtbot: QtBot) -> None:
    area, hint, field = area_of(qtbot)
    field.setFocus(Qt.FocusReason.MouseFocusReason)
    bar, small = area.verticalScrollBar(), hint.height()
    bar.setValue(bar.maximum())
    value = bar.value()
    hint.setText(LONG)
    qtbot.waitUntil(lambda: hint.height() > 2 * small)
    assert bar.value() == value
