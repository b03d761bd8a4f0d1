"""Bar charts as SVG, upright or lying."""

from __future__ import annotations

from dpdesk.core.charts import BarChart, BarSeries, SeriesStyle
from dpdesk.core.language import voice
from dpdesk.report.svg_canvas import (
    FAIL,
    GRID,
    MUTED,
    TEXT,
    WIDTH,
    Canvas,
    Scale,
    colour,
    legend,
    make_scale,
    shortened,
    text_width,
    written,
)

_PLOT = 240
_ROW = 34
_GAP = 0.18


def draw_bars(chart: BarChart) -> Canvas:
    """The bars; they lie down when the names of the categories would not fit below them."""
    canvas = Canvas(0)
    top = _draw_legend(canvas, chart) + 10
    slot = (WIDTH - 100) / max(len(chart.categories), 1)
    widest = max((text_width(name) for name in chart.categories), default=0)
    if chart.horizontal or widest > slot - 6:
        _draw_lying(canvas, chart, top, min(max(widest, 40), 240))
    else:
        _draw_upright(canvas, chart, top)
    return canvas


def _draw_legend(canvas: Canvas, chart: BarChart) -> float:
    def mark(index: int, x: float, y: float) -> None:
        series = chart.series[index]
        fill = "none" if series.outline else canvas.pattern(series.look, failing=False)
        canvas.rect((x, y - 6, 14, 12), fill, colour(series.look))

    bottom = 0.0
    if len(chart.series) > 1:
        bottom = legend(canvas, [series.name for series in chart.series], mark, 12.0)
    if not any(_shows_hatch(chart, index) for index in chart.hatched):
        return bottom
    bottom = bottom or 12.0
    canvas.rect(
        (8, bottom - 6, 14, 12),
        canvas.pattern(SeriesStyle.FIRST, failing=True),
        colour(SeriesStyle.FIRST),
    )
    lined = chart.threshold_before is not None
    words = voice().text("hatched: before the line" if lined else "hatched: fails")
    canvas.text(28, bottom + 4, words)
    return bottom + 20


def _shows_hatch(chart: BarChart, index: int) -> bool:
    return any(series.values[index] > 0 for series in chart.series if not series.outline)


def _values(chart: BarChart) -> list[float]:
    return [end for series in chart.series for value, end in _ends(series)]


def _ends(series: BarSeries) -> list[tuple[float, float]]:
    """Each value, and how far it may reach with its error."""
    errors = series.errors or (0.0,) * len(series.values)
    return [(value, value + error) for value, error in zip(series.values, errors, strict=True)]


def _draw_upright(canvas: Canvas, chart: BarChart, top: float) -> None:
    room = 18.0 if chart.threshold_before is not None else 0.0
    top += 28 + room
    bottom = top + _PLOT
    scale = make_scale(chart.value_axis, _values(chart), bottom, top)
    left = max(text_width(scale.tick_label(tick)) for tick in scale.ticks) + 20
    canvas.text(8, top - 24 - room, chart.value_axis.label, fill=MUTED)
    for tick in scale.ticks:
        canvas.line(left, scale(tick), WIDTH - 8, scale(tick), GRID)
        canvas.text(left - 8, scale(tick) + 4, scale.tick_label(tick), "end", MUTED)
    slot = (WIDTH - 8 - left) / max(len(chart.categories), 1)
    for index, name in enumerate(chart.categories):
        start = left + slot * index
        _draw_slot(canvas, chart, index, scale, (start, slot), upright=True)
        canvas.text(start + slot / 2, bottom + 18, name, "middle")
    canvas.line(left, bottom, WIDTH - 8, bottom, TEXT)
    if chart.threshold_before is not None:
        x = left + slot * chart.threshold_before
        canvas.line(x, top - 14, x, bottom, FAIL, "5 3", 2)
        beyond = x > WIDTH * 0.6
        canvas.text(
            x + (-6 if beyond else 6),
            top - 8,
            chart.threshold_label,
            "end" if beyond else "start",
            FAIL,
        )
    canvas.text(
        left + (WIDTH - 8 - left) / 2, bottom + 40, chart.category_axis.label, "middle", MUTED
    )
    canvas.height = bottom + 50


