"""Plans as values: what is refused and how, and that nothing is lost on the way."""

from __future__ import annotations

import json
from copy import deepcopy
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from dpdesk.core.errors import InputError
from dpdesk.core.home import local_path
from dpdesk.core.passwords import holds_password, without_password
from dpdesk.core.plan import (
    AttributeSpec,
    HierarchyBuilder,
    HierarchyFile,
    Plan,
    Protection,
    SourceSpec,
)
from dpdesk.core.schema import Role
from dpdesk.core.source_spec import read_source

GOOD: dict[str, Any] = {
    "version": 1,
    "title": "A title",
    "source": {"path": "people.csv", "delimiter": ";", "missing": ["", "?"]},
    "attributes": {
        "age": {"role": "quasi-identifier", "hierarchy": "age.csv"},
        "zip": {"role": "quasi-identifier", "hierarchy": {"kind": "mask", "steps": [1, 2]}},
        "name": {"role": "identifier"},
    },
    "protection": {"method": "k-anonymity", "k": 5, "max_suppression": Decimal("0.02")},
    "budget": {"limit": Decimal("2.0"), "population": "residents 2024"},
}


def changed(path: str, value: object) -> dict[str, Any]:
    """The good plan with one key set (or removed by ``...``)."""
    plan = deepcopy(GOOD)
    *parents, last = path.split("/")
    table = plan
    for key in parents:
        table = table[key]
    if value is ...:
        del table[last]
    else:
        table[last] = value
    return plan


def refusal(path: str, value: object) -> InputError:
    with pytest.raises(InputError) as caught:
        Plan.from_plain(changed(path, value), "p.toml")
    assert caught.value.sentence.startswith("p.toml")
    assert "\n" not in caught.value.line
    assert len(caught.value.line) < 400
    return caught.value


def test_a_good_plan_is_read_whole() -> None:
    plan = Plan.from_plain(GOOD, "p.toml")
    assert plan.title == "A title"
    assert plan.source == SourceSpec("people.csv", delimiter=";", missing=("", "?"))
    assert plan.attributes["age"] == AttributeSpec(Role.QUASI_IDENTIFIER, HierarchyFile("age.csv"))
    assert plan.attributes["zip"].hierarchy == HierarchyBuilder("mask", {"steps": [1, 2]})
    assert plan.protection == Protection(
        "k-anonymity", {"k": 5, "max_suppression": Decimal("0.02")}
    )
    assert plan.budget == {"limit": 2, "population": "residents 2024"}


def test_plain_values_are_the_inverse_of_reading() -> None:
    plan = Plan.from_plain(GOOD, "p.toml")
    assert plan.as_plain(exact=True) == GOOD
    assert Plan.from_plain(plan.as_plain(), "p.toml") == plan
    assert json.loads(json.dumps(plan.as_plain()))["protection"]["max_suppression"] == 0.02


def test_defaults_stand_for_absent_keys() -> None:
    raw = {"version": 1, "source": {"path": "a.csv"}, "protection": {"method": "m"}}
    plan = Plan.from_plain(raw, "p.toml")
    assert plan == Plan(SourceSpec("a.csv"), {}, Protection("m"))
    assert plan.source.missing == ("",)
    assert plan.as_plain() == {**raw, "attributes": {}}
    column = Plan.from_plain({**raw, "attributes": {"x": {}}}, "p.toml").attributes["x"]
    assert column == AttributeSpec(Role.INSENSITIVE, None)


def test_nothing_missing_is_different_from_the_empty_field_missing() -> None:
    plan = Plan.from_plain(changed("source/missing", []), "p.toml")
    assert plan.source.missing == ()
    assert Plan.from_plain(plan.as_plain(), "p.toml") == plan


def test_values_of_a_plan_cannot_be_changed_from_outside() -> None:
    order = ["a", "b"]
    options: dict[str, object] = {"order": order}
    builder = HierarchyBuilder("order", options)
    order.append("c")
    options["sizes"] = [2]
    assert builder.options == {"order": ("a", "b")}
    with pytest.raises(TypeError):
        builder.options["x"] = 1  # type: ignore[index]


def test_numbers_are_kept_exact_however_they_come() -> None:
    given = [0.02, Fraction(1, 50), Decimal("0.020")]
    protections = [Protection("m", {"s": value, "absent": None}) for value in given]
    assert protections == [Protection("m", {"s": Decimal("0.02")})] * 3


@pytest.mark.parametrize(
    ("path", "known"),
    [
        ("titel", "title"),
        ("sourse", "source"),
        ("source/delimeter", "delimiter"),
        ("source/mising", "missing"),
        ("attributes/age/rol", "role"),
        ("attributes/age/hierachy", "hierarchy"),
        ("budget/limt", "limit"),
    ],
)
def test_an_unknown_key_names_the_nearest_known_one(path: str, known: str) -> None:
    error = refusal(path, 1)
    assert error.code == "plan.unknown-key"
    assert f"unknown key `{path.rsplit('/', 1)[-1]}`" in error.sentence
    assert error.hint == f"Did you mean `{known}`?"
    assert error.details["nearest"] == known


