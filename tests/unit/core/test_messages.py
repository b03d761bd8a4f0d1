"""Messages are texts that know their template: any name in them is said as it is."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpdesk.core.language import voice_of
from dpdesk.core.messages import Message, frame, msg

HOSTILE = "Q1. Income, `net` and 3 more: is it 5? {x} A“b”"
TEMPLATE = "{path}, line {line}: {found}."


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
    made = msg(TEMPLATE, path=HOSTILE, line=3, found=msg("found a jump to depth {depth}", depth=7))
    expected = f"{HOSTILE}, Zeile 3: Sprung auf Tiefe 7 gefunden."
    assert voice.say(made) == expected
    assert voice_of("en").say(made) == made


def test_a_message_in_a_message_is_said_too() -> None:
    inner = msg("column `{name}`", name=HOSTILE)
    outer = msg(TEMPLATE, path=inner, line=1, found="found no code")
    assert voice_of("de").say(outer) == f"Spalte `{HOSTILE}`, Zeile 1: kein Code gefunden."
