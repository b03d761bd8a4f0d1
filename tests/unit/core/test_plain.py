"""Plain values: frozen, exact, and shown short."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.plain import freeze, freeze_table, is_sane, number_text, odd_numbers, show, thaw


def test_frozen_values_are_exact_and_read_only() -> None:
    frozen = freeze_table({"a": [1, 0.1, {"b": Fraction(1, 8)}], "c": date(2024, 1, 2), "d": None})
    assert frozen == {"a": (1, Decimal("0.1"), {"b": Decimal("0.125")}), "c": "2024-01-02"}
    with pytest.raises(TypeError):
        frozen["x"] = 1  # type: ignore[index]


def test_thawed_values_are_json_types_or_exact() -> None:
    frozen = freeze({"a": [Decimal("0.10"), Decimal("2.0"), True, "x"]})
    assert thaw(frozen) == {"a": [0.1, 2, True, "x"]}
    exact = thaw(frozen, exact=True)
    assert isinstance(exact, dict)
    assert str(exact["a"][0]) == "0.10"


def test_a_fraction_without_finite_decimals_becomes_the_nearest_float() -> None:
    assert freeze(Fraction(1, 3)) == Decimal(repr(1 / 3))


@settings(deadline=None)
@given(st.fractions())
def test_number_text_reads_back_when_the_decimals_are_finite(value: Fraction) -> None:
    exact = Fraction(freeze(value))  # type: ignore[call-overload]
    assert Fraction(number_text(exact)) == exact
    assert "E" not in number_text(exact)


def test_numbers_are_written_plainly() -> None:
    texts = [number_text(Fraction(text)) for text in ("5", "100", "2.50", "-0.125", "1e-9", "1e20")]
    assert texts == ["5", "100", "2.5", "-0.125", "0.000000001", "1" + "0" * 20]
    assert number_text(Fraction(5, 2), ",") == "2,5"


@pytest.mark.parametrize(
    ("text", "sane"),
    [("0", True), ("1e1000", True), ("1e1001", False), ("1e-1001", False), ("NaN", False)],
)
def test_only_finite_numbers_of_sane_length_are_sane(text: str, sane: bool) -> None:
    assert is_sane(Decimal(text)) is sane


def test_odd_numbers_are_found_with_their_keys() -> None:
    raw = {"a": {"b": [1, float("nan")]}, "c": 10**4000, "d": "nan", "e": True}
    assert [path for path, _ in odd_numbers(raw)] == ["a.b", "c"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a\n b", '"a b"'),
        (" ", '" "'),
        (True, "true"),
        (Decimal("1E+5"), "1e+5"),
        ([1, ["a"]], '[1, ["a"]]'),
        ({"a": 1, "b": {}}, "{ a = 1, b = {} }"),
        (10**4000, "a number of very many digits"),
        ("x" * 100, '"' + "x" * 59 + '…"'),
        ([1] * 100, "[" + "1, " * 19 + "1…"),
        (None, "None"),
    ],
)
def test_values_are_shown_short_and_on_one_line(value: object, text: str) -> None:
    assert show(value) == text


@pytest.mark.parametrize("text", ["1e-300", "1e-308", "5e-324", "0.1", "1e300", "-1e-308"])
def test_a_number_that_a_plan_may_hold_may_stand_in_a_release_too(text: str) -> None:
    """A release keeps floats, and what it keeps must be read as the plan was."""
    for number in (Decimal(text), float(text)):
        assert not list(odd_numbers({"a": number}))


@pytest.mark.parametrize(
    "text", ["1e-400", "-1e-999", "1e1001", "99.9999999999999999999", "-0.99999999999999999999"]
)
def test_a_number_that_a_release_would_hold_as_another_is_odd(text: str) -> None:
    assert [path for path, _ in odd_numbers({"a": Decimal(text)})] == ["a"]
