"""The label that gives way."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from dpdesk.ui.widgets.elided import ElidedLabel

LONG = "Reading a file whose name is much longer than the place that is left for it"


def test_a_long_text_asks_for_little_room_and_tells_the_rest_as_tooltip(qtbot: QtBot) -> None:
    label = ElidedLabel(LONG)
    qtbot.addWidget(label)
    label.resize(label.minimumSizeHint().width(), 24)
    with qtbot.waitExposed(label):
        label.show()
    assert label.minimumSizeHint().width() < label.sizeHint().width() / 4
    assert label.text() == LONG
    assert label.toolTip() == LONG


def test_a_text_with_room_has_no_tooltip(qtbot: QtBot) -> None:
    label = ElidedLabel("short")
    qtbot.addWidget(label)
    label.resize(400, 24)
    assert label.toolTip() == ""
    assert label.minimumSizeHint().width() <= label.sizeHint().width()
