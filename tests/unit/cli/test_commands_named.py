"""Commands that sentences tell people to run are there."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import dpdesk
from dpdesk.cli.arguments import build_parser

NAMED = re.compile(r"`dpdesk ((?:[a-z]+ )*[a-z]+)")
SOURCES = sorted(Path(dpdesk.__file__).parent.rglob("*.py"))


def words_that_are_none(command: str) -> list[str]:
    """What is left of a command where the grammar knows no such action."""
    words, parser = command.split(), build_parser()
    while words:
        groups = [one for one in parser._actions if isinstance(one, argparse._SubParsersAction)]
        if not groups:
            return []  # what follows are its arguments
        if words[0] not in groups[0].choices:
            return words
        parser = groups[0].choices[words.pop(0)]
    return []


def test_every_command_in_a_sentence_can_be_run() -> None:
    joined = {path: re.sub(r'"\s*\n\s*f?"', "", path.read_text("utf-8")) for path in SOURCES}
    named = {found for text in joined.values() for found in NAMED.findall(text)}
    assert {"ledger restore", "review key card", "review key new"} <= named
    assert [command for command in sorted(named) if words_that_are_none(command)] == []
