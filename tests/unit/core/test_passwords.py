"""Passwords in addresses are found, however the address is written and however long the text is."""

from __future__ import annotations

import pytest

from dpdesk.core.passwords import holds_password, without_password


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql://u:p@ss/w@h/db?x=1", "postgresql://u:…@h/db?x=1"),
        ("a title with postgresql://u:secret@h in it", "a title with postgresql://u:…@h in it"),
        ("host=h password=secret user=u", "host=h password=… user=u"),
        (f"postgresql://u:{'t' * 4_000}@h/db", "postgresql://u:…@h/db"),
        ("a plain title: 1 of 2", "a plain title: 1 of 2"),
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
