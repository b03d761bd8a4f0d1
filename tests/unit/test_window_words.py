"""The words of the window in other languages: all there, and as usable as the English ones."""

from __future__ import annotations

import re

import pytest

from dpdesk.core.language import ENGLISH, languages
from dpdesk.core.language.catalogue import WINDOW
from tests.tools.messages import window_messages
from tests.tools.translations import ROOT, faults, read

OTHERS = [code for code in languages() if code != ENGLISH]
LETTERS = re.compile(r"&(?=[A-Za-z])")


def words(language: str) -> dict[str, str]:
    return {str(one.id): str(one.string) for one in read(language, WINDOW) if one.id}


@pytest.mark.parametrize("language", OTHERS)
def test_every_literal_has_an_entry_with_the_same_placeholders_and_blanks(language: str) -> None:
    assert list(faults(language, WINDOW)) == []


@pytest.mark.parametrize("language", OTHERS)
def test_nothing_is_kept_that_the_window_does_not_say(language: str) -> None:
    known = {found.id for found in window_messages(ROOT)}
    assert sorted(set(words(language)) - known) == []


@pytest.mark.parametrize("language", OTHERS)
def test_whoever_has_a_letter_after_alt_keeps_one(language: str) -> None:
    wrong = {
        english: other
        for english, other in words(language).items()
        if len(LETTERS.findall(english)) != len(LETTERS.findall(other))
    }
    assert wrong == {}


@pytest.mark.parametrize("language", OTHERS)
def test_what_asks_for_more_still_ends_with_dots(language: str) -> None:
    dotted = {k: v for k, v in words(language).items() if k.endswith("…") != v.endswith("…")}
    assert dotted == {}


@pytest.mark.parametrize("language", OTHERS)
def test_filters_of_file_dialogs_keep_their_endings(language: str) -> None:
    def endings(text: str) -> list[str]:
        return re.findall(r"\*(?:\.\w+)?|\{endings\}", text)

    filters = {k: v for k, v in words(language).items() if "(*" in k or "({endings}" in k}
    assert filters
    assert {k: v for k, v in filters.items() if endings(k) != endings(v)} == {}
