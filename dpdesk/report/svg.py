"""Charts as self-contained, accessible SVG."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from html import escape
from math import isfinite

import numpy as np

from dpdesk.core.charts import (
    STANDING_WORDS,
    BarChart,
    Chart,
    CuboidNode,
    LatticeChart,
    LatticeLayout,
    PointSeries,
    ScatterChart,
    SeriesStyle,
    arrange,
    drawable,
    format_figure,
)
from dpdesk.core.cube_parameters import CuboidStatus
from dpdesk.core.shown import shortened
from dpdesk.report.svg_bars import draw_bars
from dpdesk.report.svg_canvas import (
    FAIL,
    GRID,
    MUTED,
    SURFACE,
    TEXT,
    WIDTH,
    Canvas,
    Scale,
    colour,
    legend,
    make_scale,
    number,
    text_width,
)

# Scatter charts as SVG.


_PLOT = 320
_RIGHT = WIDTH - 28
_SMALL, _LARGE = 2.2, 7.0
_DASHES = {SeriesStyle.SECOND: "8 4", SeriesStyle.THIRD: "2 3", SeriesStyle.FOURTH: "8 3 2 3"}
_CELL = 2.0  # px: points closer than this are drawn once


def draw_points(chart: ScatterChart) -> Canvas:
    """Points series after series, steps of a front, and the limit line."""
    canvas = Canvas(0)
    top = _draw_legend(canvas, chart) + 28
    bottom = top + _PLOT
    x, y = _scales(chart, top, bottom)
    canvas.text(8, top - 14, chart.y_axis.label, fill=MUTED)
    _draw_links(canvas, chart, x, y)
    for tick in () if chart.y_axis.bare else y.ticks:
        canvas.line(x.start, y(tick), _RIGHT, y(tick), GRID)
        canvas.text(x.start - 8, y(tick) + 4, y.tick_label(tick), "end", MUTED)
    for tick in x.ticks:
        canvas.line(x(tick), top, x(tick), bottom, GRID)
        canvas.text(x(tick), bottom + 18, x.tick_label(tick), "middle", MUTED)
    canvas.line(x.start, bottom, _RIGHT, bottom, TEXT)
    canvas.text((x.start + _RIGHT) / 2, bottom + 40, chart.x_axis.label, "middle", MUTED)
    for series in chart.series:
        _draw_series(canvas, series, x, y)
    if chart.y_limit is not None:
        level = y(chart.y_limit)
        canvas.line(x.start, level, _RIGHT, level, FAIL, "5 3", 2)
        canvas.text(_RIGHT - 2, level - 6, chart.y_limit_label, "end", FAIL)
    if chart.x_limit is not None:
        place = x(chart.x_limit)
        canvas.line(place, top, place, bottom, TEXT, "5 3", 1.5)
        anchor, shift = ("end", -6) if place > WIDTH - 140 else ("start", 6)
        canvas.text(place + shift, top + 12, chart.x_limit_label, anchor)
    canvas.height = bottom + 50
    return canvas


def _scales(chart: ScatterChart, top: float, bottom: float) -> tuple[Scale, Scale]:
    limit = [] if chart.y_limit is None else [chart.y_limit]
    heights = [float(v) for series in chart.series for v in _ends(series.y)] + limit
    upright = [] if chart.x_limit is None else [chart.x_limit]
    widths = [float(v) for series in chart.series for v in _ends(series.x)] + upright
    y = make_scale(chart.y_axis, heights, bottom, top)
    widest = max(text_width(y.tick_label(tick)) for tick in y.ticks)
    left = 20 if chart.y_axis.bare else widest + 20
    return make_scale(chart.x_axis, widths, left, _RIGHT), y


def _draw_links(canvas: Canvas, chart: ScatterChart, x: Scale, y: Scale) -> None:
    known = {
        one: (x(across), y(along))
        for series in chart.series
        for one, across, along in zip(
            series.ids.tolist(), series.x.tolist(), series.y.tolist(), strict=False
        )
    }
    for first, second in chart.links:
        if first in known and second in known:
            canvas.line(*known[first], *known[second], GRID)


def _ends(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> list[float]:
    finite = values[np.isfinite(values)]
    positive = finite[finite > 0]
    found = [float(finite.min()), float(finite.max())] if finite.size else []
    return found + ([float(positive.min())] if positive.size else [])


def _draw_legend(canvas: Canvas, chart: ScatterChart) -> float:
    def mark(index: int, x: float, y: float) -> None:
        series = chart.series[index]
        if series.stepped or series.joined:
            dash = _DASHES.get(series.look, "") if series.joined else ""
            canvas.line(x, y, x + 14, y, colour(series.look), dash, 2)
        if series.joined:
            return
        canvas.elements.append(_marker(series.look, x + 7, y, 5.0 if series.emphasis else 3.0))

    return legend(canvas, [series.name for series in chart.series], mark, 12.0)


def _draw_series(canvas: Canvas, series: PointSeries, x: Scale, y: Scale) -> None:
    spots = list(_spots(series, x, y))
    if series.stepped and len(spots) > 1:
        path = [f"M{number(spots[0][1])},{number(spots[0][2])}"]
        path += [f"H{number(px)}V{number(py)}" for _, px, py in spots[1:]]
        canvas.elements.append(
            f'<path d="{"".join(path)}" style="fill:none;stroke:{colour(series.look)}" '
            'stroke-width="2"/>'
        )
    if series.joined and len(spots) > 1:
        places = "L".join(f"{number(px)},{number(py)}" for _, px, py in spots)
        canvas.elements.append(
            f'<path d="M{places}" style="fill:none;stroke:{colour(series.look)}" '
            f'stroke-width="2" stroke-dasharray="{_DASHES.get(series.look, "none")}"/>'
        )
        _label_curve(canvas, series, spots)
        return
    size = _LARGE if series.emphasis else _SMALL * _factor(series)
    drawn: set[tuple[int, int]] = set()
    for index, px, py in spots:
        cell = (int(px / _CELL), int(py / _CELL))
        if cell not in drawn:
            drawn.add(cell)
            canvas.elements.append(_marker(series.look, px, py, size))
        if series.labels and series.labels[index]:
            left = px > WIDTH - 140
            anchor, shift = ("end", -size - 4) if left else ("start", size + 4)
            canvas.text(px + shift, py - 6, series.labels[index], anchor, bold=series.emphasis)


def _label_curve(
    canvas: Canvas, series: PointSeries, spots: list[tuple[int, float, float]]
) -> None:
    for index, px, py in spots:
        if series.labels and series.labels[index]:
            canvas.elements.append(_marker(series.look, px, py, 4.0))
            canvas.text(px + 6, py - 6, series.labels[index], bold=True)


def _factor(series: PointSeries) -> float:
    if series.stepped:
        return 1.4
    return 0.7 if series.look is SeriesStyle.REFERENCE else 1.0


def _spots(series: PointSeries, x: Scale, y: Scale) -> Iterator[tuple[int, float, float]]:
    """Index and position of the points that can be drawn."""
    for index, (value, height) in enumerate(zip(series.x.tolist(), series.y.tolist(), strict=True)):
        if math.isfinite(value) and math.isfinite(height):
            yield index, x(value), y(height)


def _marker(look: SeriesStyle, x: float, y: float, size: float) -> str:
    """A mark whose shape tells the look as well as its colour does."""
    rim = f"stroke:{SURFACE};stroke-width:1" if size > _SMALL * 2 else "stroke:none"
    if look is SeriesStyle.REFERENCE and size < _SMALL:
        rim += ";opacity:.55"
    style = f'style="fill:{colour(look)};{rim}"'
    cx, cy, r = number(x), number(y), number(size)
    if look in (SeriesStyle.SECOND, SeriesStyle.FAIL):
        return (
            f'<rect x="{number(x - size)}" y="{number(y - size)}" width="{number(2 * size)}" '
            f'height="{number(2 * size)}" {style}/>'
        )
    if look is SeriesStyle.THIRD:
        return f'<path d="M{cx},{number(y - size)}l{r},{r} -{r},{r} -{r},-{r}z" {style}/>'
    if look is SeriesStyle.FOURTH:
        base = number(2 * size)
        return f'<path d="M{cx},{number(y - size)}l{r},{base} -{base},0z" {style}/>'
    return f'<circle cx="{cx}" cy="{cy}" r="{r}" {style}/>'


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
