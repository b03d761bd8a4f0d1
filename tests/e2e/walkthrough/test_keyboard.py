"""The first steps without a mouse: every key goes to whatever has the focus."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel

from dpdesk.app.types import Role
from dpdesk.ui.charts import ChartView
from tests.helpers.keyboard import ALT, CTRL, SHIFT, Key, Keyboard
from tests.helpers.person import Person


def test_the_first_steps_by_keyboard_alone(person: Person) -> None:
    keyboard = Keyboard(person)
    window, bench = person.window, person.desk.workbench
    window.activateWindow()
    window.show_panel("data")
    keyboard.press(Key.Key_1, CTRL)
    keyboard.press(Key.Key_S, ALT)
    person.settled(lambda: bench.profile is not None)
    _data(person)
    _attributes(person)
    _hierarchies(person)


def _data(person: Person) -> None:
    keyboard = Keyboard(person)
    assert keyboard.focus.accessibleName() == "Rows of the file"
    keyboard.press(Key.Key_Right, times=3)
    person.reads("How are the values of age distributed?")
    keyboard.press(Key.Key_T, CTRL)
    inspector = person.desk.data.table.inspector.chart
    assert inspector.shows_table
    keyboard.press(Key.Key_T, CTRL)
    keyboard.press(Key.Key_G, ALT)
    person.reads("How is population.csv to be read?", "First rows, as they would be read")
    person.qtbot.waitUntil(lambda: keyboard.focus.accessibleName() == "Delimiter")
    keyboard.press(Key.Key_B, ALT)  # a letter presses its button a little later
    grid = person.desk.data.table.grid
    person.qtbot.waitUntil(lambda: keyboard.focus is grid)
    keyboard.press(Key.Key_Return, CTRL)


def _attributes(person: Person) -> None:
    keyboard = Keyboard(person)
    bench = person.desk.workbench
    assert keyboard.focus.accessibleName() == "Columns and their roles"
    keyboard.press(Key.Key_Home, CTRL)
    keyboard.press(Key.Key_Down, times=3)
    keyboard.press(Key.Key_Space)
    assert bench.work.role("age") is Role.SENSITIVE
    keyboard.press(Key.Key_Q)
    assert bench.work.role("age") is Role.QUASI_IDENTIFIER
    keyboard.press(Key.Key_Z, CTRL, times=2)
    assert bench.history.undo_label is None
    keyboard.press(Key.Key_Z, CTRL | SHIFT)
    assert bench.work.role("age") is Role.SENSITIVE
    keyboard.press(Key.Key_Z, CTRL)
    chart = person.chart("How risky is the unprotected table?")
    while not chart.isAncestorOf(keyboard.focus):
        person.qtbot.keyClick(keyboard.focus, Key.Key_Tab)
    assert chart.surface is not None
    chart.surface.setFocus()
    keyboard.press(Key.Key_Right)
    keyboard.press(Key.Key_Right)
    assert chart.surface.chosen == 1


def _hierarchies(person: Person) -> None:
    keyboard = Keyboard(person)
    window = person.window
    keyboard.press(Key.Key_3, CTRL)
    panel = person.desk.hierarchies
    assert keyboard.focus is panel.attributes
    keyboard.press(Key.Key_Down)
    assert panel.attribute == "sex"
    keyboard.tab_to("Level shown, slider")
    keyboard.press(Key.Key_Right)
    assert panel.level.level == 1
    keyboard.turn("Picture")
    charts = [view for view in panel.findChildren(ChartView) if view.isVisible()]
    keyboard.press(Key.Key_T, CTRL)
    assert [view.shows_table for view in charts] == [True]
    keyboard.press(Key.Key_F1)
    texts = [label.text() for label in window._help.findChildren(QLabel) if label.isVisible()]
    assert any("A hierarchy says how a value may be made coarser" in text for text in texts)
    keyboard.press(Key.Key_F1)
    seen = []
    for _ in range(3):
        keyboard.press(Key.Key_F6)
        seen.append(keyboard.focus)
    regions = (window._trail, window._navigation, panel)
    assert all(
        region is one or region.isAncestorOf(one) for region, one in zip(regions, seen, strict=True)
    )
