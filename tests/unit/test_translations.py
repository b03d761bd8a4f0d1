"""Every catalogue is whole: nothing untranslated or fuzzy, the same placeholders, no ambiguity."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpdesk.core.language import languages, read_catalogue
from dpdesk.core.language.catalogue import FORMS, PAGES, TEXTS, WINDOW
from dpdesk.core.language.speaker import Voice
from dpdesk.core.language.templates import Template, placeholders
from tests.tools.translations import FOLDER, ROOT, faults, files_of, read

LANGUAGES = [code for code in languages() if code != "en"]
PARTS = [
    (code, path.stem) for code in LANGUAGES for path in files_of(code, PAGES, TEXTS, WINDOW, FORMS)
]
SAMPLES = {"int": ("7,654", "3"), "number": ("1,987.25", "0.5"), "name": ("qx", "zw v")}


def example(template: Template, place: int, phrase: str) -> str:
    """A sentence of the form of a template."""
    sentence = template.english
    for name, kind in set(placeholders(template.english)):
        value = phrase if kind == "phrase" else SAMPLES.get(kind, ("qx", "zw"))[place]
        sentence = sentence.replace(f"{{{name}:{kind}}}", value)
    return sentence


@pytest.fixture(scope="module", params=LANGUAGES)
def speaker(request: pytest.FixtureRequest) -> Voice:
    code = str(request.param)
    return Voice(read_catalogue(code, (PAGES, TEXTS)))


def test_there_is_a_language_besides_english_with_words_for_pages() -> None:
    assert ("de", PAGES) in PARTS


@pytest.mark.parametrize(("code", "part"), PARTS)
def test_a_catalogue_holds_every_message_translated_with_the_same_placeholders(
    code: str, part: str
) -> None:
    assert list(faults(code, part)) == []


@pytest.mark.parametrize("code", LANGUAGES)
def test_pages_and_sentences_do_not_contradict_each_other(code: str) -> None:
    said: dict[object, set[object]] = {}
    for path in files_of(code, PAGES, TEXTS):
        for entry in read(code, path.stem):
            if entry.id:
                said.setdefault(entry.id, set()).add(entry.string)
    assert [key for key, texts in said.items() if len(texts) > 1] == []


def test_a_sentence_of_every_template_is_taken_for_that_template(speaker: Voice) -> None:
    """Were another one as specific, which of them spoke would be left to chance."""
    wrong = []
    for template in speaker.templates:
        for place in range(2):
            found = speaker.matches(example(template, place, "5"))
            best = [one for one in found if one.weight == found[0].weight]
            if {shape(template)} != {shape(one) for one in best}:
                wrong.append((template.english, [one.english for one in found]))
    assert wrong == []


def shape(template: Template) -> tuple[str, str]:
    """A template whatever its placeholders are called."""
    names = dict.fromkeys(name for name, _ in placeholders(template.english))
    english, other = template.english, template.other
    for number, name in enumerate(names):
        english = re.sub(rf"\{{{name}:", f"{{{number}:", english)
        other = re.sub(rf"\{{{name}:", f"{{{number}:", other)
    return english, other


def test_the_files_are_in_the_folder_that_is_shipped() -> None:
    assert Path(FOLDER).is_relative_to(Path(FOLDER).parents[1] / "resources")


def reasons(path: Path, calls: frozenset[str]) -> Iterator[str]:
    """The templates that a module gives as reasons: arguments of these calls, its constants."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name in calls:
            for given in node.args:
                if isinstance(given, ast.Constant) and isinstance(given.value, str):
                    yield re.sub(r"\{(\w+)[^}]*\}", r"{\1}", given.value)


@pytest.mark.parametrize(
    ("module", "calls"),
    [
        ("release_check", frozenset({"fail", "msg"})),
        ("canonical", frozenset({"UnreadableJsonError", "msg"})),
    ],
)
@pytest.mark.parametrize("code", LANGUAGES)
def test_every_fault_of_the_files_of_a_release_has_words(
    code: str, module: str, calls: frozenset[str]
) -> None:
    known = {
        re.sub(r"\{(\w+)[^}]*\}", r"{\1}", entry.id)
        for path in files_of(code, TEXTS)
        for entry in read(code, path.stem)
        if isinstance(entry.id, str)
    }
    stated = set(reasons(ROOT / "dpdesk" / "io" / f"{module}.py", calls))
    assert len(stated) > 5
    assert stated - known == set()
