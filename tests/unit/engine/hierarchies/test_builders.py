"""Builders: what each option does, and what is refused with which words."""

from __future__ import annotations

import pytest

from dpdesk.core.errors import InputError
from dpdesk.core.plan import BUILDER_KINDS, HierarchyBuilder
from dpdesk.engine.hierarchies.builders import build_hierarchy, builder_forms

AGES = [str(age) for age in range(100)]
Plain = dict[str, object]


def rows(
    kind: str, options: Plain, values: list[str], missing: tuple[str, ...] = ()
) -> list[list[str]]:
    return build_hierarchy("a", HierarchyBuilder(kind, options), values, missing).rows()


def path(kind: str, options: Plain, values: list[str], value: str) -> list[str]:
    """The generalisations of one value, from level 1 to below the top."""
    for row in rows(kind, options, values):
        if row[0] == value:
            assert row[-1] == "*"
            return row[1:-1]
    raise AssertionError(value)


def refusal(kind: str, options: Plain, values: list[str]) -> InputError:
    with pytest.raises(InputError) as caught:
        build_hierarchy("a", HierarchyBuilder(kind, options), values, (), "plan.toml")
    assert caught.value.sentence.startswith(f"plan.toml, hierarchy of `a` ({kind}): ")
    return caught.value


# ---- all builders --------------------------------------------------------------------------------


def test_every_kind_of_a_plan_has_a_form_and_no_other() -> None:
    forms = builder_forms()
    assert tuple(forms) == BUILDER_KINDS
    for form in forms.values():
        assert form.title
        assert form.summary.endswith(".")
        for parameter in form.parameters:
            assert parameter.label
            assert parameter.help.endswith((".", "…"))
            assert parameter.range_text()


@pytest.mark.parametrize(
    ("kind", "options", "values"),
    [
        ("intervals", {"widths": [5]}, ["3", "12"]),
        ("mask", {}, ["123", "456"]),
        ("order", {"sizes": [2]}, ["a", "b"]),
        ("dates", {}, ["2024-01-01", "2023-01-01"]),
        ("tree", {"tree": {"x": ["a"], "y": ["b"]}}, ["a", "b"]),
    ],
)
def test_missing_tokens_stay_themselves_below_the_top(
    kind: str, options: Plain, values: list[str]
) -> None:
    built = rows(kind, options, [*values, "", "?"], ("?", "", "NA"))
    clean = rows(kind, options, values)
    steps = len(clean[0]) - 1
    assert built == [*clean, [""] * steps + ["*"], ["?"] * steps + ["*"]]


@pytest.mark.parametrize("kind", BUILDER_KINDS)
def test_a_column_of_missing_values_alone_has_a_hierarchy(kind: str) -> None:
    assert rows(kind, {}, ["?"], ("?",)) == [["?", "*"]]


@pytest.mark.parametrize("kind", BUILDER_KINDS)
def test_an_unknown_option_names_the_nearest(kind: str) -> None:
    key = builder_forms()[kind].parameters[0].key
    error = refusal(kind, {key + "x": 1}, ["1"])
    assert error.code == "plan.unknown-key"
    assert error.hint == f"Did you mean `{key}`?"


def test_an_unknown_kind_is_refused() -> None:
    assert "expected one of intervals, mask" in refusal("magic", {}, ["1"]).sentence


def test_repeated_values_count_once() -> None:
    assert rows("order", {}, ["b", "a", "b"]) == [["a", "*"], ["b", "*"]]


# ---- intervals -----------------------------------------------------------------------------------


def test_whole_numbers_fall_into_ranges_without_overlap() -> None:
    assert path("intervals", {"widths": [5, 10, 20]}, AGES, "37") == ["35-39", "30-39", "20-39"]
    built = rows("intervals", {"widths": [5, 10, 20]}, AGES)
    assert [row[0] for row in built] == AGES
    assert len({row[1] for row in built}) == 20
    assert len({row[3] for row in built}) == 5


def test_the_origin_moves_the_borders() -> None:
    assert path("intervals", {"widths": [5, 10], "origin": 3}, AGES, "12") == ["8-12", "3-12"]
    assert path("intervals", {"widths": [10], "origin": -5}, AGES, "4") == ["-5 to 4"]


