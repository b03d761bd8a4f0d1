"""The blocks of a page as the flow of a printed document."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from io import BytesIO
from itertools import groupby, zip_longest
from xml.sax.saxutils import escape

from reportlab import rl_config
from reportlab.lib.colors import Color, HexColor
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas
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

from dpdesk.core.resources import resource
from dpdesk.report.page_tree import Node, folded

# Fonts, colours and paragraph styles of a page on paper.

rl_config.useA85 = 0  # bytes as they are: as text they take a quarter more, and long to write


PLAIN, BOLD, MONO = "DejaVuSans", "DejaVuSans-Bold", "DejaVuSansMono"
MISSING = "\ufffd"

TEXT, MUTED, HAIRLINE = HexColor("#1B1F24"), HexColor("#59616D"), HexColor("#D5D9E0")
SUNKEN, ACCENT = HexColor("#ECEEF2"), HexColor("#1F5FA8")
_CAUTION = HexColor("#9A6700")
_STATES = {"ok": ACCENT, "fail": HexColor("#8C1D18"), "caution": _CAUTION, "badge": _CAUTION}


def state_colour(classes: frozenset[str]) -> Color | None:
    """The colour of a status, by the classes of its element; None when it is no status."""
    return next((_STATES[name] for name in sorted(classes) if name in _STATES), None)


@cache
def register_fonts() -> None:
    """Make the bundled fonts known; a PDF then holds the characters of them that it uses."""
    for name in (PLAIN, BOLD, MONO):
        data = BytesIO(resource(f"fonts/{name}.ttf").read_bytes())
        pdfmetrics.registerFont(TTFont(name, data))
    pdfmetrics.registerFontFamily(PLAIN, normal=PLAIN, bold=BOLD, italic=PLAIN, boldItalic=BOLD)
    pdfmetrics.registerFontFamily(MONO, normal=MONO, bold=MONO, italic=MONO, boldItalic=MONO)


@cache
def covered() -> frozenset[int]:
    """The code points that the text font can draw."""
    register_fonts()
    return frozenset(pdfmetrics.getFont(PLAIN).face.charToGlyph)


def width_of(text: str, size: float, font: str = PLAIN) -> float:
    """The width of a text in points."""
    register_fonts()
    return float(pdfmetrics.stringWidth(text, font, size))


@cache
def style(name: str) -> ParagraphStyle:
    """The style of a kind of paragraph, such as ``body``, ``title``, ``h2`` or ``cell``."""
    register_fonts()
    return ParagraphStyle(name, **(_COMMON | _STYLES[name]))


@cache
def sized(name: str, size: float) -> ParagraphStyle:
    """The style of a kind of paragraph with its letters this many points high."""
    known = style(name)
    share = size / known.fontSize
    return ParagraphStyle(
        f"{name}-{size}", parent=known, fontSize=size, leading=known.leading * share
    )


_COMMON: dict[str, object] = {
    "fontName": PLAIN,
    "fontSize": 9.5,
    "leading": 13.5,
    "textColor": TEXT,
    "spaceAfter": 5,
    "splitLongWords": 1,
}
_STYLES: dict[str, dict[str, object]] = {
    "body": {},
    "small": {"fontSize": 8, "leading": 11, "textColor": MUTED},
    "muted": {"textColor": MUTED},
    "title": {"fontName": BOLD, "fontSize": 18, "leading": 23, "spaceAfter": 6},
    "h2": {"fontName": BOLD, "fontSize": 13, "leading": 17, "spaceBefore": 14},
    "h3": {"fontName": BOLD, "fontSize": 10, "leading": 14, "spaceBefore": 8},
    "caption": {"fontName": BOLD, "fontSize": 10, "spaceBefore": 6},
    "answer": {},
    "summary": {
        "fontSize": 9,
        "leading": 12,
        "textColor": MUTED,
        "spaceBefore": 4,
    },
    "claim": {
        "fontSize": 10.5,
        "leading": 15,
        "leftIndent": 10,
        "borderPadding": (2, 0, 2, 8),
        "spaceBefore": 6,
        "spaceAfter": 10,
    },
    "item": {"leftIndent": 12, "bulletIndent": 2, "spaceAfter": 3},
    "cell": {"fontSize": 8, "leading": 10.5, "spaceAfter": 0},
    "number": {"fontSize": 8, "leading": 10.5, "spaceAfter": 0, "alignment": 2},
    "head": {"fontName": BOLD, "fontSize": 8, "leading": 10.5, "spaceAfter": 0, "textColor": MUTED},
    "head-number": {
        "fontName": BOLD,
        "fontSize": 8,
        "leading": 10.5,
        "spaceAfter": 0,
        "textColor": MUTED,
        "alignment": 2,
    },
    "card-label": {"fontSize": 7.5, "leading": 10, "spaceAfter": 0, "textColor": MUTED},
    "card-value": {"fontName": BOLD, "fontSize": 12, "leading": 16, "spaceAfter": 0},
}


# A chart on paper: the SVG of the report, drawn with the operators of PDF.


_VARIABLE = re.compile(r"var\(--[a-z0-9]+,(#[0-9A-Fa-f]{6})\)")
_STEP = re.compile(r"([MmLlHhVvZz])([^MmLlHhVvZz]*)")
_NUMBER = re.compile(r"-?\d+\.?\d*")
_SIZE = 12.0
_TILE = 6.0
_UNSEEN = ("title", "desc", "defs")
_FILLED, _STROKED = 0, 1
_SHIFTS = {"start": 0.0, "middle": 0.5, "end": 1.0}


class Drawing(Flowable):  # type: ignore[misc]
    """An ``<svg>`` element of a page, as wide as the text.

    It knows what :mod:`dpdesk.report.svg_canvas` and its users write; ValueError for other
    elements, so that no part of a chart is left out silently.
    """

    def __init__(self, svg: Node, width: float) -> None:
        super().__init__()
        _, _, self._units, self._units_high = map(float, svg.attributes["viewbox"].split())
        self.width, self.height = width, self._units_high * width / self._units
        self._svg = svg
        self._patterns = {node.attributes["id"]: node for node in svg.all("pattern")}

    def wrap(self, available: float, high: float) -> tuple[float, float]:
        """The room that the drawing takes."""
        return self.width, self.height

    def draw(self) -> None:
        """Draw on the canvas of the document."""
        register_fonts()
        canvas: Canvas = self.canv
        canvas.saveState()
        canvas.translate(0, self.height)
        canvas.scale(self.width / self._units, -self.width / self._units)
        drawn = (node for node in self._svg.elements() if node.tag not in _UNSEEN)
        for dot, nodes in groupby(drawn, _dot):
            if dot is None:
                for node in nodes:
                    self._draw(canvas, node)
            else:
                _draw_dots(canvas, dot, nodes)
        canvas.restoreState()

    def _draw(self, canvas: Canvas, node: Node) -> None:
        canvas.saveState()
        match node.tag:
            case "line":
                self._line(canvas, node)
            case "text":
                _text(canvas, node)
            case "rect" | "circle" | "path":
                self._shape(canvas, node)
            case _:
                raise ValueError(f"a chart holds <{node.tag}>, which cannot be printed")
        canvas.restoreState()

    def _line(self, canvas: Canvas, node: Node) -> None:
        _pen(canvas, node)
        x1, y1, x2, y2 = (float(node.attributes[key]) for key in ("x1", "y1", "x2", "y2"))
        canvas.line(x1, y1, x2, y2)

    def _shape(self, canvas: Canvas, node: Node) -> None:
        look = _presentation(node)
        fill = look.get("fill", "#000000")
        stroked = _pen(canvas, node)
        if fill.startswith("url(#"):
            self._tiled(canvas, node, self._patterns[fill[5:-1]])
            fill = "none"
        if fill != "none":
            canvas.setFillColor(HexColor(fill), alpha=float(look.get("opacity", 1)))
        canvas.drawPath(_outline(canvas, node), stroke=int(stroked), fill=int(fill != "none"))

    def _tiled(self, canvas: Canvas, node: Node, pattern: Node) -> None:
        """Fill a rectangle with the tiles of a pattern."""
        x, y, width, height = _box(node)
        if width <= 0 or height <= 0:
            return
        canvas.saveState()
        clip = canvas.beginPath()
        clip.rect(x, y, width, height)
        canvas.clipPath(clip, stroke=0, fill=0)
        for left, top in _tiles(x, y, width, height):
            canvas.saveState()
            canvas.translate(left, top)
            for part in pattern.elements():
                self._draw(canvas, part)
            canvas.restoreState()
        canvas.restoreState()


def _tiles(x: float, y: float, width: float, height: float) -> Iterator[tuple[float, float]]:
    """Corners of the tiles of one grid for the whole drawing that touch a rectangle."""
    for row in range(int(y // _TILE), int((y + height) // _TILE) + 1):
        for column in range(int(x // _TILE), int((x + width) // _TILE) + 1):
            yield column * _TILE, row * _TILE


def _presentation(node: Node) -> dict[str, str]:
    """The presentation of an element: its attributes, and its style, which goes before."""
    look = dict(node.attributes)
    for part in node.attributes.get("style", "").split(";"):
        name, found, value = part.partition(":")
        if found:
            look[name.strip()] = _VARIABLE.sub(r"\1", value.strip())
    return look


def _pen(canvas: Canvas, node: Node) -> bool:
    """Set the pen; whether there is anything to draw with it."""
    look = _presentation(node)
    stroke = look.get("stroke", "none")
    if stroke == "none":
        return False
    canvas.setStrokeColor(HexColor(stroke))
    canvas.setLineWidth(float(look.get("stroke-width", "1")))
    dashes = look.get("stroke-dasharray", "none")
    if dashes != "none" and dashes:
        canvas.setDash([float(size) for size in _NUMBER.findall(dashes)])
    return True


def _box(node: Node) -> tuple[float, float, float, float]:
    given = node.attributes
    return (
        float(given.get("x", 0)),
        float(given.get("y", 0)),
        float(given["width"]),
        float(given["height"]),
    )


def _dot(node: Node) -> tuple[float, str, float] | None:
    """Radius, colour and opacity of a disc without an outline; None for anything else."""
    if node.tag != "circle":
        return None
    look = _presentation(node)
    fill = look.get("fill", "none")
    if not fill.startswith("#") or look.get("stroke", "none") != "none":
        return None
    return float(node.attributes["r"]), fill, float(look.get("opacity", 1))


def _draw_dots(canvas: Canvas, dot: tuple[float, str, float], nodes: Iterable[Node]) -> None:
    """Discs of one look: marks of a round pen that does not move, since there may be thousands."""
    radius, colour, opacity = dot
    canvas.saveState()
    canvas.setStrokeColor(HexColor(colour), alpha=opacity)
    canvas.setLineCap(1)
    canvas.setLineWidth(2 * radius)
    for node in nodes:
        x, y = float(node.attributes["cx"]), float(node.attributes["cy"])
        canvas.line(x, y, x, y)
    canvas.restoreState()


def _outline(canvas: Canvas, node: Node) -> object:
    path = canvas.beginPath()
    if node.tag == "rect":
        path.rect(*_box(node))
    elif node.tag == "circle":
        path.circle(*(float(node.attributes[key]) for key in ("cx", "cy", "r")))
    else:
        for kind, (x, y) in points(node.attributes["d"]):
            (path.moveTo if kind == "M" else path.lineTo)(x, y)
        if node.attributes["d"].rstrip()[-1:] in "zZ":
            path.close()
    return path


def points(data: str) -> Iterator[tuple[str, tuple[float, float]]]:
    """The corners of path data made of straight lines, each after ``"M"`` or ``"L"``."""
    x = y = 0.0
    for letter, rest in _STEP.findall(data):
        numbers = [float(found) for found in _NUMBER.findall(rest)]
        if letter in "Zz":
            continue
        if letter in "Hh":
            places = [(value + x * (letter == "h"), y) for value in numbers]
        elif letter in "Vv":
            places = [(x, value + y * (letter == "v")) for value in numbers]
        else:
            places = list(zip(numbers[::2], numbers[1::2], strict=True))
        for place, (next_x, next_y) in enumerate(places):
            relative = letter in "lm"
            x, y = (x + next_x, y + next_y) if relative else (next_x, next_y)
            yield ("M" if letter in "Mm" and place == 0 else "L"), (x, y)


def _text(canvas: Canvas, node: Node) -> None:
    look = _presentation(node)
    font = BOLD if look.get("font-weight") == "600" else PLAIN
    size = float(look.get("font-size", _SIZE))
    text = node.text()
    x, y = float(look["x"]), float(look["y"])
    canvas.translate(x, y)
    canvas.scale(1, -1)
    left = -width_of(text, size, font) * _SHIFTS[look.get("text-anchor", "start")]
    canvas.setFont(font, size)
    canvas.setStrokeColor(HexColor(look["stroke"]))
    canvas.setLineWidth(float(look["stroke-width"].removesuffix("px")))
    canvas.drawString(left, 0, text, mode=_STROKED)
    canvas.setFillColor(HexColor(look["fill"]))
    canvas.drawString(left, 0, text, mode=_FILLED)


# Texts with marks inside, as the paragraphs of the PDF library read them.


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


# Tables on paper: columns as wide as they need, headings on every page.

_PADDING = 8.0
_NARROWEST = 26.0
_MEASURED = 60
_WORDS = (190.0, 110.0)
"""Points: longer words may be broken; the shorter limit where the longer one does not fit."""
_SIZES = (8.0, 7.5, 7.0, 6.5, 6.0)
"""Points: the first at which no word has to be broken is taken."""
_READABLE = 3
"""Sizes that are tried so that no line has to be broken."""
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
    made.opening = _first_rows(filled, len(head), widths)
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


def _first_rows(rows: list[list[object]], head: int, widths: list[float]) -> float:
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
