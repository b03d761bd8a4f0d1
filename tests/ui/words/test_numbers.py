"""Numbers that people type with the marks of their language."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from dpdesk.app.types import Outlook
from dpdesk.core.labels import UserMissing, Variable
from dpdesk.core.language import ENGLISH, read_catalogue
from dpdesk.core.language.catalogue import WINDOW
from dpdesk.core.messages import msg
from dpdesk.core.parameters import DecimalParameter
from dpdesk.core.spans import Span
from dpdesk.ui.browsing.purchasing import read_amount
from dpdesk.ui.forms.fields import ValueField
from dpdesk.ui.forms.spin import NarrowDoubleSpin, NarrowSpin
from dpdesk.ui.settings import WindowTranslator
from dpdesk.ui.windows.asking import RangeBox
from dpdesk.ui.words.numbers import (
    bare_share,
    figure_words,
    marked_within,
    tied,
    typed_exact,
    typed_number,
)
from dpdesk.ui.words.settings import cost_words, missing_words, status_words
from dpdesk.ui.words.spoken import moment_words, said, set_language

EITHER = [("12", "12"), ("12.5", "12.5"), ("12,5", "12.5"), ("0.125", "0.125"), (",5", "0.5"),
          ("1 234,5", "1234.5"), ("1.234,5", "1234.5"), ("1,234.5", "1234.5"), ("7,", "7"),
          ("1.000.000", "1000000"), ("-3,5", "-3.5"), ("1,2,3", None), ("1.23.4", None),
          ("1,000.000,5", None), ("", None), ("x", None)]  # fmt: skip


@pytest.mark.parametrize(("text", "number"), EITHER)
@pytest.mark.parametrize("language", ["english", "german"])
def test_comma_and_point_are_read_where_only_one_number_can_be_meant(
    qapp: object, request: pytest.FixtureRequest, language: str, text: str, number: str | None
) -> None:
    if language == "german":
        request.getfixturevalue("german")
    assert typed_number(text, True) == (None if number is None else Decimal(number))


def test_a_thousand_never_becomes_one(qapp: object) -> None:
    assert typed_number("1,000", True) == 1000
    assert typed_number("1,000", False) == 1000
    assert typed_number("1.000", False) is None
    assert typed_number("10,00", False) is None


def test_a_thousand_never_becomes_one_in_german(german: None) -> None:
    assert typed_number("1.000", True) is None
    assert typed_number("1.000", False) == 1000
    assert typed_number("1\u202f000", False) == 1000
    assert typed_number("1,000", False) is None


def test_typed_budgets_are_exact_with_either_mark(german: None) -> None:
    assert typed_exact("0,1") == typed_exact("0.1") == Fraction(1, 10)
    assert typed_exact("1e-6") == Fraction(1, 10**6)
    assert typed_exact("1.000") is None
    assert read_amount("0,125") == read_amount("1/8") == Fraction(1, 8)
    assert read_amount("1.000") is None


def test_a_budget_in_the_form_may_have_a_comma_and_stays_exact(qtbot: QtBot, german: None) -> None:
    field = ValueField(DecimalParameter("epsilon", "Budget", "How much is spent."))
    qtbot.addWidget(field)
    field.set_plain("0,5")
    assert field.plain() == DecimalParameter("epsilon", "Budget", "").as_plain(Decimal("0.5"))


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


def test_ends_of_ranges_keep_all_their_digits(qapp: object, qtbot: QtBot) -> None:
    said = Variable("code", missing=UserMissing((), 1_234_567.0, float("inf")))
    assert missing_words(said) == "1234567 – highest"
    box = RangeBox()
    qtbot.addWidget(box)
    box.show_span(Span(Fraction("1234567.25"), Fraction("0.0000001")))
    assert (box.first.text(), box.last.text()) == ("1234567.25", "0.0000001")


def test_budgets_are_written_with_the_marks_of_the_language(german: None) -> None:
    both = "ε = 0.5, δ = 1e-06"
    one, two = Outlook("", "ε = 0.5", "ε = 0.25", "", "ε = 2.5"), Outlook("", both, both, "", both)
    assert status_words(one) == "ε\u00a00,25/2,5"
    assert cost_words(one).endswith("ε\u00a00,5 von 2,5")
    assert status_words(two) == "ε\u00a00,5, δ\u00a01e-06/ε\u00a00,5, δ\u00a01e-06"
    assert marked_within(both) == "ε = 0,5, δ = 1e-06"


def test_lines_do_not_break_between_a_number_and_its_sign() -> None:
    assert tied("1 of 200 (0.5 %), ± 3") == "1 of 200 (0.5\u00a0%), ±\u00a03"
    assert tied("{share} % of {n} rows") == "{share}\u00a0% of {n} rows"
    assert figure_words(0.076, "share") == "7.60\u00a0%"
    assert bare_share(figure_words(0.076, "share")) == "7.60"
    for language in (ENGLISH, "de"):
        catalogue = None if language == ENGLISH else read_catalogue(language, (WINDOW,))
        words = WindowTranslator(catalogue).translate("", "{number} %")
        assert words == "{number}\u00a0%"


def test_days_are_written_as_people_do_and_names_with_digits_stay() -> None:
    found = datetime(2026, 11, 23, 20, 8, tzinfo=UTC)
    assert moment_words(found) == "2026-11-23 20:08"
    set_language("de")
    try:
        assert moment_words(found) == "23.11.2026 20:08"
        assert moment_words(found, day=True) == "23.11.2026"
        assert moment_words("2026-11-23T20:08:15+00:00") == "23.11.2026 20:08:15"
        assert moment_words("–") == "–"
        revoked = msg("Your key was revoked on {time}: make another one.", time="2026-11-23")
        assert "23.11.2026" in said(revoked)
        assert said(msg("{file}: {note}", file="2026-11-23", note="x")).startswith("2026-11-23")
    finally:
        set_language(ENGLISH)
