"""Every catalogue is whole: nothing untranslated or fuzzy, the same placeholders, no ambiguity."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpdesk.core.language import ENGLISH, languages
from dpdesk.core.language.catalogue import FORMS, PAGES, TEXTS, WINDOW, frame_of, placeholders
from tests.tools.translations import FOLDER, ROOT, dead, faults, files_of, lacking, read

LANGUAGES = [code for code in languages() if code != ENGLISH]
PARTS = [
    (code, path.stem)
    for code in (*LANGUAGES, ENGLISH)
    for path in files_of(code, PAGES, TEXTS, WINDOW, FORMS)
]


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


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_message_of_the_program_has_an_entry_of_its_own(code: str) -> None:
    assert [(one.id, one.file, one.line) for one in lacking(code)] == []


@pytest.mark.parametrize("code", [*LANGUAGES, ENGLISH])
def test_no_entry_is_kept_that_the_program_does_not_say(code: str) -> None:
    assert dead(code) == []


@pytest.mark.parametrize("code", LANGUAGES)
def test_no_two_entries_are_of_one_message(code: str) -> None:
    """Else which of them speaks would be left to chance."""
    found: dict[object, list[object]] = {}
    for path in files_of(code, PAGES, TEXTS):
        for entry in read(code, path.stem):
            forms = (entry.id,) if isinstance(entry.id, str) else tuple(entry.id)
            if any(map(placeholders, forms)):
                key = tuple(map(frame_of, forms))
                found.setdefault(key, []).append((entry.id, entry.string))
    assert [twins for twins in found.values() if len(twins) > 1] == []


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
