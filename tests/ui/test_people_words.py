"""Keys and trusted persons as texts, and what is wrong with forms about them."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpdesk.app.review.values import RevokedAs, StoredKey
from dpdesk.ui.windows.people_pages import (
    digits_problem,
    fingerprint_words,
    key_row,
    new_key_problem,
    rule_words,
    trust_row,
)
from tests.helpers.reviewing import BEN, NOON, TRUST

GOOD = "four words without sense"


def test_a_whole_fingerprint_is_shown_in_groups_of_four() -> None:
    groups = fingerprint_words(BEN.card).split(": ")[1].split(" ")
    assert len(groups) == 16
    assert {len(group) for group in groups} == {4}
    assert "".join(groups) == BEN.fingerprint


def test_a_damaged_key_says_so_with_its_file() -> None:
    row = key_row(StoredKey(Path("keys/abc.json"), None, "abc.json: is not a key file."))
    assert row == ("✕ damaged", "abc.json", "abc.json: is not a key file.")


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (RevokedAs.RETIRED, "– retired 2026-11-20: left"),
        (RevokedAs.COMPROMISED, "✕ compromised 2026-11-20: left"),
    ],
)
def test_a_revoked_key_tells_when_and_why(kind: RevokedAs, words: str) -> None:
    changed = TRUST.revoke(BEN.fingerprint, NOON, "left", kind).entry(BEN.fingerprint)
    assert changed is not None
    assert trust_row(changed)[-1] == words


def test_a_key_that_counts_says_so() -> None:
    entry = TRUST.entry(BEN.fingerprint)
    assert entry is not None
    assert trust_row(entry)[-1] == "✓ trusted"


@pytest.mark.parametrize(
    ("person", "first", "again", "part"),
    [
        (" ", GOOD, GOOD, "first and last name"),
        ("Anna Weber", "short", "short", "5 characters, expected at least 12"),
        ("Anna Weber", GOOD, GOOD + ".", "differ"),
    ],
)
def test_a_form_for_a_key_tells_what_it_lacks(
    person: str, first: str, again: str, part: str
) -> None:
    assert part in new_key_problem(person, first, again)


def test_a_complete_form_for_a_key_has_no_problem() -> None:
    assert new_key_problem("Anna Weber", GOOD, GOOD) == ""
    assert "12 characters" in rule_words()


@pytest.mark.parametrize(
    ("given", "part"),
    [("", ""), ("12 ab", "4 digits"), ("xyz", "0 to 9 and a to f"), (" ABCD" * 5, "")],
)
def test_digits_are_compared_only_when_there_are_enough_of_them(given: str, part: str) -> None:
    found = digits_problem(given)
    assert (part in found) if part else found == ""
