"""The first steps without a mouse: every key goes to whatever has the focus."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from dpdesk.app.types import Role
from dpdesk.ui.charts import ChartView
from tests.helpers.person import Person

Key = Qt.Key
PLAIN, CTRL = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ControlModifier
ALT, SHIFT = Qt.KeyboardModifier.AltModifier, Qt.KeyboardModifier.ShiftModifier


def focus(person: Person) -> QWidget:
    """What has the focus."""
    found = QApplication.focusWidget()
    assert found is not None
    assert person.window.isAncestorOf(found)
    return found


def press(
    person: Person, key: Qt.Key, modifier: Qt.KeyboardModifier = PLAIN, times: int = 1
) -> None:
    """Press a key where the focus is, and wait for what follows."""
    for _ in range(times):
        person.qtbot.keyClick(focus(person), key, modifier)
    person.settled()


def tab_to(person: Person, name: str) -> QWidget:
    """Press Tab until the control with this name has the focus."""
    for _ in range(60):
        if focus(person).accessibleName() == name:
            return focus(person)
        person.qtbot.keyClick(focus(person), Key.Key_Tab)
    raise AssertionError(f"{name!r} is out of the reach of Tab")


def test_the_first_steps_by_keyboard_alone(person: Person) -> None:
    window, bench = person.window, person.desk.workbench
    window.activateWindow()
    window.show_panel("data")
    press(person, Key.Key_1, CTRL)
    press(person, Key.Key_S, ALT)
    person.settled(lambda: bench.profile is not None)
    _data(person)
    _attributes(person)
    _hierarchies(person)


def _data(person: Person) -> None:
    assert focus(person).accessibleName() == "Rows of the file"
    press(person, Key.Key_Right, times=3)
    person.reads("How are the values of age spread?")
    press(person, Key.Key_T, CTRL)
    inspector = person.desk.data.table.inspector.chart
    assert inspector.shows_table
    press(person, Key.Key_T, CTRL)
    press(person, Key.Key_G, ALT)
    person.reads("How is population.csv to be read?", "First rows, as they would be read")
    person.qtbot.waitUntil(lambda: focus(person).accessibleName() == "Delimiter")
    press(person, Key.Key_B, ALT)  # a letter presses its button a little later
    grid = person.desk.data.table.grid
    person.qtbot.waitUntil(lambda: focus(person) is grid)
    press(person, Key.Key_Return, CTRL)


def _attributes(person: Person) -> None:
    bench = person.desk.workbench
    assert focus(person).accessibleName() == "Columns and their roles"
    press(person, Key.Key_Home, CTRL)
    press(person, Key.Key_Down, times=3)
    press(person, Key.Key_Space)
    assert bench.work.role("age") is Role.SENSITIVE
    press(person, Key.Key_Q)
    assert bench.work.role("age") is Role.QUASI_IDENTIFIER
    press(person, Key.Key_Z, CTRL, times=2)
    assert bench.history.undo_label is None
    press(person, Key.Key_Z, CTRL | SHIFT)
    assert bench.work.role("age") is Role.SENSITIVE
    press(person, Key.Key_Z, CTRL)
    chart = person.chart("How risky is the table as it is?")
    while not chart.isAncestorOf(focus(person)):
        person.qtbot.keyClick(focus(person), Key.Key_Tab)
    assert chart.surface is not None
    chart.surface.setFocus()
    press(person, Key.Key_Right)
    press(person, Key.Key_Right)
    assert chart.surface.chosen == 1


def _hierarchies(person: Person) -> None:
    window = person.window
    press(person, Key.Key_3, CTRL)
    panel = person.desk.hierarchies
    assert focus(person) is panel.attributes
    press(person, Key.Key_Down)
    assert panel.attribute == "sex"
    tab_to(person, "Level to look at, slider")
    press(person, Key.Key_Right)
    assert panel.level.level == 1
    tab_to(person, "Show: Picture")
    press(person, Key.Key_Space)
    charts = [view for view in panel.findChildren(ChartView) if view.isVisible()]
    press(person, Key.Key_T, CTRL)
    assert [view.shows_table for view in charts] == [True]
    press(person, Key.Key_F1)
    texts = [label.text() for label in window._help.findChildren(QLabel) if label.isVisible()]
    assert any("A hierarchy says how a value may be made coarser" in text for text in texts)
    press(person, Key.Key_F1)
    seen = []
    for _ in range(3):
        press(person, Key.Key_F6)
        seen.append(focus(person))
    regions = (window._trail, window._navigation, panel)
    assert all(
        region is one or region.isAncestorOf(one) for region, one in zip(regions, seen, strict=True)
    )