def test_an_unknown_key_near_nothing_lists_what_is_known() -> None:
    assert refusal("source/zzzzzz", 1).hint.startswith("Known keys: path, delimiter")


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("version", "the key `version` is missing, expected `version = 1`"),
        ("source", "the key `source` is missing, expected a table `[source]`"),
        ("source/path", "p.toml, [source]: the key `path` is missing"),
        ("protection", "the key `protection` is missing, expected a table `[protection]`"),
        ("protection/method", "p.toml, [protection]: the key `method` is missing"),
        ("attributes/zip/hierarchy/kind", "hierarchy: the key `kind` is missing, expected one of"),
    ],
)
def test_a_missing_key_is_named_with_what_is_expected(path: str, words: str) -> None:
    error = refusal(path, ...)
    assert error.code == "plan.missing-key"
    assert words in error.sentence


@pytest.mark.parametrize("version", [2, 0, "1", True, [1]])
def test_another_version_is_refused(version: object) -> None:
    error = refusal("version", version)
    assert error.code == "plan.version"
    assert "expected 1" in error.sentence


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("title", 5, "`title` is 5, expected a text"),
        ("source", "a.csv", '`source` is "a.csv", expected a table `[source]`'),
        ("source/path", 5, "[source]: `path` is 5, expected a text"),
        ("source/path", "", '`path` is "", expected the path of a file'),
        ("source/delimiter", ";;", '`delimiter` is ";;", expected one character'),
        ("source/delimiter", "", '`delimiter` is "", expected one character'),
        ("source/quote", "ab", '`quote` is "ab", expected one character'),
        ("source/quote", ",", '`quote` is ",", expected a quote such as'),
        ("source/quote", "a", '`quote` is "a", expected a quote such as'),
        ("source/decimal", ";", '`decimal` is ";", expected `.` or `,`'),
        ("source/encoding", 8, "`encoding` is 8, expected a text"),
        ("source/header", "yes", '`header` is "yes", expected true or false'),
        ("source/header", 1, "`header` is 1, expected true or false"),
        ("source/missing", "?", '`missing` is "?", expected a list of texts'),
        ("source/missing", [1], "`missing` is [1], expected a list of texts"),
        ("attributes", [], "`attributes` is [], expected a table"),
        ("attributes/age", "identifier", '`age` is "identifier", expected a table with `role`'),
        ("attributes/age/role", True, "[attributes.age]: `role` is true, expected a text"),
        ("attributes/age/hierarchy", 5, "`hierarchy` is 5, expected a file name or a builder"),
        ("attributes/age/hierarchy", "", '`hierarchy` is "", expected a file name or a builder'),
        ("attributes/zip/hierarchy/kind", 1, "`kind` is 1, expected a text"),
        ("protection", 1, "`protection` is 1, expected a table"),
        ("protection/method", 1, "`method` is 1, expected a text"),
        ("protection/k", float("nan"), "`protection.k` is nan, expected a finite number"),
        ("protection/k", float("inf"), "`protection.k` is inf"),
        ("protection/k", Decimal("1E+999999999"), "`protection.k` is 1e+999999999"),
        ("protection/k", 10**4000, "`protection.k` is a number of very many digits"),
        ("protection/levels", {"a": [Decimal("NaN")]}, "`protection.levels.a` is nan"),
        (
            "protection/epsilon",
            Decimal("0.12345678901234567"),
            "`protection.epsilon` is 0.12345678901234567, expected a number of at most 15 digits",
        ),
        ("budget", 1, "`budget` is 1, expected a table"),
        ("budget/limit", "2", '`limit` is "2", expected a number of 0 or more'),
        ("budget/limit", -1, "`limit` is -1, expected a number of 0 or more"),
        ("budget/ledger", "file:l.sqlite?mode=memory", "expected the path of a file"),
        ("budget/ledger", "file:///srv/ledger.sqlite", "expected the path of a file"),
        ("budget/population", 1, "`population` is 1, expected a text"),
    ],
)
def test_a_wrong_type_or_value_is_shown_with_what_is_expected(
    path: str, value: object, words: str
) -> None:
    error = refusal(path, value)
    assert error.code == "plan.invalid"
    assert words in error.sentence


def test_a_misspelt_role_or_builder_names_the_nearest() -> None:
    error = refusal("attributes/age/role", "quasi-identifer")
    assert "expected one of `identifier`, `quasi-identifier`" in error.sentence
    assert error.hint == "Did you mean `quasi-identifier`?"
    error = refusal("attributes/zip/hierarchy/kind", "interval")
    assert "expected one of `intervals`, `mask`" in error.sentence
    assert error.hint == "Did you mean `intervals`?"


