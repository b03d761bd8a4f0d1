"""A chart on paper: the SVG of the report, drawn with the operators of PDF."""

from __future__ import annotations

import re
from collections.abc import Iterator

from reportlab.lib.colors import HexColor
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Flowable

from dpdesk.report.page_tree import Node
from dpdesk.report.pdf.faces import BOLD, PLAIN, register_fonts, width_of

_VARIABLE = re.compile(r"var\(--[a-z0-9]+,(#[0-9A-Fa-f]{6})\)")
_STEP = re.compile(r"([MmLlHhVvZz])([^MmLlHhVvZz]*)")
_NUMBER = re.compile(r"-?\d+\.?\d*")
_SIZE = 12.0
_TILE = 6.0
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
        for node in self._svg.elements():
            if node.tag not in ("title", "desc", "defs"):
                self._draw(canvas, node)
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
        look = _look(node)
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


def _look(node: Node) -> dict[str, str]:
    """The presentation of an element: its attributes, and its style, which goes before."""
    look = dict(node.attributes)
    for part in node.attributes.get("style", "").split(";"):
        name, found, value = part.partition(":")
        if found:
            look[name.strip()] = _VARIABLE.sub(r"\1", value.strip())
    return look


def _pen(canvas: Canvas, node: Node) -> bool:
    """Set the pen; whether there is anything to draw with it."""
    look = _look(node)
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
    look = _look(node)
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
