"""Titles, axes and series of charts that a literal in the code names are said in German."""

from __future__ import annotations

import ast
from pathlib import Path

import dpdesk
from dpdesk.core.language import voice_of
from dpdesk.core.language.catalogue import FORMS, PAGES, TEXTS

PROGRAM = Path(dpdesk.__file__).parent
ROOMS = ("core", "engine", "app")
KINDS = ("Chart", "Series", "Axis")
SHOWN = ("question", "short")
ALIKE = frozenset({"Original"})
"""The same word in German."""


def literals(file: Path) -> set[str]:
    """What charts, axes and series in a file are called."""
    found: set[str] = set()
    for call in ast.walk(ast.parse(file.read_text("utf-8"))):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            continue
        name = call.func.id
        if name.endswith(KINDS) and name[:1].isupper():
            named = [one.value for one in call.keywords if one.arg in SHOWN]
            first = [] if name.endswith("Chart") else call.args[:1]
            texts = [one.value for one in (*named, *first) if isinstance(one, ast.Constant)]
            found |= {text for text in texts if isinstance(text, str) and text.strip()}
    return found


def test_charts_are_said_in_german() -> None:
    voice = voice_of("de", PAGES, TEXTS, FORMS)
    found = {
        text for room in ROOMS for file in (PROGRAM / room).rglob("*.py") for text in literals(file)
    }
    assert len(found) > 50
    assert {text for text in found - ALIKE if voice.known(text) is None} == set()