def test_a_very_long_value_is_shown_short_and_on_one_line() -> None:
    assert refusal("title", ["x\n" * 50] * 1000).sentence.count("…") >= 1


def test_a_password_in_an_address_is_refused_and_not_repeated() -> None:
    for address in (
        "postgresql://me:s3cret@host/db",
        "postgresql://host/db?password=s3cret",
        "postgresql://host/db?sslpassword=s3cret",
        "postgresql://me:s3cret@[::1/db",
        "postgresql://me:s3cret/db@host",
        "postgresql://me:a/s3cret@host/db?sslmode=require",
        "postgresql:me:s3cret@host/db",
        "jdbc:postgresql://host/db?user=me&password=s3cret",
        "host=h user=me password=s3cret",
        "//me:s3cret@server/people.csv",
        r"\\me:s3cret@server\people.csv",
        "https://me:s3cret@example.org/people.csv",
    ):
        error = refusal("source/path", address)
        assert error.code == "plan.password"
        assert "s3cret" not in error.line
        assert "PGPASSWORD" in error.hint


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("metadata", "//me:s3cret@server/people.rda"),
        ("catalog", "host=h password=s3cret"),
        ("query", "SELECT * FROM dblink('host=h password=s3cret', 'SELECT 1') AS t(a int)"),
        ("query", "SELECT * FROM postgres_scan('postgresql://me:s3cret@h/d', 'a', 'b')"),
    ],
)
def test_a_password_in_other_keys_of_a_source_is_refused_too(key: str, text: str) -> None:
    with pytest.raises(InputError) as caught:
        read_source({"path": "people.sqlite", key: text}, "plan.toml")
    assert caught.value.code == "plan.password"
    assert caught.value.details["key"] == key
    assert "s3cret" not in caught.value.line


def test_a_value_of_a_column_of_passwords_is_none_of_an_address() -> None:
    query = "SELECT * FROM data WHERE password = 'x' AND note <> 'a token'"
    assert read_source({"path": "people.csv", "query": query}, "plan.toml").query == query


def test_an_address_of_a_ledger_is_refused_without_its_password() -> None:
    error = refusal("budget", {"ledger": "postgresql://me:s3cret@host/db"})
    assert error.code == "plan.invalid"
    assert "s3cret" not in error.line


def test_an_address_in_the_place_of_a_file_is_refused_without_its_password() -> None:
    with pytest.raises(InputError) as caught:
        local_path("postgresql://me:s3cret@host/db")
    assert caught.value.code == "path.address"
    assert "s3cret" not in caught.value.line


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://me@host:5432/db",
        "postgresql://host:5432/db?user=me@host",
        "postgresql://me@[::1]:5432/db?sslmode=verify-full",
        "postgresql:///db?host=/run/a:b&port=5433",
        "people:a@2024.csv.csv",
        "C:/data/people@home.csv",
        "my password list.csv",
    ],
)
def test_what_is_no_password_is_not_taken_for_one(address: str) -> None:
    assert not holds_password(address)
    assert without_password(address) == address


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("path", "oracle://host/db", "begins with `postgresql://`"),
        ("path", "POSTGRESQL://host/db", "begins with `postgresql://`"),
        ("table", " ", "a text that is not empty"),
        ("widths", [3, 0], "whole numbers of 1 or more"),
        ("columns", [{"name": "a", "start": 0, "width": 2}], "a whole number of 1 or more"),
        (
            "columns",
            [{"name": "a", "start": 1, "width": 2, "decimals": 2_000_000_000}],
            "a whole number from 0 to 100",
        ),
        ("columns", [{"name": "a", "start": 1}], "`width` is missing"),
        ("columns", [{"name": "a", "start": 1, "width": 1}] * 2, "a name of its own"),
    ],
)
def test_sources_that_make_no_sense_are_refused(key: str, value: object, expected: str) -> None:
    error = refusal(f"source/{key}", value)
    assert expected in error.sentence


def test_a_plan_names_the_language_of_the_pages_and_english_goes_without_saying() -> None:
    raw = changed("language", "de")
    plan = Plan.from_plain(raw, "p.toml")
    assert plan.language == "de"
    assert plan.as_plain()["language"] == "de"
    assert "language" not in Plan.from_plain(changed("language", "en"), "p.toml").as_plain()


def test_a_language_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(InputError, match=r"`language` is .*, expected one of `en`, `de`") as caught:
        Plan.from_plain(changed("language", "xx"), "p.toml")
    assert caught.value.code == "plan.invalid"


def test_a_title_has_an_end() -> None:
    with pytest.raises(InputError, match="expected at most 1,000 characters") as caught:
        Plan.from_plain({**GOOD, "title": "x" * 100_000}, "plan.toml")
    assert len(caught.value.sentence) < 200
    assert Plan.from_plain({**GOOD, "title": "x" * 1_000}, "plan.toml").title == "x" * 1_000
