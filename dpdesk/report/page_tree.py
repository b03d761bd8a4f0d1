"""A page of ours as a tree: well-formed HTML without scripts, as the templates write it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from html.parser import HTMLParser

from dpdesk.core.messages import msg

_VOID = frozenset({"meta", "br", "hr", "img", "link"})


@dataclass
class Node:
    """An element: its tag, attributes, and children (elements and texts)."""

    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[Node | str] = field(default_factory=list)

    @property
    def classes(self) -> frozenset[str]:
        """The words of the ``class`` attribute."""
        return frozenset(self.attributes.get("class", "").split())

    def elements(self) -> Iterator[Node]:
        """The children that are elements."""
        return (child for child in self.children if isinstance(child, Node))

    def find(self, tag: str) -> Node | None:
        """The first element of this tag below, in document order; None when there is none."""
        return next(self.all(tag), None)

    def all(self, tag: str) -> Iterator[Node]:
        """All elements of this tag below, in document order."""
        for child in self.elements():
            if child.tag == tag:
                yield child
            yield from child.all(tag)

    def text(self) -> str:
        """All text below, with white space folded; blanks that do not break stay."""
        return folded("".join(self._texts()))

    def _texts(self) -> Iterator[str]:
        for child in self.children:
            if isinstance(child, str):
                yield child
            else:
                yield from child._texts()


def folded(text: str) -> str:
    """The text with one space for each run of white space where a line may break."""
    return _BLANKS.sub(" ", text).strip(" ")


_BLANKS = re.compile(r"[ \t\r\n\f\v]+")


def parse_page(page: bytes) -> Node:
    """The tree of a page in UTF-8. ValueError when its elements do not close as they opened."""
    reader = _Reader()
    reader.feed(page.decode("utf-8"))
    reader.close()
    if len(reader.open) != 1:
        raise ValueError(f"<{reader.open[-1].tag}> is not closed")
    return reader.open[0]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open = [Node("")]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(node)
        if tag not in _VOID:
            self.open.append(node)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(node)

    def handle_endtag(self, tag: str) -> None:
        if tag in _VOID:
            return
        if self.open[-1].tag != tag:
            raise ValueError(f"</{tag}> closes <{self.open[-1].tag}>")
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


# The content of one page inside another: what a page of ours may hold, and nothing else.


TAGS = frozenset(
    """section header h1 h2 h3 p ul ol li dl dt dd div span strong code bdi
    table caption thead tbody tr th td figure figcaption details summary
    svg title desc defs pattern g line rect path circle text""".split()  # noqa: SIM905
)
DRAWN = frozenset(
    """x y x1 y1 x2 y2 cx cy r d width height viewbox patternunits fill stroke stroke-width opacity
    stroke-dasharray text-anchor font-weight font-size font-family style xmlns role
    """.split()  # noqa: SIM905
)
WRITTEN = frozenset({"class", "scope", "id", "aria-labelledby", "lang"})
_SPELT = {"viewbox": "viewBox", "patternunits": "patternUnits"}


def content_of(page: bytes, prefix: str) -> str:
    """The content of a page as markup that can stand in another one.

    Elements and attributes that no page of ours has are refused (ValueError), so that nothing
    active comes in with a page from elsewhere. All ids get the prefix.
    """
    main = parse_page(page).find("main")
    if main is None:
        raise ValueError("the page has no content")
    return "".join(_markup(main, prefix))


def _markup(node: Node, prefix: str) -> Iterator[str]:
    for child in node.children:
        if isinstance(child, str):
            yield escape(child, quote=False)
            continue
        if child.tag not in TAGS:
            raise ValueError(f"a page holds <{child.tag}>, which cannot be taken over")
        yield f"<{child.tag}{''.join(_attributes(child, prefix))}>"
        yield from _markup(child, prefix)
        yield f"</{child.tag}>"


def _attributes(node: Node, prefix: str) -> Iterator[str]:
    for name, value in node.attributes.items():
        if name not in DRAWN and name not in WRITTEN:
            raise ValueError(f"<{node.tag}> has the attribute `{name}`, which cannot be taken over")
        if name == "id":
            value = f"{prefix}{value}"
        elif name == "aria-labelledby":
            value = " ".join(f"{prefix}{part}" for part in value.split())
        elif "url(" in value:
            if not value.replace("fill:", "", 1).startswith("url(#"):
                raise ValueError(f"<{node.tag}> refers to something outside the page")
            value = value.replace("url(#", f"url(#{prefix}")
        yield f' {_SPELT.get(name, name)}="{escape(value)}"'


# Whether a page can only be read: elements of ours, and nothing that runs or loads anything.
#
# A page whose words cannot be compared may still be opened in a browser. So it is read here by a
# grammar that is narrower than HTML (what a browser could take otherwise than we do is refused),
# and compared with lists of the elements and attributes that the templates write.


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
            yield msg(
                ("<{name} {attribute}> in a different spelling"), name=name, attribute=attribute
            )
        elif _LOADS.search(value.lower()) and known not in ("content", "class"):
            yield msg(
                "<{name} {attribute}> that refers to something outside the page",
                name=name,
                attribute=attribute,
            )
