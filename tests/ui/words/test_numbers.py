"""Numbers that people type with the marks of their language."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from dpdesk.core.language import read_catalogue
from dpdesk.core.language.catalogue import WINDOW
from dpdesk.ui.forms.spin import NarrowDoubleSpin, NarrowSpin
from dpdesk.ui.language import WindowTranslator
from dpdesk.ui.words.numbers import typed_number


@pytest.fixture
def german(qapp: QApplication) -> Iterator[None]:
    translator = WindowTranslator(read_catalogue("de", (WINDOW,)))
    qapp.installTranslator(translator)
    yield
    qapp.removeTranslator(translator)


EITHER = [("12", "12"), ("12.5", "12.5"), ("12,5", "12.5"), ("0.125", "0.125"), (",5", "0.5"),
          ("1 234,5", "1234.5"), ("1.234,5", "1234.5"), ("1,234.5", "1234.5"), ("7,", "7"),
          ("1.000.000", "1000000"), ("-3,5", "-3.5"), ("1,2,3", None), ("1.23.4", None),
          ("1,000.000,5", None), ("", None), ("x", None)]  # fmt: skip


@pytest.mark.parametrize(("text", "number"), EITHER)
@pytest.mark.parametrize("language", ["english", "german"])
def test_comma_and_point_are_read_where_only_one_number_can_be_meant(
    qapp: QApplication, request: pytest.FixtureRequest, language: str, text: str, number: str | None
) -> None:
    if language == "german":
        request.getfixturevalue("german")
    assert typed_number(text, True) == (None if number is None else Decimal(number))


def test_a_thousand_never_becomes_one(qapp: QApplication) -> None:
    assert typed_number("1,000", True) == 1000
    assert typed_number("1,000", False) == 1000
    assert typed_number("1.000", False) is None
    assert typed_number("10,00", False) is None


def test_a_thousand_never_becomes_one_in_german(german: None) -> None:
    assert typed_number("1.000", True) is None
    assert typed_number("1.000", False) == 1000
    assert typed_number("1\u202f000", False) == 1000
    assert typed_number("1,000", False) is None


def test_boxes_write_what_they_have_understood_and_refuse_the_rest(
    qtbot: QtBot, german: None
) -> None:
    share, rows = NarrowDoubleSpin(), NarrowSpin()
    for box, largest in ((share, 100), (rows, 50_000)):
        qtbot.addWidget(box)
        box.setRange(0, largest)
        box.setGroupSeparatorShown(True)
        box.setKeyboardTracking(False)
    share.setSuffix(" %")
    typed = [(share, "2.5", "2,50 %"), (share, "3,25", "3,25 %"), (share, "1.000", "3,25 %"),
             (share, "1,000", "3,25 %"), (share, "250", "3,25 %"), (rows, "1.500", "1\u202f500"),
             (rows, "2,500", "1\u202f500")]  # fmt: skip
    for box, keys, shown in typed:
        box.selectAll()
        qtbot.keyClicks(box, keys)
        qtbot.keyClick(box, Qt.Key.Key_Return)
        assert box.text() == shown, keys