def test_bottom_and_top_coding_cut_the_intervals_beside_them() -> None:
    options: Plain = {"widths": [10, 20], "bottom": 15, "top": 85}
    assert path("intervals", options, AGES, "14") == ["<15", "<15"]
    assert path("intervals", options, AGES, "15") == ["15-19", "15-19"]
    assert path("intervals", options, AGES, "84") == ["80-84", "80-84"]
    assert path("intervals", options, AGES, "85") == ["≥85", "≥85"]


def test_decimals_stand_in_half_open_brackets_with_their_decimal_mark() -> None:
    assert path("intervals", {"widths": [2.5]}, ["2.5", "7.25"], "7.25") == ["[5, 7.5["]
    assert path("intervals", {"widths": [2.5]}, ["2,5", "-0,1"], "2,5") == ["[2,5; 5["]
    assert path("intervals", {"widths": [2.5]}, ["2,5", "-0,1"], "-0,1") == ["[-2,5; 0["]
    assert path("intervals", {"widths": [0.1]}, ["0.3", "0.29"], "0.3") == ["[0.3, 0.4["]


def test_negative_whole_numbers_are_written_with_to() -> None:
    assert path("intervals", {"widths": [10]}, ["-10", "-11"], "-11") == ["-20 to -11"]


def test_an_interval_of_one_number_is_that_number() -> None:
    assert path("intervals", {"widths": [1, 2]}, ["4", "5"], "5") == ["5", "4-5"]


def test_labels_can_be_asked_for() -> None:
    assert path("intervals", {"widths": [10], "labels": "brackets"}, AGES, "7") == ["[0, 10["]
    error = refusal("intervals", {"widths": [10], "labels": "range"}, ["1.5"])
    assert "found `1.5`, expected whole numbers" in error.sentence


def test_cut_points_are_given_per_level() -> None:
    options: Plain = {"cuts": [[18, 30, 65], [18, 65]]}
    assert path("intervals", options, AGES, "17") == ["<18", "<18"]
    assert path("intervals", options, AGES, "18") == ["18-29", "18-64"]
    assert path("intervals", options, AGES, "64") == ["30-64", "18-64"]
    assert path("intervals", options, AGES, "65") == ["≥65", "≥65"]
    assert path("intervals", {"cuts": [50]}, AGES, "50") == ["≥50"]
    assert path("intervals", {"cuts": "18, 65; 65"}, AGES, "20") == ["18-64", "<65"]


def test_without_widths_nice_ones_are_taken() -> None:
    assert path("intervals", {}, [str(age) for age in range(17, 91)], "42") == [
        "40-44",
        "40-49",
        "40-59",
    ]


def test_exotic_numbers_keep_their_text_as_leaves() -> None:
    built = rows("intervals", {"widths": [10]}, [" 5", "05", "+5", "1e1"])
    assert [row[0] for row in built] == [" 5", "+5", "05", "1e1"]
    assert {row[1] for row in built[:3]} == {"0-9"}
    assert built[3][1] == "10-19"


@pytest.mark.parametrize(
    ("options", "values", "words"),
    [
        ({"widths": [5, 12]}, AGES, "`widths` holds 12 after 5, expected each width to be a mult"),
        ({"widths": [10, 10]}, AGES, "`widths` holds 10 after 10"),
        ({"widths": [0, 5]}, AGES, "`widths` holds 0, expected widths above 0"),
        ({"widths": [-5]}, AGES, "`widths` is [-5], expected a list of numbers of 0 or more"),
        ({"widths": ["x"]}, AGES, '`widths` is ["x"], expected a list of numbers'),
        ({"widths": True}, AGES, "`widths` is true"),
        ({"origin": "a"}, AGES, '`origin` is "a", expected a number'),
        ({"bottom": 50, "top": 50}, AGES, "`bottom` is 50 and `top` is 50"),
        ({"cuts": [[1, 2]], "widths": [5]}, AGES, "found both `cuts` and `widths`"),
        ({"cuts": [[1, 2]], "top": 5}, AGES, "found both `cuts` and `top`"),
        ({"cuts": [[1, 2], [3]]}, AGES, "`cuts` holds 3 in a level but not in the level below"),
        ({"cuts": [[2, 1]]}, AGES, "expected a list of rising numbers"),
        ({"cuts": [[]]}, AGES, "expected a list of rising numbers"),
        ({"labels": "rnage"}, AGES, "expected one of `auto`, `range`, `brackets`"),
        ({}, ["1", "x", "2"], "found `x`, expected numbers"),
        ({}, ["nan"], "found `nan`, expected numbers"),
        ({}, ["1", ""], "found (empty), expected numbers"),
        ({}, ["1,5", "2.5"], "found `1,5` and `2.5`, expected one decimal mark"),
        ({}, list("abcde"), "found `a`, `b`, `c` and 2 more, expected numbers"),
    ],
)
def test_wrong_interval_options_and_values_are_named(
    options: Plain, values: list[str], words: str
) -> None:
    assert words in refusal("intervals", options, values).sentence


