"""Marks of readable text: names in backticks as code, and blanks at which no line may break."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dpdesk.core.language import Untranslated
from dpdesk.core.shown import LONGEST_TEXT, shortened

if TYPE_CHECKING:
    from markupsafe import Markup

_QUOTED = re.compile(r"`([^`]+)`")
_TAG = re.compile(r"(<[^>]*>)")
_AS_IT_IS = ("<style", "<code", '<span class="value"')
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]"
)
_LETTERS = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff"
_RIGHT_TO_LEFT = re.compile(f"[{_LETTERS}]+(?: +[{_LETTERS}]+)*")
_APART = frozenset({"title", "style", "svg", "bdi"})
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
            Markup("<code>{}</code>").format(shortened(piece))
            if place % 2
            else escape(shortened(piece, LONGEST_TEXT))
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


def isolated(page: str) -> str:
    """The page, in which no value of the data turns the order of the words around it.

    Characters that show nothing, act on programs or turn the direction of what follows them are
    written as their numbers (as ``U+202E`` is elsewhere); those that join letters stay. Words that
    are written from right to left stand apart from the numbers and marks next to them, wherever
    elements may stand; drawings hold each text by itself.
    """
    page = _UNSEEN.sub(lambda found: rf"\u{ord(found[0]):04x}", page)
    if _RIGHT_TO_LEFT.search(page) is None:
        return page
    pieces, within = _TAG.split(page), ""
    for place, piece in enumerate(pieces):
        if place % 2:
            within = _within(piece, within)
        elif not within:
            pieces[place] = _RIGHT_TO_LEFT.sub(r"<bdi>\g<0></bdi>", piece)
    return "".join(pieces)


def _within(tag: str, within: str) -> str:
    """The element that a tag opens, or leaves open, in which no other elements may stand."""
    if within:
        return "" if tag == f"</{within}>" else within
    name = tag.strip("</>").partition(" ")[0]
    return name if name in _APART and not tag.startswith("</") else ""


def tied_text(text: str) -> str:
    """A text with a blank that does not break between a number and its unit."""
    for pattern, replacement in _TIES:
        text = pattern.sub(replacement, text)
    return text
