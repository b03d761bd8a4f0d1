"""Names of persons, comments and times: what is taken, and what could deceive somebody."""

from __future__ import annotations

import sys
import unicodedata
from datetime import UTC, datetime, timedelta, timezone

import pytest

from dpdesk.core.errors import InputError
from dpdesk.project.looks import likeness, skeleton
from dpdesk.project.review.texts import (
    clean_person,
    fold_person,
    is_hash,
    is_person,
    parse_time,
    says_something,
    shown,
    text_fault,
    time_text,
)

TURNING = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")


@pytest.mark.parametrize(
    "name",
    [
        "Anna Weber",
        "José Ångström",
        "Анна Иванова",
        "O’Neil, M.",
        "李雷",
        "佐々木 のり子",
        "Reviewer 1",
    ],
)
def test_names_of_people_are_taken_as_they_are(name: str) -> None:
    assert clean_person(name) == name
    assert is_person(name)


def test_a_name_is_kept_in_one_form() -> None:
    assert clean_person("  Jose\u0301   Angel ") == "José Angel"
    assert not is_person("Jose\u0301 Angel")
    assert not is_person(" Anna")


@pytest.mark.parametrize(
    "name",
    [
        "",
        "12 34",
        "Anna\u200bWeber",  # zero width space
        "Anna\u202eWeber",  # turns the direction of writing
        "Anna\u034f Weber",  # an accent that nobody sees
        "An\u043da Weber",  # one Cyrillic letter
        "Ａnna",  # full width
        "\U0001d400nna",  # mathematical bold
        "Anna 😀",
        "\u0301Anna",
        "A" * 121,
        "Anna\x00",
        "\ud800nna",
        "Anna\u3164Weber",
        *(f"N{letter}ra Weber" for letter in "\u05e1\u101d\u12d0\U000104ea\U0001042c"),  # like o
        "E\u0627la Weber",  # like l
    ],
)
def test_names_that_deceive_or_cannot_be_shown_are_refused(name: str) -> None:
    with pytest.raises(InputError) as caught:
        clean_person(name)
    assert caught.value.code == "person.name"
    assert not is_person(name)


@pytest.mark.parametrize(
    ("one", "other"),
    [("Anna Weber", "ANNA  WEBER"), ("Straße", "STRASSE"), ("José", "JOSE\u0301")],
)
def test_capitals_spaces_and_forms_do_not_make_another_person(one: str, other: str) -> None:
    assert fold_person(one) == fold_person(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Pepep", "\u0420\u0435\u0440\u0435\u0440"),  # all Cyrillic
        ("NINA", "\u039d\u0399\u039d\u0391"),  # all Greek
        ("Alan", "AIan"),
        ("Nora", "N0ra"),
        ("Marn", "Mam"),
        ("Anna Wall", "Anna VVaǀǀ"),
        ("Anna Wall", "ꓮꓠꓠꓮ ꓪꓮꓡꓡ"),
        ("Anna Wall", "ᴀnnɑ Waʟl"),
        ("Kok", "Кок"),
        ("Otto Kok", "Отто Кок"),
        ("Kate Hope", "Κατε Ηορε"),
        ("Zoë Cook", "Zoё Соок"),
        ("Coo Bok", "Ⲥⲟⲟ Ⲃⲟⲕ"),
        ("Soo Uno", "Տօօ Սոօ"),
        ("Dave Lark", "ᎠᎪᏙᎬ ᏞᎪᎡᏦ"),
    ],
)
def test_names_that_look_alike_are_two_persons_with_one_look(one: str, other: str) -> None:
    assert fold_person(one) != fold_person(other)
    assert skeleton(one) == skeleton(other)


def test_names_that_differ_visibly_look_different() -> None:
    assert skeleton("Müller") != skeleton("Muller")
    assert skeleton("Ben") != skeleton("Clara")


def test_times_are_read_in_one_form_only() -> None:
    moment = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
    assert time_text(moment.astimezone(timezone(timedelta(hours=2)))) == "2026-11-20T09:30:00Z"
    assert parse_time("2026-11-20T09:30:00Z") == moment
    for text in (
        "2026-11-20T09:30:00",
        "2026-11-20 09:30:00Z",
        "2026-11-20T09:30:00+00:00",
        "2026-02-30T09:30:00Z",
        "2026-11-20T09:30:60Z",
        "２026-11-20T09:30:00Z",
        "2026-11-20T09:30:00Z\n",
        None,
        5,
    ):
        assert parse_time(text) is None
    with pytest.raises(ValueError, match="zone"):
        time_text(datetime(2026, 11, 20))


def test_hashes_are_small_hexadecimal_digits() -> None:
    assert is_hash("ab" * 32)
    for value in ("AB" * 32, "ab" * 31, "ab" * 32 + "\n", "٠" * 64, None, 3):
        assert not is_hash(value)


def test_comments_hold_what_a_reader_sees() -> None:
    assert text_fault("Two lines,\n\tand an accent: é 😀") == ""
    assert text_fault("a\nb", lines=False)
    for text in ("a\x07b", "a\u202eb", "a\ud800b", "a\u2028b", "a\rb", 5, None):
        assert text_fault(text)
    assert "longer" in text_fault("ab", 1)


def test_of_all_characters_those_are_refused_that_nobody_sees_or_that_turn_the_text() -> None:
    everything = [*map(chr, range(sys.maxunicode + 1))]
    refused = {char for char in everything if text_fault(char, lines=False)}
    turning = {char for char in everything if unicodedata.bidirectional(char) in TURNING}
    unseen = {char for char in everything if unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp")}
    assert refused == unseen | turning | {"\u200e", "\u200f", "\u061c"}
    assert {char for char in everything if text_fault(char)} == refused - {"\n", "\t"}


@pytest.mark.parametrize("comment", ["", "   ", "\u200b", "…", "\u3164", "--"])
def test_a_comment_without_a_letter_says_nothing(comment: str) -> None:
    assert not says_something(comment)


def test_shown_texts_fit_any_terminal() -> None:
    assert shown("a\x1b[31mb", 40) == "a\\x1b[31mb"
    assert len(shown("x" * 500)) == 80


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Anna Weber", "Anna. Weber"),
        ("Anna Weber", "AnnaWeber"),
        ("Anna-Maria Weber", "Anna Maria Weber"),
        ("José Ruiz", "Jose Ruiz"),
        ("A. B. Weber", "AB Weber"),
        ("Nora Alan", "Nora AIan"),
        ("Jörg Müller", "Joerg Mueller"),
        ("Jørgen Łuk", "Jorgen Luk"),
        ("Ægir Œuf", "Aegir Oeuf"),
        ("O'Neill", "O’Neill"),
        ("O'Neill", "O\u02bcNeill"),  # an apostrophe that Unicode counts as a letter
        ("Jose Ruiz", "Jo\u0282e Ruiz"),  # an s with a hook
        ("Jose Ruiz", "Jos\uab32 Ruiz"),  # an e of a black letter
    ],
)
def test_spellings_of_a_name_are_alike(one: str, other: str) -> None:
    assert likeness(one) == likeness(other)


def test_other_names_are_not_alike() -> None:
    assert len({likeness(name) for name in ("Anna Weber", "Anne Weber", "Ann Webera")}) == 3
