"""Scatter charts as SVG."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from dpdesk.core.charts import PointSeries, ScatterChart, SeriesStyle
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