def _draw_lying(canvas: Canvas, chart: BarChart, top: float, names: float) -> None:
    left = names + 20
    canvas.text(8, top + 4, chart.category_axis.label, fill=MUTED)
    top += 14
    bottom = top + _ROW * len(chart.categories)
    scale = make_scale(chart.value_axis, _values(chart), left, WIDTH - 70)
    for tick in scale.ticks:
        canvas.line(scale(tick), top, scale(tick), bottom, GRID)
        canvas.text(scale(tick), bottom + 18, scale.tick_label(tick), "middle", MUTED)
    for index, name in enumerate(chart.categories):
        start = top + _ROW * index
        _draw_slot(canvas, chart, index, scale, (start, _ROW), upright=False)
        canvas.text(left - 8, start + _ROW / 2 + 4, shortened(name, names + 8), "end")
    canvas.line(left, top, left, bottom, TEXT)
    if chart.threshold_before is not None:
        y = top + _ROW * chart.threshold_before
        canvas.line(8, y, WIDTH - 8, y, FAIL, "5 3", 2)
        canvas.text(WIDTH - 10, y - 4, chart.threshold_label, "end", FAIL)
    middle = left + (WIDTH - 70 - left) / 2
    canvas.text(middle, bottom + 38, chart.value_axis.label, "middle", MUTED)
    canvas.height = bottom + 48


def _draw_slot(
    canvas: Canvas,
    chart: BarChart,
    index: int,
    scale: Scale,
    slot: tuple[float, float],
    upright: bool,
) -> None:
    """All bars of one category: filled ones side by side, outlines over the whole slot."""
    start, width = slot[0] + slot[1] * _GAP / 2, slot[1] * (1 - _GAP)
    filled = [series for series in chart.series if not series.outline]
    inner = width / max(len(filled), 1)
    for number, series in enumerate(filled):
        begin = start + inner * number
        tip = _tip(chart, series, index)
        fill = canvas.pattern(series.look, index in chart.hatched)
        _bar(
            canvas,
            scale,
            series.values[index],
            (begin, inner),
            fill,
            colour(series.look),
            upright,
            tip,
        )
        _whisker(canvas, scale, series, index, begin + inner / 2, upright)
        _value_label(canvas, chart, scale, series, index, (begin, inner), upright)
    for series in chart.series:
        if series.outline:
            tip = _tip(chart, series, index)
            _bar(
                canvas,
                scale,
                series.values[index],
                (start - 2, width + 4),
                "none",
                colour(series.look),
                upright,
                tip,
            )


def _whisker(
    canvas: Canvas, scale: Scale, series: BarSeries, index: int, middle: float, upright: bool
) -> None:
    """A line with caps from one end of the interval to the other, cut where the axis begins."""
    if not series.errors:
        return
    _, end = _ends(series)[index]
    first, last = scale(max(series.low_end(index), 0.0)), scale(max(end, 0.0))
    if upright:
        canvas.line(middle, first, middle, last, TEXT, "", 2)
        for end in (first, last):
            canvas.line(middle - 4, end, middle + 4, end, TEXT, "", 2)
        return
    canvas.line(first, middle, last, middle, TEXT, "", 2)
    for end in (first, last):
        canvas.line(end, middle - 4, end, middle + 4, TEXT, "", 2)


def _tip(chart: BarChart, series: BarSeries, index: int) -> str:
    value = written(series.values[index], chart.value_axis.percent)
    if series.errors:
        value += f" ± {written(series.errors[index], chart.value_axis.percent)}"
    return f"{chart.categories[index]}, {series.name}: {value}"


def _bar(
    canvas: Canvas,
    scale: Scale,
    value: float,
    across: tuple[float, float],
    fill: str,
    stroke: str,
    upright: bool,
    tip: str,
) -> None:
    if not value > 0:
        return
    end, zero = scale(value), scale.start
    begin, width = across
    box = (begin, end, width, zero - end) if upright else (zero, begin, end - zero, width)
    canvas.rect(box, fill, stroke, tip)


def _value_label(
    canvas: Canvas,
    chart: BarChart,
    scale: Scale,
    series: BarSeries,
    index: int,
    across: tuple[float, float],
    upright: bool,
) -> None:
    """The value beside its bar, clear of an outline that ends close by; none when crowded."""
    label = scale.label(series.values[index])
    value = _ends(series)[index][1]
    begin, width = across
    before = [other for other in chart.series if other.outline and not other.bound]
    if upright and len(before) == 1 and len(chart.series) == len(before) + 1:
        was = before[0].values[index]
        label = f"{scale.label(was).removesuffix(' %')} → {label}"
        if text_width(label) <= width + 16:
            canvas.text(begin + width / 2, scale(max(was, value)) - 5, label, "middle")
    elif upright:
        if text_width(label) > width + 10:
            return
        y = scale(value) - 5
        for other in chart.series:
            if other.outline and 0 <= scale(value) - scale(other.values[index]) < 18:
                y = scale(other.values[index]) - 5
        canvas.text(begin + width / 2, y, label, "middle")
    elif width >= 11:
        x = scale(value) + 6
        for other in chart.series:
            if other.outline and 0 <= scale(other.values[index]) - scale(value) < 50:
                x = scale(other.values[index]) + 6
        canvas.text(x, begin + width / 2 + 4, label)