# ---- masks ---------------------------------------------------------------------------------------


def test_masks_hide_characters_from_the_right_or_left() -> None:
    codes = ["47677", "47602"]
    assert path("mask", {}, codes, "47677") == ["4767*", "476**", "47***", "4****"]
    assert path("mask", {"from": "left", "every": 2}, codes, "47677") == ["**677", "****7"]
    assert path("mask", {"steps": 2}, codes, "47677") == ["476**", "4****"]
    assert path("mask", {"steps": [2], "character": "#"}, codes, "47677") == ["476##"]
    assert path("mask", {"steps": [1, 4]}, codes, "47677") == ["4767*", "4****"]


def test_short_codes_are_hidden_whole_or_filled() -> None:
    codes = ["7", "123"]
    assert path("mask", {}, codes, "7") == ["*", "*"]
    assert path("mask", {}, codes, "123") == ["12*", "1**"]
    assert path("mask", {"pad": "0"}, codes, "7") == ["00*", "0**"]
    assert path("mask", {"from": "left"}, codes, "7") == ["*", "*"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"from": "rihgt"}, "expected one of `right`, `left`"),
        ({"character": "**"}, '`character` is "**", expected one character'),
        ({"character": ""}, '`character` is "", expected one character'),
        ({"steps": [2, 2]}, "`steps` holds 2 after 2, expected rising numbers"),
        ({"steps": [0]}, "expected a list of whole numbers of 1 or more"),
        ({"steps": [1.5]}, "expected a list of whole numbers of 1 or more"),
        ({"every": 0}, "`every` is 0, expected a whole number of 1 or more"),
    ],
)
def test_wrong_mask_options_are_named(options: Plain, words: str) -> None:
    assert words in refusal("mask", options, ["12"]).sentence


# ---- ordered groups ------------------------------------------------------------------------------


def test_group_sizes_join_neighbours_level_by_level() -> None:
    built = rows("order", {"sizes": [2, 2]}, list("gfedcba"))
    assert built[0] == ["a", "a, b", "a … d", "*"]
    assert built[3] == ["d", "c, d", "a … d", "*"]
    assert built[6] == ["g", "g", "e, f, g", "*"]


def test_an_order_is_kept_and_may_name_values_that_the_data_lack() -> None:
    built = rows("order", {"order": ["low", "mid", "high"], "sizes": [2]}, ["high", "low"])
    assert built == [
        ["low", "low, mid", "*"],
        ["mid", "low, mid", "*"],
        ["high", "high", "*"],
    ]


def test_without_an_order_numbers_within_texts_are_sorted_as_numbers() -> None:
    assert [row[0] for row in rows("order", {}, ["v10", "v9", "v1"])] == ["v1", "v9", "v10"]


def test_named_groups_are_given_per_level_and_the_rest_stays_itself() -> None:
    options: Plain = {"groups": [{"low": ["a", "b"]}, {"all": ["low", "c"]}]}
    assert rows("order", options, list("abcd")) == [
        ["a", "low", "all", "*"],
        ["b", "low", "all", "*"],
        ["c", "c", "all", "*"],
        ["d", "d", "d", "*"],
    ]
    assert path("order", {"groups": {"low": ["a"]}}, ["a", "b"], "a") == ["low"]


