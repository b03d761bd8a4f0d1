"""Suggested hierarchies: what a disclosure-control officer would try first, on made-up columns."""

from __future__ import annotations

from itertools import pairwise

import pytest

from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.plan import SuggestedHierarchy, Why
from dpdesk.core.schema import ColumnType
from dpdesk.engine.hierarchies.builders import build_hierarchy
from dpdesk.engine.hierarchies.code_suggestions import Hint, hint_of
from dpdesk.engine.hierarchies.suggestions import suggest_hierarchy

AGES = [str(age) for age in range(17, 91)]
POSTCODES = [f"{a}{b}{c:03d}" for a in (1, 3, 8) for b in range(4) for c in (0, 31, 62)]
COUNTIES = [f"{state:02d}-{area:05d}" for state in (1, 6, 17, 36, 48) for area in (100, 7502, 8507)]
REGIONS = [f"{land}{a}{b}" for land in ("XA", "XB") for a in range(1, 4) for b in range(1, 4)]


def suggest(
    values: list[str],
    name: str = "",
    rows: list[int] | None = None,
    column_type: ColumnType = ColumnType.TEXT,
) -> tuple[SuggestedHierarchy, Hierarchy]:
    """What is suggested, and what it builds; a declared missing code is always there."""
    found = suggest_hierarchy(
        [*values, "?"], column_type, ("?",), name, [*(rows or [1] * len(values)), 9]
    )
    built = build_hierarchy("a", found.builder, [*values, "?"], ("?",))
    assert set(built.leaves) == {*values, "?"}
    assert Hierarchy.from_rows("a", built.rows()).labels == built.labels
    return found, built


def path(built: Hierarchy, value: str) -> list[str]:
    """The labels of a value between itself and the top."""
    return next(row for row in built.rows() if row[0] == value)[1:-1]


# ---- numbers that measure ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "options"),
    [
        (AGES, {"widths": (5, 10, 20)}),
        (["0.1", "0.25", "0.9", "0.5", "0.6"], None),
        (["1,5", "2,5", "3", "4", "5,25"], None),
        ([str(n) for n in range(0, 250_000, 999)], None),
        ([str(n) for n in range(16, 25)], {"widths": (2, 4)}),
        ([str(n) for n in range(-30, 40, 7)], None),
        ([f"{age:02d}.0" for age in range(16, 80)], {"widths": (5, 10, 20)}),
    ],
)
def test_numbers_that_measure_become_intervals(
    values: list[str], options: dict[str, object] | None
) -> None:
    found, _ = suggest(values)
    assert (found.builder.kind, found.why) == ("intervals", Why.NUMBERS)
    if options is not None:
        assert found.builder.options == options


def test_years_are_intervals_even_when_they_are_few() -> None:
    found, _ = suggest([str(year) for year in range(2012, 2019)])
    assert (found.builder.kind, found.why) == ("intervals", Why.YEARS)


def test_a_long_tail_becomes_one_group_so_that_the_rest_keeps_its_detail() -> None:
    incomes = [str(1000 * step) for step in range(50)] + ["300000", "900000"]
    found, built = suggest(incomes, rows=[50] * 50 + [1, 1])
    assert found.builder.options == {"widths": (5000, 10000, 20000), "top": 60000}
    assert path(built, "900000") == ["≥60000"] * 3
    assert path(built, "12000")[0] == "10000-14999"


def test_both_tails_become_a_group_each() -> None:
    gains = ["-90000", *(str(step) for step in range(-40, 41)), "70000"]
    found, _ = suggest(gains, rows=[1] + [40] * 81 + [1])
    assert found.builder.options == {"widths": (5, 10, 20), "top": 40, "bottom": -40}


def test_a_value_that_most_rows_hold_does_not_hide_the_spread_of_the_others() -> None:
    gains = ["0", *(str(100 * step) for step in range(1, 60))]
    found, _ = suggest(gains, rows=[9000] + [2] * 59)
    assert found.builder.options == {"widths": (500, 1000, 2000)}


