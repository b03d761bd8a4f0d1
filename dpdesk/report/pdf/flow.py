"""The blocks of a page as the flow of a printed document."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from reportlab.platypus import (
    CondPageBreak,
    Flowable,
    KeepTogether,
    PageBreak,
    Paragraph,
    Spacer,
    Table,
    TableStyle,
)

from dpdesk.report.page_tree import Node
from dpdesk.report.pdf.drawing import Drawing
from dpdesk.report.pdf.faces import ACCENT, BOLD, SUNKEN, sized, state_colour, style, width_of
from dpdesk.report.pdf.tables import Rows, table
from dpdesk.report.pdf.words import Glyphs, marked_up, wide

_CARDS_A_ROW = 4
_CARD_AIR, _CARD_SIZES = 14.0, (12.0, 11.0, 10.0, 9.0, 8.0)
_BREAKS = re.compile(r"[ \t\r\n]+")
_FEW_WORDS, _MOST_KEPT = 80.0, 400.0
_SILENT = frozenset({"head", "style", "script", "title"})


class Heading(Paragraph):  # type: ignore[misc]
    """A heading that the outline of the document lists."""

    def __init__(self, text: str, plain: str, kind: str) -> None:
        super().__init__(text, style(kind))
        self.entry = plain


def kept_together(blocks: list[Flowable], width: float) -> list[Flowable]:
    """The blocks with headings taken into what must stay on one page after them.

    A heading stays with a picture, with a paragraph, and with the first rows of a table.
    """
    found: list[Flowable] = []
    waiting: list[Flowable] = []
    for place, block in enumerate(blocks):
        if _leads(block, blocks[place + 1] if place + 1 < len(blocks) else None, width):
            waiting.append(block)
            continue
        if isinstance(block, Picture):
            found.append(KeepTogether([*waiting, *block.parts]))
        elif isinstance(block, Table):
            found += [CondPageBreak(_opening(waiting, block, width)), *waiting, block]
        else:
            found.append(KeepTogether([*waiting, block]) if waiting else block)
        waiting = []
    return found + waiting


def _leads(block: Flowable, after: Flowable | None, width: float) -> bool:
    """Whether a block says what comes after it: a heading, or the few words before a table."""
    if not isinstance(block, Paragraph) or isinstance(after, PageBreak):
        return False
    if isinstance(block, Heading) or block.style.name == "summary":
        return True
    return isinstance(after, Rows) and _high(block, width) < _FEW_WORDS


def _opening(waiting: Sequence[Flowable], block: Table, width: float) -> float:
    """The height of what must be on one page of a table and of what leads to it."""
    first = block.opening if isinstance(block, Rows) else _high(block, width)
    return min(sum(_high(one, width) for one in waiting) + first, _MOST_KEPT)


def _high(block: Flowable, width: float) -> float:
    space = block.getSpaceBefore() + block.getSpaceAfter()
    return float(block.wrap(width, _MOST_KEPT)[1] + space)


class Picture(Spacer):  # type: ignore[misc]
    """What belongs on one page, before :func:`kept_together` has put it there."""

    def __init__(self, parts: list[Flowable]) -> None:
        super().__init__(0, 0)
        self.parts = parts


class Flow:
    """Turns a tree into flowables; ``glyphs`` counts what the fonts cannot draw."""

    def __init__(self, width: float) -> None:
        self.glyphs = Glyphs()
        self._width = width
        self._begun = False

    def of(self, node: Node) -> list[Flowable]:
        """All blocks below a node, in order."""
        return [block for child in node.elements() for block in self._block(child)]

    def _block(self, node: Node) -> Iterator[Flowable]:
        match node.tag:
            case tag if tag in _SILENT:
                return
            case "h1" | "h2" | "h3":
                kind = {"h1": "title"}.get(node.tag, node.tag)
                yield Heading(self._words(node), node.text(), kind)
            case "p":
                yield self._paragraph(node)
            case "ul" | "ol":
                for item in node.elements():
                    yield Paragraph(self._words(item), style("item"), bulletText="•")
            case "dl":
                yield self._cards(node)
            case "table":
                yield from self._table(node)
            case "figure":
                yield from self._figure(node)
            case "details":
                yield from self._details(node)
            case "header" if self._begun:  # a page inside another begins on a new one
                yield PageBreak()
                yield from self.of(node)
            case _:
                self._begun = True
                yield from self.of(node)

    def _words(self, node: Node) -> str:
        return marked_up(node.children, self.glyphs)

    def _paragraph(self, node: Node) -> Flowable:
        words = self._words(node)
        colour = state_colour(node.classes)
        if "claim" in node.classes:
            return _ruled(Paragraph(words, style("claim")), self._width)
        kind = next((kind for kind in ("small", "muted") if kind in node.classes), "body")
        if colour is not None:
            words = f'<b><font color="{colour.hexval().replace("0x", "#")}">{words}</font></b>'
        return Paragraph(words, style(kind))

    def _cards(self, node: Node) -> Flowable:
        """Headline figures, side by side."""
        cards: list[list[Flowable]] = []
        across = min(_CARDS_A_ROW, max(len(list(node.elements())), 1))
        figure = sized("card-value", self._fitting(node, self._width / across - _CARD_AIR))
        for card in node.elements():
            label, value = card.find("dt"), card.find("dd")
            assert label is not None
            assert value is not None
            cards.append(
                [
                    Paragraph(self._words(label), style("card-label")),
                    Paragraph(self._words(value), figure),
                ]
            )
        rows = [cards[start : start + across] for start in range(0, len(cards), across)]
        filled = [[*row, *[""] * (across - len(row))] for row in rows] or [[""]]
        made = Table(filled, colWidths=[self._width / across] * across, hAlign="LEFT")
        made.setStyle(_cards_look(rows))
        made.spaceBefore, made.spaceAfter = 6, 8
        return made

    def _fitting(self, node: Node, room: float) -> float:
        """The size of letters at which no figure of the cards has to be broken."""
        words = [word for value in node.all("dd") for word in _BREAKS.split(wide(value.text()))]
        return next(
            (s for s in _CARD_SIZES if all(width_of(w, s, BOLD) <= room for w in words)),
            _CARD_SIZES[-1],
        )

    def _table(self, node: Node) -> Iterator[Flowable]:
        made = table(node, self._width, self.glyphs)
        if made is not None:
            yield made

    def _figure(self, node: Node) -> Iterator[Flowable]:
        """Question, answer and picture on one page; the numbers after it."""
        caption, svg = node.find("figcaption"), node.find("svg")
        assert caption is not None
        assert svg is not None
        question = next(caption.elements())
        answer = [child for child in caption.children if child is not question]
        yield Picture(
            [
                Paragraph(self._words(question), style("caption")),
                Paragraph(marked_up(answer, self.glyphs), style("answer")),
                Drawing(svg, self._width),
                Spacer(0, 6),
            ]
        )
        for child in node.elements():
            if child is not caption and child.tag != "svg":
                yield from self._block(child)

    def _details(self, node: Node) -> Iterator[Flowable]:
        """What a page shows on demand is printed, under its summary."""
        for child in node.elements():
            if child.tag == "summary":
                yield Paragraph(self._words(child), style("summary"))
            elif child.tag != "caption":
                yield from self._block(child)


def _ruled(paragraph: Paragraph, width: float) -> Table:
    """The guarantee: a rule on its left, and it may go on on the next page."""
    made = Table([[paragraph]], colWidths=[width], hAlign="LEFT", splitInRow=1)
    made.setStyle(
        TableStyle(
            [
                ("VALIGN", (0, 0), (-1, -1), "TOP"),  # else what goes on never gets shorter
                ("LINEBEFORE", (0, 0), (0, -1), 3, ACCENT),
                ("LEFTPADDING", (0, 0), (-1, -1), 0),
                ("TOPPADDING", (0, 0), (-1, -1), 0),
                ("BOTTOMPADDING", (0, 0), (-1, -1), 0),
            ]
        )
    )
    made.spaceAfter = 6
    return made


def _cards_look(rows: Sequence[Sequence[object]]) -> TableStyle:
    shades = [
        ("BACKGROUND", (place, line), (place, line), SUNKEN)
        for line, row in enumerate(rows)
        for place in range(len(row))
    ]
    lines = ("INNERGRID", (0, 0), (-1, -1), 4, "white")
    return TableStyle([("VALIGN", (0, 0), (-1, -1), "TOP"), *shades, lines])
