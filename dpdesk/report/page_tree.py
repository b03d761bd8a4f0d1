"""A page of ours as a tree: well-formed HTML without scripts, as the templates write it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

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