# ---- codes for missing within numbers ------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "apart"),
    [
        ([*AGES, "N"], ("N",)),
        ([*AGES, "NA", "refused"], ("NA", "refused")),
        ([*AGES, "999"], ("999",)),
        ([*AGES, "998", "999"], ("998", "999")),
        ([*AGES, "-9"], ("-9",)),
        ([*AGES, "-8.0", "N"], ("N", "-8.0")),
        ([*(str(n) for n in range(18)), "97"], ("97",)),
        ([*AGES, "90+"], ("90+",)),
        ([*AGES, "85 and over"], ("85 and over",)),
    ],
)
def test_codes_for_missing_do_not_spoil_intervals(
    values: list[str], apart: tuple[str, ...]
) -> None:
    found, built = suggest(values)
    assert found.builder.kind == "intervals"
    assert found.apart == apart
    assert all(path(built, value) == [value] * (built.height - 1) for value in apart)


@pytest.mark.parametrize(
    "values",
    [
        [str(n) for n in range(100)],
        [str(n) for n in range(0, 1000, 3)],
        [str(n) for n in range(-12, 40)],
        [*AGES, "-9", "-4321"],
    ],
)
def test_ordinary_numbers_are_not_taken_for_codes_for_missing(values: list[str]) -> None:
    found, _ = suggest(values)
    assert found.builder.kind == "intervals"
    assert found.apart == ()


def test_many_words_among_numbers_are_no_codes_for_missing() -> None:
    found, _ = suggest([*AGES, "low", "high", "none", "other"])
    assert found.builder.kind == "order"


def test_a_word_among_codes_does_not_spoil_masking() -> None:
    codes = [str(code) for code in range(170, 9920, 37)]
    found, built = suggest([*codes, "N"], "industry")
    assert (found.builder.kind, found.why, found.apart) == ("mask", Why.PADDED_CODES, ("N",))
    assert path(built, "170")[-1].startswith("0")
    assert path(built, "N") == ["N"] * (built.height - 1)


# ---- numbers that only name ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "values",
    [
        [str(n) for n in range(1, 10)],
        [str(n) for n in range(7)],
        [f"{n}.0" for n in range(1, 8)],
        [*(str(n) for n in range(1, 7)), "N"],
        [*(str(n) for n in range(1, 9)), "99"],
        ["100", "200", "300", "500", "1100"],
        ["2", "4", "5", "6", "9"],
    ],
)
def test_the_order_of_a_few_codes_is_not_trusted(values: list[str]) -> None:
    found, built = suggest(values)
    assert (found.builder, found.why) == (found.builder, Why.NUMBER_CODES)
    assert found.builder.kind == "order"
    assert built.height == 1


@pytest.mark.parametrize(
    ("name", "kind", "why"),
    [
        ("age", "intervals", Why.NUMBERS),
        ("household_size", "intervals", Why.COUNTS),
        ("Haushaltsgröße", "intervals", Why.COUNTS),
        ("numChildren", "intervals", Why.COUNTS),
        ("income", "intervals", Why.NUMBERS),
        ("education", "order", Why.ORDER),
        ("decile", "order", Why.ORDER),
        ("race", "order", Why.NUMBER_CODES),
        ("", "order", Why.NUMBER_CODES),
    ],
)
def test_the_name_decides_what_a_few_numbers_leave_open(name: str, kind: str, why: Why) -> None:
    found, built = suggest([str(n) for n in range(1, 9)], name)
    assert (found.builder.kind, found.why) == (kind, why)
    assert built.height == (1 if why is Why.NUMBER_CODES else 3)


def test_counts_that_begin_at_one_are_paired_from_one() -> None:
    _, built = suggest([str(n) for n in range(1, 8)], "hsize")
    assert path(built, "1") == ["1-2", "1-4"]


