"""Two sides stand beside each other where there is room, else one at a time."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.widgets.turning import NARROW_EMS, Side, Sides


def made(qtbot: QtBot, theme: ThemeManager, needed: int = 0) -> tuple[QWidget, Sides, QLabel]:
    left = QLabel("left")
    sides = Sides(
        theme, "t", Side("a", "Left", left), Side("b", "Right", QLabel("right")), lambda: needed
    )
    home = QWidget()
    layout = QVBoxLayout(home)
    layout.addWidget(sides.strip)
    layout.addWidget(sides)
    qtbot.addWidget(home)
    home.resize(theme.theme.ems(NARROW_EMS) + 200, 400)
    with qtbot.waitExposed(home):
        home.show()
    return home, sides, left


def test_wide_shows_both_and_a_third_for_the_left(qtbot: QtBot, theme: ThemeManager) -> None:
    _, sides, left = made(qtbot, theme)
    assert not sides.narrow
    assert not sides.strip.isVisible()
    assert 0.29 * sides.width() < left.width() < 0.46 * sides.width()


def test_the_left_is_no_narrower_than_it_needs(qtbot: QtBot, theme: ThemeManager) -> None:
    _, sides, left = made(qtbot, theme, needed=380)
    assert left.width() >= min(380, round(sides.width() * 0.45))


def test_narrow_shows_one_at_a_time(qtbot: QtBot, theme: ThemeManager) -> None:
    home, sides, left = made(qtbot, theme)
    home.resize(theme.theme.ems(NARROW_EMS) - 200, 400)
    qtbot.waitUntil(lambda: sides.narrow)
    assert sides.strip.isVisible()
    assert not left.isVisible()
    qtbot.mouseClick(sides.strip.button("a"), Qt.MouseButton.LeftButton)
    assert left.isVisible()
    qtbot.waitUntil(lambda: left.width() > 0.9 * sides.width())
    sides.show_side("b")
    assert not left.isVisible()
