"""Typed parameters: exact values, and one clear sentence for everything else."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import InputError
from dpdesk.core.parameters import (
    Choice,
    ChoiceParameter,
    CutsParameter,
    DecimalParameter,
    IntegerParameter,
    LevelsParameter,
    Nested,
    NestedParameter,
    NumberListParameter,
    Numbers,
    Parameter,
    ShareParameter,
    TextListParameter,
    TextParameter,
    Texts,
    nearest,
    parse_parameters,
    plain_number,
)

K = IntegerParameter("k", "k", "Group size.", required=True, minimum=2, maximum=1000)
SHARE = ShareParameter("share", "Share", "A share.", default=Fraction(0))
MODE = ChoiceParameter(
    "mode",
    "Mode",
    "A mode.",
    choices=(Choice("optimal", "o"), Choice("samarati", "s")),
    default="optimal",
)
LEVELS = LevelsParameter("levels", "Levels", "Levels.")
TEXT = TextParameter("text", "Text", "A text.", default="x", longest=3)
DECIMAL = DecimalParameter("number", "Number", "A number.")
NUMBERS = NumberListParameter("numbers", "Numbers", "Numbers.", whole=True, minimum=1)
CUTS = CutsParameter("cuts", "Cuts", "Cuts.")
TEXTS = TextListParameter("texts", "Texts", "Texts.")
TREE = NestedParameter("tree", "Tree", "A tree.", example="{ a = [] }")
ALL: tuple[Parameter, ...] = (K, SHARE, MODE, LEVELS, TEXT, DECIMAL, NUMBERS, CUTS, TEXTS, TREE)


def refusal(parameter: Parameter, raw: object) -> InputError:
    with pytest.raises(InputError) as caught:
        parameter.parse(raw, "p.toml, [protection]")
    error = caught.value
    assert error.code == "parameter.invalid"
    assert error.sentence.startswith(f"p.toml, [protection]: `{parameter.key}` is ")
    assert error.details["key"] == parameter.key
    assert len(error.sentence) < 300
    return error


@pytest.mark.parametrize(
    ("parameter", "raw", "value"),
    [
        (K, 5, 5),
        (K, Decimal("5.0"), 5),
        (K, 5.0, 5),
        (K, " 5 ", 5),
        (SHARE, Decimal("0.02"), Fraction(1, 50)),
        (SHARE, 0.1, Fraction(1, 10)),
        (SHARE, 1, Fraction(1)),
        (SHARE, Fraction(1, 3), Fraction(1, 3)),
        (MODE, "samarati", "samarati"),
        (LEVELS, {"b": 1, "a": Decimal(2)}, (("a", 2), ("b", 1))),
        (LEVELS, (("b", 1),), (("b", 1),)),
        (TEXT, "", ""),
        (TEXT, "abc", "abc"),
        (DECIMAL, "-2.5", Fraction(-5, 2)),
        (DECIMAL, "", None),
        (NUMBERS, [5, Decimal("10")], Numbers((Fraction(5), Fraction(10)))),
        (NUMBERS, "5, 10 20", Numbers((Fraction(5), Fraction(10), Fraction(20)))),
        (NUMBERS, 5, Numbers((Fraction(5),))),
        (CUTS, [[18, 65], [65]], Nested(((Fraction(18), Fraction(65)), (Fraction(65),)))),
        (CUTS, [18, 65], Nested(((Fraction(18), Fraction(65)),))),
        (CUTS, "18, 65; 65", Nested(((Fraction(18), Fraction(65)), (Fraction(65),)))),
        (CUTS, [], Nested(())),
        (TEXTS, ["a", "b"], Texts(("a", "b"))),
        (TEXTS, "a\nb c", Texts(("a", "b c"))),
        (TREE, {"a": ["b"]}, Nested({"a": ("b",)})),
    ],
)
def test_a_value_is_read_exactly(parameter: Parameter, raw: object, value: object) -> None:
    assert parameter.parse(raw, "w") == value


@pytest.mark.parametrize(
    ("parameter", "raw", "shown"),
    [
        (K, "five", '"five", expected a whole number from 2 to 1000'),
        (K, True, "true, expected"),
        (K, False, "false, expected"),
        (K, Decimal("1.5"), "1.5, expected"),
        (K, 2.5, "2.5, expected"),
        (K, 1, "1, expected"),
        (K, -5, "-5, expected"),
        (K, 1001, "1001, expected"),
        (K, None, "None, expected"),
        (K, [5], "[5], expected"),
        (K, {"a": 1}, "{ a = 1 }, expected"),
        (K, "", '"", expected'),
        (K, float("nan"), "nan, expected"),
        (K, float("inf"), "inf, expected"),
        (K, Decimal("NaN"), "nan, expected"),
        (K, Decimal("sNaN"), "snan, expected"),
        (K, Decimal("1E+999999999"), "1e+999999999, expected"),
        (K, "1e999999999", '"1e999999999", expected'),
        (K, 10**4000, "a number of very many digits, expected"),
        (K, "9" * 5000, '99…", expected'),
        (SHARE, Decimal("1.01"), "1.01, expected a share from 0 to 1, such as 0.02"),
        (SHARE, Decimal("-0.1"), "-0.1, expected"),
        (SHARE, "2 %", '"2 %", expected'),
        (SHARE, True, "true, expected"),
        (SHARE, Decimal("1E-999999999"), "1e-999999999, expected"),
        (MODE, "optimum", '"optimum", expected one of `optimal`, `samarati`'),
        (MODE, 1, "1, expected one of"),
        (MODE, None, "None, expected one of"),
        (LEVELS, {"a": -1}, "{ a = -1 }, expected a table of attribute names and levels"),
        (LEVELS, {"a": "x"}, '{ a = "x" }, expected'),
        (LEVELS, {"a": Decimal("0.5")}, "{ a = 0.5 }, expected"),
        (LEVELS, {1: 2}, "{ 1 = 2 }, expected"),
        (LEVELS, [1], "[1], expected"),
        (LEVELS, (1,), "[1], expected"),
        (LEVELS, ("ab",), "expected"),
        (TEXT, "abcd", '"abcd", expected at most 3 characters'),
        (TEXT, 5, "5, expected"),
        (DECIMAL, "x", '"x", expected a number'),
        (DECIMAL, True, "true, expected a number"),
        (NUMBERS, ["x"], '["x"], expected a list of whole numbers of 1 or more'),
        (NUMBERS, [0], "[0], expected"),
        (NUMBERS, [1.5], "[1.5], expected"),
        (NUMBERS, True, "true, expected"),
        (NUMBERS, None, "None, expected"),
        (CUTS, [[2, 1]], "[[2, 1]], expected a list of rising numbers for each level"),
        (CUTS, [[1, 1]], "[[1, 1]], expected"),
        (CUTS, [[1], 2], "[[1], 2], expected"),
        (CUTS, [[]], "[[]], expected"),
        (CUTS, 5, "5, expected"),
        (CUTS, ["x"], '["x"], expected'),
        (TEXTS, 5, "5, expected a list of texts"),
        (TEXTS, ["a", 1], '["a", 1], expected'),
        (TREE, "a", '"a", expected nested tables and lists of texts, such as { a = [] }'),
        (TREE, {"a": 1}, "{ a = 1 }, expected"),
    ],
)
def test_a_wrong_value_is_shown_with_what_is_expected(
    parameter: Parameter, raw: object, shown: str
) -> None:
    assert shown in refusal(parameter, raw).sentence


def test_a_misspelt_choice_names_the_nearest() -> None:
    assert refusal(MODE, "optimum").hint == "Did you mean `optimal`?"
    assert refusal(MODE, "zzz").hint == ""


@pytest.mark.parametrize(
    ("parameter", "raw"),
    [
        (K, 7),
        (SHARE, "0.02"),
        (MODE, "samarati"),
        (LEVELS, {"a": 1}),
        (TEXT, "ab"),
        (DECIMAL, "-0.125"),
        (NUMBERS, [5, 10]),
        (CUTS, [[1, 2.5], [1]]),
        (TEXTS, ["a", "b"]),
        (TREE, {"a": ["b", {"c": []}]}),
    ],
)
def test_the_plain_value_and_the_form_text_read_back(parameter: Parameter, raw: object) -> None:
    value = parameter.parse(raw, "w")
    assert parameter.parse(parameter.as_plain(value), "w") == value
    if not isinstance(parameter, LevelsParameter | NestedParameter):
        assert parameter.parse(parameter.as_text(value), "w") == value


@pytest.mark.parametrize("parameter", ALL)
def test_a_parameter_without_value_is_plain_none_and_an_empty_text(parameter: Parameter) -> None:
    assert parameter.as_plain(None) is None
    assert parameter.as_text(None) == ""
    assert parameter.range_text()


def test_ranges_in_words() -> None:
    assert IntegerParameter("n", "", "", minimum=3).range_text() == "a whole number of 3 or more"
    assert TextParameter("t", "", "").range_text() == "a text"
    assert TextParameter("t", "", "", longest=1).range_text() == "one character"
    assert NumberListParameter("n", "", "").range_text().startswith("a list of numbers, such")


def test_all_parameters_are_read_with_defaults() -> None:
    values = parse_parameters((K, SHARE, MODE, LEVELS), {"k": 5}, "w")
    assert values == {"k": 5, "share": Fraction(0), "mode": "optimal", "levels": None}
    assert [parameter.default_value() for parameter in ALL[4:]] == ["x", *[None] * 5]


def test_an_unknown_key_names_the_nearest() -> None:
    with pytest.raises(InputError) as caught:
        parse_parameters((K, SHARE), {"k": 5, "shrae": 1}, "w")
    assert caught.value.code == "plan.unknown-key"
    assert caught.value.line == "w: unknown key `shrae`; did you mean `share`?"
    with pytest.raises(InputError, match="unknown key `zzzz`") as caught:
        parse_parameters((K, SHARE), {"zzzz": 1}, "w")
    assert caught.value.hint == "Known keys: k, share."


def test_a_required_key_that_is_missing_says_what_is_expected() -> None:
    with pytest.raises(InputError) as caught:
        parse_parameters((K,), {}, "w")
    assert caught.value.code == "parameter.missing"
    assert caught.value.sentence == (
        "w: the key `k` is missing, expected a whole number from 2 to 1000."
    )


def test_nearest_finds_close_words_only() -> None:
    assert nearest("dilimiter", ["delimiter", "decimal"]) == "delimiter"
    assert nearest("xyz", ["delimiter"]) is None
    assert nearest("a", []) is None


@settings(deadline=None)
@given(number=st.decimals(0, 1, places=6))
def test_a_share_survives_its_plain_form(number: Decimal) -> None:
    value = SHARE.parse(number, "w")
    assert value == Fraction(number)
    assert SHARE.parse(SHARE.as_plain(value), "w") == value
    assert plain_number(value) == float(number)


def test_a_quoted_number_in_a_plan_is_refused() -> None:
    share = ShareParameter(key="share", label="Share", help="A share.")
    with pytest.raises(InputError) as caught:
        parse_parameters([share], {"share": "0.02"}, "w")
    assert caught.value.code == "parameter.invalid"