def test_many_numbers_that_are_named_as_codes_are_not_put_into_intervals() -> None:
    places = [str(n) for n in range(1, 266)]
    assert suggest(places, "PULocationID")[0].why is Why.NAMED_CODES
    assert suggest(places)[0].why is Why.NUMBERS


def test_a_name_never_makes_text_a_number() -> None:
    assert suggest(["cook", "nurse", "judge", "baker", "smith"], "age")[0].why is Why.NAMES


# ---- codes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "name", "steps"),
    [
        (POSTCODES, "", (2, 4)),
        (COUNTIES, "", (5,)),
        (REGIONS, "", (1, 2)),
        (["47677", "47602", "03123", "47678", "03125"], "", (1, 2)),
        (["81931", "81667", "81675", "81925"], "zipcode", (2,)),
        ([f"A{n:02d}.{m}" for n in range(20) for m in range(5)], "", (1, 3)),
        (["SW1 1AA", "SW1 2BB", "SW12 1AA", "N1 9ZZ", "N1 8YY", "N19 1AA"], "", (3,)),
        ([f"{code}.0" for code in range(1101, 9830, 17)], "postcode", (4, 5)),
    ],
)
def test_codes_whose_beginnings_group_are_masked_where_it_groups(
    values: list[str], name: str, steps: tuple[int, ...]
) -> None:
    found, built = suggest(values, name)
    assert (found.builder.kind, found.why) == ("mask", Why.CODES)
    assert found.builder.options.get("steps", steps) == steps
    labels = [len(set(level)) for level in built.labels]
    assert all(after < before for before, after in pairwise(labels))


def test_amounts_of_one_length_are_no_codes() -> None:
    assert suggest([str(n) for n in range(10_000, 99_990, 130)])[0].why is Why.NUMBERS
    assert suggest([str(n) for n in range(10_001, 99_990, 131)], "wage")[0].why is Why.NUMBERS
    assert suggest([str(n) for n in range(150, 210)])[0].why is Why.NUMBERS


def test_leading_zeros_tell_a_code_but_not_an_age() -> None:
    values = [f"{n:03d}" for n in range(120)]
    assert suggest(values)[0].why is Why.CODES
    assert suggest(values, "age")[0].builder.kind == "intervals"


def test_codes_whose_beginnings_group_nothing_are_left_alone() -> None:
    found, built = suggest([f"{letter}1" for letter in "ABCDEF"])
    assert (found.builder.kind, found.why, built.height) == ("order", Why.LOOSE_CODES, 1)


# ---- dates and ranges ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "forms", "apart"),
    [
        (["2024-01-01", "2023-05-01", "2022-01-01"], ["yyyy-mm-dd"], ()),
        (["20240131", "20230501", "20220101"], ["yyyymmdd"], ()),
        (["202401", "202305", "202212", "201907"], ["yyyymm"], ()),
        (["2024-01-01", "2023-05-01", "31.12.2022"], ["yyyy-mm-dd", "dd.mm.yyyy"], ()),
        (["2024-01-01", "2023-05-01", "2022-01-01", "unknown"], ["yyyy-mm-dd"], ("unknown",)),
        (["01/02/2024", "02/02/2024", "03/02/2024"], ["dd/mm/yyyy"], ()),
        (["01/22/2024", "02/02/2024", "03/02/2024"], ["mm/dd/yyyy"], ()),
        (["2024-01-01T10:00:00Z", "2023-05-01T09:30:00+02:00", "2022-01-01T00:00:00"],
         ["yyyy-mm-ddThh:mm:ss"], ()),
    ],
)  # fmt: skip
def test_dates_become_periods(values: list[str], forms: list[str], apart: tuple[str, ...]) -> None:
    found, _ = suggest(values)
    assert (found.builder.kind, found.why, found.apart) == ("dates", Why.DATES, apart)
    assert list(found.builder.options["format"]) == forms  # type: ignore[call-overload]


