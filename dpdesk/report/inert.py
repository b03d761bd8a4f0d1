"""Whether a page can only be read: elements of ours, and nothing that runs or loads anything.

A page whose words cannot be compared may still be opened in a browser. So it is read here by a
grammar that is narrower than HTML (what a browser could take otherwise than we do is refused), and
compared with lists of the elements and attributes that the templates write.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dpdesk.core.messages import msg
from dpdesk.report.embedding import DRAWN, TAGS, WRITTEN

_PROLOGUE = re.compile(r"<!DOCTYPE html>\s*(?=<html[ >])")
_TOKEN = re.compile(
    r"[^<]+|</(?P<end>[a-z][a-z0-9]*)>"
    r'|<(?P<start>[a-z][a-z0-9]*)(?P<attributes>(?:\s+[A-Za-z][A-Za-z0-9-]*="[^"<]*")*)\s*/?>'
)
_ATTRIBUTE = re.compile(r'([A-Za-z][A-Za-z0-9-]*)="([^"<]*)"')
_FRAME = frozenset({"html", "head", "meta", "title", "style", "body", "main"})
_META = frozenset({"charset", "name", "content"})
_SVG = "http://www.w3.org/2000/svg"
_LOADS = re.compile(r"url\(\s*(?!#)|image\(|image-set\(|src\(|@import|@font-face|expression|\\|<")


def active_part(page: bytes) -> str | None:
    """What of a page is more than text and drawings of ours, in a few words; None when nothing is.

    It never raises, whatever the bytes are.
    """
    try:
        text = page.decode("utf-8")
    except UnicodeDecodeError:
        return "bytes that are not UTF-8"
    opening = _PROLOGUE.match(text)
    if opening is None:
        return "another beginning than a page of this program"
    return next(_faults(text, opening.end()), None)


def _faults(text: str, place: int) -> Iterator[str]:
    styles = 0
    while place < len(text):
        token = _TOKEN.match(text, place)
        if token is None:
            yield msg("markup of another kind ({text!r})", text=text[place : place + 20])
            return
        place, name = token.end(), token["start"] or token["end"]
        if name is None:
            continue
        if name not in TAGS and name not in _FRAME:
            yield f"<{name}>"
        if token["start"] is None:
            continue
        yield from _attribute_faults(name, token["attributes"])
        if name == "style":
            styles += 1
            end = text.find("</style>", place)
            if end < 0 or styles > 1 or _LOADS.search(text[place:end].lower()):
                yield "a style that loads something"
                return
            place = end


def _attribute_faults(name: str, attributes: str) -> Iterator[str]:
    for attribute, value in _ATTRIBUTE.findall(attributes):
        known = attribute.lower()
        fits = known in WRITTEN or known in DRAWN or (name == "meta" and known in _META)
        if not fits or (known == "xmlns" and value != _SVG):
            yield f"<{name} {attribute}>"
        elif "&" in value and known == "style":
            yield msg("<{name} {attribute}> in another spelling", name=name, attribute=attribute)
        elif _LOADS.search(value.lower()) and known not in ("content", "class"):
            yield msg(
                "<{name} {attribute}> that refers to something outside the page",
                name=name,
                attribute=attribute,
            )
