"""Messages are texts that know their template: any name in them is said as it is."""

from __future__ import annotations

import ast
import pickle
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpdesk.core.language import voice_of
from dpdesk.core.language.catalogue import PAGES, TEXTS, read_catalogue
from dpdesk.core.language.templates import placeholders
from dpdesk.core.messages import Message, frame, msg

SENTENCES = re.compile(r"(?<=[.!?:;]) (?=\S)")
ROOT = Path(__file__).parents[3]
HOSTILE = "Q1. Income, `net` and 3 more: is it 5? {x} A“b”"
TEMPLATE = "{path}, line {line}: found a jump to depth {found}, expected at most depth {depth}."


def templates() -> Iterator[tuple[str, str]]:
    """Every template that the program makes a message of, and where."""
    for path in sorted((ROOT / "dpdesk").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            made = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            if not made or node.func.id not in ("msg", "counted"):
                continue
            for template in node.args:
                if isinstance(template, ast.Constant):
                    yield str(template.value), f"{path.relative_to(ROOT)}:{node.lineno}"


def in_order(parts: Sequence[str], entry: str) -> bool:
    """Whether the parts stand in the entry, one after the other."""
    start = 0
    for part in parts:
        start = entry.find(part, start)
        if start < 0:
            return False
        start += len(part)
    return True


@given(st.text(), st.integers(), st.text())
def test_a_message_is_the_text_that_formatting_gives(name: str, rows: int, other: str) -> None:
    made = msg("`{name}`: {rows:,} rows{{}}, {other!r:>4}", name=name, rows=rows, other=other)
    assert isinstance(made, Message)
    assert made == f"`{name}`: {rows:,} rows{{}}, {other!r:>4}"
    again = pickle.loads(pickle.dumps(made))
    assert (again, again.values) == (made, made.values)
    assert frame(again.template) == frame(made.template)


def test_a_message_without_one_of_its_values_is_an_error() -> None:
    with pytest.raises(KeyError):
        msg("{name} of {other}", name="x")


def test_names_that_look_like_sentences_are_said_as_they_are() -> None:
    voice = voice_of("de")
    made = msg(TEMPLATE, path=HOSTILE, line=3, found=7, depth=5)
    expected = f"{HOSTILE}, Zeile 3: Sprung auf Tiefe 7 gefunden, erwartet wird höchstens Tiefe 5."
    assert voice.say(made) == expected
    assert voice_of("en").say(made) == made


def test_a_message_in_a_message_is_said_too() -> None:
    inner = msg("column `{name}`", name=HOSTILE)
    outer = msg("{path}, line {line}: found no code.", path=inner, line=1)
    assert voice_of("de").say(outer) == f"Spalte `{HOSTILE}`, Zeile 1: kein Code gefunden."


def test_every_message_of_the_program_is_said_in_german_whatever_names_stand_in_it() -> None:
    """Those that are a part of an entry have their words in it, in order."""
    catalogue, voice = read_catalogue("de", (PAGES, TEXTS)), voice_of("de")
    entries = "\1".join(
        ["\0".join(one.frame) for one in catalogue.templates] + list(catalogue.plain)
    )
    lacking = []
    for template, where in templates():
        literals, names = frame(template)
        known = catalogue.framed.get(literals, ())
        if not known:
            for sentence in SENTENCES.split("\0".join(literals)):
                words = [
                    part.strip() for part in sentence.split("\0") if any(map(str.isalpha, part))
                ]
                if words and not any(in_order(words, one) for one in _around(entries, words)):
                    lacking.append((where, template))
            continue
        kinds = dict(zip(names, placeholders(known[0].english), strict=True))
        strict = {"int": "12", "number": "1.5", "phrase": "1"}
        values = {name: strict.get(kind, HOSTILE) for name, (_, kind) in kinds.items()}
        if voice._message(Message(_bare(literals, names), values)) is None:
            lacking.append((where, template))
    assert lacking == []


def _around(entries: str, parts: Sequence[str]) -> Iterator[str]:
    """The entries that hold the longest of the parts."""
    words = max(parts, key=len)
    place = entries.find(words)
    while place >= 0:
        end = entries.find("\1", place)
        end = len(entries) if end < 0 else end
        yield entries[entries.rfind("\1", 0, place) + 1 : end]
        place = entries.find(words, end)


def _bare(literals: tuple[str, ...], names: tuple[str, ...]) -> str:
    escaped = [literal.replace("{", "{{").replace("}", "}}") for literal in literals]
    fields = [f"{{{name}}}" for name in names]
    return "".join(part for pair in zip(escaped, [*fields, ""], strict=True) for part in pair)