def test_two_readings_of_a_date_are_told() -> None:
    found, _ = suggest(["01/02/2024", "02/02/2024", "03/02/2024"])
    assert found.facts == {"form": "dd/mm/yyyy", "other": "mm/dd/yyyy"}


def test_ranges_keep_their_order() -> None:
    ranges = ["65+", "15-24", "5-14", "<5", "25-44", "45-64"]
    found, built = suggest(ranges)
    assert (found.builder.kind, found.why) == ("order", Why.RANGES)
    assert found.builder.options["order"] == ("<5", "5-14", "15-24", "25-44", "45-64", "65+")
    assert path(built, "65+") == ["45-64, 65+"]


def test_codes_with_a_dash_and_overlapping_ranges_are_no_ranges() -> None:
    assert suggest(COUNTIES)[0].why is Why.CODES
    assert suggest(["0-9", "5-14", "10-19", "15-24"])[0].why is not Why.RANGES


# ---- words that have an order, and classifications ----------------------------------------------


@pytest.mark.parametrize(
    ("values", "order"),
    [
        (["good", "fair", "poor"], ["poor", "fair", "good"]),
        (["Very good", "Good", "Fair", "Bad", "Very bad"],
         ["Very bad", "Bad", "Fair", "Good", "Very good"]),
        (["4 - Always", "1 - Never", "2 - Rarely", "3 - Often"],
         ["1 - Never", "2 - Rarely", "3 - Often", "4 - Always"]),
        (["sehr gut", "gut", "mittelmäßig", "schlecht"],
         ["schlecht", "mittelmäßig", "gut", "sehr gut"]),
        (["medium", "HIGH", "low"], ["low", "medium", "HIGH"]),
        (["strongly_agree", "agree", "neutral", "disagree"],
         ["disagree", "neutral", "agree", "strongly_agree"]),
        (["Upper secondary", "Primary", "Tertiary", "Lower secondary"],
         ["Primary", "Lower secondary", "Upper secondary", "Tertiary"]),
    ],
)  # fmt: skip
def test_words_of_a_scale_keep_their_order(values: list[str], order: list[str]) -> None:
    found, built = suggest(values)
    assert (found.builder.kind, found.why) == ("order", Why.SCALE)
    assert list(found.builder.options["order"]) == order  # type: ignore[call-overload]
    assert built.height == 2


def test_five_answers_are_put_together_around_the_middle() -> None:
    _, built = suggest(["very good", "good", "fair", "bad", "very bad"])
    assert path(built, "bad") == path(built, "very bad") == ["very bad, bad"]
    assert path(built, "fair") == ["fair"]
    assert path(built, "good") == path(built, "very good") == ["good, very good"]


def test_no_answer_stays_apart_from_a_scale() -> None:
    found, built = suggest(["never", "sometimes", "always", "don't know", "Refused"])
    assert found.apart == ("don't know", "Refused")
    assert path(built, "Refused") == ["Refused"]


@pytest.mark.parametrize(
    "values",
    [
        ["good", "fair", "poor", "married"],
        ["bad", "poor", "good"],  # two words for one place
        ["never married", "married", "divorced", "widowed"],
        ["red", "green", "blue"],
        ["High Street", "Low Lane", "Medium Way"],
        ["good", "unknown", "poor"],
    ],
)
def test_words_that_are_not_all_of_one_scale_have_no_order(values: list[str]) -> None:
    found, built = suggest(values)
    assert found.why in (Why.FEW, Why.NAMES)
    assert built.height == 1


@pytest.mark.parametrize(
    ("values", "name", "value", "labels"),
    [
        (["May", "January", "March"], "", "May", ["April, May, June", "January … June"]),
        (["Oct", "Jan", "Mar", "Dec"], "", "Oct", ["Oct, Nov, Dec", "Jul … Dec"]),
        (["märz", "januar", "juli"], "", "juli", ["juli, august, september", "juli … dezember"]),
        (["4", "1", "12"], "birth_month", "4", ["4, 5, 6", "1 … 6"]),
        (["04", "01", "12"], "Monat", "12", ["10, 11, 12", "07 … 12"]),
        (["Sat", "Mon", "Fri"], "", "Fri", ["Mon … Fri"]),
    ],
)
def test_the_calendar_is_known(values: list[str], name: str, value: str, labels: list[str]) -> None:
    found = suggest_hierarchy(values, ColumnType.TEXT, (), name)
    built = build_hierarchy("a", found.builder, values, ())
    assert path(built, value) == labels


