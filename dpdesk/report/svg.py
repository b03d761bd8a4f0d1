"""Charts as self-contained, accessible SVG."""

from __future__ import annotations

import re
from html import escape

from dpdesk.core.charts import BarChart, Chart, LatticeChart
from dpdesk.core.shown import drawable
from dpdesk.report.svg_bars import draw_bars
from dpdesk.report.svg_canvas import MUTED, SURFACE, TEXT, WIDTH, Canvas, number, text_width
from dpdesk.report.svg_lattice import draw_lattice
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
