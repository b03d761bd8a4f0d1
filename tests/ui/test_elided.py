"""The label that gives way."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from dpdesk.ui.widgets.states import ElidedLabel

LONG = "Reading a file whose name is much longer than the place that is left for it"


def test_a_long_text_asks_for_little_room_and_stays_whole_for_readers(qtbot: QtBot) -> None:
    label = ElidedLabel(LONG)
    qtbot.addWidget(label)
    assert label.minimumSizeHint().width() < label.sizeHint().width() / 4
    assert label.text() == LONG


def test_a_cut_text_is_painted_other_than_a_whole_one(qtbot: QtBot) -> None:
    label = ElidedLabel(LONG)
    qtbot.addWidget(label)
    label.resize(label.minimumSizeHint().width() * 3, 24)
    cut = label.grab().toImage()
    label.setText(LONG[:2])
    assert label.grab().toImage() != cut
