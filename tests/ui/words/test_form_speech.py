"""Sentences of the readers, as the window says them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest

from dpdesk.core.language import ENGLISH, voice_of
from dpdesk.core.language.catalogue import FORMS, PAGES, TEXTS
from dpdesk.core.messages import counted, joined, msg
from dpdesk.io import baskets, csvload, faults, sniff, transcode
from dpdesk.ui.words.spoken import in_window, set_controls
from tests.tools.translations import files_of, read

MODULES = (baskets, csvload, faults, sniff, transcode)
KEYS = re.compile(r"\[source\]|`(?:delimiter|encoding|decimal|quote|header|items|missing)\b")


def sentences() -> Iterator[str]:
    """Every text of the readers that names a key of a plan."""
    for module in MODULES:
        assert module.__file__ is not None
        tree = ast.parse(Path(module.__file__).read_text())
        docs = {
            ast.get_docstring(node, clean=False) for node in ast.walk(tree) if _documented(node)
        }
        texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
        for text in texts:
            if isinstance(text, str) and KEYS.search(text) and text not in docs:
                yield text


def pairs() -> dict[str, tuple[str, str]]:
    """For each text of one and of many, both of them."""
    found: dict[str, tuple[str, str]] = {}
    for module in MODULES:
        for node in ast.walk(ast.parse(Path(str(module.__file__)).read_text())):
            if not isinstance(node, ast.Call) or getattr(node.func, "id", "") != "counted":
                continue
            one, many = (str(each.value) for each in node.args if isinstance(each, ast.Constant))
            found |= {one: (one, many), many: (one, many)}
    return found


PAIRS = pairs()


def filled(template: str) -> str:
    """The message of a template, each value its own name or a number."""
    fields = [(name, form) for _, name, form, _ in Formatter().parse(template) if name]
    if not fields:
        return template
    values: dict[str, object] = {name: 7 if form else name for name, form in fields}
    if template in PAIRS:
        one, many = PAIRS[template]
        return counted(one, many, **{**values, "n": 1 if template == one else 7})
    return msg(template, **values)


def _documented(node: ast.AST) -> bool:
    return isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)


@pytest.mark.parametrize("sentence", sorted(set(sentences())))
def test_no_sentence_of_the_readers_speaks_of_a_plan_in_the_window(sentence: str) -> None:
    said = in_window(filled(sentence))
    assert not KEYS.search(sentence) or said != sentence
    assert "[source]" not in said
    assert not re.search(r"“(?:delimiter|encoding|decimal|quote|header|items|missing)\b", said), (
        said
    )


def test_the_beginning_of_a_sentence_stays_one() -> None:
    assert in_window("Name the `delimiter` under [source].") == "Choose the right “Delimiter”."


def test_names_and_values_stand_in_quotation_marks() -> None:
    assert in_window("`age` holds `4O`.") == "“age” holds “4O”."


@pytest.mark.parametrize(
    ("written", "typed"),
    [
        (
            msg("a list of {kind}{least}, such as [5, 10, 20]", kind="numbers", least=""),
            "a list of numbers, such as 5, 10, 20",
        ),
        (
            "a list of rising numbers for each level, such as [[18, 65], [65]]",
            "a list of rising numbers for each level, such as 18, 65; 65",
        ),
        ("For instance [1, 2, 4].", "For instance 1, 2, 4."),
        (msg('For instance format = "{form}".', form="dd/mm/yyyy"), "For instance dd/mm/yyyy."),
        (
            joined(["“x” is not a day.", msg('For instance format = "{form}".', form="yyyy")]),
            "“x” is not a day. For instance yyyy.",
        ),
    ],
)
def test_examples_stand_as_they_are_typed(written: str, typed: str) -> None:
    assert in_window(written) == typed


def test_brackets_of_values_stay() -> None:
    assert in_window("found `[18-65]` twice") == "found “[18-65]” twice"


def english(language: str, *parts: str) -> set[str]:
    """The English texts of the entries of some parts."""
    entries = [entry for path in files_of(language, *parts) for entry in read(language, path.stem)]
    return {
        text
        for one in entries
        if one.id
        for text in ((one.id,) if isinstance(one.id, str) else one.id)
    }


def test_every_language_names_the_same_controls() -> None:
    texts, forms = english("de", PAGES, TEXTS), english(ENGLISH, FORMS)
    assert forms - texts == set()
    assert english("de", FORMS) == forms


def test_what_is_said_of_forms_goes_before_what_is_said_of_plans() -> None:
    hint = "Name the `delimiter` under [source]."
    assert "`delimiter`" in voice_of("de").say(hint)
    assert "„Trennzeichen“" in voice_of("de", PAGES, TEXTS, FORMS).say(hint)


def test_missing_texts_are_named_in_the_fields_for_them() -> None:
    where = msg("{most:,} in column {name}", most=3, name="`a`")
    line, codes = "write `missing = [{list}]` under [source].", '"", "[98]"'
    found = msg("{codes} may stand for missing values; if so, " + line, codes="`#N/A`", list=codes)
    empty = msg(
        "Empty fields and missing values of the system ({where}) count as values here, since the "
        "plan lists missing texts without the empty one. If they are missing, " + line,
        where=where,
        list=codes,
    )
    assert in_window(found).endswith("; if so, name it under “Other missing codes”.")
    assert in_window(empty).endswith(
        "If they are missing, check “An empty field counts as missing”."
    )
    german = voice_of("de", PAGES, TEXTS, FORMS)
    assert german.say(found).endswith("nennen Sie sie unter „Weitere Fehlcodes“.")
    assert german.say(empty).endswith("kreuzen Sie „Leeres Feld gilt als fehlend“ an.")


@pytest.mark.usefixtures("qapp")
def test_keys_of_a_plan_are_said_as_the_labels_of_their_fields() -> None:
    sentence = msg("Give a larger `view_cells` for `{name}`.", name="top")
    set_controls({"view_cells": "Cells of a view"})
    try:
        assert in_window(sentence) == "Give a larger “Cells of a view” for “top”."
    finally:
        set_controls({})
    assert in_window(sentence) == "Give a larger “view_cells” for “top”."
