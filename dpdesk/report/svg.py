"""Charts as self-contained, accessible SVG."""

from __future__ import annotations

import re
from html import escape
from math import isfinite

from dpdesk.core.charts import (
    STANDING_WORDS,
    BarChart,
    Chart,
    CuboidNode,
    LatticeChart,
    LatticeLayout,
    arrange,
    format_figure,
)
from dpdesk.core.cube_parameters import CuboidStatus
from dpdesk.core.shown import drawable, shortened
from dpdesk.report.svg_bars import draw_bars
from dpdesk.report.svg_canvas import MUTED, SURFACE, TEXT, WIDTH, Canvas, number, text_width
from dpdesk.report.svg_points import draw_points

_MARGIN, _LINE = 16.0, 18.0
_FONTS = "DejaVu Sans, Verdana, Arial, sans-serif"
_VARIABLE = re.compile(r"var\(--[a-z0-9]+,(#[0-9A-Fa-f]{6})\)")


def render_chart(chart: Chart) -> str:
    """The chart as an ``<svg>`` element; its question and answer are its title and description."""
    chart = drawable(chart)
    return _drawn(chart).svg(chart.id, chart.question, chart.answer)


def render_document(chart: Chart) -> str:
    """The chart as a file of its own: with its words above it, light, and with plain colours.

    Pages set colours by variables, which drawing programs do not know.
    """
    chart = drawable(chart)
    canvas = _drawn(chart)
    lines = _wrapped(chart.answer)
    top = _MARGIN + 1.5 * _LINE + _LINE * len(lines) + 0.5 * _LINE
    wide, high = WIDTH + 2 * _MARGIN, top + canvas.height + _MARGIN
    texts = [
        f'<text x="{_MARGIN:g}" y="{_MARGIN + _LINE:g}" font-size="17" font-weight="600" '
        f'fill="{TEXT}">{escape(chart.question)}</text>'
    ]
    texts += [
        f'<text x="{_MARGIN:g}" y="{_MARGIN + _LINE * (2.5 + place):g}" font-size="13" '
        f'fill="{MUTED}">{escape(line)}</text>'
        for place, line in enumerate(lines)
    ]
    inner = canvas.svg(chart.id, chart.question, chart.answer)
    inner = inner.replace("<svg ", f'<svg x="{_MARGIN:g}" y="{number(top)}" ', 1)
    whole = (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<svg xmlns="http://www.w3.org/2000/svg" '
        f'width="{wide:g}" height="{number(high)}" viewBox="0 0 {wide:g} {number(high)}" '
        f'font-family="{_FONTS}"><rect width="100%" height="100%" fill="{SURFACE}"/>'
        f"{''.join(texts)}{inner}</svg>\n"
    )
    return _VARIABLE.sub(r"\1", whole).replace('font-family="inherit"', f'font-family="{_FONTS}"')


def _drawn(chart: Chart) -> Canvas:
    if isinstance(chart, LatticeChart):
        return draw_lattice(chart)
    return draw_bars(chart) if isinstance(chart, BarChart) else draw_points(chart)


def _wrapped(text: str) -> list[str]:
    """The text in lines that fit beside each other at 13 px."""
    lines: list[str] = []
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer) * 13 / 12 <= WIDTH:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


# The lattice of cuboids as SVG: squares with noise of their own, discs without.


RAMP = ("#F3EFF7", "#D8C8E8", "#B395D1", "#8A61B4", "#5E3391", "#3B1A66")
_LEFT, _TOP, _HEIGHT = 40.0, 26.0, 380.0
_PUBLISHED, _OTHER = 0.38, 0.24


def draw_lattice(chart: LatticeChart) -> Canvas:
    """All cuboids of a small lattice; of a large one the finest that is listed ± one step."""
    drawn = chart.drawn(chart.listed[-1] if chart.listed else 0)
    layout = arrange(drawn, WIDTH - _LEFT - 8, _HEIGHT)
    canvas = Canvas(_TOP + layout.height + 54)
    canvas.text(8, 14, "Dimensions of the table", fill=MUTED)
    for row in layout.rows:
        canvas.text(_LEFT - 14, _TOP + (row.top + row.bottom) / 2 + 4, str(row.size), "end", MUTED)
    for cuboid, (x, y) in layout.places.items():
        _draw_node(canvas, chart, chart.node(cuboid), _LEFT + x, _TOP + y, layout)
    _draw_key(canvas, chart, _TOP + layout.height + 12)
    return canvas


def _draw_node(
    canvas: Canvas,
    chart: LatticeChart,
    node: CuboidNode,
    x: float,
    y: float,
    layout: LatticeLayout,
) -> None:
    published = node.standing is CuboidStatus.PUBLISHED
    half = layout.edge * (_PUBLISHED if published else _OTHER)
    place = None if node.exact else chart.error_class(node.width)
    fill = SURFACE if place is None else _shade(place)
    style = f"fill:{fill};stroke:{TEXT if published else MUTED}"
    wide = "1.5" if published else "1"
    cx, cy, r = number(x), number(y), number(half)
    title = f"<title>{escape(_tip(chart, node))}</title>"
    if node.noisy:
        corner, side = f'x="{number(x - half)}" y="{number(y - half)}"', number(2 * half)
        mark = f'<rect {corner} width="{side}" height="{side}" '
        end = "rect"
    else:
        mark, end = f'<circle cx="{cx}" cy="{cy}" r="{r}" ', "circle"
    canvas.elements.append(f'{mark}style="{style}" stroke-width="{wide}">{title}</{end}>')
    if node.exact:
        ring = f'<circle cx="{cx}" cy="{cy}" r="{number(0.6 * half)}"'
        canvas.elements.append(f'{ring} style="fill:none;stroke:{TEXT}"/>')
    if node.standing is CuboidStatus.FORBIDDEN:
        reach = 1.5 * half
        canvas.line(x - reach, y + reach, x + reach, y - reach, TEXT, "", 2)


def _tip(chart: LatticeChart, node: CuboidNode) -> str:
    width = node.width
    error = "" if width is None or not isfinite(width) else f", ± {written(width)} {chart.unit}"
    return f"{shortened(node.name)}: {STANDING_WORDS[node.standing]}, {node.cells:,} cells{error}"


def _draw_key(canvas: Canvas, chart: LatticeChart, top: float) -> None:
    x = _LEFT
    canvas.text(x, top + 11, f"{chart.width_head} ({chart.unit})", fill=MUTED)
    x += 150
    for place in range(len(chart.ramp) - 1):
        canvas.rect((x, top, 40, 14), _shade(place), MUTED)
        canvas.text(x, top + 28, written(chart.ramp[place]), "middle", MUTED)
        x += 40
    if chart.ramp:
        canvas.text(x, top + 28, written(chart.ramp[-1]), "middle", MUTED)
    words = "■ noise of its own   ○ computed   large: published   struck: forbidden"
    canvas.text(WIDTH - 8, top + 11, words, "end", MUTED)


def written(value: float) -> str:
    """A bound of an error class for people."""
    return format_figure(float(f"{value:.2g}"), "number" if value < 1000 else "count")


def _shade(place: int) -> str:
    return f"var(--ramp{place + 1},{RAMP[place]})"
