"""Marks of readable text: names in backticks as code, and blanks at which no line may break."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dpdesk.core.language import Untranslated

if TYPE_CHECKING:
    from markupsafe import Markup

_QUOTED = re.compile(r"`([^`]+)`")
_TAG = re.compile(r"(<[^>]*>)")
_AS_IT_IS = ("<style", "<code", '<span class="value"')
_UNITS = (
    "%|×|rows?|people|persons?|edges?|cells?|tables?|bits?|bytes|units|UTC|"
    "Zeilen?|Person(?:en)?|Kanten?|Zellen?|Tabellen?|Bits?|Einheiten"
)
_TIES = (
    (re.compile(rf"(?<=\d) (?=(?:{_UNITS})(?![\w-]))"), "\u00a0"),
    (re.compile(r"(?<=[±≈≤≥]) (?=\d)"), "\u00a0"),
    (re.compile(r"(?<![\w])([εδρσk]|n|ℓ′?|S) = (?=[\d(])"), "\\1\u00a0=\u00a0"),
)


def marked(text: object) -> Markup | str:
    """A sentence in which what stands in backticks is code; what has no translation says so."""
    from markupsafe import Markup, escape

    words = str(text)
    shown: Markup | str = words
    if words.count("`") and words.count("`") % 2 == 0:
        pieces = _QUOTED.split(words)
        shown = Markup("").join(
            Markup("<code>{}</code>").format(piece) if place % 2 else escape(piece)
            for place, piece in enumerate(pieces)
        )
    if isinstance(text, Untranslated):
        return Markup('<span lang="en">{}</span>').format(shown)
    return shown


def tied(page: str) -> str:
    """The page with a blank that does not break between a number and its unit.

    Tags, styles, code and values of the data stay as they are.
    """
    pieces = _TAG.split(page)
    for place in range(0, len(pieces), 2):
        if place and pieces[place - 1].startswith(_AS_IT_IS):
            continue
        pieces[place] = tied_text(pieces[place])
    return "".join(pieces)


def tied_text(text: str) -> str:
    """A text with a blank that does not break between a number and its unit."""
    for pattern, replacement in _TIES:
        text = pattern.sub(replacement, text)
    return text