def test_numbers_up_to_twelve_are_months_only_by_name() -> None:
    values = [str(number) for number in range(1, 13)]
    assert suggest(values)[0].why is Why.NUMBER_CODES
    assert suggest(values, "rooms")[0].why is Why.COUNTS
    assert suggest([*values, "13"], "month")[0].why is not Why.MONTHS


@pytest.mark.parametrize("name", ["nace", "NACE_Rev2", "isic4"])
def test_divisions_of_economic_activities_become_sections(name: str) -> None:
    found, built = suggest(["01", "10", "33", "47", "45", "86", "99"], name)
    assert found.why is Why.SECTIONS
    assert [path(built, code) for code in ("01", "10", "33", "45")] == [["A"], ["C"], ["C"], ["G"]]
    assert path(built, "99") == ["U"]


def test_codes_of_another_revision_or_another_name_are_no_sections() -> None:
    divisions = ["1", "10", "33", "47", "86"]
    assert suggest([*divisions, "40"], "nace")[0].why is Why.NUMBER_CODES  # 40: Rev. 1 only
    assert suggest(divisions, "age")[0].why is Why.NUMBERS
    assert suggest([*divisions, "4711"], "nace")[0].why is not Why.SECTIONS


def test_ids_are_not_put_into_intervals() -> None:
    some = [str(number) for number in range(3, 9000, 7)]
    assert suggest(some, "db030")[0].why is Why.NAMED_CODES
    assert suggest(some, "RB030")[0].why is Why.NAMED_CODES
    assert suggest(some)[0].why is Why.NUMBERS
    every = [str(number) for number in range(1, 6001)]
    assert suggest(every)[0].why is Why.RUNNING
    assert suggest(every, "income")[0].why is Why.NUMBERS
    assert suggest([*every[:4000], *every[4001:]])[0].why is Why.NUMBERS


# ---- what does not tell anything -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "column_type", "why"),
    [
        (["cook", "nurse", "judge", "baker", "smith"], "TEXT", Why.NAMES),
        (["a", "b", "c"], "TEXT", Why.FEW),
        (["yes", "no"], "BOOLEAN", Why.FEW),
        (["1", "2"], "INTEGER", Why.FEW),
        (["1,5", "2.5", "3"], "TEXT", Why.FEW),
        ([], "EMPTY", Why.FEW),
        (["North Hill 1", "Room 12", "Main Street 7", "Lane 3", "Yard 9"], "TEXT", Why.NAMES),
    ],
)
def test_nothing_is_invented_where_the_values_do_not_tell(
    values: list[str], column_type: str, why: Why
) -> None:
    found, built = suggest(values, column_type=ColumnType[column_type])
    assert (found.builder.kind, dict(found.builder.options), found.why) == ("order", {}, why)
    assert built.height == 1


# ---- names ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("AGEP", Hint.AGE),
        ("Âge", Hint.AGE),
        ("age_group", Hint.AGE),
        ("agency", Hint.NONE),
        ("language", Hint.CODE),
        ("WageTotal", Hint.MEASURE),
        ("Größe", Hint.MEASURE),
        ("PULocationID", Hint.CODE),
        ("code_postal", Hint.PREFIX_CODE),
        ("EDUC1", Hint.ORDER),
        ("NUMYOUNG", Hint.COUNT),
        ("住所", Hint.NONE),
        ("", Hint.NONE),
    ],
)
def test_a_name_is_read_by_its_words(name: str, hint: Hint) -> None:
    assert hint_of(name) is hint
