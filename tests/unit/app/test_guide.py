"""The guide is what the program says of itself: complete, true to its window, found by words."""

from __future__ import annotations

import re
from itertools import product

import pytest

from dpdesk.app.guide import (
    ATTACKERS,
    CHOOSER,
    GLOSSARY,
    READERS,
    TOPICS,
    GuidePage,
    found,
    guide_pages,
    knows_label,
    label,
    method_guide,
    proposals,
)
from dpdesk.core.language.catalogue import languages
from dpdesk.core.method_card import BLANK, Attacker, Reader
from dpdesk.core.resources import resource, resource_files
from dpdesk.engine.method import Method
from dpdesk.engine.methods.registered import default_registry

METHODS = tuple(default_registry())
LINK = re.compile(r"\]\(([^)]*)\)")
LABEL = re.compile(r"\{([^{}]+)\}")


def labels(text: str) -> list[str]:
    """Texts of the window that a page names, as written in English, in order of letters."""
    return sorted(" ".join(one.split()) for one in LABEL.findall(text))


def sources(language: str) -> dict[str, str]:
    files = resource_files(f"guide/{language}", ".md")
    return {entry.name: entry.read_text(encoding="utf-8") for entry in files}


def test_the_bundled_guide_is_the_one_that_the_registry_writes() -> None:
    """Write it again with ``python -m dpdesk.app.guide > resources/docs/methods.md``."""
    written = resource("docs/methods.md").read_text(encoding="utf-8")
    assert written == method_guide(default_registry())


def test_the_guide_names_every_key_of_every_method() -> None:
    guide = method_guide(default_registry())
    for method in METHODS:
        assert all(f"| `{parameter.key}`" in guide for parameter in method.parameters)


@pytest.mark.parametrize("method", METHODS, ids=lambda one: one.id)
def test_every_method_says_what_it_is_good_for_and_what_it_is_not(method: Method) -> None:
    assert method.card.unsaid == ()
    for part in ("protects", "leaves", "suits", "unfit", "corrections"):
        assert all(one.rstrip()[-1] in ".:)" for one in getattr(method.card, part))


def test_a_card_that_says_nothing_is_never_proposed_and_shows_what_is_missing() -> None:
    assert set(BLANK.unsaid) >= {"protects", "leaves", "readers", "attackers"}
    toy = type("Toy", (type(METHODS[0]),), {"card": BLANK})()
    topic = next(t.id for t in TOPICS if proposals([toy], t.id, Reader.PUBLIC, Attacker.INSIDER))
    for reader, attacker in product(Reader, Attacker):
        [only] = proposals([toy], topic, reader, attacker)
        assert not only.fits
        assert len(only.against) == 2
    card = next(page for page in guide_pages([toy], "en") if page.id == toy.id)
    assert card.text.count("The method does not say.") == 5


@pytest.mark.parametrize("language", languages())
def test_links_lead_to_pages_and_nowhere_else(language: str) -> None:
    pages = guide_pages(METHODS, language)
    known = {f"page:{page.id}" for page in pages} | {f"page:{CHOOSER}"}
    assert len({page.id for page in pages}) == len(pages)
    for page in pages:
        assert set(LINK.findall(page.text)) <= known, page.id


@pytest.mark.parametrize("language", languages())
def test_each_language_has_the_same_pages_steps_figures_and_labels(language: str) -> None:
    english, other = sources("en"), sources(language)
    assert set(english) <= set(other)
    for name, text in english.items():
        theirs = other[name]
        assert labels(text) == labels(theirs), name
        assert sorted(LINK.findall(text)) == sorted(LINK.findall(theirs)), name
        assert _shape(text) == _shape(theirs), name


def _shape(text: str) -> list[str]:
    """Headings, steps and points in order, without their words."""
    marks = (re.match(r"(#+|\d+\.|-|\|)\s", line) for line in text.splitlines())
    return [mark[1] for mark in marks if mark is not None]


def test_labels_in_pages_are_texts_of_the_window() -> None:
    for language in languages():
        if language == "en":
            continue
        for name, text in sources("en").items():
            for one in labels(text):
                assert knows_label(one, language), (name, one)
    assert label("Save plan", "en") == "Save plan"
    assert label("Save plan", "de") != "Save plan"


@pytest.mark.parametrize("language", [one for one in languages() if one != "en"])
def test_cards_are_in_the_language_of_the_reader(language: str) -> None:
    english = {page.id: page for page in guide_pages(METHODS, "en")}
    for page in guide_pages(METHODS, language):
        mine = set(_sentences(english[page.id])) & set(_sentences(page))
        assert not mine, (page.id, mine)


def _sentences(page: GuidePage) -> list[str]:
    """Points and paragraphs of some length that are neither names of publications nor commands."""
    lines = page.text.splitlines()
    for number, line in enumerate(lines):
        if line.startswith("## ") and line[3:] in ("Sources", "Quellen"):
            lines = lines[:number]
            break
    prose = (line for line in lines if not line.startswith("    "))
    return [line for line in prose if len(re.findall(r"[^\W\d_]{3,}", line)) > 4]


@pytest.mark.parametrize("topic", [one.id for one in TOPICS])
def test_every_answer_lists_the_methods_that_release_it_those_that_fit_first(topic: str) -> None:
    for reader, attacker in product(READERS, ATTACKERS):
        answers = proposals(METHODS, topic, reader, attacker)
        fitting = [one.fits for one in answers]
        assert fitting == sorted(fitting, reverse=True)
        for one in answers:
            card = one.method.card
            assert one.fits == (reader in card.readers and attacker in card.attackers)
    assert answers


def test_every_method_is_reached_by_some_answer() -> None:
    reached = {
        one.method.id
        for topic, reader, attacker in product((t.id for t in TOPICS), READERS, ATTACKERS)
        for one in proposals(METHODS, topic, reader, attacker)
        if one.fits
    }
    assert reached == {method.id for method in METHODS}


def test_only_what_spends_a_budget_protects_from_someone_who_knows_everyone_else() -> None:
    """Who is protected from someone who knows everything is protected from those who know less."""
    for method in METHODS:
        if Attacker.INSIDER in method.card.attackers:
            assert method.capabilities.spends, method.id
            assert method.card.attackers == frozenset(Attacker), method.id


def test_a_search_needs_all_words_and_puts_headings_first() -> None:
    pages = guide_pages(METHODS, "en")
    assert [hit.page for hit in found(pages, "  ")] == list(pages)
    assert found(pages, "zzyzx") == ()
    hits = found(pages, "LEDGER Budget")
    assert hits[0].page.id == "ledger"
    assert all("ledger" in hit.page.text.lower() for hit in hits)
    assert all("budget" in hit.page.text.lower() for hit in hits)
    assert all(hit.place for hit in hits)


def test_a_search_is_blind_to_case_and_accents() -> None:
    pages = guide_pages(METHODS, "de")
    folded = {hit.page.id for hit in found(pages, "prufen")}
    assert folded == {hit.page.id for hit in found(pages, "PRÜFEN")} != set()


def test_the_glossary_is_a_page_in_every_language() -> None:
    for language in languages():
        page = next(one for one in guide_pages(METHODS, language) if one.id == GLOSSARY)
        assert page.text.count("\n| ") > 20 or page.text.count("**") > 40
