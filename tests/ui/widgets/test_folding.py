"""Choices in one line: what has no room is in a menu, and nothing is ever out of reach."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.widgets.choices import FoldingStrip
from tests.helpers.a11y import findings

CHOICES = [(f"c{number}", f"Picture {number}") for number in range(9)]


@pytest.fixture
def strip(qtbot: QtBot, theme: ThemeManager) -> Iterator[FoldingStrip]:
    window = QWidget()
    layout = QVBoxLayout(window)
    made = FoldingStrip("What to look at")
    layout.addWidget(made)
    layout.addStretch(1)
    made.set_choices(CHOICES)
    qtbot.addWidget(window)
    window.resize(1400, 200)
    window.show()
    qtbot.waitExposed(window)
    yield made
    window.hide()


def widen(strip: FoldingStrip, qtbot: QtBot, width: int) -> None:
    window = strip.window()
    window.resize(width, 200)
    qtbot.waitUntil(lambda: strip.width() <= width)


def shown(strip: FoldingStrip) -> list[str]:
    return [key for key, _ in CHOICES if strip.button(key).isVisible()]


def menu(strip: FoldingStrip) -> QMenu:
    found = strip.more.menu()
    assert isinstance(found, QMenu)
    return found


def test_with_room_for_all_there_is_no_menu(strip: FoldingStrip) -> None:
    assert shown(strip) == [key for key, _ in CHOICES]
    assert not strip.more.isVisible()


@pytest.mark.parametrize("width", [700, 550, 400, 260])
def test_there_is_one_line_at_every_width_and_every_choice_is_a_button_or_in_the_menu(
    strip: FoldingStrip, qtbot: QtBot, width: int
) -> None:
    high = strip.height()
    widen(strip, qtbot, width)
    listed = [str(action.data()) for action in menu(strip).actions()]
    assert strip.height() == high
    assert strip.more.isVisible()
    assert strip.more.text().startswith(f"{len(listed)} more")
    assert sorted([*shown(strip), *listed]) == sorted(key for key, _ in CHOICES)
    assert strip.more.geometry().right() <= strip.width()
    assert strip.current in shown(strip)
    assert f"Picture {listed[0][1:]}" in strip.more.accessibleName()
    assert findings(strip.window()) == []
    widen(strip, qtbot, 1400)
    qtbot.waitUntil(lambda: not strip.more.isVisible())
    assert shown(strip) == [key for key, _ in CHOICES]


def test_a_choice_of_the_menu_is_taken_by_keys_and_stands_in_the_line_then(
    strip: FoldingStrip, qtbot: QtBot
) -> None:
    widen(strip, qtbot, 400)
    taken: list[str] = []
    strip.chosen.connect(taken.append)
    actions = menu(strip)
    actions.popup(strip.more.mapToGlobal(strip.more.rect().bottomLeft()))
    qtbot.keyClick(actions, Qt.Key.Key_Up)
    qtbot.keyClick(actions, Qt.Key.Key_Return)
    assert taken == ["c8"]
    assert strip.current == "c8"
    assert "c8" in shown(strip)
    assert strip.button("c8").hasFocus()


def test_text_twice_as_large_folds_more_of_them(
    strip: FoldingStrip, qtbot: QtBot, theme: ThemeManager
) -> None:
    widen(strip, qtbot, 700)
    before = len(shown(strip))
    theme.set_text_size(200)
    qtbot.waitUntil(lambda: len(shown(strip)) < before)
    assert strip.more.geometry().right() <= strip.width()
