"""Passwords in addresses are found, however the address is written and however long the text is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpdesk.core import passwords
from dpdesk.core.passwords import holds_password, without_password, without_those_of


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql://u:p@ss/w@h/db?x=1", "postgresql://u:…@h/db?x=1"),
        ("a title with postgresql://u:secret@h in it", "a title with postgresql://u:…@h in it"),
        ("host=h password=secret user=u", "host=h password=… user=u"),
        (f"postgresql://u:{'t' * 4_000}@h/db", "postgresql://u:…@h/db"),
        ("a plain title: 1 of 2", "a plain title: 1 of 2"),
        ("host=h password=' a b' user=u", "host=h password=… user=u"),
        ("DSN=x;PWD={a;b};X=1", "DSN=x;PWD=…;X=1"),
        ("host=h,password=secret", "host=h,password=…"),
        ("PGPASSWORD=secret psql", "PGPASSWORD=… psql"),
        ('{"password": "secret"}', '{"password": …}'),
        ("postgresql://u%3Asecret@h/d", "postgresql://u:…@h/d"),
        ("postgresql%3A%2F%2Fu%3Asecret%40h", "postgresql://u:…@h"),
        ("postgresql://h/d?p%61ssword=secret", "postgresql://h/d?password=…"),
        (
            "postgresql://h/d?options=-c%2520password%253Dsecret",
            "postgresql://h/d?options=-c password=…",
        ),
        ("postgresql://u\uff1asecret@h/d", "postgresql://u:…@h/d"),
        ("postgresql://u:a?b=secret@h/d", "postgresql://u:…@h/d"),
        ("postgresql://u@h:secret/d", "postgresql://u@h:…/d"),
        ("u:secret@h:5432/d", "u:…@h:5432/d"),
        ("h:5432:d:u:secret", "h:5432:d:u:…"),
        ("https://h/people.csv?sig=secret&x=1", "https://h/people.csv?sig=…&x=1"),
        ("https://h/people.csv?X-Amz-Signature=secret", "https://h/people.csv?X-Amz-Signature=…"),
        ("postgresql://h:1,k:2/d?user=a&port=5,6", "postgresql://h:1,k:2/d?user=a&port=5,6"),
        ("postgresql://%2Ftmp%2Fx:7/d?passfile=/x", "postgresql://%2Ftmp%2Fx:7/d?passfile=/x"),
        ('{"password":"secret"}', '{"password":…}'),
        ("user:u password:secret", "user:u password:…"),
        ("'password'='secret'", "'password'=…"),
        ("password => secret x", "password => … x"),
        ("password := secret", "password := …"),
        ("password.value=secret", "password.value=…"),
        ("pass\u00adword\u200b=secret", "password=…"),
        ("password=se\\ cret user=x", "password=… user=x"),
        ('password=""secret"" user=x', "password=… user=x"),
        ("run --password secret x", "run --password … x"),
        ("AccountName=x;AccountKey=secret==", "AccountName=x;AccountKey=…"),
        ("x-api-key=secret", "x-api-key=…"),
        ("wachtwoord=secret", "wachtwoord=…"),
        ("Kennwort: secret", "Kennwort: …"),
        ("Authorization: Basic c2VjcmV0", "Authorization: Basic …"),
        ("u:secret@localhost", "u:…@localhost"),
        ("u:secret@h.example.org x", "u:…@h.example.org x"),
        ("scott/secret@h:1521/x", "scott/…@h:1521/x"),
        ("mysql://u/secret@h", "mysql://u/…@h"),
        ("https://secret@h/x.csv", "https://…@h/x.csv"),
        ("https://h/a@2x.png", "https://h/a@2x.png"),
        ("postgresql://u@h/d", "postgresql://u@h/d"),
        ("postgresql://secret:5432/d", "postgresql://secret:5432/d"),
        ("mailto:anna@example.org", "mailto:anna@example.org"),
        ("SELECT pw FROM people WHERE pw = 3", "SELECT pw FROM people WHERE pw = 3"),
        ("Passengers: 300, and compass: 4", "Passengers: 300, and compass: 4"),
        ("folder/name@2x.csv", "folder/name@2x.csv"),
        ("C:\\data\\people.csv", "C:\\data\\people.csv"),
        ("from 10:30 on, at a/b", "from 10:30 on, at a/b"),
        ("people%20of%20100%25.csv", "people%20of%20100%25.csv"),
        ("compass: north", "compass: north"),
        ("/data/\\\\u:secret@h\\share\\d.csv", "/data/\\\\u:…@h\\share\\d.csv"),
    ],
)
def test_a_password_is_replaced_and_nothing_else(text: str, shown: str) -> None:
    assert without_password(text) == shown
    assert holds_password(text) is (text != shown)


def test_a_password_that_the_cut_goes_through_is_left_out() -> None:
    text = f"{'x' * 9_970} postgresql://u:secret{'s' * 100}@h"
    assert without_password(text).endswith(" postgresql://u:…")
    assert "secret" not in without_password(text)


@pytest.mark.parametrize(
    "text",
    ["x" * 10**7, "ab:" * 10**6, "ab:" * 10**6 + "?x=@", "pass " * 10**6, "//" + "a:" * 10**6],
    ids=["letters", "schemes", "settings", "words", "colons"],
)
def test_a_long_text_is_looked_through_only_as_far_as_an_address_can_reach(text: str) -> None:
    assert len(without_password(text)) <= 10_001
    assert not holds_password(text)


def test_a_password_is_taken_out_of_what_repeats_it_as_a_path() -> None:
    given = ["run", "postgresql:///u:secret@h/d", "--out", "x"]
    said = "/data/postgresql:/u:secret@h/d: there is no such file, x is free."
    assert without_those_of(given, said) == (
        "/data/postgresql:///u:…@h/d: there is no such file, x is free."
    )
    assert without_those_of(["run", "a.csv"], said) == said


WORDS = ("password", "--pass", "--password", "authorization", "Basic", "u", "h", "1", "csv", "://")
PIECES = st.sampled_from([*WORDS, *"@:=%/?&.-\"'{} \t\n*", "//", "%3A", "%40", "%2F"])


@given(st.lists(PIECES, max_size=12).map("".join))
def test_a_text_without_the_signs_of_a_password_is_one_in_which_no_pattern_finds_any(
    text: str,
) -> None:
    bare = passwords._SIGNS.sub("", text)
    while passwords._SIGNS.search(bare):  # what is left may stand together as another one
        bare = passwords._SIGNS.sub("", bare)
    patterns = (*passwords._PATTERNS, passwords._SLASHED, passwords._OWNED)
    assert passwords._hidden(bare, patterns) == bare == without_password(bare)
