"""Tables on paper: columns as wide as they need, headings on every page."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from reportlab.platypus import Flowable, Paragraph, Table, TableStyle

from dpdesk.report.page_tree import Node
from dpdesk.report.pdf.faces import BOLD, HAIRLINE, MONO, PLAIN, sized, width_of
from dpdesk.report.pdf.words import Glyphs, marked_up, wide

_PADDING = 8.0
_NARROWEST = 26.0
_MEASURED = 60
_WORD = 110.0
_SIZES = (8.0, 7.5, 7.0, 6.5, 6.0)
"""Points: the first at which no word has to be broken is taken."""


def table(node: Node, width: float, glyphs: Glyphs) -> Flowable | None:
    """A ``<table>`` in points of width; None when it has no row."""
    head = [_cells(row) for part in node.all("thead") for row in part.all("tr")]
    body = [_cells(row) for part in node.all("tbody") for row in part.all("tr")]
    if not body:
        return None
    rows = [*head, *body]
    columns = max(len(row) for row in rows)
    size = next((s for s in _SIZES if sum(_needed(rows, columns, s)[0]) <= width), _SIZES[-1])
    widths = _widths(rows, columns, width, size)
    drawn = [[_cell(cell, glyphs, size, head=True) for cell in row] for row in head]
    drawn += [[_cell(cell, glyphs, size, head=False) for cell in row] for row in body]
    filled = [row + [""] * (columns - len(row)) for row in drawn]
    made = Table(filled, colWidths=widths, repeatRows=len(head), hAlign="LEFT", splitInRow=1)
    made.setStyle(_look(len(head)))
    made.spaceAfter = 8
    return made


def _cells(row: Node) -> list[Node]:
    return [cell for cell in row.elements() if cell.tag in ("td", "th")]


def _font(cell: Node) -> str:
    """The widest font that a cell may be set in."""
    if cell.find("code") is not None or cell.find("span") is not None:
        return MONO
    return BOLD if cell.tag == "th" else PLAIN


def _cell(cell: Node, glyphs: Glyphs, size: float, *, head: bool) -> Paragraph:
    kind = {
        (True, True): "head-number",
        (True, False): "head",
        (False, True): "number",
        (False, False): "cell",
    }[head, "n" in cell.classes]
    text = marked_up([cell], glyphs)
    return Paragraph(text, sized(kind, size))


def _look(head: int) -> TableStyle:
    return TableStyle(
        [
            ("VALIGN", (0, 0), (-1, -1), "TOP"),
            ("LEFTPADDING", (0, 0), (-1, -1), 0),
            ("RIGHTPADDING", (0, 0), (-1, -1), _PADDING),
            ("TOPPADDING", (0, 0), (-1, -1), 2.5),
            ("BOTTOMPADDING", (0, 0), (-1, -1), 2.5),
            ("LINEBELOW", (0, 0), (-1, -1), 0.5, HAIRLINE),
            ("LINEBELOW", (0, max(head - 1, 0)), (-1, max(head - 1, 0)), 0.8, HAIRLINE),
        ]
    )


def _needed(
    rows: Sequence[Sequence[Node]], columns: int, size: float
) -> tuple[list[float], list[float]]:
    """The widths of the longest word, and of the longest text, of every column."""
    least, natural = [_NARROWEST] * columns, [_NARROWEST] * columns
    # The first rows stand for the others: cells of one column are alike.
    for row in rows[:_MEASURED]:
        for place, cell in enumerate(row):
            text, font = wide(cell.text()), _font(cell)
            words = [width_of(word, size, font) for word in text.split(" ")] or [0.0]
            least[place] = max(least[place], min(max(words) + _PADDING + 1, _WORD))
            natural[place] = max(natural[place], width_of(text, size, font) + _PADDING + 1)
    return least, natural


def _widths(rows: Sequence[Sequence[Node]], columns: int, width: float, size: float) -> list[float]:
    """Natural widths where they fit; else longest words first, the rest in proportion."""
    least, natural = _needed(rows, columns, size)
    spare = width - sum(natural)
    if spare >= 0:
        return natural
    room = width - sum(least)
    if room <= 0:
        return [width * share / sum(least) for share in least]
    wanted = [full - low for full, low in zip_longest(natural, least, fillvalue=0.0)]
    return [low + room * want / sum(wanted) for low, want in zip(least, wanted, strict=True)]
