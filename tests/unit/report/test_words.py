"""Units of one and of many, in both languages."""

from __future__ import annotations

import pytest

from dpdesk.core.language import speaking
from dpdesk.report.pages import cell_text
from dpdesk.report.words import unit_of


@pytest.mark.parametrize(
    ("language", "number", "expected"),
    [("en", 1, "row"), ("en", 2, "rows"), ("de", 1, "Zeile"), ("de", 0, "Zeilen")],
)
def test_one_is_not_counted_as_many(language: str, number: int, expected: str) -> None:
    with speaking(language):
        assert unit_of(number, "rows") == expected


def test_a_number_without_a_unit_has_none() -> None:
    assert unit_of(1, "") == ""


def test_an_empty_value_is_named_in_the_language_of_the_page() -> None:
    assert cell_text("(empty)") == "(empty)"
    with speaking("de"):
        assert (cell_text("(empty)"), cell_text(""), cell_text("leer")) == ("(leer)", "", "leer")
