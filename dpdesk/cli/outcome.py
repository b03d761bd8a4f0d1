"""What a command has to say."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Outcome:
    """What a command has to say.

    ``text`` is for people, ``json`` replaces it with ``--json``; ``complaints`` go to stderr, the
    last one being the sentence of an exit code that is not 0. ``kept`` says that the command left
    something behind that must stay even when nobody can read the text.
    """

    text: str
    json: object = None
    code: int = 0
    complaints: tuple[str, ...] = ()
    kept: bool = False
