"""Tables on paper: columns as wide as they need, headings on every page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from reportlab.platypus import Paragraph, Table, TableStyle

from dpdesk.report.page_tree import Node, folded
from dpdesk.report.pdf.faces import BOLD, HAIRLINE, MONO, PLAIN, sized, width_of
from dpdesk.report.pdf.words import Glyphs, marked_up, wide

_PADDING = 8.0
_NARROWEST = 26.0
_MEASURED = 60
_WORDS = (190.0, 110.0)
"""Points: longer words may be broken; the shorter limit where the longer one does not fit."""
_SIZES = (8.0, 7.5, 7.0, 6.5, 6.0)
"""Points: the first at which no word has to be broken is taken."""
_READABLE = 3
"""Sizes that are tried so that no line has to be broken."""
_BREAKS = re.compile(r"[ \t\r\n]+")
_TALL = 250.0
_LONG = 150
_FEW, _SMALL, _LED = 8, 180.0, 90.0
_LAST = 3
"""Rows that a long table does not leave alone on its last sheet, or fewer."""


class Rows(Table):  # type: ignore[misc]
    """A table that says how high its head and its first rows are, all of them if they are few."""

    opening: float


def table(node: Node, width: float, glyphs: Glyphs) -> Rows | None:
    """A ``<table>`` in points of width; None when it has no row."""
    head = [_cells(row) for part in node.all("thead") for row in part.all("tr")]
    body = [_cells(row) for part in node.all("tbody") for row in part.all("tr")]
    if not body:
        return None
    rows = [*head, *body]
    columns = max(len(row) for row in rows)
    size, widths = _layout(rows, columns, width)
    drawn = [[_cell(cell, glyphs, size, head=True) for cell in row] for row in head]
    drawn += [[_cell(cell, glyphs, size, head=False) for cell in row] for row in body]
    filled = [row + [""] * (columns - len(row)) for row in drawn]
    made = Rows(
        filled,
        colWidths=widths,
        repeatRows=len(head),
        hAlign="LEFT",
        splitInRow=int(_any_tall(drawn, widths)),
    )
    made.setStyle(_look(len(head)))
    if len(body) > _FEW and not made.splitInRow:
        made.setStyle([("NOSPLIT", (0, -_LAST), (-1, -1))])
    made.spaceAfter = 8
    made.opening = _opening(filled, len(head), widths)
    return made


def _layout(
    rows: Sequence[Sequence[Node]], columns: int, width: float
) -> tuple[float, list[float]]:
    """The largest letters at which nothing has to be broken, else no word, and the widths."""
    for size in _SIZES[:_READABLE]:
        natural = _needed(rows, columns, size, width)[1]
        if sum(natural) <= width:
            return size, natural
    for longest in _WORDS:
        for size in _SIZES:
            if sum(_needed(rows, columns, size, longest)[0]) <= width:
                return size, _widths(rows, columns, width, size, longest)
    return _SIZES[-1], _widths(rows, columns, width, _SIZES[-1], _WORDS[-1])


def _any_tall(rows: Sequence[Sequence[Paragraph]], widths: Sequence[float]) -> bool:
    """Whether a row is too high to be kept on one page."""
    return any(
        cell.wrap(wide - _PADDING, _TALL)[1] > _TALL
        for row in rows
        for cell, wide in zip(row, widths, strict=False)
        if len(cell.text) > _LONG
    )


def _opening(rows: list[list[object]], head: int, widths: list[float]) -> float:
    """The height of the first rows, and of all where they are few."""
    made = Table(rows[: head + _FEW], colWidths=widths)
    made.setStyle(_look(head))
    whole = float(made.wrap(sum(widths), _TALL)[1])
    if len(rows) <= head + _FEW and whole <= _SMALL:
        return whole
    high = 0.0
    for place, row in enumerate(made._rowHeights):
        high += float(row)
        if place >= head and high >= _LED:
            break
    return high


def _cells(row: Node) -> list[Node]:
    return [cell for cell in row.elements() if cell.tag in ("td", "th")]


def _pieces(cell: Node, font: str) -> Iterator[tuple[str, str]]:
    """The texts of a cell with the fonts that they are set in."""
    for child in cell.children:
        if isinstance(child, str):
            yield wide(child), font
        elif "value" in child.classes:
            yield f"\u00a0{wide(child.text())}\u00a0", MONO
        else:
            yield from _pieces(child, MONO if child.tag == "code" else font)


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
    rows: Sequence[Sequence[Node]], columns: int, size: float, longest: float
) -> tuple[list[float], list[float]]:
    """The widths of the longest word, and of the longest text, of every column."""
    least, natural = [_NARROWEST] * columns, [_NARROWEST] * columns
    # The first rows stand for the others: cells of one column are alike.
    for row in rows[:_MEASURED]:
        for place, cell in enumerate(row):
            word, whole = _extent(cell, size)
            least[place] = max(least[place], min(word + _PADDING + 1, longest))
            natural[place] = max(natural[place], whole + _PADDING + 1)
    return least, natural


def _extent(cell: Node, size: float) -> tuple[float, float]:
    """The width of the longest word of a cell, and of its whole text."""
    pieces = list(_pieces(cell, BOLD if cell.tag == "th" else PLAIN))
    word = max(
        (width_of(word, size, font) for text, font in pieces for word in _BREAKS.split(text)),
        default=0.0,
    )
    joined = width_of("00", size) if len(pieces) > 1 else 0.0  # a comma after a name
    return word + joined, sum(width_of(folded(text), size, font) for text, font in pieces) + joined


def _widths(
    rows: Sequence[Sequence[Node]], columns: int, width: float, size: float, longest: float
) -> list[float]:
    """Natural widths where they fit; else longest words first, the rest in proportion."""
    least, natural = _needed(rows, columns, size, longest)
    spare = width - sum(natural)
    if spare >= 0:
        return natural
    room = width - sum(least)
    if room <= 0:
        return [width * share / sum(least) for share in least]
    wanted = [full - low for full, low in zip_longest(natural, least, fillvalue=0.0)]
    return [low + room * want / sum(wanted) for low, want in zip(least, wanted, strict=True)]