def test_groups_with_equal_labels_are_kept_apart() -> None:
    built = rows("order", {"order": ["a, b", "x", "y", "a", "b"], "sizes": [3]}, [])
    labels = [row[1] for row in built]
    assert labels[0] != labels[4]
    built = rows("order", {"order": ["a", "b", "a, b"], "sizes": [2]}, [])
    assert [row[1] for row in built] == ["a, b", "a, b", "a, b (2)"]


@pytest.mark.parametrize(
    ("options", "words", "hint"),
    [
        (
            {"order": ["a", "c"]},
            "`b` is in the data but not in the hierarchy",
            "Add what is missing.",
        ),
        ({"order": ["a", "bb"]}, "`b` is in the data", "Did you mean `bb`?"),
        ({"order": ["a", "b", "a"]}, "`order` holds `a` twice", ""),
        ({"order": [1, 2]}, "`order` is [1, 2], expected a list of texts", ""),
        ({"sizes": [1]}, "expected a list of whole numbers of 2 or more", ""),
        ({"sizes": [2], "groups": {"x": ["a"]}}, "found both `sizes` and `groups`", ""),
        ({"groups": {"x": ["aa"]}}, "contains `aa`, which is not a value", "Did you mean `a`?"),
        ({"groups": {"x": ["a"], "y": ["a"]}}, "`a` is in the groups `x` and `y`", ""),
        ({"groups": {"b": ["a"]}}, "`b` is a group and also a value", "Put the value into"),
        ({"groups": {"x": "a"}}, "the group `x` is not a list of texts", ""),
        ({"groups": ["a"]}, "`groups` is not a list of tables", "For instance"),
        ({"groups": {"x": [1]}}, "`groups` is { x = [1] }, expected nested tables", ""),
        ({"groups": {"": ["a"]}}, "found nothing above `a`", ""),
    ],
)
def test_wrong_group_options_are_named(options: Plain, words: str, hint: str) -> None:
    error = refusal_of_any_place("order", options, ["a", "b"])
    assert words in error.sentence
    assert hint in error.hint


def refusal_of_any_place(kind: str, options: Plain, values: list[str]) -> InputError:
    with pytest.raises(InputError) as caught:
        build_hierarchy("a", HierarchyBuilder(kind, options), values, (), "plan.toml")
    assert caught.value.sentence.startswith(f"plan.toml, hierarchy of `a` ({kind})")
    return caught.value


# ---- dates ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "form"),
    [
        ("2024-03-05", None),
        ("05.03.2024", None),
        ("5.3.2024", None),
        ("2024/03/05", None),
        ("20240305", None),
        ("2024-03-05 23:59:59", None),
        ("2024-03-05T23:59:59.25", None),
        ("05/03/2024", "dd/mm/yyyy"),
        ("03/05/2024", "mm/dd/yyyy"),
        ("2024-03-05", "%Y-%m-%d"),
        ("5th? 3 2024", "ddth? mm yyyy"),
    ],
)
def test_a_date_is_read_in_many_forms(value: str, form: str | None) -> None:
    options: Plain = {
        "levels": ["day", "month", "quarter", "half-year", "year", "decade", "century"]
    }
    if form:
        options["format"] = form
    assert path("dates", options, [value], value) == [
        "2024-03-05",
        "2024-03",
        "2024-Q1",
        "2024-H1",
        "2024",
        "2020-2029",
        "2000-2099",
    ]


def test_months_fall_into_their_quarters_and_half_years() -> None:
    values = [f"2023-{month:02d}" for month in range(1, 13)]
    built = rows("dates", {"levels": ["quarter", "half-year"]}, values)
    assert [row[1][-2:] for row in built] == ["Q1"] * 3 + ["Q2"] * 3 + ["Q3"] * 3 + ["Q4"] * 3
    assert [row[2][-2:] for row in built] == ["H1"] * 6 + ["H2"] * 6


def test_a_month_that_only_fits_one_reading_decides_the_form() -> None:
    assert path("dates", {"levels": ["month"]}, ["01/02/2024", "13/02/2024"], "01/02/2024") == [
        "2024-02"
    ]
    assert path("dates", {"levels": ["month"]}, ["01/02/2024", "02/13/2024"], "01/02/2024") == [
        "2024-01"
    ]


