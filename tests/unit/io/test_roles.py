"""Suggested roles: counts decide first, then names in the languages of statistical offices."""

from __future__ import annotations

import pytest

from dpdesk.core.schema import ColumnProfile, ColumnType, Role
from dpdesk.io.profile import side_by_side, suggest_role


def suggest(
    name: str, kind: str = "INTEGER", distinct: int = 40, unique: int = 2, rows: int = 1000
) -> Role:
    """The role that is suggested for a column without missing values."""
    found = suggest_role(name, ColumnType[kind], rows, rows, distinct, unique)
    assert found.reason.endswith((".", "?"))
    return found.role


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("age", Role.QUASI_IDENTIFIER),
        ("Alter", Role.QUASI_IDENTIFIER),
        ("edad", Role.QUASI_IDENTIFIER),
        ("Geburtsjahr", Role.QUASI_IDENTIFIER),
        ("code postal", Role.QUASI_IDENTIFIER),
        ("état_civil", Role.QUASI_IDENTIFIER),
        ("relationship", Role.QUASI_IDENTIFIER),
        ("INDP_CAT", Role.QUASI_IDENTIFIER),
        ("Einkommen", Role.SENSITIVE),
        ("netIncome", Role.SENSITIVE),
        ("salaire net", Role.SENSITIVE),
        ("household_weights", Role.WEIGHT),
        ("survey weight", Role.WEIGHT),
        ("agency", Role.INSENSITIVE),
        ("body_weight", Role.INSENSITIVE),
        ("Haushalts-Nr.", Role.CLUSTER),
        ("haushaltsnummer", Role.CLUSTER),
        ("Staatsang.", Role.QUASI_IDENTIFIER),
        ("Erwerbsstatus", Role.QUASI_IDENTIFIER),
        ("Haushaltsgröße", Role.QUASI_IDENTIFIER),
        ("Netto €", Role.SENSITIVE),
        ("PLZ_Detail", Role.QUASI_IDENTIFIER),
        ("current marital status", Role.QUASI_IDENTIFIER),
        ("main_diagnosis", Role.SENSITIVE),
        ("HH_Größe", Role.QUASI_IDENTIFIER),
        ("hh_size", Role.QUASI_IDENTIFIER),
        ("Erkrankung", Role.SENSITIVE),
        ("w_partner", Role.INSENSITIVE),
        ("colour", Role.INSENSITIVE),
        ("py010n", Role.SENSITIVE),
        ("DPHY", Role.SENSITIVE),
        ("HY040G", Role.SENSITIVE),
        ("pl030", Role.QUASI_IDENTIFIER),
        ("placesize", Role.QUASI_IDENTIFIER),
        ("height", Role.QUASI_IDENTIFIER),
        ("alcabuse", Role.SENSITIVE),
        ("depression_score", Role.SENSITIVE),
    ],
)
def test_a_name_suggests_a_role_where_the_counts_leave_it_open(name: str, role: Role) -> None:
    assert suggest(name) is role


def test_a_value_of_its_own_in_nearly_every_row_is_an_identifier_whatever_the_name() -> None:
    assert suggest("colour", "TEXT", 990, 980) is Role.IDENTIFIER
    assert suggest("colour", "DECIMAL", 990, 980) is Role.SENSITIVE
    assert suggest("age", "TEXT", 990, 980) is Role.QUASI_IDENTIFIER


def test_values_that_few_rows_share_are_never_taken_for_harmless() -> None:
    assert suggest("cell", "TEXT", distinct=700, unique=400) is Role.QUASI_IDENTIFIER
    assert suggest("cell", "TEXT", distinct=201, unique=0) is Role.QUASI_IDENTIFIER
    assert suggest("cell", "TEXT", distinct=200, unique=0) is Role.INSENSITIVE


@pytest.mark.parametrize("name", ["Bemerkung", "remarks", "q17_comment", "free text", "Freitext"])
def test_remarks_in_own_words_are_left_out_however_many_differ(name: str) -> None:
    assert suggest(name, "TEXT", distinct=20, unique=0) is Role.IDENTIFIER
    assert suggest(name, "INTEGER", distinct=20, unique=0) is Role.INSENSITIVE
    assert suggest(name, "TEXT", distinct=3, unique=0) is Role.INSENSITIVE


def test_a_weight_that_is_no_number_is_none() -> None:
    assert suggest("weight", "TEXT") is not Role.WEIGHT


def test_one_value_for_all_tells_nothing_about_anybody() -> None:
    assert suggest("age", distinct=1, unique=0) is Role.INSENSITIVE


@pytest.mark.parametrize("name", ["PULocationID", "personAge", "HouseholdSize", "maritalStatus"])
def test_words_that_begin_with_a_capital_inside_a_name_are_words(name: str) -> None:
    assert suggest(name) is Role.QUASI_IDENTIFIER


@pytest.mark.parametrize("other", ["height", "BMI", "Körpergröße", "bmi"])
def test_next_to_the_height_of_people_a_weight_is_that_of_their_bodies(other: str) -> None:
    def profile(name: str) -> ColumnProfile:
        found = suggest_role(name, ColumnType.DECIMAL, 1000, 990, 90, 2)
        return ColumnProfile(name, ColumnType.DECIMAL, 1000, 10, 90, 2, (), found)

    names = ("weight", "survey_weight", other)
    roles = [one.suggestion.role for one in side_by_side([profile(name) for name in names])]
    assert roles == [Role.QUASI_IDENTIFIER, Role.WEIGHT, Role.QUASI_IDENTIFIER]
    alone = side_by_side([profile("weight"), profile("colour")])
    assert alone[0].suggestion.role is Role.WEIGHT
