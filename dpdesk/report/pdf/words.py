"""Texts with marks inside, as the paragraphs of the PDF library read them."""

from __future__ import annotations

from collections.abc import Iterable
from xml.sax.saxutils import escape

from dpdesk.report.page_tree import Node, folded
from dpdesk.report.pdf.faces import MISSING, MONO, covered, state_colour

_BLOCKS = frozenset({"p", "ul", "ol", "div", "dl", "table", "figure", "section", "details", "h3"})

_BLANKS = frozenset(" \t\r\n\f\v")
_STRONG = frozenset({"status", "badge"})


def wide(text: str) -> str:
    """The text as it is drawn: the library breaks lines at a thin space where that is forbidden."""
    return text.replace("\u2423", "_").replace("\u202f", "\u00a0")


class Glyphs:
    """Counts the characters that the fonts lack, each drawn as a replacement character."""

    def __init__(self) -> None:
        self.lacking = 0

    def drawable(self, text: str) -> str:
        """The text with characters that the fonts lack replaced; white space is folded."""
        text = wide(text)
        shown = folded(text) if text.strip() else " "
        if text[:1] in _BLANKS and shown[:1] != " ":
            shown = f" {shown}"
        if text[-1:] in _BLANKS and shown[-1:] != " ":
            shown = f"{shown} "
        known = covered()
        if all(ord(character) in known for character in shown):
            return shown
        self.lacking += sum(ord(character) not in known for character in shown)
        return "".join(c if ord(c) in known else MISSING for c in shown)


def marked_up(children: Iterable[Node | str], glyphs: Glyphs) -> str:
    """The inline content of an element, escaped, with its marks."""
    return "".join(_piece(child, glyphs) for child in children).strip()


def _piece(child: Node | str, glyphs: Glyphs) -> str:
    if isinstance(child, str):
        return escape(glyphs.drawable(child))
    inner = marked_up(child.children, glyphs)
    if child.tag == "code" or "value" in child.classes:
        if "value" not in child.classes:
            return f'<font face="{MONO}">{inner}</font>'
        return f'<font face="{MONO}" backColor="#ECEEF2">\u00a0{inner}\u00a0</font>'
    if child.tag == "span" and not child.classes.isdisjoint(_STRONG):
        inner = f"<b>{inner}</b>"
    colour = state_colour(child.classes)
    if colour is not None:
        return f'<font color="{colour.hexval().replace("0x", "#")}">{inner}</font>'
    if child.tag == "strong":
        return f"<b>{inner}</b><br/>"
    if child.tag in _BLOCKS:
        raise ValueError(f"<{child.tag}> stands inside a line of text")
    return inner