def test_several_forms_may_be_mixed_and_dates_are_sorted() -> None:
    options: Plain = {"format": ["dd.mm.yyyy", "yyyy-mm-dd"], "levels": ["year"]}
    built = rows("dates", options, ["31.12.2023", "2024-02-29", "01.01.2023"])
    assert [row[0] for row in built] == ["01.01.2023", "31.12.2023", "2024-02-29"]


def test_the_default_levels_are_those_that_the_form_has() -> None:
    assert path("dates", {}, ["1987"], "1987") == ["1987", "1980-1989"]


@pytest.mark.parametrize(
    ("options", "values", "words"),
    [
        (
            {},
            ["2023-02-28", "2023-02-29"],
            "found `2023-02-29`, expected dates in the form yyyy-mm",
        ),
        ({}, ["31.12.2023", "soon"], "found `soon`, expected dates in the form dd.mm.yyyy"),
        ({}, ["2024-03-05 24:00:00"], "found `2024-03-05 24:00:00`, expected dates"),
        ({}, ["01/02/2024"], "`01/02/2024` can be read as dd/mm/yyyy and as mm/dd/yyyy"),
        ({"format": "dd.mm.yy"}, ["01.02.24"], '`format` is "dd.mm.yy", expected a form of yyyy'),
        ({"format": "yyyy yyyy"}, ["1 1"], "expected a form of yyyy"),
        ({"format": "dd yyyy"}, ["1 1"], "expected a form of yyyy"),
        ({"format": "yyyy", "levels": ["month"]}, ["2024"], "form yyyy has no month"),
        ({"levels": ["yeer"]}, ["2024"], '`levels` holds "yeer", expected day, month'),
        ({"levels": ["year", "month"]}, ["2024-01"], "month after year, expected rising units"),
        ({"levels": ["year", "year"]}, ["2024-01"], "year after year, expected rising units"),
        ({"levels": "[month]"}, ["2024-01"], '`levels` holds "[month]"'),
    ],
)
def test_wrong_date_options_and_values_are_named(
    options: Plain, values: list[str], words: str
) -> None:
    assert words in refusal("dates", options, values).sentence


# ---- trees ---------------------------------------------------------------------------------------


def test_a_tree_by_hand_becomes_levels_and_shallow_groups_fill_up() -> None:
    tree = {"Europe": {"West": ["FR", "DE"], "East": ["PL"]}, "Asia": ["JP"]}
    assert rows("tree", {"tree": tree}, ["FR", "JP"]) == [
        ["FR", "West", "Europe", "*"],
        ["DE", "West", "Europe", "*"],
        ["PL", "East", "Europe", "*"],
        ["JP", "Asia", "Asia", "*"],
    ]


def test_values_and_groups_may_stand_side_by_side_in_a_tree() -> None:
    tree = {"Europe": ["MC", {"West": ["FR"]}], "Other": []}
    assert rows("tree", {"tree": [tree, "Sea"], "root": "World"}, []) == [
        ["MC", "Europe", "Europe", "World"],
        ["FR", "West", "Europe", "World"],
        ["Sea", "Sea", "Sea", "World"],
    ]


@pytest.mark.parametrize(
    ("tree", "code", "words"),
    [
        ({"x": ["a"]}, "hierarchy.missing-leaf", "`b` is in the data but not in the hierarchy"),
        ({"x": ["a", "b", "a"]}, "hierarchy.options", "`a` is in the tree twice, in `x`, expected"),
        ({"x": ["a"], "y": ["b", "a"]}, "hierarchy.options", "twice, in `x` and in `y`"),
        (["a", "b", {"x": ["a"]}], "hierarchy.options", "twice, at the top and in `x`"),
        (
            {"x": {"o": ["a"]}, "y": {"o": ["b"]}},
            "hierarchy.options",
            "the groups `x` and `y` both hold `o`, expected different names at level 1",
        ),
        ({"": ["a", "b"]}, "hierarchy.options", "a group of the tree has no name"),
        ({"x": [1]}, "parameter.invalid", "`tree` is { x = [1] }, expected nested tables"),
        ("x", "parameter.invalid", '`tree` is "x", expected nested tables'),
    ],
)
def test_a_wrong_tree_is_named(tree: object, code: str, words: str) -> None:
    error = refusal_of_any_place("tree", {"tree": tree}, ["a", "b"])
    assert error.code == code
    assert words in error.sentence


# ---- awkward values ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "options", "values"),
    [
        ("intervals", {"widths": [5]}, ["1", "12", "N", "9999"]),
        ("mask", {"pad": "0"}, ["101", "1102", "N", "9999"]),
        ("dates", {}, ["2024-01-02", "2023-05-06", "N", "9999"]),
        ("order", {"order": ["low", "high"], "sizes": [2]}, ["low", "high", "N", "9999"]),
    ],
)
def test_values_kept_apart_stay_themselves_below_the_top(
    kind: str, options: Plain, values: list[str]
) -> None:
    made = rows(kind, {**options, "apart": ["N", "9999", "not there"]}, values)
    inner = len(made[0]) - 1
    assert {row[0] for row in made} == set(values)
    assert ["N"] * inner + ["*"] in made
    assert ["9999"] * inner + ["*"] in made


def test_a_column_of_nothing_but_values_kept_apart_is_a_hierarchy() -> None:
    assert rows("intervals", {"apart": ["N"]}, ["N"]) == [["N", "*"]]


def test_values_in_messages_are_cut_and_kept_on_one_line() -> None:
    error = refusal("intervals", {}, ["x" * 5000, "a\nb", "\u200b", ""])
    assert "`a\\nb`, `\\u200b` and 1 more" in error.sentence
    assert "x…`" in error.sentence
    assert len(error.line) < 300


def test_runs_of_thousands_of_digits_are_sorted_as_numbers() -> None:
    long, longer = "1" * 5000, "1" * 5001
    made = rows("order", {}, [longer, "9", long, "010", "b1"])
    assert [row[0] for row in made] == ["9", "010", long, longer, "b1"]


def test_masking_never_makes_hundreds_of_levels() -> None:
    error = refusal("mask", {}, ["x" * 5000, "y"])
    assert "5,000 characters, which gives 4,999 levels, expected 50 at most" in error.sentence
    assert path("mask", {"steps": [4999]}, ["x" * 5000, "y"], "y") == ["*"]


@pytest.mark.parametrize(
    ("value", "day"),
    [
        ("2024-01-02 03:04", "2024-01-02"),
        ("2024-01-02T03:04:05Z", "2024-01-02"),
        ("2024-01-02T03:04:05.678+02:00", "2024-01-02"),
        ("31-12-2024", "2024-12-31"),
        ("12-31-2024", "2024-12-31"),
        ("02.01.2024 03:04", "2024-01-02"),
    ],
)
def test_dates_are_read_in_the_forms_that_databases_write(value: str, day: str) -> None:
    assert path("dates", {"levels": ["day"]}, [value], value) == [day]


def test_days_and_months_that_could_be_swapped_are_never_guessed() -> None:
    for value in ("01/02/2024", "01-02-2024"):
        assert "expected `format` to say which" in refusal("dates", {}, [value]).sentence


@pytest.mark.parametrize(
    ("values", "decimal"), [(("999", "1,234", "12,500"), "."), (("999", "1.234", "12.500"), ",")]
)
def test_numbers_with_marks_of_thousands_are_not_taken_for_small_ones(
    values: tuple[str, ...], decimal: str
) -> None:
    builder = HierarchyBuilder("intervals", {"widths": (1000,)})
    with pytest.raises(InputError) as caught:
        build_hierarchy("pay", builder, values, decimal=decimal)
    assert caught.value.code == "hierarchy.value"
    assert "1,234" in caught.value.sentence.replace(".", ",")
    other = "," if decimal == "." else "."
    assert len(build_hierarchy("pay", builder, values, decimal=other).leaves) == 3


@pytest.mark.parametrize("values", [("999", "1,5", "1,234"), ("0,123", "0,500"), ("1,23",)])
def test_other_numbers_with_commas_have_decimals(values: tuple[str, ...]) -> None:
    builder = HierarchyBuilder("intervals", {"widths": (1000,)})
    assert build_hierarchy("pay", builder, values, decimal=".").leaves == tuple(
        sorted(values, key=lambda value: float(value.replace(",", ".")))
    )
